package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"belfry/i18n"
	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

// sender sends a task, one chat in each run: that of its step, or it has none and the outcome says when to look
// again.
type sender struct {
	*Worker
	step *step
	out  scheduler.Outcome
}

// Begin finds the task's next step in the claim's transaction.
func (w sender) Begin(tx *store.Tx, job store.Job) (scheduler.Worker, error) {
	if err := w.begin(tx, job); err != nil {
		return nil, fmt.Errorf("begin a step of task %d: %w", job.Subject, err)
	}
	return w, nil
}

// Run takes the step.
func (w sender) Run(ctx context.Context, _ store.Job) (scheduler.Outcome, error) {
	out, err := w.out, error(nil)
	if w.step != nil {
		out, err = w.take(ctx, w.step)
	}
	out.Step = true
	return out, err
}

func (w *Worker) take(ctx context.Context, s *step) (scheduler.Outcome, error) {
	call, cancel := context.WithTimeout(ctx, w.deadline(s.task))
	defer cancel()
	chat, asked, err := w.network.Resolve(call, s.task.IdentityID, s.delivery.Target)
	if err != nil {
		return w.failed(s, asked, err), nil
	}
	ready, out, err := w.fix(s, chat, asked)
	if err != nil || !ready {
		return out, err
	}
	receipt, err := w.network.Publisher(s.task.IdentityID).Publish(call, deliveryPost(s, chat))
	if err != nil {
		return w.failed(s, true, err), nil
	}
	return w.sent(s, receipt), nil
}

// deliveryPost is what is sent to a chat: only there, as the key is the chat's.
func deliveryPost(s *step, chat platform.Chat) platform.Post {
	post := platformPost(s.task, s.delivery.Key, s.delivery.Target)
	post.Chat = chat.ChatRef
	return post
}

// step is what a run is about: one chat of a task.
type step struct {
	job      store.Job
	task     store.Task
	delivery store.Delivery
	identity store.Identity
	begun    bool       // the attempt is on record
	pace     store.Pace // as it was before that

	unreached int // attempts in a row without a connection, before this one
}

// begin decides whether something may be sent now, and to which chat.
func (w *sender) begin(tx *store.Tx, job store.Job) error {
	task, err := tx.Tasks.Get(job.Subject)
	if errors.Is(err, store.ErrNotFound) || (err == nil && task.Status.Final()) {
		return nil
	}
	if err != nil {
		return err
	}
	if task.Status == store.TaskPreparing {
		w.out = scheduler.Outcome{Again: tx.Now().Add(preparePatience), Reason: preparing(task)}
		return putPrepare(tx, task) // if it was lost
	}
	identity, err := tx.Identities.Get(task.IdentityID)
	if errors.Is(err, store.ErrNotFound) {
		w.out, err = end(tx, &task, store.TaskFailed, store.Reason{Code: store.ReasonIdentityGone})
		return err
	}
	if err != nil {
		return err
	}
	if why, may := send.MayAct(identity); !may {
		w.out = send.HoldIdentity(w.out, job, identity, why, tx.Now())
		return nil
	}
	delivery, err := tx.Deliveries.Next(task.ID)
	if errors.Is(err, store.ErrNotFound) {
		w.out, err = w.finish(tx, task)
		return err
	}
	if err != nil {
		return err
	}
	pace, err := tx.Paces.Of(task.IdentityID)
	if err != nil {
		return err
	}
	if w.out = w.mayNot(tx.Now(), task, delivery, pace); !w.out.Again.IsZero() {
		return nil
	}
	at := w.turn(tx, &task, delivery, &pace)
	if err := tx.Paces.Put(&pace); err != nil {
		return err
	}
	if at.After(tx.Now()) {
		w.out = scheduler.Outcome{Again: at, Reason: store.Reason{Code: store.ReasonPacing, Until: at}}
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
	w.step = &step{job: job, task: task, delivery: delivery, identity: identity, unreached: send.Unreached(tx, job.Lane)}
	return tx.Tasks.Put(&task)
}

// mayNot returns when the task is to come again if nothing may be sent for it now, and why.
func (w *Worker) mayNot(now time.Time, task store.Task, next store.Delivery, pace store.Pace) scheduler.Outcome {
	if at := worker.WaitEnd(now, next.After, longestWait); !at.IsZero() {
		why := next.Reason
		why.Until = at
		return scheduler.Outcome{Again: at, Reason: why}
	}
	if end, quiet := quietEnd(task.Quiet, now.In(w.zone.Load())); quiet {
		return scheduler.Outcome{Again: end, WallClock: true, Reason: store.Reason{Code: store.ReasonQuiet, Until: end}}
	}
	if task.DailyCap > 0 && pace.Day == w.day(now) && pace.Sent >= task.DailyCap {
		tomorrow := w.tomorrow(now)
		return scheduler.Outcome{Again: tomorrow, WallClock: true,
			Reason: store.Reason{Code: store.ReasonDailyCap, N: pace.Sent, Of: task.DailyCap, Until: tomorrow}}
	}
	return scheduler.Outcome{}
}

func (w *Worker) day(now time.Time) string { return now.In(w.zone.Load()).Format(time.DateOnly) }

// tomorrow is when the next day begins.
func (w *Worker) tomorrow(now time.Time) time.Time {
	local := now.In(w.zone.Load())
	return i18n.StartOfDay(local.Year(), local.Month(), local.Day()+1, local.Location()).UTC()
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
		own, err := tx.Jobs.Get(s.job.ID)
		if err != nil {
			return err
		}
		if own.Paused && !own.Requested { // paused meanwhile
			out.Again = tx.Now()
			return nil
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
		case !why.Zero() && slices.ContainsFunc(d.Tries, store.Try.Unanswered): // it may have the post
			out, err = w.settleUnasked(tx, s, d, store.DeliveryFailed, store.Reason{Code: store.ReasonUnknown})
			return err
		case !why.Zero():
			out, err = w.settleUnasked(tx, s, d, store.DeliverySkipped, why)
			return err
		case !worker.WaitEnd(tx.Now(), row.SlowUntil, longestWait).IsZero():
			d.After = row.SlowUntil
			out, err = w.settleUnasked(tx, s, d, store.DeliveryPending, store.Reason{Code: store.ReasonSlowmode, Until: d.After})
			return err
		}
		d.Key = chatKey(task, chat.ChatRef)
		d.Add(store.Try{At: tx.Now(), Outcome: store.TryBegun})
		pace, err := tx.Paces.Of(task.IdentityID)
		if err != nil {
			return err
		}
		s.pace = pace
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
	_, err = end(tx, &task, store.TaskFailed, why)
	return err
}
