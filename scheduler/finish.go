package scheduler

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"belfry/store"
)

// finish writes the end of a run: what it learned, its record, and the job's next state.
func (s *Scheduler) finish(tx *store.Tx, e *ending) error {
	r, out := e.run, e.out
	job := &s.ended
	err := tx.Jobs.Read(r.job.ID, job) // it may have been paused, changed or removed meanwhile
	if errors.Is(err, store.ErrNotFound) {
		return nil // this end was committed before, although the commit reported an error
	}
	if err != nil {
		return err
	}
	if job.State != store.JobRunning || !job.Started.Equal(r.job.Started) || job.Attempt != r.job.Attempt {
		return nil // likewise
	}
	past := &e.past
	*past = store.Run{
		Job: job.Name, Kind: job.Kind, Lane: job.Lane, Occurrence: r.job.Occurrence,
		Started: r.job.Started, Ended: tx.Now(), Attempt: r.job.Attempt, Missed: job.Missed,
	}
	s.judge(past, r, out, e.err)
	s.observe(tx, past, r.job.Due)
	var held time.Time // its lane, before
	mayHold := out.Write != nil || !out.Hold.IsZero()
	if mayHold {
		held, _ = tx.Holds.Until(r.job.Lane)
	}
	if out.Write != nil {
		if err := out.Write(tx); err != nil {
			return err
		}
		err = tx.Jobs.Read(r.job.ID, job) // it may have changed its own job
		if errors.Is(err, store.ErrNotFound) {
			return tx.Runs.Add(past)
		}
		if err != nil {
			return err
		}
	}
	if !out.Hold.IsZero() {
		if err := tx.Holds.Extend(r.job.Lane, out.Hold, out.Reason); err != nil {
			return err
		}
	}
	job.LastRun, job.LastResult, job.LastReason = past.Started, past.Result, past.Reason
	job.State, job.Started, job.LeaseEnd = store.JobWaiting, time.Time{}, time.Time{}
	if past.Result == store.ResultFailed {
		job.Failures++
	} else if past.Result == store.ResultDone && !out.Idle {
		job.Failures = 0
	}
	switch {
	case past.Result == store.ResultInterrupted: // it says nothing
	case !inVain(past):
		job.VainSince = time.Time{}
	case job.VainSince.IsZero() || job.VainSince.After(tx.Now()): // or the clock was set back
		job.VainSince = past.Started
	}
	s.notePlanned(job.Name)
	if mayHold {
		if until, _ := tx.Holds.Until(r.job.Lane); !until.Equal(held) {
			s.notePlanned(ofLane(r.job.Lane))
		}
	}
	if out.SetAside && e.err == nil && !job.Removed {
		err = shelve(tx, job, out.Reason)
	} else if e.shelved {
		err = shelve(tx, job, store.Reason{Code: store.ReasonError, Detail: firstLine(e.err)})
	} else {
		err = s.next(tx, job, r, past, out)
	}
	if err != nil {
		return err
	}
	if past.Next = job.Due; past.Result == store.ResultAgain && out.Hold.After(past.Next) {
		past.Next = out.Hold
	}
	if out.Step && past.Result == store.ResultAgain {
		return nil
	}
	return tx.Runs.Add(past)
}

// inVain reports whether a run has led to nothing: it failed, or is to be tried again.
func inVain(past *store.Run) bool {
	code := past.Reason.Code
	return past.Result == store.ResultFailed || past.Result == store.ResultAgain && (code == store.ReasonNotConnected || code == store.ReasonRetry)
}

// judge says in the record how the run ended.
func (s *Scheduler) judge(past *store.Run, r *run, out Outcome, err error) {
	switch {
	case err == nil && out.Failed:
		past.Result, past.Reason = store.ResultFailed, out.Reason
	case err == nil && !out.Again.IsZero():
		past.Result, past.Reason = store.ResultAgain, out.Reason
	case err == nil:
		past.Result, past.Reason = store.ResultDone, out.Reason
		if past.Reason.Zero() && past.Missed > 0 {
			past.Reason = store.Reason{Code: store.ReasonMerged, N: past.Missed}
		}
	case errors.Is(err, errEnding):
		past.Result, past.Reason = store.ResultInterrupted, store.Reason{Code: store.ReasonShuttingDown}
	case errors.Is(err, store.ErrUnavailable):
		past.Result, past.Reason = store.ResultInterrupted, store.Reason{Code: store.ReasonStore, Detail: firstLine(err)}
	case errors.Is(err, errPanic):
		past.Result, past.Reason = store.ResultFailed, store.Reason{Code: store.ReasonPanic, Detail: firstLine(err)}
	case errors.Is(err, context.DeadlineExceeded):
		past.Result, past.Reason = store.ResultFailed, store.Reason{Code: store.ReasonTimeout, Detail: r.kind.Timeout.String()}
	default:
		past.Result, past.Reason = store.ResultFailed, store.Reason{Code: store.ReasonError, Detail: err.Error()}
	}
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// next writes the job's state after a run that ended as past says.
func (s *Scheduler) next(tx *store.Tx, job *store.Job, r *run, past *store.Run, out Outcome) error {
	if job.Removed {
		return remove(tx, job)
	}
	if !job.Trigger.Equal(r.job.Trigger) { // changed during the run: the new schedule begins
		job.Attempt, job.Broken, job.Missed, job.Requested = 0, 0, 0, false
		job.Reason = store.Reason{}
		return s.wait(tx, job)
	}
	job.Occurrence = r.job.Occurrence // a trigger that was changed there and back changes nothing
	switch {
	case past.Result == store.ResultInterrupted:
		job.Attempt-- // it is nobody's failure
		job.Due, job.Reason = tx.Now(), past.Reason
		if past.Reason.Code == store.ReasonStore {
			job.Due = job.Due.Add(storeRetry)
		}
		return s.wait(tx, job)
	case !out.Again.IsZero():
		job.Attempt, job.Broken = 0, 0
		job.Due, job.Reason, job.WallClock = out.Again.UTC(), out.Reason, out.WallClock
		return s.wait(tx, job)
	case past.Result == store.ResultFailed && !out.Failed:
		failed := job.Attempt - job.Broken // a run that ended with the program has not failed
		if failed < r.kind.Retry.Attempts {
			why := past.Reason
			why.N, why.Of = failed, r.kind.Retry.Attempts
			job.Due, job.Reason = tx.Now().Add(r.kind.Retry.Delay(failed)), why
			return s.wait(tx, job)
		}
		why := store.Reason{Code: store.ReasonGaveUp, N: failed, Of: r.kind.Retry.Attempts,
			Detail: past.Reason.Detail}
		job.Requested = r.job.Requested // also if it was paused meanwhile
		return s.conclude(tx, job, why)
	}
	job.Requested = r.job.Requested
	return s.advance(tx, job)
}

// wait puts the job back into the queue, or on pause if somebody has asked for that meanwhile.
func (s *Scheduler) wait(tx *store.Tx, job *store.Job) error {
	job.State = store.JobWaiting
	if job.Woken && job.Due.After(tx.Now()) {
		job.BringForward(tx.Now())
	}
	job.Woken = false
	if job.Paused && !job.Requested {
		job.State, job.Paused, job.Reason = store.JobPaused, false, store.Reason{Code: store.ReasonPaused}
	}
	return tx.Jobs.Put(job)
}

// conclude ends the occurrence without a run, or with one that failed for good, and tells the
// worker if that is the end of the job.
func (s *Scheduler) conclude(tx *store.Tx, job *store.Job, why store.Reason) error {
	if job.Trigger.Once() && !job.Removed {
		if ender, ok := s.cfg.Kinds[job.Kind].Worker.(Ender); ok {
			if err := guard(func() error { return ender.End(tx, *job, why) }); err != nil {
				return fmt.Errorf("end of job %s: %w", job.Name, err)
			}
		}
	}
	return s.advance(tx, job)
}

// advance moves the job to its next occurrence, or deletes it if there is none. The next one is
// strictly later than both the last one and now, except where each missed run is made up for.
func (s *Scheduler) advance(tx *store.Tx, job *store.Job) error {
	if job.Trigger.Once() || job.Removed {
		return remove(tx, job)
	}
	// One that was asked for before the time of its occurrence leaves the schedule where it was.
	extra := job.Requested && job.Occurrence.After(job.LastRun)
	stoodFor := job.Missed
	job.Attempt, job.Broken, job.Requested, job.Missed = 0, 0, false, 0
	job.Reason = store.Reason{}
	if extra {
		job.Due = job.Occurrence
		return s.wait(tx, job)
	}
	next, err := s.following(tx, job, stoodFor)
	if err != nil {
		return shelve(tx, job, store.Reason{Code: store.ReasonBadTrigger, Detail: err.Error()})
	}
	if next.IsZero() {
		return shelve(tx, job, store.Reason{Code: store.ReasonScheduleEnded})
	}
	job.Occurrence, job.Due = next, next
	return s.wait(tx, job)
}

// following is the occurrence after the one that has ended, which stood for some of those behind it.
// Those that passed besides, while it ran or was tried again, are put on record.
func (s *Scheduler) following(tx *store.Tx, job *store.Job, stoodFor int) (time.Time, error) {
	now, after := tx.Now(), job.Occurrence
	if ahead := after.Sub(now); ahead > bigStep || (ahead > 0 && job.Trigger.Every > 0) {
		after = now // the clock was set back during the run; see moveWait
	}
	next, err := Next(job.Trigger, job.Name, after)
	if err != nil || next.IsZero() || next.After(now) || job.Lateness.Policy == store.LateEach {
		return next, err
	}
	passed, err := missed(job.Trigger, job.Name, job.Occurrence, now)
	if err != nil {
		return next, err
	}
	if passed -= stoodFor; passed > 0 {
		skipped := *job
		skipped.Missed = passed - 1
		if skipped.Occurrence, err = nthLast(job.Trigger, job.Name, job.Occurrence, now, passed-1); err != nil {
			return next, err
		}
		if err := s.record(tx, skipped, store.ResultSkipped, store.Reason{Code: store.ReasonOverlap}); err != nil {
			return next, err
		}
	}
	return Next(job.Trigger, job.Name, now)
}

func remove(tx *store.Tx, job *store.Job) error {
	job.Due = time.Time{}
	return tx.Jobs.Delete(job.ID)
}

// Delay is the pause after the given attempt has failed.
func (r Retry) Delay(attempt int) time.Duration {
	pause := r.Backoff * time.Duration(attempt)
	return pause + time.Duration((2*rand.Float64()-1)*r.Jitter*float64(pause))
}
