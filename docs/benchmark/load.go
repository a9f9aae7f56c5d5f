package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"belfry/scheduler"
	"belfry/store"
)

// lateness collects how late runs began.
type lateness struct {
	mu   sync.Mutex
	all  []begun
	want int
	done chan struct{} // closed when all have begun
}

// begun is when a run was due, and when it began.
type begun struct{ due, at time.Time }

func newLateness(want int) *lateness {
	return &lateness{all: make([]begun, 0, want), want: want, done: make(chan struct{})}
}

func (l *lateness) note(job store.Job) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all = append(l.all, begun{job.Occurrence, now}); len(l.all) == l.want {
		close(l.done)
	}
}

func (l *lateness) percentile(p float64) float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	late := make([]time.Duration, len(l.all))
	for i, run := range l.all {
		late[i] = run.at.Sub(run.due)
	}
	slices.Sort(late)
	return late[min(len(late)-1, int(p*float64(len(late))))].Seconds() * 1000
}

// put puts n jobs, each at its time, a few thousand with each commit.
func put(db *store.DB, n int, name, lane string, at func(i int) time.Time) error {
	const batch = 5000
	for from := 0; from < n; from += batch {
		err := db.Update(func(tx *store.Tx) error {
			for i := from; i < min(n, from+batch); i++ {
				job := store.Job{Name: fmt.Sprint(name, "_", i), Kind: "empty", Lane: lane, Trigger: store.Trigger{At: at(i)}}
				if err := scheduler.Put(tx, job); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// waitUntilGone waits until no job of the lanes is in the file any more: until the last end is on
// the disk.
func waitUntilGone(db *store.DB, s running, lanes ...string) error {
	for tries := 0; ; tries++ {
		left := false
		err := db.View(func(tx *store.Tx) error {
			for _, lane := range lanes {
				for range tx.Jobs.Queue(lane) {
					left = true
					break
				}
			}
			for range tx.Jobs.Running() {
				left = true
				break
			}
			return nil
		})
		if err != nil || !left {
			return err
		}
		if tries%1000 == 999 && s.Status().Problem != "" {
			return errors.New(s.Status().Problem)
		}
		<-time.After(time.Millisecond)
	}
}

// burst measures jobs that are due at the same instant.
func (b bench) burst(ctx context.Context) ([]figure, error) {
	db, err := b.open("burst.db", false)
	if err != nil {
		return nil, err
	}
	figures, err := b.burstIn(ctx, db, "burst", b.limit)
	return figures, errors.Join(err, db.Close())
}

// oneLane measures the same in a lane that runs one job at a time, as that of a Telegram login.
func (b bench) oneLane(ctx context.Context) ([]figure, error) {
	db, err := b.open("onelane.db", false)
	if err != nil {
		return nil, err
	}
	b.jobs = min(b.jobs, 2000)
	figures, err := b.burstIn(ctx, db, "one lane", 1)
	return figures, errors.Join(err, db.Close())
}

func (b bench) burstIn(ctx context.Context, db *store.DB, name string, limit int) ([]figure, error) {
	late := newLateness(b.jobs)
	s := run(ctx, db, limit, late.note)
	at := time.Now().Add(time.Duration(b.jobs)*100*time.Microsecond + b.pause)
	if err := put(db, b.jobs, "post", "burst", func(int) time.Time { return at }); err != nil {
		return nil, err
	}
	if time.Now().After(at) {
		return nil, errors.New("the jobs were not in the file in time")
	}
	<-time.After(time.Until(at))
	commits := db.Commits()
	if err := waitUntilGone(db, s, "burst"); err != nil {
		return nil, err
	}
	took := time.Since(at)
	commits = db.Commits() - commits
	<-late.done
	return []figure{
		{name, float64(b.jobs) / took.Seconds(), "runs/s"},
		{name + " p99 lateness", late.percentile(0.99), "ms"},
		{name + " commits", float64(commits), ""},
	}, s.stop()
}

// put measures callers who each put a job and wait until it is on the disk: many at once, and one.
func (b bench) put(ctx context.Context) ([]figure, error) {
	const callers = 64
	many, commits, err := b.putBy(ctx, callers, 1000)
	if err != nil {
		return nil, err
	}
	one, _, err := b.putBy(ctx, 1, 3000)
	return []figure{
		{"put by 64 callers", many, "jobs/s"},
		{"commits of 64 callers for 1,000 jobs", 1000 * float64(commits) / (callers * 1000), ""},
		{"put", one, "jobs/s"},
	}, err
}

// putBy returns the jobs that are put in a second, and the commits that it took.
func (b bench) putBy(ctx context.Context, callers, each int) (perSecond float64, commits uint64, err error) {
	db, err := b.open("put.db", false)
	if err != nil {
		return 0, 0, err
	}
	s := run(ctx, db, 1, func(store.Job) {})
	begin, before := time.Now(), db.Commits()
	err = putAtOnce(db, "post", callers, each)
	took := time.Since(begin)
	commits = db.Commits() - before
	return float64(callers*each) / took.Seconds(), commits, errors.Join(err, s.stop(), db.Close())
}

// putAtOnce has each of the callers put jobs that are due in a year, one with each update.
func putAtOnce(db *store.DB, name string, callers, each int) error {
	at := time.Now().Add(365 * 24 * time.Hour)
	failed := make(chan error, callers)
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			for i := range each {
				err := db.Update(func(tx *store.Tx) error {
					return scheduler.Put(tx, store.Job{Name: fmt.Sprint(name, "_", c, "_", i), Kind: "empty",
						Lane: "lane", Trigger: store.Trigger{At: at}})
				})
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	all.Wait()
	close(failed)
	return <-failed
}
