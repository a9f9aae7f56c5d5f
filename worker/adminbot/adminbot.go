// Package adminbot is the door to Belfry that its owners have in Telegram: a menu of buttons that
// shows what happens, and from which they act.
//
// What a person says or presses is heard in one transaction: the action, and the notice that answers,
// are committed with the fact that it was heard. So an action takes place once and has one answer,
// whatever happens to the program or the network. Every button names what is to be, not what is to be
// changed: pressed twice, it does the same.
//
// It obeys its admins alone, and only in private. A stranger gets no answer and is counted, unless they bring the code
// that makes them an admin.
package adminbot

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"belfry/i18n"
	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/accounts"
	"belfry/worker/alerts"
	"belfry/worker/notices"
	"belfry/worker/posts"
	"belfry/worker/tasks"
)

// Workers are those whose actions the bot offers.
type Workers struct {
	Posts    *posts.Worker
	Tasks    *tasks.Worker
	Accounts *accounts.Worker
	Alerts   *alerts.Worker
	Notices  *notices.Worker
}

// Config is the settings of the bot.
type Config struct {
	Lang string // of what it says: en or ru
	Zone *time.Location
	// Passphrase encrypts the backups that it sends; without one it sends none.
	Passphrase string
	// Folder is the media folder, in which a backup is while it is sent.
	Folder string
	Log    zerolog.Logger
}

// Bot answers the admins.
type Bot struct {
	db      *store.DB
	cfg     Config
	workers Workers
	i18n.Live
	kinds scheduler.Kinds
}

// New returns a bot for the records in db.
func New(db *store.DB, w Workers, cfg Config) *Bot {
	b := &Bot{db: db, cfg: cfg, workers: w}
	b.SetLocale(cfg.Lang, cfg.Zone)
	return b
}

// Commands are those that Telegram lists.
func (b *Bot) Commands() []platform.Command {
	var all []platform.Command
	for _, page := range pages() {
		all = append(all, platform.Command{Name: page, About: b.Printer().T("bot.command." + page)})
	}
	return all
}

// SetKinds says which kinds of job there are. It is called before the bot hears of anything.
func (b *Bot) SetKinds(kinds scheduler.Kinds) { b.kinds = kinds }

// noticeAnswer is the kind of the notices that answer.
const noticeAnswer = "answer"

// Hear takes in what somebody has said or pressed, and answers an admin, or a person whom the code makes one.
func (b *Bot) Hear(tx *store.Tx, h platform.Heard) error {
	obeys, err := b.workers.Notices.IsAdmin(tx, h.From)
	joined := false
	if err == nil && !obeys {
		joined, err = b.workers.Notices.Join(tx, h)
	}
	if err != nil {
		return err
	}
	if !obeys && !joined {
		return b.countStranger(tx, h)
	}
	s, err := b.respond(tx, h)
	if err != nil {
		return err
	}
	if joined {
		s.text = b.Printer().T("bot.joined") + "\n\n" + s.text
	}
	n := store.Notice{Kind: noticeAnswer, Chat: strconv.FormatInt(h.From, 10), Text: s.text, Buttons: s.buttons, Query: h.QueryID, First: true}
	if h.QueryID != 0 {
		n.Edit = h.MessageID
	} else if n.Text == b.Printer().T("bot.not_understood") {
		for waiting := range tx.Notices.Queue(n.Lane(), n.Chat) {
			if waiting.Text == n.Text { // of an album and of what is forwarded each message comes for itself
				return nil
			}
		}
	}
	_, err = b.workers.Notices.Send(tx, n)
	return err
}

// respond carries out what is asked for and returns what is shown. A refusal is shown: the workers
// refuse before they write. Other errors undo everything.
func (b *Bot) respond(tx *store.Tx, h platform.Heard) (screen, error) {
	var done store.AuditEntry
	r := b.request(tx)
	r.by, r.chat, r.done = h.Name, h.From, &done
	var s screen
	var err error
	if h.QueryID != 0 {
		err = r.forget()
		if err == nil {
			s, err = r.open(h.Data)
		}
	} else {
		s, err = r.read(h.Text)
	}
	switch {
	case err == nil:
		done.Result = store.AuditDone
	case errors.Is(err, store.ErrNotFound):
		s, done.Result = r.hint(r.T("bot.gone")), store.AuditRefused
	case isRefusal(err):
		s, done.Result = r.hint("⚠️ "+r.Error(err)), store.AuditRefused
	default:
		return s, fmt.Errorf("answer %d: %w", h.From, err)
	}
	if done.Action == "" {
		return s, nil
	}
	return s, tx.Audit.Add(done)
}

// does notes what the admin does, for the audit. It is called before it is done, and so also where it is refused.
func (r request) does(action, about string) {
	r.done.Door, r.done.Actor = store.DoorBot, strconv.FormatInt(r.chat, 10)
	r.done.Action, r.done.About = action, about
}

func isRefusal(err error) bool {
	_, refusal := errors.AsType[i18n.Refusal](err)
	return refusal
}

// request is one thing that an admin wants.
type request struct {
	i18n.Printer
	bot  *Bot
	tx   *store.Tx
	by   string // the admin's name
	chat int64
	done *store.AuditEntry // what is done; without an action if nothing is
}

// request is one that nobody has made yet.
func (b *Bot) request(tx *store.Tx) request {
	r := request{Printer: b.Printer(), bot: b, tx: tx}
	r.Now = tx.Now()
	return r
}

// read takes in a text: a command, or what was asked for.
func (r request) read(text string) (screen, error) {
	text = strings.TrimSpace(text)
	if command, ok := strings.CutPrefix(text, "/"); ok {
		if err := r.forget(); err != nil {
			return screen{}, err
		}
		name, _, _ := strings.Cut(command, " ")
		name, _, _ = strings.Cut(strings.ToLower(name), "@") // /status@my_bot
		if name == "start" || name == "help" {
			name = pageMenu
		}
		if !slices.Contains(pages(), name) {
			return r.hint(r.T("bot.not_understood")), nil
		}
		return r.open(name)
	}
	asked, err := r.asked()
	if err != nil {
		return screen{}, err
	}
	switch asked {
	case askInterval:
		return r.takeInterval(text)
	case askNames:
		return r.takeNames(text)
	}
	return r.hint(r.T("bot.not_understood")), nil
}

// open shows a page, or carries out what a button says. The path of a page is its name and what it is
// about.
func (r request) open(path string) (screen, error) {
	parts := strings.Split(path, "/")
	page, rest := parts[0], parts[1:]
	switch page {
	case pageMenu:
		return r.menu(), nil
	case pageStatus:
		return r.status()
	case pageCheck:
		return r.check(rest)
	case pagePosts:
		return r.posts(rest)
	case pageTasks:
		return r.tasks(rest)
	case pageAlerts:
		return r.alerts(rest)
	case pageBackup:
		return r.backup(rest)
	}
	return r.hint(r.T("bot.not_understood")), nil
}
