package scheduler

import (
	"errors"

	"belfry/store"
)

// Put registers a job in the caller's transaction: its Name, Kind, Lane, Trigger, and whatever else
// describes it. A job that exists keeps its next run, its pause and its history as long as its
// trigger is the same; with another trigger the new schedule begins at once. A job that is new runs
// first at its trigger's first time, or at Due if that is set.
func Put(tx *store.Tx, job store.Job) error {
	if err := Validate(job.Trigger); err != nil {
		return err
	}
	if job.Trigger.Zone == "" && (job.Trigger.Cron != "" || len(job.Trigger.Times) > 0) {
		job.Trigger.Zone = "UTC"
	}
	old, err := tx.Jobs.ByName(job.Name)
	if errors.Is(err, store.ErrNotFound) {
		return putNew(tx, job)
	}
	if err != nil {
		return err
	}
	same := old.Trigger.Equal(job.Trigger)
	old.Paused = old.Paused && !old.Removed // the pause was of the one that was deleted
	old.Kind, old.Subject, old.Lane = job.Kind, job.Subject, job.Lane
	old.Lateness, old.Timeout, old.Trigger, old.Removed = job.Lateness, job.Timeout, job.Trigger, false
	old.Attempts, old.Backoff, old.Tags = job.Attempts, job.Backoff, job.Tags
	if old.Lateness.Policy == store.LateEach {
		old.Missed = 0 // what waits to be tried again stands for itself alone from now on
	}
	if !same {
		if err := restart(tx, &old); err != nil {
			return err
		}
	}
	return tx.Jobs.Put(&old)
}

func putNew(tx *store.Tx, job store.Job) error {
	first, err := First(job.Trigger, job.Name, tx.Now())
	if err != nil {
		return err
	}
	if !job.Due.IsZero() {
		first = job.Due.UTC()
	}
	fresh := store.Job{
		Name: job.Name, Kind: job.Kind, Subject: job.Subject, Lane: job.Lane, Trigger: job.Trigger,
		Lateness: job.Lateness, Timeout: job.Timeout, Attempts: job.Attempts, Backoff: job.Backoff, Tags: job.Tags,
		State: store.JobWaiting, Occurrence: first, Due: first,
	}
	return tx.Jobs.Put(&fresh)
}

// restart begins the job's schedule anew. A running job does so when its run has ended.
func restart(tx *store.Tx, job *store.Job) error {
	first, err := First(job.Trigger, job.Name, tx.Now())
	if err != nil {
		return err
	}
	job.Occurrence, job.Due = first, first
	if job.State == store.JobRunning {
		return nil
	}
	job.Attempt, job.Broken, job.Requested, job.Missed = 0, 0, false, 0
	switch {
	case job.State == store.JobPaused:
	case job.Paused: // it was to be paused again after the run that was asked for
		job.State, job.Paused, job.Reason = store.JobPaused, false, store.Reason{Code: store.ReasonPaused}
	default:
		job.State, job.Reason = store.JobWaiting, store.Reason{}
	}
	return nil
}

// Reschedule gives a job another trigger, which holds from this moment.
func Reschedule(tx *store.Tx, name string, trigger store.Trigger) (store.Job, error) {
	job, err := tx.Jobs.ByName(name)
	if err != nil {
		return job, err
	}
	job.Trigger = trigger
	if err := Put(tx, job); err != nil {
		return job, err
	}
	return tx.Jobs.ByName(name)
}

// Pause keeps a job from being started until it is resumed. A run under way is not disturbed, and is the last one also of
// those that somebody had asked for.
func Pause(tx *store.Tx, name string) (store.Job, error) {
	job, err := tx.Jobs.ByName(name)
	if err != nil {
		return job, err
	}
	switch job.State {
	case store.JobRunning:
		job.Paused, job.Requested = true, false
	case store.JobWaiting:
		if job.Requested {
			job.Requested, job.Due = false, job.Occurrence
		}
		job.State, job.Paused = store.JobPaused, false
		job.Reason = store.Reason{Code: store.ReasonPaused}
	case store.JobSetAside:
		return job, store.Conflict("conflict.set_aside", name)
	}
	return job, tx.Jobs.Put(&job)
}

// Resume lets a paused job go on. A run whose time has passed meanwhile is dealt with as late.
func Resume(tx *store.Tx, name string) (store.Job, error) {
	job, err := tx.Jobs.ByName(name)
	if err != nil {
		return job, err
	}
	job.Paused = false
	switch job.State {
	case store.JobPaused:
		job.State, job.Reason = store.JobWaiting, store.Reason{}
		if job.Due.After(tx.Now()) && !job.Due.Equal(job.Occurrence) { // it waits as its last run has said
			job.Reason = job.LastReason
		}
	case store.JobSetAside: // perhaps the cause is gone; if not, it is set aside again
		job.State, job.Reason = store.JobWaiting, store.Reason{}
	}
	return job, tx.Jobs.Put(&job)
}

// RunNow has a job run at once, paused or not. Its schedule is not shifted. If the job is late, or
// waits to be tried again, the run is the one that it waits for.
func RunNow(tx *store.Tx, name string) (store.Job, error) {
	job, err := tx.Jobs.ByName(name)
	if err != nil {
		return job, err
	}
	if job.State == store.JobRunning {
		return job, store.Conflict("conflict.running", name)
	}
	job.Paused = job.State == store.JobPaused || (job.Paused && job.Requested)
	job.State, job.Requested, job.Due = store.JobWaiting, true, tx.Now()
	job.Reason = store.Reason{Code: store.ReasonRequested}
	return job, tx.Jobs.Put(&job)
}

// Delete removes a job; one that runs is removed when its run has ended. A job that does not exist
// is no error.
func Delete(tx *store.Tx, name string) error {
	job, err := tx.Jobs.ByName(name)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if job.State == store.JobRunning {
		job.Removed = true
		return tx.Jobs.Put(&job)
	}
	return tx.Jobs.Delete(job.ID)
}

// Why says why a job does not run before its next time, or at all, taking into account that its
// whole lane may be held, or the whole file paused. It is zero for a job that just waits for its
// time.
func Why(tx *store.Tx, job store.Job) (store.Reason, error) {
	if job.State != store.JobWaiting {
		return job.Reason, nil
	}
	paused, err := tx.Settings.Value(settingPaused)
	if err != nil {
		return store.Reason{}, err
	}
	if paused != "" {
		return store.Reason{Code: store.ReasonPaused, Detail: paused}, nil
	}
	if until, why := tx.Holds.Until(job.Lane); until.After(tx.Now()) && until.After(job.Due) {
		why.Until = until
		return why, nil
	}
	return job.Reason, nil
}

// MayChange refuses a change to what a job is about while the job is claimed: the run may have read
// what was there before. A job that does not exist is no error.
func MayChange(tx *store.Tx, name string) error {
	job, err := tx.Jobs.ByName(name)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err == nil && job.State == store.JobRunning {
		return store.Conflict("conflict.running", name)
	}
	return err
}
