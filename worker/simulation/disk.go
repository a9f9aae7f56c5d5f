package simulation

import (
	"fmt"
	"sync"
	"syscall"
	"time"

	"belfry/store"
)

// ofCommit marks the errors of commits that the weather has let fail.
const ofCommit = " of a commit"

// mostAtOnce is more commits than there is work for at one moment.
const mostAtOnce = 20_000

// disk decides what becomes of commits.
type disk struct {
	mu       sync.Mutex
	commits  uint64    // all that were tried
	moment   time.Time // of the last commit, in the bubble's time
	before   uint64    // commits before that moment
	crash    int       // commits until the process dies; 0: it does not
	sent     bool      // it dies at the first commit after the next message
	stage    store.Stage
	off      time.Duration // for which the machine is off after the crash
	failedAt time.Time
}

// heal lets everything work again.
func (d *disk) heal() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crash, d.sent = 0, false
}

// messageMade says that the network has made a message of which the process does not know yet.
func (d *disk) messageMade() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.sent {
		d.crash, d.sent = 1, false
	}
}

// commit is called before and after each commit of the process.
func (p *Process) commit(stage store.Stage) error {
	w := p.World
	if p.Dead() {
		return errDead
	}
	if w.dies(stage) {
		p.crash()
		return errDead
	}
	slow, err := w.commitFails(stage)
	if slow > 0 {
		select {
		case <-time.After(slow):
		case <-p.died:
			return errDead
		}
	}
	return err
}

// dies counts down to a crash.
func (w *World) dies(stage store.Stage) bool {
	d := &w.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	if stage == store.BeforeCommit {
		d.commits++
		if now := time.Now(); !now.Equal(d.moment) {
			d.moment, d.before = now, d.commits
		}
		if d.commits-d.before > mostAtOnce { // no time passes until it dies
			w.Complain("schedule: spins", "%d commits at one moment", mostAtOnce)
			return true
		}
	}
	if d.crash == 0 || stage != d.stage {
		return false
	}
	d.crash--
	return d.crash == 0
}

// commitFails says what the weather does to a commit.
func (w *World) commitFails(stage store.Stage) (slow time.Duration, err error) {
	d := &w.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, s := range w.active("disk") {
		r := random(s.Seed, d.commits)
		if r.Float64() > s.Strength {
			continue
		}
		switch {
		case s.What == "disk full" && stage == store.BeforeCommit:
			err = syscall.ENOSPC
		case s.What == "write error" && stage == store.BeforeCommit:
			err = syscall.EIO
		case s.What == "sync error" && (stage == store.BeforeCommit) == (r.IntN(2) == 0):
			err = syscall.EIO
		case s.What == "slow disk" && stage == store.BeforeCommit && time.Since(d.failedAt) > time.Minute:
			// Not soon after a failure: then the scheduler holds a lock while it commits, for which synctest
			// lets no time pass.
			slow = time.Duration(r.Int64N(int64(3 * time.Second)))
		}
		if err != nil {
			d.failedAt = time.Now()
			w.count(s.What)
			w.Disturb("disk")
			return 0, fmt.Errorf("%s%s: %w", s.What, ofCommit, err)
		}
	}
	if slow > 0 {
		w.count("slow commit")
	}
	return slow, nil
}
