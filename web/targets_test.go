package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"belfry/store"
	"belfry/web/api"
	"belfry/worker/identities"
)

// second adds another bot to a harness.
func (h *harness) second() {
	h.update(func(tx *store.Tx) error {
		_, err := identities.Add(tx, identities.Request{
			Platform: "telegram", Name: "second", Token: "987654321:AAEexampleexampleexampleexample", Target: "@weather",
		})
		return err
	})
}

func TestProgramsMakeAndCancelPostsTogether(t *testing.T) {
	h := start(t)
	h.second()
	body := fmt.Sprintf(`{"text": "hello", "scheduled_time": %q, "targets": [{"platform": "telegram", "identity_id": 1, "target": "@a"},
		{"platform": "telegram", "identity_id": "2", "text": "its own"}]}`, h.soon(time.Hour))
	var first, again api.PostGroup
	a := h.api("POST", "/scheduled-posts", body, "Idempotency-Key", "one")
	a.decode(t, &first)
	if a.status != http.StatusCreated || len(first.Items) != 2 || first.Items[1].Text != "its own" || first.Items[1].Target != "@weather" || first.Items[1].Group != first.Group {
		t.Fatal(a.status, a.body)
	}
	if a = h.api("POST", "/scheduled-posts", body, "Idempotency-Key", "one"); a.header.Get("Idempotency-Replayed") != "true" {
		t.Error(a.status, a.body)
	}
	if a.decode(t, &again); len(again.Items) != 2 || again.Items[1].ID != first.Items[1].ID {
		t.Error(a.body)
	}
	if a := h.api("POST", "/scheduled-posts/"+fmt.Sprint(first.Items[0].ID)+"/publish-now", ""); a.status != http.StatusOK {
		t.Error(a.status, a.body)
	}
	h.published(first.Items[0].ID)
	var list api.List[api.Post]
	h.api("GET", "/scheduled-posts?group="+fmt.Sprint(first.Group), "").decode(t, &list)
	if len(list.Items) != 2 || list.Items[0].Status != "published" {
		t.Errorf("%+v", list)
	}
	var done api.CancelledGroup
	h.api("POST", fmt.Sprintf("/scheduled-posts/groups/%d/cancel", first.Group), "").decode(t, &done)
	if len(done.NotCancelled) != 1 || done.NotCancelled[0].ID != first.Items[0].ID || done.Items[1].Status != "cancelled" {
		t.Errorf("%+v", done)
	}
	if a := h.api("POST", "/scheduled-posts/groups/99/cancel", ""); a.status != http.StatusNotFound {
		t.Error(a.status, a.body)
	}
	for field, sent := range map[string]string{
		"targets[1].target":  `"targets": [{"platform": "telegram", "identity_id": 1}, {"platform": "telegram", "identity_id": 1}]`,
		"platforms[0]":       `"platforms": ["fax"]`,
		"platform":           `"platform": "telegram", "platforms": ["telegram"]`,
		"targets":            `"targets": []`,
		"targets[0].text":    `"targets": [{"platform": "telegram", "identity_id": 1, "text": "` + strings.Repeat("x", 5000) + `"}]`,
		"targets[0].unknown": `"targets": [{"platform": "telegram", "unknown": 1}]`,
	} {
		a := h.api("POST", "/scheduled-posts", fmt.Sprintf(`{"text": "hello", "scheduled_time": %q, %s}`, h.soon(time.Hour), sent))
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, `"field":"`+field+`"`) {
			t.Error(field, a.status, a.body)
		}
	}
}

// published waits until a post is out.
func (h *harness) published(id uint64) {
	for end := time.Now().Add(20 * time.Second); ; {
		var p store.Post
		h.view(func(tx *store.Tx) (err error) {
			p, err = tx.Posts.Get(id)
			return err
		})
		if p.Status == store.PostPublished {
			return
		}
		if time.Now().After(end) {
			h.fatal("not published: ", p)
		}
	}
}

func TestProgramsFillAQueue(t *testing.T) {
	h := start(t)
	post := `{"text": "hello", "platform": "telegram", "queue": true}`
	if a := h.api("POST", "/scheduled-posts", post); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "PATCH /identities") {
		t.Error(a.status, a.body)
	}
	for field, slots := range map[string]string{
		"slots[0].times[1]":        `[{"times": ["09:00", "25:00"], "zone": "UTC"}]`,
		"slots[0].times":           `[{"times": [], "zone": "UTC"}]`,
		"slots[0].days_of_week[0]": `[{"times": ["09:00"], "days_of_week": [8], "zone": "UTC"}]`,
		"slots[1].zone":            `[{"times": ["09:00"], "zone": "UTC"}, {"times": ["09:00"], "zone": ""}]`,
	} {
		if a := h.api("PATCH", "/identities/1", `{"slots": `+slots+`}`); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, `"field":"`+field+`"`) {
			t.Error(field, a.status, a.body)
		}
	}
	var login api.Identity
	h.api("PATCH", "/identities/1", `{"slots": [{"times": ["09:00", "18:30"], "days_of_week": [1, 3], "zone": "Europe/Moscow"}]}`).decode(t, &login)
	if len(login.Slots) != 1 || len(login.Slots[0].Days) != 2 {
		t.Errorf("%+v", login)
	}
	var times []time.Time
	for range 4 {
		var made api.Post
		a := h.api("POST", "/scheduled-posts", post)
		if a.decode(t, &made); a.status != http.StatusCreated {
			t.Fatal(a.status, a.body)
		}
		times = append(times, made.ScheduledTime)
	}
	for i, at := range times {
		if i > 0 && !at.After(times[i-1]) || at.Weekday() != time.Monday && at.Weekday() != time.Wednesday {
			t.Errorf("queued for %v", times)
		}
	}
	var changed api.Post
	h.api("DELETE", "/scheduled-posts/1", "")
	h.api("PATCH", "/scheduled-posts/4", `{"queue": true}`).decode(t, &changed)
	if !changed.ScheduledTime.Equal(times[0]) {
		t.Errorf("%+v", changed)
	}
	if a := h.api("PATCH", "/scheduled-posts/4", `{"queue": true, "scheduled_time": "2030-01-01T09:00:00Z"}`); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, `"field":"queue"`) {
		t.Error(a.status, a.body)
	}
}

func TestProgramsChangeContentsAndReadTheirVersions(t *testing.T) {
	h := start(t)
	var c api.Content
	a := h.api("POST", "/content/create", `{"text": "one <b>bold</b>", "format": "html", "status": "draft", "language": "en", "variants": [{"platform": "x", "hashtags": ["news"]}]}`)
	if a.decode(t, &c); a.status != http.StatusCreated || c.Status != "draft" || c.Version != 1 || len(c.Variants) != 1 || c.Variants[0].Hashtags[0] != "#news" {
		t.Fatal(a.status, a.body)
	}
	post := fmt.Sprintf(`{"content_id": %d, "platform": "telegram", "scheduled_time": %q}`, c.ID, h.soon(time.Hour))
	if a := h.api("POST", "/scheduled-posts", post); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "approve it first") {
		t.Error(a.status, a.body)
	}
	path := fmt.Sprintf("/content/%d", c.ID)
	h.api("PATCH", path, `{"status": "approved", "text": "two", "version": 1}`).decode(t, &c)
	if c.Version != 2 || c.Status != "approved" || len(c.Versions) != 1 || c.Versions[0].Text != "one <b>bold</b>" || c.ChangedBy == "" {
		t.Errorf("%+v", c)
	}
	if a := h.api("PATCH", path, `{"text": "three", "version": 1}`); a.status != http.StatusConflict {
		t.Error(a.status, a.body)
	}
	if a := h.api("PATCH", path, `{"status": "lost"}`); a.status != http.StatusUnprocessableEntity {
		t.Error(a.status, a.body)
	}
	h.api("POST", path+"/restore", `{"version": 1}`).decode(t, &c)
	if c.Version != 3 || c.Text != "one <b>bold</b>" {
		t.Errorf("%+v", c)
	}
	var shown api.List[api.ContentPreview]
	h.api("GET", path+"/preview", "").decode(t, &shown)
	if len(shown.Items) != 1 || shown.Items[0].Text != "one bold" || shown.Items[0].Length != 8 {
		t.Errorf("%+v", shown)
	}
	var list api.List[api.Content]
	if h.api("GET", "/content", "").decode(t, &list); len(list.Items) != 1 {
		t.Errorf("%+v", list)
	}
	if a := h.api("GET", path, ""); a.status != http.StatusOK {
		t.Error(a.status, a.body)
	}
	if a := h.api("POST", "/scheduled-posts", post); a.status != http.StatusCreated {
		t.Error(a.status, a.body)
	}
}

func TestOwnersPublishInSeveralChannels(t *testing.T) {
	h := start(t)
	h.second()
	h.signIn()
	if a := h.get("/posts/new"); !strings.Contains(a.body, `id="also-2"`) || !strings.Contains(a.body, `value="queue"`) {
		t.Error(a.body)
	}
	form := []string{"identity_id", "1", "target", "@a, @b", "also", "2", "text", "hello", "text-2", "its own", "format", "plain"}
	if a := h.submit("/posts/check", form...); strings.Count(a.body, `class="message"`) != 3 || !strings.Contains(a.body, "its own") || !strings.Contains(a.body, "@weather") {
		t.Error(a.body)
	}
	if a := h.submit("/posts/check", append(form, "when", "queue")...); !strings.Contains(a.body, "has no times") {
		t.Error(a.body)
	}
	save := append(form, "form", "one", "when", "at", "time", h.now().UTC().Add(time.Hour).Format("2006-01-02T15:04"))
	twice := append(append([]string{}, save...), "target-2", "@c, @c")
	if a := h.submit("/posts/new", twice...); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "name each channel once") || !strings.Contains(a.body, "its own") {
		t.Error(a.status, a.body)
	}
	for range 2 {
		if a := h.submit("/posts/new", save...); a.status != http.StatusSeeOther || a.header.Get("Location") != "/posts/1?done=scheduled-together" {
			t.Fatal(a.status, a.header, a.body)
		}
	}
	if a := h.get("/posts/1"); !strings.Contains(a.body, `href="/posts/2"`) || !strings.Contains(a.body, `href="/posts/3"`) || !strings.Contains(a.body, "/posts/1/cancel-all") {
		t.Error(a.body)
	}
	if a := h.get("/posts"); !strings.Contains(a.body, "and 2 other channels") {
		t.Error(a.body)
	}
	if a := h.get("/posts/1/cancel-all"); a.status != http.StatusOK || !strings.Contains(a.body, "@weather") {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/posts/1/cancel-all"); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	h.view(func(tx *store.Tx) error {
		for p := range tx.Posts.All() {
			if p.Status != store.PostCancelled {
				t.Errorf("post %d is %s", p.ID, p.Status)
			}
		}
		return nil
	})
}

func TestOwnersSetAQueueAndUseIt(t *testing.T) {
	h := start(t)
	h.signIn()
	rows := []string{"target", "@evening_news", "slot_times-0", "", "slot_zone-0", "UTC", "slot_times-1", "09:00, 18:30", "slot_days-1", "1", "slot_zone-1", "Mars"}
	if a := h.submit("/logins/1/change", rows...); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "Mars") || !strings.Contains(a.body, `id="slot_zone-0-error"`) {
		t.Error(a.status, a.body)
	}
	rows[len(rows)-1] = "Europe/Moscow"
	if a := h.submit("/logins/1/change", rows...); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	if a := h.get("/logins"); !strings.Contains(a.body, "Mon at 09:00, 18:30, Moscow") {
		t.Error(a.body)
	}
	if a := h.get("/logins/1/change"); !strings.Contains(a.body, `value="09:00, 18:30"`) || !strings.Contains(a.body, `name="slot_times-1"`) {
		t.Error(a.body)
	}
	if a := h.submit("/posts/check", "identity_id", "1", "text", "hello", "when", "queue"); !strings.Contains(a.body, ":30") && !strings.Contains(a.body, "06:00") {
		t.Error(a.body)
	}
	if a := h.submit("/posts/new", "form", "one", "identity_id", "1", "text", "hello", "format", "plain", "when", "queue"); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	h.view(func(tx *store.Tx) error {
		p, err := tx.Posts.Get(1)
		if p.ScheduledTime.Weekday() != time.Monday {
			t.Errorf("%+v", p)
		}
		return err
	})
	change := []string{"identity_id", "1", "text", "hello", "format", "plain", "when", "at", "time", h.now().UTC().Add(time.Hour).Format("2006-01-02T15:04")}
	for _, when := range []string{"at", "queue"} {
		change[7] = when
		if a := h.submit("/posts/1/change", change...); a.status != http.StatusSeeOther {
			t.Fatal(when, a.status, a.body)
		}
		h.view(func(tx *store.Tx) error {
			p, err := tx.Posts.Get(1)
			if inQueue := p.ScheduledTime.In(time.FixedZone("MSK", 3*60*60)).Format("Mon 15:04"); (inQueue == "Mon 09:00" || inQueue == "Mon 18:30") != (when == "queue") {
				t.Errorf("%s: %s", when, inQueue)
			}
			return err
		})
	}
}

func TestOwnersKeepTexts(t *testing.T) {
	h := start(t)
	h.signIn()
	if a := h.get("/contents"); !strings.Contains(a.body, "No texts yet") {
		t.Error(a.body)
	}
	form := []string{"form", "one", "title", "Evening", "text", "first <b>text</b>", "format", "html", "status", "draft", "language", "en"}
	if a := h.submit("/contents/check", append(form, "hashtags-telegram", "belfry")...); !strings.Contains(a.body, "first <b>text</b>\n\n#belfry") {
		t.Error(a.body)
	}
	if a := h.submit("/contents/new", append(form, "hashtags-telegram", "a<b")...); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "is not a hashtag") {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/contents/new", form...); a.status != http.StatusSeeOther || a.header.Get("Location") != "/contents/1?done=content-saved" {
		t.Fatal(a.status, a.header, a.body)
	}
	if a := h.get("/contents"); !strings.Contains(a.body, "Evening") || !strings.Contains(a.body, "draft") {
		t.Error(a.body)
	}
	if a := h.get("/contents/1"); strings.Contains(a.body, "do-post") || strings.Contains(a.body, "Versions before") {
		t.Error(a.body)
	}
	second := []string{"version", "1", "title", "Evening", "text", "second text", "format", "plain", "status", "approved"}
	if a := h.submit("/contents/1", second...); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/contents/1", append(second, "language", "ru")...); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "someone changed it") || !strings.Contains(a.body, `name="version" value="2"`) {
		t.Error(a.status, a.body)
	}
	if a := h.get("/contents/1"); !strings.Contains(a.body, "Versions before") || !strings.Contains(a.body, "first <b>text</b>") || !strings.Contains(a.body, "/posts/new?content=1") {
		t.Error(a.body)
	}
	if a := h.get("/posts/new?content=1"); !strings.Contains(a.body, "second text</textarea>") {
		t.Error(a.body)
	}
	if a := h.submit("/contents/1/restore", "version", "1"); a.status != http.StatusSeeOther {
		t.Error(a.status, a.body)
	}
	if a := h.get("/contents/1"); !strings.Contains(a.body, "Now: version 3") {
		t.Error(a.body)
	}
	h.submit("/language", "lang", "ru", "back", "/contents")
	for _, path := range []string{"/contents", "/contents/1", "/contents/new", "/logins/1/change", "/posts/new"} {
		if a := h.get(path); a.status != http.StatusOK || !strings.Contains(a.body, "екст") && !strings.Contains(a.body, "Очередь") {
			t.Error(path, a.status)
		}
	}
}

func TestTheFormOfARuleHasAllOfIt(t *testing.T) {
	h := start(t)
	h.signIn()
	form := []string{"form", "one", "name", "Feed", "schedule_type", "daily", "times", "09:00", "zone", "UTC", "source", "feed", "feed_url", "https://news.example/feed.xml",
		"per_run", "3", "language", "ru", "format", "html", "media_kind", "photo", "media_source", "https://news.example/a.jpg", "account", "1"}
	if a := h.submit("/rules/new", form...); a.status != http.StatusSeeOther {
		t.Fatal(a.status, a.body)
	}
	h.view(func(tx *store.Tx) error {
		r, err := tx.Rules.Get(1)
		if c := r.Content; c.PerRun != 3 || c.Language != "ru" || c.Format != "html" || len(c.Media) != 1 {
			t.Errorf("%+v", c)
		}
		return err
	})
	if a := h.get("/rules/1/change"); !strings.Contains(a.body, `value="3"`) || !strings.Contains(a.body, "https://news.example/a.jpg") {
		t.Error(a.body)
	}
	if a := h.submit("/rules/1/change", append(form, "media_kind", "photo", "media_source", "upload:99")...); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "99") {
		t.Error(a.status, a.body)
	}
}

func TestAPostOfARemovedAccountIsUsedAgainAsAnother(t *testing.T) {
	h := start(t)
	h.second()
	h.signIn()
	if a := h.api("POST", "/scheduled-posts", fmt.Sprintf(`{"platform":"telegram","identity_id":2,"text":"hello","scheduled_time":%q}`, h.soon(time.Hour))); a.status != http.StatusCreated {
		t.Fatal(a.status, a.body)
	}
	if a := h.api("DELETE", "/scheduled-posts/1", ""); a.status != http.StatusOK && a.status != http.StatusNoContent {
		t.Fatal(a.status, a.body)
	}
	if a := h.api("DELETE", "/identities/2", ""); a.status != http.StatusNoContent {
		t.Fatal(a.status, a.body)
	}
	for _, path := range []string{"/posts/new?from=1", "/posts/1/change"} {
		if a := h.get(path); !strings.Contains(a.body, "5 of 4,096 characters") || strings.Contains(a.body, "The network") {
			t.Errorf("%s previews another account than it shows: %s", path, a.body)
		}
	}
}
