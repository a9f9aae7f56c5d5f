package scheduler

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"belfry/store"
)

func TestAOneShotRunsAtItsTimeAndIsGone(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.start()
		at := b.now().Add(90 * time.Minute)
		b.put(store.Job{Name: "post_1", Trigger: once(at)})
		b.pass(90*time.Minute - time.Millisecond)
		if _, of := b.begun(); of["post_1"] != 0 {
			t.Fatal("it ran before its time")
		}
		b.pass(time.Millisecond)
		runs, _ := b.begun()
		if len(runs) != 1 || !runs[0].at.Equal(at) || runs[0].job.Attempt != 1 {
			t.Fatalf("runs %+v, want one at %v", runs, at)
		}
		if _, found := b.job("post_1"); found {
			t.Error("the job is still there")
		}
		history := b.history("post_1")
		if len(history) != 1 || history[0].Result != store.ResultDone || !history[0].Occurrence.Equal(at) {
			t.Errorf("history %+v", history)
		}
	})
}

func TestWhatARunLearnedIsCommittedWithTheJobsNextState(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.kind("writes", func(context.Context, store.Job) (Outcome, error) {
			return Outcome{Write: func(tx *store.Tx) error { return tx.Settings.Set("learned", "yes") }}, nil
		})
		b.kind("fails to write", func(context.Context, store.Job) (Outcome, error) {
			return Outcome{Write: func(tx *store.Tx) error {
				return errors.Join(tx.Settings.Set("bad", "yes"), errors.New("no room"))
			}}, nil
		})
		b.kind("panics while writing", func(context.Context, store.Job) (Outcome, error) {
			return Outcome{Write: func(*store.Tx) error { panic("in the transaction") }}, nil
		})
		b.start()
		for kind := range b.cfg.Kinds {
			b.put(store.Job{Name: kind, Kind: kind, Trigger: b.in(time.Second)})
		}
		b.pass(10 * time.Second)
		b.update(func(tx *store.Tx) error {
			if v, err := tx.Settings.Value("learned"); err != nil || v != "yes" {
				t.Errorf("learned %q, %v", v, err)
			}
			if v, _ := tx.Settings.Value("bad"); v != "" {
				t.Error("a write that failed was kept")
			}
			return nil
		})
		for _, name := range []string{"fails to write", "panics while writing"} {
			job, found := b.job(name)
			if !found || job.State != store.JobWaiting || job.LastResult != store.ResultFailed {
				t.Errorf("%s: %+v", name, job)
			}
		}
	})
}

func TestAFailedRunIsTriedAgainAsARowAndThenGivenUp(t *testing.T) {
	inBubble(t, func(b *bench) {
		ended := make(chan store.Reason, 1)
		b.kind("fails", func(context.Context, store.Job) (Outcome, error) { return Outcome{}, errors.New("no luck") })
		kind := b.cfg.Kinds["fails"]
		kind.Worker = ender{kind.Worker, ended}
		b.cfg.Kinds["fails"] = kind
		b.start()
		b.put(store.Job{Name: "post_1", Kind: "fails", Trigger: b.in(time.Second)})
		b.pass(2 * time.Second)
		job, _ := b.job("post_1")
		if job.State != store.JobWaiting || job.Reason.N != 1 || job.Due.Sub(job.Occurrence) < 59*time.Second {
			t.Errorf("after the first failure: %+v", job)
		}
		b.start() // the wait survives a restart
		b.pass(time.Hour)
		if _, of := b.begun(); of["post_1"] != 3 {
			t.Errorf("%d runs, want 3", of["post_1"])
		}
		if _, found := b.job("post_1"); found {
			t.Error("the job is still there")
		}
		select {
		case why := <-ended:
			if why.Code != store.ReasonGaveUp || why.N != 3 {
				t.Errorf("ended because %+v", why)
			}
		default:
			t.Error("the worker was not told")
		}
	})
}

// ender notes why its job was ended.
type ender struct {
	Worker
	ended chan store.Reason
}

func (e ender) End(_ *store.Tx, _ store.Job, why store.Reason) error {
	e.ended <- why
	return nil
}

func TestTheHistoryTellsTheEndOfManySteps(t *testing.T) {
	inBubble(t, func(b *bench) {
		steps := 0
		b.kind("steps", func(context.Context, store.Job) (Outcome, error) {
			switch steps++; steps {
			case 3:
				return Outcome{Again: b.now().Add(time.Second), Step: true, Failed: true, Reason: store.Reason{Code: store.ReasonFlood}}, nil
			case 10:
				return Outcome{Step: true}, nil
			}
			return Outcome{Again: b.now().Add(time.Second), Step: true}, nil
		})
		b.start()
		b.put(store.Job{Name: "task_1", Kind: "steps", Trigger: b.in(time.Second)})
		b.pass(time.Minute)
		var told []store.Result
		for _, run := range b.history("task_1") {
			told = append(told, run.Result)
		}
		if want := []store.Result{store.ResultFailed, store.ResultDone}; steps != 10 || !slices.Equal(told, want) && !slices.Equal(told, []store.Result{want[1], want[0]}) {
			t.Errorf("%d steps, and the history tells %v", steps, told)
		}
	})
}

func TestALaneNeverHasMoreRunsThanItsLimit(t *testing.T) {
	inBubble(t, func(b *bench) {
		running, most := map[string]int{}, map[string]int{}
		b.kind("slow", func(_ context.Context, job store.Job) (Outcome, error) {
			b.mu.Lock()
			running[job.Lane]++
			most[job.Lane] = max(most[job.Lane], running[job.Lane])
			b.mu.Unlock()
			<-time.After(time.Second)
			b.mu.Lock()
			running[job.Lane]--
			b.mu.Unlock()
			return Outcome{}, nil
		})
		b.cfg.LaneLimit = func(lane string) int { return map[string]int{"one": 1, "three": 3}[lane] }
		b.start()
		for i := range 12 {
			b.put(store.Job{Name: fmt.Sprint("a", i), Kind: "slow", Lane: "one", Trigger: b.in(time.Minute)})
			b.put(store.Job{Name: fmt.Sprint("b", i), Kind: "slow", Lane: "three", Trigger: b.in(time.Minute)})
		}
		b.pass(time.Minute + 4*time.Second)
		if _, of := b.begun(); len(of) != 12+5 {
			t.Errorf("%d jobs have begun after 4 s, want all 12 of lane three and 5 of lane one", len(of))
		}
		b.pass(time.Minute)
		if _, of := b.begun(); len(of) != 24 {
			t.Errorf("%d jobs have run, want 24", len(of))
		}
		if most["one"] != 1 || most["three"] != 3 {
			t.Errorf("at most %v ran at once", most)
		}
	})
}

func TestAHeldLaneWaitsAndSaysWhyAndOthersGoOn(t *testing.T) {
	inBubble(t, func(b *bench) {
		flooded := false
		b.kind("flooded once", func(context.Context, store.Job) (Outcome, error) {
			if flooded {
				return Outcome{}, nil
			}
			flooded = true
			until := b.now().Add(time.Hour)
			return Outcome{Again: until, Hold: until, Reason: store.Reason{Code: store.ReasonFlood, Until: until}}, nil
		})
		b.start()
		b.put(store.Job{Name: "first", Kind: "flooded once", Lane: "telegram:main", Trigger: b.in(time.Second)})
		b.put(store.Job{Name: "second", Lane: "telegram:main", Trigger: b.in(2 * time.Second)})
		b.put(store.Job{Name: "other", Lane: "telegram:other", Trigger: b.in(2 * time.Second)})
		b.pass(time.Minute)
		b.start() // the hold survives a restart
		b.pass(58 * time.Minute)
		_, of := b.begun()
		if of["second"] != 0 || of["other"] != 1 {
			t.Errorf("runs %v while the lane was held", of)
		}
		err := b.db.View(func(tx *store.Tx) error {
			job, err := tx.Jobs.ByName("second")
			if err != nil {
				return err
			}
			why, err := Why(tx, job)
			if why.Code != store.ReasonFlood || why.Until.IsZero() {
				t.Errorf("it waits because of %+v", why)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		b.pass(2 * time.Minute)
		if _, of := b.begun(); of["second"] != 1 || of["first"] != 2 {
			t.Errorf("runs %v after the hold", of)
		}
	})
}

func TestPauseResumeAndRunNow(t *testing.T) {
	action := func(b *bench, fn func(*store.Tx, string) (store.Job, error), name string) {
		b.t.Helper()
		b.update(func(tx *store.Tx) error {
			_, err := fn(tx, name)
			return err
		})
	}
	t.Run("a paused job does not run, and resumed it runs once for all that it missed", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.start()
			b.put(store.Job{Name: "poll", Trigger: every(time.Minute)})
			action(b, Pause, "poll")
			b.pass(time.Hour)
			b.start()
			if _, of := b.begun(); of["poll"] != 0 {
				t.Errorf("%d runs while paused", of["poll"])
			}
			action(b, Resume, "poll")
			if _, of := b.begun(); of["poll"] != 1 {
				t.Errorf("%d runs after resuming, want 1", of["poll"])
			}
			if h := b.history("poll"); len(h) != 1 || h[0].Missed < 58 || h[0].Reason.Code != store.ReasonMerged {
				t.Errorf("history %+v", h)
			}
		})
	})
	t.Run("run now does not shift the schedule", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.start()
			b.put(store.Job{Name: "poll", Trigger: every(time.Hour)})
			before, _ := b.job("poll")
			action(b, RunNow, "poll")
			after, _ := b.job("poll")
			if _, of := b.begun(); of["poll"] != 1 || !after.Due.Equal(before.Due) {
				t.Errorf("%d runs, next %v, was %v", of["poll"], after.Due, before.Due)
			}
		})
	})
	t.Run("run now of a paused job leaves it paused", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.start()
			b.put(store.Job{Name: "poll", Trigger: every(time.Hour)})
			action(b, Pause, "poll")
			action(b, RunNow, "poll")
			job, _ := b.job("poll")
			if _, of := b.begun(); of["poll"] != 1 || job.State != store.JobPaused {
				t.Errorf("%d runs, state %s", of["poll"], job.State)
			}
		})
	})
}

func TestATriggerMayChangeAtAnyTime(t *testing.T) {
	t.Run("a new interval holds at once, from later to earlier", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.start()
			b.put(store.Job{Name: "poll", Trigger: every(24 * time.Hour)})
			b.put(store.Job{Name: "poll", Trigger: every(time.Minute)})
			b.pass(10 * time.Minute)
			if _, of := b.begun(); of["poll"] < 9 {
				t.Errorf("%d runs", of["poll"])
			}
		})
	})
	t.Run("from inside the job", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.kind("changes itself", func(_ context.Context, job store.Job) (Outcome, error) {
				return Outcome{Write: func(tx *store.Tx) error {
					job.Trigger = every(time.Minute)
					return Put(tx, job)
				}}, nil
			})
			b.start()
			b.put(store.Job{Name: "poll", Kind: "changes itself", Trigger: every(time.Hour)})
			b.pass(time.Hour + 10*time.Minute)
			if _, of := b.begun(); of["poll"] < 9 {
				t.Errorf("%d runs", of["poll"])
			}
		})
	})
	t.Run("the same trigger put again changes nothing", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.start()
			b.put(store.Job{Name: "poll", Trigger: every(time.Hour)})
			b.pass(90 * time.Minute)
			before, _ := b.job("poll")
			b.put(store.Job{Name: "poll", Trigger: every(time.Hour)})
			after, _ := b.job("poll")
			if !before.Due.Equal(after.Due) || !after.LastRun.Equal(before.LastRun) || after.LastRun.IsZero() {
				t.Errorf("before %+v, after %+v", before, after)
			}
		})
	})
	t.Run("a job may remove itself", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.kind("removes itself", func(_ context.Context, job store.Job) (Outcome, error) {
				return Outcome{Write: func(tx *store.Tx) error { return Delete(tx, job.Name) }}, nil
			})
			b.start()
			b.put(store.Job{Name: "poll", Kind: "removes itself", Trigger: every(time.Minute)})
			b.pass(time.Hour)
			_, found := b.job("poll")
			if _, of := b.begun(); of["poll"] != 1 || found {
				t.Errorf("%d runs, found %v", of["poll"], found)
			}
		})
	})
}

func TestPanicsAndHungRunsFreeTheirSlot(t *testing.T) {
	inBubble(t, func(b *bench) {
		release := make(chan struct{})
		b.kind("panics", func(context.Context, store.Job) (Outcome, error) { panic("a mistake") })
		b.kind("hangs", func(ctx context.Context, _ store.Job) (Outcome, error) {
			<-ctx.Done()
			return Outcome{}, ctx.Err()
		})
		b.kind("ignores its limit", func(context.Context, store.Job) (Outcome, error) {
			<-release
			return Outcome{}, nil
		})
		b.start()
		for i, kind := range []string{"panics", "hangs", "ignores its limit", "noted"} {
			b.put(store.Job{Name: kind, Kind: kind, Trigger: b.in(time.Duration(i+1) * time.Second)})
		}
		b.pass(3 * time.Minute)
		if _, of := b.begun(); of["noted"] != 1 {
			t.Error("the slot was never freed")
		}
		for name, code := range map[string]store.ReasonCode{
			"panics": store.ReasonPanic, "hangs": store.ReasonTimeout, "ignores its limit": store.ReasonTimeout,
		} {
			if h := b.history(name); len(h) == 0 || h[0].Reason.Code != code {
				t.Errorf("history of %q: %+v", name, h)
			}
		}
		b.pass(10 * time.Minute)
		if _, of := b.begun(); of["ignores its limit"] != 1 {
			t.Errorf("a job that had not returned was started %d times", of["ignores its limit"])
		}
		close(release)
		b.pass(10 * time.Minute)
		if _, of := b.begun(); of["ignores its limit"] != 2 {
			t.Errorf("%d runs after it had returned, want 2", of["ignores its limit"])
		}
	})
}

func TestJobsOfAnUnknownKindAreSetAsideAndRunWhenTheKindIsBack(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.start()
		b.put(store.Job{Name: "rule_1", Kind: "rule", Trigger: b.in(time.Second)})
		b.put(store.Job{Name: "after", Trigger: b.in(time.Second)})
		b.pass(time.Minute)
		job, found := b.job("rule_1")
		if !found || job.State != store.JobSetAside || job.Reason.Code != store.ReasonUnknownKind {
			t.Errorf("found %v: %+v", found, job)
		}
		if _, of := b.begun(); of["after"] != 1 {
			t.Error("it blocked another job")
		}
		b.kind("rule", func(context.Context, store.Job) (Outcome, error) { return Outcome{}, nil })
		b.start()
		if _, of := b.begun(); of["rule_1"] != 1 {
			t.Error("it did not run when its kind was back")
		}
	})
}

func TestARunThatEndedWithTheProgramIsBegunAgain(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.put(store.Job{Name: "post_1", Trigger: b.in(0)})
		b.update(func(tx *store.Tx) error { // what a process that was killed leaves
			job, err := tx.Jobs.ByName("post_1")
			if err != nil {
				return err
			}
			job.State, job.Attempt, job.Started, job.LeaseEnd = store.JobRunning, 1, tx.Now(), tx.Now().Add(time.Hour)
			return tx.Jobs.Put(&job)
		})
		b.start()
		b.pass(time.Second)
		runs, of := b.begun()
		if of["post_1"] != 1 || runs[0].job.Attempt != 2 {
			t.Fatalf("runs %+v", runs)
		}
		h := b.history("post_1")
		if len(h) != 2 || h[0].Result != store.ResultInterrupted || h[1].Result != store.ResultDone {
			t.Errorf("history %+v", h)
		}
	})
}

func TestAnOrderlyEndLetsRunsEndAndCountsNoFailure(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.kind("takes 5 s", func(context.Context, store.Job) (Outcome, error) {
			<-time.After(5 * time.Second)
			return Outcome{}, nil
		})
		b.kind("takes an hour", sleeper(time.Hour))
		kind := b.cfg.Kinds["takes an hour"]
		kind.Timeout = 2 * time.Hour
		b.cfg.Kinds["takes an hour"] = kind
		b.start()
		b.put(store.Job{Name: "short", Kind: "takes 5 s", Lane: "a", Trigger: b.in(0)})
		b.put(store.Job{Name: "long", Kind: "takes an hour", Lane: "b", Trigger: b.in(0)})
		b.put(store.Job{Name: "next", Lane: "c", Trigger: b.in(time.Second)})
		begin := time.Now()
		b.stop()
		if took := time.Since(begin); took != 10*time.Second {
			t.Errorf("it took %v to end, want 10 s", took)
		}
		if _, found := b.job("short"); found {
			t.Error("the short run was not let end")
		}
		job, _ := b.job("long")
		if job.State != store.JobWaiting || job.Attempt != 0 || job.Reason.Code != store.ReasonShuttingDown {
			t.Errorf("the long run left %+v", job)
		}
		if _, of := b.begun(); of["next"] != 0 {
			t.Error("a job was started during the end")
		}
	})
}
