package scheduler

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"belfry/store"
)

const year = 365 * 24 * time.Hour

// Whatever the clock is set by, intervals go on, retries keep their length unless their time lies ahead
// again, times of day are not repeated after a small step back, and go on after a big one.
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
				job, _ := b.job("retried")
				if _, of := b.begun(); c.step > 0 && of["retried"] != 2 {
					t.Error("the retry is late")
				} else if c.step < 0 && (of["retried"] != 1 || !job.Due.Equal(job.Occurrence)) {
					t.Errorf("what was tried before its time is tried again at %v, not at its time %v", job.Due, job.Occurrence)
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

func TestARunThatIsAskedForBeforeAStepIsNoticedBeginsInTime(t *testing.T) {
	for _, step := range []time.Duration{time.Hour, 20 * time.Hour, 24 * 24 * time.Hour, -time.Hour, -24 * 24 * time.Hour} {
		for _, when := range []string{"before", "after"} {
			t.Run(fmt.Sprint(step, " ", when), func(t *testing.T) {
				inBubble(t, func(b *bench) {
					b.start()
					b.put(store.Job{Name: "channel", Lane: "a", Trigger: every(24 * time.Hour)})
					b.pass(90 * time.Second)
					ask := func() {
						b.update(func(tx *store.Tx) error { _, err := RunNow(tx, "channel"); return err })
					}
					if when == "before" { // and held, so that it does not begin before the step
						b.update(func(tx *store.Tx) error { return tx.Holds.Extend("a", b.now().Add(30*time.Second), store.Reason{}) })
						ask()
					}
					b.setClock(step)
					if when == "after" {
						ask()
					}
					b.pass(settleTime + 2*time.Minute)
					if _, of := b.begun(); of["channel"] == 0 {
						job, _ := b.job("channel")
						t.Errorf("it was not begun, and is due at %v, now %v", job.Due, b.now())
					}
				})
			})
		}
	}
}

func TestAMoveAfterAStepGoesOnAfterACrash(t *testing.T) {
	inBubble(t, func(b *bench) {
		hour := b.now().Add(2 * time.Hour)
		b.update(func(tx *store.Tx) error {
			for i := range 2*movePage + 10 { // each waits for its second attempt
				ago := tx.Now().Add(-2 * time.Hour)
				job := store.Job{Name: fmt.Sprint("post_", i), Kind: "noted", Lane: "lane", Trigger: once(ago),
					State: store.JobWaiting, Attempt: 1, Occurrence: ago, Due: hour}
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
			for job := range tx.Jobs.All() {
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

// A clock that was ahead lets posts begin before their time; when it is corrected, each waits for its
// own time, and what was tried before does not count.
func TestNothingRunsBeforeItsTimeAfterAWrongClockIsCorrected(t *testing.T) {
	inBubble(t, func(b *bench) {
		var reachable atomic.Bool
		b.kind("post", func(context.Context, store.Job) (Outcome, error) {
			if !reachable.Load() {
				return Outcome{}, errors.New("no network yet")
			}
			return Outcome{}, nil
		})
		kind := b.cfg.Kinds["post"]
		kind.Retry = Retry{Attempts: 5, Backoff: 10 * time.Minute}
		b.cfg.Kinds["post"] = kind
		times := map[string]time.Time{}
		for i := range 4 {
			name, at := fmt.Sprint("post_", i), b.now().Add(time.Duration(20+30*i)*time.Minute)
			b.put(store.Job{Name: name, Kind: "post", Lane: name, Trigger: once(at)})
			times[name] = at
		}
		b.put(store.Job{Name: "poll", Kind: "post", Lane: "poll", Trigger: every(time.Hour)})
		b.put(store.Job{Name: "asked for", Kind: "post", Lane: "asked", Trigger: b.in(5 * time.Hour)})
		b.setClock(3 * time.Hour)
		b.start()
		b.update(func(tx *store.Tx) error { _, err := RunNow(tx, "asked for"); return err })
		b.pass(5 * time.Minute)
		early, _ := b.begun()
		if len(early) < 5 {
			t.Fatalf("only %d runs by the clock that is ahead", len(early))
		}
		b.setClock(-3 * time.Hour)
		b.pass(tick)
		reachable.Store(true)
		b.pass(2 * time.Hour)
		runs, _ := b.begun()
		last := map[string]begun{}
		polls := 0
		for _, r := range runs[len(early):] {
			last[r.job.Name] = r
			if r.job.Name == "poll" {
				polls++
			}
		}
		for name, at := range times {
			if r := last[name]; !r.at.Equal(at) || r.job.Attempt != 1 {
				t.Errorf("%s ran at %v as attempt %d, want %v", name, r.at, r.job.Attempt, at)
			}
		}
		if r, ran := last["asked for"]; !ran || r.at.After(b.now().Add(-90*time.Minute)) {
			t.Errorf("what was asked for by hand ran at %v", r.at)
		}
		if polls < 1 || polls > 2 {
			t.Errorf("the interval of an hour ran %d times in two hours", polls)
		}
	})
}

// A machine that sleeps is a wall clock that goes forward while no time passes.
func TestAWaitForATimeOfDayEndsAtThatTimeHoweverLongTheMachineSlept(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.setClock(time.Date(2027, 5, 3, 1, 0, 0, 0, time.UTC).Sub(b.now()))
		morning := time.Date(2027, 5, 3, 8, 0, 0, 0, time.UTC)
		elapsed := b.now().Add(7 * time.Hour)
		b.kind("quiet", func(_ context.Context, job store.Job) (Outcome, error) {
			if b.now().Before(morning) {
				return Outcome{Again: morning, WallClock: true, Reason: store.Reason{Code: store.ReasonQuiet}}, nil
			}
			return Outcome{}, nil
		})
		b.kind("pause", func(_ context.Context, job store.Job) (Outcome, error) {
			if job.LastRun.IsZero() {
				return Outcome{Again: elapsed}, nil
			}
			return Outcome{}, nil
		})
		b.start()
		b.put(store.Job{Name: "message", Kind: "quiet", Lane: "a", Trigger: b.in(0)})
		b.put(store.Job{Name: "paced", Kind: "pause", Lane: "b", Trigger: b.in(0)})
		b.pass(time.Minute)
		b.setClock(6 * time.Hour) // asleep until 07:01
		b.pass(time.Hour)
		runs, of := b.begun()
		if of["message"] != 2 || !runs[len(runs)-1].at.Equal(morning) {
			t.Errorf("the message was looked at %d times, last %v; want %v", of["message"], runs[len(runs)-1].at, morning)
		}
		b.pass(5*time.Hour + 58*time.Minute)
		if _, of := b.begun(); of["paced"] != 1 {
			t.Error("a pause was shortened by the sleep")
		}
		b.pass(2 * time.Minute)
		if _, of := b.begun(); of["paced"] != 2 {
			t.Error("a pause has not ended")
		}
	})
}

func TestAWaitForATimeOfDayIsLookedAtAgainWhenTheClockIsSetBack(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.kind("quiet", func(_ context.Context, job store.Job) (Outcome, error) {
			if job.LastRun.IsZero() {
				return Outcome{Again: b.now().Add(300 * 24 * time.Hour), WallClock: true}, nil
			}
			return Outcome{}, nil
		})
		b.start()
		b.put(store.Job{Name: "message", Kind: "quiet", Trigger: b.in(-400 * 24 * time.Hour)})
		b.pass(time.Second)
		b.setClock(-300 * 24 * time.Hour)
		b.pass(2 * tick)
		if _, of := b.begun(); of["message"] != 2 {
			t.Errorf("it was looked at %d times", of["message"])
		}
	})
}

// A run that ends after a step of the clock plans by the clock as it is then: the step does not move that, and the
// correction does.
func TestAWaitOfARunThatEndsWhileTheClockIsWrong(t *testing.T) {
	for name, c := range map[string]struct{ step, correction time.Duration }{
		"corrected in time": {200 * 24 * time.Hour, -200 * 24 * time.Hour},
		"slept for days":    {48 * time.Hour, 0},
		"a little":          {10 * time.Minute, 0},
		"back":              {-40 * time.Second, 0},
	} {
		for _, early := range []time.Duration{time.Second, 30 * time.Second} { // before and after the step is noticed
			t.Run(fmt.Sprint(name, " ", early), func(t *testing.T) {
				inBubble(t, func(b *bench) {
					answer := make(chan struct{})
					b.kind("waits", func(_ context.Context, job store.Job) (Outcome, error) {
						if !job.LastRun.IsZero() {
							return Outcome{}, nil
						}
						<-answer
						until := b.now().Add(37 * time.Second)
						return Outcome{Again: until, Hold: until, Reason: store.Reason{Code: store.ReasonNotConnected}}, nil
					})
					b.start()
					b.put(store.Job{Name: "task", Kind: "waits", Lane: "lane", Trigger: b.in(0)})
					b.pass(time.Minute)
					b.setClock(c.step)
					b.pass(early)
					close(answer)
					b.pass(20 * time.Second)
					b.setClock(c.correction)
					b.pass(settleTime + time.Minute)
					if _, of := b.begun(); of["task"] != 2 {
						job, _ := b.job("task")
						t.Errorf("it was begun %d times, and is due %v at %v", of["task"], job.Due, b.now())
					}
				})
			})
		}
	}
}
