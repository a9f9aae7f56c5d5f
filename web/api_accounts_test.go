package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"belfry/platform/profile"
	"belfry/store"
	"belfry/web/api"
)

// addAccount has an account watched through the API.
func (h *harness) addAccount(body string) api.WatchedAccount {
	h.t.Helper()
	a := h.api("POST", "/accounts", body)
	var made api.WatchedAccount
	if err := json.Unmarshal([]byte(a.body), &made); err != nil || a.status != http.StatusCreated {
		h.fatal(a.status, " ", a.body)
	}
	return made
}

// checked waits until a check has ended after n others.
func (h *harness) checked(n int) api.Autocheck {
	h.t.Helper()
	changed, unwatch := h.db.Watch("account_checks")
	defer unwatch()
	limit := time.After(time.Minute)
	for {
		var now api.Autocheck
		h.api("GET", "/autocheck", "").decode(h.t, &now)
		if now.Running == nil && now.Last != nil && now.Last.ID > uint64(n) {
			return now
		}
		select {
		case <-changed:
		case <-limit:
			h.fatal("the check has not ended: ", fmt.Sprintf("%+v", now))
		}
	}
}

func TestAccountsAreAddedChangedAndRemoved(t *testing.T) {
	h := start(t)
	made := h.addAccount(`{"username":"@Evening_News","note":" ours ","tag":"press","owner_chat":"@editor"}`)
	if made.Site != "instagram" || made.Username != "Evening_News" || made.State != "pending" || !made.Watched || made.KeepWatching || made.Note != "ours" ||
		made.Link != "https://www.instagram.com/Evening_News/" {
		t.Errorf("made: %+v", made)
	}
	h.addAccount(`{"site":"github","username":"https://github.com/golang"}`)
	var changed api.WatchedAccount
	h.api("PATCH", "/accounts/1", `{"note":"","keep_watching":true}`).decode(t, &changed)
	if changed.Note != "" || changed.Tag != "press" || !changed.KeepWatching {
		t.Errorf("changed: %+v", changed)
	}
	var read api.WatchedAccount
	h.api("GET", "/accounts/1", "").decode(t, &read)
	if read.OwnerChat != "@editor" || !read.KeepWatching {
		t.Errorf("read: %+v", read)
	}
	if a := h.api("DELETE", "/accounts/1", ""); a.status != http.StatusNoContent {
		t.Errorf("remove: %d %s", a.status, a.body)
	}
	for method, body := range map[string]string{"GET": "", "PATCH": `{"note":"x"}`, "DELETE": ""} {
		if a := h.api(method, "/accounts/1", body); a.status != http.StatusNotFound {
			t.Errorf("%s: %d %s", method, a.status, a.body)
		}
	}
	if a := h.api("GET", "/accounts/1/results", ""); a.status != http.StatusNotFound {
		t.Errorf("results: %d", a.status)
	}
}

func TestARefusedAccountNamesTheFieldAndTheCure(t *testing.T) {
	h := start(t)
	h.addAccount(`{"username":"evening_news"}`)
	for _, c := range []struct {
		method, path, body, field, problem, cure string
	}{
		{"POST", "/accounts", `{}`, "username", "is missing", "add it"},
		{"POST", "/accounts", `{"username":"two words"}`, "username", "is not a user name of instagram", "with or without @"},
		{"POST", "/accounts", `{"username":"a","site":"myspace"}`, "site", `"myspace" is not known`, "instagram"},
		{"POST", "/accounts", `{"username":"a","tag":"` + strings.Repeat("x", 51) + `"}`, "tag", "longer than 50", "shorter"},
		{"POST", "/accounts", `{"username":"a","note":"` + strings.Repeat("x", 501) + `"}`, "note", "longer than 500", "shorter"},
		{"POST", "/accounts", `{"username":"a","owner_chat":"the editor"}`, "owner_chat", "is not a chat", "@name"},
		{"POST", "/accounts", `{"username":"a","colour":"red"}`, "colour", "is not known here", "spelling"},
		{"PATCH", "/accounts/1", `{"owner_chat":"x y"}`, "owner_chat", "is not a chat", "@name"},
		{"POST", "/accounts/import", `{"text":"\n# nobody\n"}`, "text", "has no names", "one name in each line"},
		{"POST", "/accounts/import", `{"text":"a","colour":"red"}`, "colour", "is not known here", "spelling"},
		{"GET", "/accounts?state=lost", "", "state", "is none of the known values", "pending"},
		{"GET", "/accounts?cursor=%21", "", "cursor", "is not one that a list has given out", "leave it out"},
		{"GET", "/audit?since=yesterday", "", "since", "is not a time with a zone", "2026-11-14T12:01:00Z"},
		{"GET", "/accounts?limit=many", "", "limit", "is not a whole number", "digits"},
		{"PATCH", "/autocheck", `{"interval":"soon"}`, "interval", "is not a length of time", "5m"},
		{"PATCH", "/autocheck", `{"interval":"5s"}`, "interval", "is not between a minute and a week", "5m"},
		{"PATCH", "/autocheck", `{"interval":"200h"}`, "interval", "is not between a minute and a week", "5m"},
	} {
		a := h.api(c.method, c.path, c.body)
		p := a.problem(t)
		if a.status != http.StatusUnprocessableEntity || len(p.Errors) != 1 || p.Errors[0].Field != c.field ||
			!strings.Contains(p.Errors[0].Problem, c.problem) || !strings.Contains(p.Errors[0].Cure, c.cure) {
			t.Errorf("%s %s %.60s: %d %s", c.method, c.path, c.body, a.status, a.body)
		}
	}
	a := h.api("POST", "/accounts", `{"username":"@EVENING_NEWS"}`)
	if p := a.problem(t); a.status != http.StatusConflict || !strings.Contains(p.Detail, "@evening_news of instagram is already watched, as account 1") {
		t.Errorf("twice: %d %s", a.status, a.body)
	}
}

func TestAListIsReportedLineByLine(t *testing.T) {
	h := start(t)
	h.addAccount(`{"username":"known_one"}`)
	body, err := json.Marshal(map[string]any{"text": "first_name;a note\n\n@second, @Known_One\nnot a name\nfirst_name", "tag": "press", "keep_watching": true})
	if err != nil {
		t.Fatal(err)
	}
	var report api.Imported
	for i, replayed := range []string{"", "true"} {
		a := h.api("POST", "/accounts/import", string(body), "Idempotency-Key", "list")
		if a.status != http.StatusCreated || a.header.Get("Idempotency-Replayed") != replayed {
			t.Fatalf("request %d: %d %s", i, a.status, a.body)
		}
		report = api.Imported{}
		a.decode(t, &report)
	}
	var got []string
	for _, line := range report.Lines {
		got = append(got, fmt.Sprintf("%d %s %s %d", line.Line, line.Username, line.Result, line.AccountID))
	}
	want := "1 first_name added 2|3 second added 3|3 Known_One duplicate 1|4 not a name invalid 0|5 first_name duplicate 2"
	if strings.ReplaceAll(strings.Join(got, "|"), "known_one", "Known_One") != want || report.Added != 2 || report.Duplicates != 2 || report.Invalid != 1 {
		t.Errorf("%v in %+v", got, report)
	}
	if bad := report.Lines[3]; !strings.Contains(bad.Problem, "is not a user name of instagram") || bad.Text != "not a name" {
		t.Errorf("invalid: %+v", bad)
	}
	var first api.WatchedAccount
	h.api("GET", "/accounts/2", "").decode(t, &first)
	if first.Note != "a note" || first.Tag != "press" || !first.KeepWatching {
		t.Errorf("the first: %+v", first)
	}
}

func TestAccountsAreListedByStateSiteAndTag(t *testing.T) {
	h := start(t)
	h.update(func(tx *store.Tx) error {
		for i := range 60 {
			a := store.Account{Site: []string{"instagram", "x", "github"}[i%3], Username: fmt.Sprintf("name_%02d", i), State: store.AccountStates()[i%2],
				Tag: []string{"", "press"}[i/30], CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
			if err := tx.Accounts.Put(&a); err != nil {
				return err
			}
		}
		return nil
	})
	for _, c := range []struct {
		query string
		want  int
	}{
		{"", 60}, {"state=found", 30}, {"state=not_found", 0}, {"tag=press", 30}, {"tag=press&state=pending", 15},
		{"site=x", 20}, {"site=x&state=found", 10}, {"site=x&tag=press&state=found", 5}, {"site=nowhere", 0}, {"tag=none", 0},
	} {
		seen := make(map[uint64]bool)
		for cursor, pages := "", 0; ; pages++ {
			var page api.List[api.WatchedAccount]
			h.api("GET", "/accounts?limit=7&cursor="+cursor+"&"+c.query, "").decode(t, &page)
			if len(page.Items) > 7 || pages > 30 {
				t.Fatalf("%s: %d items on page %d", c.query, len(page.Items), pages)
			}
			for _, a := range page.Items {
				if seen[a.ID] {
					t.Errorf("%s: account %d twice", c.query, a.ID)
				}
				seen[a.ID] = true
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		if len(seen) != c.want {
			t.Errorf("%s: %d accounts, not %d", c.query, len(seen), c.want)
		}
	}
}

func TestTheCheckIsRunAndRead(t *testing.T) {
	h := start(t)
	h.api("POST", "/pause", "") // the first account would be checked at once
	for _, name := range []string{"here_one", "gone_one", "shy_one"} {
		h.addAccount(`{"username":"` + name + `","keep_watching":true}`)
	}
	h.site.says("here_one", profile.Result{Outcome: profile.Found, Status: 200})
	h.site.says("shy_one", profile.Result{Outcome: profile.Refused, Status: 403, Detail: "the site refuses to answer (status 403)"})
	var now api.Autocheck
	h.api("GET", "/autocheck", "").decode(t, &now)
	if now.Interval != "5m0s" || now.Quiet || now.Running != nil || now.Last != nil || now.Counts != (api.StateCounts{Pending: 3}) {
		t.Errorf("before: %+v", now)
	}
	if a := h.api("POST", "/autocheck/run", ""); a.status != http.StatusOK {
		t.Fatalf("run: %d %s", a.status, a.body)
	}
	h.api("POST", "/resume", "")
	now = h.checked(0)
	if now.Counts != (api.StateCounts{Pending: 2, Found: 1}) || now.Last.Checked != 3 || now.Last.Found != 1 || now.Last.NotFound != 1 || now.Last.Errors != 1 ||
		now.Last.Status != "done" || now.Next.Before(h.now()) {
		t.Errorf("after: %+v %+v", now, now.Last)
	}
	h.site.says("here_one", profile.Result{Outcome: profile.Absent, Status: 404})
	h.api("POST", "/autocheck/run", "")
	if now = h.checked(1); now.Counts != (api.StateCounts{Pending: 2, NotFound: 1}) || now.Last.Changes != 1 {
		t.Errorf("after it vanished: %+v %+v", now, now.Last)
	}
	var results api.List[api.AccountResult]
	h.api("GET", "/accounts/1/results", "").decode(t, &results)
	if len(results.Items) != 2 || results.Items[0].Outcome != "not_found" || results.Items[0].State != "not_found" || !results.Items[0].Changed || results.Items[1].State != "found" {
		t.Errorf("results: %+v", results)
	}
	var third api.WatchedAccount
	h.api("GET", "/accounts/3", "").decode(t, &third)
	if third.State != "pending" || third.Outcome != "error" || third.Failures != 2 || third.Detail != "the site refuses to answer (status 403)" {
		t.Errorf("the shy one: %+v", third)
	}
	h.api("GET", "/accounts/3/results", "").decode(t, &results)
	if len(results.Items) != 1 || results.Items[0].Times != 2 || results.Items[0].Status != 403 {
		t.Errorf("the shy one's results: %+v", results)
	}
	var checks api.List[api.AccountCheck]
	h.api("GET", "/autocheck/checks?limit=1", "").decode(t, &checks)
	if len(checks.Items) != 1 || checks.Items[0].ID != 2 || checks.Next == "" {
		t.Errorf("checks: %+v", checks)
	}
	h.api("PATCH", "/autocheck", `{"interval":"90s","quiet":true}`).decode(t, &now)
	if now.Interval != "1m30s" || !now.Quiet || now.Next.After(h.now().Add(90*time.Second)) {
		t.Errorf("changed: %+v", now)
	}
}

func TestACheckUnderWayIsShownAndNotBegunTwice(t *testing.T) {
	h := start(t)
	gate := make(chan struct{})
	h.site.gate = gate
	defer close(gate)
	h.api("POST", "/pause", "")
	h.addAccount(`{"username":"one"}`)
	h.addAccount(`{"username":"two"}`)
	h.api("POST", "/resume", "")
	for range 2 { // a profile that exists, and the first account
		gate <- struct{}{}
	}
	var now api.Autocheck
	h.api("GET", "/autocheck", "").decode(t, &now)
	if now.Running == nil || now.Running.Total != 2 || now.Running.Status != "running" {
		t.Fatalf("under way: %+v", now)
	}
	a := h.api("POST", "/autocheck/run", "")
	if p := a.problem(t); a.status != http.StatusConflict || !strings.Contains(p.Detail, "a check is under way") {
		t.Errorf("again: %d %s", a.status, a.body)
	}
}

func TestRulesForSitesAreImportedAndRemoved(t *testing.T) {
	h := start(t)
	rule := `{"Forum":{"url":"https://forum.example/u/{}","errorType":"status_code","username_claimed":"admin"}}`
	a := h.api("POST", "/accounts/sites", `{"rules":`+rule+`}`)
	if a.status != http.StatusOK || !strings.Contains(a.body, `"sites":["forum"]`) {
		t.Fatalf("import: %d %s", a.status, a.body)
	}
	var sites api.List[api.WatchedSite]
	h.api("GET", "/accounts/sites", "").decode(t, &sites)
	own := 0
	for _, site := range sites.Items {
		if site.Own {
			own++
		}
	}
	if own != 1 || len(sites.Items) < 7 {
		t.Errorf("sites: %+v", sites.Items)
	}
	if made := h.addAccount(`{"site":"forum","username":"anna"}`); made.Link != "https://forum.example/u/anna" {
		t.Errorf("made: %+v", made)
	}
	a = h.api("POST", "/accounts/sites", `{"rules":{"forum":{"url":"https://forum.example/"},"other":{"colour":"red"}}}`)
	p := a.problem(t)
	if a.status != http.StatusUnprocessableEntity || len(p.Errors) != 1 || p.Errors[0].Field != "rules" || !strings.Contains(p.Detail, "username_claimed") || !strings.Contains(p.Detail, "colour") {
		t.Errorf("invalid: %d %s", a.status, a.body)
	}
	if a := h.api("DELETE", "/accounts/sites/forum", ""); a.status != http.StatusNoContent {
		t.Errorf("remove: %d %s", a.status, a.body)
	}
	if a := h.api("POST", "/accounts/sites", `{"rules":{"a/b":{"url":"https://forum.example/u/{}","errorType":"status_code","username_claimed":"admin"}}}`); a.status != http.StatusOK {
		t.Fatalf("import: %d %s", a.status, a.body)
	}
	if a := h.api("DELETE", "/accounts/sites/a%2fb", ""); a.status != http.StatusNoContent {
		t.Errorf("remove a name with a slash: %d %s", a.status, a.body)
	}
	if a := h.api("DELETE", "/accounts/sites/instagram", ""); a.status != http.StatusNotFound {
		t.Errorf("remove a builtin: %d %s", a.status, a.body)
	}
	h.signIn()
	if a := h.submit("/accounts/sites", "list", rule); a.header.Get("Location") != "/accounts/sites?done=sites-added" {
		t.Errorf("on the page: %d %s", a.status, a.body)
	}
	h.get("/accounts/sites").has(t, "https://forum.example/u/…", "yours", "Instagram")
	h.get("/accounts/new").has(t, `<option value="forum">forum`)
	h.submit("/accounts/sites", "list", `{"a":{"colour":"red"},"b":{"url":"x"}}`).has(t, "a: colour is not known", "b: username_claimed is missing", "&#34;colour&#34;")
	h.submit("/accounts/sites", "list", `nonsense`).has(t, "not JSON from line 1 on", "nonsense</textarea>")
	if a := h.submit("/accounts/sites", "remove", "forum"); a.header.Get("Location") != "/accounts/sites?done=site-removed" {
		t.Errorf("remove on the page: %d", a.status)
	}
}
