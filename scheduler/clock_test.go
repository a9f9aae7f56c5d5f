package scheduler

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"belfry/store"
)

const year = 365 * 24 * time.Hour

// Whatever the clock is set by, intervals go on, retries keep their length, times of day are not
// repeated after a small step back, and go on after a big one.
func TestTheClockIsSetByAnyAmount(t *testing.T) {
	for _, c := range []struct {
		step  time.Duration
		polls [2]int // runs of the interval in the ten minutes after
		daily int    // runs of 09:00 in the 26 hours after; the clock is set at half past nine
	}{
		{time.Hour, [2]int{10, 11}, 1},
		{-time.Hour, [2]int{9, 11}, 1},
		{10 * year, [2]int{5, 6}, 2}, // the first five minutes nothing, then what was missed and the next
		{-10 * year, [2]int{9, 11}, 1},
	} {
		t.Run(c.step.String(), func(t *testing.T) {
			inBubble(t, func(b *bench) {
				b.setClock(time.Date(2027, 5, 3, 8, 0, 0, 0, time.UTC).Sub(b.now()))
				b.kind("fails", func(context.Context, store.Job) (Outcome, error) { return Outcome{}, errors.New("no luck") })
				kind := b.cfg.Kinds["fails"]
				kind.Retry = Retry{Attempts: 2, Backoff: 20 * time.Minute}
				b.cfg.Kinds["fails"] = kind
				b.start()
				b.put(store.Job{Name: "poll", Lane: "a", Trigger: every(time.Minute)})
				b.put(store.Job{Name: "daily", Lane: "b", Trigger: store.Trigger{Times: []string{"09:00"}}})
				b.put(store.Job{Name: "far", Lane: "c", Trigger: b.in(40 * year)})
				b.pass(90*time.Minute - 5*time.Minute)
				b.put(store.Job{Name: "retried", Kind: "fails", Lane: "d", Trigger: b.in(time.Second)})
				b.pass(5 * time.Minute)
				_, before := b.begun()
				failed := time.Now()
				b.setClock(c.step)
				b.pass(10*time.Minute + time.Second)
				_, of := b.begun()
				if n := of["poll"] - before["poll"]; n < c.polls[0] || n > c.polls[1] {
					t.Errorf("%d runs of the interval", n)
				}
				if of["retried"] != 1 {
					t.Errorf("the retry began after %v, with 20 minutes to wait", time.Since(failed))
				}
				b.update(func(tx *store.Tx) error { return Delete(tx, "poll") })
				b.pass(5 * time.Minute)
				if _, of := b.begun(); of["retried"] != 2 {
					t.Error("the retry is late")
				}
				b.pass(26*time.Hour - 15*time.Minute)
				_, of = b.begun()
				if n := of["daily"] - before["daily"]; n != c.daily || of["far"] != 0 {
					t.Errorf("%d runs of the time of day, %d of the far post", n, of["far"])
				}
			})
		})
	}
}

func TestAMoveAfterAStepGoesOnAfterACrash(t *testing.T) {
	inBubble(t, func(b *bench) {
		hour := b.now().Add(2 * time.Hour)
		b.update(func(tx *store.Tx) error {
			for i := range 2*movePage + 10 { // each waits for its second attempt
				job := store.Job{Name: fmt.Sprint("post_", i), Kind: "noted", Lane: "lane", Trigger: once(tx.Now()),
					State: store.JobWaiting, Attempt: 1, Occurrence: tx.Now(), Due: hour}
				if err := tx.Jobs.Put(&job); err != nil {
					return err
				}
			}
			return nil
		})
		b.start()
		b.stop()
		b.setClock(-time.Hour)
		b.sched.moving, b.sched.unmoved = true, -time.Hour
		if more, err := b.sched.moveWaits(); err != nil || !more {
			t.Fatalf("after a page: more %v, %v", more, err)
		}
		b.start() // another process, which has not seen the step
		b.pass(settleTime + time.Minute)
		b.update(func(tx *store.Tx) error {
			for job, err := range tx.Jobs.All() {
				if err != nil {
					return err
				}
				if want := hour.Add(-time.Hour); !job.Due.Equal(want) {
					t.Fatalf("%s is due at %v, want %v", job.Name, job.Due, want)
				}
			}
			return nil
		})
	})
}

func TestAStartWithTheClockBeforeWhatTheFileHasSeen(t *testing.T) {
	prepare := func(b *bench, ahead time.Duration) {
		b.setClock(ahead)
		b.start()
		b.put(store.Job{Name: "poll", Lane: "a", Trigger: every(time.Minute)})
		b.put(store.Job{Name: "daily", Lane: "b", Trigger: store.Trigger{Times: []string{"09:00"}}})
		b.pass(10 * time.Hour)
		b.stop()
		b.put(store.Job{Name: "post", Lane: "c", Trigger: b.in(time.Hour)})
		b.pass(time.Minute)
	}
	t.Run("the clock is wrong and is corrected: nothing runs before, all goes on after", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			prepare(b, 0)
			_, before := b.begun()
			b.setClock(-30 * year)
			b.start()
			b.pass(4 * time.Minute)
			if _, of := b.begun(); of["poll"] != before["poll"] {
				t.Errorf("%d runs by a clock that is 30 years behind", of["poll"]-before["poll"])
			}
			if s := b.sched.Status(); s.Settling == 0 || s.Step > -29*year {
				t.Errorf("the status does not say why: %+v", s)
			}
			b.setClock(30 * year)
			b.pass(tick)
			if _, of := b.begun(); of["poll"] != before["poll"]+1 {
				t.Errorf("%d runs right after the correction", of["poll"]-before["poll"])
			}
			b.pass(time.Hour)
			if _, of := b.begun(); of["post"] != 1 {
				t.Errorf("%d runs of the post of in an hour", of["post"])
			}
		})
	})
	t.Run("what the file saw was wrong: after five minutes all goes on by the clock", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			prepare(b, 30*year)
			_, before := b.begun()
			b.setClock(-30 * year)
			b.start()
			b.pass(settleTime + 10*time.Minute + tick)
			if _, of := b.begun(); of["poll"]-before["poll"] < 9 {
				t.Errorf("%d runs of the interval in ten minutes", of["poll"]-before["poll"])
			}
			b.update(func(tx *store.Tx) error { return Delete(tx, "poll") })
			b.pass(24 * time.Hour)
			if _, of := b.begun(); of["daily"] != before["daily"]+1 {
				t.Errorf("%d runs of the time of day in a day", of["daily"]-before["daily"])
			}
			b.start() // and the file has seen the new time
			if wait := b.sched.Status().Settling; wait != 0 {
				t.Errorf("the next start waits %v", wait)
			}
		})
	})
	t.Run("an impossible clock is not believed, however long it takes", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			prepare(b, 0)
			_, before := b.begun()
			b.cfg.Plausible = b.now().Add(-year)
			b.setClock(-30 * year)
			b.start()
			b.pass(24 * time.Hour)
			if _, of := b.begun(); of["poll"] != before["poll"] {
				t.Errorf("%d runs", of["poll"]-before["poll"])
			}
		})
	})
}
