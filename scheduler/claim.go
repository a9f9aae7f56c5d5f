package scheduler

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"belfry/store"
)

const (
	// maxClaims bounds the jobs that one transaction claims.
	maxClaims = 1024
	// claimTime bounds the time that it takes. To work out what a job has missed in a year takes long.
	claimTime = 20 * time.Millisecond
	// overlapRetry is when a job is looked at again whose written-off run has not returned.
	overlapRetry = time.Minute
)

// run is a claimed job on its way through its worker.
type run struct {
	job      store.Job   // as it was claimed
	kind     Kind        // its worker is that of this run
	deadline *time.Timer // writes the run off
	settled  bool        // it has ended or was written off; guarded by Scheduler.mu
}

// claims is what one transaction takes up. If the transaction is run again, it starts with new
// ones.
type claims struct {
	runs    []*run
	handled int              // jobs that were looked at
	limit   int              // how many may be
	refused map[uint64]error // jobs that cannot be handled: they are set aside
	lane    string           // the last one that was served
	seen    time.Time        // what the file is told of the time; zero if nothing
	certain bool             // no job is left that the store holds as running and nobody runs
	begun   time.Time
}

// isFull reports whether the transaction has claimed as much as others should have to wait for.
func (c *claims) isFull() bool {
	return c.handled >= c.limit || (c.handled > 0 && time.Since(c.begun) > claimTime)
}

// claimDue marks the jobs that are due as running, as far as their lanes have room, and returns
// them when that is on the disk. Jobs that cannot be run are dealt with in the same transaction.
func (s *Scheduler) claimDue() []*run {
	s.watchClock() // before anything is taken for due
	if s.clock.settling() > 0 || s.failing() > 0 {
		return nil
	}
	if more, err := s.moveWaits(); err != nil || more {
		s.noteOutcome(err)
		return nil
	}
	lanes := s.agenda.takeDue(s.cfg.Now())
	if len(lanes) == 0 && !s.inDoubt() && !s.mustNote() {
		return nil // it has only woken up to look at the clock
	}
	if s.inDoubt() {
		// Nobody may be between the commit of a claim and the list of runs under way.
		s.handing.Lock()
		defer s.handing.Unlock()
	}
	var c claims
	err := s.isolate(func(limit int, refused map[uint64]error) error {
		return s.update(func(tx *store.Tx) error {
			c = claims{limit: limit, refused: refused, begun: time.Now()}
			return s.claim(tx, lanes, &c)
		})
	})
	s.noteOutcome(err)
	if err != nil {
		return nil // what was claimed all the same is in doubt, and is taken back
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if c.lane != "" {
		s.lastLane = c.lane
	}
	if c.certain {
		s.doubt = false
	}
	if !c.seen.IsZero() {
		s.seen = c.seen
	}
	return c.runs
}

// claim goes through lanes that have something due, beginning behind the one that was served last, and
// gives each of them a share: neither a long backlog nor a name early in the alphabet makes the others
// wait.
func (s *Scheduler) claim(tx *store.Tx, lanes []string, c *claims) error {
	if err := s.takeBack(tx, c); err != nil {
		return err
	}
	paused, err := s.readPause(tx)
	if err != nil {
		return err
	}
	first, found := slices.BinarySearch(lanes, s.servedLast())
	if found {
		first++
	}
	share := max(1, c.limit/max(1, len(lanes)))
	for i := range lanes {
		if c.isFull() {
			break
		}
		lane := lanes[(first+i)%len(lanes)]
		if !s.mayClaim(tx, lane, paused) {
			continue
		}
		if err := s.claimLane(tx, lane, min(s.free(lane), share), c); err != nil {
			return err
		}
		c.lane = lane
	}
	return s.noteSeen(tx, c)
}

// mayClaim reports whether neither the pause of the file nor a hold stops a lane.
func (s *Scheduler) mayClaim(tx *store.Tx, lane string, paused bool) bool {
	if paused && !s.cfg.EvenPaused(lane) {
		return false
	}
	until, _ := tx.Holds.Until(lane)
	return !until.After(tx.Now())
}

func (s *Scheduler) servedLast() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lastLane
}

// claimLane claims up to n jobs of a lane.
func (s *Scheduler) claimLane(tx *store.Tx, lane string, n int, c *claims) error {
	var due []entry // all of them before anything is written
	for id, at := range tx.Jobs.Queue(lane) {
		if len(due) >= min(n, c.limit-c.handled) || at.After(tx.Now()) {
			break
		}
		if s.passedFor(id) == 0 {
			due = append(due, entry{id, at})
		}
	}
	for _, e := range due {
		if c.isFull() {
			break
		}
		r := new(run)
		claimed, err := s.claimJob(tx, lane, e, c.refused[e.id], r)
		if err != nil {
			return &jobError{id: e.id, at: c.handled, err: err}
		}
		if c.handled++; claimed {
			c.runs = append(c.runs, r)
		}
	}
	return nil
}

// entry is a job as the queue names it.
type entry struct {
	id  uint64
	due time.Time
}

// claimJob deals with a job that the queue names, and reports whether it is claimed: then r is its run. bad is what was
// wrong with it before. Whatever it does, the job is not at the head of its lane afterwards, so that the loop never
// meets it again and again.
func (s *Scheduler) claimJob(tx *store.Tx, lane string, e entry, bad error, r *run) (claimed bool, err error) {
	job := &r.job
	if err := tx.Jobs.Read(e.id, job); err != nil { // it is damaged, or the queue is
		s.passOver(e.id, err)
		return false, nil
	}
	if job.State != store.JobWaiting || job.Lane != lane || !job.Due.Equal(e.due) {
		if tx.Jobs.Waits(lane, e.due, e.id) { // else the end of another job has changed it in this transaction
			s.passOver(e.id, errors.New("the queue does not say the same as the job"))
		}
		return false, nil
	}
	notBegun, failed := errors.AsType[beginError](bad)
	if bad != nil && !failed {
		return false, s.setAside(tx, job, store.Reason{Code: store.ReasonError, Detail: firstLine(bad)})
	}
	if job.Occurrence.After(tx.Now()) && !job.Requested { // the clock was set back since it was begun
		returnToOccurrence(tx.Now(), job)
		return false, tx.Jobs.Put(job)
	}
	if ready, err := s.prepare(tx, job); err != nil || !ready {
		return false, err
	}
	kind := s.cfg.Kinds[job.Kind]
	if job.Timeout > 0 {
		kind.Timeout = job.Timeout
	}
	kind.Retry.Attempts = cmp.Or(job.Attempts, kind.Retry.Attempts)
	kind.Retry.Backoff = cmp.Or(job.Backoff, kind.Retry.Backoff)
	job.State, job.Started = store.JobRunning, tx.Now()
	job.LeaseEnd = tx.Now().Add(kind.Timeout + writeOffAfter)
	job.Attempt++
	job.Reason, job.WallClock = store.Reason{}, false
	if err := tx.Jobs.Put(job); err != nil {
		return false, err
	}
	if failed {
		kind.Worker = notBegun
	} else if kind.Worker, err = begin(tx, kind.Worker, *job); err != nil {
		return false, err
	}
	r.kind = kind
	return true, nil
}

// begin lets a worker begin the run of a job that has been claimed, and returns what does the run.
func begin(tx *store.Tx, w Worker, job store.Job) (of Worker, err error) {
	beginner, ok := w.(Beginner)
	if !ok {
		return w, nil
	}
	err = guard(func() (err error) {
		of, err = beginner.Begin(tx, job)
		return err
	})
	if err != nil {
		return nil, beginError{err}
	}
	return of, nil
}

// beginError is why a run could not begin. It is also the worker of that run.
type beginError struct{ error }

func (e beginError) Unwrap() error { return e.error }

func (e beginError) Run(context.Context, store.Job) (Outcome, error) { return Outcome{}, e.error }

// prepare decides whether a due job is to be run now. If not, it has written why.
func (s *Scheduler) prepare(tx *store.Tx, job *store.Job) (ready bool, err error) {
	if _, known := s.cfg.Kinds[job.Kind]; !known {
		return false, s.setAside(tx, job, store.Reason{Code: store.ReasonUnknownKind, Detail: job.Kind})
	}
	if err := Validate(job.Trigger); err != nil {
		return false, s.setAside(tx, job, store.Reason{Code: store.ReasonBadTrigger, Detail: err.Error()})
	}
	if s.isAbandoned(job.Name) { // put off, not dropped: its lateness is decided when it begins
		job.Due = tx.Now().Add(overlapRetry)
		job.Reason = store.Reason{Code: store.ReasonOverlap, Until: job.Due}
		return false, tx.Jobs.Put(job)
	}
	switch {
	case job.Requested && job.Attempt == 0 && job.Lateness.Policy == store.LateEach:
		return true, nil // the others that were missed are made up for after it
	case job.Requested && job.Attempt == 0: // if it is late anyway, it stands for what was missed too
		job.Missed, err = missed(job.Trigger, job.Name, job.Occurrence, tx.Now())
		return err == nil, err
	case job.Requested || job.Attempt > 0:
		return true, nil // it is tried again: lateness was decided before
	case !job.Due.Equal(job.Occurrence) && job.Reason.Code != store.ReasonOverlap:
		return true, nil // it asked to be called again: likewise
	}
	return s.decideLateness(tx, job)
}

func (s *Scheduler) isAbandoned(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.abandoned[name]
}

// setAside takes a job out of the schedule until somebody, or another version, can deal with it.
func (s *Scheduler) setAside(tx *store.Tx, job *store.Job, why store.Reason) error {
	if err := s.record(tx, *job, store.ResultSkipped, why); err != nil {
		return err
	}
	return shelve(tx, job, why)
}

func shelve(tx *store.Tx, job *store.Job, why store.Reason) error {
	job.State, job.Reason = store.JobSetAside, why
	job.Started, job.LeaseEnd, job.Requested, job.Paused = time.Time{}, time.Time{}, false, false
	return tx.Jobs.Put(job)
}

// record adds to the history a run of the job that did not take place.
func (s *Scheduler) record(tx *store.Tx, job store.Job, result store.Result, why store.Reason) error {
	past := &store.Run{
		Job: job.Name, Kind: job.Kind, Lane: job.Lane, Occurrence: job.Occurrence, Ended: tx.Now(),
		Attempt: job.Attempt, Result: result, Reason: why, Missed: job.Missed,
	}
	s.observe(tx, past, time.Time{})
	return tx.Runs.Add(past)
}
