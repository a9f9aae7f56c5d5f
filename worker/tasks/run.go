package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

// loginPause is how often a task looks whether its account is logged in again.
const loginPause = time.Minute

// sender sends a task, one chat in each run.
type sender struct{ *Worker }

// Run takes the task's next step.
func (w sender) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	out, err := w.step(ctx, job)
	out.Step = true
	return out, err
}

func (w sender) step(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	s, out, err := w.begin(job)
	if err != nil || s == nil {
		return out, err
	}
	call, cancel := context.WithTimeout(ctx, w.deadline(s.task))
	defer cancel()
	chat, asked, err := w.network.Resolve(call, s.task.IdentityID, s.delivery.Target)
	if err != nil {
		return w.failed(ctx, s, asked, err)
	}
	ready, out, err := w.fix(s, chat, asked)
	if err != nil || !ready {
		return out, err
	}
	receipt, err := w.network.Publisher(s.task.IdentityID).Publish(call, platformPost(s.task, s.delivery.Key, s.delivery.Target))
	if err != nil {
		return w.failed(ctx, s, true, err)
	}
	return w.sent(s, receipt), nil
}

// step is what a run is about: one chat of a task.
type step struct {
	job      store.Job
	task     store.Task
	delivery store.Delivery
	begun    bool // the attempt is on record
}

// begin decides whether something may be sent now, and to which chat. If not, step is nil and the
// outcome says when to look again.
func (w *Worker) begin(job store.Job) (s *step, out scheduler.Outcome, err error) {
	err = w.db.Update(func(tx *store.Tx) error {
		s, out = nil, scheduler.Outcome{}
		task, err := tx.Tasks.Get(job.Subject)
		if errors.Is(err, store.ErrNotFound) || (err == nil && task.Status.Final()) {
			return nil
		}
		if err != nil {
			return err
		}
		identity, err := tx.Identities.Get(task.IdentityID)
		if errors.Is(err, store.ErrNotFound) {
			out, err = end(tx, task, store.TaskFailed, store.Reason{Code: store.ReasonIdentityGone})
			return err
		}
		if err != nil {
			return err
		}
		if identity.State == store.IdentityLogin || identity.State == store.IdentityStopped {
			out = waitForLogin(identity, tx.Now())
			return nil
		}
		delivery, err := tx.Deliveries.Next(task.ID)
		if errors.Is(err, store.ErrNotFound) {
			out, err = finish(tx, task)
			return err
		}
		if err != nil {
			return err
		}
		pace, err := tx.Paces.Of(task.IdentityID)
		if err != nil {
			return err
		}
		if at, why := w.mayNot(tx.Now(), task, delivery, pace); !at.IsZero() {
			out = scheduler.Outcome{Again: at, Reason: why}
			return nil
		}
		at := w.turn(tx.Now(), &task, delivery, &pace)
		if err := tx.Paces.Put(&pace); err != nil {
			return err
		}
		if at.After(tx.Now()) {
			out = scheduler.Outcome{Again: at, Reason: store.Reason{Code: store.ReasonPacing, Until: at}}
			return tx.Tasks.Put(&task)
		}
		if task.Status == store.TaskPending { // taken up
			task.Status = store.TaskProcessing
			task.Attempts++
		}
		if task.StartedAt.IsZero() {
			task.StartedAt = tx.Now()
		}
		task.Slot, task.UpdatedAt = time.Time{}, tx.Now()
		s = &step{job: job, task: task, delivery: delivery}
		return tx.Tasks.Put(&task)
	})
	if err != nil {
		return nil, out, fmt.Errorf("begin a step of task %d: %w", job.Subject, err)
	}
	return s, out, nil
}

// mayNot returns until when nothing may be sent for the task, and why; zero if something may.
func (w *Worker) mayNot(now time.Time, task store.Task, next store.Delivery, pace store.Pace) (time.Time, store.Reason) {
	if next.After.After(now) {
		why := next.Reason
		why.Until = next.After
		return next.After, why
	}
	if end, quiet := quietEnd(task.Quiet, now); quiet {
		return end, store.Reason{Code: store.ReasonQuiet, Until: end}
	}
	if task.DailyCap > 0 && pace.Day == w.day(now) && pace.Sent >= task.DailyCap {
		local := now.In(w.cfg.Zone)
		tomorrow := time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, w.cfg.Zone).UTC()
		return tomorrow, store.Reason{Code: store.ReasonDailyCap, N: pace.Sent, Of: task.DailyCap, Until: tomorrow}
	}
	return time.Time{}, store.Reason{}
}

func (w *Worker) day(now time.Time) string { return now.In(w.cfg.Zone).Format(time.DateOnly) }

// turn returns when the task's turn is, giving it one if it has none. Turns are as far from each
// other as the pause of the task that had the one before, and taken in the order in which the tasks
// of an account came for them, so that they alternate. However late a turn is used, the least pause
// after the call before it is kept.
func (w *Worker) turn(now time.Time, task *store.Task, next store.Delivery, pace *store.Pace) time.Time {
	if pace.Open == next.ID { // nobody knows how the last call ended: it is repeated, which takes no turn
		return now
	}
	if pace.Open != 0 { // the same, but another task comes first: the call may have ended just now
		pace.Open, pace.Last = 0, now
	}
	if task.Slot.IsZero() {
		task.Slot = later(now, pace.Next)
		pace.Next = task.Slot.Add(w.pause(task.MinPause, task.MaxPause))
	}
	if pace.Last.IsZero() {
		return task.Slot
	}
	return later(task.Slot, pace.Last.Add(max(pace.Gap, task.MinPause)))
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// fix notes which chat the target is and that an attempt begins: from then on it counts as possibly
// out. If the chat is not to be sent to now, ready is false.
func (w *Worker) fix(s *step, chat platform.Chat, asked bool) (ready bool, out scheduler.Outcome, err error) {
	err = w.db.Update(func(tx *store.Tx) error {
		ready, out, s.begun = false, scheduler.Outcome{}, false
		task, err := tx.Tasks.Get(s.task.ID)
		if err != nil || task.Status.Final() { // cancelled meanwhile
			return err
		}
		row, err := meet(tx, task.IdentityID, chat, asked)
		if err != nil {
			return err
		}
		d, err := tx.Deliveries.Get(s.delivery.ID)
		if err != nil {
			return err
		}
		d.ChatID, d.Title = row.ID, row.Title
		why, err := unwanted(tx, d, row)
		if err != nil {
			return err
		}
		switch {
		case !why.Zero():
			out, err = settleUnasked(tx, s, d, store.DeliverySkipped, why)
			return err
		case row.SlowUntil.After(tx.Now()):
			d.After = row.SlowUntil
			out, err = settleUnasked(tx, s, d, store.DeliveryPending, store.Reason{Code: store.ReasonSlowmode, Until: d.After})
			return err
		}
		d.Key = chatKey(task, chat.ChatRef)
		d.Add(store.Try{At: tx.Now(), Outcome: store.TryBegun})
		pace, err := tx.Paces.Of(task.IdentityID)
		if err != nil {
			return err
		}
		pace.Open, pace.Last, pace.Gap = d.ID, tx.Now(), task.MinPause
		if err := tx.Paces.Put(&pace); err != nil {
			return err
		}
		s.delivery, s.begun, ready = d, true, true
		return tx.Deliveries.Put(&d)
	})
	if err != nil {
		return false, out, fmt.Errorf("begin delivery %d of task %d: %w", s.delivery.ID, s.task.ID, err)
	}
	return ready, out, nil
}

// unwanted says why a delivery is not to be made, if so: the chat is switched off, or the task names
// it twice.
func unwanted(tx *store.Tx, d store.Delivery, chat store.Chat) (store.Reason, error) {
	if chat.Off {
		return store.Reason{Code: store.ReasonChatOff}, nil
	}
	same, err := tx.Deliveries.To(d.TaskID, chat.ID)
	if err != nil {
		return store.Reason{}, err
	}
	for _, other := range same {
		if other.ID != d.ID && (other.Status == store.DeliverySent || other.ID < d.ID) {
			return store.Reason{Code: store.ReasonSameChat, Detail: other.Target}, nil
		}
	}
	return store.Reason{}, nil
}

// End is called when the scheduler gives a task's job up.
func (w sender) End(tx *store.Tx, job store.Job, why store.Reason) error {
	task, err := tx.Tasks.Get(job.Subject)
	if errors.Is(err, store.ErrNotFound) || (err == nil && task.Status.Final()) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = end(tx, task, store.TaskFailed, why)
	return err
}
