package tasks

import (
	"context"
	"errors"
	"strings"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

const (
	// stepWrites is how many deliveries one transaction writes, and stepReads how many it looks at: whatever
	// else is due waits no longer than for that.
	stepWrites = store.MaxFollowing
	stepReads  = 1000
	// preparePatience is how long a task whose time has come waits for its list of chats. It is woken.
	preparePatience = time.Hour
	// prepareLane is the lane in which lists of chats are written, one after the other.
	prepareLane = "tasks"
)

// preparer writes the list of chats of a large task, some in each run.
type preparer struct{ *Worker }

// Run writes the next ones.
func (w preparer) Run(_ context.Context, job store.Job) (scheduler.Outcome, error) {
	return scheduler.Outcome{Again: w.db.Now(), Step: true, Write: func(tx *store.Tx) error {
		task, err := tx.Tasks.Get(job.Subject)
		if errors.Is(err, store.ErrNotFound) || (err == nil && task.Status != store.TaskPreparing) {
			return scheduler.Delete(tx, job.Name)
		}
		if err != nil {
			return err
		}
		done, err := prepare(tx, &task)
		if err != nil || !done {
			return errors.Join(err, tx.Tasks.Put(&task))
		}
		return errors.Join(ready(tx, &task, startOf(tx, task).Add(1)), scheduler.Delete(tx, job.Name))
	}}, nil
}

// End is called when the scheduler gives the list up.
func (w preparer) End(tx *store.Tx, job store.Job, why store.Reason) error {
	return sender{Worker: w.Worker}.End(tx, job, why)
}

// reserve takes ids for the deliveries of a new task, and writes so much that its targets are in the file.
func reserve(tx *store.Tx, task *store.Task, targets []string) (err error) {
	if task.First, err = tx.Deliveries.Reserve(len(targets)); err != nil {
		return err
	}
	for at := 0; at < len(targets); at += stepWrites {
		d := store.Delivery{ID: task.First + uint64(at), TaskID: task.ID, Target: targets[at], Status: store.DeliveryPending,
			Following: strings.Join(targets[at+1:min(at+stepWrites, len(targets))], " ")}
		if err := tx.Deliveries.PutAt(&d); err != nil {
			return err
		}
	}
	return nil
}

// prepare takes a step in making all deliveries of a task ready to be made: it writes those that are not
// there, and has those made again that failed or were skipped. The caller writes the task.
func prepare(tx *store.Tx, task *store.Task) (done bool, err error) {
	end, reads, writes := task.First+uint64(task.Total), 0, 0
	for d := range tx.Deliveries.From(max(task.First, task.Prepared+1)) {
		if d.ID >= end {
			break
		}
		if reads == stepReads || writes >= stepWrites {
			return false, nil
		}
		reads++
		following := strings.Fields(d.Following)
		task.Prepared = d.ID + uint64(len(following))
		again := (d.Status == store.DeliveryFailed || d.Status == store.DeliverySkipped) && d.Reason.Code != store.ReasonSameChat
		if len(following) == 0 && !again {
			continue
		}
		if again {
			count(task, d.Status, -1)
			d.Status, d.Reason, d.After, d.Failures = store.DeliveryPending, store.Reason{}, time.Time{}, 0
		}
		d.Following = ""
		if err := tx.Deliveries.Put(&d); err != nil {
			return false, err
		}
		for i, target := range following {
			next := store.Delivery{ID: d.ID + 1 + uint64(i), TaskID: task.ID, Target: target, Status: store.DeliveryPending}
			if err := tx.Deliveries.PutAt(&next); err != nil {
				return false, err
			}
		}
		writes += 1 + len(following)
	}
	return true, nil
}

// goOn takes the first step, and leaves those that follow to a job.
func goOn(tx *store.Tx, task *store.Task) error {
	task.Prepared = 0
	done, err := prepare(tx, task)
	if err != nil {
		return err
	}
	if done {
		return ready(tx, task, startOf(tx, *task))
	}
	task.Status, task.UpdatedAt = store.TaskPreparing, tx.Now()
	identity, err := tx.Identities.Get(task.IdentityID)
	if err != nil {
		return err
	}
	return errors.Join(tx.Tasks.Put(task), putJob(tx, *task, identity, task.StartAt), putPrepare(tx, *task))
}

// putPrepare has the list of chats of a task written. If that is under way it changes nothing.
func putPrepare(tx *store.Tx, task store.Task) error {
	return scheduler.Put(tx, store.Job{
		Name: task.PrepareName(), Kind: PrepareKind, Subject: task.ID, Lane: prepareLane, Trigger: store.Trigger{At: task.CreatedAt},
	})
}

// startOf is when a task may begin.
func startOf(tx *store.Tx, task store.Task) time.Time { return worker.Later(task.StartAt, tx.Now()) }

// ready has a task begin whose deliveries are all there, or go on. A job that waits for that has to be given
// another time than it has.
func ready(tx *store.Tx, task *store.Task, at time.Time) error {
	identity, err := tx.Identities.Get(task.IdentityID)
	if err != nil {
		return err
	}
	task.Status, task.Prepared, task.UpdatedAt = store.TaskPending, 0, tx.Now()
	if task.Attempts > 0 {
		task.Status = store.TaskProcessing
	}
	if err := tx.Tasks.Put(task); err != nil {
		return err
	}
	if task.Check == store.CheckRunning {
		if err := putCheck(tx, *task, identity); err != nil {
			return err
		}
	}
	return putJob(tx, *task, identity, at)
}

// preparing says how far the list of chats has come.
func preparing(task store.Task) store.Reason {
	n := 0
	if task.Prepared >= task.First {
		n = int(task.Prepared - task.First + 1)
	}
	return store.Reason{Code: store.ReasonPreparing, N: n, Of: task.Total}
}
