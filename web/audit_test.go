package web

import (
	"fmt"
	"net/http"
	"net/url"
	"os/user"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/store"
	"belfry/web/api"
	"belfry/web/session"
)

// audited lists the audit's entries, the earliest first, as the API shows them.
func (h *harness) audited(query string) (lines []string) {
	var found api.List[api.AuditEntry]
	h.api("GET", "/audit"+query, "").decode(h.t, &found)
	for _, e := range slices.Backward(found.Items) {
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s", e.Actor, e.Door, e.Action, e.About, e.Result))
	}
	return lines
}

func wantLines(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheAuditHasWhatIsChangedThroughEachDoor(t *testing.T) {
	h := start(t)
	socket := h.socket()
	post := fmt.Sprintf(`{"platform":"telegram","text":"a secret text","scheduled_time":%q}`, h.soon(time.Hour))
	h.api("POST", "/scheduled-posts", post, "Idempotency-Key", "k")
	h.api("POST", "/scheduled-posts", post, "Idempotency-Key", "k") // makes nothing
	h.api("PATCH", "/scheduled-posts/1", `{"text":"another text"}`)
	h.api("PATCH", "/scheduled-posts/99", `{"text":"another text"}`)
	h.api("POST", "/scheduled-posts", `{"platform":"telegram"}`)
	h.api("GET", "/scheduled-posts", "")
	h.api("POST", "/jobs/post_1/pause", "")
	socket("POST", "/tokens", `{"name":"=curator"}`)
	h.post("/sign-in", url.Values{"password": {"wrong"}})
	h.signIn()
	h.submit("/jobs/post_1", "do", "resume")
	h.submit("/posts/1/cancel")
	h.submit("/posts/99/cancel")
	h.submit("/everything", "do", "pause")
	h.post("/jobs/post_1", url.Values{"do": {"run"}}) // without the token against forgery

	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	const token = "BELFRY_API_TOKEN api "
	wantLines(t, "all", h.audited(""),
		token+"posts.create post_1 done",
		token+"posts.change post_1 done",
		token+"posts.change post_99 refused",
		token+"posts.create  refused",
		token+"jobs.pause post_1 done",
		me.Username+" cli tokens.create token_1 done",
		"page page sign-in 127.0.0.1 refused",
		"page page sign-in 127.0.0.1 done",
		"page page jobs.resume post_1 done",
		"page page posts.delete post_1 done",
		"page page posts.delete post_99 refused",
		"page page everything.pause  done",
		"unknown page jobs.run 127.0.0.1 refused",
	)
	wantLines(t, "of the page", h.audited("?door=page&action=posts"), "page page posts.delete post_1 done", "page page posts.delete post_99 refused")
	if a := h.api("GET", "/audit?door=window", ""); a.status != http.StatusUnprocessableEntity {
		t.Errorf("an unknown door: %d", a.status)
	}
	h.update(func(tx *store.Tx) error {
		return tx.Audit.Add(store.AuditEntry{Actor: "=cmd()", Door: store.DoorAPI, Action: "posts.create", Result: store.AuditDone})
	})
	csv := h.api("GET", "/audit.csv", "")
	if !strings.HasPrefix(csv.body, "id,at,actor,door,action,about,result\n") || !strings.Contains(csv.body, ",'=cmd(),api,posts.create,,done\n") ||
		strings.Count(csv.body, "\n") != 15 || strings.Contains(csv.body, "text") {
		t.Errorf("as a table: %s", csv.body)
	}
	if page := h.get("/audit?door=cli"); page.status != http.StatusOK || !strings.Contains(page.body, "Tokens: create") || strings.Contains(page.body, "Jobs: pause") {
		t.Errorf("on the page: %d %s", page.status, page.body)
	}
	if page := h.get("/audit?since=soon"); page.status != http.StatusUnprocessableEntity || !strings.Contains(page.body, "is not a day") {
		t.Errorf("a day that is none: %d", page.status)
	}
	if table := h.get("/audit.csv?actor=page"); table.status != http.StatusOK || !strings.HasPrefix(table.body, "\ufeffid,") || strings.Count(table.body, "\n") != 7 {
		t.Errorf("the table of the page: %d %s", table.status, table.body)
	}
}

func TestStrangersCannotFillTheAudit(t *testing.T) {
	h := start(t)
	for range 30 {
		h.do(h.request("DELETE", "/api/v1/scheduled-posts/1", ""))
		h.do(h.request("GET", "/api/v1/jobs", ""))
	}
	lines := h.audited("")
	if len(lines) != 10 || lines[0] != "unknown api posts.delete 127.0.0.1 refused" || lines[1] != "unknown api jobs.read 127.0.0.1 refused" {
		t.Errorf("%d entries: %q", len(lines), lines)
	}
}

func TestActionsHaveOneNameAtAllDoors(t *testing.T) {
	for route, want := range map[string]string{
		"POST /api/v1/scheduled-posts":              "posts.create",
		"POST /posts/new":                           "posts.create",
		"DELETE /api/v1/scheduled-posts/:id":        "posts.delete",
		"POST /posts/:id/cancel":                    "posts.delete",
		"POST /api/v1/auto-posting/rules":           "rules.create",
		"POST /api/v1/auto-posting/rules/:id/pause": "rules.pause",
		"POST /api/v1/auto-posting/rules/preview":   "",
		"POST /api/v1/tasks/:id/preview":            "tasks.preview",
		"POST /api/v1/check":                        "",
		"POST /api/v1/content/create":               "contents.create",
		"DELETE /api/v1/accounts/sites/:site":       "sites.delete",
		"POST /api/v1/alerts/:id/acknowledge":       "alerts.acknowledge",
		"POST /alerts/seen":                         "alerts.acknowledge",
		"POST /api/v1/pause":                        "everything.pause",
		"POST /everything":                          "everything.do",
		"POST /logins":                              "identities.create",
		"POST /api/v1/identities/:id/log-out":       "identities.log-out",
		"GET /api/v1/jobs":                          "jobs.read",
		"GET /jobs":                                 "",
		"POST /language":                            "",
		"POST /*":                                   "",
		"POST /sign-in/link":                        "sign-in",
		"POST /password":                            "password.change",
		"PUT /api/v1/bookings/settings":             "bookings.change",
	} {
		method, path, _ := strings.Cut(route, " ")
		if got := session.Action(method, path); got != want {
			t.Errorf("%s is %q, want %q", route, got, want)
		}
	}
}
