package tasks

import (
	"errors"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

const (
	// connectPause is the pause before a task looks whether there is a connection again, the first time; it
	// grows to longestConnectPause.
	connectPause        = 5 * time.Second
	longestConnectPause = 30 * time.Second
	// unknownPause is the pause before a call that was not answered is repeated for the first time.
	// The repetition is harmless, and its answer settles what happened.
	unknownPause = 2 * time.Second
	// bans is how many chats in a row have to say that the account is banned there before it counts as
	// restricted everywhere.
	bans = 3
)

// sent ends a step whose message the network has confirmed.
func (w *Worker) sent(s *step, receipt platform.Receipt) scheduler.Outcome {
	return w.settle(s, func(tx *store.Tx, task *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(d, tx.Now(), store.TrySent, store.Reason{}, 0)
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
	out := w.sort(s, asked, e)
	out.Err = err
	return out
}

// sort turns the network's error into what becomes of the chat and the task.
func (w *Worker) sort(s *step, asked bool, e *platform.Error) scheduler.Outcome {
	switch e.Kind {
	case platform.Wait:
		return w.toWait(s, e)
	case platform.UnderWay:
		return w.uploading(s, e)
	case platform.Stopped, platform.Login:
		return w.accountOut(s, e)
	case platform.Refused:
		return w.refused(s, asked, e)
	case platform.Transient:
		switch e.Scope {
		case platform.ScopeContent:
			return w.taskFailed(s, store.Reason{Code: store.ReasonError, Detail: e.Error()})
		case platform.ScopeIdentity:
			return w.notConnected(s, e)
		}
	}
	return w.chatFailed(s, e)
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
		return w.accountOut(s, &platform.Error{Kind: platform.Stopped, Scope: e.Scope, Code: e.Code, Err: e.Err})
	case e.Scope == "" && inRow >= w.cfg.Refusals:
		return w.endTask(s, store.DeliverySkipped, why)
	}
	return w.settleAsked(s, asked, func(tx *store.Tx, task *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(d, tx.Now(), store.TryRefused, why, 0)
		task.Refusal, task.Refusals = e.Code, inRow
		return store.DeliverySkipped, why, changeChat(tx, d.ChatID, func(c *store.Chat) {
			c.LastError, c.LastTried = why, tx.Now()
		})
	})
}

// notConnected has the task come again when there may be a connection: nothing was sent, and it is not
// the chat's fault. The pauses grow. What goes on in vain for long becomes an alert by its reason.
func (w *Worker) notConnected(s *step, e *platform.Error) scheduler.Outcome {
	inRow := s.task.Unreached + 1
	why := store.Reason{Code: store.ReasonNotConnected, N: inRow, Detail: e.Error()}
	out := w.settleAsked(s, false, func(tx *store.Tx, task *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(d, tx.Now(), store.TryFailed, why, 0)
		task.Unreached = inRow
		return store.DeliveryPending, why, nil
	})
	out.Again, out.Reason = w.db.Now().Add(min(connectPause*time.Duration(inRow), longestConnectPause)), why
	return out
}

// uploading has the task look again whether its media are at the network. The attempt goes on.
func (w *Worker) uploading(s *step, e *platform.Error) scheduler.Outcome {
	why := store.Reason{Code: store.ReasonUploading, Detail: e.Error()}
	out := w.settleAsked(s, false, func(_ *store.Tx, _ *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
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
	return w.settle(s, func(tx *store.Tx, task *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		outcome := store.TryFailed
		if unknown {
			outcome = store.TryUnknown
			if err := changePace(tx, task.IdentityID, func(pace *store.Pace) { pace.Open = d.ID }); err != nil {
				return d.Status, d.Reason, err
			}
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
			pause = max(unknownPause, min(e.Wait, longestWait))
		}
		d.After = tx.Now().Add(pause)
		return status, why, changeChat(tx, d.ChatID, func(c *store.Chat) { c.LastError, c.LastTried = why, tx.Now() })
	})
}

// toWait has the chat, or if the network says so the whole account, wait as long as it was told. A chat
// with which the whole account had to wait goes to the end, and is skipped if that does not help.
func (w *Worker) toWait(s *step, e *platform.Error) scheduler.Outcome {
	seconds := int(e.Wait / time.Second)
	if e.Scope == platform.ScopeChat {
		until := w.db.Now().Add(min(e.Wait+time.Second, longestWait))
		why := store.Reason{Code: store.ReasonSlowmode, Until: until}
		return w.settle(s, func(tx *store.Tx, _ *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
			lastTry(d, tx.Now(), store.TryWaits, store.Reason{Code: store.ReasonSlowmode}, seconds)
			d.After = until
			return store.DeliveryPending, why, changeChat(tx, d.ChatID, func(c *store.Chat) { c.SlowUntil, c.LastTried = until, tx.Now() })
		})
	}
	until := w.db.Now().Add(e.Wait + time.Second)
	why := store.Reason{Code: store.ReasonFlood, Until: until}
	out := w.settle(s, func(tx *store.Tx, _ *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(d, tx.Now(), store.TryWaits, store.Reason{Code: store.ReasonFlood}, seconds)
		d.After = store.AtEnd()
		if d.Failures++; d.Failures >= chatFailures {
			return store.DeliverySkipped, store.Reason{Code: store.ReasonFlood}, nil
		}
		return store.DeliveryPending, why, nil
	})
	out.Again, out.Hold, out.Reason = until, until, why
	return out
}

// accountOut has everything of the account wait until it can act again. That a login has ended its
// adapter has recorded already; a restriction only shows in the calls. The chat that showed it is the last
// to be tried again.
func (w *Worker) accountOut(s *step, e *platform.Error) scheduler.Outcome {
	why := store.Reason{Code: store.ReasonLogin, Detail: e.Error()}
	identity := s.identity
	if e.Kind == platform.Stopped {
		why.Code = store.ReasonStopped
		identity.State, identity.Reason = store.IdentityStopped, why
	}
	out := w.settle(s, func(tx *store.Tx, task *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(d, tx.Now(), store.TryRefused, why, 0)
		if e.Kind == platform.Stopped {
			d.After, task.Refusal, task.Refusals = store.AtEnd(), "", 0
		}
		return store.DeliveryPending, why, nil
	})
	out.Failed = true
	return holdFor(out, s.job, identity, why)
}

// holdFor has everything of an account wait without troubling the network until it can act again: then
// [store.Identities.Put] has its lane go on. The identity is written as it is given. If somebody has changed
// it since it was read, the next run looks at once.
func holdFor(out scheduler.Outcome, job store.Job, identity store.Identity, why store.Reason) scheduler.Outcome {
	write := out.Write
	out.Reason = why
	out.Write = func(tx *store.Tx) error {
		if write != nil {
			if err := write(tx); err != nil {
				return err
			}
		}
		now, err := tx.Identities.Get(identity.ID)
		if errors.Is(err, store.ErrNotFound) || (err == nil && !now.UpdatedAt.Equal(identity.UpdatedAt)) {
			return nil
		}
		if err == nil && now != identity {
			changed := identity
			changed.UpdatedAt = tx.Now()
			err = tx.Identities.Put(&changed)
		}
		return errors.Join(err, tx.Holds.Extend(job.Lane, tx.Now().Add(loginPause), why))
	}
	return out
}

// endTask ends a task whose post no chat will take.
func (w *Worker) endTask(s *step, status store.DeliveryStatus, why store.Reason) scheduler.Outcome {
	out := w.settle(s, func(tx *store.Tx, _ *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(d, tx.Now(), store.TryRefused, why, 0)
		return status, why, nil
	})
	return then(out, s, why, time.Time{})
}

// taskFailed has a task taken up again later that failed as a whole, or ends it. No chat has part in it.
func (w *Worker) taskFailed(s *step, why store.Reason) scheduler.Outcome {
	out := w.settleAsked(s, false, func(tx *store.Tx, _ *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error) {
		lastTry(d, tx.Now(), store.TryFailed, why, 0)
		return store.DeliveryPending, store.Reason{}, nil
	})
	var again time.Time
	if s.task.Attempts < s.task.MaxAttempts {
		again = w.db.Now().Add(scheduler.Retry{Backoff: w.cfg.Backoff, Jitter: jitter}.Delay(s.task.Attempts))
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
