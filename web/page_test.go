package web

import (
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/web/api"
)

func TestAFormThatIsRefusedKeepsWhatWasTyped(t *testing.T) {
	h := start(t)
	h.signIn()
	for _, c := range []struct{ name, field, value, en, ru string }{
		{"past", "time", "2020-01-01T10:00", "The time is in the past: choose a later one", "Время: уже прошло. Выберите более позднее"},
		{"no time", "time", "", "The time is not complete: choose day and time", "Время: не указано полностью. Выберите день и время"},
		{"no text", "text", "", "The text is missing: write something", "Текст: пусто. Напишите что-нибудь"},
		{"long text", "text", strings.Repeat("я", 4097), "The text is not accepted: the text is 4097 characters long and 4096 are allowed: shorten it", "Текст: в тексте 4097 символов, а можно 4096: сократите"},
	} {
		for lang, want := range map[string]string{"en": c.en, "ru": c.ru} {
			h.post("/language", url.Values{"lang": {lang}, "back": {"/"}})
			values := map[string]string{"identity_id": "1", "target": "@somewhere_else", "text": "Typed & kept", "format": "html", "when": "at", "time": "2099-01-01T10:00", "late": "1h0m0s"}
			values[c.field] = c.value
			var pairs []string
			for name, value := range values {
				pairs = append(pairs, name, value)
			}
			a := h.submit("/posts/new", pairs...)
			if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, want) {
				t.Errorf("%s in %s: %d, wrong: %v", c.name, lang, a.status, regexp.MustCompile(`class="wrong[^<]*<`).FindAllString(a.body, -1))
			}
			for _, kept := range []string{`value="@somewhere_else"`, `value="html" selected`, `value="1h0m0s" selected`} {
				if !strings.Contains(a.body, kept) {
					t.Errorf("%s: %s was lost", c.name, kept)
				}
			}
			if c.field != "text" && !strings.Contains(a.body, "Typed &amp; kept</textarea>") {
				t.Errorf("%s: the text was lost", c.name)
			}
			if !strings.Contains(a.body, `aria-invalid="true"`) {
				t.Errorf("%s: no field is marked", c.name)
			}
		}
	}
}

func TestAFormSentTwiceMakesOnePost(t *testing.T) {
	h := start(t)
	h.signIn()
	key := regexp.MustCompile(`name="form" value="([^"]+)"`).FindStringSubmatch(h.get("/posts/new").body)[1]
	var to string
	for range 3 {
		a := h.submit("/posts/new", "form", key, "identity_id", "1", "text", "Once", "format", "plain", "when", "at", "time", "2030-01-01T10:00")
		if a.status != http.StatusSeeOther || (to != "" && a.header.Get("Location") != to) {
			t.Errorf("%d %s %s", a.status, a.header.Get("Location"), a.body)
		}
		to = a.header.Get("Location")
	}
	h.view(func(tx *store.Tx) error {
		if n := tx.Posts.Count(store.PostScheduled, 10); n != 1 {
			t.Errorf("%d posts", n)
		}
		return nil
	})
	// After going back, another time makes another post.
	if a := h.submit("/posts/new", "form", key, "identity_id", "1", "text", "Once", "format", "plain", "when", "at", "time", "2030-01-02T10:00"); a.header.Get("Location") == to {
		t.Errorf("another time leads to the same post: %s", to)
	}
}

func TestThePageOfAPostSaysExactlyHowLateItMayBe(t *testing.T) {
	h := start(t)
	h.signIn()
	h.holdPost("In time", time.Hour, store.Lateness{Policy: store.LateSkip, Grace: 90 * time.Minute})
	h.get("/posts/1").has(t, "1 hour 30 minutes")
	h.get("/posts/1/change").has(t, "more than 1 hour 30 minutes late")
}

func TestAPostIsChangedOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	made := h.schedulePost("Hello", 90*time.Minute)
	form := []string{"identity_id", "1", "text", "Good\r\nbye", "format", "markdown", "target", "@other", "when", "at",
		"time", made.ScheduledTime.Format("2006-01-02T15:04"), "late", "15m0s", "silent", "on", "media_kind", "video", "media_source", "https://example.com/a.mp4", "media_kind", "photo", "media_source", ""}
	if a := h.submit("/posts/1/change", form...); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.body)
	}
	var changed api.Post
	h.api("GET", "/scheduled-posts/1", "").decode(t, &changed)
	if changed.Text != "Good\nbye" || changed.Format != "markdown" || changed.Target != "@other" || !changed.Silent || changed.Lateness.Policy != "skip" ||
		len(changed.Media) != 1 || changed.Media[0].URL == "" || changed.Media[0].Kind != "video" {
		t.Errorf("%+v", changed)
	}
	if !changed.ScheduledTime.Equal(made.ScheduledTime) {
		t.Errorf("the time lost its seconds: %s", changed.ScheduledTime)
	}
	page := h.get("/posts/1/change").body
	for _, part := range []string{`value="https://example.com/a.mp4"`, `value="video" selected`, `name="silent" type="checkbox" value="on" checked`, `value="15m0s" selected`} {
		if !strings.Contains(page, part) {
			t.Errorf("the form lacks %s", part)
		}
	}
	if a := h.submit("/posts/new", "do", "add-media", "text", "kept", "identity_id", "1"); a.status != http.StatusOK || !strings.Contains(a.body, "media-source-1") || !strings.Contains(a.body, "kept</textarea>") {
		t.Errorf("adding a row: %d", a.status)
	}
}

// What a colleague or the API has changed since a form was opened is not undone by the form.
func TestAFormIsNotSavedOverWhatCameAfterItWasOpened(t *testing.T) {
	h := start(t)
	h.signIn()
	at := func(d time.Duration) string { return h.now().Add(d).UTC().Format("2006-01-02T15:04") }
	rule := []string{"name", "Mine", "schedule_type", "daily", "times", "09:00", "source", "template", "template", "Good morning", "account", "1"}
	booking := []string{"client", "@anna", "service", "Mine", "start", at(48 * time.Hour), "start_was", at(48 * time.Hour), "zone", "UTC", "duration", "1h",
		"reminders", "24h", "feedback_after", "off", "booking_lang", "en", "identity_id", "1"}
	job := []string{"title", "Mine", "type", "times", "times", "10:00", "zone", "UTC", "action", "message", "identity_id", "1", "target", "@news", "text", "hello", "late", "run_once"}
	for _, c := range []struct {
		page, api, change string
		form              []string
		theirs            func(tx *store.Tx) (bool, error)
	}{
		{"/rules/1", "/auto-posting/rules/1", `{"content_config":{"source":"template","template":"Good morning","approval":true}}`, rule, func(tx *store.Tx) (bool, error) {
			r, err := tx.Rules.Get(1)
			return r.Content.Approval, err
		}},
		{"/bookings/1", "/bookings/1", `{"start":"` + h.soon(96*time.Hour) + `"}`, booking, func(tx *store.Tx) (bool, error) {
			b, err := tx.Bookings.Get(1)
			return b.Start.After(h.now().Add(72 * time.Hour)), err
		}},
		{"/jobs/job_1", "/jobs/job_1", `{"tags":["theirs"]}`, job, func(tx *store.Tx) (bool, error) {
			j, err := tx.OwnJobs.Get(1)
			return len(j.Tags) == 1, err
		}},
	} {
		theirs := func() (is bool) {
			h.view(func(tx *store.Tx) (err error) {
				is, err = c.theirs(tx)
				return err
			})
			return is
		}
		list := c.page[:strings.LastIndex(c.page, "/")]
		if a := h.submit(list+"/new", append([]string{"form", list, "start_was", ""}, c.form...)...); a.status != http.StatusSeeOther {
			t.Fatalf("%s: %d %s", list, a.status, a.body)
		}
		opened := h.seen(c.page + "/change")
		if a := h.submit(c.page+"/change", append(c.form, "seen", opened)...); a.status != http.StatusSeeOther || h.seen(c.page+"/change") != opened {
			t.Errorf("%s, as it was: %d %s", c.page, a.status, a.body)
		}
		if a := h.api("PATCH", c.api, c.change); a.status != http.StatusOK || !theirs() {
			t.Fatalf("%s: %d %s", c.api, a.status, a.body)
		}
		a := h.submit(c.page+"/change", append(c.form, "seen", opened)...)
		if a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "omeone changed this after you opened the form") || !strings.Contains(a.body, `value="Mine"`) {
			t.Errorf("%s: %d %s", c.page, a.status, a.body)
		}
		if !theirs() {
			t.Errorf("%s: the form has undone the other change", c.page)
		}
		again := append([]string{"seen", hidden(a.body, "seen"), "start_was", hidden(a.body, "start_was")}, c.form...)
		if a := h.submit(c.page+"/change", again...); a.status != http.StatusSeeOther || theirs() {
			t.Errorf("%s, saved again: %d %s", c.page, a.status, a.body)
		}
	}
}

func TestADocumentKeepsItsNameOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	if a := h.api("POST", "/scheduled-posts", `{"platform":"telegram","text":"Prices","media":[{"kind":"document","url":"https://example.com/8127","name":"prices & more.pdf"}],"scheduled_time":"`+h.soon(time.Hour)+`"}`); a.status != http.StatusCreated {
		t.Fatal(a.status, a.body)
	}
	name := regexp.MustCompile(`name="media_name" value="([^"]+)"`).FindStringSubmatch(h.get("/posts/1/change").body)
	if name == nil {
		t.Fatal("the form has no name of the document")
	}
	for source, want := range map[string]string{"https://example.com/8127": "prices & more.pdf", "https://example.com/8128": ""} {
		if a := h.submit("/posts/1/change", "identity_id", "1", "text", "Prices", "when", "at", "time", h.soon(2 * time.Hour)[:len("2006-01-02T15:04")],
			"media_kind", "document", "media_source", source, "media_name", html.UnescapeString(name[1])); a.status != http.StatusSeeOther {
			t.Fatal(a.status, a.body)
		}
		var changed api.Post
		h.api("GET", "/scheduled-posts/1", "").decode(t, &changed)
		if len(changed.Media) != 1 || changed.Media[0].Name != want {
			t.Errorf("%s: %+v", source, changed.Media)
		}
	}
}

func TestActionsOfThePageAreAskedAboutAndSayWhyNot(t *testing.T) {
	h := start(t)
	h.signIn()
	h.schedulePost("Hello", time.Hour)
	if a := h.get("/posts/1/cancel"); a.status != http.StatusOK || !strings.Contains(a.body, "Cancel this post?") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := h.submit("/posts/1/cancel"); a.header.Get("Location") != "/posts/1?done=cancelled" {
		t.Errorf("%d %v", a.status, a.header)
	}
	if a := h.get("/posts/1?done=cancelled"); !strings.Contains(a.body, "The post was cancelled.") {
		t.Errorf("%s", a.body)
	}
	if a := h.submit("/posts/1/publish-now"); a.status != http.StatusConflict || !strings.Contains(a.body, "Post 1 is cancelled: retry it") {
		t.Errorf("%d %s", a.status, a.body)
	}
	h.schedulePost("Second", time.Hour)
	if a := h.submit("/logins/1/remove"); a.status != http.StatusConflict || !strings.Contains(a.body, "Post 2 waits for the account main") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := h.submit("/logins", "token", "nonsense"); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "does not look like a bot") || strings.Contains(a.body, "nonsense") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := h.submit("/jobs/post_99", "do", "pause", "back", "/jobs"); a.status != http.StatusNotFound {
		t.Errorf("%d", a.status)
	}
	if a := h.submit("/jobs/post_2", "do", "pause", "back", "//attacker.example"); a.header.Get("Location") != "/?done=paused" {
		t.Errorf("%d %v", a.status, a.header)
	}
	for _, path := range []string{"/posts/99", "/posts/x", "/posts/1x/change", "/logins/99/change", "/jobs/none", "/nothing", "/posts?cursor=%21"} {
		a := h.get(path)
		if a.status < 400 || a.status >= 500 || !strings.Contains(a.body, "<h1>") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

// What others wrote is text: in no place of any page does it become an element or an attribute.
func TestTextOfOthersStaysText(t *testing.T) {
	h := start(t)
	h.signIn()
	const evil = `"><img src=x onerror=alert(1)><div hx-get="/logins" hx-trigger="load">'`
	h.update(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(1)
		if err != nil {
			return err
		}
		i.Title, i.Username, i.Target, i.State, i.Reason = evil, evil, evil, store.IdentityLogin, store.Reason{Code: store.ReasonLogin, Detail: evil}
		if err := tx.Identities.Put(&i); err != nil {
			return err
		}
		for _, status := range store.PostStatuses() {
			p := store.Post{Platform: "telegram", IdentityID: 1, Target: evil, Text: evil, Format: "html", Status: status, Held: status == store.PostPublishing, ScheduledTime: tx.Now(), UpdatedAt: tx.Now(),
				Link: "javascript:alert(1)", Reason: store.Reason{Code: store.ReasonError, Detail: evil}, Media: []store.Media{{Kind: evil, URL: evil, Name: evil}}}
			if err := tx.Posts.Put(&p); err != nil {
				return err
			}
			if err := tx.Runs.Add(&store.Run{Job: p.JobName(), Kind: "post", Ended: tx.Now(), Result: store.ResultFailed, Reason: store.Reason{Code: store.ReasonError, Detail: evil}}); err != nil {
				return err
			}
			err := tx.Jobs.Put(&store.Job{Name: p.JobName(), Kind: "post", Subject: p.ID, Lane: evil, Trigger: store.Trigger{At: tx.Now().Add(time.Hour)},
				State: store.JobSetAside, Due: tx.Now().Add(time.Hour), Reason: store.Reason{Code: store.ReasonError, Detail: evil}})
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, path := range []string{"/", "/posts", "/posts/1", "/posts/3", "/posts/1/change", "/posts/1/cancel", "/posts/new?from=1", "/jobs", "/jobs/post_1", "/logins", "/logins/1/change",
		"/logins/1/remove", "/posts?status=" + url.QueryEscape(evil), "/jobs?kind=" + url.QueryEscape(evil), "/?done=" + url.QueryEscape(evil), "/sign-in?back=" + url.QueryEscape("/"+evil)} {
		a := h.get(path)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
		if strings.Contains(a.body, "<img src=x") || strings.Contains(a.body, `<div hx-get`) || strings.Contains(a.body, `href="javascript:`) {
			t.Errorf("%s has it:\n%s", path, a.body)
		}
	}
	if a := h.submit("/posts/check", "text", evil, "format", "html", "identity_id", "1"); strings.Contains(a.body, "<img") || strings.Contains(a.body, "<div hx-") {
		t.Errorf("the preview has it: %s", a.body)
	}
}

func TestALoginThatCannotConnectSaysWhy(t *testing.T) {
	h := start(t)
	h.signIn()
	h.mu.Lock()
	h.connection = platform.Connection{State: platform.Connecting, Since: time.Now(), Err: "the Telegram API ID is not configured: enter it in Settings, or set TELEGRAM_API_ID and TELEGRAM_API_HASH, from my.telegram.org"}
	h.mu.Unlock()
	h.update(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(1)
		i.State = store.IdentityNew
		return errors.Join(err, tx.Identities.Put(&i))
	})
	page := h.get("/logins")
	page.has(t, "not connected", "Telegram API ID is not configured")
	page.lacks(t, "is logging it in")
	var all struct{ Items []api.Identity }
	if h.api("GET", "/identities", "").decode(t, &all); all.Items[0].Reason == nil || !strings.Contains(all.Items[0].Reason.Text, "Telegram API ID") {
		t.Errorf("the API says %+v", all.Items[0])
	}
}

func TestTheNextPostStandsAboveTheOthersHoweverManyComeBeforeIt(t *testing.T) {
	h := start(t)
	h.signIn()
	h.schedulePost("In three days", 72*time.Hour)
	for n := range 13 {
		a := h.api("POST", "/jobs", fmt.Sprintf(`{"title":"Job %d","trigger":{"every":"1h"},"action":{"type":"autocheck"}}`, n))
		if a.status != http.StatusCreated {
			t.Fatal(a.status, a.body)
		}
	}
	page := h.get("/")
	page.has(t, "In three days", "Job 11")
	page.lacks(t, "Nothing is waiting")
}

func TestTheFirstPageSaysWhatNeedsAttention(t *testing.T) {
	h := start(t, func(c *Config) { c.Password = "" })
	link, err := h.server.SignInLink(h.base)
	if err != nil {
		t.Fatal(err)
	}
	_, key, _ := strings.Cut(link, "key=")
	h.post("/sign-in/link", url.Values{"key": {key}})
	h.mu.Lock()
	h.connection = platform.Connection{State: platform.Connecting, Since: time.Now(), Err: "dial tcp: no route to host"}
	h.mu.Unlock()
	h.update(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(1)
		if err != nil {
			return err
		}
		i.State = store.IdentityReady
		if err := tx.Identities.Put(&i); err != nil {
			return err
		}
		for n := range 5 {
			p := store.Post{Platform: "telegram", IdentityID: 1, Text: "Failed", Format: "plain", Status: store.PostFailed, ScheduledTime: tx.Now(), UpdatedAt: tx.Now(),
				Reason: store.Reason{Code: store.ReasonGaveUp, N: 3, Of: 3}, Target: "@a"}
			if n == 4 {
				p.Status, p.Text = store.PostUnknown, "Perhaps"
			}
			if err := tx.Posts.Put(&p); err != nil {
				return err
			}
		}
		return tx.Jobs.Put(&store.Job{Name: "rule_1", Kind: "rule", Lane: "rules", Trigger: store.Trigger{Every: time.Hour}, State: store.JobSetAside,
			Due: tx.Now(), Reason: store.Reason{Code: store.ReasonUnknownKind}})
	})
	page := h.get("/")
	page.has(t, "The page has no password yet", "No connection: main", "no route to host", "Post 4 to @a was not published", `href="/posts/4">Failed</a>`, "5 new alerts",
		"Gave up after attempt 3 of 3", "It is unknown whether post 5 to @a was published", `href="/posts/5">Perhaps</a>`, "Look whether it is there", "Nothing is waiting")
	page.lacks(t, "Post 1 to @a")
	h.look()
	h.get("/").has(t, "was set aside and does not run", `href="/jobs/rule_1"`, "6 new alerts")
	h.update(func(tx *store.Tx) error { // somebody tries it again, and it is out
		p, err := tx.Posts.Get(4)
		p.Status, p.PublishedAt = store.PostPublished, tx.Now()
		return errors.Join(err, tx.Posts.Put(&p))
	})
	h.get("/").lacks(t, "Post 4 to @a was not published")
}
