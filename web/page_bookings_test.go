package web

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"belfry/store"
)

func TestOwnersMakeMoveAndCancelBookingsOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	if a := h.get("/bookings"); a.status != http.StatusOK || !strings.Contains(a.body, "No bookings here") {
		t.Error(a.status, a.body)
	}
	if a := h.get("/bookings/new"); a.status != http.StatusOK || !strings.Contains(a.body, "24h, 2h, 1h") {
		t.Error(a.status, a.body)
	}
	at := func(d time.Duration) string { return h.now().Add(d).UTC().Format("2006-01-02T15:04") }
	form := func(start string) []string {
		return []string{"form", "one", "client", "@anna", "service", "Haircut", "start", start, "zone", "UTC", "duration", "1h", "reminders", "24h, 2h", "feedback_after", "off", "booking_lang", "ru", "identity_id", "1"}
	}
	if bad := h.submit("/bookings/new", form(at(-time.Hour))...); bad.status != http.StatusUnprocessableEntity || !strings.Contains(bad.body, "choose a later time") || !strings.Contains(bad.body, `value="Haircut"`) {
		t.Error(bad.status, bad.body)
	}
	for range 2 { // a second click makes no second booking
		if a := h.submit("/bookings/new", form(at(48*time.Hour))...); a.status != http.StatusSeeOther || a.header.Get("Location") != "/bookings/1?done=booking-added" {
			t.Fatal(a.status, a.header, a.body)
		}
	}
	again := form(at(48*time.Hour + 30*time.Minute))
	again[1] = "two"
	h.submit("/bookings/new", again...)
	if a := h.get("/bookings"); !strings.Contains(a.body, "Haircut") || !strings.Contains(a.body, "At the same time as booking") {
		t.Error(a.body)
	}
	for _, path := range []string{"/", "/jobs"} {
		if a := h.get(path); !strings.Contains(a.body, "Haircut – @anna") {
			t.Errorf("%s does not say whose reminder comes", path)
		}
	}
	if a := h.get("/bookings/1"); !strings.Contains(a.body, "1 day before the start") || !strings.Contains(a.body, "waiting") {
		t.Error(a.body)
	}
	if a := h.submit("/bookings/1", "do", "confirm"); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	if a := h.get("/bookings/1/change"); !strings.Contains(a.body, `value="Haircut"`) || !strings.Contains(a.body, "24h, 2h") {
		t.Error(a.body)
	}
	moved := form(at(72 * time.Hour))
	if a := h.submit("/bookings/1/change", moved...); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	h.view(func(tx *store.Tx) error {
		b, err := tx.Bookings.Get(1)
		if b.Status != store.BookingBooked || b.Moves != 1 {
			t.Errorf("after the move: %+v", b)
		}
		return err
	})
	if a := h.submit("/bookings/settings", "duration", "1h", "reminders", "24h", "feedback_after", "1h", "booking_lang", "en", "zone", "UTC", "template_reminder_en", "Hello {name}"); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "{name}") {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/bookings/settings", "duration", "45m", "reminders", "24h", "feedback_after", "1h", "booking_lang", "en", "zone", "UTC", "quiet_from", "22:00", "quiet_to", "08:00", "template_reminder_en", "Hello {client}"); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	if a := h.get("/bookings/settings"); !strings.Contains(a.body, "Hello @anna") || !strings.Contains(a.body, `value="45m"`) {
		t.Error(a.body)
	}
	week := h.now().Add(72 * time.Hour).UTC().Format(time.DateOnly)
	if a := h.get("/calendar?week=" + week); !strings.Contains(a.body, "Haircut – @anna") {
		t.Error(a.body)
	}
	h.holdPost("Nobody has read this", 72*time.Hour, store.Lateness{})
	if a := h.get("/calendar?week=" + week); !strings.Contains(a.body, "Nobody has read this</a><span class=\"chip is-held\">needs approval<") {
		t.Error("a post that needs approval: ", a.body)
	}
	if a := h.submit("/calendar/renew"); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	if a := h.get("/calendar"); !strings.Contains(a.body, testPublic+"/calendar/") {
		t.Error(a.body)
	}
	h.submit("/language", "lang", "ru", "back", "/bookings")
	for _, path := range []string{"/bookings", "/bookings/1", "/bookings/new", "/bookings/1/change", "/bookings/1/cancel", "/bookings/settings", "/bookings?show=past"} {
		if a := h.get(path); a.status != http.StatusOK || !strings.Contains(a.body, "апис") {
			t.Error(path, a.status, a.body)
		}
	}
	if a := h.submit("/bookings/1/cancel"); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	if a := h.get("/bookings/1"); strings.Contains(a.body, "do-cancel") || !strings.Contains(a.body, "отменено") {
		t.Error(a.body)
	}
}

func TestAWeekOfTheCalendarHasEachOfItsDaysAlsoTheOneWithoutMidnight(t *testing.T) {
	zone, err := time.LoadLocation("America/Santiago")
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, func(c *Config) { c.Timezone = zone })
	h.signIn()
	for _, week := range []string{"2026-09-02", "2026-09-06"} {
		if a := h.get("/calendar?week=" + week); !strings.Contains(a.body, "Sunday 6 September") || strings.Count(a.body, "Saturday 5 September") != 1 {
			t.Errorf("the week of %s: %s", week, a.body)
		}
	}
}

func TestABookingBeginsAtTheTimeOfTheFormInItsZone(t *testing.T) {
	h := start(t)
	h.signIn()
	begin := h.now().Add(72 * time.Hour).UTC().Format("2006-01-02T15:04")
	save := func(path, zone, was string) {
		t.Helper()
		if a := h.submit(path, "client", "@anna", "service", "Haircut", "start", begin, "start_was", was, "zone", zone, "duration", "1h", "feedback_after", "off", "booking_lang", "en", "identity_id", "1"); a.status != http.StatusSeeOther {
			t.Fatal(a.status, a.body)
		}
	}
	save("/bookings/new", "UTC", "")
	save("/bookings/1/change", "Asia/Tokyo", begin)
	if a := h.get("/bookings/1/change"); !strings.Contains(a.body, `value="`+begin+`"`) {
		t.Error("another time than the form had was saved: ", a.body)
	}
}
