package web

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"belfry/store"
	"belfry/web/api"
)

// has fails the test if a page lacks one of the words.
func (a answered) has(t *testing.T, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(a.body, w) {
			_, content, _ := strings.Cut(a.body, "<main")
			t.Errorf("the page (%d) lacks %q:\n%s", a.status, w, content)
		}
	}
}

func TestABroadcastIsWrittenOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	h.get("/tasks").has(t, "none is logged in")
	h.get("/tasks/new").has(t, "none is logged in")
	account := h.account("anna")
	h.update(func(tx *store.Tx) error {
		for i, title := range []string{"Neighbours", "Closed club", "Read only"} {
			c := store.Chat{IdentityID: account.ID, Type: store.PeerChannel, PeerID: int64(2_000_000_000 + i), Title: title, Off: i == 1, ReadOnly: i == 2}
			if err := tx.Chats.Put(&c); err != nil {
				return err
			}
		}
		return nil
	})
	h.get("/tasks/new").has(t, "Neighbours", `value="-1002000000000"`, "switched off", "no right to write")
	form := []string{"identity_id", "2", "text", "<b>Water</b> & light", "format", "html", "form", "one", "target_chat_ids", "@news_one, https://t.me/news_two\r\n-1001234567890",
		"chat", "-1002000000000", "min_seconds_between_chats", "0,001", "max_seconds_between_chats", "0.002", "when", "now"}
	with := func(more ...string) []string { return append(append([]string(nil), form...), more...) }
	for field, wrong := range map[string][]string{
		"text is missing":                       {"text", ""},
		"The shortest pause is not a number":    {"min_seconds_between_chats", "soon"},
		"The longest pause is less than":        {"max_seconds_between_chats", "0"},
		"The daily limit is":                    {"daily_cap", "many"},
		"The end of the quiet hours is missing": {"quiet_from", "22:00"},
		"The time is not complete":              {"when", "at"},
	} {
		values := append([]string(nil), form...)
		for i := 0; i < len(values); i += 2 {
			if values[i] == wrong[0] {
				values[i+1] = wrong[1]
				wrong = nil
				break
			}
		}
		a := h.submit("/tasks/new", append(append([]string{"do", "send"}, values...), wrong...)...)
		if a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", field, a.status)
		}
		a.has(t, field, "The broadcast was not created")
	}
	a := h.submit("/tasks/new", with("do", "preview")...)
	a.has(t, "saved messages", "@news_one, https://t.me/news_two")
	h.network.mu.Lock()
	if len(h.network.got) != 1 || h.network.got["me\n<b>Water</b> & light"] == 0 {
		t.Errorf("the preview went to %v", h.network.got)
	}
	h.network.mu.Unlock()
	h.submit("/tasks/check", with()...).has(t, "<b>Water</b> &amp; light", "13 of 4,096")
	h.submit("/tasks/chats", "identity_id", "1").has(t, "not been loaded yet")
	for range 2 { // the second is a second click
		if a := h.submit("/tasks/new", with("do", "check")...); a.status != http.StatusSeeOther || a.header.Get("Location") != "/tasks/1?done=task-checked" {
			t.Fatalf("%d %s", a.status, a.header.Get("Location"))
		}
	}
	h.taskWhen(1, "looked at", func(t api.Task) bool { return t.DryRun == "done" })
	page := h.get("/tasks/1")
	page.has(t, "<progress", `value="0" max="4"`, "Who can be reached", "<strong>4</strong> can be reached", ">Start<", "@news_one", "https://t.me/news_two", "-1001234567890", "paused")
	if a := h.submit("/tasks/1", "do", "resume"); a.header.Get("Location") != "/tasks/1?done=task-resumed" {
		t.Errorf("resume: %d %s", a.status, a.header.Get("Location"))
	}
	h.taskWhen(1, "done", ended)
	h.get("/tasks/1").has(t, `value="4" max="4"`, "https://t.me/c/", "Use as a new broadcast")
	h.get("/tasks/1?show=failed").has(t, "No chats in this state")
	h.get("/tasks?status=done").has(t, "Water &amp; light", "4 of 4")
	h.get("/").has(t, "Water &amp; light", "Broadcast, 4 of 4")
	h.get("/tasks/new?from=1").has(t, "-1002000000000", "&lt;b&gt;Water", `value="0.001"`)
	a = h.submit("/tasks/1", "do", "pause")
	a.has(t, "Broadcast 1 has ended", `role="alert"`)
	if file := h.get("/tasks/1/deliveries.csv"); !strings.HasPrefix(file.body, "\ufefftask,target,") || strings.Count(file.body, "\n") != 5 {
		t.Errorf("the file: %q", file.body)
	}
	for _, path := range []string{"/tasks/9", "/tasks/x", "/tasks/9/deliveries.csv", "/tasks/9/cancel"} {
		if a := h.get(path); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

func TestABroadcastIsCancelledAndTriedAgainAfterAQuestion(t *testing.T) {
	h := start(t)
	h.account("anna")
	h.signIn()
	h.makeTask("Hello", `["@one_chat","@two_chat"]`, `,"paused":true`)
	h.get("/tasks/1/cancel").has(t, "Cancel this broadcast?", "Hello")
	if a := h.submit("/tasks/1/cancel"); a.header.Get("Location") != "/tasks/1?done=task-cancelled" {
		t.Errorf("cancel: %d", a.status)
	}
	h.get("/tasks/1").has(t, "cancelled", "Retry unsent chats")
	h.get("/tasks/1/retry").has(t, "not reached")
	if a := h.submit("/tasks/1/retry"); a.header.Get("Location") != "/tasks/1?done=task-retried" {
		t.Errorf("retry: %d", a.status)
	}
	if done := h.taskWhen(1, "done", ended); done.Sent != 2 {
		t.Errorf("done: %+v", done)
	}
	if a := h.submit("/tasks/1/cancel"); a.status != http.StatusConflict {
		t.Errorf("cancel of one that has ended: %d", a.status)
	}
	h.submit("/tasks/1/retry").has(t, "no unsent chats")
}

// Of one that another system has ended nobody knows which chats have it.
func TestABroadcastWithoutChatsIsNotOfferedToBeRetried(t *testing.T) {
	h := start(t)
	h.signIn()
	account := h.account("anna")
	h.update(func(tx *store.Tx) error {
		return tx.Tasks.Put(&store.Task{IdentityID: account.ID, Text: "Hello", Status: store.TaskDone, Total: 3, Sent: 2, Skipped: 1, CreatedAt: tx.Now(), EndedAt: tx.Now()})
	})
	if a := h.get("/tasks/1"); strings.Contains(a.body, "/tasks/1/retry") || !strings.Contains(a.body, "/tasks/new?from=1") {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestThePageSaysWhyADryRunWaits(t *testing.T) {
	h := start(t)
	login := h.account("anna")
	h.signIn()
	h.update(func(tx *store.Tx) error {
		login.State = store.IdentityLogin
		return tx.Identities.Put(&login)
	})
	h.makeTask("Hello", `["@news_one"]`, `,"dry_run":true`)
	h.taskWhen(1, "held", func(api.Task) bool {
		return strings.Contains(h.api("GET", "/jobs/task_check_1", "").body, "log in again")
	})
	h.get("/tasks/1").has(t, "0 of 1 checked", "The account is logged out; log in again")
}

func TestAFailedBroadcastNeedsAttention(t *testing.T) {
	h := start(t, func(c *Config) { c.Lang = "ru" })
	h.account("anna")
	h.signIn()
	h.network.refuse("@closed_chat", "CHAT_WRITE_FORBIDDEN", "this login may not post in the chat: make it an administrator that may post messages")
	h.makeTask("Hello", `["@closed_chat"]`, "")
	if done := h.taskWhen(1, "failed", ended); done.Status != "failed" {
		t.Fatalf("%+v", done)
	}
	h.get("/").has(t, "Рассылка 1 не удалась", `href="/tasks/1">Hello</a>`, "у этого аккаунта нет права публиковать в чате", "/tasks/1")
	h.get("/tasks/1").has(t, "пропущено", "(CHAT_WRITE_FORBIDDEN)", "Отправить в оставшиеся чаты")
	h.makeTask("Later", `["@news_one"]`, `,"start_at":"`+h.soon(time.Hour)+`"`)
	h.get("/").has(t, "Следующий чат рассылки", "Рассылка, 0 из 1")
	h.get("/jobs").has(t, "Later")
}

func TestChatsOfThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	h.get("/chats").has(t, "none is logged in")
	account := h.account("anna")
	h.get("/chats").has(t, "not been loaded yet")
	h.update(func(tx *store.Tx) error {
		return tx.Chats.Put(&store.Chat{IdentityID: account.ID, Type: store.PeerChannel, PeerID: 5, Title: "Neighbours <3", Slowmode: 60, LastSuccess: tx.Now(), Seen: 12})
	})
	h.get("/chats").has(t, "Neighbours &lt;3", "-1000000000005", "one message in 1 minute", ">12</td>", "Switch off")
	if a := h.submit("/chats/1", "do", "off", "back", "/chats?identity_id=2"); a.header.Get("Location") != "/chats?done=chat-off&identity_id=2" {
		t.Errorf("switch off: %d %s", a.status, a.header.Get("Location"))
	}
	h.get("/chats").has(t, "Switch on")
	if a := h.submit("/chats/refresh", "identity_id", "2"); a.status != http.StatusSeeOther {
		t.Errorf("refresh: %d", a.status)
	}
	for _, pairs := range [][]string{{"do", "sideways"}, {}} {
		if a := h.submit("/chats/1", pairs...); a.status != http.StatusBadRequest {
			t.Errorf("%v: %d", pairs, a.status)
		}
	}
}

func TestAUserAccountIsLoggedInOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	h.skipSetup()
	var seen []answered
	submit := func(path string, location string, pairs ...string) answered {
		t.Helper()
		a := h.submit(path, pairs...)
		if a.header.Get("Location") != location {
			t.Errorf("%s %v: %d, %q", path, pairs, a.status, a.header.Get("Location"))
		}
		seen = append(seen, a)
		return a
	}
	submit("/logins/account", "", "account_name", "main").has(t, "is taken")
	submit("/logins/account", "/logins/2/login", "account_name", "anna")
	h.get("/logins/2/login").has(t, "Phone number", "With a QR code", "With a Telethon session")
	submit("/logins/2/login", "", "do", "phone", "phone", "12").has(t, "is not a phone number")
	submit("/logins/2/login", "/logins/2/login", "do", "phone", "phone", accountPhone)
	h.get("/logins/2/login").has(t, "to the Telegram app of this account", "one-time-code", "Start over")
	submit("/logins/2/login", "", "do", "code", "code", "999").has(t, "The code is not accepted: this is not the code that Telegram sent (PHONE_CODE_INVALID).")
	submit("/logins/2/login", "/logins/2/login", "do", "over")
	h.get("/logins/2/login").has(t, "Phone number")
	submit("/logins/2/login", "/logins/2/login", "do", "phone", "phone", accountPhone)
	submit("/logins/2/login", "/logins/2/login", "do", "code", "code", "24-680")
	h.get("/logins/2/login").has(t, "Its hint: the usual one")
	submit("/logins/2/login", "", "do", "password", "password", "wrong-"+accountPassword)
	submit("/logins/2/login", "/logins?done=logged-in", "do", "password", "password", accountPassword)
	h.get("/logins").has(t, "Anna Sender", "ready", "Log out")
	if a := h.get("/logins/2/login"); a.header.Get("Location") != "/logins?done=logged-in" {
		t.Errorf("a login that has ended: %d", a.status)
	}
	h.get("/logins/2/change")
	h.get("/logins/2/log-out").has(t, "Log this account out?", "<strong>Anna Sender")
	submit("/logins/2/log-out", "/logins?done=logged-out")
	h.get("/logins").has(t, "logged out", `href="/logins/2/login"`)
	h.get("/logins/2/login?way=session").has(t, `type="file"`, "multipart/form-data")
	submit("/logins/2/login", "", "do", "session").has(t, "The session is missing")
	submit("/logins/2/login", "", "do", "session", "session", "rubbish").has(t, "neither a StringSession nor")
	submit("/logins/2/login", "/logins?done=session-used", "do", "session", "session", accountSession)
	submit("/logins/1/login", "", "do", "phone", "phone", accountPhone).has(t, "is not a user account: bots, and accounts of Instagram and X, log in by themselves")
	for _, a := range append(seen, h.get("/logins"), h.get("/logins/2/login"), h.get("/")) {
		for _, secret := range []string{accountSession, accountPassword, "24680", "24-680", `value="999"`} {
			if strings.Contains(a.body, secret) {
				t.Errorf("a secret comes back: %s", secret)
			}
		}
	}
}

func TestASessionFileIsUploaded(t *testing.T) {
	h := start(t)
	h.signIn()
	h.skipSetup()
	h.submit("/logins/account", "account_name", "anna")
	upload := func(data []byte) answered {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for name, value := range map[string]string{"csrf": h.csrf(), "do": "session", "session": ""} {
			if err := form.WriteField(name, value); err != nil {
				t.Fatal(err)
			}
		}
		file, err := form.CreateFormFile("session_file", "anna.session")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := form.Close(); err != nil {
			t.Fatal(err)
		}
		r := h.request("POST", "/logins/2/login", body.String())
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.Header.Set("Origin", h.base)
		return h.do(r)
	}
	upload([]byte("nothing of the kind")).has(t, "neither a StringSession nor")
	upload(make([]byte, 1<<20+1)).has(t, "larger than 1 MB")
	upload(nil).has(t, "The session is missing")
	if a := upload(append([]byte("SQLite format 3\x00"), make([]byte, 900<<10)...)); a.header.Get("Location") != "/logins?done=session-used" {
		t.Errorf("%d %s", a.status, a.body)
	}
	h.view(func(tx *store.Tx) error {
		if session, err := tx.Sessions.Of(2); err != nil || string(session.Data) != "parsed" {
			t.Errorf("%q %v", session.Data, err)
		}
		return nil
	})
}

// The page asks again and again for the code that is good now, and is only given what it has not.
func TestAQRCodeIsShownAndScanned(t *testing.T) {
	h := start(t)
	h.signIn()
	h.skipSetup()
	h.submit("/logins/account", "account_name", "anna")
	h.get("/logins/2/login?way=qr").has(t, `hx-post="/logins/2/qr"`, "every 2s")
	a := h.submit("/logins/2/qr")
	a.has(t, `<svg class="qr" viewBox="0 0 `, `aria-label="QR code`, `<path fill="#000" d="M4 4h7v1h-7z`)
	if strings.Contains(a.body, "style=") || strings.Contains(a.body, "tg://") {
		t.Errorf("%s", a.body)
	}
	_, have, _ := strings.Cut(a.body, `name="have" value="`)
	have, _, _ = strings.Cut(have, `"`)
	if a := h.submit("/logins/2/qr", "have", have); a.status != http.StatusNoContent {
		t.Errorf("the same code again: %d %s", a.status, a.body)
	}
	h.accounts.mu.Lock()
	h.accounts.scanned = true
	h.accounts.mu.Unlock()
	if a := h.submit("/logins/2/qr", "have", have); a.header.Get("HX-Redirect") != "/logins?done=logged-in" {
		t.Errorf("scanned: %d %v", a.status, a.header)
	}
	h.submit("/logins/1/qr").has(t, "is not a user account: bots, and accounts of Instagram and X, log in by themselves")
}

// What is found out about unreachable chats can be looked through, however many there are.
func TestUnreachableChatsAreFoundPageByPage(t *testing.T) {
	h := start(t)
	h.account("anna")
	h.signIn()
	var names []string
	for i := range 2500 {
		names = append(names, fmt.Sprintf(`"@chat_%d"`, i))
	}
	made := h.makeTask("Hello", "["+strings.Join(names, ",")+"]", `,"paused":true`)
	h.prepared(made.ID)
	h.update(func(tx *store.Tx) error {
		task, err := tx.Tasks.Get(made.ID)
		if err != nil {
			return err
		}
		task.Check, task.Checked = store.CheckDone, task.First+2499
		for _, i := range []uint64{3, 1500} {
			d, err := tx.Deliveries.Get(task.First + i)
			if err != nil {
				return err
			}
			d.Reach, d.Unreachable = "no", store.Reason{Code: store.ReasonRefused, Detail: "CHANNEL_PRIVATE: the chat does not exist"}
			if err := tx.Deliveries.Put(&d); err != nil {
				return err
			}
		}
		return tx.Tasks.Put(&task)
	})
	found := ""
	for path := "/tasks/1?show=unreachable"; path != ""; {
		a := h.get(path)
		for _, name := range []string{"@chat_3<", "@chat_1500<", "@chat_4<"} {
			if strings.Contains(a.body, name) {
				found += name
			}
		}
		_, path, _ = strings.Cut(a.body, `<a href="/tasks/1?cursor=`)
		if path, _, _ = strings.Cut(path, `"`); path != "" {
			path = "/tasks/1?cursor=" + strings.ReplaceAll(path, "&amp;", "&")
		}
	}
	if found != "@chat_3<@chat_1500<" {
		t.Errorf("found %s", found)
	}
	h.get("/tasks/1").has(t, "of the first 1,000", "<strong>1</strong> cannot be reached")
}

func TestARestrictedLoginIsLetActAgain(t *testing.T) {
	h := start(t)
	h.signIn()
	account := h.account("anna")
	stop := func() {
		h.update(func(tx *store.Tx) error {
			i, err := tx.Identities.Get(account.ID)
			if err != nil {
				return err
			}
			i.State, i.Reason = store.IdentityStopped, store.Reason{Code: store.ReasonStopped}
			return tx.Identities.Put(&i)
		})
	}
	stop()
	h.get("/logins").has(t, "restricted", "The restriction is over")
	if a := h.submit("/logins/2/resume"); a.header.Get("Location") != "/logins?done=login-resumed" {
		t.Errorf("%d", a.status)
	}
	stop()
	if a := h.api("POST", "/identities/2/resume", ""); a.status != http.StatusOK || !strings.Contains(a.body, `"state":"new"`) {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := h.api("POST", "/identities/2/resume", ""); a.status != http.StatusConflict {
		t.Errorf("one that is not restricted: %d", a.status)
	}
}
