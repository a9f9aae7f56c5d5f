package page

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/i18n"
	"belfry/store"
	"belfry/worker/bookings"
	"belfry/worker/identities"
)

// Bookings is the door to bookings and the calendar. The links that it shows begin with public.
func Bookings(w *bookings.Worker, public string) Door {
	return func(server *Server, g *echo.Group) {
		s := bookingPages{Server: server, worker: w, publicAddress: public}
		s.entry(clients, "bookings", "/bookings")
		s.canMake("booking", "/bookings/new")
		for _, kind := range []string{store.ReminderKind, store.FeedbackKind} {
			s.jobPages[kind] = func(j store.Job) string {
				if j.Subject == 0 {
					return bookingSettingsPath
				}
				return bookingPath(j.Subject)
			}
		}
		s.live(g, "/bookings", s.bookings)
		g.GET("/bookings/new", s.newBooking)
		g.POST("/bookings/new", func(c echo.Context) error { return s.save(c, nil) })
		s.mountSettings(g)
		s.mountCalendar(g)
		s.live(g, "/bookings/:id", s.booking)
		s.buttons(g, "/bookings/:id", s.booking, map[string]button{"confirm": {"booking-confirmed", act(server, s.confirm)}})
		g.GET("/bookings/:id/change", of(server, getBooking, s.change))
		g.POST("/bookings/:id/change", of(server, getBooking, s.save))
		s.step(g, step{
			path: "/bookings/:id/cancel", done: "booking-cancelled",
			ask: about(getBooking, func(v view, b store.Booking) question {
				return question{
					nav: "/bookings", ask: "bookings.cancel_ask", about: b.Service + ", " + b.Client, means: v.T("bookings.cancel_means"),
					button: "bookings.cancel", danger: true, back: bookingPath(b.ID), needless: b.Status.Final(),
				}
			}),
			act: func(tx *store.Tx, id uint64) error { return failure(w.Cancel(tx, id)) },
		})
	}
}

type bookingPages struct {
	*Server
	worker        *bookings.Worker
	publicAddress string
}

func bookingPath(n uint64) string { return fmt.Sprintf("/bookings/%d", n) }

func getBooking(tx *store.Tx, id uint64) (store.Booking, error) { return tx.Bookings.Get(id) }

func (s bookingPages) confirm(tx *store.Tx, id uint64) (store.Booking, error) {
	return s.worker.Change(tx, id, func(r *bookings.Request) { r.Status = string(store.BookingConfirmed) })
}

// shownPast is how far back the list of past bookings goes.
const shownPast = 31 * 24 * time.Hour

// bookings is the list of bookings by their days.
func (s bookingPages) bookings(v view) (screen, error) {
	local := v.Now.In(v.Zone)
	day := i18n.StartOfDay(local.Year(), local.Month(), local.Day(), v.Zone)
	f, past := store.BookingFilter{From: day}, v.query.Get("show") == "past"
	if past {
		f = store.BookingFilter{From: day.Add(-shownPast), To: day}
	}
	var list store.Page[store.Booking]
	var overlaps map[uint64][]uint64
	err := s.DB.View(func(tx *store.Tx) (err error) {
		list, err = tx.Bookings.List(f, store.Query{Limit: perPage, Cursor: v.query.Get("cursor")})
		overlaps = bookings.Overlaps(tx, list.Items)
		return err
	})
	tabs := []tab{
		{key: "upcoming", name: v.T("bookings.upcoming"), link: "/bookings", current: !past},
		{key: "past", name: v.T("bookings.past"), link: "/bookings?show=past", current: past},
	}
	here := "/bookings"
	if past {
		here = "/bookings?show=past"
	}
	return screen{nav: "/bookings", title: v.T("nav.bookings"), body: v.bookingsBody(tabs), parts: []part{{"list", v.bookingList(list, overlaps, here)}}}, err
}

// booking is one booking: its messages, and what its client has answered.
func (s bookingPages) booking(v view) (screen, error) {
	var b store.Booking
	var overlaps []uint64
	var login store.Identity
	var link string
	err := s.DB.View(func(tx *store.Tx) (err error) {
		if b, err = tx.Bookings.Get(v.number()); err != nil {
			return err
		}
		overlaps, link = bookings.Overlaps(tx, []store.Booking{b})[b.ID], bookings.ClientLink(tx, b)
		login, _ = tx.Identities.Get(b.IdentityID)
		return nil
	})
	return screen{
		nav: "/bookings", title: b.Service, body: v.bookingBody(b),
		parts: []part{{"facts", v.bookingFacts(b, login, overlaps, link)}, {"messages", v.bookingMessages(b)}},
	}, err
}

// zoned is the view with times as the zone of a booking has them.
func (v view) zoned(name string) view {
	if zone, err := time.LoadLocation(name); err == nil {
		v.Zone = zone
	}
	return v
}

// bookingForm fills a form with a booking as it was asked for.
func bookingForm(r bookings.Request) form {
	f := newForm(nil)
	f.fill(map[string]string{
		"client": r.Client, "service": r.Service, "zone": r.Zone, "duration": r.Duration, "note": r.Note, "booking_lang": r.Lang, "start": r.Start,
		"reminders": joined(r.Reminders), "feedback_after": r.Feedback, "identity_id": id(r.IdentityID),
	})
	return f
}

func (f form) bookingRequest(r *bookings.Request) {
	if start := f.get("start"); start != f.get("start_was") || f.get("zone") != r.Zone { // a time that the clock shows twice stays as it is
		r.Start = start
	}
	r.Client, r.Service, r.Zone, r.Duration = f.get("client"), f.get("service"), f.get("zone"), f.get("duration")
	r.Note, r.Lang, r.Feedback = f.get("note"), f.get("booking_lang"), f.get("feedback_after")
	r.Reminders, r.IdentityID = words(f.get("reminders")), f.number("identity_id") // 0 is the default one
}

func (s bookingPages) newBooking(c echo.Context) error {
	v := s.view(c)
	defaults, err := fetch(s.Server, s.worker.Settings)
	if err != nil {
		return err
	}
	f := bookingForm(bookings.Request{
		Zone: defaults.Zone, Duration: defaults.Duration, Lang: defaults.Lang, Reminders: defaults.Reminders, Feedback: defaults.FeedbackAfter,
		Start: v.zoned(defaults.Zone).in(v.Now.Add(24 * time.Hour).Truncate(time.Hour)),
	})
	return s.showForm(c, http.StatusOK, f, nil)
}

func (s bookingPages) change(c echo.Context, b *store.Booking) error {
	f := bookingForm(bookings.RequestOf(*b))
	f.values.Set("start", s.view(c).zoned(b.Zone).in(b.Start))
	f.values.Set("start_was", f.get("start"))
	f.see(seenBooking(*b))
	return s.showForm(c, http.StatusOK, f, b)
}

// showForm shows the form; b is the booking that is changed, or nil.
func (s bookingPages) showForm(c echo.Context, status int, f form, b *store.Booking) error {
	all, err := identities.List(s.DB)
	if err != nil {
		return err
	}
	v := s.view(c)
	bots := slices.DeleteFunc(all, func(i store.Identity) bool { return i.Platform != "telegram" || i.Kind != store.IdentityBot })
	f.prepare(v.T("bookings.fix"))
	title := v.T("bookings.new")
	if b != nil {
		title = v.T("bookings.change")
	}
	return s.show(c, status, v, screen{nav: "/bookings", title: title, form: "booking", body: v.bookingForm(f, b, title, v.loginOptions(bots))})
}

// seenBooking is what the form shows of a booking.
func seenBooking(b store.Booking) bookings.Request {
	b.Status = "" // the client may confirm it meanwhile
	return bookings.RequestOf(b)
}

// save makes the booking of the form, or changes b if it is not nil.
func (s bookingPages) save(c echo.Context, b *store.Booking) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	if f.onlyShow() {
		return s.showForm(c, http.StatusOK, f, b)
	}
	v := s.view(c)
	saved, done := uint64(0), "booking-added"
	if b == nil {
		var r bookings.Request
		f.bookingRequest(&r)
		saved, err = s.once(v, "bookings", f, func(tx *store.Tx) (uint64, error) {
			made, err := s.worker.Create(tx, r)
			return made.ID, err
		})
	} else {
		saved, done = b.ID, "booking-changed"
		err = s.DB.Update(func(tx *store.Tx) error {
			now, err := tx.Bookings.Get(b.ID)
			if err == nil {
				err = f.unchanged(seenBooking(now))
			}
			if err != nil {
				return err
			}
			return failure(s.worker.Change(tx, b.ID, f.bookingRequest))
		})
		if _, changed := errors.AsType[changedError](err); changed {
			f.values.Set("start_was", v.zoned(b.Zone).in(b.Start)) // of the one that is replaced if it is saved again
		}
	}
	if err == nil {
		return did(c, bookingPath(saved), done)
	}
	if !f.refuse(v, err, "client", "service", "start", "zone", "duration", "note", "lang:booking_lang", "reminders", "feedback_after", "identity_id") {
		return err
	}
	return s.showForm(c, http.StatusUnprocessableEntity, f, b)
}
