package adminbot

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/platform/profile"
	"belfry/scheduler/schedulertest"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/accounts"
	"belfry/worker/alerts"
	"belfry/worker/notices"
	"belfry/worker/posts"
	"belfry/worker/tasks"
)

const admin = 100

// telegram is a network in memory: the bot's chats, in which messages are published and edited, and
// the channels that posts and broadcasts go to.
type telegram struct {
	mu       sync.Mutex
	messages []platform.Post
	answered []int64
	files    [][]byte // what was sent as a file
	read     func(name string) ([]byte, error)
	refuse   bool // files
	blocked  bool // looking names up
}

func (n *telegram) Publish(_ context.Context, p platform.Post) (platform.Receipt, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	i := slices.IndexFunc(n.messages, func(m platform.Post) bool { return m.Target == p.Target && m.Key == p.Key })
	if i >= 0 {
		return platform.Receipt{MessageIDs: []int64{int64(i) + 1}}, nil
	}
	if len(p.Media) > 0 {
		if n.refuse {
			return platform.Receipt{}, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Err: errors.New("no files here")}
		}
		data, err := n.read(p.Media[0].File)
		if err != nil {
			return platform.Receipt{}, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Err: err}
		}
		n.files = append(n.files, data)
	}
	n.messages = append(n.messages, p)
	return platform.Receipt{MessageIDs: []int64{int64(len(n.messages))}}, nil
}

func (n *telegram) Edit(_ context.Context, id int64, p platform.Post) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.messages[id-1].Text, n.messages[id-1].Buttons = p.Text, p.Buttons
	return nil
}

func (n *telegram) Answer(_ context.Context, query int64, _ string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answered = append(n.answered, query)
	return nil
}

func (n *telegram) Check(platform.Post) (platform.Measure, error) { return platform.Measure{}, nil }
func (n *telegram) Styled(format platform.Format, text string) (platform.Styled, error) {
	if format != platform.HTML {
		return platform.Styled{Text: text}, nil
	}
	return platform.Styled{Text: strings.NewReplacer("<b>", "", "</b>", "").Replace(text)}, nil
}
func (n *telegram) Fetchable(context.Context, platform.Post) error         { return nil }
func (n *telegram) Reach(context.Context, uint64, string) error            { return nil }
func (n *telegram) Publisher(uint64) platform.Publisher                    { return n }
func (n *telegram) Chats(context.Context, uint64) ([]platform.Chat, error) { return nil, nil }

func (n *telegram) Resolve(_ context.Context, _ uint64, target string) (platform.Chat, bool, error) {
	return platform.Chat{ChatRef: platform.ChatRef{Type: platform.ChatChannel, ID: int64(len(target))}, Title: target, Writable: true}, false, nil
}

// Probe finds nobody but the canaries.
func (n *telegram) Probe(_ context.Context, rule profile.Rule, username string) (profile.Result, error) {
	n.mu.Lock()
	blocked := n.blocked
	n.mu.Unlock()
	if blocked {
		return profile.Result{Outcome: profile.Refused, Detail: "429"}, nil
	}
	if slices.Contains(rule.Canaries, username) {
		return profile.Result{Outcome: profile.Found, Status: 200}, nil
	}
	return profile.Result{Outcome: profile.Absent, Status: 404}, nil
}

// bench is a bot with all workers and a scheduler on a real store, in a synctest bubble.
type bench struct {
	*schedulertest.Bench
	dir     string
	net     *telegram
	bot     *Bot
	workers Workers
	login   uint64 // of the channel's posts
	queries int64
}

func inBubble(t *testing.T, lang string, test func(b *bench)) {
	t.Helper()
	schedulertest.InBubble(t, func(base *schedulertest.Bench) {
		b := &bench{Bench: base, dir: base.T.TempDir()}
		b.net = &telegram{read: b.file}
		b.Update(func(tx *store.Tx) error {
			i := store.Identity{Platform: "telegram", Name: "main", Kind: store.IdentityUser, Target: "@channel", State: store.IdentityReady}
			err := tx.Identities.Put(&i)
			b.login = i.ID
			return err
		})
		b.start(lang)
		test(b)
	})
}

// start starts the workers and a scheduler on the store, as a new process would.
func (b *bench) start(lang string) {
	b.T.Helper()
	b.startFor(lang, admin)
}

// startFor starts them for another admin.
func (b *bench) startFor(lang string, admin int64) {
	b.T.Helper()
	b.Stop()
	told := notices.New(b.DB, notices.Config{Admins: []string{fmt.Sprint(admin)}, Bot: b.net, Log: zerolog.Nop()})
	b.workers = Workers{
		Posts:    posts.New(b.DB, map[string]posts.Network{"telegram": b.net}, posts.Config{}),
		Tasks:    tasks.New(b.DB, b.net, tasks.Config{}),
		Accounts: accounts.New(b.DB, b.net, told, accounts.Config{Lang: lang, Log: zerolog.Nop()}),
		Alerts:   alerts.New(b.DB, told, alerts.Config{Lang: lang, Log: zerolog.Nop()}),
		Notices:  told,
	}
	b.bot = New(b.DB, b.workers, Config{Lang: lang, Passphrase: "correct horse", Folder: b.dir, Log: zerolog.Nop()})
	w := b.workers
	w.Posts.OnHeld(b.bot.TellHeld)
	w.Tasks.OnEnd(b.bot.TellEnded)
	parts := []worker.Module{w.Posts.Module(), w.Tasks.Module(), w.Accounts.Module(), w.Alerts.Module(), told.Module(), b.bot.Module()}
	b.bot.SetKinds(worker.Join(parts...).Kinds)
	b.Start(parts...)
}

func (b *bench) hear(h platform.Heard) {
	b.T.Helper()
	b.Update(func(tx *store.Tx) error { return b.bot.Hear(tx, h) })
	b.Pass(time.Second)
}

// write sends a text to the bot as the admin, and returns the message that answers it. What the text has
// led to is told beside the answer: either may come first.
func (b *bench) write(text string) platform.Post {
	b.T.Helper()
	before := b.answered()
	b.hear(platform.Heard{From: admin, Name: "Ann", MessageID: 9999, Text: text})
	key := b.answered()
	for _, m := range b.shown() {
		if m.Key == key && key != before {
			return m
		}
	}
	b.T.Fatalf("%q was not answered", text)
	return platform.Post{}
}

// answered is the key of the newest answer.
func (b *bench) answered() (key int64) {
	b.View(func(tx *store.Tx) error {
		for n := range tx.Notices.All() {
			if n.Kind == noticeAnswer {
				key = n.Key
			}
		}
		return nil
	})
	return key
}

// shown are the bot's messages to the admin.
func (b *bench) shown() (all []platform.Post) {
	b.net.mu.Lock()
	defer b.net.mu.Unlock()
	for _, m := range b.net.messages {
		if m.Target == fmt.Sprint(admin) {
			all = append(all, m)
		}
	}
	return all
}

// press presses a button under the newest message that has one with this text, and returns what the
// message has become.
func (b *bench) press(text string) platform.Post {
	b.T.Helper()
	b.net.mu.Lock()
	for i, m := range slices.Backward(b.net.messages) {
		for _, row := range m.Buttons {
			for _, button := range row {
				if !strings.Contains(button.Text, text) {
					continue
				}
				b.net.mu.Unlock()
				b.queries++
				b.hear(platform.Heard{From: admin, Name: "Ann", MessageID: int64(i) + 1, QueryID: b.queries, Data: button.Data})
				b.net.mu.Lock()
				defer b.net.mu.Unlock()
				if !slices.Contains(b.net.answered, b.queries) {
					b.T.Errorf("the press of %q was not answered", text)
				}
				return b.net.messages[i]
			}
		}
	}
	b.net.mu.Unlock()
	b.T.Fatalf("no message has a button %q: %+v", text, b.shown())
	return platform.Post{}
}

// has checks that a message says all this.
func has(t *testing.T, m platform.Post, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(m.Text, part) {
			t.Errorf("the bot does not say %q, but %q", part, m.Text)
		}
	}
}

// schedule makes a post that is due after a while.
func (b *bench) schedule(after time.Duration, text string, hold bool) store.Post {
	b.T.Helper()
	return b.request(after, posts.Request{Text: text, Hold: hold})
}

func (b *bench) request(after time.Duration, r posts.Request) store.Post {
	b.T.Helper()
	r.Platform, r.ScheduledTime = "telegram", time.Now().Add(after).Format(time.RFC3339Nano)
	draft, err := b.workers.Posts.Prepare(b.T.Context(), r)
	if err != nil {
		b.T.Fatal(err)
	}
	var post store.Post
	b.Update(func(tx *store.Tx) (err error) {
		post, err = b.workers.Posts.Schedule(tx, draft)
		return err
	})
	return post
}

func (b *bench) post(id uint64) (p store.Post) {
	b.T.Helper()
	b.View(func(tx *store.Tx) (err error) {
		p, err = tx.Posts.Get(id)
		return err
	})
	return p
}
