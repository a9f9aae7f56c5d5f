package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"belfry/store"
	"belfry/worker/bookings"
)

// clientName is who a client is: a text, or an id as a number.
type clientName string

// UnmarshalJSON reads both ways of writing.
func (c *clientName) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, (*string)(c))
	}
	var id *int64
	if err := json.Unmarshal(data, &id); err != nil {
		return fmt.Errorf("%s is no client: %w", data, err)
	}
	if id != nil { // null is as good as left out
		*c = clientName(data)
	}
	return nil
}

// Schema describes both ways of writing.
func (clientName) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{OneOf: []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeInteger, Format: "int64"}}, Examples: []any{"@anna"}}
}

// NewBooking is the request for a booking.
type NewBooking struct {
	Client     clientName `json:"client" doc:"The client: @name, a numeric id or a t.me link"`
	Service    string     `json:"service" doc:"What is booked" example:"Haircut"`
	Start      string     `json:"start" doc:"RFC 3339, or a local time in zone without an offset" example:"2026-12-31T15:00"`
	Zone       string     `json:"zone,omitempty" doc:"In which the client reads times; as the settings say if left out" example:"Europe/Moscow"`
	Duration   string     `json:"duration,omitempty" doc:"1h if left out" example:"1h30m"`
	Note       string     `json:"note,omitempty" doc:"For the owner; clients see it where a template has it"`
	Lang       string     `json:"lang,omitempty" doc:"Of what the client reads: en or ru; the server's if left out"`
	Reminders  *[]string  `json:"reminders,omitempty" doc:"Before the start; 24h, 2h and 1h if left out" example:"[\"24h\",\"2h\"]"`
	Feedback   string     `json:"feedback_after,omitempty" doc:"When the client is asked, after the end, or off; 1h if left out"`
	IdentityID number     `json:"identity_id,omitempty" doc:"The bot that serves the client; the default one if left out"`
}

func (b NewBooking) request() bookings.Request {
	r := bookings.Request{
		Client: string(b.Client), Service: b.Service, Start: b.Start, Zone: b.Zone, Duration: b.Duration, Note: b.Note, Lang: b.Lang,
		Feedback: b.Feedback, IdentityID: uint64(b.IdentityID),
	}
	setReminders(&r, b.Reminders)
	return r
}

func setReminders(r *bookings.Request, all *[]string) {
	if all != nil {
		r.Reminders = append([]string{}, *all...)
	}
}

// bookingPatch is a change to a booking; what is left out stays.
type bookingPatch struct {
	Client     *clientName `json:"client,omitempty"`
	Service    *string     `json:"service,omitempty"`
	Start      *string     `json:"start,omitempty" doc:"Another start makes all reminders anew"`
	Zone       *string     `json:"zone,omitempty" doc:"Alone, it keeps the instant of the start"`
	Duration   *string     `json:"duration,omitempty"`
	Note       *string     `json:"note,omitempty"`
	Lang       *string     `json:"lang,omitempty"`
	Reminders  *[]string   `json:"reminders,omitempty"`
	Feedback   *string     `json:"feedback_after,omitempty"`
	IdentityID *number     `json:"identity_id,omitempty"`
	Status     *string     `json:"status,omitempty" doc:"booked, confirmed or cancelled"`
}

func (p bookingPatch) apply(r *bookings.Request) {
	set(&r.Client, (*string)(p.Client))
	set(&r.Service, p.Service)
	set(&r.Start, p.Start)
	set(&r.Zone, p.Zone)
	set(&r.Duration, p.Duration)
	set(&r.Note, p.Note)
	set(&r.Lang, p.Lang)
	set(&r.Feedback, p.Feedback)
	set(&r.IdentityID, (*uint64)(p.IdentityID))
	set(&r.Status, p.Status)
	setReminders(r, p.Reminders)
}

// BookingMessage is a message to a client.
type BookingMessage struct {
	At     time.Time `json:"at" doc:"When it is due"`
	State  string    `json:"state" enum:"waiting,sent,dropped,failed"`
	Reason *Reason   `json:"reason,omitempty" doc:"Why it waits, or was not sent"`
	SentAt time.Time `json:"sent_at,omitzero"`
}

// BookingReminder is a reminder of a booking.
type BookingReminder struct {
	Before string `json:"before" doc:"The start" example:"24h"`
	BookingMessage
}

// BookingFeedback is the question that the client is asked afterwards.
type BookingFeedback struct {
	After string `json:"after" doc:"The end, or off" example:"1h"`
	BookingMessage
	Rating     int       `json:"rating,omitempty" doc:"The client's answer, from 1 to 5"`
	AnsweredAt time.Time `json:"answered_at,omitzero"`
}

// Booking is a booking as the API shows it.
type Booking struct {
	ID         uint64            `json:"id"`
	IdentityID uint64            `json:"identity_id"`
	Client     string            `json:"client"`
	ClientID   int64             `json:"client_id,omitempty" doc:"The client's id on the network, once it is known"`
	ClientLink string            `json:"client_link,omitempty" doc:"Opens the bot; there while the client has never written to it"`
	Service    string            `json:"service"`
	Note       string            `json:"note,omitempty"`
	Lang       string            `json:"lang"`
	Start      time.Time         `json:"start"`
	End        time.Time         `json:"end"`
	Zone       string            `json:"zone"`
	Duration   string            `json:"duration" example:"1h"`
	Status     string            `json:"status" enum:"booked,confirmed,done,cancelled"`
	ByClient   bool              `json:"cancelled_by_client,omitempty"`
	Overlaps   []uint64          `json:"overlaps" nullable:"false" doc:"Ids of bookings at the same time, at most 20"`
	Reminders  []BookingReminder `json:"reminders" nullable:"false"`
	Feedback   BookingFeedback   `json:"feedback"`
	CreatedAt  time.Time         `json:"created_at"`
	UpdatedAt  time.Time         `json:"updated_at"`
}

func (s bookingDoor) shown(tx *store.Tx, b store.Booking, overlaps []uint64) Booking {
	message := func(m store.BookingMessage) BookingMessage {
		return BookingMessage{At: m.At, State: string(m.State), Reason: s.reasonOf(m.Reason), SentAt: m.SentAt}
	}
	out := Booking{
		ID: b.ID, IdentityID: b.IdentityID, Client: b.Client, ClientID: b.ClientID, ClientLink: bookings.ClientLink(tx, b), Service: b.Service, Note: b.Note,
		Lang: b.Lang, Start: b.Start, End: b.End(), Zone: b.Zone, Duration: bookings.Length(b.Duration), Status: string(b.Status), ByClient: b.ByClient,
		Overlaps: append([]uint64{}, overlaps...), Reminders: []BookingReminder{},
		Feedback:  BookingFeedback{bookings.Length(b.Feedback.After), message(b.Feedback.BookingMessage), b.Feedback.Rating, b.Feedback.AnsweredAt},
		CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
	}
	for _, r := range b.Reminders {
		out.Reminders = append(out.Reminders, BookingReminder{bookings.Length(r.Before), message(r.BookingMessage)})
	}
	return out
}

func (s bookingDoor) shownAll(tx *store.Tx, all []store.Booking) []Booking {
	out, overlaps := make([]Booking, len(all)), bookings.Overlaps(tx, all)
	for i, b := range all {
		out[i] = s.shown(tx, b, overlaps[b.ID])
	}
	return out
}

func (s bookingDoor) shownOne(tx *store.Tx, b store.Booking) (Booking, error) {
	return s.shownAll(tx, []store.Booking{b})[0], nil
}

// Bookings is the door to bookings and the calendar. The links that it gives begin with public.
func Bookings(w *bookings.Worker, public string) Door {
	return func(server *Server, a *api) {
		s := bookingDoor{server, w, public}
		operation(a, http.MethodPost, "/bookings", "Make a booking, of which the client is reminded", s.create)
		operation(a, http.MethodGet, "/bookings", "List bookings, the earliest first", s.list)
		operation(a, http.MethodPost, "/bookings/bulk", "Make bookings, all or none", s.bulk, longBodies)
		operation(a, http.MethodPost, "/bookings/preview", "Preview a message to a client", s.preview)
		operation(a, http.MethodGet, "/bookings/settings", "Read the defaults, templates and quiet hours", func(context.Context, *struct{}) (*reply[BookingSettings], error) {
			return record(s.db.View, w.Settings, plain(func(b bookings.Settings) BookingSettings { return BookingSettings(b) }))
		})
		operation(a, http.MethodPut, "/bookings/settings", "Replace the defaults, templates and quiet hours", s.setSettings)
		operation(a, http.MethodGet, "/bookings/{id}", "Read a booking", func(_ context.Context, in *one) (*reply[Booking], error) {
			return record(s.db.View, func(tx *store.Tx) (store.Booking, error) { return tx.Bookings.Get(in.ID) }, s.shownOne)
		})
		operation(a, http.MethodPatch, "/bookings/{id}", "Change a booking", s.change)
		operation(a, http.MethodDelete, "/bookings/{id}", "Cancel a booking", func(_ context.Context, in *one) (*reply[Booking], error) {
			return record(s.db.Update, func(tx *store.Tx) (store.Booking, error) { return w.Cancel(tx, in.ID) }, s.shownOne)
		})
		operation(a, http.MethodGet, "/calendar", "List the bookings and posts of some days", s.calendar)
		operation(a, http.MethodGet, "/calendar/feed", "Read the link of the calendar feed", s.feed)
		operation(a, http.MethodPost, "/calendar/feed/renew", "Renew the link of the calendar feed: the old one stops working", s.renewFeed)
	}
}

type bookingDoor struct {
	*Server
	worker *bookings.Worker
	public string
}

func (s bookingDoor) create(ctx context.Context, in *creation[NewBooking]) (*created[Booking], error) {
	return once(ctx, s.Server, "bookings", in, func() (func(*store.Tx) (Booking, error), error) {
		return func(tx *store.Tx) (Booking, error) {
			b, err := s.worker.Create(tx, in.Body.request())
			if err != nil {
				return Booking{}, err
			}
			return s.shownOne(tx, b)
		}, nil
	})
}

type bulkBookings struct {
	Items []NewBooking `json:"items" nullable:"false" doc:"At most 20,000"`
}

func (s bookingDoor) bulk(ctx context.Context, in *creation[bulkBookings]) (*created[List[Booking]], error) {
	return once(ctx, s.Server, "bookings/bulk", in, func() (func(*store.Tx) (List[Booking], error), error) {
		return func(tx *store.Tx) (out List[Booking], err error) {
			requests := make([]bookings.Request, len(in.Body.Items))
			for i, item := range in.Body.Items {
				requests[i] = item.request()
			}
			all, err := s.worker.CreateAll(tx, requests)
			if err == nil {
				out.Items = s.shownAll(tx, all)
			}
			return out, err
		}, nil
	})
}

type bookingList struct {
	Paged
	From   string `query:"from" format:"date-time" doc:"Of the start"`
	To     string `query:"to" format:"date-time" doc:"Of the start, excluded"`
	Status string `query:"status" enum:"booked,confirmed,done,cancelled"`
	Client string `query:"client" doc:"As it was named: @name or an id"`
}

func (s bookingDoor) list(_ context.Context, in *bookingList) (*reply[List[Booking]], error) {
	f := store.BookingFilter{Status: store.BookingStatus(in.Status), Client: in.Client}
	f.From, _ = time.Parse(time.RFC3339, in.From) // huma has checked them
	f.To, _ = time.Parse(time.RFC3339, in.To)
	return within(s.db.View, func(tx *store.Tx) (List[Booking], error) {
		page, err := tx.Bookings.List(f, in.query())
		return List[Booking]{Items: s.shownAll(tx, page.Items), Next: page.Next}, err
	})
}

type bookingChange struct {
	ID   uint64 `path:"id" doc:"The booking's id"`
	Body bookingPatch
}

func (s bookingDoor) change(_ context.Context, in *bookingChange) (*reply[Booking], error) {
	return record(s.db.Update, func(tx *store.Tx) (store.Booking, error) { return s.worker.Change(tx, in.ID, in.Body.apply) }, s.shownOne)
}

type bookingPreview struct {
	Body struct {
		Kind     string     `json:"kind" enum:"reminder,feedback"`
		Lang     string     `json:"lang,omitempty" doc:"en or ru"`
		Template string     `json:"template,omitempty" doc:"One that is not saved"`
		Client   clientName `json:"client,omitempty"`
		Service  string     `json:"service,omitempty"`
		Start    string     `json:"start,omitempty"`
		Zone     string     `json:"zone,omitempty"`
		Note     string     `json:"note,omitempty"`
	}
}

func (s bookingDoor) preview(_ context.Context, in *bookingPreview) (*reply[bookings.MessagePreview], error) {
	b := in.Body
	r := bookings.Request{Client: string(b.Client), Service: b.Service, Start: b.Start, Zone: b.Zone, Note: b.Note, Lang: b.Lang}
	return within(s.db.View, func(tx *store.Tx) (bookings.MessagePreview, error) {
		return s.worker.Preview(tx, b.Kind, b.Template, r)
	})
}

// BookingSettings are the defaults of bookings, their templates and quiet hours.
type BookingSettings bookings.Settings

type settingsChange struct{ Body BookingSettings }

func (s bookingDoor) setSettings(_ context.Context, in *settingsChange) (*reply[BookingSettings], error) {
	return within(s.db.Update, func(tx *store.Tx) (BookingSettings, error) {
		return in.Body, s.worker.SetSettings(tx, bookings.Settings(in.Body))
	})
}

type calendarRange struct {
	From string `query:"from" required:"true" format:"date-time"`
	To   string `query:"to" required:"true" format:"date-time" doc:"Excluded; at most 100 days later"`
}

func (s bookingDoor) calendar(_ context.Context, in *calendarRange) (*reply[List[bookings.Entry]], error) {
	from, _ := time.Parse(time.RFC3339, in.From) // huma has checked them
	to, _ := time.Parse(time.RFC3339, in.To)
	return within(s.db.View, func(tx *store.Tx) (List[bookings.Entry], error) {
		all, err := s.worker.Calendar(tx, from, to)
		return List[bookings.Entry]{Items: append([]bookings.Entry{}, all...)}, err
	})
}

// CalendarFeed is where the calendar feed is.
type CalendarFeed struct {
	URL string `json:"url" doc:"The link for calendar applications; whoever has it can read the calendar"`
}

// feed gives the link. The first time it is asked for, it is made.
func (s bookingDoor) feed(context.Context, *struct{}) (*reply[CalendarFeed], error) {
	return s.feedAt(func(tx *store.Tx) (string, error) {
		path, err := bookings.FeedPath(tx)
		if err == nil && path == "" {
			path, err = bookings.RenewFeed(tx)
		}
		return path, err
	})
}

func (s bookingDoor) renewFeed(context.Context, *struct{}) (*reply[CalendarFeed], error) {
	return s.feedAt(bookings.RenewFeed)
}

func (s bookingDoor) feedAt(path func(*store.Tx) (string, error)) (*reply[CalendarFeed], error) {
	return record(s.db.Update, path, plain(func(path string) CalendarFeed { return CalendarFeed{s.public + path} }))
}
