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

const (
	// loginPause is how often a task looks whether its account is logged in again.
	loginPause = time.Minute
	// connectPause is how often it looks whether there is a connection again.
	connectPause = 5 * time.Second
	// unknownPause is the pause before a call that was not answered is repeated for the first time.
	// The repetition is harmless, and its answer settles what happened.
	unknownPause = 2 * time.Second
)

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

// sent ends a step whose message the network has confirmed.
func (w *Worker) sent(s *step, receipt platform.Receipt) scheduler.Outcome {
	return w.settle(s, func(tx *store.Tx, d *store.Delivery, pace *store.Pace) (store.DeliveryStatus, store.Reason, error) {
		lastTry(d, tx.Now(), store.TrySent, store.Reason{}, 0)
		d.MessageIDs, d.Link, d.SentAt = receipt.MessageIDs, receipt.Link, tx.Now()
		if day := w.day(tx.Now()); pace.Day != day {
			pace.Day, pace.Sent = day, 0
		}
		pace.Sent++
		return store.DeliverySent, store.Reason{}, changeChat(tx, d.ChatID, func(c *store.Chat) {
			c.LastSuccess, c.LastTried, c.Seen, c.LastError, c.ReadOnly = tx.Now(), tx.Now(), 0, store.Reason{}, false
			if c.Slowmode > 0 {
				c.SlowUntil = tx.Now().Add(time.Duration(c.Slowmode) * time.Second)
			}
		})
	})
}

// failed ends a step with what the network said. asked says whether it was asked anything: then the
// next step keeps its distance.
func (w *Worker) failed(ctx context.Context, s *step, asked bool, err error) (scheduler.Outcome, error) {
	if errors.Is(ctx.Err(), context.Canceled) { // the program is ending: nobody's failure
		return scheduler.Outcome{}, err
	}
	e := platform.AsError(err)
	why := store.Reason{Code: store.ReasonRefused, Detail: e.Error()}
	now := w.db.Now()
	switch e.Kind {
	case platform.Wait:
		return w.toWait(s, e), nil
	case platform.Stopped, platform.Login:
		return w.accountOut(s, e), nil
	case platform.Refused:
		if e.Scope == platform.ScopeContent {
			return w.wrongContent(s, why), nil
		}
		return w.settleAsked(s, asked, func(tx *store.Tx, d *store.Delivery, _ *store.Pace) (store.DeliveryStatus, store.Reason, error) {
			lastTry(d, tx.Now(), store.TryRefused, why, 0)
			return store.DeliverySkipped, why, changeChat(tx, d.ChatID, func(c *store.Chat) {
				c.LastError, c.LastTried = why, tx.Now()
			})
		}), nil
	case platform.Transient:
		if e.Scope == platform.ScopeContent {
			return w.taskFailed(s, store.Reason{Code: store.ReasonError, Detail: e.Error()}), nil
		}
		if e.Scope == platform.ScopeIdentity { // nothing was sent, and it is not the chat's fault
			why := store.Reason{Code: store.ReasonNotConnected, Detail: e.Error()}
			out := w.settleAsked(s, false, func(tx *store.Tx, d *store.Delivery, _ *store.Pace) (store.DeliveryStatus, store.Reason, error) {
				lastTry(d, tx.Now(), store.TryFailed, why, 0)
				return store.DeliveryPending, why, nil
			})
			out.Again, out.Reason = now.Add(connectPause), why
			return out, nil
		}
	}
	return w.chatFailed(s, e), nil
}

// chatFailed has a chat tried again after a pause, or gives it up. An unknown outcome leaves the
// call open: no other may follow it closely.
func (w *Worker) chatFailed(s *step, e *platform.Error) scheduler.Outcome {
	unknown := e.Kind == platform.Unknown && s.begun
	return w.settle(s, func(tx *store.Tx, d *store.Delivery, pace *store.Pace) (store.DeliveryStatus, store.Reason, error) {
		outcome := store.TryFailed
		if unknown {
			outcome, pace.Open = store.TryUnknown, d.ID
		}
		d.Failures++
		why := store.Reason{Code: store.ReasonRetry, N: d.Failures, Of: chatFailures, Detail: e.Error()}
		lastTry(d, tx.Now(), outcome, store.Reason{Code: store.ReasonError, Detail: e.Error()}, 0)
		status := store.DeliveryPending
		if d.Failures >= chatFailures {
			status, why.Code = store.DeliveryFailed, store.ReasonGaveUp
			if unknown {
				why = store.Reason{Code: store.ReasonUnknown, Detail: e.Error()}
			}
		}
		pause := scheduler.Retry{Backoff: chatBackoff, Jitter: jitter}.Delay(d.Failures)
		if unknown && d.Failures == 1 {
			pause = max(unknownPause, e.Wait)
		}
		d.After = tx.Now().Add(pause)
		return status, why, changeChat(tx, d.ChatID, func(c *store.Chat) { c.LastError, c.LastTried = why, tx.Now() })
	})
}

// toWait has the chat, or if the network says so the whole account, wait as long as it was told.
func (w *Worker) toWait(s *step, e *platform.Error) scheduler.Outcome {
	until := w.db.Now().Add(e.Wait + time.Second)
	seconds := int(e.Wait / time.Second)
	if e.Scope == platform.ScopeChat {
		why := store.Reason{Code: store.ReasonSlowmode, Until: until}
		return w.settle(s, func(tx *store.Tx, d *store.Delivery, _ *store.Pace) (store.DeliveryStatus, store.Reason, error) {
			lastTry(d, tx.Now(), store.TryWaits, store.Reason{Code: store.ReasonSlowmode}, seconds)
			d.After = until
			return store.DeliveryPending, why, changeChat(tx, d.ChatID, func(c *store.Chat) { c.SlowUntil, c.LastTried = until, tx.Now() })
		})
	}
	why := store.Reason{Code: store.ReasonFlood, Until: until}
	out := w.settle(s, func(tx *store.Tx, d *store.Delivery, _ *store.Pace) (store.DeliveryStatus, store.Reason, error) {
		lastTry(d, tx.Now(), store.TryWaits, store.Reason{Code: store.ReasonFlood}, seconds)
		return store.DeliveryPending, why, nil
	})
	out.Again, out.Hold, out.Reason = until, until, why
	return out
}

// accountOut has everything of the account wait until it can act again. That a login has ended its
// adapter has recorded already; a restriction only shows in the calls.
func (w *Worker) accountOut(s *step, e *platform.Error) scheduler.Outcome {
	why := store.Reason{Code: store.ReasonLogin, Detail: e.Error()}
	if e.Kind == platform.Stopped {
		why.Code = store.ReasonStopped
	}
	out := w.settle(s, func(tx *store.Tx, d *store.Delivery, _ *store.Pace) (store.DeliveryStatus, store.Reason, error) {
		lastTry(d, tx.Now(), store.TryRefused, why, 0)
		if e.Kind != platform.Stopped {
			return store.DeliveryPending, why, nil
		}
		identity, err := tx.Identities.Get(s.task.IdentityID)
		if err != nil {
			return store.DeliveryPending, why, err
		}
		identity.State, identity.Reason, identity.UpdatedAt = store.IdentityStopped, why, tx.Now()
		return store.DeliveryPending, why, tx.Identities.Put(&identity)
	})
	out.Again = w.db.Now().Add(loginPause)
	out.Hold, out.Reason, out.Failed = out.Again, why, true
	return out
}

// wrongContent ends a task whose post no chat will take.
func (w *Worker) wrongContent(s *step, why store.Reason) scheduler.Outcome {
	return scheduler.Outcome{Failed: true, Reason: why, Write: func(tx *store.Tx) error {
		err := w.write(tx, s, func(tx *store.Tx, d *store.Delivery, _ *store.Pace) (store.DeliveryStatus, store.Reason, error) {
			lastTry(d, tx.Now(), store.TryRefused, why, 0)
			return store.DeliveryFailed, why, nil
		})
		if err != nil {
			return err
		}
		task, err := tx.Tasks.Get(s.task.ID)
		if err != nil || task.Status.Final() {
			return err
		}
		_, err = end(tx, task, store.TaskFailed, why)
		return err
	}}
}

// taskFailed has a task taken up again later that failed as a whole, or ends it.
func (w *Worker) taskFailed(s *step, why store.Reason) scheduler.Outcome {
	out := w.settle(s, func(tx *store.Tx, d *store.Delivery, _ *store.Pace) (store.DeliveryStatus, store.Reason, error) {
		lastTry(d, tx.Now(), store.TryFailed, why, 0)
		return store.DeliveryPending, store.Reason{}, nil
	})
	write := out.Write
	out.Failed, out.Reason = true, why
	if s.task.Attempts < s.task.MaxAttempts {
		out.Again = w.db.Now().Add(scheduler.Retry{Backoff: w.cfg.Backoff, Jitter: jitter}.Delay(s.task.Attempts))
	} else {
		out.Again = time.Time{}
	}
	out.Write = func(tx *store.Tx) error {
		if err := write(tx); err != nil {
			return err
		}
		task, err := tx.Tasks.Get(s.task.ID)
		if err != nil || task.Status.Final() {
			return err
		}
		if out.Again.IsZero() {
			_, err := end(tx, task, store.TaskFailed, why)
			return err
		}
		task.Status, task.LastError, task.UpdatedAt = store.TaskPending, why, tx.Now()
		return tx.Tasks.Put(&task)
	}
	return out
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
