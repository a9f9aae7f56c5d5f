package scheduler

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"belfry/store"
)

// What the users of other schedulers complain about, one test for each.

func TestComplaint01UnknownKindsAreSetAsideAndRunWhenTheKindIsBack(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.start()
		b.put(store.Job{Name: "poll", Kind: "gone", Trigger: every(time.Hour)})
		b.pass(25 * time.Hour)
		job, found := b.job("poll")
		if !found || job.State != store.JobSetAside || job.Reason.Code != store.ReasonUnknownKind || job.Reason.Detail != "gone" {
			t.Fatalf("found %v: %+v", found, job)
		}
		b.kind("gone", func(context.Context, store.Job) (Outcome, error) { return Outcome{}, nil })
		b.start()
		if _, of := b.begun(); of["poll"] != 1 {
			t.Errorf("%d runs when the kind was back", of["poll"])
		}
	})
}

func TestComplaint02PuttingAJobAtEachStartKeepsItsPlaceItsPauseAndItsHistory(t *testing.T) {
	inBubble(t, func(b *bench) {
		daily := store.Trigger{Times: []string{"09:00"}, Zone: "Europe/Moscow"}
		b.start()
		b.put(store.Job{Name: "daily", Trigger: daily})
		b.pass(25 * time.Hour)
		b.update(func(tx *store.Tx) error { _, err := Pause(tx, "daily"); return err })
		before, _ := b.job("daily")
		for range 3 {
			b.pass(17 * time.Minute)
			b.start()
			b.put(store.Job{Name: "daily", Trigger: daily})
		}
		after, _ := b.job("daily")
		if !after.Due.Equal(before.Due) || after.State != store.JobPaused || !after.LastRun.Equal(before.LastRun) ||
			after.ID != before.ID || len(b.history("daily")) != 1 {
			t.Errorf("before %+v, after %+v, history %+v", before, after, b.history("daily"))
		}
	})
}

func TestComplaint03AfterAnOutageNothingIsMissedWithoutARecord(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.put(store.Job{Name: "post", Trigger: b.in(time.Hour)})
		b.put(store.Job{Name: "hourly", Trigger: store.Trigger{Cron: "0 * * * *"}})
		b.put(store.Job{Name: "each", Trigger: store.Trigger{Cron: "*/10 * * * *"}, Lateness: store.Lateness{Policy: store.LateEach}})
		b.put(store.Job{Name: "skip", Trigger: store.Trigger{Cron: "0 * * * *"},
			Lateness: store.Lateness{Policy: store.LateSkip, Grace: time.Minute}})
		first, _ := b.job("hourly")
		b.pass(first.Due.Sub(b.now()) + 100*time.Hour + 30*time.Minute)
		b.start()
		b.pass(time.Second)
		_, of := b.begun()
		if of["post"] != 1 || of["hourly"] != 1 || of["each"] != maxBacklog+1 || of["skip"] != 0 {
			t.Errorf("runs %v", of)
		}
		for name, want := range map[string]int{"hourly": 101, "each": 609, "skip": 101} {
			got := 0
			for _, run := range b.history(name) {
				if got += 1 + run.Missed; run.Result == store.ResultSkipped && run.Reason.Zero() {
					t.Errorf("%s was skipped without a reason", name)
				}
			}
			if got != want {
				t.Errorf("%s: %d occurrences are on record, want %d", name, got, want)
			}
		}
	})
}

func TestComplaint04ABurstBeyondTheLimitLosesNoneAndDelaysNoneNeedlessly(t *testing.T) {
	inBubble(t, func(b *bench) {
		const jobs, limit = 3000, 10
		b.cfg.LaneLimit = func(string) int { return limit }
		b.kind("takes a second", sleeper(time.Second))
		at := b.now().Add(time.Minute)
		b.update(func(tx *store.Tx) error {
			for i := range jobs {
				if err := Put(tx, store.Job{Name: fmt.Sprint("post_", i), Kind: "takes a second", Lane: "all", Trigger: once(at)}); err != nil {
					return err
				}
			}
			return nil
		})
		b.start()
		b.pass(time.Minute + jobs/limit*time.Second)
		runs, of := b.begun()
		if len(of) != jobs || len(runs) != jobs {
			t.Errorf("%d of %d jobs ran, %d times", len(of), jobs, len(runs))
		}
		for i, r := range runs {
			if want := at.Add(time.Duration(i/limit) * time.Second); !r.at.Equal(want) {
				t.Fatalf("run %d began at %v, want %v", i, r.at, want)
			}
		}
	})
}

func TestComplaint05TheSlotIsFreeAfterAPanicAnErrorACancelAndAHungRun(t *testing.T) {
	inBubble(t, func(b *bench) {
		hung := make(chan struct{})
		defer close(hung)
		b.kind("panics", func(context.Context, store.Job) (Outcome, error) { panic("a mistake") })
		b.kind("fails", func(context.Context, store.Job) (Outcome, error) { return Outcome{}, errors.New("no") })
		b.kind("until told", func(ctx context.Context, _ store.Job) (Outcome, error) {
			<-ctx.Done()
			return Outcome{}, ctx.Err()
		})
		b.kind("hangs", func(context.Context, store.Job) (Outcome, error) { <-hung; return Outcome{}, nil })
		b.start()
		for i, kind := range []string{"panics", "fails", "until told", "hangs"} {
			b.put(store.Job{Name: kind, Kind: kind, Lane: kind, Trigger: every(6 * time.Hour)})
			b.put(store.Job{Name: "after " + kind, Lane: kind, Trigger: b.in(time.Second)})
			b.update(func(tx *store.Tx) error { _, err := RunNow(tx, kind); return err })
			b.pass(2 * time.Minute)
			if _, of := b.begun(); of[kind] == 0 || of["after "+kind] != 1 {
				t.Fatalf("%d: %v", i, of)
			}
		}
		if h := b.history("hangs"); h[0].Reason.Code != store.ReasonTimeout {
			t.Errorf("the hung run is on record as %+v", h[0])
		}
	})
}

func TestComplaint06SuspendAndResumeAreNoticed(t *testing.T) {
	inBubble(t, func(b *bench) { // the other steps of the clock have tests of their own
		b.start()
		b.put(store.Job{Name: "hourly", Trigger: store.Trigger{Cron: "0 * * * *"}})
		b.put(store.Job{Name: "post", Trigger: b.in(2 * time.Hour)})
		b.pass(time.Minute)
		b.setClock(8 * time.Hour) // while the elapsed time stood still
		b.pass(tick + time.Second)
		if _, of := b.begun(); of["hourly"] != 1 || of["post"] != 1 {
			t.Errorf("runs %v within seconds of the end of the sleep", of)
		}
		if b.sched.Status().Step < 7*time.Hour {
			t.Errorf("the status says that the clock was set by %v", b.sched.Status().Step)
		}
	})
}

func TestComplaint07NoneIsLostAtTheGapAndNoneDoubledAtTheFold(t *testing.T) {
	ny := zone(t, "America/New_York")
	for day, want := range map[time.Time]int{
		time.Date(2027, 3, 13, 12, 0, 0, 0, ny): 3, time.Date(2027, 11, 6, 12, 0, 0, 0, ny): 3,
	} {
		inBubble(t, func(b *bench) {
			b.setClock(day.Sub(b.now()))
			b.start()
			b.put(store.Job{Name: "gap", Trigger: store.Trigger{Cron: "30 2 * * *", Zone: ny.String()}})
			b.put(store.Job{Name: "fold", Trigger: store.Trigger{Times: []string{"01:30"}, Zone: ny.String()}})
			b.put(store.Job{Name: "interval", Trigger: every(24 * time.Hour)})
			b.pass(72 * time.Hour)
			runs, of := b.begun()
			if of["gap"] != want || of["fold"] != want || of["interval"] != 3 {
				t.Errorf("from %v: %v", day, of)
			}
			var last time.Time
			for _, r := range runs {
				if r.job.Name != "interval" {
					continue
				}
				if !last.IsZero() && r.at.Sub(last) != 24*time.Hour {
					t.Errorf("the interval was %v", r.at.Sub(last))
				}
				last = r.at
			}
		})
	}
}

func TestComplaint08WeekdaysHaveAStatedNumberingAndAreShownByName(t *testing.T) {
	monday := time.Date(2027, 1, 4, 0, 0, 0, 0, time.UTC)
	for day := 1; day <= 7; day++ {
		want := monday.AddDate(0, 0, day-1).Add(12 * time.Hour)
		times := store.Trigger{Times: []string{"12:00"}, Weekdays: []int{day}}
		cron := store.Trigger{Cron: fmt.Sprintf("0 12 * * %d", day)}
		for _, trigger := range []store.Trigger{times, cron} {
			if got, err := Next(trigger, "", monday); err != nil || !got.Equal(want) {
				t.Errorf("%+v: %v, %v, want %v", trigger, got, err, want)
			}
		}
		if got := described(times, "en"); !strings.HasPrefix(got, want.Weekday().String()[:3]) {
			t.Errorf("day %d is shown as %q", day, got)
		}
	}
}

func TestComplaint09AnIntervalThatIsChangedTakesEffectAtOnce(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.start()
		b.put(store.Job{Name: "poll", Trigger: every(24 * time.Hour)})
		b.update(func(tx *store.Tx) error { _, err := Reschedule(tx, "poll", every(time.Minute)); return err })
		job, _ := b.job("poll")
		if wait := job.Due.Sub(b.now()); wait > time.Minute {
			t.Errorf("it still waits %v", wait)
		}
		b.pass(10 * time.Minute)
		if _, of := b.begun(); of["poll"] != 10 {
			t.Errorf("%d runs in ten minutes", of["poll"])
		}
	})
}

func TestComplaint11AReaderThatTakesItsTimeDoesNotBlockTheSchedule(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.start()
		b.put(store.Job{Name: "poll", Trigger: every(time.Minute)})
		read := make(chan struct{})
		go func() { // a page that is rendered inside its transaction
			_ = b.db.View(func(*store.Tx) error { <-read; return nil })
		}()
		synctest.Wait()
		b.pass(10 * time.Minute)
		if _, of := b.begun(); of["poll"] != 10 {
			t.Errorf("%d runs in ten minutes", of["poll"])
		}
		close(read)
	})
}

func TestComplaint12ASecondProcessOnTheFileIsRefusedInWords(t *testing.T) {
	inBubble(t, func(b *bench) {
		other, err := store.Open(b.db.Path(), store.Options{})
		if err == nil {
			_ = other.Close()
		}
		if !errors.Is(err, store.ErrInUse) || !strings.Contains(err.Error(), "stop it first") {
			t.Errorf("got %v", err)
		}
	})
}

func TestComplaint13ARunThatTakesLongerThanItsLeaseIsNotStartedTwice(t *testing.T) {
	inBubble(t, func(b *bench) {
		stubborn := make(chan struct{})
		b.kind("stubborn", func(context.Context, store.Job) (Outcome, error) { <-stubborn; return Outcome{}, nil })
		b.start()
		b.put(store.Job{Name: "poll", Kind: "stubborn", Trigger: every(time.Minute)})
		b.pass(time.Hour)
		if _, of := b.begun(); of["poll"] != 1 {
			t.Errorf("%d runs", of["poll"])
		}
		if job, _ := b.job("poll"); job.Reason.Code != store.ReasonOverlap {
			t.Errorf("it waits because of %+v", job.Reason)
		}
		close(stubborn)
		b.pass(2 * time.Minute)
		if _, of := b.begun(); of["poll"] < 2 {
			t.Error("it never ran again")
		}
	})
}

func TestComplaint15RunNowDoesNotShiftTheScheduleAndAJobMayRemoveOrPutItself(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.kind("moves on", func(_ context.Context, job store.Job) (Outcome, error) {
			return Outcome{Write: func(tx *store.Tx) error {
				if err := Delete(tx, job.Name); err != nil {
					return err
				}
				job.Trigger = every(time.Minute)
				return Put(tx, job)
			}}, nil
		})
		b.start()
		b.put(store.Job{Name: "daily", Trigger: store.Trigger{Times: []string{"09:00"}}})
		b.put(store.Job{Name: "self", Kind: "moves on", Lane: "other", Trigger: b.in(time.Hour)})
		before, _ := b.job("daily")
		for range 3 {
			b.update(func(tx *store.Tx) error { _, err := RunNow(tx, "daily"); return err })
			b.pass(time.Minute)
		}
		after, _ := b.job("daily")
		if _, of := b.begun(); of["daily"] != 3 || !after.Due.Equal(before.Due) {
			t.Errorf("%d runs, next %v, was %v", of["daily"], after.Due, before.Due)
		}
		b.pass(time.Hour + 10*time.Minute)
		if _, of := b.begun(); of["self"] < 10 {
			t.Errorf("%d runs of the job that put itself", of["self"])
		}
	})
}

func TestComplaint16EqualIntervalsDoNotStampedeAndKeepTheirPhase(t *testing.T) {
	inBubble(t, func(b *bench) {
		for i := range 60 {
			b.put(store.Job{Name: fmt.Sprint("channel_", i), Lane: fmt.Sprint("lane", i), Trigger: every(time.Hour)})
		}
		phase := func(runs []begun) map[string]time.Duration {
			phases := map[string]time.Duration{}
			for _, r := range runs {
				phases[r.job.Name] = time.Duration(r.at.UnixNano() % int64(time.Hour))
			}
			return phases
		}
		b.start()
		b.pass(time.Hour)
		runs, _ := b.begun()
		minutes := map[int]int{}
		for _, r := range runs {
			if minutes[r.at.Minute()]++; minutes[r.at.Minute()] > 6 {
				t.Errorf("%d jobs in minute %d", minutes[r.at.Minute()], r.at.Minute())
			}
		}
		before := phase(runs)
		b.start()
		b.pass(time.Hour)
		runs, _ = b.begun()
		for name, at := range phase(runs[len(before):]) {
			if at != before[name] {
				t.Errorf("%s ran at %v past the hour, before at %v", name, at, before[name])
			}
		}
	})
}
