package web

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"belfry/store"
	"belfry/web/api"
	"belfry/worker/alerts"
)

// look lets the worker look for what is wrong once more.
func (h *harness) look() {
	if err := h.alerts.Look(h.t.Context()); err != nil {
		h.t.Fatal(err)
	}
}

// failPost writes a post that was not published; id 0 makes a new one.
func (h *harness) failPost(id uint64, text, target string) uint64 {
	h.update(func(tx *store.Tx) error {
		p := store.Post{
			ID: id, Platform: "telegram", IdentityID: 1, Target: target, Text: text, Format: "plain", Status: store.PostFailed, ScheduledTime: tx.Now(),
			Reason:    store.Reason{Code: store.ReasonRefused, Detail: "CHAT_WRITE_FORBIDDEN: this login may not post in the chat: make it an administrator that may post messages"},
			CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
		}
		err := tx.Posts.Put(&p)
		id = p.ID
		return err
	})
	return id
}

// setDisk sets how much room the next look finds on the disk.
func (h *harness) setDisk(free int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.disk = alerts.Disk{Free: free, Need: 1 << 30}
}

func (h *harness) alertsOf(query string) (found api.List[api.Alert]) {
	h.api("GET", "/alerts"+query, "").decode(h.t, &found)
	return found
}

func TestAlertsAreListedReadAndAcknowledgedOverTheAPI(t *testing.T) {
	h := start(t)
	h.look()
	if found := h.alertsOf(""); len(found.Items) != 0 || found.Next != "" {
		t.Fatalf("at the beginning: %+v", found)
	}
	h.setDisk(100 << 20)
	h.look()
	for i := range 3 { // no look is needed for these
		h.failPost(0, fmt.Sprint("Post ", i), "@evening_news")
	}
	first := h.alertsOf("?limit=3")
	rest := h.alertsOf("?limit=3&cursor=" + first.Next)
	if len(first.Items) != 3 || len(rest.Items) != 1 || rest.Next != "" {
		t.Fatalf("in two pages: %+v, %+v", first, rest)
	}
	last := rest.Items[0]
	if last.Kind != "disk" || last.What != "The disk is nearly full: 100 MiB free, 1024 MiB needed" || last.Cure == "" || last.Reason != nil ||
		last.Count != 100<<20 || last.Limit != 1<<30 || last.State != "open" {
		t.Errorf("the disk: %+v", last)
	}
	var post api.Alert
	h.api("GET", fmt.Sprintf("/alerts/%d", rest.Items[0].ID+1), "").decode(t, &post)
	if post.Kind != "post_failed" || post.About != "post_1" || post.Subject != 1 || post.What != "Post 1 to @evening_news was not published" ||
		!strings.HasPrefix(post.Why, "Refused: ") || !strings.HasSuffix(post.Why, "(CHAT_WRITE_FORBIDDEN)") || post.Reason == nil || post.Reason.Code != "refused" || post.RaisedAt.IsZero() {
		t.Errorf("a post: %+v", post)
	}

	var seen, over api.Alert
	h.api("POST", fmt.Sprintf("/alerts/%d/acknowledge", last.ID), "").decode(t, &seen)
	if seen.State != "acknowledged" || seen.AcknowledgedBy != "the token BELFRY_API_TOKEN" || seen.AcknowledgedAt.IsZero() || seen.Cure == "" {
		t.Errorf("the disk, seen: %+v", seen)
	}
	socket := h.socket()
	socket("POST", fmt.Sprintf("/alerts/%d/acknowledge", post.ID), "").decode(t, &over)
	if over.State != "resolved" || over.AcknowledgedBy != "the command line" || over.ResolvedAt.IsZero() || over.Cure != "" {
		t.Errorf("a post, seen: %+v", over)
	}
	var made api.Token
	socket("POST", "/tokens", `{"name":"curator"}`).decode(t, &made)
	var all api.Acknowledged
	h.api("POST", "/alerts/acknowledge", "", "Authorization", "Bearer "+made.Token).decode(t, &all)
	if over := h.alertsOf("?state=resolved"); all.Acknowledged != 2 || len(over.Items) != 3 || over.Items[0].AcknowledgedBy != "the token curator" {
		t.Errorf("all: %+v, over %+v", all, over)
	}
	var again api.Alert
	h.api("POST", fmt.Sprintf("/alerts/%d/acknowledge", post.ID), "").decode(t, &again)
	if again.AcknowledgedBy != "the command line" {
		t.Errorf("a post that was seen already: %+v", again)
	}
	if found := h.alertsOf("?state=acknowledged"); len(found.Items) != 1 || found.Items[0].ID != last.ID {
		t.Errorf("acknowledged: %+v", found)
	}
}

func TestWrongQuestionsAboutAlertsAreRefusedInWords(t *testing.T) {
	h := start(t)
	for path, want := range map[string]int{
		"/alerts?state=new": http.StatusUnprocessableEntity, "/alerts?cursor=x": http.StatusUnprocessableEntity,
		"/alerts?state=open&cursor=x": http.StatusUnprocessableEntity, "/alerts/7": http.StatusNotFound,
	} {
		a := h.api("GET", path, "")
		if p := a.problem(t); a.status != want || p.Detail == "" {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	if a := h.api("POST", "/alerts/7/acknowledge", ""); a.status != http.StatusNotFound {
		t.Errorf("acknowledge what is not there: %d", a.status)
	}
}

func TestAlertsOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	h.look()
	h.get("/alerts").has(t, "No open alerts.", `<a href="/alerts" aria-current="page">`)
	h.get("/").lacks(t, "new alert")

	post := h.failPost(0, "Night <bus> timetable", "@night_buses")
	h.setDisk(1 << 20)
	h.look()
	page := h.get("/alerts")
	page.has(t, "New alerts", "Post 1 to @night_buses was not published", "this login may not post in the chat", `href="/posts/1">Night &lt;bus&gt; timetable</a>`,
		"The disk is nearly full: 1 MiB free", "Free some space", `action="/alerts/1/seen"`, `action="/alerts/2/seen"`, "Acknowledge all")
	page.lacks(t, "No open alerts", "Acknowledged, still active", "To the latest")

	if a := h.submit("/alerts/1/seen"); a.header.Get("Location") != "/alerts?done=alert-seen" {
		t.Fatalf("seen: %d %s", a.status, a.body)
	}
	if a := h.submit("/alerts/2/seen"); a.header.Get("Location") != "/alerts?done=alert-seen" {
		t.Fatalf("seen: %d %s", a.status, a.body)
	}
	page = h.get("/alerts?done=alert-seen")
	page.has(t, "Acknowledged.", "No open alerts", "Acknowledged, still active", "The disk is nearly full", "the page", `<h2 id="past-title">Earlier alerts</h2>`, `<span class="chip is-alert-seen">acknowledged</span>`)
	page.lacks(t, "Acknowledge all")

	h.failPost(post, "Night <bus> timetable", "@night_buses")
	h.failPost(0, "Another one", "@night_buses")
	h.setDisk(2 << 30)
	h.look()
	page = h.get("/alerts")
	page.has(t, "It seems resolved", "Another one")
	h.failPost(0, "Raised later", "@night_buses")
	until := regexp.MustCompile(`name="until" value="([^"]+)"`).FindStringSubmatch(page.body)
	if until == nil {
		t.Fatal("the form does not say which alerts it shows")
	}
	h.submit("/alerts/seen", "until", until[1])
	if open := h.alertsOf("?state=open"); len(open.Items) != 1 {
		t.Errorf("after all that were shown are acknowledged: %+v", open.Items)
	}
	if a := h.submit("/alerts/seen"); a.header.Get("Location") != "/alerts?done=alerts-seen" {
		t.Fatalf("all seen: %d %s", a.status, a.body)
	}
	h.look()
	page = h.get("/alerts?done=alerts-seen")
	page.has(t, "All acknowledged.", "No open alerts", `<span class="chip is-alert-over">resolved</span>`)
	page.lacks(t, "Acknowledged, still active")
	for _, path := range []string{"/alerts/99/seen", "/alerts/x/seen"} {
		if a := h.submit(path); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	if a := h.post("/alerts/seen", nil); a.status != http.StatusForbidden {
		t.Errorf("without the sign-in's token: %d", a.status)
	}
}

func TestAlertsInRussian(t *testing.T) {
	h := start(t, func(c *Config) { c.Lang = "ru" })
	h.signIn()
	h.look()
	h.get("/alerts").has(t, "Открытых оповещений нет")
	for i := range 3 {
		h.failPost(0, fmt.Sprint("Пост ", i), "@evening_news")
	}
	h.look()
	h.get("/").has(t, "3 новых оповещения")
	h.get("/alerts").has(t, "Пост 1 в @evening_news не опубликован", "Отказано: у этого аккаунта нет права публиковать в чате", "Принять все")
	h.socket()("POST", "/alerts/acknowledge", "")
	h.get("/alerts").has(t, "принято", "командная строка")
}

func TestTheFirstPageLeadsToAlertsAndSaysNothingTwice(t *testing.T) {
	h := start(t)
	h.signIn()
	h.look()
	h.failPost(0, "Night bus timetable", "@night_buses")
	h.update(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(1)
		if err != nil {
			return err
		}
		i.State, i.Reason = store.IdentityLogin, store.Reason{Code: store.ReasonLogin}
		return tx.Identities.Put(&i)
	})
	h.look()
	page := h.get("/")
	page.has(t, `<a href="/alerts">2 new alerts</a>`, "Post 1 to @night_buses was not published", `href="/posts/1">Night bus timetable</a>`,
		"The account main cannot post", `href="/logins">`)
	page.lacks(t, "No connection: main")
	for _, once := range []string{"Post 1 to @night_buses was not published", "The account main cannot post"} {
		if strings.Count(page.body, once) != 1 {
			t.Errorf("it says more than once: %s", once)
		}
	}

	events := h.listen("/")
	h.setDisk(1 << 20)
	h.look()
	event := next(t, events, "3 new alerts")
	if !strings.Contains(event, "The disk is nearly full: 1 MiB free") {
		t.Errorf("what nothing else says is not said: %s", event)
	}
	h.submit("/alerts/seen")
	if event = next(t, events, `id="attention"`); strings.Contains(event, "new alert") || strings.Contains(event, "The disk") {
		t.Errorf("after all was seen: %s", event)
	}
}

func TestWhatAnAlertIsAboutIsNamedAndLinked(t *testing.T) {
	h := start(t)
	h.signIn()
	h.account("anna")
	made := h.makeTask("To <all>", `["@one_chat"]`, `,"paused":true`)
	h.update(func(tx *store.Tx) error {
		at := tx.Now().Add(time.Hour)
		job := store.Job{Name: "autocheck", Kind: "autocheck", Lane: "autocheck", Trigger: store.Trigger{Every: time.Hour}, State: store.JobWaiting, Occurrence: at, Due: at}
		if err := tx.Jobs.Put(&job); err != nil {
			return err
		}
		for _, a := range []store.Alert{
			{Kind: store.AlertTaskFailed, About: "task_1", Subject: made.ID, Count: 3, Limit: 8},
			{Kind: store.AlertJobFailing, About: "autocheck", Name: "autocheck", Count: 4},
			{Kind: store.AlertJobFailing, About: "channel_9", Name: "channel_9", Count: 4},
			{Kind: store.AlertOverdue, About: "schedule", Name: "autocheck", Count: 7},
			{Kind: store.AlertLogin, About: "login_1", Name: "main"},
			{Kind: store.AlertQueue, About: "schedule", Count: 700},
			{Kind: store.AlertPostFailed, About: "more", Count: 41},
			{Kind: store.AlertPostFailed, About: "post_77", Subject: 77, Name: "@gone"},
			{Kind: "of_a_later_version", About: "something else"},
		} {
			a.RaisedAt = tx.Now()
			if err := tx.Alerts.Add(&a); err != nil {
				return err
			}
		}
		return nil
	})
	page := h.get("/alerts")
	page.has(t, "Broadcast 1 has failed: 3 of 8 chats received it", `href="/tasks/1">To &lt;all&gt;</a>`,
		"Account check has failed 4 times in a row", `href="/jobs/autocheck">Open the job</a>`, "Account check is overdue by 7 minutes",
		"Channel 9 has failed 4 times in a row", "The account main cannot post", `href="/logins">Connected accounts</a>`, "700 jobs are due", `href="/jobs">All jobs</a>`,
		"41 more posts or broadcasts have failed", `href="/posts?status=failed">Failed posts</a>`, "Post 77 to @gone was not published", "something else")
	page.lacks(t, `href="/posts/77"`, `href="/jobs/channel_9"`)
	h.get("/").has(t, "9 new alerts", "Account check has failed 4 times in a row", "700 jobs are due")
}

func TestManyAlertsComeInPages(t *testing.T) {
	h := start(t)
	h.signIn()
	h.update(func(tx *store.Tx) error {
		for i := range 200 {
			a := store.Alert{Kind: store.AlertPostFailed, About: fmt.Sprint("post_", i+1), Subject: uint64(i + 1), Name: "@evening_news", RaisedAt: tx.Now().Add(time.Duration(i) * time.Second)}
			if i < 60 {
				a.OverAt = tx.Now()
			}
			if err := tx.Alerts.Add(&a); err != nil {
				return err
			}
		}
		return nil
	})
	h.get("/").has(t, "More than 100 new alerts")
	page := h.get("/alerts")
	page.has(t, "There are more. Acknowledge these to see them.", "Post 60 to", "Older alerts")
	if n := strings.Count(page.body, `id="see-`) - 1; n != 50 {
		t.Errorf("%d alerts have a button", n)
	}
	h.get("/alerts?cursor="+pagesOn(t, page)).has(t, "Post 35 to", "To the latest")
	h.submit("/alerts/seen")
	h.get("/alerts").has(t, "No open alerts")
}

// pagesOn returns the cursor of the next page.
func pagesOn(t *testing.T, page answered) string {
	t.Helper()
	_, rest, found := strings.Cut(page.body, `href="/alerts?cursor=`)
	cursor, _, ended := strings.Cut(rest, `"`)
	if !found || !ended {
		t.Fatal("there is no further page")
	}
	return cursor
}

func TestJobsThatLookAfterBelfryAreNamed(t *testing.T) {
	h := start(t)
	h.signIn()
	h.look()
	h.update(func(tx *store.Tx) error {
		at := tx.Now().Add(time.Hour)
		if err := tx.Jobs.Put(&store.Job{Name: "backup", Kind: "backup", Lane: "backup", Trigger: store.Trigger{Every: time.Hour}, State: store.JobWaiting, Occurrence: at, Due: at}); err != nil {
			return err
		}
		n := store.Notice{Kind: "alerts", Chat: store.WebhookChat, Key: 1, Text: `{"text":"x"}`, CreatedAt: tx.Now()}
		if err := tx.Notices.Add(&n); err != nil {
			return err
		}
		return tx.Jobs.Put(&store.Job{Name: n.JobName(), Kind: "notice", Subject: n.ID, Lane: "notices", Trigger: store.Trigger{At: at}, State: store.JobWaiting, Occurrence: at, Due: at})
	})
	page := h.get("/jobs")
	page.has(t, "every hour", "Backup to Telegram", "Webhook call", `<option value="backup">`)
	page.lacks(t, "&#34;text&#34;")
	h.get("/").has(t, "Backup to Telegram")
}
