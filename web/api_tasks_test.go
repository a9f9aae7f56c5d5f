package web

import (
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/web/api"
)

// makeTask makes a broadcast through the API. more is the rest of its JSON.
func (h *harness) makeTask(text, targets, more string) api.Task {
	body, err := json.Marshal(text)
	if err != nil {
		h.fatal(err)
	}
	a := h.api("POST", "/tasks", fmt.Sprintf(`{"text":%s,"target_chat_ids":%s%s}`, body, targets, more))
	var made api.Task
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != http.StatusCreated {
		h.fatal(a.status, " ", a.body)
	}
	return made
}

// prepared waits until all chats of a broadcast are in their rows.
func (h *harness) prepared(id uint64) {
	h.taskWhen(id, "prepared", func(t api.Task) bool { return t.Status != string(store.TaskPreparing) })
}

// taskWhen waits until a broadcast is as it should be.
func (h *harness) taskWhen(id uint64, what string, is func(api.Task) bool) (t api.Task) {
	changed, unwatch := h.db.Watch("tasks", "deliveries", "jobs")
	defer unwatch()
	end := time.After(time.Minute)
	for {
		a := h.api("GET", fmt.Sprintf("/tasks/%d", id), "")
		if err := json.Unmarshal([]byte(a.body), &t); err != nil {
			h.fatal(err)
		}
		if is(t) {
			return t
		}
		select {
		case <-changed:
		case <-end:
			h.fatal("the broadcast never came to be ", what, ": ", a.body)
		}
	}
}

func ended(t api.Task) bool { return t.EndedAt.After(time.Time{}) }

func TestABroadcastIsMadeSentAndListed(t *testing.T) {
	h := start(t)
	account := h.account("anna")
	h.network.refuse("@closed_chat", "CHAT_WRITE_FORBIDDEN", "this login may not post in the chat: make it an administrator that may post messages")
	made := h.makeTask("Hello", `[-1001234567890, "-1009876543210", "@Evening_News", "@closed_chat", " @evening_news ", "https://t.me/one_more"]`,
		`,"min_seconds_between_chats":0.001,"max_seconds_between_chats":0.01,"max_attempts":2,"daily_cap":1000`)
	if made.ID != 1 || made.Status != "pending" || made.Total != 5 || made.Left != 5 || made.IdentityID != account.ID || made.MinPause != 0.001 ||
		made.MaxPause != 0.01 || made.MaxAttempts != 2 || made.DailyCap != 1000 || made.NextTarget != "-1001234567890" || made.Job != "task_1" {
		t.Errorf("made: %+v", made)
	}
	done := h.taskWhen(made.ID, "done", ended)
	if done.Status != "done" || done.Sent != 4 || done.Skipped != 1 || done.Left != 0 || !strings.Contains(done.LastError, "CHAT_WRITE_FORBIDDEN") || done.LastErrorReason.Code != "refused" {
		t.Errorf("done: %+v", done)
	}
	var all api.List[api.Delivery]
	h.api("GET", "/tasks/1/deliveries", "").decode(t, &all)
	var targets []string
	for _, d := range all.Items {
		targets = append(targets, d.Target+" "+d.Status)
	}
	if got := strings.Join(targets, ", "); got != "-1001234567890 sent, -1009876543210 sent, @evening_news sent, @closed_chat skipped, https://t.me/one_more sent" {
		t.Errorf("deliveries: %s", got)
	}
	if d := all.Items[0]; d.Title == "" || len(d.MessageIDs) != 1 || d.Link == "" || d.SentAt.IsZero() || len(d.Attempts) != 1 || d.Attempts[0].Outcome != "sent" {
		t.Errorf("a chat that has it: %+v", d)
	}
	var skipped api.List[api.Delivery]
	h.api("GET", "/tasks/1/deliveries?status=skipped", "").decode(t, &skipped)
	if len(skipped.Items) != 1 || skipped.Items[0].Reason == nil || skipped.Items[0].Reason.Code != "refused" {
		t.Errorf("skipped: %+v", skipped)
	}
	var pages []string
	for path := "/tasks/1/deliveries?limit=2"; ; {
		var page api.List[api.Delivery]
		h.api("GET", path, "").decode(t, &page)
		pages = append(pages, fmt.Sprint(len(page.Items)))
		if page.Next == "" {
			break
		}
		path = "/tasks/1/deliveries?limit=2&cursor=" + page.Next
	}
	if got := strings.Join(pages, " "); got != "2 2 1" {
		t.Errorf("pages of %s", got)
	}
	var tasks api.List[api.Task]
	h.api("GET", "/tasks?status=done", "").decode(t, &tasks)
	if len(tasks.Items) != 1 || tasks.Items[0].ID != 1 {
		t.Errorf("list: %+v", tasks)
	}
	if a := h.api("GET", "/tasks?status=failed", ""); !strings.Contains(a.body, `"items":[]`) {
		t.Errorf("failed ones: %s", a.body)
	}
}

func TestABroadcastIsHeldResumedPausedRetriedAndCancelled(t *testing.T) {
	h := start(t)
	h.account("anna")
	h.network.refuse("@closed_chat", "CHANNEL_PRIVATE", "the chat is private")
	made := h.makeTask("Hello", `["@first_chat","@closed_chat"]`, `,"paused":true,"start_at":"`+h.soon(-time.Hour)+`"`)
	if !made.Paused || made.Waiting == nil || made.Waiting.Code != "paused" || !made.NextAt.IsZero() {
		t.Errorf("held: %+v", made)
	}
	do := func(what string) (api.Task, answered) {
		t.Helper()
		var shown api.Task
		a := h.api("POST", "/tasks/1/"+what, "")
		if a.status == http.StatusOK {
			a.decode(t, &shown)
		}
		return shown, a
	}
	a := h.api("POST", "/tasks/1/preview", "")
	if a.status != http.StatusOK || !strings.Contains(a.body, `"message_ids":[1]`) {
		t.Errorf("preview: %d %s", a.status, a.body)
	}
	if shown, a := do("dry-run"); shown.DryRun != "running" {
		t.Errorf("dry run: %d %s", a.status, a.body)
	}
	h.taskWhen(1, "looked at", func(t api.Task) bool { return t.DryRun == "done" })
	var found api.List[api.Delivery]
	h.api("GET", "/tasks/1/deliveries", "").decode(t, &found)
	if found.Items[0].Reachable != "yes" || found.Items[1].Reachable != "no" || found.Items[1].Unreachable == nil || found.Items[0].Status != "pending" {
		t.Errorf("found: %+v", found.Items)
	}
	if shown, a := do("resume"); shown.Paused || a.status != http.StatusOK {
		t.Errorf("resume: %d %s", a.status, a.body)
	}
	if done := h.taskWhen(1, "done", ended); done.Sent != 1 || done.Skipped != 1 {
		t.Errorf("done: %+v", done)
	}
	for _, what := range []string{"pause", "resume", "dry-run"} {
		if _, a := do(what); a.status != http.StatusConflict || a.problem(t).Detail == "" {
			t.Errorf("%s of one that has ended: %d %s", what, a.status, a.body)
		}
	}
	h.network.mu.Lock()
	delete(h.network.out, "@closed_chat")
	h.network.mu.Unlock()
	if shown, a := do("retry"); shown.Status != "pending" || shown.Left != 1 || shown.Sent != 1 {
		t.Errorf("retry: %d %s", a.status, a.body)
	}
	if done := h.taskWhen(1, "done again", ended); done.Sent != 2 || done.Skipped != 0 {
		t.Errorf("done again: %+v", done)
	}
	later := h.makeTask("Later", `["@first_chat"]`, `,"start_at":"`+h.soon(time.Hour)+`","quiet_from":"22:00","quiet_to":"08:00"`)
	if later.QuietFrom != "22:00" || later.NextAt.Before(h.now().Add(50*time.Minute)) || later.EstimatedEnd.IsZero() {
		t.Errorf("later: %+v", later)
	}
	if a := h.api("POST", "/tasks/2/pause", ""); !strings.Contains(a.body, `"paused":true`) {
		t.Errorf("pause: %d %s", a.status, a.body)
	}
	if a := h.api("DELETE", "/tasks/2", ""); a.status != http.StatusOK || !strings.Contains(a.body, `"status":"cancelled"`) {
		t.Errorf("cancel: %d %s", a.status, a.body)
	}
}

func TestARefusedBroadcastNamesTheFieldAndTheCure(t *testing.T) {
	h := start(t)
	h.account("anna")
	many := strings.Repeat(`"@one_chat",`, 200_000) + `"@one_chat"`
	for _, c := range []struct{ name, body, field string }{
		{"no text", `{"target_chat_ids":["@news"]}`, "text"},
		{"no chats", `{"text":"a"}`, "target_chat_ids"},
		{"a chat that is none", `{"text":"a","target_chat_ids":["@news","not a chat"]}`, "target_chat_ids[1]"},
		{"a chat that is a fraction", `{"text":"a","target_chat_ids":[1.5]}`, "target_chat_ids[0]"},
		{"a chat that is nothing", `{"text":"a","target_chat_ids":["@news",null]}`, "target_chat_ids[1]"},
		{"a chat that is an object", `{"text":"a","target_chat_ids":[{"id":1}]}`, "target_chat_ids[0]"},
		{"chats that are no array", `{"text":"a","target_chat_ids":"@news"}`, "target_chat_ids"},
		{"too many chats", `{"text":"a","target_chat_ids":[` + many + `]}`, "target_chat_ids"},
		{"a bot", `{"text":"a","target_chat_ids":["@news"],"identity_id":1}`, "identity_id"},
		{"no such account", `{"text":"a","target_chat_ids":["@news"],"identity_id":99}`, "identity_id"},
		{"a pause of less than nothing", `{"text":"a","target_chat_ids":["@news"],"min_seconds_between_chats":-1}`, "min_seconds_between_chats"},
		{"a pause of ages", `{"text":"a","target_chat_ids":["@news"],"max_seconds_between_chats":1e300}`, "max_seconds_between_chats"},
		{"pauses the wrong way round", `{"text":"a","target_chat_ids":["@news"],"min_seconds_between_chats":5,"max_seconds_between_chats":4}`, "max_seconds_between_chats"},
		{"too many attempts", `{"text":"a","target_chat_ids":["@news"],"max_attempts":101}`, "max_attempts"},
		{"a start without a zone", `{"text":"a","target_chat_ids":["@news"],"start_at":"2030-01-01T10:00:00"}`, "start_at"},
		{"quiet hours that are none", `{"text":"a","target_chat_ids":["@news"],"quiet_from":"25:00","quiet_to":"08:00"}`, "quiet_from"},
		{"quiet hours without an end", `{"text":"a","target_chat_ids":["@news"],"quiet_from":"22:00"}`, "quiet_to"},
		{"a cap of less than nothing", `{"text":"a","target_chat_ids":["@news"],"daily_cap":-1}`, "daily_cap"},
		{"a text that is too long", `{"text":"` + strings.Repeat("a", 4097) + `","target_chat_ids":["@news"]}`, "text"},
		{"a content that is not there", `{"content_id":7,"target_chat_ids":["@news"]}`, "content_id"},
		{"a field that is unknown", `{"text":"a","targets":["@news"]}`, "targets"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := h.api("POST", "/tasks", c.body)
			p := a.problem(t)
			if a.status != http.StatusUnprocessableEntity || len(p.Errors) != 1 || p.Errors[0].Field != c.field {
				t.Fatalf("%d %.400s, want %s", a.status, a.body, c.field)
			}
			if f := p.Errors[0]; f.Problem == "" || (f.Cure == "" && !strings.Contains(f.Problem, ": ")) {
				t.Errorf("no problem or no cure: %+v", f)
			}
		})
	}
	if a := h.api("POST", "/tasks", `{"text":"`+strings.Repeat("a", 9<<20)+`"}`); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %d", a.status)
	}
	if a := h.api("GET", "/tasks", ""); !strings.Contains(a.body, `"items":[]`) {
		t.Errorf("a refused broadcast was made: %s", a.body)
	}
	for _, path := range []string{"/tasks/9", "/tasks/9/deliveries", "/tasks/9/deliveries.csv"} {
		if a := h.api("GET", path, ""); a.status != http.StatusNotFound || a.problem(t).Status != http.StatusNotFound {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
}

func TestTheSameBroadcastTwiceIsOne(t *testing.T) {
	h := start(t)
	h.account("anna")
	body := `{"text":"Hello","target_chat_ids":["@news"],"paused":true}`
	first, second := h.api("POST", "/tasks", body, "Idempotency-Key", "k"), h.api("POST", "/tasks", body, "Idempotency-Key", "k")
	if first.status != http.StatusCreated || second.body != first.body || second.header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("%+v\n%+v", first, second)
	}
}

// The file of a broadcast is safe to open in a spreadsheet, whatever the chats are called.
func TestTheDeliveriesComeAsAFile(t *testing.T) {
	h := start(t)
	h.account("anna")
	var names []string
	for i := range 1234 {
		names = append(names, fmt.Sprintf("@chat_%04d", i))
	}
	targets, err := json.Marshal(append(names, "-1001234567890"))
	if err != nil {
		t.Fatal(err)
	}
	made := h.makeTask("Hello", string(targets), `,"paused":true`)
	h.update(func(tx *store.Tx) error {
		task, err := tx.Tasks.Get(made.ID)
		if err != nil {
			return err
		}
		d, err := tx.Deliveries.Get(task.First)
		if err != nil {
			return err
		}
		d.Title, d.Status, d.MessageIDs, d.Link = `=HYPERLINK("https://example.com")`, store.DeliverySent, []int64{7, 8}, "https://t.me/c/7"
		at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
		d.SentAt = at
		d.Add(store.Try{At: at.Add(-time.Minute), Ended: at, Outcome: store.TryWaits, Reason: store.Reason{Code: store.ReasonFlood}, Wait: 30})
		d.Add(store.Try{At: at, Ended: at, Outcome: store.TrySent})
		task.Sent = 1
		if err := tx.Tasks.Put(&task); err != nil {
			return err
		}
		return tx.Deliveries.Put(&d)
	})
	a := h.api("GET", "/tasks/1/deliveries.csv", "")
	if a.status != http.StatusOK || a.header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.Contains(a.header.Get("Content-Disposition"), "belfry-task-1.csv") {
		t.Fatalf("%d %v", a.status, a.header)
	}
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 1236 || rows[0][0] != "task" || rows[1235][1] != "-1001234567890" || rows[1234][1] != "'@chat_1233" {
		t.Fatalf("%d rows, %v", len(rows), rows[len(rows)-2:])
	}
	want := []string{"1", "'@chat_0000", `'=HYPERLINK("https://example.com")`, "sent", "", "2", "2026-11-21T12:00:00Z", "7 8", "https://t.me/c/7",
		"2026-11-21T11:59:00Z waits The network asked this account to wait; 2026-11-21T12:00:00Z sent"}
	if strings.Join(rows[1], "|") != strings.Join(want, "|") {
		t.Errorf("%q\n%q", rows[1], want)
	}
	r := h.request("GET", "/api/v1/tasks/1/deliveries.csv", "")
	if a := h.do(r); a.status != http.StatusUnauthorized {
		t.Errorf("without a token: %d", a.status)
	}
}

func TestChatsAreListedSwitchedAndReadAgain(t *testing.T) {
	h := start(t)
	account := h.account("anna")
	h.network.mu.Lock()
	h.network.chats = []platform.Chat{
		{ChatRef: platform.ChatRef{Type: platform.ChatChannel, ID: 1234567890}, Title: "Evening News", Username: "evening_news", Writable: true, Slowmode: 30 * time.Second},
		{ChatRef: platform.ChatRef{Type: platform.ChatGroup, ID: 77}, Title: "A group", Writable: true},
		{ChatRef: platform.ChatRef{Type: platform.ChatUser, ID: 55}, Title: "Boris", Writable: true},
	}
	h.network.mu.Unlock()
	a := h.api("POST", "/chats/refresh", `{"identity_id":`+fmt.Sprint(account.ID)+`}`)
	if a.status != http.StatusOK || !strings.Contains(a.body, `"job":"chat_list_2"`) {
		t.Fatalf("refresh: %d %s", a.status, a.body)
	}
	changed, unwatch := h.db.Watch("chats", "jobs")
	defer unwatch()
	var chats api.List[api.Chat]
	for h.api("GET", "/chats", "").decode(t, &chats); len(chats.Items) < 3; h.api("GET", "/chats?identity_id=2", "").decode(t, &chats) {
		select {
		case <-changed:
		case <-time.After(time.Minute):
			t.Fatalf("the list was not read: %+v", chats)
		}
	}
	if c := chats.Items[2]; c.Title != "Evening News" || c.Target != "@evening_news" || c.ChatID != -1001234567890 || c.Type != "channel" || c.SlowMode != 30 || c.ListedAt.IsZero() {
		t.Errorf("a channel: %+v", c)
	}
	if c := chats.Items[0]; c.Target != "-77" || c.ChatID != -77 || c.Off {
		t.Errorf("a group: %+v", c)
	}
	path := fmt.Sprintf("/chats/%d", chats.Items[0].ID)
	if a := h.api("PATCH", path, `{"off":true}`); a.status != http.StatusOK || !strings.Contains(a.body, `"off":true`) {
		t.Errorf("switch off: %d %s", a.status, a.body)
	}
	for _, c := range []struct{ method, path, body, field string }{
		{"GET", "/chats?identity_id=1", "", "identity_id"},
		{"POST", "/chats/refresh", `{"identity_id":99}`, "identity_id"},
		{"PATCH", path, `{}`, "off"},
	} {
		if p := h.api(c.method, c.path, c.body).problem(t); p.Status != 422 || p.Errors[0].Field != c.field {
			t.Errorf("%s %s: %+v", c.method, c.path, p)
		}
	}
}

func TestAUserAccountIsLoggedInOverTheAPIAndItsSecretsNeverShown(t *testing.T) {
	h := start(t)
	var seen []answered
	call := func(path, body string, status int) string {
		t.Helper()
		a := h.api("POST", path, body)
		if a.status != status {
			t.Errorf("%s %s: %d %s", path, body, a.status, a.body)
		}
		seen = append(seen, a)
		return a.body
	}
	call("/identities", `{"platform":"telegram","kind":"user","name":"anna"}`, 201)
	for _, body := range []string{`{}`, `{"qr":false}`, `{"phone":"+79990000001","code":"1"}`} {
		if p := h.api("POST", "/identities/2/login", body).problem(t); p.Errors[0].Field != "body" {
			t.Errorf("%s: %+v", body, p)
		}
	}
	call("/identities/2/login", `{"phone":"12"}`, 422)
	if got := call("/identities/2/login", `{"phone":"+7 (999) 000-00-01"}`, 200); !strings.Contains(got, `"state":"code"`) || !strings.Contains(got, `"via":"app"`) {
		t.Error(got)
	}
	call("/identities/2/login", `{"code":"11111"}`, 422)
	if got := call("/identities/2/login", `{"code":"`+accountCode+`"}`, 200); !strings.Contains(got, `"hint":"the usual one"`) {
		t.Error(got)
	}
	call("/identities/2/login", `{"password":"not-`+accountPassword+`"}`, 422)
	if got := call("/identities/2/login", `{"password":"`+accountPassword+`"}`, 200); !strings.Contains(got, `"state":"done"`) || !strings.Contains(got, "Anna Sender") {
		t.Error(got)
	}
	if got := call("/identities/2/log-out", "", 200); !strings.Contains(got, `"state":"login"`) {
		t.Error(got)
	}
	if got := call("/identities/2/login", `{"qr":true}`, 200); !strings.Contains(got, "tg://login?token=") {
		t.Error(got)
	}
	call("/identities/2/login", `{"session":"`+accountSession+`"}`, 200)
	call("/identities/2/login", `{"session":"rubbish"}`, 422)
	call("/identities", `{"platform":"telegram","kind":"user","name":"boris","session":"`+accountSession+`"}`, 201)
	file := base64.StdEncoding.EncodeToString([]byte("SQLite format 3\x00 and what follows"))
	call("/identities", `{"platform":"telegram","kind":"user","name":"clara","session":"`+file+`"}`, 201)
	call("/identities", `{"platform":"telegram","kind":"user","name":"dora","session":"bm90aGluZw=="}`, 422)
	call("/identities/1/login", `{"phone":"+79990000001"}`, 409)
	seen = append(seen, h.api("GET", "/identities", ""))
	for _, a := range seen {
		for _, secret := range []string{accountSession, accountPassword, accountCode, file} {
			if strings.Contains(a.body, secret) {
				t.Errorf("a secret comes back: %s", a.body)
			}
		}
	}
	h.view(func(tx *store.Tx) error {
		for _, id := range []uint64{2, 3, 4} {
			if session, err := tx.Sessions.Of(id); err != nil || string(session.Data) != "parsed" {
				t.Errorf("session of %d: %q %v", id, session.Data, err)
			}
		}
		return nil
	})
}
