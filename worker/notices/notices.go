// Package notices tells those who run Belfry what the other workers have to say, and answers them.
//
// A notice is written in the transaction that it tells about, with the job that sends it: it waits in
// the schedule while the network cannot be reached, is never lost and never arrives twice. Notices to
// one chat arrive in the order in which they were written, answers and alerts before the others. Those that
// have waited for long arrive together with others of their kind.
package notices

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"belfry/i18n"
	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

// Kind is the kind of the jobs that send notices.
const Kind = "notice"

// A Bot sends notices to people. Publish may be called again with the same key, and then no second
// message appears. Its errors are of type [*platform.Error].
type Bot interface {
	platform.Publisher
	// Edit puts a text and buttons in the place of those of a message that the bot has sent.
	Edit(ctx context.Context, messageID int64, p platform.Post) error
	// Answer ends the wait of whoever has pressed a button.
	Answer(ctx context.Context, queryID int64, text string) error
}

// Config is who is told, as far as it is not chosen on the page: see [Told].
type Config struct {
	Admins  []string               // the chats of those who run Belfry; others are not told what was meant for an admin
	Bot     Bot                    // nil: BotOf knows it
	Login   uint64                 // the identity that the bot is; while it is logged out, the network is not asked
	BotOf   func(login uint64) Bot // the bot that a login is; it also answers clients
	Connect func(login uint64)     // connects a login again that begins or ends to listen
	Webhook platform.Publisher     // told in JSON; may be nil
	Zone    *time.Location         // of the times in messages; nil means UTC
	Log     zerolog.Logger
}

const (
	sendDeadline = 30 * time.Second
	// A file has as long as it takes at the least rate, 1 Mbit/s, and some minutes more. One whose size
	// is not known has as long as the largest that Telegram takes.
	leastRate       = 128 << 10 // bytes a second
	fileExtra       = 10 * time.Minute
	maxFile         = 2000 << 20 // bytes
	maxFileDeadline = maxFile/leastRate*time.Second + fileExtra
)

// deadline is how long one attempt to send a notice may take.
func deadline(n store.Notice) time.Duration {
	switch {
	case n.File == "":
		return sendDeadline
	case n.FileSize <= 0 || n.FileSize > maxFile:
		return maxFileDeadline
	}
	return time.Duration(n.FileSize/leastRate)*time.Second + fileExtra
}

// Worker writes notices and sends them.
type Worker struct {
	db  *store.DB
	cfg Config
	i18n.Live
}

// New returns a worker for the notices in db.
func New(db *store.DB, cfg Config) *Worker {
	w := &Worker{db: db, cfg: cfg}
	w.SetLocale("", cfg.Zone)
	return w
}

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	return worker.Module{
		Kinds: scheduler.Kinds{
			Kind: {Worker: w, Timeout: sendDeadline + 30*time.Second, Retry: scheduler.Retry{Attempts: 10, Jitter: send.Jitter}, Routine: true},
		},
		EvenPaused: func(lane string) bool { return strings.HasPrefix(lane, "notices") },
		Wrong:      w.missed,
	}
}

// Tell writes a notice to each admin, and to other chats if some are named.
func (w *Worker) Tell(tx *store.Tx, n store.Notice, more ...string) error {
	t, err := w.Told(tx)
	if err != nil || w.bot(t) == nil {
		return err
	}
	var chats []string
	for _, a := range t.Admins {
		chats = append(chats, a.Chat)
	}
	chats = append(chats, more...)
	for i, chat := range chats {
		if chat == "" || slices.Contains(chats[:i], chat) {
			continue
		}
		n.Chat, n.Admin = chat, !slices.Contains(more, chat)
		if _, err := w.write(tx, n); err != nil {
			return err
		}
	}
	return nil
}

// TellHook writes a notice to the webhook, if there is one. body is JSON.
func (w *Worker) TellHook(tx *store.Tx, kind string, body []byte) error {
	if w.cfg.Webhook == nil {
		return nil
	}
	_, err := w.write(tx, store.Notice{Kind: kind, Chat: store.WebhookChat, Text: string(body)})
	return err
}

// Send writes a notice to one admin, whose chat it names.
func (w *Worker) Send(tx *store.Tx, n store.Notice) (store.Notice, error) {
	n.Admin = true
	return w.write(tx, n)
}

// Reply writes the answer of a bot, which the notice names, to one of its clients.
func (w *Worker) Reply(tx *store.Tx, n store.Notice) error {
	_, err := w.write(tx, n)
	return err
}

// write writes a notice with the job that sends it. A text that is longer than Telegram takes is
// shortened.
func (w *Worker) write(tx *store.Tx, n store.Notice) (store.Notice, error) {
	n.ID, n.Key, n.CreatedAt, n.Text = 0, platform.NewKey(), tx.Now(), fitting(n)
	if err := tx.Notices.Add(&n); err != nil {
		return n, fmt.Errorf("tell %s: %w", n.Chat, err)
	}
	job := store.Job{Name: n.JobName(), Kind: Kind, Subject: n.ID, Lane: n.Lane(), Trigger: store.Trigger{At: tx.Now()}}
	if n.File != "" {
		job.Timeout = maxFileDeadline + 30*time.Second // it may be that it sends another, larger file first
	}
	if err := scheduler.Put(tx, job); err != nil {
		return n, fmt.Errorf("tell %s: %w", n.Chat, err)
	}
	return n, nil
}
