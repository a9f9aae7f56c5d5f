package tasks

import (
	"slices"
	"time"

	"belfry/store"
	"belfry/worker"
)

// longestWait is how long a chat may have the task wait at most. The longest slow mode is an hour.
const longestWait = 24 * time.Hour

// turn returns when the task's turn is, giving it one if it has none. Turns are as far from each
// other as the pause of the task that had the one before, and taken in the order in which the tasks
// of an account came for them, so that they alternate. However late a turn is used, the least pause
// after the call before it is kept.
func (w *Worker) turn(tx *store.Tx, task *store.Task, next store.Delivery, pace *store.Pace) time.Time {
	now := tx.Now()
	if pace.Open == next.ID { // nobody knows how the last call ended: it is repeated, which takes no turn
		return now
	}
	if pace.Open != 0 { // the same, but another task comes first: the call may have ended just now
		pace.Open, pace.Last = 0, now
	}
	var round time.Duration // in which each task has had its turn
	for other := range tx.Tasks.Active(task.IdentityID) {
		round += other.MaxPause
	}
	if task.Slot.IsZero() || task.Slot.Sub(now) > round {
		task.Slot = worker.Later(now, worker.WaitEnd(now, pace.Next, round))
		pace.Next = task.Slot.Add(w.pause(task.MinPause, task.MaxPause))
	}
	gap := max(pace.Gap, task.MinPause)
	return worker.Later(task.Slot, worker.WaitEnd(now, pace.Last.Add(gap), gap))
}

// giveBack has the tasks of an account take their turns anew, because one of them is not going to use its
// own, and what it wanted as a pause does not bind the others.
func giveBack(tx *store.Tx, identityID uint64) error {
	pace, err := tx.Paces.Of(identityID)
	if err != nil || pace.ID == 0 {
		return err
	}
	pace.Next, pace.Gap = time.Time{}, 0
	if err := tx.Paces.Put(&pace); err != nil {
		return err
	}
	var waiting []store.Task
	for task := range tx.Tasks.Active(identityID) {
		if !task.Slot.IsZero() {
			waiting = append(waiting, task)
		}
	}
	slices.SortFunc(waiting, func(a, b store.Task) int { return a.Slot.Compare(b.Slot) })
	for i, task := range waiting {
		task.Slot = time.Time{}
		if err := tx.Tasks.Put(&task); err != nil {
			return err
		}
		job, err := tx.Jobs.ByName(task.JobName())
		if err != nil || job.State != store.JobWaiting || job.Reason.Code != store.ReasonPacing {
			continue // it comes by itself
		}
		job.Due, job.Reason = tx.Now().Add(time.Duration(i)), store.Reason{} // in the order that they had
		if err := tx.Jobs.Put(&job); err != nil {
			return err
		}
	}
	return nil
}
