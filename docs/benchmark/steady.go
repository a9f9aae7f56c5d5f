package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"belfry/store"
)

// steady measures a thousand jobs each second for a minute.
func (b bench) steady(ctx context.Context) ([]figure, error) {
	return b.steadily(ctx, "steady", 1000, 60, 1)
}

// twentyLanes measures five thousand each second for half a minute, spread over twenty lanes.
func (b bench) twentyLanes(ctx context.Context) ([]figure, error) {
	return b.steadily(ctx, "twenty lanes", 5000, 30, 20)
}

func (b bench) steadily(ctx context.Context, name string, perSecond, seconds, lanes int) ([]figure, error) {
	db, s, late, begin, err := b.load(ctx, perSecond, seconds, lanes)
	if err != nil {
		return nil, err
	}
	<-time.After(time.Until(begin))
	written, err := bytesWritten()
	commits := db.Commits()
	<-late.done
	err = errors.Join(err, waitUntilGone(db, s, laneNames(lanes)...))
	commits = db.Commits() - commits
	after, afterErr := bytesWritten()
	runs := float64(perSecond * seconds)
	return []figure{
		{name + " p50 lateness", late.percentile(0.5), "ms"},
		{name + " p99 lateness", late.percentile(0.99), "ms"},
		{name + " worst lateness", late.percentile(1), "ms"},
		{name + " pages written for a run", float64(after-written) / float64(os.Getpagesize()) / runs, "pages"},
		{name + " commits for a run", float64(commits) / runs, ""},
	}, errors.Join(err, afterErr, s.stop(), db.Close())
}

// load puts jobs that are due one after the other from begin on, and starts what runs them.
func (b bench) load(ctx context.Context, perSecond, seconds, lanes int) (db *store.DB, s running, late *lateness, begin time.Time, err error) {
	if db, err = b.open("steady.db", false); err != nil {
		return nil, s, nil, begin, err
	}
	jobs := perSecond * seconds
	late = newLateness(jobs)
	s = run(ctx, db, 1024, late.note)
	begin = time.Now().Add(time.Duration(jobs)*100*time.Microsecond + 4*time.Second)
	for i, lane := range laneNames(lanes) {
		err = errors.Join(err, put(db, jobs/lanes, lane, lane, func(n int) time.Time {
			return begin.Add(time.Duration(n*lanes+i) * time.Second / time.Duration(perSecond))
		}))
	}
	if err == nil && time.Now().After(begin) {
		err = errors.New("the jobs were not in the file in time")
	}
	return db, s, late, begin, err
}

func laneNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("steady", i)
	}
	return names
}

// bytesWritten is what this process has written: to its files, but for a few bytes.
func bytesWritten() (n int64, err error) {
	text, err := os.ReadFile("/proc/self/io")
	if err == nil {
		_, err = fmt.Sscanf(string(text), "rchar: %d\nwchar: %d", new(int64), &n)
	}
	return n, err
}

// stall measures how soon a steady load is on time again after all commits were held up for two seconds.
func (b bench) stall(ctx context.Context) ([]figure, error) {
	const perSecond, seconds, slack = 1000, 8, 10 * time.Millisecond
	db, s, late, begin, err := b.load(ctx, perSecond, seconds, 1)
	if err != nil {
		return nil, err
	}
	<-time.After(time.Until(begin.Add(2 * time.Second)))
	var ended time.Time
	err = db.Update(func(*store.Tx) error {
		<-time.After(2 * time.Second)
		ended = time.Now()
		return nil
	})
	<-late.done
	return []figure{{"backlog after a stall", late.recovered(ended, slack).Seconds() * 1000, "ms"}},
		errors.Join(err, waitUntilGone(db, s, laneNames(1)...), s.stop(), db.Close())
}

// recovered returns how long after that moment it took until nothing waited that was late by more than slack.
func (l *lateness) recovered(from time.Time, slack time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.SortFunc(l.all, func(a, b begun) int { return a.due.Compare(b.due) })
	at := from // by then all that were due before this one have begun
	for _, run := range l.all {
		if run.due.Add(slack).After(at) {
			break
		}
		if run.at.After(at) {
			at = run.at
		}
	}
	return at.Sub(from)
}
