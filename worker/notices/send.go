package notices

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/send"
)

// Run sends the oldest notice of the job's lane to its chat: the job of a notice sends those first
// that were written before it, and waits as long as they have to.
func (w *Worker) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	var own, n, missed store.Notice
	var restored string
	var login store.Identity
	var told Told
	err := w.db.View(func(tx *store.Tx) (err error) {
		if restored, err = tx.Settings.Value(store.Restored); err != nil {
			return err
		}
		if own, err = tx.Notices.Get(job.Subject); err != nil || !own.Open() {
			return err
		}
		if n, err = tx.Notices.Next(own.Lane(), own.Chat); errors.Is(err, store.ErrNotFound) {
			n, err = own, nil // the index is damaged, the notice is not
		}
		if err != nil {
			return err
		}
		if missed, err = tx.Notices.LastMissed(own.Chat); errors.Is(err, store.ErrNotFound) {
			missed, err = store.Notice{}, nil
		}
		if told, err = w.Told(tx); err == nil && own.Chat != store.WebhookChat {
			login, _ = tx.Identities.Get(cmp.Or(own.IdentityID, told.Login)) // of one that is not there the bot says so
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
	if restored != "" && n.Chat != store.WebhookChat { // nothing connects before everything is resumed
		now := w.db.Now() // [scheduler.ResumeAll] ends the hold
		return scheduler.Outcome{Again: now, Hold: now.Add(restoredPause), Reason: store.Reason{Code: store.ReasonPaused, Detail: restored}, Step: true}, nil
	}
	if login.State == store.IdentityLogin { // not if it is stopped: a bot that one chat has banned may speak to the others
		why, _ := send.MayAct(login)
		return send.HoldIdentity(scheduler.Outcome{Step: true}, job, login, why, w.db.Now()), nil
	}
	if n.Waits(w.db.Now()) && !job.Requested {
		return scheduler.Outcome{Again: n.NotBefore, Reason: n.Reason, Step: true}, nil
	}
	out := scheduler.Outcome{}
	if n.ID != own.ID {
		out.Again = w.db.Now()
	}
	if missed.ID != 0 && isOld(n, w.db.Now()) { // one before it was tried often enough
		return w.giveUp(n, out, &platform.Error{Kind: platform.Transient, Scope: platform.ScopeChat, Err: errors.New(missed.Reason.Detail)}), nil
	}
	if err := w.send(ctx, n, told); err != nil {
		return w.failed(n, job, login, out, platform.AsError(err)), nil
	}
	out.Write = func(tx *store.Tx) error {
		sent := mark(n.ID, func(n *store.Notice, now time.Time) { n.SentAt, n.Reason = now, store.Reason{} })
		if err := errors.Join(sent(tx), tx.Notices.Got(n.Chat)); err != nil {
			return err
		}
		return w.gather(tx, n.Lane(), n.Chat)
	}
	return out, nil
}

// send makes the calls that a notice needs. Each may be repeated.
func (w *Worker) send(ctx context.Context, n store.Notice, t Told) error {
	ctx, cancel := context.WithTimeout(ctx, deadline(n))
	defer cancel()
	p, bot := post(n), w.bot(t)
	if n.IdentityID != 0 && w.cfg.BotOf != nil {
		bot = w.cfg.BotOf(n.IdentityID)
	}
	switch {
	case n.Chat == store.WebhookChat && w.cfg.Webhook != nil:
		_, err := w.cfg.Webhook.Publish(ctx, p)
		return err
	case n.Chat == store.WebhookChat:
		return nobody("there is no webhook: set BELFRY_ALERT_WEBHOOK")
	case n.Admin && !t.has(n.Chat):
		return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Err: errors.New("the chat is no admin's any more")}
	case bot == nil:
		return nobody("there is no bot that tells the admins: choose one in Settings, or set ADMIN_NOTIFY_BOT_TOKEN and ADMIN_ID")
	}
	if n.Query != 0 {
		if err := bot.Answer(ctx, n.Query, ""); err != nil && platform.AsError(err).Kind != platform.Refused {
			return err
		}
	}
	if n.Edit != 0 {
		err := bot.Edit(ctx, n.Edit, p)
		if err == nil || platform.AsError(err).Kind != platform.Refused {
			return err
		}
		// It cannot be changed any more: say it anew.
	}
	_, err := bot.Publish(ctx, p)
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
