package scheduler

import (
	"context"
	"fmt"
	"testing"
	"time"

	"belfry/store"
)

func TestALaneWithAHugeBacklogDoesNotStarveTheOthers(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.cfg.LaneLimit = func(lane string) int { return map[string]int{"a": 100_000}[lane] + 1 }
		b.kind("slow", sleeper(30*time.Second))
		b.update(func(tx *store.Tx) error {
			for i := range 3 * maxClaims {
				if err := Put(tx, store.Job{Name: fmt.Sprint("bulk_", i), Kind: "slow", Lane: "a", Trigger: once(tx.Now())}); err != nil {
					return err
				}
			}
			for i := range 40 {
				if err := Put(tx, store.Job{Name: fmt.Sprint("post_", i), Kind: "noted", Lane: fmt.Sprint("z", i), Trigger: once(tx.Now())}); err != nil {
					return err
				}
			}
			return nil
		})
		b.sched = New(b.db, b.cfg)
		b.sched.untilNext()
		claimed := map[string]int{}
		for _, r := range b.sched.claimDue() {
			claimed[r.job.Lane[:1]]++
		}
		if claimed["z"] != 40 {
			t.Errorf("the first claim takes %v", claimed)
		}
	})
}

// The jobs of one lane follow each other, each with the commit that ends the one before.
func TestALaneThatRunsOneAtATimePaysOneCommitForEachJob(t *testing.T) {
	inBubble(t, func(b *bench) {
		const jobs = 500
		b.update(func(tx *store.Tx) error {
			for i := range jobs {
				if err := Put(tx, store.Job{Name: fmt.Sprint("post_", i), Kind: "noted", Lane: "one", Trigger: once(tx.Now().Add(time.Second))}); err != nil {
					return err
				}
			}
			return nil
		})
		b.start()
		commits := b.db.Commits()
		b.pass(2 * time.Second)
		if _, of := b.begun(); len(of) != jobs {
			t.Errorf("%d jobs ran", len(of))
		}
		if n := b.db.Commits() - commits; n > jobs+20 {
			t.Errorf("%d commits for %d jobs", n, jobs)
		}
	})
}

func TestAPauseAskedForDuringARunSurvivesACrash(t *testing.T) {
	inBubble(t, func(b *bench) {
		leaveRunning(b, every(time.Hour))
		b.update(func(tx *store.Tx) error { _, err := Pause(tx, "job"); return err })
		b.start()
		b.pass(24 * time.Hour)
		if job, _ := b.job("job"); job.State != store.JobPaused {
			t.Errorf("it is %s", job.State)
		}
		if _, of := b.begun(); of["job"] != 0 {
			t.Errorf("%d runs while paused", of["job"])
		}
	})
}

func TestAPostMovedDuringItsRunWaitsForItsNewTimeEvenAfterACrash(t *testing.T) {
	inBubble(t, func(b *bench) {
		leaveRunning(b, b.in(0))
		later := b.now().Add(48 * time.Hour)
		b.update(func(tx *store.Tx) error { _, err := Reschedule(tx, "job", once(later)); return err })
		b.start()
		b.pass(72 * time.Hour)
		runs, _ := b.begun()
		if len(runs) != 1 || !runs[0].at.Equal(later) || runs[0].job.Attempt != 1 {
			t.Errorf("runs %+v, want one at %v", runs, later)
		}
	})
}

// leaveRunning leaves a job as a process that was killed does.
func leaveRunning(b *bench, trigger store.Trigger) {
	b.put(store.Job{Name: "job", Trigger: trigger})
	b.update(func(tx *store.Tx) error {
		job, err := tx.Jobs.ByName("job")
		if err != nil {
			return err
		}
		job.State, job.Attempt, job.Occurrence = store.JobRunning, 1, tx.Now()
		job.Due, job.Started, job.LeaseEnd = tx.Now(), tx.Now(), tx.Now().Add(time.Hour)
		return tx.Jobs.Put(&job)
	})
	b.pass(time.Second)
}

func TestWhatPassesBetweenTheAttemptsOfARunIsOnRecord(t *testing.T) {
	inBubble(t, func(b *bench) {
		attempts := 0
		b.kind("works at last", func(context.Context, store.Job) (Outcome, error) {
			if attempts++; attempts < 3 {
				return Outcome{}, fmt.Errorf("attempt %d", attempts)
			}
			return Outcome{}, nil
		})
		b.start()
		b.put(store.Job{Name: "poll", Kind: "works at last", Trigger: store.Trigger{Cron: "* * * * *"}})
		b.pass(time.Hour + time.Second)
		n := 0
		for _, run := range b.history("poll") {
			if run.Result == store.ResultDone || run.Result == store.ResultSkipped {
				n += 1 + run.Missed
			}
		}
		if n != 60 {
			t.Errorf("%d of 60 occurrences are on record", n)
		}
	})
}

// The last of several missed runs may be in time although the others are too late.
func TestALateJobRunsTheLastMissedRunIfThatIsWithinItsGrace(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.put(store.Job{Name: "hourly", Trigger: store.Trigger{Cron: "0 * * * *"},
			Lateness: store.Lateness{Policy: store.LateSkip, Grace: 10 * time.Minute}})
		job, _ := b.job("hourly")
		b.pass(job.Due.Sub(b.now()) + 5*time.Hour + 5*time.Minute)
		b.start()
		h := b.history("hourly")
		if _, of := b.begun(); of["hourly"] != 1 || len(h) != 2 || h[0].Missed != 4 || h[1].Result != store.ResultDone {
			t.Errorf("%d runs, history %+v", of["hourly"], h)
		}
	})
}
