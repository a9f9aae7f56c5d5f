package tasks

import (
	"errors"
	"slices"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

// bans is how many chats in a row have to say that the account is banned there before it counts as restricted
// everywhere.
const bans = 3

// sent ends a step whose message the network has confirmed.
func (w *Worker) sent(s *step, receipt platform.Receipt) scheduler.Outcome {
	return w.settle(s, func(tx *store.Tx, task *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(s, d, tx.Now(), store.TrySent, store.Reason{}, 0)
		d.MessageIDs, d.Link, d.SentAt = receipt.MessageIDs, receipt.Link, tx.Now()
		task.Refusal, task.Refusals = "", 0
		err := changePace(tx, task.IdentityID, func(pace *store.Pace) {
			if day := w.day(tx.Now()); pace.Day != day {
				pace.Day, pace.Sent = day, 0
			}
			pace.Sent++
		})
		return store.DeliverySent, store.Reason{}, errors.Join(err, changeChat(tx, d.ChatID, func(c *store.Chat) {
			c.LastSuccess, c.LastTried, c.Seen, c.LastError, c.ReadOnly = tx.Now(), tx.Now(), 0, store.Reason{}, false
			if c.Slowmode > 0 {
				c.SlowUntil = tx.Now().Add(time.Duration(c.Slowmode) * time.Second)
			}
		}))
	})
}

// failed ends a step with what the network said. asked says whether it was asked anything: then the
// next step keeps its distance.
func (w *Worker) failed(s *step, asked bool, err error) scheduler.Outcome {
	e := platform.AsError(err)
	if e.MayBeOut { // that comes first: the call is made again with its key, and answered so again
		e = &platform.Error{Kind: platform.Unknown, Scope: e.Scope, Code: e.Code, Err: e.Err}
	}
	if e.Kind == platform.Unknown && !s.begun { // nothing was sent
		e = &platform.Error{Kind: platform.Transient, Scope: platform.ScopeChat, Code: e.Code, Err: e.Err}
	}
	answer := send.To(e, w.db.Now(), send.Attempts{
		Failed: s.delivery.Failures, Most: chatFailures, Backoff: chatBackoff, Unreached: s.unreached,
	})
	out := w.sort(s, asked, e, answer)
	out.Err = err
	return out
}

// sort says what becomes of the chat and the task.
func (w *Worker) sort(s *step, asked bool, e *platform.Error, answer send.Answer) scheduler.Outcome {
	switch answer.Next {
	case send.WaitChat:
		return w.waitChat(s, e, answer)
	case send.WaitIdentity:
		return w.waitIdentity(s, e, answer)
	case send.Upload, send.Reconnect:
		return w.notSent(s, answer)
	case send.IdentityOut:
		return w.accountOut(s, answer.Reason)
	case send.Refused:
		return w.refused(s, asked, e)
	}
	if e.Kind == platform.Transient && e.Scope == platform.ScopeContent {
		return w.taskFailed(s, store.Reason{Code: store.ReasonError, Detail: e.Error()})
	}
	return w.chatFailed(s, answer)
}

// refused skips a chat that does not take the post. Chats in a row that say the same tell more: that the
// account is restricted everywhere or, where nobody knows what is refused, that no chat takes the post.
func (w *Worker) refused(s *step, asked bool, e *platform.Error) scheduler.Outcome {
	why := store.Reason{Code: store.ReasonRefused, Detail: e.Error()}
	if e.Scope == platform.ScopeContent {
		return w.endTask(s, store.DeliveryFailed, why)
	}
	inRow := 1
	if e.Code == s.task.Refusal {
		inRow += s.task.Refusals
	}
	switch {
	case e.Scope == platform.ScopeIdentity && inRow >= bans:
		return w.accountOut(s, store.Reason{Code: store.ReasonStopped, Detail: e.Error()})
	case e.Scope == "" && inRow >= w.cfg.Refusals:
		return w.endTask(s, store.DeliverySkipped, why)
	}
	return w.settleAsked(s, asked, func(tx *store.Tx, task *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(s, d, tx.Now(), store.TryRefused, why, 0)
		task.Refusal, task.Refusals = e.Code, inRow
		return store.DeliverySkipped, why, changeChat(tx, d.ChatID, func(c *store.Chat) {
			c.LastError, c.LastTried = why, tx.Now()
		})
	})
}

// notSent has the task come again when there is a connection, or when its media are at the network. Nothing
// was sent, and it is not the chat's fault. What goes on in vain for long becomes an alert by its reason.
func (w *Worker) notSent(s *step, answer send.Answer) scheduler.Outcome {
	out := w.settleAsked(s, false, func(tx *store.Tx, task *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		if n := len(d.Tries); answer.Next == send.Reconnect {
			lastTry(s, d, tx.Now(), store.TryFailed, answer.Reason, 0)
		} else if s.begun && n > 0 { // the attempt goes on
			d.Tries = d.Tries[:n-1]
		}
		return store.DeliveryPending, answer.Reason, nil
	})
	ends := answer.Outcome()
	out.Again, out.Hold, out.Reason = ends.Again, ends.Hold, ends.Reason
	return out
}

// chatFailed has a chat tried again after a pause, or gives it up. An unknown outcome leaves the
// call open: no other may follow it closely.
func (w *Worker) chatFailed(s *step, answer send.Answer) scheduler.Outcome {
	return w.settle(s, func(tx *store.Tx, task *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		outcome, status, why := store.TryFailed, store.DeliveryPending, answer.Reason
		if answer.Unknown {
			outcome = store.TryUnknown
			if err := changePace(tx, task.IdentityID, func(pace *store.Pace) { pace.Open = d.ID }); err != nil {
				return d.Status, d.Reason, err
			}
		}
		lastTry(s, d, tx.Now(), outcome, store.Reason{Code: store.ReasonError, Detail: why.Detail}, 0)
		if answer.Next == send.GiveUp {
			status = store.DeliveryFailed
			if slices.ContainsFunc(d.Tries, store.Try.Unanswered) {
				why = store.Reason{Code: store.ReasonUnknown, Detail: why.Detail}
			}
		}
		d.Failures++
		d.After = worker.Earlier(answer.Again, tx.Now().Add(longestWait))
		return status, why, changeChat(tx, d.ChatID, func(c *store.Chat) { c.LastError, c.LastTried = why, tx.Now() })
	})
}

// waitChat has a chat wait as long as it was told: as it is slow, or to be looked up. The others have their turn.
func (w *Worker) waitChat(s *step, e *platform.Error, answer send.Answer) scheduler.Outcome {
	until := worker.Earlier(answer.Again, w.db.Now().Add(longestWait))
	slow := answer.Reason.Code == store.ReasonSlowmode
	return w.settleAsked(s, slow, func(tx *store.Tx, _ *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(s, d, tx.Now(), store.TryWaits, store.Reason{Code: answer.Reason.Code}, int(e.Wait/time.Second))
		d.After = until
		why := store.Reason{Code: answer.Reason.Code, Until: until}
		if !slow {
			return store.DeliveryPending, why, nil
		}
		return store.DeliveryPending, why, changeChat(tx, d.ChatID, func(c *store.Chat) { c.SlowUntil, c.LastTried = until, tx.Now() })
	})
}

// waitIdentity has the whole account wait as long as it was told. The chat with which it had to goes to the
// end, and is skipped if that does not help.
func (w *Worker) waitIdentity(s *step, e *platform.Error, answer send.Answer) scheduler.Outcome {
	out := w.settle(s, func(tx *store.Tx, _ *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(s, d, tx.Now(), store.TryWaits, store.Reason{Code: store.ReasonFlood}, int(e.Wait/time.Second))
		d.After = store.AtEnd()
		if d.Failures++; d.Failures >= chatFailures {
			return store.DeliverySkipped, store.Reason{Code: store.ReasonFlood}, nil
		}
		return store.DeliveryPending, answer.Reason, nil
	})
	out.Again, out.Hold, out.Reason = answer.Again, answer.Again, answer.Reason
	return out
}

// accountOut has everything of the account wait until it can act again. The chat that showed that it is
// restricted is the last to be tried again.
func (w *Worker) accountOut(s *step, why store.Reason) scheduler.Outcome {
	out := w.settle(s, func(tx *store.Tx, task *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(s, d, tx.Now(), store.TryRefused, why, 0)
		if why.Code == store.ReasonStopped {
			d.After, task.Refusal, task.Refusals = store.AtEnd(), "", 0
		}
		return store.DeliveryPending, why, nil
	})
	out.Failed = true
	return send.HoldIdentity(out, s.job, send.Stopped(s.identity, why), why, w.db.Now())
}

// endTask ends a task whose post no chat will take.
func (w *Worker) endTask(s *step, status store.DeliveryStatus, why store.Reason) scheduler.Outcome {
	out := w.settle(s, func(tx *store.Tx, _ *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(s, d, tx.Now(), store.TryRefused, why, 0)
		return status, why, nil
	})
	return then(out, s, why, time.Time{})
}

// taskFailed has a task taken up again later that failed as a whole, or ends it. No chat has part in it.
func (w *Worker) taskFailed(s *step, why store.Reason) scheduler.Outcome {
	out := w.settleAsked(s, false, func(tx *store.Tx, _ *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(s, d, tx.Now(), store.TryFailed, why, 0)
		return store.DeliveryPending, store.Reason{}, nil
	})
	var again time.Time
	if s.task.Attempts < s.task.MaxAttempts {
		again = w.db.Now().Add(scheduler.Retry{Backoff: w.cfg.Backoff, Jitter: send.Jitter}.Delay(s.task.Attempts))
	}
	return then(out, s, why, again)
}

// then adds to the outcome of a step that the task has failed and is taken up again, or ends if that is
// never.
func then(out scheduler.Outcome, s *step, why store.Reason, again time.Time) scheduler.Outcome {
	write := out.Write
	out.Again, out.Failed, out.Reason = again, true, why
	out.Write = func(tx *store.Tx) error {
		if err := write(tx); err != nil {
			return err
		}
		task, err := tx.Tasks.Get(s.task.ID)
		if err != nil || task.Status.Final() {
			return err
		}
		if again.IsZero() {
			_, err := end(tx, &task, store.TaskFailed, why)
			return err
		}
		task.Status, task.LastError, task.UpdatedAt = store.TaskPending, why, tx.Now()
		return tx.Tasks.Put(&task)
	}
	return out
}
