package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"belfry/store"
)

// The commands that the replaced system's documentation gives for a scheduled post, to the letter
// but for what they say must be replaced: token, address, content id and time.
const (
	documentedCreate = `curl -X POST http://localhost:8080/api/v1/content/create \
  -H "Authorization: Bearer YOUR_TOKEN" \
  -H "Content-Type: application/json" \
  -d '{
    "title": "Тестовый пост",
    "description": "Создай короткий пост о Python"
  }'`
	documentedSchedule = `curl -X POST http://localhost:8080/api/v1/scheduled-posts \
  -H "Authorization: Bearer YOUR_TOKEN" \
  -H "Content-Type: application/json" \
  -d '{
    "content_id": "CONTENT_ID_FROM_STEP_1",
    "platform": "telegram",
    "scheduled_time": "2025-11-14T12:01:00Z"
  }'`
	documentedGet = `curl -X GET http://localhost:8080/api/v1/scheduled-posts/1 \
  -H "Authorization: Bearer YOUR_TOKEN"`
	documentedList = `curl -X GET http://localhost:8080/api/v1/scheduled-posts?status=scheduled \
  -H "Authorization: Bearer YOUR_TOKEN"`
)

func TestTheDocumentedCommandsPublishAPostAtItsTime(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		if os.Getenv("BELFRY_NO_SKIP") != "" {
			t.Fatal("curl is not installed, and BELFRY_NO_SKIP allows no skip")
		}
		t.Skip("curl is not installed")
	}
	m := newMachine(t)
	token, channels := m.bot("curator_bot", "curator")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "TELEGRAM_CHAT=@curator")
	p, url := m.start()
	made, err := m.output("token", "curator")
	if err != nil {
		t.Fatal(err)
	}
	curl := func(command string, replace ...string) (answer map[string]any) {
		t.Helper()
		all := append([]string{"http://localhost:8080", strings.Replace(url, "127.0.0.1", "localhost", 1),
			"YOUR_TOKEN", strings.TrimSpace(made), "curl ", "curl --silent --show-error --fail-with-body "}, replace...)
		out, err := exec.Command("sh", "-c", strings.NewReplacer(all...).Replace(command)).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if err := json.Unmarshal(out, &answer); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return answer
	}

	m.waitForLogin(url)
	channelsPage, err := os.ReadFile("../../docs/channels.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(strings.ReplaceAll(string(channelsPage), "\\\n", "")) {
		if strings.HasPrefix(line, "    curl ") {
			curl(line, "localhost:8080", strings.TrimPrefix(url, "http://"), "$TOKEN", strings.TrimSpace(made))
		}
	}
	content := curl(documentedCreate)
	id, err := json.Marshal(content["content_id"])
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(4 * time.Second).Truncate(time.Second)
	post := curl(documentedSchedule, "CONTENT_ID_FROM_STEP_1", string(id), "2025-11-14T12:01:00Z", at.UTC().Format(time.RFC3339))
	if post["id"] != 1.0 || post["status"] != "scheduled" {
		t.Errorf("scheduling answered %v", post)
	}
	if listed := curl(documentedList); len(listed["items"].([]any)) != 1 {
		t.Errorf("the list is %v", listed)
	}

	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if err := m.tg.Await(ctx, channels[0].ID, 1); err != nil {
		t.Fatalf("%v\n%s", err, p.log)
	}
	message := m.tg.Messages(channels[0].ID)[0]
	late := message.At.Sub(at)
	t.Logf("the message was in the channel %v after its time", late)
	if late < 0 || late > time.Second {
		t.Errorf("the message was in the channel %v after its time", late)
	}
	if message.Text != "Тестовый пост\n\nСоздай короткий пост о Python" {
		t.Errorf("the message says %q", message.Text)
	}
	for status := ""; status != string(store.PostPublished); {
		answer := curl(documentedGet)
		if status, _ = answer["status"].(string); status == string(store.PostPublished) && answer["link"] != fmt.Sprint("https://t.me/curator/", message.ID) {
			t.Errorf("published as %v", answer)
		}
		if ctx.Err() != nil {
			t.Fatalf("the status is still %q", status)
		}
	}
	p.stop()
	m.mustCheck()
}
