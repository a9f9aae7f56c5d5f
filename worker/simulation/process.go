package simulation

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/rs/zerolog"
	"golang.org/x/sync/errgroup"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// Process is one life of the program: from opening the file to a crash or an orderly end.
type Process struct {
	World *World
	DB    *store.DB

	died  chan struct{} // closed when it crashes: nothing that it does has an effect any more
	crash func()
	end   context.CancelFunc
	ended chan struct{} // closed when the scheduler and the workers have returned
}

// errDead is what a process gets for everything that it does after its crash.
var errDead = errors.New("the process is dead")

// Dead reports whether the process has crashed. It may be called from any goroutine.
func (p *Process) Dead() bool {
	select {
	case <-p.died:
		return true
	default:
		return false
	}
}

// boot starts the program, unless it runs. If it cannot start, it is started again later, as systemd does.
func (w *World) boot() {
	if w.process != nil {
		return
	}
	p := &Process{World: w, died: make(chan struct{}), ended: make(chan struct{})}
	p.crash = sync.OnceFunc(func() { close(p.died) })
	w.stats.Starts++
	if err := w.open(p); err != nil {
		w.Note("the start fails: %v", err)
		p.crash()
		w.shut(p)
		w.After(restart, w.boot)
		return
	}
	w.Disturb("process")
	w.process = p
}

func (w *World) open(p *Process) (err error) {
	if p.DB, err = store.Open(w.path(), store.Options{Now: w.Now, Commit: p.commit, Key: make([]byte, store.KeySize)}); err != nil {
		close(p.ended)
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.end = cancel
	var modules []worker.Module
	var all worker.Module
	if err = p.DB.Update(w.logins); err == nil {
		for _, part := range w.parts {
			modules = append(modules, part.Start(p))
		}
		all = worker.Join(modules...)
		err = all.Start()
	}
	if err != nil {
		close(p.ended)
		return err
	}
	s := scheduler.New(p.DB, scheduler.Config{
		Kinds: all.Kinds, EvenPaused: all.EvenPaused, Now: w.Now, Plausible: w.plausible(), Log: zerolog.Nop(),
	})
	running, ctx := errgroup.WithContext(ctx)
	running.Go(func() error { return s.Run(ctx) })
	running.Go(func() error { return all.Run(ctx) })
	go func() {
		defer close(p.ended)
		if err := running.Wait(); err != nil && !p.Dead() {
			w.Note("the scheduler ends: %v", err)
			p.crash()
		}
	}()
	return nil
}

// bury clears up after a crash, and has the program started again.
func (w *World) bury() {
	w.Disturb("process")
	w.stats.Crashes++
	w.disk.mu.Lock()
	off := w.disk.off
	w.disk.off = 0
	w.disk.mu.Unlock()
	w.Note("crash; the machine is off for %v", off)
	p := w.process
	w.process = nil
	w.shut(p)
	w.After(restart+off, w.boot)
}

// shut takes the file from a process that is dead. What still runs of it ends by itself.
func (w *World) shut(p *Process) {
	if p.end != nil {
		p.end()
	}
	if p.DB != nil {
		if err := p.DB.Close(); err != nil {
			w.Note("close: %v", err)
		}
	}
	w.zombies.Go(func() { <-p.ended })
}

// end ends the process in order.
func (w *World) end(last bool) {
	p := w.process
	if p == nil || p.Dead() {
		if p != nil {
			w.bury()
		}
		return
	}
	if last {
		w.disk.heal()
	}
	w.stats.Ends++
	w.Note("orderly end")
	p.end()
	select {
	case <-p.ended:
	case <-p.died:
		w.bury()
		return
	}
	w.Disturb("process")
	w.process = nil
	if last && w.Wrong() == nil {
		problems, err := p.DB.Verify()
		if err != nil || len(problems) > 0 {
			w.Complain("store: verify", "at the end: %v, %v", problems, err)
		}
	}
	if err := p.DB.Close(); err != nil {
		w.Complain("store: close", "%v", err)
	}
}

// Update changes the file as a door would. inDoubt reports that the change may have been made or not.
func (p *Process) Update(fn func(tx *store.Tx) error) (inDoubt bool, err error) {
	if p.Dead() {
		return false, errDead
	}
	err = p.DB.Update(fn)
	if errors.Is(err, store.ErrUnavailable) {
		return true, fmt.Errorf("in doubt: %w", err)
	}
	return false, err
}
