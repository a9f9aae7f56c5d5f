package tasks

import (
	"context"
	"errors"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

const (
	// connectPause is how often a task looks whether there is a connection again.
	connectPause = 5 * time.Second
	// unknownPause is the pause before a call that was not answered is repeated for the first time.
	// The repetition is harmless, and its answer settles what happened.
	unknownPause = 2 * time.Second
)

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
	case platform.UnderWay:
		return w.uploading(s, e), nil
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

// uploading has the task look again whether its media are at the network. The attempt goes on.
func (w *Worker) uploading(s *step, e *platform.Error) scheduler.Outcome {
	why := store.Reason{Code: store.ReasonUploading, Detail: e.Error()}
	out := w.settleAsked(s, false, func(_ *store.Tx, d *store.Delivery, _ *store.Pace) (store.DeliveryStatus, store.Reason, error) {
		if n := len(d.Tries); n > 0 && d.Tries[n-1].Outcome == store.TryBegun {
			d.Tries = d.Tries[:n-1]
		}
		return store.DeliveryPending, why, nil
	})
	out.Again, out.Reason = w.db.Now().Add(e.Wait), why
	return out
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
