package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"belfry/store"
	"belfry/web/api"
	"belfry/worker/bookings"
)

func TestABookingIsMadeListedMovedAndCancelled(t *testing.T) {
	h := start(t)
	start := h.now().Add(48 * time.Hour).UTC().Truncate(time.Minute)
	body := fmt.Sprintf(`{"client":"@anna","service":"Haircut","start":%q,"zone":"Europe/Moscow","reminders":["24h"]}`, start.Format(time.RFC3339))
	first := h.api("POST", "/bookings", body, "Idempotency-Key", "one")
	if again := h.api("POST", "/bookings", body, "Idempotency-Key", "one"); first.status != http.StatusCreated || again.body != first.body {
		t.Fatal(first.status, first.body, again.body)
	}
	var shown api.Booking
	ask := func(method, path, body string) api.Booking {
		t.Helper()
		a := h.api(method, "/bookings/1"+path, body)
		if a.status != http.StatusOK {
			t.Fatal(method, path, a.status, a.body)
		}
		shown = api.Booking{}
		a.decode(t, &shown)
		return shown
	}
	if ask("GET", "", ""); shown.Status != "booked" || !shown.End.Equal(start.Add(time.Hour)) || len(shown.Reminders) != 1 || shown.Reminders[0].State != "waiting" || shown.Feedback.After != "1h" {
		t.Errorf("%+v", shown)
	}
	if a := h.api("POST", "/bookings", strings.Replace(body, `"@anna"`, `4711`, 1)); a.status != http.StatusCreated || !strings.Contains(a.body, `"overlaps":[1]`) {
		t.Error(a.status, a.body)
	}
	if ask("PATCH", "", `{"zone":"Asia/Tokyo","note":"window seat"}`); !shown.Start.Equal(start) || shown.Zone != "Asia/Tokyo" {
		t.Errorf("another zone alone moves it: %+v", shown)
	}
	if ask("PATCH", "", `{"status":"confirmed"}`); shown.Status != "confirmed" {
		t.Errorf("%+v", shown)
	}
	var list api.List[api.Booking]
	for query, want := range map[string]int{
		"": 2, "?status=booked": 1, "?client=@Anna": 1, "?client=@anna&status=booked": 0, "?from=" + start.Add(time.Hour).Format(time.RFC3339): 0,
		"?to=" + start.Add(time.Hour).Format(time.RFC3339): 2, "?limit=1": 1,
	} {
		list = api.List[api.Booking]{}
		if h.api("GET", "/bookings"+query, "").decode(t, &list); len(list.Items) != want {
			t.Errorf("%s: %d items", query, len(list.Items))
		}
	}
	h.api("GET", "/bookings?limit=1", "").decode(t, &list)
	cursor := list.Next
	if h.api("GET", "/bookings?cursor="+cursor, "").decode(t, &list); len(list.Items) != 1 || list.Items[0].ID != 2 {
		t.Errorf("%+v", list)
	}
	if ask("DELETE", "", ""); shown.Status != "cancelled" || shown.Reminders[0].State != "dropped" || shown.Reminders[0].Reason == nil {
		t.Errorf("%+v", shown)
	}
	if a := h.api("PATCH", "/bookings/1", `{"note":"x"}`); a.status != http.StatusConflict {
		t.Error(a.status, a.body)
	}
	var preview bookings.MessagePreview
	h.api("POST", "/bookings/preview", `{"kind":"reminder","lang":"ru","service":"Стрижка","template":"{client}: {service} в {time}","client":"@anna","start":"2031-01-02T15:00","zone":"Europe/Moscow"}`).decode(t, &preview)
	if preview.Text != "@anna: Стрижка в 15:00" || len(preview.Buttons) != 1 || len(preview.Buttons[0]) != 2 {
		t.Errorf("%+v", preview)
	}
	var settings bookings.Settings
	h.api("GET", "/bookings/settings", "").decode(t, &settings)
	settings.QuietFrom, settings.QuietTo = "22:00", "08:00"
	data, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	if a := h.api("PUT", "/bookings/settings", string(data)); a.status != http.StatusOK || !strings.Contains(a.body, `"22:00"`) {
		t.Error(a.status, a.body)
	}
}

func TestRefusedBookingsNameTheField(t *testing.T) {
	h := start(t)
	for field, change := range map[string][2]string{
		"start":        {"2031-06-01T15:00", "2031-03-30T02:30"},
		"client":       {`"@anna"`, `"an na"`},
		"service":      {`"Haircut"`, `" "`},
		"zone":         {`Europe/Berlin`, `Europe/Nowhere`},
		"duration":     {`"1h"`, `"25h"`},
		"reminders[1]": {`["24h"]`, `["24h","soon"]`},
		"lang":         {`"ru"`, `"fr"`},
		"identity_id":  {`"lang"`, `"identity_id":7,"lang"`},
	} {
		body := `{"client":"@anna","service":"Haircut","start":"2031-06-01T15:00","zone":"Europe/Berlin","duration":"1h","reminders":["24h"],"lang":"ru"}`
		body = strings.ReplaceAll(body, "2031", fmt.Sprint(2028)) // within five years
		a := h.api("POST", "/bookings", strings.Replace(body, strings.ReplaceAll(change[0], "2031", "2028"), strings.ReplaceAll(change[1], "2031-03-30", "2028-03-26"), 1))
		if p := a.problem(t); a.status != http.StatusUnprocessableEntity || len(p.Errors) != 1 || p.Errors[0].Field != field || p.Errors[0].Problem == "" {
			t.Errorf("%s: %d %s", field, a.status, a.body)
		}
	}
	good := `{"client":"@anna","service":"x","start":"2028-06-01T15:00"}`
	a := h.api("POST", "/bookings/bulk", `{"items":[`+good+","+good+","+good+`,{"client":"@anna","service":"x","start":"2028-06-01"}]}`)
	if p := a.problem(t); a.status != http.StatusUnprocessableEntity || p.Errors[0].Field != "items[3].start" {
		t.Error(a.status, a.body)
	}
}

func TestTheCalendarFeedIsSecretAndRenewed(t *testing.T) {
	h := start(t)
	start := h.now().Add(48 * time.Hour).UTC()
	made := fmt.Sprintf(`{"client":"@anna","service":"Haircut, short","start":%q}`, start.Format(time.RFC3339))
	if a := h.api("POST", "/bookings", made); a.status != http.StatusCreated {
		t.Fatal(a.status, a.body)
	}
	var calendar api.List[bookings.Entry]
	h.api("GET", "/calendar?from="+start.Add(-time.Hour).Format(time.RFC3339)+"&to="+start.Add(time.Hour).Format(time.RFC3339), "").decode(t, &calendar)
	if len(calendar.Items) != 1 || calendar.Items[0].Kind != "booking" {
		t.Errorf("%+v", calendar)
	}
	var feed api.CalendarFeed
	h.api("GET", "/calendar/feed", "").decode(t, &feed)
	read := func(url string) (int, string) {
		t.Helper()
		path, ok := strings.CutPrefix(url, testPublic)
		if !ok {
			t.Fatalf("the link is %s", url)
		}
		a := h.get(path)
		return a.status, a.body
	}
	status, body := read(feed.URL)
	if status != http.StatusOK || !strings.Contains(body, "UID:booking-1@") || !strings.Contains(body, "SUMMARY:Haircut\\, short") || !strings.Contains(body, "SEQUENCE:0") {
		t.Fatal(status, body)
	}
	uid := func(body string) string { return strings.SplitN(strings.SplitN(body, "UID:", 2)[1], "\r\n", 2)[0] }
	h.api("PATCH", "/bookings/1", `{"service":"Shave"}`)
	h.api("DELETE", "/bookings/1", "")
	old := feed.URL
	h.api("POST", "/calendar/feed/renew", "").decode(t, &feed)
	if status, _ := read(old); status != http.StatusNotFound {
		t.Errorf("the old link answers %d", status)
	}
	if _, again := read(feed.URL); uid(again) != uid(body) || !strings.Contains(again, "SEQUENCE:2") || !strings.Contains(again, "STATUS:CANCELLED") {
		t.Error(again)
	}
}

// It takes under 5 s on a quiet machine; the figure is logged.
func TestTenThousandBookingsAreMadeInOneCall(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	h := start(t)
	var b strings.Builder
	day := h.now().Add(72 * time.Hour).UTC().Truncate(24 * time.Hour)
	for i := range 10_000 {
		fmt.Fprintf(&b, `,{"client":"@client%d","service":"Haircut","start":%q}`, i, day.Add(time.Duration(i)*8*time.Second).Format(time.RFC3339))
	}
	begin := time.Now()
	a := h.api("POST", "/bookings/bulk", `{"items":[`+b.String()[1:]+`]}`)
	t.Logf("10,000 bookings with three reminders each: %v, answer of %d bytes", time.Since(begin).Round(time.Millisecond), len(a.body))
	if a.status != http.StatusCreated {
		t.Fatal(a.status, a.body[:min(500, len(a.body))])
	}
	err := h.db.View(func(tx *store.Tx) error {
		n := 0
		for job := range tx.Jobs.All() {
			if job.Subject != 0 && (job.Kind == store.ReminderKind || job.Kind == store.FeedbackKind) {
				n++
			}
		}
		if n != 20_000 {
			t.Errorf("%d jobs", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
