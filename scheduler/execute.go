package scheduler

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"belfry/store"
)

// start runs each of the claimed jobs in a goroutine of its own, which goes on with those that are handed to
// it. All of them are counted before the first begins: it may end at once, and a lane that is full hands over.
func (s *Scheduler) start(runs []*run) {
	s.mu.Lock()
	for _, r := range runs {
		s.lanes[r.job.Lane]++
		s.active[r.job.Name] = r
	}
	s.mu.Unlock()
	for _, r := range runs {
		s.runs.Go(func() { s.work(r) })
	}
}

func (s *Scheduler) work(r *run) {
	for r != nil {
		r = s.execute(r)
	}
}

// execute calls the worker, ends the run with what it returns, and returns the run that the slot
// was handed to. A run that does not return in time is written off: it counts as failed, its slot
// is free for others, and only the job itself is not started again before it has returned.
func (s *Scheduler) execute(r *run) (next *run) {
	ctx, cancel := context.WithTimeout(s.ctx, r.kind.Timeout)
	defer cancel()
	s.mu.Lock()
	r.deadline = time.AfterFunc(r.kind.Timeout+writeOffAfter, func() { s.writeOff(r) })
	s.mu.Unlock()

	out, err := call(ctx, r.kind.Worker, r.job)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) && !errors.Is(err, errPanic) {
		err = fmt.Errorf("time limit of %s: %w", r.kind.Timeout, errors.Join(context.DeadlineExceeded, err))
	}
	if s.settle(r, false) {
		if why := s.blameless(out, err); why != nil {
			out, err = Outcome{}, why
		}
		return s.end(r, out, err)
	}
	s.mu.Lock()
	delete(s.abandoned, r.job.Name)
	s.mu.Unlock()
	s.cfg.Log.Warn().Str("job", r.job.Name).Err(err).Msg("written-off run has returned; what it brought is dropped")
	return nil
}

// blameless returns the error of a run that failed because the program ends or the store cannot be
// used, which is no failure of the job; else nil.
func (s *Scheduler) blameless(out Outcome, err error) error {
	failed := errors.Join(err, out.Err)
	switch {
	case failed == nil:
		return nil
	case context.Cause(s.ctx) != nil:
		return errEnding
	case errors.Is(failed, store.ErrUnavailable):
		return failed
	}
	return nil
}

// writeOff ends a run that has not returned.
func (s *Scheduler) writeOff(r *run) {
	if !s.settle(r, true) {
		return
	}
	s.cfg.Log.Error().Str("job", r.job.Name).Dur("limit", r.kind.Timeout).
		Msg("run ignored its time limit and was written off")
	s.runs.Go(func() {
		s.work(s.end(r, Outcome{}, fmt.Errorf("no return after %s: %w", r.kind.Timeout, context.DeadlineExceeded)))
	})
}

// settle reports whether the caller is the first to end the run, which then has to call end.
func (s *Scheduler) settle(r *run, abandon bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.settled {
		return false
	}
	r.settled = true
	r.deadline.Stop()
	if abandon {
		s.abandoned[r.job.Name] = true
	}
	return true
}

// end commits the end of the run and returns the one that takes over its slot, if any. While the
// store fails it keeps the outcome and tries again, because what the run learned must not be lost
// while the program lives.
func (s *Scheduler) end(r *run, out Outcome, err error) (next *run) {
	ending := ending{run: r, out: out, err: err, hand: true}
	for {
		next, storeErr := s.commitEnd(&ending)
		if storeErr == nil {
			s.logEnd(r, ending.out, ending.err)
			return next
		}
		if ending.mistake != nil {
			if ending.simplify(s) {
				continue
			}
			s.handOver(r, nil) // its row is damaged; nothing can be written
			return nil
		}
		select {
		case <-s.ctx.Done():
			s.cfg.Log.Error().Str("job", r.job.Name).Err(storeErr).
				Msg("outcome was not written before the end; the run is done again after the start")
			s.handOver(r, nil)
			return nil
		case <-time.After(storeRetry):
		}
	}
}

// ending is the end of a run on its way into the store.
type ending struct {
	run     *run
	out     Outcome
	err     error
	hand    bool      // claim the next job of the lane in the same commit
	shelved bool      // the job is set aside, whatever else would follow
	mistake error     // why the transaction could not be made, if that is not the store's fault
	past    store.Run // its record
}

// simplify leaves out what could not be written, and reports whether there was anything to leave
// out: first the job that would have followed; then what the worker wanted to write, which makes the
// run a failure; at last what follows from that, and the job is set aside.
func (e *ending) simplify(s *Scheduler) bool {
	log := s.cfg.Log.Error().Str("job", e.run.job.Name).Err(e.mistake)
	_, others := errors.AsType[*jobError](e.mistake)
	switch {
	case others:
		e.hand = false // whoever claims next deals with it
	case e.out.Write != nil:
		log.Msg("outcome cannot be written")
		e.out, e.err = Outcome{}, fmt.Errorf("write the outcome: %w", e.mistake)
	case !e.shelved:
		log.Msg("the end of the run cannot be written; the job is set aside")
		e.shelved = true
	default:
		log.Msg("the end of the run cannot be written")
		return false
	}
	return true
}

// commitEnd writes the end of a run and claims the job that takes over its slot: so a lane that
// runs one job at a time pays one commit for each job and not two.
func (s *Scheduler) commitEnd(e *ending) (next *run, err error) {
	s.handing.RLock()
	defer s.handing.RUnlock()
	var room *run // for the next one, made where no other waits for it
	if e.hand && s.mayHandOver(e.run.job.Lane) {
		room = new(run)
	}
	err = s.update(func(tx *store.Tx) error {
		next, e.mistake = nil, nil
		e.mistake = guard(func() error { return s.finish(tx, e) })
		if e.mistake == nil && room != nil {
			next, e.mistake = s.claimNext(tx, e.run.job.Lane, room)
		}
		return e.mistake
	})
	if e.mistake == nil {
		s.noteOutcome(err)
	}
	if err != nil {
		return nil, err
	}
	s.handOver(e.run, next)
	return next, nil
}

// guard turns a panic into an error: a mistake in what a worker wants to write is not the end of
// the program.
func guard(fn func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, v, debug.Stack())
		}
	}()
	return fn()
}

// mayHandOver reports whether the end of a run may claim another one: where a lane has room besides, the
// loop claims as many as are due at once. It does also after a commit that reported an error: what that has claimed all the
// same is taken back first, and would run in the file beside the next one.
func (s *Scheduler) mayHandOver(lane string) bool {
	if !s.clock.steady() {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.stopping && !s.moving && !s.doubt && s.lanes[lane] == s.cfg.LaneLimit(lane)
}

// claimNext claims the next job of a lane, if one is due, most often into room.
func (s *Scheduler) claimNext(tx *store.Tx, lane string, room *run) (*run, error) {
	paused, err := s.readPause(tx)
	if err != nil || !s.mayClaim(tx, lane, paused) {
		return nil, err
	}
	id, due, found := tx.Jobs.First(lane)
	if !found || due.After(tx.Now()) {
		return nil, nil
	}
	if s.passedFor(id) > 0 { // one behind it may be due, too
		c := claims{limit: 1}
		if err := s.claimLane(tx, lane, 1, &c); err != nil || len(c.runs) == 0 {
			return nil, err
		}
		return c.runs[0], nil
	}
	claimed, err := s.claimJob(tx, lane, entry{id, due}, nil, room)
	switch {
	case err != nil:
		return nil, &jobError{id: id, err: err}
	case !claimed:
		return nil, nil
	}
	return room, nil
}

// handOver frees the run's slot, or gives it to the next one. The loop looks for something to do
// with a slot that is free.
func (s *Scheduler) handOver(r, next *run) {
	s.mu.Lock()
	if s.active[r.job.Name] == r {
		delete(s.active, r.job.Name)
	}
	if next != nil {
		s.active[next.job.Name] = next
	} else {
		s.freed[r.job.Lane] = true
		if s.lanes[r.job.Lane]--; s.lanes[r.job.Lane] == 0 {
			delete(s.lanes, r.job.Lane)
		}
	}
	wake := s.wake
	s.mu.Unlock()
	if next == nil {
		wake()
	}
}

func (s *Scheduler) logEnd(r *run, out Outcome, err error) {
	event := s.cfg.Log.Debug()
	if err != nil {
		event = s.cfg.Log.Warn().Err(err)
	}
	if !out.Again.IsZero() {
		event = event.Time("again", out.Again)
	}
	event.Str("job", r.job.Name).Str("lane", r.job.Lane).Int("attempt", r.job.Attempt).
		Str("reason", string(out.Reason.Code)).Msg("run ended")
}

// errPanic is wrapped by the error of a run that panicked.
var errPanic = errors.New("panic")

// call calls the worker and turns a panic into an error.
func call(ctx context.Context, w Worker, job store.Job) (out Outcome, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, v, debug.Stack())
		}
	}()
	return w.Run(ctx, job)
}
