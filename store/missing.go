package store

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// lacks returns the job that a row needs, if the schedule does not have it.
func (d *def[T]) lacks(tx *Tx, row *T) (Job, bool) {
	if d.job == nil {
		return Job{}, false
	}
	job := d.job(tx, row)
	if job.Name == "" {
		return job, false
	}
	_, err := tx.Jobs.ByName(job.Name)
	return job, errors.Is(err, ErrNotFound)
}

// withoutJob calls visit for each row whose job is not in the schedule.
func (d *def[T]) withoutJob(tx *Tx, visit func(Problem, Job) error) error {
	if d.job == nil {
		return nil
	}
	for row := range (&table[T]{d, tx}).All() {
		if job, lacks := d.lacks(tx, &row); lacks {
			if err := visit(lackingJob(d.name, *d.id(&row), job), job); err != nil {
				return err
			}
		}
	}
	return nil
}

func lackingJob(table string, id uint64, job Job) Problem {
	return Problem{Table: table, ID: id, Problem: fmt.Sprintf("has no job %s: it would wait for ever", job.Name)}
}

// putMissingJobs makes jobs that rows need and the schedule has not, as if the rows were new.
func (tx *Tx) putMissingJobs(all []anyTable) (made []Problem, err error) {
	for _, t := range all {
		err := t.withoutJob(tx, func(p Problem, job Job) error {
			made = append(made, p)
			return tx.Jobs.Put(&job)
		})
		if err != nil {
			return nil, fmt.Errorf("put the missing jobs of %s: %w", t.tableName(), err)
		}
	}
	return made, nil
}

// jobOnce is the job of a row that runs once. Whoever paused it is not on record any more.
func jobOnce(tx *Tx, name, kind string, subject, identityID uint64, at time.Time, paused bool) Job {
	lane := "lost" // without its login the worker can only say so
	if identity, err := tx.Identities.Get(identityID); err == nil {
		lane = identity.Lane()
	}
	at = cmp.Or(at, tx.Now())
	job := Job{Name: name, Kind: kind, Subject: subject, Lane: lane, Trigger: Trigger{At: at},
		State: JobWaiting, Occurrence: at, Due: at}
	if paused {
		job.State, job.Reason = JobPaused, Reason{Code: ReasonPaused}
	}
	return job
}
