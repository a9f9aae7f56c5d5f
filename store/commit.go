package store

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"
)

// maxGroup bounds the updates that share a commit, and so the time that the first of them waits.
const maxGroup = 4096

// groupTime bounds how long the updates of a commit may work before the rest is left to the next one.
const groupTime = 50 * time.Millisecond

// An update costs little beside the commit that it shares. So where several came together lately, the next commit waits
// for as many: gatherFactor times as long as the last one took, and maxGather at most. It begins when maxQuorum of them
// are there: the others join it while it works on those.
const (
	gatherFactor = 3
	maxGather    = 2 * time.Millisecond
	maxQuorum    = 64
	lately       = 100 * time.Millisecond // since the last commit ended
)

const (
	// reopenAfter is the pause between two attempts to open a file that failed.
	reopenAfter = time.Second
	// maxRest is how long a disk is left alone at most on which one commit after the other fails.
	maxRest = 10 * time.Second
)

// call is one update on its way into a commit.
type call struct {
	fn    func(*Tx) error
	err   error
	panic *panicked
	done  chan struct{}
}

// panicked carries a panic from the committing goroutine to the one that called Update.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) String() string { return fmt.Sprintf("%v\n\n%s", p.value, p.stack) }

// Update runs fn in a write transaction and returns when the change is durable. Updates that wait
// at the same time are committed together, each seeing what those before it wrote; when fn returns
// an error, its own writes are undone and nobody else's.
//
// fn may be run more than once, and only the last run counts: it must have no effects but through
// its transaction and by assigning results. After an error that wraps [ErrUnavailable] the change
// may have been made or not; the file is opened again by itself.
func (db *DB) Update(fn func(*Tx) error) error {
	c := &call{fn: fn, done: make(chan struct{})}
	db.mu.Lock()
	db.waiting = append(db.waiting, c)
	if db.enough != nil && len(db.waiting) >= db.quorum() {
		close(db.enough)
		db.enough = nil
	}
	db.mu.Unlock()

	select {
	case <-c.done:
	case db.turn <- struct{}{}:
		db.commitWaiting(c.done)
		db.passTurn()
	}
	if c.panic != nil {
		panic(c.panic)
	}
	return c.err
}

// commitWaiting commits groups until done is closed, by this holder of the turn or by the one before, or nobody waits.
func (db *DB) commitWaiting(done <-chan struct{}) {
	for {
		select {
		case <-done:
			return
		default:
		}
		group, begun := db.gather(), time.Now()
		if len(group) == 0 {
			return
		}
		group, left := db.commitGroup(group)
		db.ended = time.Now()
		db.took = db.ended.Sub(begun)
		db.mu.Lock()
		db.waiting = slices.Concat(left, db.waiting)
		db.together = max(len(group), db.together*3/4)
		db.mu.Unlock()
		for _, c := range group {
			close(c.done)
		}
	}
}

// passTurn ends the turn. If others wait, a goroutine that has nothing else to do serves them first: until one of them
// was scheduled, no commit would be under way.
func (db *DB) passTurn() {
	db.mu.Lock()
	defer db.mu.Unlock()
	if len(db.waiting) == 0 {
		<-db.turn
		return
	}
	go func() {
		db.commitWaiting(nil)
		<-db.turn
	}()
}

// quorum is how many updates have to wait before a commit begins with them.
func (db *DB) quorum() int { return min(db.together, maxQuorum) }

// gather takes the updates with which the next commit begins. It waits once at most, until a time that nothing moves.
func (db *DB) gather() []*call {
	db.mu.Lock()
	defer db.mu.Unlock()
	if len(db.waiting) == 0 {
		return nil
	}
	if time.Since(db.ended) > lately {
		db.together = 0
	}
	wait := min(gatherFactor*db.took, maxGather)
	if len(db.waiting) < db.quorum() && wait > 0 {
		enough := make(chan struct{})
		db.enough = enough
		db.mu.Unlock()
		select {
		case <-enough:
		case <-time.After(wait):
		}
		db.mu.Lock()
		db.enough = nil
	}
	return db.take(maxGroup)
}

// late takes the updates that have come since a commit began that has taken n, unless that are as many as lately.
func (db *DB) late(n int) []*call {
	db.mu.Lock()
	defer db.mu.Unlock()
	if n >= db.together {
		return nil
	}
	return db.take(maxGroup - n)
}

// take takes at most n of the updates that wait. The caller holds mu.
func (db *DB) take(n int) []*call {
	n = min(n, len(db.waiting))
	group := db.waiting[:n:n]
	db.waiting = db.waiting[n:]
	return group
}

// commitGroup runs and commits as much of the group, and of those that join it, as [groupTime] allows, and returns who
// is done with and who is left. A member that fails after it wrote is taken out, and the others run again from the
// start, because bbolt cannot undo a part.
func (db *DB) commitGroup(group []*call) (done, left []*call) {
	for len(group) > 0 {
		var (
			tx          *Tx
			ran, failed int
			err         error
		)
		if group, tx, ran, failed, err = db.tryGroup(group, len(done)); failed < 0 {
			if err != nil {
				for _, c := range group[:ran] {
					c.err, c.panic = err, nil
				}
			} else if tx != nil {
				if tx.writes > 0 {
					db.laneChanges.add(tx.lanes)
					db.watchers.tell(tx.touched)
				}
				for _, fn := range tx.after {
					fn()
				}
			}
			return append(done, group[:ran]...), group[ran:]
		}
		done = append(done, group[failed])
		group = slices.Concat(group[:failed], group[failed+1:])
	}
	return done, nil
}

// tryGroup runs members, and those that join them, in one transaction and commits it. It returns all of them, how many
// it ran, and the position of a member that failed after writing, in which case nothing was committed, or -1. Members
// that failed without having written are part of the commit like the others; only their callers see the error. Those
// that were taken out before count with the others, so that nobody waits for one failure after the other.
func (db *DB) tryGroup(group []*call, out int) (all []*call, tx *Tx, ran, failed int, err error) {
	if err := db.ready(); err != nil {
		return group, nil, len(group), -1, err
	}
	db.handle.RLock()
	db.guard.before()
	btx, err := db.bolt.Begin(true)
	if err != nil {
		db.handle.RUnlock()
		return group, nil, len(group), -1, fmt.Errorf("begin: %w", err)
	}
	db.memory.reset()
	tx = db.newTx(btx, db.memory)
	begun := time.Now()
	for ran < len(group) && (ran == 0 || time.Since(begun) < groupTime) {
		c, before, after := group[ran], tx.writes, len(tx.after)
		tx.now = db.opts.Now()
		c.panic, c.err = tx.run(c.fn)
		if (c.err != nil || c.panic != nil) && tx.writes != before {
			tx.undoIDs()
			err := btx.Rollback()
			db.handle.RUnlock()
			if err != nil {
				return group, nil, len(group), -1, fmt.Errorf("roll back: %w", err)
			}
			return group, nil, 0, ran, nil
		}
		if c.err != nil || c.panic != nil {
			tx.after = tx.after[:after]
		}
		if ran++; ran == len(group) {
			group = append(group, db.late(out+ran)...)
		}
	}
	if tx.writes == 0 {
		err = btx.Rollback()
	} else if err = db.commit(tx); err == nil {
		db.guard.after()
		db.commits.Add(1)
	} else {
		tx.undoIDs()
	}
	db.handle.RUnlock()
	if err != nil {
		db.fail(err)
		return group, nil, ran, -1, fmt.Errorf("commit %s: %w: %w", db.path, ErrUnavailable, err)
	}
	return group, tx, ran, -1, nil
}

// Stage is a place in a commit at which [Options.Commit] is called.
type Stage string

// The stages of a commit.
const (
	BeforeCommit Stage = "before"
	AfterCommit  Stage = "after" // it is durable, and its callers do not know
)

// commit commits what was written.
func (db *DB) commit(tx *Tx) error {
	if err := errors.Join(db.at(BeforeCommit), tx.writeCounts()); err != nil {
		return errors.Join(err, tx.bolt.Rollback())
	}
	db.clean = false
	begun := time.Now()
	if err := tx.bolt.Commit(); err != nil {
		return err
	}
	if db.opts.Committed != nil {
		db.opts.Committed(time.Since(begun))
	}
	return db.at(AfterCommit)
}

func (db *DB) at(s Stage) error {
	if db.opts.Commit == nil {
		return nil
	}
	return db.opts.Commit(s)
}

// run calls fn and turns a panic into a value, because the caller of Update may be another
// goroutine than the one that commits.
func (tx *Tx) run(fn func(*Tx) error) (p *panicked, err error) {
	defer func() {
		if v := recover(); v != nil {
			p = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return nil, fn(tx)
}

// fail takes the file out of use after a commit that went wrong: what bbolt holds in memory may
// differ from the disk, so it is opened afresh. The caller holds the turn.
func (db *DB) fail(cause error) {
	db.takeHandle()
	defer db.handle.Unlock()
	db.broken, db.trusted = cause, false
	f := &failure{err: cause, commit: db.commits.Load(), at: time.Now(), times: 1}
	if before := db.failing(); before != nil {
		f.times += before.times
	}
	db.failure.Store(f)
	if db.bolt != nil {
		db.guard.detach()
		// The descriptor is gone either way; the cause that matters is the commit's.
		_ = db.bolt.Close()
		db.bolt = nil
	}
	db.reopen()
}

// ready makes sure that there is a usable file to write to, opening it again where a commit has
// failed before. While one commit after the other fails, most updates are refused here: each commit that fails makes
// bbolt look at all pages of the file, and those who read wait for that. The caller holds the turn.
func (db *DB) ready() error {
	db.handle.RLock()
	err := db.usable()
	db.handle.RUnlock()
	if err == nil && db.opts.ReadOnly {
		return fmt.Errorf("%s: %w: opened for reading only", db.path, errors.ErrUnsupported)
	}
	if f := db.failing(); err == nil && f != nil && time.Since(f.at) < f.rest() {
		return fmt.Errorf("%s: %w: %w", db.path, ErrUnavailable, f.err)
	}
	if err == nil {
		return nil
	}
	db.takeHandle()
	defer db.handle.Unlock()
	if !db.closed && db.broken != nil && time.Since(db.reopenedAt) >= reopenAfter {
		db.reopen()
	}
	return db.usable()
}

// reopen tries to open the file again. The caller holds handle for writing.
func (db *DB) reopen() {
	db.reopenedAt = time.Now() // elapsed time counts here, whatever the wall clock does
	if err := db.openFile(0); err == nil {
		db.broken = nil
	}
	db.laneChanges.addAll()
}
