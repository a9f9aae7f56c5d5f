package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

func benchDB(b *testing.B, rows int) *DB {
	b.Helper()
	db, err := Open(filepath.Join(b.TempDir(), "belfry.db"), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	fill(b, db, rows)
	return db
}

func benchJob(i int) *Job {
	due := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * time.Second)
	return &Job{Name: fmt.Sprint("bench_", i), Kind: "bench", Lane: fmt.Sprint("telegram:id", i%10),
		Trigger: Trigger{At: due}, Due: due, State: JobWaiting}
}

// putBy puts n jobs by a number of callers at once and returns jobs a second.
func putBy(b *testing.B, db *DB, callers, n, from int) float64 {
	b.Helper()
	begin := time.Now()
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			for i := c; i < n; i += callers {
				if err := db.Update(func(tx *Tx) error { return tx.Jobs.Put(benchJob(from + i)) }); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return float64(n) / time.Since(begin).Seconds()
}

// others is how many other jobs are in the file.
func others() int {
	if *long {
		return 1_000_000
	}
	return 20_000
}

func BenchmarkPut(b *testing.B) {
	db, from := benchDB(b, others()), 0
	before := db.Commits()
	var alone, together []float64
	for b.Loop() {
		alone = append(alone, putBy(b, db, 1, 100, from))
		together = append(together, putBy(b, db, 64, 20_000, from+100))
		from += 20_100
	}
	slices.Sort(alone)
	slices.Sort(together)
	a, t := alone[len(alone)/2], together[len(together)/2]
	b.ReportMetric(a, "alone/s")
	b.ReportMetric(t, "64_callers/s")
	b.ReportMetric(t/a, "ratio")
	b.ReportMetric(float64(from)/float64(db.Commits()-before), "jobs/commit")
}

// A claim finds what is due in a lane, marks it as running, and lets it wait again.
func BenchmarkClaim(b *testing.B) {
	db := benchDB(b, others())
	const each = 20
	now := time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)
	for lane := 0; b.Loop(); lane++ {
		err := db.Update(func(tx *Tx) error {
			due := collect(tx.Jobs.Due(fmt.Sprint("telegram:id", lane%10), now), each)
			for i := range due {
				due[i].State, due[i].LeaseEnd = JobRunning, now
				due[i].Attempt++
				if err := tx.Jobs.Put(&due[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*each)/b.Elapsed().Seconds(), "claims/s")
}
