package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belfry/store"
)

// lanes measures what lanes cost each other: a lane that is always busy beside one with a post now and
// then, and the processor's time of a job among thousands of lanes that are idle or held.
func (b bench) lanes(ctx context.Context) ([]figure, error) {
	figures, err := b.busyLane(ctx)
	if err != nil {
		return nil, err
	}
	alone, err := b.among(ctx, 0, false)
	for name, held := range map[string]bool{"2,000 idle lanes": false, "2,000 held lanes": true} {
		var cost float64
		if err == nil {
			cost, err = b.among(ctx, 2000, held)
			figures = append(figures, figure{"cost among " + name, cost / alone, "times"})
		}
	}
	return append(figures, figure{"cost of a job alone", alone, "µs"}), err
}

// busyLane has a job due each millisecond in a lane of four, and four posts a second in another.
func (b bench) busyLane(ctx context.Context) ([]figure, error) {
	const seconds = 20
	db, err := b.open("lanes.db", false)
	if err != nil {
		return nil, err
	}
	busy, posts := newLateness(seconds*1000), newLateness(seconds*4)
	s := run(ctx, db, 4, func(job store.Job) {
		if job.Lane == "busy" {
			busy.note(job)
		} else {
			posts.note(job)
		}
	})
	begin := time.Now().Add(5 * time.Second)
	err = errors.Join(
		put(db, seconds*1000, "busy", "busy", func(i int) time.Time { return begin.Add(time.Duration(i) * time.Millisecond) }),
		put(db, seconds*4, "post", "posts", func(i int) time.Time { return begin.Add(time.Duration(i) * time.Second / 4) }))
	if err != nil {
		return nil, err
	}
	<-busy.done
	<-posts.done
	return []figure{
		{"busy lane p99 lateness", busy.percentile(0.99), "ms"},
		{"worst lateness beside a busy lane", posts.percentile(1), "ms"},
	}, errors.Join(s.stop(), db.Close())
}

// among returns the processor's time of a job in microseconds at 250 jobs a second, with others lanes in
// which something waits that is not due, or is due and held.
func (b bench) among(ctx context.Context, others int, held bool) (float64, error) {
	const perSecond, seconds = 250, 10
	db, err := b.open("among.db", false)
	if err != nil {
		return 0, err
	}
	begin := time.Now().Add(4 * time.Second)
	err = db.Update(func(tx *store.Tx) error {
		for i := range others {
			lane, due := fmt.Sprint("lane", i), begin.Add(time.Hour)
			if held {
				due = begin
				if err := tx.Holds.Extend(lane, begin.Add(time.Hour), store.Reason{Code: store.ReasonFlood}); err != nil {
					return err
				}
			}
			job := store.Job{Name: lane, Kind: "empty", Lane: lane, Trigger: store.Trigger{At: due},
				State: store.JobWaiting, Occurrence: due, Due: due}
			if err := tx.Jobs.Put(&job); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	late := newLateness(perSecond * seconds)
	s := run(ctx, db, 8, late.note)
	err = put(db, perSecond*seconds, "post", "posts", func(i int) time.Time {
		return begin.Add(time.Duration(i) * time.Second / perSecond)
	})
	if err != nil {
		return 0, err
	}
	<-time.After(time.Until(begin))
	before := used()
	<-late.done
	cost := used() - before
	return float64(cost.Microseconds()) / (perSecond * seconds), errors.Join(s.stop(), db.Close())
}
