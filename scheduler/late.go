package scheduler

import (
	"time"

	"belfry/store"
)

// maxBacklog is how many missed runs are made up for one by one.
const maxBacklog = 100

// decideLateness applies the job's policy to a run whose time may have passed. A run that takes
// place stands for the occurrences that passed meanwhile, and says for how many.
func (s *Scheduler) decideLateness(tx *store.Tx, job *store.Job) (ready bool, err error) {
	if job.Lateness.Policy == store.LateEach {
		return true, s.boundBacklog(tx, job)
	}
	if job.Missed, err = missed(job.Trigger, job.Name, job.Occurrence, tx.Now()); err != nil {
		return false, err
	}
	late := tx.Now().Sub(job.Occurrence)
	if job.Lateness.Policy != store.LateSkip || late <= job.Lateness.Grace {
		return true, nil
	}
	why := store.Reason{Code: store.ReasonLate, Detail: late.Round(time.Second).String()}
	if job.Missed == 0 {
		return false, s.skip(tx, job, why)
	}
	last, err := nthLast(job.Trigger, job.Name, job.Occurrence, tx.Now(), 0)
	if err != nil {
		return false, err
	}
	if tx.Now().Sub(last) > job.Lateness.Grace {
		return false, s.skip(tx, job, why)
	}
	// The last of them is in time.
	job.Missed--
	if err := s.record(tx, *job, store.ResultSkipped, why); err != nil {
		return false, err
	}
	job.Occurrence, job.Missed = last, 0
	return true, nil
}

func (s *Scheduler) skip(tx *store.Tx, job *store.Job, why store.Reason) error {
	if err := s.record(tx, *job, store.ResultSkipped, why); err != nil {
		return err
	}
	return s.conclude(tx, job, why)
}

// boundBacklog moves a job that makes up for each missed run to the last of them, so that a long
// outage is not followed by a flood.
func (s *Scheduler) boundBacklog(tx *store.Tx, job *store.Job) error {
	behind, err := missed(job.Trigger, job.Name, job.Occurrence, tx.Now())
	if err != nil || behind <= maxBacklog {
		return err
	}
	dropped := *job
	dropped.Missed = behind - maxBacklog - 1
	if err := s.record(tx, dropped, store.ResultSkipped, store.Reason{Code: store.ReasonLate}); err != nil {
		return err
	}
	job.Occurrence, err = nthLast(job.Trigger, job.Name, job.Occurrence, tx.Now(), maxBacklog)
	return err
}
