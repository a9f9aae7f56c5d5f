package page

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/i18n"
	"belfry/store"
	"belfry/worker/bookings"
)

func (s bookingPages) mountCalendar(g *echo.Group) {
	s.entry(publish, "calendar", "/calendar")
	s.live(g, "/calendar", s.calendar)
	g.POST("/calendar/renew", func(c echo.Context) error {
		return s.do(c, "/calendar", "feed-renewed", func(tx *store.Tx) error { return failure(bookings.RenewFeed(tx)) })
	})
	s.public.GET("/calendar/:file", s.feed)
}

// feed answers calendar applications, which know the secret of the link.
func (s bookingPages) feed(c echo.Context) error {
	secret, ok := strings.CutSuffix(c.Param("file"), ".ics")
	if !ok {
		return echo.ErrNotFound
	}
	out, err := s.worker.Feed(secret)
	if err != nil {
		return err
	}
	c.Response().Header().Set("Cache-Control", "private, max-age=300")
	return c.Blob(http.StatusOK, "text/calendar; charset=utf-8", []byte(out))
}

const week = 7

// calendarDay is a day of the calendar.
type calendarDay struct {
	at      time.Time
	entries []bookings.Entry
}

// calendar is a week of bookings and posts.
func (s bookingPages) calendar(v view) (screen, error) {
	at, err := time.Parse(time.DateOnly, v.query.Get("week"))
	if err != nil {
		at = v.Now.In(v.Zone)
	}
	day := func(n int) time.Time { return i18n.StartOfDay(at.Year(), at.Month(), at.Day()+n, v.Zone) }
	first := -(int(at.Weekday()) + 6) % week // Monday
	var all []bookings.Entry
	var link string
	err = s.DB.View(func(tx *store.Tx) (err error) {
		if link, err = bookings.FeedPath(tx); err == nil {
			all, err = s.worker.Calendar(tx, day(first), day(first+week))
		}
		return err
	})
	if link != "" {
		link = s.publicAddress + link
	}
	var days []calendarDay
	for n := range week {
		d := calendarDay{at: day(first + n)}
		for _, e := range all {
			if !e.Start.Before(d.at) && e.Start.Before(day(first+n+1)) {
				d.entries = append(d.entries, e)
			}
		}
		days = append(days, d)
	}
	weeks := []action{
		{"previous", v.T("calendar.previous"), weekPath(day(first - week)), "quiet-button"}, {"this", v.T("calendar.this"), "/calendar", "quiet-button"},
		{"next", v.T("calendar.next"), weekPath(day(first + week)), "quiet-button"},
	}
	return screen{nav: "/calendar", title: v.T("calendar.title"), body: v.calendarBody(weeks, link), parts: []part{{"week", v.week(days)}}}, err
}

func weekPath(day time.Time) string { return "/calendar?week=" + day.Format(time.DateOnly) }

func entryPath(e bookings.Entry) string {
	if e.Kind == "post" {
		return postPath(e.ID)
	}
	return bookingPath(e.ID)
}
