package store

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"strings"
	"time"
)

// Booking is an appointment of a client, who is reminded of it and afterwards asked how it was.
type Booking struct {
	ID         uint64 `json:"id"`
	IdentityID uint64 `json:"identity_id"` // the bot that serves the client
	Client     string `json:"client"`      // as its owner named the client: @name, or an id
	// ClientID is the client's id on the network; 0 until it is known. From then on it alone says who the client is.
	ClientID int64         `json:"client_id,omitempty"`
	Service  string        `json:"service"`
	Note     string        `json:"note,omitempty"`
	Lang     string        `json:"lang"` // of what the client reads
	Start    time.Time     `json:"start"`
	Duration time.Duration `json:"duration"` // in nanoseconds
	Zone     string        `json:"zone"`     // in which the client reads times

	Status   BookingStatus `json:"status"`
	ByClient bool          `json:"by_client,omitempty"` // the client has cancelled it
	// Reminders are those of the present start, the earliest first.
	Reminders []BookingReminder `json:"reminders,omitempty"`
	Feedback  BookingFeedback   `json:"feedback"`
	// Code is in the link with which the client opens the bot, and in the buttons.
	Code      string    `json:"code"`
	Moves     int       `json:"moves,omitempty"`    // to another start: buttons of earlier messages count no more
	Sequence  int       `json:"sequence,omitempty"` // changes that calendars have to see
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// BookingMessage is a message to the client of a booking.
type BookingMessage struct {
	At        time.Time           `json:"at"`            // when it is due
	Key       int64               `json:"key,omitempty"` // makes the call to the network repeatable
	State     BookingMessageState `json:"state"`
	Reason    Reason              `json:"reason,omitzero"`    // why it waits, or was not sent
	Failures  int                 `json:"failures,omitempty"` // calls to the network that count against the limit
	MessageID int64               `json:"message_id,omitempty"`
	SentAt    time.Time           `json:"sent_at,omitzero"`
}

// BookingReminder is a reminder of a booking.
type BookingReminder struct {
	BookingMessage
	Before time.Duration `json:"before"` // the start, in nanoseconds; quiet hours may move At
}

// BookingFeedback is the question that the client is asked afterwards, and the answer.
type BookingFeedback struct {
	BookingMessage
	After      time.Duration `json:"after,omitempty"`  // the end, in nanoseconds
	Rating     int           `json:"rating,omitempty"` // 1 to 5; 0: no answer
	AnsweredAt time.Time     `json:"answered_at,omitzero"`
}

// BookingStatus says how a booking stands.
type BookingStatus string

// The statuses of a booking.
const (
	BookingBooked    BookingStatus = "booked"
	BookingConfirmed BookingStatus = "confirmed" // by the client
	BookingDone      BookingStatus = "done"
	BookingCancelled BookingStatus = "cancelled"
)

// Final reports whether the booking will not change any more.
func (s BookingStatus) Final() bool { return s == BookingDone || s == BookingCancelled }

// BookingMessageState says what became of a message to a client.
type BookingMessageState string

// The states of a message to a client.
const (
	MessageWaiting BookingMessageState = "waiting"
	MessageSent    BookingMessageState = "sent"
	MessageDropped BookingMessageState = "dropped" // it was not to be sent any more
	MessageFailed  BookingMessageState = "failed"
)

// The kinds of the jobs of bookings.
const (
	ReminderKind = "reminder"
	FeedbackKind = "feedback"
)

// End is when the booking ends.
func (b Booking) End() time.Time { return b.Start.Add(b.Duration) }

// ReminderName is the name of the job that reminds the client.
func (b Booking) ReminderName() string { return fmt.Sprintf("reminder_%d", b.ID) }

// FeedbackName is the name of the job that asks the client afterwards.
func (b Booking) FeedbackName() string { return fmt.Sprintf("feedback_%d", b.ID) }

// Jobs are the jobs that the booking needs. Their lane is that of its bot's clients: what keeps its posts waiting does
// not keep reminders.
func (b Booking) Jobs() (jobs []Job) {
	if b.Status.Final() {
		return nil
	}
	lane := bookingLane(b.IdentityID)
	var dates []time.Time
	for _, r := range b.Reminders {
		if r.State == MessageWaiting && (len(dates) == 0 || r.At.After(dates[len(dates)-1])) {
			dates = append(dates, r.At)
		}
	}
	if len(dates) > 0 {
		jobs = append(jobs, Job{Name: b.ReminderName(), Kind: ReminderKind, Subject: b.ID, Lane: lane, Trigger: Trigger{Dates: dates}})
	}
	return append(jobs, Job{Name: b.FeedbackName(), Kind: FeedbackKind, Subject: b.ID, Lane: lane, Trigger: Trigger{At: b.Feedback.At}})
}

func bookingLane(identityID uint64) string { return fmt.Sprint("bookings:", identityID) }

// Bookings is the table of bookings.
type Bookings struct{ Table[Booking] }

// The index by time holds what overlaps are found from: the start, the end, and 1 for a booking that takes none of it.
const bookingTimeKey = 3 * 8

func bookingTable() def[Booking] {
	return def[Booking]{
		name:  "bookings",
		id:    func(b *Booking) *uint64 { return &b.ID },
		valid: (*Booking).validate,
		job:   missingBookingJob,
		indexes: []Index[Booking]{
			{Name: "time", Key: func(b *Booking, k key) key {
				free := uint64(0)
				if b.Status == BookingCancelled {
					free = 1
				}
				return k.time(b.Start).time(b.End()).uint(free)
			}},
			{Name: "status", Key: func(b *Booking, k key) key { return k.str(string(b.Status)).time(b.Start) }},
			{Name: "client", Key: func(b *Booking, k key) key { return k.str(strings.ToLower(b.Client)).time(b.Start) }},
			{Name: "open", Key: func(b *Booking, k key) key {
				if b.Status.Final() {
					return nil
				}
				return k.uint(b.IdentityID).time(b.Start)
			}},
		},
	}
}

// missingBookingJob is a job that the booking needs and the schedule lacks; if it lacks none, its last one.
func missingBookingJob(tx *Tx, b *Booking) (job Job) {
	for _, job = range b.Jobs() {
		if _, err := tx.Jobs.ByName(job.Name); errors.Is(err, ErrNotFound) {
			break
		}
	}
	if job.Name != "" {
		job.State, job.Due = JobWaiting, job.Trigger.At
		if len(job.Trigger.Dates) > 0 {
			job.Due = job.Trigger.Dates[0]
		}
		job.Occurrence = job.Due
	}
	return job
}

func (b *Booking) validate() error {
	switch b.Status {
	case BookingBooked, BookingConfirmed, BookingDone, BookingCancelled:
		if b.Code != "" && b.Client != "" {
			return nil
		}
	}
	return fmt.Errorf("booking %d: status %q, client %q", b.ID, b.Status, b.Client)
}

// BookingFilter selects bookings; what is empty selects all.
type BookingFilter struct {
	From, To time.Time // of the start, To excluded
	Status   BookingStatus
	Client   string
}

// List returns bookings by their start, the earliest first.
func (t Bookings) List(f BookingFilter, q Query) (page Page[Booking], err error) {
	index, prefix := "time", key(nil)
	switch {
	case f.Client != "":
		index, prefix = "client", prefix.str(strings.ToLower(f.Client))
	case f.Status != "":
		index, prefix = "status", prefix.str(string(f.Status))
	}
	from, to := bytes.Clone(prefix), []byte(prefix.next())
	if !f.From.IsZero() {
		from = key(bytes.Clone(prefix)).time(f.From)
	}
	if !f.To.IsZero() {
		to = key(bytes.Clone(prefix)).time(f.To)
	}
	after, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil || len(after) > 0 && (len(after) <= idSize || !bytes.HasPrefix(after, prefix)) {
		return page, errCursor()
	}
	if bytes.Compare(after, from) > 0 {
		from = after
	}
	var last []byte
	for entry := range t.entries(index, from, to) {
		if bytes.Equal(entry, after) {
			continue
		}
		b, err := t.named(index, entry)
		if err != nil || f.Status != "" && b.Status != f.Status {
			continue
		}
		if len(page.Items) == q.limit() {
			page.Next = base64.RawURLEncoding.EncodeToString(last)
			break
		}
		page.Items, last = append(page.Items, b), bytes.Clone(entry)
	}
	return page, nil
}

// Between yields the bookings that start from from, included, to to, excluded, the earliest first.
func (t Bookings) Between(from, to time.Time) iter.Seq[Booking] {
	return t.scan("time", key(nil).time(from), key(nil).time(to))
}

// BookingTime is the time that a booking takes.
type BookingTime struct {
	ID         uint64
	Start, End time.Time
}

// Taken returns the times that bookings take which start from from, included, to to, excluded, the earliest first,
// without reading the bookings.
func (t Bookings) Taken(from, to time.Time) (all []BookingTime) {
	for entry := range t.entries("time", key(nil).time(from), key(nil).time(to)) {
		if len(entry) == bookingTimeKey+idSize && entry[bookingTimeKey-1] == 0 {
			all = append(all, BookingTime{entryID(entry), timeAt(entry), timeAt(entry[8:])})
		}
	}
	return all
}

// Open yields the bookings of a bot that have not ended, the earliest first.
func (t Bookings) Open(identityID uint64) iter.Seq[Booking] {
	prefix := key(nil).uint(identityID)
	return t.scan("open", prefix, prefix.next())
}
