package bookings

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/i18n"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/identities"
)

// Request is a booking as its owner asks for it. What is empty is as the settings say.
type Request struct {
	Client     string // @name, an id or a link
	Service    string
	Start      string // RFC 3339, or local time in Zone
	Zone       string
	Duration   string
	Note       string
	Lang       string
	Reminders  []string // nil: as the settings say
	Feedback   string   // after the end, or off
	IdentityID uint64   // 0: the default bot
	Status     string   // of a change: booked or confirmed; empty: as it is
}

// RequestOf returns what makes a booking as it is.
func RequestOf(b store.Booking) Request {
	r := Request{
		Client: b.Client, Service: b.Service, Start: b.Start.Format(time.RFC3339Nano), Zone: b.Zone, Duration: Length(b.Duration), Note: b.Note,
		Lang: b.Lang, Reminders: []string{}, Feedback: Length(b.Feedback.After), IdentityID: b.IdentityID, Status: string(b.Status),
	}
	for _, reminder := range b.Reminders {
		r.Reminders = append(r.Reminders, Length(reminder.Before))
	}
	return r
}

const (
	maxService = 200  // characters
	maxNote    = 1000 // characters
	maxYears   = 5    // ahead
	// MaxBulk is how many bookings are made at once at most.
	MaxBulk = 20_000
)

// Create writes a booking and its jobs. Its errors are of type [*store.FieldError].
func (w *Worker) Create(tx *store.Tx, r Request) (store.Booking, error) {
	s, err := w.Settings(tx)
	if err != nil {
		return store.Booking{}, err
	}
	b, err := w.create(tx, s, r)
	if err != nil {
		return b, err
	}
	if _, reachable := peer(tx, b); reachable {
		return b, nil
	}
	say := w.Printer()
	if link := ClientLink(tx, b); link != "" {
		return b, w.tell(tx, say.T("bookings.tell.link", b.ID, b.Client, b.Service, b.Start, link))
	}
	return b, w.tell(tx, say.T("bookings.tell.no_link", b.ID, b.Client, b.Service, b.Start))
}

// CreateAll writes bookings, all or none. Its errors name items[3].start.
func (w *Worker) CreateAll(tx *store.Tx, all []Request) ([]store.Booking, error) {
	if len(all) == 0 || len(all) > MaxBulk {
		return nil, store.Invalid("items", "invalid.booking_items", MaxBulk)
	}
	s, err := w.Settings(tx)
	if err != nil {
		return nil, err
	}
	made, unreachable := make([]store.Booking, len(all)), 0
	for i, r := range all {
		if made[i], err = w.create(tx, s, r); err != nil {
			if wrong, ok := errors.AsType[*store.FieldError](err); ok {
				err = store.Invalid(fmt.Sprintf("items[%d].%s", i, wrong.Field), wrong.Key, wrong.Args...)
			}
			return nil, err
		}
		if _, reachable := peer(tx, made[i]); !reachable {
			unreachable++
		}
	}
	if unreachable == 0 {
		return made, nil
	}
	return made, w.tell(tx, w.Printer().T("bookings.tell.links", unreachable, len(made)))
}

func (w *Worker) create(tx *store.Tx, s Settings, r Request) (store.Booking, error) {
	b := store.Booking{Status: store.BookingBooked, Code: rand.Text()[:16], CreatedAt: tx.Now()}
	var err error
	if b.IdentityID, err = bot(tx, r.IdentityID); err != nil {
		return b, err
	}
	return b, w.write(tx, s, &b, r)
}

// bot returns the bot that serves a client: the one that is named, or the default one.
func bot(tx *store.Tx, id uint64) (uint64, error) {
	if id != 0 {
		identity, err := tx.Identities.Get(id)
		if err != nil || identity.Platform != "telegram" || identity.Kind != store.IdentityBot {
			return 0, store.Invalid("identity_id", "invalid.booking_bot", id)
		}
		return id, nil
	}
	identity, err := tx.Identities.ByName("telegram", identities.Main)
	if err == nil && identity.Kind == store.IdentityBot {
		return identity.ID, nil
	}
	for _, identity := range tx.Identities.Of("telegram") {
		if identity.Kind == store.IdentityBot {
			return identity.ID, nil
		}
	}
	return 0, store.Invalid("identity_id", "invalid.booking_no_bot")
}

// write checks a request and writes the booking that it makes of b, with its jobs.
func (w *Worker) write(tx *store.Tx, s Settings, b *store.Booking, r Request) error {
	was := *b
	zone, err := location(cmp.Or(r.Zone, s.Zone))
	if err != nil {
		return err
	}
	b.Zone = zone.String()
	if b.Client, b.ClientID, err = client(r.Client, was); err != nil {
		return err
	}
	b.Service, b.Note, b.Lang = strings.TrimSpace(r.Service), strings.TrimSpace(r.Note), cmp.Or(r.Lang, s.Lang)
	switch {
	case b.Service == "":
		return store.Invalid("service", "invalid.empty")
	case len([]rune(b.Service)) > maxService:
		return store.Invalid("service", "invalid.too_long", maxService)
	case len([]rune(b.Note)) > maxNote:
		return store.Invalid("note", "invalid.too_long", maxNote)
	case !i18n.Known(b.Lang):
		return store.Invalid("lang", "invalid.lang", b.Lang)
	}
	if b.Start, err = localTime("start", r.Start, zone); err != nil {
		return err
	}
	moved := !b.Start.Equal(was.Start)
	if (moved || b.ID == 0) && !b.Start.After(tx.Now()) { // a new one may start at the zero time
		return store.Invalid("start", "invalid.booking_past")
	}
	if b.Start.After(tx.Now().AddDate(maxYears, 0, 0)) {
		return store.Invalid("start", "invalid.far", maxYears)
	}
	if b.Duration, err = checkLength("duration", cmp.Or(r.Duration, s.Duration), minDuration, maxDuration); err != nil {
		return err
	}
	if b.Feedback.After, err = checkFeedback(cmp.Or(r.Feedback, s.FeedbackAfter)); err != nil {
		return err
	}
	if r.Reminders == nil {
		r.Reminders = s.Reminders
	}
	before, err := checkReminders(r.Reminders)
	if err != nil {
		return err
	}
	if moved && b.ID != 0 {
		b.Moves++
	}
	if b.ID != 0 && r.Status == "" && (moved || !strings.EqualFold(b.Client, was.Client)) {
		b.Status = store.BookingBooked // what was confirmed was another time, or by somebody else
	}
	planned := !moved && b.Duration == was.Duration && b.Feedback.After == was.Feedback.After && b.Zone == was.Zone && sameReminders(was, before)
	if !planned {
		s.plan(b, before, moved, tx.Now(), zone)
	}
	b.UpdatedAt = tx.Now()
	if err := tx.Bookings.Put(b); err != nil || planned {
		return err
	}
	return putJobs(tx, *b)
}

func sameReminders(b store.Booking, before []time.Duration) bool {
	return len(b.Reminders) == len(before) && !slices.ContainsFunc(b.Reminders, func(r store.BookingReminder) bool { return !slices.Contains(before, r.Before) })
}

// putJobs writes the jobs that a booking needs and removes the others.
func putJobs(tx *store.Tx, b store.Booking) error {
	needed := map[string]bool{}
	for _, job := range b.Jobs() {
		needed[job.Name] = true
		if err := scheduler.Put(tx, job); err != nil {
			return err
		}
	}
	for _, name := range []string{b.ReminderName(), b.FeedbackName()} {
		if !needed[name] {
			if err := scheduler.Delete(tx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	clientName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{3,31}$`)
	clientLink = regexp.MustCompile(`^(?:https?://)?(?:www\.)?(?:t|telegram)\.me/([^/?]+)/?$`)
)

// client reads who the client is. The id that is known of the same client stays.
func client(text string, was store.Booking) (name string, id int64, err error) {
	text = strings.TrimSpace(text)
	if id, err = strconv.ParseInt(text, 10, 64); err == nil && id > 0 && text[0] != '+' { // with which a phone number begins
		return text, id, nil
	}
	if link := clientLink.FindStringSubmatch(text); link != nil {
		text = link[1]
	}
	if text = strings.TrimPrefix(text, "@"); !clientName.MatchString(text) {
		return "", 0, store.Invalid("client", "invalid.booking_client", text)
	}
	if name = "@" + text; strings.EqualFold(name, was.Client) {
		return name, was.ClientID, nil
	}
	return name, 0, nil
}

// open returns a booking that may be changed: it has not ended, and no message of it is under way.
func open(tx *store.Tx, id uint64) (store.Booking, error) {
	b, err := tx.Bookings.Get(id)
	if err != nil {
		return b, err
	}
	if b.Status.Final() {
		return b, store.Conflict("conflict.booking_"+string(b.Status), id)
	}
	return b, errors.Join(scheduler.MayChange(tx, b.ReminderName()), scheduler.MayChange(tx, b.FeedbackName()))
}

// Change writes a booking as change has it, which gets it as a request. With another start its reminders are those of
// that one, also for a client who was reminded already. It refuses what has ended, and while a message is being sent.
func (w *Worker) Change(tx *store.Tx, id uint64, change func(*Request)) (store.Booking, error) {
	b, err := open(tx, id)
	if err != nil {
		return b, err
	}
	s, err := w.Settings(tx)
	if err != nil {
		return b, err
	}
	r := RequestOf(b)
	r.Status = ""
	change(&r)
	b.Sequence++
	switch store.BookingStatus(r.Status) {
	case "":
	case store.BookingCancelled:
		return w.Cancel(tx, id)
	case store.BookingBooked, store.BookingConfirmed:
		b.Status = store.BookingStatus(r.Status)
	default:
		return b, store.Invalid("status", "invalid.not_one_of", r.Status, "booked, confirmed, cancelled")
	}
	before := b.IdentityID
	if r.IdentityID != before {
		if b.IdentityID, err = bot(tx, r.IdentityID); err != nil {
			return b, err
		}
	}
	if err := w.write(tx, s, &b, r); err != nil || b.IdentityID == before {
		return b, err
	}
	err = putJobs(tx, b)
	for _, job := range b.Jobs() { // what the bot before had to wait for does not keep the other one
		at := job.Trigger.At
		if len(job.Trigger.Dates) > 0 {
			at = job.Trigger.Dates[0]
		}
		err = errors.Join(err, tx.Jobs.Wake(job.Name, worker.Later(at, tx.Now())))
	}
	return b, err
}

// Cancel cancels a booking and removes its jobs. One that is cancelled stays as it is.
func (w *Worker) Cancel(tx *store.Tx, id uint64) (store.Booking, error) {
	b, err := tx.Bookings.Get(id)
	if err != nil || b.Status == store.BookingCancelled {
		return b, err
	}
	if b, err = open(tx, id); err != nil {
		return b, err
	}
	b.Status = store.BookingCancelled
	b.Sequence++
	return b, end(tx, &b, store.Reason{Code: store.ReasonCancelled})
}

// end writes a booking that has ended and removes its jobs. What waits is dropped, for the reason that is given.
func end(tx *store.Tx, b *store.Booking, why store.Reason) error {
	drop := func(m *store.BookingMessage) {
		if m.State == store.MessageWaiting {
			m.State, m.Reason = store.MessageDropped, why
		}
	}
	for i := range b.Reminders {
		drop(&b.Reminders[i].BookingMessage)
	}
	drop(&b.Feedback.BookingMessage)
	b.UpdatedAt = tx.Now()
	if err := tx.Bookings.Put(b); err != nil {
		return err
	}
	return putJobs(tx, *b)
}
