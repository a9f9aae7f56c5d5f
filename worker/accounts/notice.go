package accounts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

// The kinds of notices.
const (
	NoticeStarted  = "check_started"
	NoticeFinished = "check_finished"
	NoticeStopped  = "check_stopped"
	NoticeFound    = "account_found"
	NoticeVanished = "account_vanished"
	NoticeReturned = "account_returned"
)

const (
	sendDeadline = 30 * time.Second
	// sendBackoff is the pause after a notice could not be sent; it doubles up to maxSendBackoff.
	sendBackoff    = 5 * time.Second
	maxSendBackoff = 5 * time.Minute
	// maxSendAge is how long a notice is tried.
	maxSendAge = 3 * 24 * time.Hour
)

// tellCheck tells the admins about a check. In quiet mode, they are told of one that has changed
// something, and of a site that begins to refuse.
func (w *Worker) tellCheck(tx *store.Tx, kind string, c store.AccountCheck) error {
	quiet, err := w.Quiet(tx)
	if err != nil {
		return err
	}
	if quiet && c.Changes == 0 {
		news, err := newlyStopped(tx, c)
		if err != nil || !news {
			return err
		}
	}
	return w.tell(tx, kind, "", store.NoticeData{
		At: tx.Now(), CheckID: c.ID, Total: c.Total, Checked: c.Checked, Found: c.Found, NotFound: c.NotFound, Errors: c.Errors,
		Reason: c.Reason,
	})
}

// newlyStopped reports whether a check has given up a site that the check before had not.
func newlyStopped(tx *store.Tx, c store.AccountCheck) (bool, error) {
	for _, site := range c.Stopped {
		row, err := tx.AccountSites.BySite(site)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return false, err
		}
		if row.Stops == 1 {
			return true, nil
		}
	}
	return false, nil
}

// tell writes a notice to each admin, and to another chat if one is named, with the job that sends
// it.
func (w *Worker) tell(tx *store.Tx, kind, chat string, data store.NoticeData) error {
	if w.notifier == nil {
		return nil
	}
	chats := slices.Clone(w.notifier.Admins())
	if chat != "" {
		chats = append(chats, chat)
	}
	for i, chat := range chats {
		if slices.Contains(chats[:i], chat) {
			continue
		}
		n := store.Notice{Kind: kind, Chat: chat, Key: platform.NewKey(), Data: data, CreatedAt: tx.Now()}
		if err := tx.Notices.Add(&n); err != nil {
			return fmt.Errorf("tell %s: %w", chat, err)
		}
		job := store.Job{Name: n.JobName(), Kind: NoticeKind, Subject: n.ID, Lane: noticeLane, Trigger: store.Trigger{At: tx.Now()}}
		if err := scheduler.Put(tx, job); err != nil {
			return fmt.Errorf("tell %s: %w", chat, err)
		}
	}
	return nil
}

// sender sends notices. Those to one chat are sent in the order in which they were written: the job
// of a notice sends those first that were written before it.
type sender struct{ *Worker }

// Run sends one notice.
func (w sender) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	var own, n store.Notice
	err := w.db.View(func(tx *store.Tx) (err error) {
		if own, err = tx.Notices.Get(job.Subject); err != nil || !own.Open() {
			return err
		}
		n, err = tx.Notices.NextTo(own.Chat)
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && !own.Open() {
		return scheduler.Outcome{}, nil
	}
	if err != nil {
		return scheduler.Outcome{}, fmt.Errorf("read notice %d: %w", job.Subject, err)
	}
	err = w.publish(ctx, n)
	if errors.Is(ctx.Err(), context.Canceled) { // the program is ending: nobody's failure
		return scheduler.Outcome{}, err
	}
	out := scheduler.Outcome{}
	if n.ID != own.ID {
		out.Again = w.db.Now()
	}
	if err == nil {
		out.Write = w.mark(n.ID, func(n *store.Notice, now time.Time) { n.SentAt, n.Reason = now, store.Reason{} })
		return out, nil
	}
	return w.failed(n, out, platform.AsError(err)), nil
}

func (w *Worker) publish(ctx context.Context, n store.Notice) error {
	if w.notifier == nil {
		return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity,
			Err: errors.New("there is no bot that tells the admins: set ADMIN_NOTIFY_BOT_TOKEN and ADMIN_ID")}
	}
	ctx, cancel := context.WithTimeout(ctx, sendDeadline)
	defer cancel()
	_, err := w.notifier.Publish(ctx, platform.Post{Key: n.Key, Target: n.Chat, Text: Text(n, w.cfg.Lang, w.cfg.Zone),
		Format: platform.Plain, NoLinkPreview: true})
	return err
}

// End is called when the scheduler gives a notice's job up.
func (w sender) End(tx *store.Tx, job store.Job, why store.Reason) error {
	return w.mark(job.Subject, func(n *store.Notice, now time.Time) {
		if n.Open() {
			n.GivenUpAt, n.Reason = now, why
		}
	})(tx)
}

// failed has a notice sent again later, and those behind it wait; or it gives the notice up.
func (w *Worker) failed(n store.Notice, out scheduler.Outcome, e *platform.Error) scheduler.Outcome {
	now := w.db.Now()
	if e.Kind == platform.Refused || now.Sub(n.CreatedAt) > maxSendAge {
		why := store.Reason{Code: store.ReasonRefused, Detail: e.Error()}
		if e.Kind != platform.Refused {
			why.Code = store.ReasonGaveUp
		}
		w.cfg.Log.Warn().Uint64("notice", n.ID).Str("chat", n.Chat).Err(e).Msg("a notice is not sent")
		out.Failed, out.Reason = true, why
		out.Write = w.mark(n.ID, func(n *store.Notice, now time.Time) { n.GivenUpAt, n.Reason = now, why })
		return out
	}
	until := now.Add(scheduler.Retry{Backoff: sendPause(n.Attempts), Jitter: jitter}.Delay(1))
	why := store.Reason{Code: store.ReasonNotConnected, Until: until, Detail: e.Error()}
	switch e.Kind {
	case platform.Wait:
		until = now.Add(e.Wait + time.Second)
		why = store.Reason{Code: store.ReasonFlood, Until: until}
	case platform.Login:
		why.Code = store.ReasonLogin
	case platform.Stopped:
		why.Code = store.ReasonStopped
	}
	out.Again, out.Reason = until, why
	if e.Scope != platform.ScopeChat {
		out.Hold = until
	}
	out.Write = w.mark(n.ID, func(n *store.Notice, _ time.Time) { n.Reason = why })
	return out
}

func sendPause(attempts int) time.Duration {
	return min(sendBackoff<<min(attempts, 10), maxSendBackoff)
}

// mark writes what became of a notice.
func (w *Worker) mark(id uint64, fn func(n *store.Notice, now time.Time)) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		n, err := tx.Notices.Get(id)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		n.Attempts++
		fn(&n, tx.Now())
		return tx.Notices.Put(&n)
	}
}
