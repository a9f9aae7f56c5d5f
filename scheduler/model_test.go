package scheduler

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"belfry/store"
)

var long = flag.Bool("long", false, "also run the long forms of the tests")

// The schedule is driven by everything that people, time, workers and bad luck can do to it, and
// after each step what the store, the history and the workers say must agree; see model_check_test.
func TestScheduleKeepsItsPromisesWhateverHappens(t *testing.T) {
	rounds, most := 1, 16
	if *long {
		rounds, most = 10, 40
	}
	if raceDetector { // races show in few cases as in many
		if err := flag.Set("rapid.checks", "15"); err != nil {
			t.Fatal(err)
		}
	}
	for range rounds {
		rapid.Check(t, func(rt *rapid.T) {
			steps := rapid.SliceOfN(rapid.Custom(drawStep), 1, most).Draw(rt, "steps")
			if err := play(t, steps); err != nil {
				rt.Fatal(err)
			}
		})
	}
}

// step is something that happens to the schedule.
type step struct {
	What    string
	Job     string
	Lane    string
	Trigger int
	Policy  int
	How     string        // what the worker does from now on
	For     time.Duration // how long something takes
	N       int
}

func drawStep(rt *rapid.T) step {
	return step{
		What: rapid.SampledFrom([]string{"put", "put", "change", "pause", "resume", "run now", "delete", "worker", "worker",
			"pass", "pass", "pass", "crash", "stop", "fail before", "fail after", "hold", "pause all", "resume all"}).Draw(rt, "what"),
		Job:     rapid.SampledFrom([]string{"a", "b", "c", "d", "e"}).Draw(rt, "job"),
		Lane:    rapid.SampledFrom([]string{"one", "two"}).Draw(rt, "lane"),
		Trigger: rapid.IntRange(0, 6).Draw(rt, "trigger"),
		Policy:  rapid.IntRange(0, 3).Draw(rt, "policy"),
		How:     rapid.SampledFrom([]string{"done", "fail", "panic", "again", "slow", "time out", "ignore", "no begin"}).Draw(rt, "how"),
		For: rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, 7 * time.Second, 45 * time.Second,
			4 * time.Minute, 2 * time.Hour, 50 * time.Hour}).Draw(rt, "for"),
		N: rapid.IntRange(1, 3).Draw(rt, "n"),
	}
}

// world is a process with its scheduler, and what is known of it from outside.
type world struct {
	*bench
	path string
	kill chan struct{} // closed when the process dies

	mu      sync.Mutex
	how     map[string]string // what the worker of a job does
	inside  map[string]int    // runs in the worker, by job
	in      map[string]int    // the same by lane, without those that were written off
	wrong   []string          // what was noticed on the way
	fail    []bool            // what happens to the next updates of the scheduler: true is made, and fails
	plans   map[string]*plan
	laneMax map[string]int
}

// play lets the steps happen in a bubble and returns what is wrong after one of them.
func play(t *testing.T, steps []step) (err error) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			bench: &bench{t: t, stop: func() {}}, path: filepath.Join(quickDir(t), "belfry.db"),
			how: map[string]string{}, plans: map[string]*plan{}, laneMax: map[string]int{"one": 1, "two": 2},
		}
		w.cfg = Config{Log: zerolog.Nop(), Drain: time.Millisecond, LaneLimit: func(lane string) int { return w.laneMax[lane] }}
		w.boot()
		for i, st := range steps {
			w.happen(st)
			if err = w.check(); err != nil {
				err = fmt.Errorf("after step %d, %+v: %w", i, st, err)
				break
			}
		}
		w.die(false)
	})
	return err
}

// boot starts the program.
func (w *world) boot() {
	db, err := store.Open(w.path, store.Options{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.db, w.kill = db, make(chan struct{})
	w.inside, w.in = map[string]int{}, map[string]int{}
	kill := w.kill
	w.cfg.Kinds = map[string]Kind{"k": {
		Worker:  modelWorker{world: w, kill: kill},
		Timeout: time.Minute, Retry: Retry{Attempts: 2, Backoff: 10 * time.Second},
	}}
	w.sched = New(db, w.cfg)
	w.sched.update = w.update
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func(s *Scheduler) { done <- s.Run(ctx) }(w.sched)
	w.stop = func() {
		cancel()
		if err := <-done; err != nil {
			w.note("run: %v", err)
		}
	}
	synctest.Wait()
}

// die ends the program, in order or not. A crash is a file that takes no more.
func (w *world) die(crash bool) {
	w.mu.Lock()
	w.fail = nil
	w.mu.Unlock()
	if crash {
		if err := w.db.Close(); err != nil {
			w.note("close: %v", err)
		}
		close(w.kill)
	}
	w.stop()
	if !crash {
		close(w.kill)
	}
	synctest.Wait()
	if err := w.db.Close(); err != nil {
		w.note("close: %v", err)
	}
}

// update is the scheduler's way to the store.
func (w *world) update(fn func(*store.Tx) error) error {
	w.mu.Lock()
	fails, made := len(w.fail) > 0, false
	if fails {
		made, w.fail = w.fail[0], w.fail[1:]
	}
	w.mu.Unlock()
	if fails && !made {
		return fmt.Errorf("%w: on purpose", store.ErrUnavailable)
	}
	err := w.db.Update(fn)
	if err == nil && fails {
		err = fmt.Errorf("%w: on purpose, although it was made", store.ErrUnavailable)
	}
	return err
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// modelWorker is the worker. What it begins is on the disk when it runs.
type modelWorker struct {
	*world
	kill  chan struct{}
	began string
}

func (w modelWorker) Begin(tx *store.Tx, job store.Job) (Worker, error) {
	if v, err := tx.Settings.Value("began " + job.Name); err != nil || v == "in vain" {
		w.note("%s has begun before %s, %v", job.Name, v, err)
	}
	w.began = fmt.Sprint(job.Attempt, job.Started)
	err := tx.Settings.Set("began "+job.Name, w.began)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.how[job.Name] == "no begin" {
		err = errors.Join(err, tx.Settings.Set("began "+job.Name, "in vain"), errors.New("cannot begin"))
	}
	return w, err
}

func (w modelWorker) Run(ctx context.Context, job store.Job) (Outcome, error) {
	kill := w.kill
	if v := w.setting("began " + job.Name); v != w.began {
		w.note("%s runs, and the file says that it began as %q, not %q", job.Name, v, w.began)
	}
	w.mu.Lock()
	how := w.how[job.Name]
	w.inside[job.Name]++
	w.in[job.Lane]++
	twice, full := w.inside[job.Name] > 1, w.in[job.Lane] > w.laneMax[job.Lane]
	w.mu.Unlock()
	if twice {
		w.note("%s runs twice at once", job.Name)
	}
	if full {
		w.note("too many run in lane %s", job.Lane)
	}
	if row, found := w.job(job.Name); !found || row.State != store.JobRunning || row.Attempt != job.Attempt {
		w.note("%s runs without a claim on the disk: %+v", job.Name, row)
	}
	inLane := sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.in[job.Lane]--
	})
	defer func() {
		inLane()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.inside[job.Name]--
	}()
	after := func(d time.Duration) {
		select {
		case <-kill:
		case <-time.After(d):
		}
	}
	switch how {
	case "fail":
		return Outcome{}, errors.New("no luck")
	case "panic":
		panic("a mistake")
	case "again":
		w.mu.Lock()
		w.how[job.Name] = "done"
		w.mu.Unlock()
		return Outcome{Again: time.Now().Add(3 * time.Second), Reason: store.Reason{Code: store.ReasonRetry}}, nil
	case "slow":
		after(20 * time.Second)
	case "time out":
		select {
		case <-kill:
		case <-ctx.Done():
			return Outcome{}, ctx.Err()
		}
	case "ignore":
		after(time.Minute + writeOffAfter - time.Millisecond) // at that moment the next one may begin before this goroutine
		inLane()
		after(3 * time.Minute)
	}
	return Outcome{Write: func(tx *store.Tx) error { return tx.Settings.Set("did "+job.Name, how) }}, nil
}
