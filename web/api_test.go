package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"belfry/store"
	"belfry/web/api"
)

// The commands stand in the documents of the system that Belfry replaced, and run as they are: with
// a token, a time to come, and the content's id in the quotes that the document has.
func TestTheDocumentedCommandsRunWithCurl(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed: apt-get install curl")
	}
	h := start(t)
	run := func(command string) map[string]any {
		t.Helper()
		command = strings.NewReplacer("http://localhost:8080", h.base, "YOUR_TOKEN", testToken).Replace(command)
		out, err := exec.Command("bash", "-c", strings.Replace(command, "curl", "curl -sS", 1)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		var answer map[string]any
		if err := json.Unmarshal(out, &answer); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		return answer
	}
	made := run(`curl -X POST http://localhost:8080/api/v1/content/create \
  -H "Authorization: Bearer YOUR_TOKEN" \
  -H "Content-Type: application/json" \
  -d '{
    "title": "Тестовый пост",
    "description": "Создай короткий пост о Python"
  }'`)
	if made["text"] != "Тестовый пост\n\nСоздай короткий пост о Python" || made["id"] != made["content_id"] || !strings.Contains(fmt.Sprint(made["note"]), "AI") {
		t.Errorf("content: %v", made)
	}
	scheduled := run(strings.NewReplacer("CONTENT_ID_FROM_STEP_1", fmt.Sprint(made["content_id"]), "2025-11-14T12:01:00Z", h.soon(time.Minute)).Replace(
		`curl -X POST http://localhost:8080/api/v1/scheduled-posts \
  -H "Authorization: Bearer YOUR_TOKEN" \
  -H "Content-Type: application/json" \
  -d '{
    "content_id": "CONTENT_ID_FROM_STEP_1",
    "platform": "telegram",
    "scheduled_time": "2025-11-14T12:01:00Z"
  }'`))
	if scheduled["status"] != "scheduled" || scheduled["text"] != made["text"] || scheduled["id"] != 1.0 {
		t.Errorf("post: %v", scheduled)
	}
	read := run(`curl -X GET http://localhost:8080/api/v1/scheduled-posts/1 \
  -H "Authorization: Bearer YOUR_TOKEN"`)
	if read["status"] != "scheduled" || read["target"] != "@evening_news" {
		t.Errorf("read: %v", read)
	}
	list := run(`curl -X GET http://localhost:8080/api/v1/scheduled-posts?status=scheduled \
  -H "Authorization: Bearer YOUR_TOKEN"`)
	if items, _ := list["items"].([]any); len(items) != 1 || list["next_cursor"] != "" {
		t.Errorf("list: %v", list)
	}
}

func TestRefusalsNameTheFieldAndTheCure(t *testing.T) {
	h := start(t)
	post := func(change string) string {
		return fmt.Sprintf(`{"platform":"telegram","text":"Hello","scheduled_time":%q%s}`, h.soon(time.Hour), change)
	}
	for _, c := range []struct {
		name, method, path, body string
		status                   int
		field                    string
	}{
		{"no text", "POST", "/scheduled-posts", fmt.Sprintf(`{"platform":"telegram","scheduled_time":%q}`, h.soon(time.Hour)), 422, "text"},
		{"no platform", "POST", "/scheduled-posts", fmt.Sprintf(`{"text":"a","scheduled_time":%q}`, h.soon(time.Hour)), 422, "platform"},
		{"platform without adapter", "POST", "/scheduled-posts", fmt.Sprintf(`{"platform":"x","text":"a","scheduled_time":%q}`, h.soon(time.Hour)), 422, "platform"},
		{"no time", "POST", "/scheduled-posts", `{"platform":"telegram","text":"Hello"}`, 422, "scheduled_time"},
		{"time without zone", "POST", "/scheduled-posts", `{"platform":"telegram","text":"Hello","scheduled_time":"2099-01-01T10:00:00"}`, 422, "scheduled_time"},
		{"past time", "POST", "/scheduled-posts", `{"platform":"telegram","text":"Hello","scheduled_time":"2020-01-01T10:00:00Z"}`, 422, "scheduled_time"},
		{"text too long", "POST", "/scheduled-posts", strings.Replace(post(""), "Hello", strings.Repeat("a", 4097), 1), 422, "text"},
		{"unknown field", "POST", "/scheduled-posts", post(`,"schedule_time":"tomorrow"`), 422, "schedule_time"},
		{"unknown field inside", "POST", "/scheduled-posts", post(`,"media":[{"kind":"photo","href":"https://example.com/a.jpg"}]`), 422, "media[0].href"},
		{"wrong type", "POST", "/scheduled-posts", post(`,"silent":"yes"`), 422, "silent"},
		{"id that is no number", "POST", "/scheduled-posts", `{"content_id":"first","platform":"telegram"}`, 422, "content_id"},
		{"content that does not exist", "POST", "/scheduled-posts", fmt.Sprintf(`{"content_id":"77","platform":"telegram","scheduled_time":%q}`, h.soon(time.Hour)), 422, "content_id"},
		{"login that does not exist", "POST", "/scheduled-posts", post(`,"identity_id":9`), 422, "identity_id"},
		{"lateness that is none", "POST", "/scheduled-posts", post(`,"lateness":{"policy":"skip","grace":"soon"}`), 422, "lateness.grace"},
		{"no JSON", "POST", "/scheduled-posts", `{"text":`, 400, "body"},
		{"no body", "POST", "/scheduled-posts", ``, 400, "body"},
		{"a body that is too large", "POST", "/scheduled-posts", `{"text":"` + strings.Repeat("a", 2<<20) + `"}`, 413, "body"},
		{"unknown status", "GET", "/scheduled-posts?status=done", "", 422, "status"},
		{"unknown filter", "GET", "/scheduled-posts?state=failed", "", 422, "state"},
		{"cursor that is none", "GET", "/scheduled-posts?cursor=%21", "", 422, "cursor"},
		{"limit of nothing", "GET", "/scheduled-posts?limit=0", "", 422, "limit"},
		{"id in words", "GET", "/scheduled-posts/first", "", 422, "id"},
		{"empty content", "POST", "/content/create", `{}`, 422, "title"},
		{"format of content", "POST", "/content/create", `{"text":"a","format":"bbcode"}`, 422, "format"},
		{"kind of a file of content", "POST", "/content/create", `{"text":"a","media":[{"kind":"picture","url":"https://example.com/a.jpg"}]}`, 422, "media[0].kind"},
		{"token of a bot", "POST", "/identities", `{"platform":"telegram","name":"two","token":"secret-token"}`, 422, "token"},
		{"missing token", "POST", "/identities", `{"platform":"telegram"}`, 422, "token"},
		{"name that is taken", "POST", "/identities", `{"platform":"telegram","name":"main","token":"123456789:AAEexampleexampleexampleexample"}`, 422, "name"},
		{"name with spaces", "POST", "/identities", `{"platform":"telegram","name":"my bot","token":"123456789:AAEexampleexampleexampleexample"}`, 422, "name"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := h.api(c.method, c.path, c.body)
			p := a.problem(t)
			if a.status != c.status || p.Status != c.status || p.Title != http.StatusText(c.status) {
				t.Errorf("status %d, document says %d %q", a.status, p.Status, p.Title)
			}
			if len(p.Errors) != 1 || p.Errors[0].Field != c.field {
				t.Fatalf("refused fields: %+v, want %s", p.Errors, c.field)
			}
			if f := p.Errors[0]; f.Problem == "" || !strings.Contains(p.Detail, c.field) || (f.Cure == "" && !strings.Contains(f.Problem, ": ")) {
				t.Errorf("no problem or no cure: %+v, %q", f, p.Detail)
			}
			if strings.Contains(a.body, "secret-token") {
				t.Errorf("the secret comes back: %s", a.body)
			}
		})
	}
	if a := h.api("GET", "/scheduled-posts", ""); !strings.Contains(a.body, `"items":[]`) {
		t.Errorf("a refused post was made: %s", a.body)
	}
}

func TestRefusalsThatAreNotAboutAField(t *testing.T) {
	h := start(t)
	made := h.schedulePost("Hello", time.Hour)
	path := fmt.Sprintf("/scheduled-posts/%d", made.ID)
	if a := h.api("DELETE", path, ""); a.status != http.StatusOK || !strings.Contains(a.body, `"status":"cancelled"`) {
		t.Fatalf("cancel: %d %s", a.status, a.body)
	}
	for _, c := range []struct {
		method, path string
		status       int
	}{
		{"POST", path + "/publish-now", 409},
		{"GET", "/scheduled-posts/99", 404},
		{"PATCH", "/scheduled-posts/99", 404},
		{"POST", "/jobs/post_99/pause", 404},
		{"GET", "/jobs/nothing", 404},
		{"DELETE", "/identities/99", 404},
		{"GET", "/nothing", 404},
		{"PUT", "/scheduled-posts", 404},
		{"GET", "/tokens", 404}, // for the socket alone
	} {
		body := ""
		if c.method == "PATCH" {
			body = `{"text":"b"}`
		}
		a := h.api(c.method, c.path, body)
		if p := a.problem(t); a.status != c.status || p.Status != c.status || p.Detail == "" {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
		}
	}
	if p := h.api("GET", "/jobs/nothing", "").problem(t); p.Detail != "job nothing: not found: see the list for what there is" {
		t.Errorf("a job that is not there: %s", p.Detail)
	}
	if p := h.api("GET", "/chats", "").problem(t); !strings.Contains(p.Detail, "no user account is logged in: log one in") {
		t.Errorf("chats of no account: %s", p.Detail)
	}
	a := h.api("POST", "/scheduled-posts", `text=Hello`, "Content-Type", "application/x-www-form-urlencoded")
	if p := a.problem(t); a.status != http.StatusUnsupportedMediaType || p.Errors[0].Field != "Content-Type" {
		t.Errorf("form: %d %s", a.status, a.body)
	}
}

func TestAPostIsChangedAndPublished(t *testing.T) {
	h := start(t)
	made := h.schedulePost("Hello", time.Hour)
	path := fmt.Sprintf("/scheduled-posts/%d", made.ID)
	later := h.soon(2 * time.Hour)
	a := h.api("PATCH", path, fmt.Sprintf(`{"text":"Goodbye","scheduled_time":%q,"lateness":{"policy":"skip","grace":"15m"},"media":[{"kind":"photo","url":"https://example.com/a.jpg"}]}`, later))
	var changed api.Post
	a.decode(t, &changed)
	if a.status != http.StatusOK || changed.Text != "Goodbye" || changed.ScheduledTime.Format(time.RFC3339) != later ||
		changed.Lateness != (api.Lateness{Policy: "skip", Grace: "15m0s"}) || len(changed.Media) != 1 || changed.Target != made.Target {
		t.Fatalf("change: %d %s", a.status, a.body)
	}
	published, unwatch := h.db.Watch("posts")
	defer unwatch()
	if a := h.api("POST", path+"/publish-now", ""); a.status != http.StatusOK {
		t.Fatalf("publish now: %d %s", a.status, a.body)
	}
	for {
		h.api("GET", path, "").decode(t, &changed)
		if changed.Status == "published" {
			break
		}
		select {
		case <-published:
		case <-t.Context().Done():
			t.Fatalf("it was not published: %+v", changed)
		}
	}
	if changed.Link != "https://t.me/evening_news/1" || changed.PublishedAt.IsZero() || len(changed.MessageIDs) != 1 {
		t.Errorf("published: %+v", changed)
	}
	if a := h.api("DELETE", path, ""); a.status != http.StatusConflict || a.problem(t).Detail == "" {
		t.Errorf("cancelling a published post: %d %s", a.status, a.body)
	}
}

func TestListsComeInPages(t *testing.T) {
	h := start(t)
	for i := range 5 {
		h.schedulePost(fmt.Sprintf("Post %d", i), time.Duration(i+1)*time.Hour)
	}
	for _, c := range []struct {
		path string
		want string
	}{
		{"/scheduled-posts?limit=2", "5 4 3 2 1"},
		{"/scheduled-posts?limit=3&status=scheduled", "5 4 3 2 1"},
		{"/jobs?limit=2", "post_1 post_2 post_3 post_4 post_5"},
		{"/jobs?limit=2&kind=post", "post_1 post_2 post_3 post_4 post_5"},
		{"/jobs?kind=rule", ""},
	} {
		var ids []string
		for path := c.path; ; {
			a := h.api("GET", path, "")
			var page struct {
				Items []struct{ ID any } `json:"items"`
				Next  string             `json:"next_cursor"`
			}
			a.decode(t, &page)
			for _, item := range page.Items {
				ids = append(ids, fmt.Sprint(item.ID))
			}
			if page.Next == "" || a.status != http.StatusOK {
				break
			}
			path = c.path + "&cursor=" + page.Next
		}
		if got := strings.Join(ids, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.path, got, c.want)
		}
	}
}

func TestJobsArePausedAndResumed(t *testing.T) {
	h := start(t)
	h.schedulePost("Hello", time.Hour)
	h.update(func(tx *store.Tx) error {
		return tx.Holds.Extend("telegram:main", tx.Now().Add(2*time.Hour), store.Reason{Code: store.ReasonFlood})
	})
	var j api.Job
	h.api("GET", "/jobs/post_1", "").decode(t, &j)
	if j.Reason == nil || j.Reason.Code != "flood_wait" || j.Trigger.Text != "once" || j.State != "waiting" || j.Runs == nil {
		t.Errorf("a job whose lane is held: %+v", j)
	}
	for _, step := range []struct{ do, state string }{{"pause", "paused"}, {"resume", "waiting"}} {
		var j api.Job
		a := h.api("POST", "/jobs/post_1/"+step.do, "")
		a.decode(t, &j)
		if a.status != http.StatusOK || j.State != step.state {
			t.Errorf("%s: %d %s", step.do, a.status, a.body)
		}
	}
}

func TestALoginIsAddedChangedAndRemovedAndItsSecretNeverShown(t *testing.T) {
	h := start(t)
	const secret = "987654321:AAFsecretsecretsecretsecret"
	steps := []answered{
		h.api("POST", "/identities", `{"platform":"telegram","name":"second","token":"`+secret+`","target":"@second"}`),
		h.api("GET", "/identities", ""),
		h.api("PATCH", "/identities/2", `{"target":"@three"}`),
	}
	if steps[0].status != http.StatusCreated || !strings.Contains(steps[1].body, `"name":"second"`) || !strings.Contains(steps[2].body, "@three") {
		t.Errorf("%+v", steps)
	}
	h.signIn()
	steps = append(steps, h.get("/logins"), h.get("/logins/2/change"), h.get("/"))
	for _, a := range steps {
		if strings.Contains(a.body, "AAFsecret") {
			t.Errorf("the secret is shown: %s", a.body)
		}
	}
	if a := h.api("DELETE", "/identities/2", ""); a.status != http.StatusNoContent {
		t.Errorf("remove: %d %s", a.status, a.body)
	}
	h.schedulePost("Hello", time.Hour)
	if a := h.api("DELETE", "/identities/1", ""); a.status != http.StatusConflict {
		t.Errorf("removing a login that a post waits for: %d %s", a.status, a.body)
	}
}
