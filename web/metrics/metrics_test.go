package metrics

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

var long = flag.Bool("long", false, "also run the long forms of the tests")

// watched opens a file whose metrics are watched.
func watched(t *testing.T) (*store.DB, *Metrics) {
	t.Helper()
	m := New("1.2.3", "abc", zerolog.Nop())
	db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{Committed: m.Committed})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	posts := worker.Counts(db, "belfry_posts", "Posts.", []string{"platform", "status"}, [][]string{{"twitter", "failed"}, {"twitter", "scheduled"}}, func(tx *store.Tx) []store.Count { return tx.Posts.Counts() })
	m.Watch(db, scheduler.New(db, scheduler.Config{Kinds: map[string]scheduler.Kind{"post": {}}}), []prometheus.Collector{posts})
	return db, m
}

func scraped(t *testing.T, m *Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if answer.Code != 200 {
		t.Fatalf("%d %s", answer.Code, answer.Body)
	}
	return answer.Body.String()
}

func wantLines(t *testing.T, body string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(body, line+"\n") {
			t.Errorf("%s is missing", line)
		}
	}
	if t.Failed() {
		t.Log(body)
	}
}

func TestWhatIsInTheFileIsMeasured(t *testing.T) {
	db, m := watched(t)
	due := time.Now().Add(time.Hour)
	err := db.Update(func(tx *store.Tx) error {
		for i := range 3 {
			job := store.Job{Name: fmt.Sprint("post_", i), Kind: "post", Lane: "telegram:main", State: store.JobWaiting, Due: due, Trigger: store.Trigger{At: due}}
			if i == 0 {
				job.State = store.JobPaused
			}
			if err := tx.Jobs.Put(&job); err != nil {
				return err
			}
		}
		if err := tx.Posts.Put(&store.Post{Platform: "twitter", Status: store.PostScheduled}); err != nil {
			return err
		}
		return tx.Identities.Put(&store.Identity{Name: "main", Platform: "telegram"})
	})
	if err != nil {
		t.Fatal(err)
	}
	wantLines(t, scraped(t, m),
		`belfry_jobs{kind="post",state="waiting"} 2`, `belfry_jobs{kind="post",state="paused"} 1`,
		`belfry_posts{platform="twitter",status="scheduled"} 1`, `belfry_posts{platform="twitter",status="failed"} 0`, `belfry_lane_running{lane="telegram:main"} 0`,
		`belfry_job_runs_total{kind="post",result="failed"} 0`, `belfry_backup_last_success_timestamp_seconds 0`,
		`belfry_store_commit_seconds_count 1`, fmt.Sprintf("belfry_job_next_run_timestamp_seconds %v", float64(due.UnixNano())/1e9))
	if err := db.Update(func(tx *store.Tx) error { return tx.Settings.NoteBackup() }); err != nil {
		t.Fatal(err)
	}
	if body := scraped(t, m); strings.Contains(body, "belfry_backup_last_success_timestamp_seconds 0\n") || !strings.Contains(body, `belfry_build_info{commit="abc",goversion="go`) {
		t.Error(body)
	}
}

func TestRunsAreMeasuredByTheirKind(t *testing.T) {
	_, m := watched(t)
	begun := time.Now()
	m.Ran(store.Run{Kind: "post", Result: store.ResultDone, Started: begun, Ended: begun.Add(2 * time.Second)}, begun.Add(-10*time.Second))
	m.Ran(store.Run{Kind: "post", Result: store.ResultFailed, Attempt: 2, Started: begun, Ended: begun}, begun)
	m.Ran(store.Run{Kind: "post", Result: store.ResultSkipped}, time.Time{})
	wantLines(t, scraped(t, m),
		`belfry_job_lateness_seconds_bucket{kind="post",le="5"} 1`, `belfry_job_lateness_seconds_sum{kind="post"} 10`, `belfry_job_lateness_seconds_count{kind="post"} 2`,
		`belfry_job_run_seconds_sum{kind="post"} 2`, `belfry_job_retries_total{kind="post"} 1`,
		`belfry_job_runs_total{kind="post",result="done"} 1`, `belfry_job_runs_total{kind="post",result="failed"} 1`, `belfry_job_runs_total{kind="post",result="skipped"} 1`)
}

func TestAScrapeOfManyJobsIsCheap(t *testing.T) {
	n := 20_000
	if *long {
		n = 1_000_000
	}
	db, m := watched(t)
	due := time.Now().Add(time.Hour)
	for first := 0; first < n; first += 10_000 {
		err := db.Update(func(tx *store.Tx) error {
			for i := first; i < first+10_000; i++ {
				job := store.Job{Name: fmt.Sprint("post_", i), Kind: "post", Lane: fmt.Sprint("telegram:id", i%10), State: store.JobWaiting, Due: due, Trigger: store.Trigger{At: due}}
				if err := tx.Jobs.Put(&job); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	scraped(t, m) // the first one makes its buffers
	least := time.Hour
	for range 5 {
		begun := time.Now()
		body := scraped(t, m)
		least = min(least, time.Since(begun))
		wantLines(t, body, fmt.Sprintf(`belfry_jobs{kind="post",state="waiting"} %v`, float64(n)))
	}
	t.Logf("%d jobs: a scrape takes %s", n, least)
	if least > 20*time.Millisecond {
		t.Errorf("a scrape takes %s", least)
	}
}
