package web

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/store"
)

func TestOwnersMakeAndUseRulesOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	if a := h.get("/rules"); a.status != http.StatusOK || !strings.Contains(a.body, "No rules yet") {
		t.Error(a.status, a.body)
	}
	if a := h.get("/rules/new"); a.status != http.StatusOK || !strings.Contains(a.body, "Next times") || !strings.Contains(a.body, "09:00 UTC") {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/rules/preview", "schedule_type", "daily", "times", "02:30", "zone", "Europe/Berlin"); !strings.Contains(a.body, "daily at 02:30") || !strings.Contains(a.body, "02:30 CE") {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/rules/preview", "schedule_type", "cron", "cron", "often"); !strings.Contains(a.body, "cannot be read") {
		t.Error(a.status, a.body)
	}
	form := []string{"form", "one", "name", "Morning", "schedule_type", "weekly", "times", "09:00, 18:30", "days", "1", "days", "5", "source", "list", "items", "First\nSecond\n", "order", "circle", "account", "1"}
	bad := h.submit("/rules/new", append(append([]string{}, form...), "zone", "Moskau")...)
	if bad.status != http.StatusUnprocessableEntity || !strings.Contains(bad.body, "Moskau") || !strings.Contains(bad.body, "First\nSecond") {
		t.Error(bad.status, bad.body)
	}
	for range 2 { // a second click makes no second rule
		if a := h.submit("/rules/new", append(append([]string{}, form...), "zone", "Europe/Moscow")...); a.status != http.StatusSeeOther || a.header.Get("Location") != "/rules/1?done=rule-added" {
			t.Fatal(a.status, a.header, a.body)
		}
	}
	if a := h.get("/rules/1"); !strings.Contains(a.body, "Mon, Fri at 09:00, 18:30") || !strings.Contains(a.body, "MSK") {
		t.Error(a.body)
	}
	if a := h.submit("/rules/1/dry-run"); a.status != http.StatusOK || !strings.Contains(a.body, "what it would post now") || !strings.Contains(a.body, "First") {
		t.Error(a.status, a.body)
	}
	for _, do := range []string{"pause", "resume", "run"} {
		if a := h.submit("/rules/1", "do", do); a.status != http.StatusSeeOther {
			t.Error(do, a.status, a.body)
		}
	}
	for end := time.Now().Add(20 * time.Second); ; {
		var posts int
		h.view(func(tx *store.Tx) error {
			made, err := tx.Posts.OfRule(1, store.Query{})
			posts = len(made.Items)
			return err
		})
		if posts == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatal("it has made no post")
		}
	}
	if a := h.get("/rules/1"); !strings.Contains(a.body, "First") || !strings.Contains(a.body, "1, of which 1 succeeded") {
		t.Error(a.body)
	}
	if a := h.get("/rules/1/change"); !strings.Contains(a.body, `value="Morning"`) || !strings.Contains(a.body, "09:00, 18:30") {
		t.Error(a.body)
	}
	evening := []string{"name", "Evening", "schedule_type", "custom", "dates", "2099-12-31T18:00", "source", "template", "template", "Good evening", "account", "1", "approval", "on"}
	changed := h.submit("/rules/1/change", evening...)
	if changed.status != http.StatusSeeOther {
		t.Error(changed.status, changed.body)
	}
	if a := h.get("/rules"); !strings.Contains(a.body, "Evening") || !strings.Contains(a.body, "on 1 date") {
		t.Error(a.body)
	}
	if a := h.get("/jobs"); !strings.Contains(a.body, "Evening") {
		t.Error(a.body)
	}
	h.api("PATCH", "/auto-posting/rules/1", `{"is_active":false}`)
	h.submit("/rules/1/change", evening...)
	if a := h.get("/rules/1"); !strings.Contains(a.body, "do-resume") {
		t.Error("a rule that was switched off is not any more once it is changed:", a.body)
	}
	h.submit("/language", "lang", "ru", "back", "/rules/1")
	for _, path := range []string{"/rules", "/rules/1", "/rules/new", "/rules/1/change", "/rules/1/remove"} {
		if a := h.get(path); a.status != http.StatusOK || !strings.Contains(a.body, "равил") {
			t.Error(path, a.status, a.body)
		}
	}
	if a := h.submit("/rules/1/remove"); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	if a := h.get("/rules/1"); a.status != http.StatusNotFound {
		t.Error(a.status)
	}
}

func TestTheTimesOfARuleNameTheirZoneWhereTheReaderHasAnother(t *testing.T) {
	moscow, err := time.LoadLocation("Europe/Moscow")
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, func(c *Config) { c.Timezone = moscow })
	h.signIn()
	if a := h.api("POST", "/auto-posting/rules", `{"name":"R","schedule_type":"daily","schedule_config":{"times":["09:00"],"zone":"UTC"},"content_config":{"title":"x"},"platforms":["telegram"]}`); a.status != http.StatusCreated {
		t.Fatal(a.status, a.body)
	}
	for _, path := range []string{"/rules", "/rules/1", "/jobs/rule_1"} {
		h.get(path).has(t, "daily at 09:00, UTC")
	}
}

func TestARuleThatIsRenamedOnThePageKeepsWhatTheFormCannotShow(t *testing.T) {
	h := start(t)
	h.signIn()
	a := h.api("POST", "/auto-posting/rules", `{"name":"Morning","schedule_type":"daily","schedule_config":{"times":["09:00"]},
		"content_config":{"source":"list","items":["Title one\n\nBody one ","Title two"],"order":"once"},"platforms":["telegram"],"accounts":[1]}`)
	if a.status != http.StatusCreated {
		t.Fatal(a.status, a.body)
	}
	rule := func() (r store.Rule) {
		h.view(func(tx *store.Tx) (err error) {
			r, err = tx.Rules.Get(1)
			return err
		})
		return r
	}
	was := rule()
	was.Position = 1 // the first one was posted
	h.update(func(tx *store.Tx) error { return tx.Rules.Put(&was) })
	change := func(items string) answered {
		return h.submit("/rules/1/change", "name", "Mornings", "schedule_type", "daily", "times", "09:00", "source", "list", "items", items, "order", "once", "account", "1")
	}
	if a := change("Title one\r\n\r\nBody one \r\nTitle two"); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	if r := rule(); r.Name != "Mornings" || !slices.Equal(r.Content.Items, was.Content.Items) || r.Position != 1 || !slices.Equal(r.Platforms, was.Platforms) {
		t.Errorf("%+v", r)
	}
	if a := change("Title one\r\n\r\nAnother body\r\nTitle two"); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "texts of several lines") {
		t.Error(a.status, a.body)
	}
}
