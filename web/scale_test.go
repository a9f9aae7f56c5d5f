package web

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"belfry/store"
)

// The times of pages with 10,000 posts are printed.
func TestPagesWithManyPosts(t *testing.T) {
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

// A list of 10,000 accounts is added in one request; that and the times of their pages are printed.
func TestPagesWithManyAccounts(t *testing.T) {
	h := start(t)
	h.signIn()
	h.api("POST", "/pause", "")
	const many = 10_000
	var text strings.Builder
	for i := range many {
		fmt.Fprintf(&text, "name_%d,a note,%s\\n", i, []string{"press", "city"}[i%2])
	}
	began := time.Now()
	a := h.api("POST", "/accounts/import", `{"text":"`+text.String()+`"}`, "Idempotency-Key", "many")
	t.Logf("POST of %d accounts: %s", many, time.Since(began).Round(time.Millisecond))
	var report imported
	if a.decode(t, &report); report.Added != many || len(report.Lines) != many {
		t.Fatalf("%d %.300s", a.status, a.body)
	}
	h.update(func(tx *store.Tx) error {
		for i := range 400 {
			c := store.AccountCheck{Status: store.AccountCheckDone, Began: tx.Now().Add(-time.Duration(400-i) * time.Hour), Total: many, Checked: many, NotFound: many}
			if err := tx.AccountChecks.Begin(&c); err != nil {
				return err
			}
		}
		for i := uint64(1); i <= many; i += 3 {
			account, err := tx.Accounts.Get(i)
			if err != nil {
				return err
			}
			account.State, account.FoundAt, account.CheckedAt = store.AccountFound, tx.Now(), tx.Now()
			if err := tx.Accounts.Put(&account); err != nil {
				return err
			}
		}
		return nil
	})
	paths := []string{"/", "/accounts", "/accounts?state=pending", "/accounts?tag=press&state=found", "/accounts?site=instagram", "/accounts?site=x",
		"/accounts?name=name_9999", "/accounts/5000", "/accounts/new", "/jobs"}
	for _, path := range paths {
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
