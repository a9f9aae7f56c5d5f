package notices

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
	// sendBackoff is the pause after a notice could not be sent; it doubles up to maxSendBackoff.
	sendBackoff    = 5 * time.Second
	maxSendBackoff = 5 * time.Minute
	// maxSendAge is how long a notice is tried, and maxAnswerAge how long an answer to a person is.
	maxSendAge   = 3 * 24 * time.Hour
	maxAnswerAge = 10 * time.Minute

	jitter = 0.2
)

// Run sends the oldest notice of the job's lane to its chat: the job of a notice sends those first
// that were written before it.
func (w *Worker) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	var own, n store.Notice
	err := w.db.View(func(tx *store.Tx) (err error) {
		if own, err = tx.Notices.Get(job.Subject); err != nil || !own.Open() {
			return err
		}
		if n, err = tx.Notices.Next(own.Lane(), own.Chat); errors.Is(err, store.ErrNotFound) {
			n, err = own, nil // the index is damaged, the notice is not
		}
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound) || err == nil && !own.Open():
		return scheduler.Outcome{}, nil
	case store.IsCorrupt(err): // it cannot be read, nor marked as given up; those behind it go on
		w.cfg.Log.Error().Uint64("notice", job.Subject).Err(err).Msg("a damaged notice is not sent; run belfry check")
		return scheduler.Outcome{Failed: true, Reason: store.Reason{Code: store.ReasonError, Detail: err.Error()}}, nil
	case err != nil:
		return scheduler.Outcome{}, fmt.Errorf("read notice %d: %w", job.Subject, err)
	}
	err = w.send(ctx, n)
	if errors.Is(ctx.Err(), context.Canceled) { // the program is ending: nobody's failure
		return scheduler.Outcome{}, err
	}
	out := scheduler.Outcome{}
	if n.ID != own.ID {
		out.Again = w.db.Now()
	}
	if err == nil {
		out.Write = mark(n.ID, func(n *store.Notice, now time.Time) { n.SentAt, n.Reason = now, store.Reason{} })
		return out, nil
	}
	return w.failed(n, out, platform.AsError(err)), nil
}

// send makes the calls that a notice needs. Each may be repeated.
func (w *Worker) send(ctx context.Context, n store.Notice) error {
	deadline := sendDeadline
	if n.File != "" {
		deadline = fileDeadline
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	p := post(n)
	switch {
	case n.Chat == store.WebhookChat && w.cfg.Webhook != nil:
		_, err := w.cfg.Webhook.Publish(ctx, p)
		return err
	case n.Chat == store.WebhookChat:
		return nobody("there is no webhook: set BELFRY_ALERT_WEBHOOK")
	case w.cfg.Bot == nil:
		return nobody("there is no bot that tells the admins: set ADMIN_NOTIFY_BOT_TOKEN and ADMIN_ID")
	}
	if n.Query != 0 {
		if err := w.cfg.Bot.Answer(ctx, n.Query, ""); err != nil && platform.AsError(err).Kind != platform.Refused {
			return err
		}
	}
	if n.Edit != 0 {
		err := w.cfg.Bot.Edit(ctx, n.Edit, p)
		if err == nil || platform.AsError(err).Kind != platform.Refused {
			return err
		}
		// It cannot be changed any more: say it anew.
	}
	_, err := w.cfg.Bot.Publish(ctx, p)
	return err
}

func nobody(words string) error {
	return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: errors.New(words)}
}

// post is a notice as the network takes it.
func post(n store.Notice) platform.Post {
	p := platform.Post{Key: n.Key, Target: n.Chat, Text: n.Text, Format: platform.Plain, NoLinkPreview: true}
	for _, row := range n.Buttons {
		var buttons []platform.Button
		for _, b := range row {
			buttons = append(buttons, platform.Button(b))
		}
		p.Buttons = append(p.Buttons, buttons)
	}
	if n.File != "" {
		p.Media = []platform.Media{{Kind: platform.Document, File: n.File}}
	}
	return p
}

// End is called when the scheduler gives a notice's job up.
func (w *Worker) End(tx *store.Tx, job store.Job, why store.Reason) error {
	return mark(job.Subject, func(n *store.Notice, now time.Time) {
		if n.Open() {
			n.GivenUpAt, n.Reason = now, why
		}
	})(tx)
}

// failed has a notice sent again later, and those behind it wait; or it gives the notice up.
func (w *Worker) failed(n store.Notice, out scheduler.Outcome, e *platform.Error) scheduler.Outcome {
	now := w.db.Now()
	age := maxSendAge
	if n.Query != 0 { // whoever has pressed the button has pressed it again, or gone away
		age = maxAnswerAge
	}
	if e.Kind == platform.Refused || now.Sub(n.CreatedAt) > age {
		why := store.Reason{Code: store.ReasonRefused, Detail: e.Error()}
		if e.Kind != platform.Refused {
			why.Code = store.ReasonGaveUp
		}
		w.cfg.Log.Warn().Uint64("notice", n.ID).Str("kind", n.Kind).Str("chat", n.Chat).Err(e).Msg("a notice is not sent")
		out.Failed, out.Reason = true, why
		out.Write = mark(n.ID, func(n *store.Notice, now time.Time) { n.GivenUpAt, n.Reason = now, why })
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
	out.Write = mark(n.ID, func(n *store.Notice, _ time.Time) { n.Reason = why })
	return out
}

func sendPause(attempts int) time.Duration {
	return min(sendBackoff<<min(attempts, 10), maxSendBackoff)
}

// mark writes what became of a notice, if there still is one that can be read.
func mark(id uint64, fn func(n *store.Notice, now time.Time)) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		n, err := tx.Notices.Get(id)
		if errors.Is(err, store.ErrNotFound) || store.IsCorrupt(err) {
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
