// Package schedulertest runs workers under a real scheduler on a real store, in the time of a synctest
// bubble: days pass in no time, and nothing runs while a test looks.
package schedulertest

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// Bench is a store and the scheduler that runs its jobs.
type Bench struct {
	T    *testing.T
	DB   *store.DB
	Stop func() // ends the scheduler and waits for its runs; without one it does nothing

	ahead atomic.Int64 // of the bubble's time, by which the clock is wrong
}

// SetClock sets the wall clock ahead of the bubble's time.
func (b *Bench) SetClock(ahead time.Duration) { b.ahead.Store(int64(ahead)) }

func (b *Bench) now() time.Time { return time.Now().Add(time.Duration(b.ahead.Load())) }

// InBubble calls test in a bubble, with a bench whose store is empty and whose scheduler has not been
// started. Afterwards it proves that the store is sound.
func InBubble(t *testing.T, test func(*Bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &Bench{T: t, Stop: func() {}}
		db, err := store.Open(filepath.Join(quickDir(t), "belfry.db"), store.Options{Now: b.now, Key: make([]byte, store.KeySize)})
		if err != nil {
			t.Fatal(err)
		}
		b.DB = db
		test(b)
		b.Stop()
		problems, err := db.Verify()
		if err != nil || len(problems) > 0 {
			t.Errorf("verify: %v, %v", problems, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// quickDir is a directory in memory if there is one: these tests are not about the disk.
func quickDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "belfry")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// Start ends the scheduler, if one runs, and starts another one with these workers on the store, as a new
// process would.
func (b *Bench) Start(modules ...worker.Module) {
	b.T.Helper()
	b.Stop()
	all := worker.Join(modules...)
	if err := all.Start(); err != nil {
		b.T.Fatal(err)
	}
	s := scheduler.New(b.DB, scheduler.Config{
		Kinds: all.Kinds, EvenPaused: all.EvenPaused, Now: b.now, Drain: time.Millisecond, Log: zerolog.Nop(),
	})
	ctx, cancel := context.WithCancel(context.Background())
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return s.Run(ctx) })
	running.Go(func() error { return all.Run(ctx) })
	b.Stop = sync.OnceFunc(func() {
		cancel()
		if err := running.Wait(); err != nil {
			b.T.Error(err)
		}
	})
	synctest.Wait()
}

// Pass lets time pass, and what is due then begin and end. What the test has read and written before
// happens before that, and what it does next after it: the runs and the test may share variables.
func (b *Bench) Pass(d time.Duration) {
	b.T.Helper()
	b.View(func(*store.Tx) error { return nil }) // takes locks that every run takes after it
	<-time.NewTimer(d).C
	synctest.Wait()
}

// Update changes the store, and lets what that leads to take place.
func (b *Bench) Update(fn func(*store.Tx) error) {
	b.T.Helper()
	if err := b.DB.Update(fn); err != nil {
		b.T.Fatal(err)
	}
	synctest.Wait()
}

// View reads the store.
func (b *Bench) View(fn func(*store.Tx) error) {
	b.T.Helper()
	if err := b.DB.View(fn); err != nil {
		b.T.Fatal(err)
	}
}
