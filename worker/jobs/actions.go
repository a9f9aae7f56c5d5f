package jobs

import (
	"errors"
	"fmt"
	"reflect"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/posts"
)

// Create writes a new job and its row of the schedule.
func (w *Worker) Create(tx *store.Tx, d Draft) (store.Job, error) {
	own := d.own
	own.CreatedAt, own.UpdatedAt = tx.Now(), tx.Now()
	if err := tx.OwnJobs.Put(&own); err != nil {
		return store.Job{}, err
	}
	if err := put(tx, own); err != nil {
		return store.Job{}, err
	}
	return tx.Jobs.ByName(own.JobName())
}

// Own is what the owner has said of a job. It refuses a job of another kind.
func (w *Worker) Own(tx *store.Tx, name string) (store.OwnJob, error) {
	job, err := tx.Jobs.ByName(name)
	if err != nil {
		return store.OwnJob{}, err
	}
	if job.Kind != Kind {
		return store.OwnJob{}, store.Conflict("conflict.job_not_own", name)
	}
	return tx.OwnJobs.Get(job.Subject)
}

// Change writes a changed job; another schedule holds from this moment. It refuses while the job runs, and if its owner
// has changed it since the change was prepared. What it sends next is something new.
func (w *Worker) Change(tx *store.Tx, d Draft) (store.Job, error) {
	name := d.own.JobName()
	was, err := w.Own(tx, name)
	if err != nil {
		return store.Job{}, err
	}
	if err := scheduler.MayChange(tx, name); err != nil {
		return store.Job{}, err
	}
	if !was.UpdatedAt.Equal(d.was) {
		return store.Job{}, store.Conflict("conflict.job_changed", name)
	}
	changed := d.own
	changed.UpdatedAt, changed.Failures, changed.Key = tx.Now(), 0, was.Key
	if !was.Trigger.Equal(changed.Trigger) || !reflect.DeepEqual(was.Action, changed.Action) {
		changed.Key = 0
	}
	if err := tx.OwnJobs.Put(&changed); err != nil {
		return store.Job{}, err
	}
	if err := put(tx, changed); err != nil {
		return store.Job{}, err
	}
	job, err := tx.Jobs.ByName(name)
	if err != nil || was.Action.IdentityID == changed.Action.IdentityID {
		return job, err
	}
	if err := tx.Jobs.Wake(name, worker.Later(job.Occurrence, tx.Now())); err != nil { // it does not wait for the account before
		return job, err
	}
	return tx.Jobs.ByName(name)
}

// Remove deletes a job. It refuses while the job runs, and the jobs of other workers: a post's job is removed by cancelling
// the post.
func (w *Worker) Remove(tx *store.Tx, name string) error {
	job, err := tx.Jobs.ByName(name)
	if err != nil {
		return err
	}
	if job.Kind == posts.Kind {
		_, err := w.with.Posts.Cancel(tx, job.Subject)
		return err
	}
	if job.Kind != Kind {
		return store.Conflict("conflict.job_not_own", name)
	}
	if err := scheduler.MayChange(tx, name); err != nil {
		return err
	}
	if err := gone(tx.OwnJobs.Delete(job.Subject)); err != nil {
		return err
	}
	return scheduler.Delete(tx, name)
}

// Action is what people do with jobs.
type Action string

// The actions on jobs.
const (
	Pause  Action = "pause"
	Resume Action = "resume"
	Run    Action = "run"
	Delete Action = "delete"
)

// Do takes an action on a job of any kind; the job is as it was before if it was deleted. The job of a post that needs
// approval is not started, and a broadcast goes at its own pace.
func (w *Worker) Do(tx *store.Tx, action Action, name string) (store.Job, error) {
	switch action {
	case Pause:
		return scheduler.Pause(tx, name)
	case Resume:
		return posts.Approved(scheduler.Resume)(tx, name)
	case Run:
		if job, err := tx.Jobs.ByName(name); err == nil && job.Kind == store.TaskKind { // all that is left would go, whatever its pauses
			return job, store.Conflict("conflict.task_pace", job.Subject)
		}
		return posts.Approved(scheduler.RunNow)(tx, name)
	case Delete:
		job, err := tx.Jobs.ByName(name)
		if err != nil {
			return job, err
		}
		return job, w.Remove(tx, name)
	}
	return store.Job{}, store.Invalid("action", "invalid.not_one_of", string(action), "pause, resume, run, delete")
}

// Refused is a job on which an action was not taken.
type Refused struct {
	Job string
	Err error
}

// DoAll takes an action on each of several jobs, and returns those that refused it with the reasons. Any other error
// undoes all.
func (w *Worker) DoAll(tx *store.Tx, action Action, names []string) (done int, refused []Refused, err error) {
	for _, name := range names {
		_, err := w.Do(tx, action, name)
		_, conflict := errors.AsType[*store.ConflictError](err)
		switch {
		case err == nil:
			done++
		case conflict || errors.Is(err, store.ErrNotFound):
			refused = append(refused, Refused{name, err})
		default:
			return 0, nil, fmt.Errorf("%s %s: %w", action, name, err)
		}
	}
	return done, refused, nil
}
