package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"belfry/platform"
	"belfry/platform/webhook"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/posts"
)

// found is a hit with what it is about.
type found struct {
	store.WatchHit
	watch   store.Watch
	message store.Message
	channel store.Channel
}

// read reads a hit. The error wraps [store.ErrNotFound] where it, or what it is about, is gone.
func (w *Worker) read(id uint64) (f found, err error) {
	err = w.db.View(func(tx *store.Tx) (err error) {
		if f.WatchHit, err = tx.WatchHits.Get(id); err != nil {
			return err
		}
		if f.watch, err = tx.Watches.Get(f.WatchID); err != nil {
			return err
		}
		if f.message, err = tx.Messages.Get(f.MessageID); err != nil {
			return err
		}
		f.channel, err = tx.Channels.Get(f.message.ChannelID)
		return err
	})
	return f, err
}

// Run does what a watch does with a message.
func (w *Worker) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	f, err := w.read(job.Subject)
	if errors.Is(err, store.ErrNotFound) || err == nil && f.State != store.HitWaiting {
		return scheduler.Outcome{Write: end(job.Subject, store.Reason{Code: store.ReasonGone})}, nil
	}
	if err != nil {
		return scheduler.Outcome{}, err
	}
	effect := func(*store.Tx, *store.WatchHit) error { return nil }
	switch f.watch.Action {
	case store.WatchNotify:
		effect = func(tx *store.Tx, _ *store.WatchHit) error {
			text := w.Printer().T("watch.notice", f.watch.Name, f.channel.Name(), shorten(f.message.Text), f.channel.Link(f.message.MessageID))
			return w.teller.Tell(tx, store.Notice{Kind: store.WatchKind, Text: text})
		}
	case store.WatchDraft:
		var draft posts.Draft
		draft, err = w.posts.Prepare(ctx, posts.Request{
			Platform: "telegram", Text: f.message.Text + "\n\n" + f.channel.Link(f.message.MessageID), Format: string(platform.Plain),
			ScheduledTime: w.db.Now().Format(time.RFC3339), AllowPast: true, Hold: true,
		})
		effect = func(tx *store.Tx, hit *store.WatchHit) error {
			post, err := w.posts.Schedule(tx, draft)
			hit.PostID = post.ID
			if err != nil {
				return err
			}
			return w.posts.TellHeld(tx, post)
		}
	case store.WatchWebhook:
		err = w.call(ctx, f)
	}
	if refused, ok := errors.AsType[*store.FieldError](err); ok { // no attempt would change that
		return failed(job.Subject, errors.New(w.Printer().Error(refused))), nil
	}
	if e, ok := errors.AsType[*platform.Error](err); ok && e.Kind == platform.Refused {
		return failed(job.Subject, err), nil
	}
	if err != nil {
		return scheduler.Outcome{}, err
	}
	return scheduler.Outcome{Write: func(tx *store.Tx) error {
		hit, err := tx.WatchHits.Get(f.ID)
		if errors.Is(err, store.ErrNotFound) { // the watch was removed meanwhile
			return nil
		}
		if err != nil {
			return err
		}
		hit.State = store.HitDone
		return errors.Join(effect(tx, &hit), tx.WatchHits.Put(&hit))
	}}, nil
}

// End notes that all attempts were used.
func (w *Worker) End(tx *store.Tx, job store.Job, why store.Reason) error {
	return end(job.Subject, why)(tx)
}

func failed(hit uint64, err error) scheduler.Outcome {
	why := store.Reason{Code: store.ReasonRefused, Detail: err.Error()}
	return scheduler.Outcome{Failed: true, Reason: why, Write: end(hit, why)}
}

// end notes why nothing is done with a hit that waits. Unless what it is about is gone, that is an alert.
func end(id uint64, why store.Reason) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		hit, err := tx.WatchHits.Get(id)
		if errors.Is(err, store.ErrNotFound) || err == nil && hit.State != store.HitWaiting {
			return nil
		}
		if err != nil {
			return err
		}
		hit.State, hit.Reason = store.HitFailed, why
		if err := tx.WatchHits.Put(&hit); err != nil || why.Code == store.ReasonGone {
			return err
		}
		watch, err := tx.Watches.Get(hit.WatchID)
		if err != nil {
			return err
		}
		return tx.Alerts.Raise(store.Alert{Kind: store.AlertWatch, About: fmt.Sprint("watch_", watch.ID), Name: watch.Name, Reason: why, Count: 1})
	}
}

// call calls the webhook of a watch; not unsigned if its secret is sealed with another key. The body and the id are the same in each attempt.
func (w *Worker) call(ctx context.Context, f found) error {
	if f.watch.Secret == "" && f.watch.Sealed != "" {
		return store.Invalid("", "invalid.secret_lost")
	}
	hook, err := webhook.New(f.watch.URL, webhook.With{Secret: f.watch.Secret, Transport: w.calls})
	if err != nil {
		return &platform.Error{Kind: platform.Refused, Err: err}
	}
	body, err := json.Marshal(map[string]any{
		"type": "watch.found", "timestamp": f.At.UTC(), "data": map[string]any{
			"watch_id": f.watch.ID, "watch": f.watch.Name, "query": f.watch.Query,
			"channel_id": f.channel.ID, "channel": f.channel.Name(), "message_id": f.message.ID,
			"date": f.message.Date.UTC(), "text": f.message.Text, "link": f.channel.Link(f.message.MessageID),
		},
	})
	if err != nil {
		return err
	}
	_, err = hook.Publish(ctx, platform.Post{Key: f.Key, Text: string(body)})
	return err
}

// shortened is how much of a message a notice shows, in characters.
const shortened = 600

func shorten(text string) string {
	if to := ahead(text, 0, shortened); to < len(text) {
		return text[:to] + "…"
	}
	return text
}
