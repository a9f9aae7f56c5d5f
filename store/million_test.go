package store

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// fill puts n jobs into the file, in commits of 10,000.
func fill(tb testing.TB, db *DB, n int) {
	tb.Helper()
	begin := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for first := 0; first < n; first += 10_000 {
		err := db.Update(func(tx *Tx) error {
			for i := first; i < min(first+10_000, n); i++ {
				due := begin.Add(time.Duration(i) * time.Second)
				err := tx.Jobs.Put(&Job{Name: fmt.Sprint("post_", i), Kind: "post", Subject: uint64(i),
					Lane: fmt.Sprint("telegram:id", i%10), Trigger: Trigger{At: due}, Due: due, State: JobWaiting})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func TestAFileWithManyJobsOpensAtOnce(t *testing.T) {
	n, path := 20_000, filepath.Join(t.TempDir(), "belfry.db")
	if *long {
		n = 1_000_000
	}
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, db, n)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if db, err = Open(path, Options{Verifier: verifier()}); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	defer db.Close()
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	t.Logf("%d jobs: open in %s, heap %d MiB", n, took, memory.HeapAlloc>>20)
	if took > 200*time.Millisecond {
		t.Errorf("open took %s", took)
	}
	if memory.HeapAlloc > 32<<20 {
		t.Errorf("heap %d MiB", memory.HeapAlloc>>20)
	}
	if !db.clean {
		t.Error("a file that was closed was verified as if it had not been")
	}
}

// To list and to count does not cost more where there are more jobs: it prints what it takes, and judges what is found.
func TestManyJobsAreListedAndCountedAtOnce(t *testing.T) {
	n := 20_000
	if *long {
		n = 1_000_000
	}
	db := newDB(t, Options{})
	fill(t, db, n)
	mustUpdate(t, db, func(tx *Tx) error {
		for id := uint64(1); id <= 1000; id++ {
			job, err := tx.Jobs.Get(id * uint64(n/1000))
			if err != nil {
				return err
			}
			job.State, job.Tags = JobPaused, []string{"rare"}
			if id%2 == 0 {
				job.State, job.LeaseEnd = JobRunning, job.Due
			}
			if err := tx.Jobs.Put(&job); err != nil {
				return err
			}
		}
		return nil
	})
	timed := func(what string, fn func(tx *Tx)) {
		begin := time.Now()
		err := db.View(func(tx *Tx) error { fn(tx); return nil })
		took := time.Since(begin)
		t.Logf("%d jobs: %s in %s", n, what, took)
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	timed("count", func(tx *Tx) {
		counts := tx.Jobs.Counts()
		states := counts.ByState()
		if counts.Total() != n || counts.Active() != n-500 || states[JobPaused] != 500 || states[JobRunning] != 500 {
			t.Errorf("counted %v", counts)
		}
	})
	for _, q := range []JobQuery{{}, {Kind: "post"}, {State: JobWaiting}, {State: JobRunning}, {State: JobPaused}, {Kind: "post", State: JobPaused}} {
		timed(fmt.Sprintf("list %q %q", q.Kind, q.State), func(tx *Tx) {
			page, err := tx.Jobs.List(q)
			if err != nil || len(page.Items) != 50 || page.Next == "" {
				t.Errorf("%d items, next %q, %v", len(page.Items), page.Next, err)
			}
		})
	}
	timed("list a tag that is rare", func(tx *Tx) {
		if page, err := tx.Jobs.List(JobQuery{Tag: "none"}); err != nil || len(page.Items) != 0 || page.Next == "" {
			t.Errorf("%d items, next %q, %v", len(page.Items), page.Next, err)
		}
	})
	mustVerify(t, db)
}
