package scheduler

import (
	"errors"
	"fmt"
	"time"

	"belfry/store"
)

// maxBroken is how often a run may end with the program before the job is given up. It is large,
// because a job is not to blame for every crash that it was near; the pause before each new attempt
// grows, so that one which is to blame does no great harm meanwhile.
const maxBroken = 20

// recover takes up the jobs that another run of the program left: those that it was running wait
// again, and those that it had set aside for want of a worker wait if there is one now.
func (s *Scheduler) recover() error {
	for {
		handled := 0
		err := s.isolate(func(limit int, refused map[uint64]error) error {
			return s.update(func(tx *store.Tx) error {
				handled = 0
				return s.recoverSome(tx, limit, refused, &handled)
			})
		})
		if err != nil || handled == 0 {
			return err
		}
	}
}

func (s *Scheduler) recoverSome(tx *store.Tx, limit int, refused map[uint64]error, handled *int) error {
	for job := range tx.Jobs.Running() {
		if *handled == limit {
			return nil
		}
		if s.passedFor(job.ID) > 0 {
			continue
		}
		var err error
		if bad := refused[job.ID]; bad != nil {
			err = s.setAside(tx, &job, store.Reason{Code: store.ReasonError, Detail: firstLine(bad)})
		} else {
			err = s.interrupted(tx, &job)
		}
		if err != nil {
			return &jobError{id: job.ID, at: *handled, err: err}
		}
		*handled++
	}
	for kind := range s.cfg.Kinds {
		for job := range tx.Jobs.SetAside(kind) {
			if *handled == limit {
				return nil
			}
			if job.Reason.Code != store.ReasonUnknownKind || s.passedFor(job.ID) > 0 {
				continue // it stays where it is
			}
			job.State, job.Reason = store.JobWaiting, store.Reason{}
			if err := tx.Jobs.Put(&job); err != nil {
				return &jobError{id: job.ID, at: *handled, err: err}
			}
			*handled++
		}
	}
	return nil
}

// interrupted ends the run of a job that ended with the program.
func (s *Scheduler) interrupted(tx *store.Tx, job *store.Job) error {
	why := store.Reason{Code: store.ReasonInterrupted}
	past := store.Run{
		Job: job.Name, Kind: job.Kind, Lane: job.Lane, Occurrence: job.Occurrence, Started: job.Started,
		Ended: tx.Now(), Attempt: job.Attempt, Result: store.ResultInterrupted, Missed: job.Missed,
	}
	job.Broken++
	if job.Broken > 1 {
		why.N, why.Of = job.Broken, maxBroken
	}
	past.Reason = why
	s.observe(tx, &past, time.Time{})
	job.LastRun, job.LastResult, job.LastReason = past.Started, past.Result, past.Reason
	job.Started, job.LeaseEnd = time.Time{}, time.Time{}
	switch {
	case job.Removed:
		return errors.Join(tx.Runs.Add(&past), remove(tx, job))
	case beginsAnew(*job, past.Started):
		job.Attempt, job.Broken, job.Missed = 0, 0, 0
		job.Due, job.Reason = job.Occurrence, store.Reason{}
	case job.Broken >= maxBroken:
		if err := tx.Runs.Add(&past); err != nil {
			return err
		}
		return s.conclude(tx, job, store.Reason{Code: store.ReasonGaveUp, N: job.Broken, Of: maxBroken})
	default:
		job.Due, job.Reason = tx.Now().Add(brokenPause(job.Broken)), why
	}
	past.Next = job.Due
	return errors.Join(tx.Runs.Add(&past), s.wait(tx, job))
}

// beginsAnew reports whether the schedule of a job was changed during the run that began at
// started, to one that has not begun yet.
func beginsAnew(job store.Job, started time.Time) bool {
	return job.Occurrence.After(started) && !job.Requested
}

// brokenPause is 0 after the first run that ended with the program, and doubles from a second to
// five minutes.
func brokenPause(broken int) time.Duration {
	if broken <= 1 {
		return 0
	}
	return min(time.Second<<min(broken-2, 20), 5*time.Minute)
}

// inDoubt reports whether the store may hold jobs as running that nobody runs: a commit that
// reported an error may have been made all the same.
func (s *Scheduler) inDoubt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.doubt
}

// takeBack makes jobs wait again that are running by the store but not here. Their runs were never
// begun, so nothing is counted and nothing recorded. The caller holds s.handing if s is in doubt.
func (s *Scheduler) takeBack(tx *store.Tx, c *claims) error {
	if !s.inDoubt() {
		return nil
	}
	for job := range tx.Jobs.Running() {
		if c.handled == c.limit {
			return nil
		}
		if s.isUnderWay(job) || s.passedFor(job.ID) > 0 {
			continue
		}
		var err error
		if bad := c.refused[job.ID]; bad != nil {
			err = s.setAside(tx, &job, store.Reason{Code: store.ReasonError, Detail: firstLine(bad)})
		} else {
			err = s.takeBackJob(tx, &job)
		}
		if err != nil {
			return &jobError{id: job.ID, at: c.handled, err: err}
		}
		c.handled++
	}
	c.certain = true
	return nil
}

func (s *Scheduler) takeBackJob(tx *store.Tx, job *store.Job) error {
	if job.Removed {
		return remove(tx, job)
	}
	job.Attempt = max(0, job.Attempt-1)
	if beginsAnew(*job, job.Started) {
		job.Attempt, job.Broken, job.Missed = 0, 0, 0
	}
	job.Started, job.LeaseEnd = time.Time{}, time.Time{}
	if err := s.wait(tx, job); err != nil {
		return fmt.Errorf("take back %s: %w", job.Name, err)
	}
	return nil
}

// isUnderWay reports whether the claim that job shows is one of the runs under way.
func (s *Scheduler) isUnderWay(job store.Job) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.active[job.Name]
	return r != nil && r.job.ID == job.ID && r.job.Started.Equal(job.Started) && r.job.Attempt == job.Attempt
}
