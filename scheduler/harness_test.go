package scheduler

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"belfry/store"
)

// bench is a scheduler on a real store, inside a synctest bubble: its hours pass in no time.
type bench struct {
	t     *testing.T
	db    *store.DB
	cfg   Config
	sched *Scheduler
	stop  func()
	// between, if set, stands between the scheduler and the store.
	between func(update func(func(*store.Tx) error) error, fn func(*store.Tx) error) error

	mu   sync.Mutex
	runs []begun
	step time.Duration // what the wall clock is ahead of elapsed time
}

// begun is a run as its worker saw it.
type begun struct {
	job store.Job
	at  time.Time
}

// workerFunc lets a function be a Worker.
type workerFunc func(ctx context.Context, job store.Job) (Outcome, error)

func (f workerFunc) Run(ctx context.Context, job store.Job) (Outcome, error) { return f(ctx, job) }

// inBubble runs test with a bench whose jobs of kind "noted" do nothing but being noted. At the end
// the store must verify.
func inBubble(t *testing.T, test func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, stop: func() {}}
		db, err := store.Open(filepath.Join(quickDir(t), "belfry.db"), store.Options{Now: b.now})
		if err != nil {
			t.Fatal(err)
		}
		b.db = db
		b.cfg = Config{Now: b.now, Log: zerolog.Nop(), Kinds: map[string]Kind{}}
		b.kind("noted", func(context.Context, store.Job) (Outcome, error) { return Outcome{}, nil })
		test(b)
		b.stop()
		problems, err := db.Verify()
		if err != nil || len(problems) > 0 {
			t.Errorf("verify: %v, %v", problems, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

func (b *bench) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Now().Add(b.step)
}

// setClock sets the wall clock forward or back.
func (b *bench) setClock(step time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.step += step
}

// kind adds a kind of job whose runs are noted before they do their work.
func (b *bench) kind(name string, work workerFunc) {
	b.cfg.Kinds[name] = Kind{Timeout: time.Minute, Worker: workerFunc(func(ctx context.Context, job store.Job) (Outcome, error) {
		at := b.now()
		b.mu.Lock()
		b.runs = append(b.runs, begun{job, at})
		b.mu.Unlock()
		return work(ctx, job)
	})}
}

// start starts a scheduler on the store, as a new process would.
func (b *bench) start() {
	b.stop()
	ctx, cancel := context.WithCancel(context.Background())
	b.sched = New(b.db, b.cfg)
	if b.between != nil {
		real := b.sched.update
		b.sched.update = func(fn func(*store.Tx) error) error { return b.between(real, fn) }
	}
	done := make(chan error, 1)
	go func() { done <- b.sched.Run(ctx) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			b.t.Error(err)
		}
	})
	synctest.Wait()
}

// pass lets time pass.
func (b *bench) pass(d time.Duration) {
	timer := time.NewTimer(d)
	<-timer.C
	synctest.Wait()
}

func (b *bench) update(fn func(tx *store.Tx) error) {
	b.t.Helper()
	if err := b.db.Update(fn); err != nil {
		b.t.Fatal(err)
	}
	synctest.Wait()
}

func (b *bench) put(job store.Job) {
	b.t.Helper()
	if job.Kind == "" {
		job.Kind = "noted"
	}
	if job.Lane == "" {
		job.Lane = "lane"
	}
	b.update(func(tx *store.Tx) error { return Put(tx, job) })
}

// begun returns the runs so far, and how many there are of each job.
func (b *bench) begun() (runs []begun, of map[string]int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	of = make(map[string]int)
	for _, r := range b.runs {
		of[r.job.Name]++
	}
	return append(runs, b.runs...), of
}

// job returns a job, and whether there is one.
func (b *bench) job(name string) (job store.Job, found bool) {
	b.t.Helper()
	err := b.db.View(func(tx *store.Tx) (err error) {
		job, err = tx.Jobs.ByName(name)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		b.t.Fatal(err)
	}
	return job, err == nil
}

// history returns the recorded runs of a job, the oldest first.
func (b *bench) history(name string) (runs []store.Run) {
	b.t.Helper()
	err := b.db.View(func(tx *store.Tx) error {
		for run := range tx.Runs.All() {
			if run.Job == name {
				runs = append(runs, run)
			}
		}
		return nil
	})
	if err != nil {
		b.t.Fatal(err)
	}
	return runs
}

func once(at time.Time) store.Trigger             { return store.Trigger{At: at} }
func every(d time.Duration) store.Trigger         { return store.Trigger{Every: d} }
func (b *bench) in(d time.Duration) store.Trigger { return once(b.now().Add(d)) }

// sleeper is the work of a worker that takes its time.
func sleeper(d time.Duration) workerFunc {
	return func(ctx context.Context, _ store.Job) (Outcome, error) {
		select {
		case <-time.After(d):
			return Outcome{}, nil
		case <-ctx.Done():
			return Outcome{}, ctx.Err()
		}
	}
}
