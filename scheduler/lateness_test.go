package scheduler

import (
	"context"
	"errors"
	"testing"
	"time"

	"belfry/store"
)

func TestAfterAnOutage(t *testing.T) {
	outage := 3 * time.Hour
	cases := []struct {
		name     string
		job      store.Job
		wantRuns int
		check    func(t *testing.T, history []store.Run)
	}{
		{"a one-shot runs late but once", store.Job{Trigger: store.Trigger{}}, 1, nil},
		{"an interval runs once and says for how many", store.Job{Trigger: every(10 * time.Minute)}, 1,
			func(t *testing.T, h []store.Run) {
				if h[0].Missed < 16 || h[0].Missed > 18 {
					t.Errorf("stands for %d missed runs more, want about 17", h[0].Missed)
				}
			}},
		{"a job that skips leaves a record", store.Job{Trigger: every(time.Hour),
			Lateness: store.Lateness{Policy: store.LateSkip, Grace: time.Minute}}, 0,
			func(t *testing.T, h []store.Run) {
				if len(h) != 1 || h[0].Result != store.ResultSkipped || h[0].Reason.Code != store.ReasonLate {
					t.Errorf("history %+v", h)
				}
			}},
		{"a job that runs each makes up for each", store.Job{Trigger: every(time.Hour),
			Lateness: store.Lateness{Policy: store.LateEach}}, 3, nil},
		{"making up is bounded and what is dropped is on record", store.Job{Trigger: every(time.Minute),
			Lateness: store.Lateness{Policy: store.LateEach}}, maxBacklog + 1,
			func(t *testing.T, h []store.Run) {
				if h[0].Result != store.ResultSkipped || h[0].Missed+1+maxBacklog+1 < 179 {
					t.Errorf("the first record is %+v", h[0])
				}
			}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				c.job.Name = "job"
				if c.job.Trigger.Equal(store.Trigger{}) {
					c.job.Trigger = b.in(time.Minute)
				}
				b.put(c.job)
				b.pass(outage)
				b.start()
				b.pass(time.Second)
				if _, of := b.begun(); of["job"] != c.wantRuns {
					t.Errorf("%d runs, want %d", of["job"], c.wantRuns)
				}
				if c.check != nil {
					c.check(t, b.history("job"))
				}
				if job, found := b.job("job"); found && !job.Due.After(b.now()) {
					t.Errorf("the next run is at %v, which is past", job.Due)
				}
			})
		})
	}
}

func TestRunsThatPassDuringARunAreOnRecord(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.kind("takes 150 s", sleeper(150*time.Second))
		kind := b.cfg.Kinds["takes 150 s"]
		kind.Timeout = time.Hour
		b.cfg.Kinds["takes 150 s"] = kind
		b.start()
		b.put(store.Job{Name: "poll", Kind: "takes 150 s", Trigger: every(time.Minute)})
		b.pass(10 * time.Minute)
		overlaps := 0
		for _, run := range b.history("poll") {
			if run.Reason.Code == store.ReasonOverlap {
				overlaps += 1 + run.Missed
			}
		}
		if _, of := b.begun(); of["poll"] < 3 || of["poll"] > 4 || overlaps < 4 {
			t.Errorf("%d runs, %d overlaps on record", of["poll"], overlaps)
		}
	})
}

func TestTheClockIsSet(t *testing.T) {
	t.Run("forward by years: recurring jobs run once, and nothing at all before it had time to be corrected", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.start()
			b.put(store.Job{Name: "poll", Trigger: every(time.Minute)})
			b.put(store.Job{Name: "post_1", Trigger: b.in(365 * 24 * time.Hour)})
			b.pass(90 * time.Second)
			_, before := b.begun()
			b.setClock(10 * 365 * 24 * time.Hour)
			b.pass(4 * time.Minute)
			if _, of := b.begun(); of["poll"] != before["poll"] || of["post_1"] != 0 {
				t.Errorf("runs %v right after the step", of)
			}
			if b.sched.Status().Settling == 0 {
				t.Error("the status does not say why nothing runs")
			}
			b.pass(2 * time.Minute)
			if _, of := b.begun(); of["poll"] < before["poll"]+1 || of["poll"] > before["poll"]+2 || of["post_1"] != 1 {
				t.Errorf("runs %v, before %v", of, before)
			}
		})
	})
	t.Run("forward by years and corrected: nothing has happened", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.start()
			b.put(store.Job{Name: "post_1", Trigger: b.in(365 * 24 * time.Hour)})
			b.pass(time.Minute)
			b.setClock(10 * 365 * 24 * time.Hour)
			b.pass(time.Minute)
			b.setClock(-10 * 365 * 24 * time.Hour)
			b.pass(time.Hour)
			if _, of := b.begun(); of["post_1"] != 0 {
				t.Error("a post of next year went out")
			}
		})
	})
	t.Run("back by years: intervals and retries go on", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.start()
			b.put(store.Job{Name: "poll", Trigger: every(time.Minute)})
			b.pass(10 * time.Minute)
			_, before := b.begun()
			b.setClock(-10 * 365 * 24 * time.Hour)
			b.pass(10 * time.Minute)
			if _, of := b.begun(); of["poll"] < before["poll"]+9 {
				t.Errorf("%d runs in the 10 minutes after the step", of["poll"]-before["poll"])
			}
		})
	})
	t.Run("a clock that cannot be right yet starts nothing", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.cfg.Plausible = b.now().Add(365 * 24 * time.Hour)
			b.put(store.Job{Name: "post_1", Trigger: b.in(time.Second)})
			b.start()
			b.pass(time.Hour)
			if _, of := b.begun(); of["post_1"] != 0 {
				t.Error("it ran")
			}
			b.setClock(366 * 24 * time.Hour)
			b.pass(settleTime + tick)
			if _, of := b.begun(); of["post_1"] != 1 {
				t.Errorf("%d runs after the clock was right", of["post_1"])
			}
		})
	})
}

// A run stands for those that were missed. Then each of them is to be made up for: from then on it stands for
// itself alone.
func TestEachMissedRunIsOnRecordOnceAlsoIfThatIsAskedForLater(t *testing.T) {
	for name, state := range map[string]store.JobState{"while the run waits to be tried again": store.JobWaiting, "while it is under way": store.JobRunning} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				fails := state == store.JobWaiting
				b.kind("slow", func(_ context.Context, job store.Job) (Outcome, error) {
					<-time.After(10 * time.Second)
					if fails && job.Attempt == 1 && job.Missed > 0 {
						return Outcome{}, errors.New("no luck")
					}
					return Outcome{}, nil
				})
				job := store.Job{Name: "job", Kind: "slow", Trigger: every(time.Hour)}
				b.put(job)
				b.pass(4*time.Hour + time.Minute)
				b.start()
				for row, _ := b.job("job"); row.State != state; row, _ = b.job("job") {
					b.pass(time.Second)
				}
				if row, _ := b.job("job"); row.Missed != 3 {
					t.Errorf("job %+v", row)
				}
				job.Lateness.Policy = store.LateEach
				b.put(job)
				b.pass(3 * time.Minute)
				ends := map[time.Time]int{}
				for _, run := range b.history("job") {
					if run.Result == store.ResultDone {
						ends[run.Occurrence]++
						if run.Missed != 0 {
							t.Errorf("the run of %v is also on record for %d others", run.Occurrence, run.Missed)
						}
					}
				}
				if len(ends) != 4 || len(b.history("job")) > 5 {
					t.Errorf("on record: %v", ends)
				}
			})
		})
	}
}
