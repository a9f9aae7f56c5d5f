package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/ai"
	"belfry/platform/ai/aitest"
	"belfry/store"
	"belfry/web/api"
	"belfry/worker/tasks"
)

// The command of the document of the system that Belfry replaced, as it is: with a token.
func TestTheDocumentedRuleIsMadeWithCurlAndPosts(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed: apt-get install curl")
	}
	h := start(t)
	command := strings.NewReplacer("http://localhost:8080", h.base, "YOUR_TOKEN", testToken).Replace(`curl -sS -X POST http://localhost:8080/api/v1/auto-posting/rules \
  -H "Authorization: Bearer YOUR_TOKEN" \
  -H "Content-Type: application/json" \
  -d '{
    "name": "Тестовое правило",
    "schedule_type": "daily",
    "schedule_config": {
      "times": ["12:05"],
      "days_of_week": [1,2,3,4,5,6,7]
    },
    "content_config": {
      "title": "Ежедневный пост",
      "description": "Создай пост о технологиях"
    },
    "platforms": ["telegram"]
  }'`)
	out, err := exec.Command("bash", "-c", command).CombinedOutput()
	var made api.Rule
	if err != nil || json.Unmarshal(out, &made) != nil || made.ID != 1 {
		t.Fatalf("%v: %s", err, out)
	}
	if next := made.NextAt; next.Format("15:04:05") != "12:05:00" || next.Sub(h.now()) > 24*time.Hour || !made.Active || !strings.Contains(made.Note, "AI") {
		t.Errorf("%+v", made)
	}
	if a := h.api("POST", "/auto-posting/rules/1/run", ""); a.status != http.StatusOK {
		t.Fatal(a.status, a.body)
	}
	var list api.List[api.Post]
	for end := time.Now().Add(20 * time.Second); len(list.Items) == 0 && time.Now().Before(end); {
		h.api("GET", "/scheduled-posts", "").decode(t, &list)
	}
	if len(list.Items) != 1 || list.Items[0].RuleID != 1 || list.Items[0].Text != "Ежедневный пост\n\nСоздай пост о технологиях" {
		t.Errorf("posts %+v", list.Items)
	}
}

func TestRulesAreListedChangedPreviewedAndRemoved(t *testing.T) {
	h := start(t)
	body := `{"name":"List","schedule_type":"interval","schedule_config":{"every":"6h","zone":"Europe/Moscow"},"content_config":{"source":"list","items":["a","b"],"approval":true},"platforms":["telegram"],"accounts":["1"]}`
	first := h.api("POST", "/auto-posting/rules", body, "Idempotency-Key", "one")
	if again := h.api("POST", "/auto-posting/rules", body, "Idempotency-Key", "one"); first.status != http.StatusCreated || again.body != first.body {
		t.Fatal(first.status, first.body, again.body)
	}
	var shown api.Rule
	ask := func(method, path, body string) api.Rule {
		t.Helper()
		a := h.api(method, "/auto-posting/rules/1"+path, body)
		if a.status != http.StatusOK {
			t.Fatal(method, path, a.status, a.body)
		}
		shown = api.Rule{}
		a.decode(t, &shown)
		return shown
	}
	if ask("GET", "", ""); shown.Content.Order != "once" || shown.Schedule.Every != "6h0m0s" || shown.NextAt.Before(h.now()) {
		t.Errorf("%+v", shown)
	}
	if ask("PATCH", "", `{"name":"Other","schedule_type":"weekly","schedule_config":{"day_of_week":1,"time":"09:00","zone":"Europe/Moscow"}}`); shown.Name != "Other" || shown.Words != "Mon at 09:00, Moscow" && !strings.Contains(shown.Words, "09:00") {
		t.Errorf("%+v", shown)
	}
	if ask("POST", "/pause", ""); !shown.Paused || shown.Reason == nil {
		t.Errorf("%+v", shown)
	}
	if ask("POST", "/resume", ""); shown.Paused {
		t.Errorf("%+v", shown)
	}
	var dry api.DryRun
	h.api("POST", "/auto-posting/rules/1/dry-run", "").decode(t, &dry)
	if len(dry.Posts) != 1 || dry.Posts[0].Text != "a" || dry.Posts[0].IdentityID != 1 {
		t.Errorf("%+v", dry)
	}
	var preview api.Preview
	h.api("GET", "/auto-posting/rules/1/preview?count=3", "").decode(t, &preview)
	if len(preview.Items) != 3 || preview.Text != shown.Words || !strings.Contains(preview.Items[0].Local, "T09:00:00+03:00") {
		t.Errorf("%+v", preview)
	}
	h.api("POST", "/auto-posting/rules/preview", `{"schedule_type":"daily","schedule_config":{"times":["02:30"],"zone":"Europe/Berlin"},"count":100}`).decode(t, &preview)
	if len(preview.Items) != 100 {
		t.Errorf("%+v", preview)
	}
	var list api.List[api.Rule]
	if h.api("GET", "/auto-posting/rules", "").decode(t, &list); len(list.Items) != 1 {
		t.Errorf("%+v", list)
	}
	if a := h.api("PATCH", "/auto-posting/rules/1", `{"is_active":false}`); a.status != http.StatusOK {
		t.Error(a.status, a.body)
	}
	if a := h.api("POST", "/auto-posting/rules/1/run", ""); a.status != http.StatusConflict {
		t.Error(a.status, a.body)
	}
	if a := h.api("DELETE", "/auto-posting/rules/1", ""); a.status != http.StatusNoContent {
		t.Error(a.status, a.body)
	}
	if a := h.api("GET", "/auto-posting/rules/1", ""); a.status != http.StatusNotFound {
		t.Error(a.status, a.body)
	}
}

func TestRefusedRulesNameTheFieldAndTheCure(t *testing.T) {
	h := start(t)
	for field, change := range map[string][2]string{
		"platforms[0]":          {`["telegram"]`, `["instagram"]`},
		"accounts[0]":           {`"platforms"`, `"accounts":[7],"platforms"`},
		"content_config.source": {`{"title":"x"}`, `{"title":"x","source":"ai"}`},
		"schedule_config.times": {`{"times":["09:00"]}`, `{}`},
		"schedule_config.time_": {`{"times":["09:00"]}`, `{"time_":"09:00"}`},
		"schedule_type":         {`"daily"`, `"yearly"`},
	} {
		body := `{"name":"R","schedule_type":"daily","schedule_config":{"times":["09:00"]},"content_config":{"title":"x"},"platforms":["telegram"]}`
		a := h.api("POST", "/auto-posting/rules", strings.Replace(body, change[0], change[1], 1))
		if p := a.problem(t); a.status != http.StatusUnprocessableEntity || len(p.Errors) != 1 || p.Errors[0].Field != field || p.Errors[0].Problem == "" {
			t.Errorf("%s: %d %s", field, a.status, a.body)
		}
	}
}

// startWithAI is start with an AI. Each question waits until mayAnswer gives something, unless it is nil.
func startWithAI(t *testing.T, mayAnswer chan struct{}) (*harness, *aitest.Server) {
	t.Helper()
	server := aitest.New()
	t.Cleanup(server.Close)
	client, err := ai.New(ai.Config{Base: server.Base(), Key: aitest.Key})
	if err != nil {
		t.Fatal(err)
	}
	return startWith(t, func(h *harness) (tasks.Network, platform.Logins) {
		h.sources.Draw, h.sources.Write = client.Draw, func(ctx context.Context, m []ai.Message) (ai.Text, error) {
			if mayAnswer != nil {
				<-mayAnswer
			}
			return client.Write(ctx, m)
		}
		h.network, h.accounts = newChatNetwork(t), &memoryAccounts{db: h.db, steps: make(map[uint64]platform.LoginStep)}
		return h.network, h.accounts
	}), server
}

func TestContentsAreWrittenByTheAI(t *testing.T) {
	h, server := startWithAI(t, nil)
	var made api.Content
	h.api("POST", "/content/create", `{"title":"Spring","description":"A short post"}`).decode(t, &made)
	if made.Text != "Text 1" || !strings.Contains(made.Note, "AI") {
		t.Errorf("%+v", made)
	}
	server.Fail(aitest.Cut)
	if a := h.api("POST", "/content/create", `{"title":"Spring"}`); a.status != http.StatusConflict || !strings.Contains(a.body, "cut off") {
		t.Error(a.status, a.body)
	}
	h.signIn()
	if a := h.get("/rules"); !strings.Contains(a.body, "The AI today: 2 of 500 requests, 200 of 1,000,000 tokens") {
		t.Error(a.body)
	}
	h.view(func(tx *store.Tx) error {
		spent, err := h.rules.Spent(tx)
		if err == nil && (spent.Requests != 2 || spent.Tokens != 200) {
			err = fmt.Errorf("counted %+v", spent)
		}
		return err
	})
	made = api.Content{}
	if h.api("POST", "/content/create", `{"title":"Spring","text":"Hello","picture":true}`).decode(t, &made); len(made.Media) != 1 || made.Media[0].Kind != "photo" || made.Media[0].ID != 1 || made.Text != "Hello" {
		t.Errorf("%+v", made)
	}
	if a := h.get("/media/1/file"); a.header.Get("Content-Type") != "image/jpeg" || len(a.body) == 0 {
		t.Error(a.status, a.header)
	}
}

// Without a script, a button of the form of a text answers with the whole page.
func TestOwnersHaveTextsAndPicturesMadeByTheAI(t *testing.T) {
	h, server := startWithAI(t, nil)
	h.signIn()
	form := []string{"form", "one", "title", "Spring", "description", "Trams", "format", "plain", "text", "mine", "do"}
	if a := h.submit("/contents/new", append(form, "write")...); a.status != http.StatusOK || !strings.Contains(a.body, "mine\n\nText 1</textarea>") || !strings.Contains(a.body, "1 of 500 requests") {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/contents/new", append(form, "draw")...); a.status != http.StatusOK || !strings.Contains(a.body, `value="upload:1"`) || !strings.Contains(a.body, "400 of 1,000,000 tokens") {
		t.Error(a.status, a.body)
	}
	if calls := server.Calls(); len(calls) != 2 || !strings.Contains(calls[1].Prompt, "Title: Spring\nTask: Trams") {
		t.Errorf("%+v", calls)
	}
	server.Fail(aitest.Down)
	if a := h.submit("/contents/new", append(form, "draw")...); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "503") || !strings.Contains(a.body, "mine</textarea>") {
		t.Error(a.status, a.body)
	}
	if a := h.submit("/contents/new", "form", "one", "do", "write"); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "say what the posts are about") {
		t.Error(a.status, a.body)
	}
	h.update(func(tx *store.Tx) error {
		return tx.Settings.Set("ai.spent", fmt.Sprintf(`{"day":%q,"requests":500}`, h.now().UTC().Format(time.DateOnly)))
	})
	for _, do := range []string{"write", "draw"} {
		if a := h.submit("/contents/new", append(form, do)...); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "daily limit of the AI is reached") {
			t.Error(do, a.status, a.body)
		}
	}
	if len(server.Calls()) != 3 {
		t.Errorf("%d calls", len(server.Calls()))
	}

	without := start(t)
	without.signIn()
	if a := without.get("/contents/new"); !strings.Contains(a.body, "No AI is set up") || strings.Contains(a.body, `value="write"`) {
		t.Error(a.body)
	}
	if a := without.submit("/contents/new", append(form, "write")...); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "No AI is set up: set OPENAI_BASE_URL") {
		t.Error(a.status, a.body)
	}
	if a := without.api("POST", "/content/create", `{"title":"Spring","text":"Hello","picture":true}`); a.status != http.StatusConflict || !strings.Contains(a.body, "OPENAI_BASE_URL") {
		t.Error(a.status, a.body)
	}
}
