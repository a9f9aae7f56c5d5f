package web

import (
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"belfry/store"
	"belfry/web/api"
)

// pageCosts returns how many bytes each page allocates: what it reads and writes, however fast the machine is.
func pageCosts(t *testing.T, h *harness, paths []string) map[string]uint64 {
	t.Helper()
	costs := make(map[string]uint64, len(paths))
	for _, path := range paths {
		for range 6 { // what else happens just then counts too: the least is the page's
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			a := h.get(path)
			runtime.ReadMemStats(&after)
			if a.status != http.StatusOK {
				t.Fatalf("%s: %d", path, a.status)
			}
			if cost := after.TotalAlloc - before.TotalAlloc; costs[path] == 0 || cost < costs[path] {
				costs[path] = cost
			}
		}
	}
	return costs
}

// mustNotGrow fails where a page costs more because there is more that it does not show. What is done in the
// background costs something, too, but not as much as to read all of that.
func mustNotGrow(t *testing.T, few, many map[string]uint64) {
	t.Helper()
	for path, cost := range many {
		t.Logf("%s: %d kB among few, %d kB among many", path, few[path]>>10, cost>>10)
		if cost > 2*few[path]+1<<20 {
			t.Errorf("%s costs %d kB among few and %d kB among many", path, few[path]>>10, cost>>10)
		}
	}
}

func TestPagesCostTheSameAmongManyPosts(t *testing.T) {
	h := start(t)
	h.signIn()
	statuses := store.PostStatuses()
	add := func(from, to int) {
		h.update(func(tx *store.Tx) error {
			for i := from; i < to; i++ {
				at := tx.Now().Add(time.Duration(i+1) * time.Minute)
				p := store.Post{Platform: "telegram", IdentityID: 1, Target: "@evening_news", Text: fmt.Sprintf("<b>Post %d</b>\n\nand what it has to say", i),
					Format: "html", ScheduledTime: at, Status: statuses[1+i%(len(statuses)-1)], UpdatedAt: tx.Now()}
				if i%2 == 0 {
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
	}
	paths := []string{"/", "/posts", "/posts?status=scheduled", "/posts/100", "/jobs", "/posts/new", "/logins", "/health"}
	add(0, 600)
	few := pageCosts(t, h, paths)
	add(600, 10_000)
	mustNotGrow(t, few, pageCosts(t, h, paths))
}

func TestPagesCostTheSameForABroadcastToManyChats(t *testing.T) {
	h := start(t)
	h.account("anna")
	h.signIn()
	add := func(chats int) {
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
		a := h.api("POST", "/tasks", `{"text":"Hello","paused":true,"dry_run":true,"target_chat_ids":[`+targets.String()+`]}`, "Idempotency-Key", fmt.Sprint(chats))
		var made api.Task
		a.decode(t, &made)
		if a.status != http.StatusCreated || made.Total != chats || made.Left != chats {
			t.Fatalf("%d %s", a.status, a.body)
		}
		h.api("POST", fmt.Sprintf("/jobs/task_check_%d/pause", made.ID), "")
	}
	pages := func(id int) []string {
		task := fmt.Sprint("/tasks/", id)
		return []string{"/", "/tasks", task, task + "?show=pending", task + "?show=unreachable", "/jobs"}
	}
	add(1000)
	few := pageCosts(t, h, pages(1))
	const many = 100_000
	add(many)
	costs := pageCosts(t, h, pages(2))
	for _, path := range pages(2) {
		few[path] = few[strings.Replace(path, "/tasks/2", "/tasks/1", 1)]
	}
	mustNotGrow(t, few, costs)
	if a := h.api("GET", "/tasks/2/deliveries.csv", ""); strings.Count(a.body, "\n") != many+1 {
		t.Errorf("%d lines", strings.Count(a.body, "\n"))
	}
}

func TestPagesCostTheSameAmongManyAccounts(t *testing.T) {
	h := start(t)
	h.signIn()
	h.api("POST", "/pause", "")
	add := func(from, to int) {
		var text strings.Builder
		for i := from; i < to; i++ {
			fmt.Fprintf(&text, "name_%05d,a note,%s\\n", i, []string{"press", "city"}[i%2])
		}
		a := h.api("POST", "/accounts/import", `{"text":"`+text.String()+`"}`, "Idempotency-Key", fmt.Sprint(from))
		var report api.Imported
		if a.decode(t, &report); report.Added != to-from || len(report.Lines) != to-from {
			t.Fatalf("%d %.300s", a.status, a.body)
		}
		h.update(func(tx *store.Tx) error {
			for range (to - from) / 20 {
				c := store.AccountCheck{Status: store.AccountCheckDone, Began: tx.Now().Add(-time.Hour), Total: to, Checked: to, NotFound: to}
				if err := tx.AccountChecks.Begin(&c); err != nil {
					return err
				}
			}
			for i := from + 1; i <= to; i += 3 {
				account, err := tx.Accounts.Get(uint64(i))
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
	}
	paths := []string{"/", "/accounts", "/accounts?state=pending", "/accounts?tag=press&state=found", "/accounts?site=instagram", "/accounts?site=x",
		"/accounts?name=name_00599", "/accounts/500", "/accounts/new", "/jobs"}
	add(0, 600)
	few := pageCosts(t, h, paths)
	add(600, 10_000)
	mustNotGrow(t, few, pageCosts(t, h, paths))
}
