package notices

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/scheduler/schedulertest"
	"belfry/store"
)

// network is Telegram in memory, as far as a bot sees it: it recognises a key, and edits and answers
// may be repeated. It is the webhook, too.
type network struct {
	mu         sync.Mutex
	calls      int
	messages   []message
	answered   []int64
	faults     []fault
	chats      map[string]*platform.Error // what is answered in a chat
	uneditable bool
	rate       int64 // at which files are uploaded, in bytes a second; 0: at once
	uploads    int   // begun
	takes      time.Duration
}

type message struct {
	chat, text string
	key        int64
	buttons    int
	file       string
}

type fault struct {
	err     *platform.Error
	carried bool // what was asked for is done all the same
	hangs   bool // the call does not return while the program lives
}

// take returns the next fault.
func (n *network) take() fault {
	if len(n.faults) == 0 {
		return fault{}
	}
	f := n.faults[0]
	n.faults = n.faults[1:]
	return f
}

func (n *network) Publish(ctx context.Context, p platform.Post) (platform.Receipt, error) {
	if len(p.Media) > 0 {
		if err := n.upload(ctx, p.Media[0]); err != nil {
			return platform.Receipt{}, err
		}
	}
	time.Sleep(n.takes)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.calls++; n.calls > 10_000 {
		panic("called without a pause") // in which the time of a bubble would never pass
	}
	if e := n.chats[p.Target]; e != nil {
		return platform.Receipt{}, e
	}
	f := n.take()
	i := slices.IndexFunc(n.messages, func(m message) bool { return m.chat == p.Target && m.key == p.Key })
	if i < 0 && (f.err == nil || f.carried) {
		m := message{chat: p.Target, text: p.Text, key: p.Key, buttons: len(p.Buttons)}
		if len(p.Media) > 0 {
			m.file = p.Media[0].File
		}
		n.messages = append(n.messages, m)
		i = len(n.messages) - 1
	}
	if f.hangs {
		n.mu.Unlock()
		time.Sleep(time.Hour)
		n.mu.Lock()
	}
	if f.err != nil {
		return platform.Receipt{}, f.err
	}
	return platform.Receipt{MessageIDs: []int64{int64(i) + 1}}, nil
}

// upload takes its time for a file, whose name begins with its size in MiB.
func (n *network) upload(ctx context.Context, m platform.Media) error {
	n.mu.Lock()
	rate := n.rate
	n.uploads++
	n.mu.Unlock()
	var size int64
	if _, err := fmt.Sscanf(m.File, "%d", &size); err != nil || rate == 0 {
		return nil //nolint:nilerr // a file that takes no time
	}
	timer := time.NewTimer(time.Duration(size<<20/rate) * time.Second)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: ctx.Err()}
	}
}

func (n *network) Edit(_ context.Context, id int64, p platform.Post) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.uneditable {
		return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Code: "MESSAGE_ID_INVALID", Err: fmt.Errorf("no message %d", id)}
	}
	f := n.take()
	if f.err == nil || f.carried {
		n.messages[id-1].text, n.messages[id-1].buttons = p.Text, len(p.Buttons)
	}
	if f.err != nil {
		return f.err
	}
	return nil
}

func (n *network) Answer(_ context.Context, query int64, _ string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.answered = append(n.answered, query)
	return nil
}

func (n *network) fault(faults ...fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = append(n.faults, faults...)
}

// told is what a chat has, the oldest first.
func (n *network) told(chat string) (texts []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range n.messages {
		if m.chat == chat {
			texts = append(texts, m.text)
		}
	}
	return texts
}

// bench is a worker with its scheduler on a real store, in a synctest bubble.
type bench struct {
	*schedulertest.Bench
	bot, hook *network
	worker    *Worker
}

func inBubble(t *testing.T, test func(b *bench)) {
	t.Helper()
	schedulertest.InBubble(t, func(base *schedulertest.Bench) {
		b := &bench{Bench: base, bot: &network{}, hook: &network{}}
		b.worker = New(b.DB, Config{Admins: []string{"100", "200"}, Bot: b.bot, Webhook: b.hook, Log: zerolog.Nop()})
		test(b)
		b.Stop()
		b.prove()
	})
}

// start starts the worker on the store, as a new process would.
func (b *bench) start() { b.Start(b.worker.Module()) }

// tell tells the admins, and more, a text.
func (b *bench) tell(text string, more ...string) {
	b.T.Helper()
	b.Update(func(tx *store.Tx) error { return b.worker.Tell(tx, store.Notice{Kind: "test", Text: text}, more...) })
}

// waiting is how many notices wait to be sent.
func (b *bench) waiting() (n int) {
	b.View(func(tx *store.Tx) error { n = tx.Notices.Waiting(1000); return nil })
	return n
}

// prove checks what must hold after any test: no notice has arrived twice, none counts as sent that
// has not arrived.
func (b *bench) prove() {
	b.T.Helper()
	b.View(func(tx *store.Tx) error {
		for n := range tx.Notices.All() {
			arrived := 0
			for _, m := range slices.Concat(b.bot.messages, b.hook.messages) {
				if m.key == n.Key {
					arrived++
				}
			}
			if arrived > 1 || arrived == 0 && !n.SentAt.IsZero() && n.Edit == 0 {
				b.T.Errorf("notice %d arrived %d times: %+v", n.ID, arrived, n)
			}
		}
		return nil
	})
}
