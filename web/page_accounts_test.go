package web

import (
	"bytes"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
	"time"

	"belfry/i18n"
	"belfry/platform/profile"
	"belfry/store"
	"belfry/web/api"
)

// lacks fails the test if a page has one of the words.
func (a answered) lacks(t *testing.T, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(a.body, w) {
			t.Errorf("the page has %q", w)
		}
	}
}

func TestAccountsOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	h.api("POST", "/pause", "")
	h.get("/").has(t, `href="/accounts"`)
	h.get("/accounts").has(t, "No account is watched yet", "A chart appears here", "No check is planned")
	h.get("/accounts/new").has(t, `enctype="multipart/form-data"`, `<option value="instagram" selected>Instagram`)
	if a := h.submit("/accounts/new", "list", "here_one\n@gone_one @shy_one", "tag", "press", "keep_watching", "on"); a.header.Get("Location") != "/accounts?done=accounts-added" {
		t.Fatalf("add: %d %s", a.status, a.body)
	}
	h.site.says("here_one", profile.Result{Outcome: profile.Found, Status: 200})
	h.site.says("shy_one", profile.Result{Outcome: profile.Refused, Status: 403, Detail: "the site refuses to answer (status 403)"})
	h.get("/accounts?done=accounts-added").has(t, "The accounts were added", "here_one", "not found yet", `All <span class="count">3</span>`, "Next check")
	if a := h.submit("/accounts/check", "do", "now"); a.header.Get("Location") != "/accounts?done=check-begun" {
		t.Errorf("check now: %d %s", a.status, a.body)
	}
	h.api("POST", "/resume", "")
	h.checked(0)
	page := h.get("/accounts")
	page.has(t, `id="check-now"`, "<strong>1</strong> found", "<strong>1</strong> not found", "<strong>1</strong> no answer", `<svg class="chart"`, `class="bar-found"`,
		`Found <span class="count">1</span>`, "No answer: the site refuses to answer (status 403)", "/accounts?tag=press")
	h.get("/accounts?state=found").has(t, "here_one")
	h.get("/accounts?state=found").lacks(t, "gone_one")
	h.get("/accounts?state=not_found").has(t, "No account has vanished")
	h.get("/accounts?name=%40Gone_One").has(t, "gone_one", "Show all")
	h.get("/accounts?name=NE_ON").has(t, "gone_one", "Show all")
	h.get("/accounts?name=https://www.instagram.com/gone_one/").has(t, "gone_one", "Show all")
	h.get("/accounts?site=github").has(t, "No matches")
	h.get("/accounts?tag=press&site=instagram").has(t, "here_one", "shy_one")
	h.get("/accounts/1").has(t, "https://www.instagram.com/here_one/", "It exists", "→ found", "checked each time")
	h.get("/accounts/3").has(t, "1 check in a row", "No answer: the site refuses to answer (status 403)")
	for _, path := range []string{"/accounts/9", "/accounts/x", "/accounts/9/change", "/accounts/9/remove"} {
		if a := h.get(path); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, a.status)
		}
	}
}

func TestAnAccountIsChangedAndRemovedOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	h.addAccount(`{"username":"evening_news","note":"<b>old</b>","keep_watching":true}`)
	h.get("/accounts/1").has(t, "&lt;b&gt;old")
	h.get("/accounts/1/change").has(t, "&lt;b&gt;old&lt;/b&gt;</textarea>", "checked")
	a := h.submit("/accounts/1/change", "note", "new", "owner_chat", "not a chat")
	a.has(t, "is not a chat: write @name", ">\nnew</textarea>")
	if a.status != http.StatusUnprocessableEntity {
		t.Errorf("refused: %d", a.status)
	}
	if a := h.submit("/accounts/1/change", "note", "the first line\r\nthe second"); a.status != http.StatusSeeOther {
		t.Errorf("a note of two lines: %d %s", a.status, a.body)
	}
	h.get("/accounts/1/change").has(t, ">\nthe first line\nthe second</textarea>")
	if a := h.submit("/accounts/1/change", "note", "new", "tag", "press", "owner_chat", "@editor"); a.header.Get("Location") != "/accounts/1?done=account-changed" {
		t.Errorf("change: %d", a.status)
	}
	h.get("/accounts/1?done=account-changed").has(t, "The account was changed", "new", "@editor", "/accounts?tag=press")
	h.get("/accounts/1/remove").has(t, "Remove this account?", "<strong>@evening_news</strong>")
	if a := h.submit("/accounts/1/remove"); a.header.Get("Location") != "/accounts?done=account-removed" {
		t.Errorf("remove: %d", a.status)
	}
	h.get("/accounts?done=account-removed").has(t, "The account was removed", "No account is watched yet")
}

func TestAListOnThePageIsReportedAndWhatWasNotUnderstoodStays(t *testing.T) {
	h := start(t)
	h.signIn()
	h.addAccount(`{"username":"known_one"}`)
	a := h.submit("/accounts/new", "list", "fresh_one\nKnown_One\nnot a <name>\n\"open", "tag", "press")
	a.has(t, "Added: 1.", "Already watched: 1.", "Rejected: 2.", "Line 3", "is not a user name of instagram: write the name", "already watched",
		"The line has quotes that do not match: close each", "not a &lt;name&gt;\n&#34;open</textarea>", `value="press"`)
	if a.status != http.StatusUnprocessableEntity {
		t.Errorf("nonsense: %d", a.status)
	}
	if a = h.submit("/accounts/new", "list", "fresh_one"); a.status != http.StatusOK {
		t.Errorf("known: %d", a.status)
	}
	a.has(t, "Added: 0.", "Already watched: 1.")
	h.submit("/accounts/new", "list", " ").has(t, "The list has no names: write one name in each line")
	h.submit("/accounts/new", "list", "a", "note", strings.Repeat("x", 501)).has(t, "is longer than 500 characters")
	h.submit("/language", "lang", "ru")
	h.client.Jar.SetCookies(h.request("GET", "/", "").URL, []*http.Cookie{{Name: "belfry-language", Value: "ru", Path: "/"}})
	h.submit("/accounts/new", "list", "not a name").has(t, "Отклонено: 1.", "— не имя на instagram")
}

func TestAFileOfAccountsIsUploaded(t *testing.T) {
	h := start(t)
	h.signIn()
	upload := func(typed, file string) answered {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for name, value := range map[string]string{"csrf": h.csrf(), "list": typed} {
			if err := form.WriteField(name, value); err != nil {
				t.Fatal(err)
			}
		}
		part, err := form.CreateFormFile("file", "accounts.csv")
		if err == nil {
			_, err = part.Write([]byte(file))
		}
		if err == nil {
			err = form.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		r := h.request("POST", "/accounts/new", body.String())
		r.Header.Set("Content-Type", form.FormDataContentType())
		r.Header.Set("Origin", h.base)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		return h.do(r)
	}
	if a := upload("", "\ufeffnote;username;site\r\nthe language;golang;github\r\n;evening_news;"); a.header.Get("Location") != "/accounts?done=accounts-added" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	h.get("/accounts").has(t, "golang", "GitHub", "the language", "evening_news")
	upload("", "note;username;site\r\nx;golang;nowhere").has(t, "note;username;site\nx;golang;nowhere</textarea>", "&#34;nowhere&#34; is not known")
	upload("", "username;note\r\nfresh_one;\xe4\xf0\xf3\xe3").has(t, "The list is not UTF-8: save it as UTF-8; in Excel: CSV UTF-8")
	upload("one", "two").has(t, "a file is chosen too")
}

func TestTheIntervalIsSetOnThePage(t *testing.T) {
	h := start(t)
	h.signIn()
	h.get("/accounts").has(t, `name="interval" inputmode="decimal" autocomplete="off" value="5"`)
	for value, words := range map[string]string{"soon": "is not a number of minutes", "0": "is not between a minute and a week: 5m is usual", "99999": "is not between"} {
		a := h.submit("/accounts/check", "do", "set", "interval", value)
		a.has(t, words, `value="`+value+`"`)
		if a.status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d", value, a.status)
		}
	}
	if a := h.submit("/accounts/check", "do", "set", "interval", "1,5", "quiet", "on"); a.header.Get("Location") != "/accounts?done=check-set" {
		t.Errorf("set: %d %s", a.status, a.body)
	}
	h.get("/accounts").has(t, `value="1.5"`, `id="quiet" name="quiet" type="checkbox" value="on" checked`)
	var now api.Autocheck
	h.api("GET", "/autocheck", "").decode(t, &now)
	if now.Interval != "1m30s" || !now.Quiet {
		t.Errorf("%+v", now)
	}
}

func TestACheckIsFollowedLive(t *testing.T) {
	h := start(t)
	h.signIn()
	gate := make(chan struct{})
	h.site.gate = gate
	defer close(gate)
	h.api("POST", "/pause", "")
	for i := range 3 {
		h.addAccount(fmt.Sprintf(`{"username":"name_%d"}`, i))
		h.site.says(fmt.Sprintf("name_%d", i), profile.Result{Outcome: profile.Refused, Status: 500, Detail: "the site has a fault (status 500)"})
	}
	events := h.listen("/accounts")
	h.api("POST", "/resume", "")
	go func() {
		for range 2 { // a profile that exists, and the first account
			gate <- struct{}{}
		}
	}()
	event := next(t, events, "1 of 3")
	if !strings.Contains(event, "<progress") || !strings.Contains(event, `id="chart"`) && !strings.Contains(event, `id="list"`) {
		t.Errorf("%s", event)
	}
	h.get("/jobs").has(t, `href="/accounts"`, "Account check")
	h.get("/jobs/autocheck").has(t, "Account check", "every 5 minutes")
	if a := h.submit("/accounts/check", "do", "now"); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "A check is under way: 1 of 3 accounts are done") {
		t.Errorf("again: %d %s", a.status, a.body)
	}
}

func TestASiteThatIsLeftAloneNeedsAttention(t *testing.T) {
	h := start(t)
	h.signIn()
	h.update(func(tx *store.Tx) error {
		return tx.AccountSites.Put(&store.AccountSite{Site: "tiktok", Stops: 1, Until: tx.Now().Add(time.Hour), Reason: store.Reason{Code: store.ReasonNoCanary}})
	})
	h.get("/").has(t, "A site does not answer the account check: TikTok", "are not used until")
	h.get("/accounts").has(t, "Paused sites", "TikTok")
	h.update(func(tx *store.Tx) error { // and the clock was a year ahead then
		ahead := tx.Now().AddDate(1, 0, 0)
		return tx.AccountSites.Put(&store.AccountSite{Site: "youtube", Stops: 1, Since: ahead, Until: ahead.Add(time.Hour), Reason: store.Reason{Code: store.ReasonNoCanary}})
	})
	h.get("/").lacks(t, "YouTube")
}

func TestTheLastCheckSaysOfEachSiteWhyItWasGivenUp(t *testing.T) {
	h := start(t)
	h.signIn()
	var until time.Time
	h.update(func(tx *store.Tx) error {
		until = tx.Now().Add(time.Hour)
		c := store.AccountCheck{Status: store.AccountCheckRunning, Began: tx.Now(), Of: 30, Total: 9, Checked: 9, NotFound: 9}
		c.GiveUp("tiktok", store.Reason{Code: store.ReasonNoCanary, Until: until})
		if tiktok := i18n.For("en", time.UTC).Say(c.Reason); !strings.HasPrefix(tiktok, "tiktok: The site does not find") {
			t.Error(tiktok)
		}
		c.GiveUp("github", store.Reason{Code: store.ReasonNoAnswers, N: 5, Until: until, Detail: "too many requests (status 429)"})
		for i := range 22 {
			c.GiveUp(fmt.Sprint("site-", i), store.Reason{Code: store.ReasonNoRule})
		}
		c.Status, c.Ended = store.AccountCheckStopped, tx.Now()
		return errors.Join(tx.AccountChecks.Begin(&c),
			tx.AccountSites.Put(&store.AccountSite{Site: "github", Stops: 1, Until: until, Reason: c.GivenUp[1].Reason}),
			tx.AccountSites.Put(&store.AccountSite{Site: "x", Stops: 1, Until: until, Reason: store.Reason{Code: store.ReasonNoCanary}}))
	})
	page := h.get("/accounts")
	page.has(t, "Sites that did not answer", "<strong>TikTok</strong>", "does not find a profile that exists", "<strong>site-17</strong>", "and 4 further sites",
		"(5 refusals in a row); it is paused until ", "too many requests (status 429)", "Paused sites", "<strong>X</strong>")
	page.lacks(t, "site-18", "24 of 30")
	if n := strings.Count(page.body, "<strong>GitHub</strong>"); n != 1 {
		t.Errorf("GitHub is named %d times", n)
	}
	var now api.Autocheck
	h.api("GET", "/autocheck", "").decode(t, &now)
	if last := now.Last; len(last.Stopped) != 24 || len(last.GivenUp) != 20 || last.GivenUp[1].Site != "github" || !last.GivenUp[1].Reason.Until.Equal(until) ||
		!strings.HasPrefix(last.Reason.Text, "24 of 30 sites do not answer the check: tiktok, github, site-0") {
		t.Errorf("%+v: %+v", last, last.Reason)
	}
	h.client.Jar.SetCookies(h.request("GET", "/", "").URL, []*http.Cookie{{Name: "belfry-language", Value: "ru", Path: "/"}})
	h.get("/accounts").has(t, "Сайты, которые не ответили", "Сайт не находит профиль", "слишком много запросов (код 429)", "и ещё 4 сайта")
}

func TestAMessageToAnAdminIsNamed(t *testing.T) {
	h := start(t)
	h.signIn()
	h.update(func(tx *store.Tx) error {
		n := store.Notice{Kind: "account_found", Chat: "100", Key: 1, Text: "✅ @evening_news was found\n\nmore", CreatedAt: tx.Now()}
		if err := tx.Notices.Add(&n); err != nil {
			return err
		}
		at := tx.Now().Add(time.Hour)
		return tx.Jobs.Put(&store.Job{Name: n.JobName(), Kind: "notice", Subject: n.ID, Lane: "notices", Trigger: store.Trigger{At: at}, State: store.JobWaiting, Occurrence: at, Due: at})
	})
	h.get("/jobs").has(t, "@evening_news was found", "Message to an admin 100")
	h.get("/jobs?kind=notice").has(t, `<option value="notice" selected>Message to an admin`)
}

// A record may have several lines, and all of them are offered again.
func TestARefusedRecordIsOfferedWhole(t *testing.T) {
	h := start(t)
	h.signIn()
	h.submit("/accounts/new", "list", "username,note\r\nbad name!,\"one\r\ntwo\"\r\ngood,\"three\r\nfour\"").has(t,
		">\nusername,note\nbad name!,&#34;one\ntwo&#34;</textarea>")
}
