package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"belfry/store"
)

// With 10,000 posts each page still opens in a moment, and a view of the store is short.
func TestPagesOpenQuicklyWithManyPosts(t *testing.T) {
	h := start(t)
	h.signIn()
	statuses := store.PostStatuses()
	h.update(func(tx *store.Tx) error {
		for i := range 10_000 {
			at := tx.Now().Add(time.Duration(i-5000) * time.Minute)
			p := store.Post{Platform: "telegram", IdentityID: 1, Target: "@evening_news", Text: fmt.Sprintf("<b>Post %d</b>\n\nand what it has to say", i),
				Format: "html", ScheduledTime: at, Status: statuses[1+i%(len(statuses)-1)], UpdatedAt: tx.Now()}
			if i >= 5000 {
				p.Status = store.PostScheduled
			}
			if err := tx.Posts.Put(&p); err != nil {
				return err
			}
			if p.Status != store.PostScheduled {
				continue
			}
			err := tx.Jobs.Put(&store.Job{Name: p.JobName(), Kind: "post", Subject: p.ID, Lane: "telegram:main", Trigger: store.Trigger{At: at},
				State: store.JobWaiting, Occurrence: at, Due: at.Add(time.Hour)})
			if err != nil {
				return err
			}
		}
		return nil
	})
	for _, path := range []string{"/", "/posts", "/posts?status=scheduled", "/posts/9000", "/jobs", "/posts/new", "/logins", "/health"} {
		h.get(path)
		fastest := time.Hour
		for range 5 {
			begin := time.Now()
			if a := h.get(path); a.status != http.StatusOK {
				t.Fatalf("%s: %d", path, a.status)
			}
			fastest = min(fastest, time.Since(begin))
		}
		t.Logf("%s: %s", path, fastest.Round(10*time.Microsecond))
		if fastest > 200*time.Millisecond {
			t.Errorf("%s takes %s", path, fastest)
		}
	}
}

// A broadcast to 100,000 chats is made in one request, and its page opens as quickly as any other.
func TestABroadcastToManyChats(t *testing.T) {
	h := start(t)
	h.account("anna")
	h.signIn()
	const chats = 100_000
	var targets strings.Builder
	for i := range chats {
		if i > 0 {
			targets.WriteByte(',')
		}
		if i%2 == 0 {
			fmt.Fprintf(&targets, "-100%d", 1_000_000_000+i)
		} else {
			fmt.Fprintf(&targets, `"@chat_%d"`, i)
		}
	}
	body := `{"text":"Hello","hold":true,"dry_run":true,"target_chat_ids":[` + targets.String() + `]}`
	began := time.Now()
	a := h.api("POST", "/tasks", body, "Idempotency-Key", "many")
	t.Logf("POST of %d chats in %d bytes: %s", chats, len(body), time.Since(began).Round(time.Millisecond))
	var made task
	a.decode(t, &made)
	if a.status != http.StatusCreated || made.Total != chats || made.Left != chats {
		t.Fatalf("%d %s", a.status, a.body)
	}
	h.api("POST", "/jobs/task_check_1/pause", "")
	began = time.Now()
	a = h.api("GET", "/tasks/1/deliveries.csv", "")
	t.Logf("the file with %d bytes: %s", len(a.body), time.Since(began).Round(time.Millisecond))
	if n := strings.Count(a.body, "\n"); n != chats+1 {
		t.Errorf("%d lines", n)
	}
	for _, path := range []string{"/", "/tasks", "/tasks/1", "/tasks/1?show=pending", "/tasks/1?show=unreachable", "/jobs"} {
		h.get(path)
		fastest := time.Hour
		for range 5 {
			begin := time.Now()
			if a := h.get(path); a.status != http.StatusOK {
				t.Fatalf("%s: %d", path, a.status)
			}
			fastest = min(fastest, time.Since(begin))
		}
		t.Logf("%s: %s", path, fastest.Round(10*time.Microsecond))
	}
}
