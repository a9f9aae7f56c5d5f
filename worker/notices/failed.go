package notices

import (
	"errors"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/send"
)

const (
	// sendBackoff is the least pause after a notice could not be sent. It doubles up to maxSendBackoff,
	// or to maxStoppedBackoff where each attempt makes matters worse.
	sendBackoff       = 5 * time.Second
	maxSendBackoff    = 5 * time.Minute
	maxFirstBackoff   = 10 * time.Second // of what goes first: nobody waits for minutes when the network is back
	maxStoppedBackoff = time.Hour
	// maxWait is the longest wait that a network may ask for.
	maxWait = 24 * time.Hour
	// maxSendAge is how long a notice is tried, though at least minAttempts times: a machine that was
	// off for longer has no network yet when it starts. maxAnswerAge is how long an answer to a person is.
	maxSendAge   = 3 * 24 * time.Hour
	minAttempts  = 5
	missedAge    = 3 * 24 * time.Hour
	maxAnswerAge = 10 * time.Minute

	// restoredPause is how long a notice waits in a restored file, unless everything is resumed before.
	restoredPause = time.Hour
)

// failed has a notice sent again later, or as soon as its login is back, and those behind it wait; or it gives the
// notice up.
func (w *Worker) failed(n store.Notice, job store.Job, login store.Identity, out scheduler.Outcome, e *platform.Error) scheduler.Outcome {
	now := w.db.Now()
	out.Err = e
	if e.Kind == platform.Refused || tooOld(n, now) {
		return w.giveUp(n, out, e)
	}
	until := now.Add(pause(n, e))
	why := reason(n, e, until)
	if e.Kind == platform.Login && login.ID != 0 {
		out.Write = mark(n.ID, func(n *store.Notice, now time.Time) { n.Reason, n.FailedAt, n.NotBefore = why, now, time.Time{} })
		return send.HoldIdentity(out, job, login, why, now)
	}
	if unreached(n, e) { // the hold may be ended before
		out.Again, out.Reason, out.Step = now, why, true // in an outage of days the history would have nothing else
		marked := mark(n.ID, func(n *store.Notice, now time.Time) { n.Reason, n.FailedAt, n.NotBefore = why, now, time.Time{} })
		out.Write = func(tx *store.Tx) error {
			return errors.Join(marked(tx), tx.Holds.Extend(job.Lane, until, store.Reason{Code: store.ReasonNotConnected, Detail: e.Error()}))
		}
		return out
	}
	out.Again, out.Reason = until, why
	// A bot that one chat has banned counts as stopped: it may speak to the others.
	if e.Scope == platform.ScopeIdentity && e.Kind != platform.Stopped {
		out.Hold = until
	}
	out.Write = mark(n.ID, func(n *store.Notice, _ time.Time) { n.Reason, n.FailedAt, n.NotBefore = why, now, until })
	return out
}

// unreached reports whether a notice has found no connection to Telegram.
func unreached(n store.Notice, e *platform.Error) bool {
	return e.Kind == platform.Transient && e.Scope == platform.ScopeIdentity && n.Chat != store.WebhookChat
}

func tooOld(n store.Notice, now time.Time) bool {
	if n.Query != 0 { // whoever has pressed the button has pressed it again, or gone away
		return now.Sub(n.CreatedAt) > maxAnswerAge
	}
	return isOld(n, now) && n.Attempts+1 >= minAttempts
}

func isOld(n store.Notice, now time.Time) bool { return now.Sub(n.CreatedAt) > maxSendAge }

func (w *Worker) giveUp(n store.Notice, out scheduler.Outcome, e *platform.Error) scheduler.Outcome {
	why := store.Reason{Code: store.ReasonRefused, Detail: e.Error()}
	if e.Kind != platform.Refused {
		why.Code = store.ReasonGaveUp
	}
	w.cfg.Log.Warn().Uint64("notice", n.ID).Str("kind", n.Kind).Str("chat", n.Chat).Err(e).Msg("a notice is not sent")
	out.Failed, out.Reason = true, why
	out.Write = func(tx *store.Tx) error {
		var err error
		marked := mark(n.ID, func(n *store.Notice, now time.Time) {
			n.GivenUpAt, n.Reason = now, why
			if n.Query == 0 && e.Scope != platform.ScopeContent && w.tells(tx, *n) { // it is the chat that does not get it
				err = tx.Notices.Miss(n)
			}
		})(tx)
		return errors.Join(err, marked)
	}
	return out
}

// missed returns, for each chat that is to be told and is not reached, an alert about the last notice that it
// has not got. A chat of an account that has not been written to for some days is perhaps not named any more.
func (w *Worker) missed(tx *store.Tx) (all []store.Alert) {
	for n := range tx.Notices.AllMissed() {
		steady := n.Admin || n.Chat == store.WebhookChat
		if w.tells(tx, n) && (steady || tx.Now().Sub(n.GivenUpAt) <= missedAge) {
			all = append(all, store.Alert{Kind: store.AlertUnreached, About: n.Chat, Subject: n.ID, Name: n.Chat, Reason: n.Reason})
		}
	}
	return all
}

// tells reports whether whom a notice is for is still told anything.
func (w *Worker) tells(tx *store.Tx, n store.Notice) bool {
	if n.Chat == store.WebhookChat {
		return w.cfg.Webhook != nil
	}
	t, err := w.Told(tx)
	return err == nil && n.IdentityID == 0 && w.bot(t) != nil && (!n.Admin || t.has(n.Chat))
}

// pause is how long a notice waits after an attempt: as long as it was told to, and longer from
// attempt to attempt.
func pause(n store.Notice, e *platform.Error) time.Duration {
	most := maxSendBackoff
	switch {
	case e.Kind == platform.Stopped:
		most = maxStoppedBackoff
	case n.First:
		most = maxFirstBackoff
	}
	backoff := scheduler.Retry{Backoff: min(sendBackoff<<min(n.Attempts, 10), most), Jitter: send.Jitter}.Delay(1)
	if e.Kind != platform.Wait {
		return backoff
	}
	return max(backoff, min(e.Wait, maxWait)+time.Second)
}

// reason says why a notice waits.
func reason(n store.Notice, e *platform.Error, until time.Time) store.Reason {
	why := store.Reason{Code: store.ReasonRetry, Detail: e.Error()} // a notice that waits is no job that is overdue
	answer := send.To(e, until, send.Attempts{})
	switch {
	case n.Chat == store.WebhookChat: // the others are about Telegram
	case answer.Next == send.WaitChat || answer.Next == send.WaitIdentity:
		why = store.Reason{Code: answer.Reason.Code, Until: until}
	case answer.Next == send.IdentityOut:
		why = answer.Reason
	}
	return why
}

// End is called when the scheduler gives a notice's job up.
func (w *Worker) End(tx *store.Tx, job store.Job, why store.Reason) error {
	return mark(job.Subject, func(n *store.Notice, now time.Time) {
		if n.Open() {
			n.GivenUpAt, n.Reason = now, why
		}
	})(tx)
}

// mark writes what became of a notice, if there still is one that can be read.
func mark(id uint64, fn func(n *store.Notice, now time.Time)) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		n, err := tx.Notices.Get(id)
		if err != nil {
			return nil
		}
		n.Attempts++
		fn(&n, tx.Now())
		return tx.Notices.Put(&n)
	}
}
