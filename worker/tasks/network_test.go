package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry/platform"
	"belfry/scheduler/schedulertest"
	"belfry/store"
)

// network is a small network in memory with chats called "@chat_1", which are the same as their ids
// "-100…1". Like Telegram it remembers the keys of what was sent to a chat, whatever it was called.
type network struct {
	mu       sync.Mutex
	messages []message
	calls    []call
	asked    int // questions which chat a name is
	refuse   map[int64]*platform.Error
	faults   []fault // each call to send uses up one
	slowmode map[int64]time.Duration
	last     map[int64]time.Time // what was last said in a chat, by account and chat
	took     time.Duration

	moved map[int64]int64 // chats that have become another one, which shows when they are sent to; below zero: it has shown

	unfetchable error                               // of media
	lookups     func(target string) *platform.Error // what a question for a chat is answered instead; nil: nothing
	from        func(chat int64) *platform.Error    // the same of a call to send
}

type message struct {
	account uint64
	chat    int64
	key     int64
	text    string
	at      time.Time
}

type call struct {
	account uint64
	chat    int64
	key     int64
	media   int64 // what its media are known by
	at      time.Time
}

// fault is what happens to a call.
type fault struct {
	err     *platform.Error
	carried bool // the message is made all the same
	hang    bool // no answer comes before the caller's deadline
}

func newNetwork() *network {
	return &network{refuse: map[int64]*platform.Error{}, slowmode: map[int64]time.Duration{}, last: map[int64]time.Time{}}
}

func (n *network) Check(p platform.Post) (platform.Measure, error) {
	m := platform.Measure{Length: len(p.Text), Limit: 100}
	if m.Length > m.Limit {
		return m, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: "text", Err: errors.New("it is too long")}
	}
	return m, nil
}

func (n *network) Fetchable(context.Context, platform.Post) error { return n.unfetchable }

// saved is the chat that "me" stands for.
const saved = -1

const channelMark = -1_000_000_000_000

func chatID(target string) (int64, bool) {
	if target == Me {
		return saved, true
	}
	if number, ok := strings.CutPrefix(target, "@chat_"); ok {
		id, err := strconv.ParseInt(number, 10, 64)
		return id, err == nil
	}
	id, err := strconv.ParseInt(target, 10, 64)
	return channelMark - id, err == nil && id < channelMark
}

func (n *network) Resolve(_ context.Context, _ uint64, target string) (platform.Chat, bool, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked++
	if n.lookups != nil {
		if err := n.lookups(target); err != nil {
			return platform.Chat{}, true, err
		}
	}
	id, ok := chatID(target)
	if !ok {
		return platform.Chat{}, true, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Code: "USERNAME_NOT_OCCUPIED", Err: errors.New("there is no chat with this name")}
	}
	if to := n.moved[id]; to < 0 {
		id = -to
	}
	return platform.Chat{ChatRef: platform.ChatRef{Type: platform.ChatChannel, ID: id}, Title: fmt.Sprint("Chat ", id), Writable: n.refuse[id] == nil}, true, nil
}

func (n *network) Chats(context.Context, uint64) ([]platform.Chat, error) {
	var all []platform.Chat
	for id := range int64(5) {
		all = append(all, platform.Chat{ChatRef: platform.ChatRef{Type: platform.ChatChannel, ID: id + 1}, Title: fmt.Sprint("Chat ", id+1), Writable: true})
	}
	return all, nil
}

func (n *network) Publisher(account uint64) platform.Publisher { return publisher{n, account} }

type publisher struct {
	*network
	account uint64
}

func (n publisher) Publish(ctx context.Context, p platform.Post) (platform.Receipt, error) {
	n.mu.Lock()
	id, _ := chatID(p.Target)
	if to := n.moved[id]; to != 0 {
		n.moved[id], id = -max(to, -to), max(to, -to)
	}
	if p.Chat.ID != 0 && p.Chat.ID != id {
		n.mu.Unlock()
		return platform.Receipt{}, &platform.Error{Kind: platform.Transient, Scope: platform.ScopeChat, Err: errors.New("the chat has become another one")}
	}
	n.calls = append(n.calls, call{n.account, id, p.Key, p.MediaKey, time.Now()})
	earlier := slices.IndexFunc(n.messages, func(m message) bool { return m.account == n.account && m.chat == id && m.key == p.Key })
	var f fault
	if len(n.faults) > 0 {
		f, n.faults = n.faults[0], n.faults[1:]
	}
	if n.from != nil {
		if err := n.from(id); err != nil {
			f = fault{err: err}
		}
	}
	since := n.last[int64(n.account)<<32|id]
	switch slow := n.slowmode[id]; {
	case earlier >= 0:
	case n.refuse[id] != nil:
		f = fault{err: n.refuse[id]}
	case slow > 0 && time.Since(since) < slow:
		f = fault{err: &platform.Error{Kind: platform.Wait, Scope: platform.ScopeChat, Code: "SLOWMODE_WAIT", Wait: slow - time.Since(since), Err: errors.New("slow mode")}}
	}
	if earlier < 0 && (f.err == nil && !f.hang || f.carried) {
		n.messages = append(n.messages, message{n.account, id, p.Key, p.Text, time.Now()})
		n.last[int64(n.account)<<32|id] = time.Now()
		earlier = len(n.messages) - 1
	}
	took := n.took
	n.mu.Unlock()
	if took > 0 {
		select {
		case <-time.After(took):
		case <-ctx.Done():
		}
	}
	if f.hang {
		<-ctx.Done()
		return platform.Receipt{}, &platform.Error{Kind: platform.Unknown, Scope: platform.ScopeIdentity, Err: errors.New("no answer")}
	}
	if f.err != nil {
		return platform.Receipt{}, f.err
	}
	return platform.Receipt{MessageIDs: []int64{int64(earlier + 1)}, Link: fmt.Sprintf("https://t.me/chat_%d/%d", id, earlier+1)}, nil
}

func (n *network) sent() []message {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.messages)
}

func (n *network) fault(faults ...fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = append(n.faults, faults...)
}

func waits(scope platform.Scope, d time.Duration) fault {
	return fault{err: &platform.Error{Kind: platform.Wait, Scope: scope, Code: "FLOOD_WAIT", Wait: d, Err: errors.New("wait")}}
}

func refusal() *platform.Error {
	return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Code: "CHAT_WRITE_FORBIDDEN", Err: errors.New("this login may not write")}
}

// bench is a task worker with its scheduler on a real store, in a synctest bubble.
type bench struct {
	*schedulertest.Bench
	net     *network
	worker  *Worker
	account uint64
}

func inBubble(t *testing.T, cfg Config, test func(b *bench)) {
	t.Helper()
	schedulertest.InBubble(t, func(base *schedulertest.Bench) {
		b := &bench{Bench: base, net: newNetwork()}
		b.worker = New(b.DB, b.net, cfg)
		b.account = b.addAccount("main")
		b.start()
		test(b)
		b.Stop()
		b.prove()
	})
}

func (b *bench) addAccount(name string) uint64 {
	i := store.Identity{Platform: "telegram", Name: name, Kind: store.IdentityUser, State: store.IdentityReady}
	b.Update(func(tx *store.Tx) error { return tx.Identities.Put(&i) })
	return i.ID
}

// start starts the worker on the store, as a new process would.
func (b *bench) start() { b.Start(b.worker.Module()) }

// names are the chats from 1 to n.
func names(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint("@chat_", i+1)
	}
	return all
}

func (b *bench) create(r Request) store.Task {
	b.T.Helper()
	r.Text = cmp.Or(r.Text, "hello")
	r.IdentityID = cmp.Or(r.IdentityID, b.account)
	draft, err := b.worker.Prepare(r)
	if err != nil {
		b.T.Fatal(err)
	}
	var task store.Task
	b.Update(func(tx *store.Tx) (err error) {
		task, err = b.worker.Create(tx, draft)
		return err
	})
	return task
}

func (b *bench) task(id uint64) (t store.Task) {
	b.T.Helper()
	b.View(func(tx *store.Tx) (err error) {
		t, err = tx.Tasks.Get(id)
		return err
	})
	return t
}

func (b *bench) deliveries(task store.Task) (all []store.Delivery) {
	b.T.Helper()
	b.View(func(tx *store.Tx) error {
		page, err := tx.Deliveries.Of(task, "", store.Query{Limit: 500})
		all = page.Items
		return err
	})
	return all
}

// act takes an action on a task.
func (b *bench) act(id uint64, fn func(*Worker, *store.Tx, uint64) (store.Task, error)) {
	b.T.Helper()
	b.Update(func(tx *store.Tx) error {
		_, err := fn(b.worker, tx, id)
		return err
	})
}

// untilEnded lets time pass until no task is active, but not more than a month.
func (b *bench) untilEnded() {
	b.T.Helper()
	for range 31 * 24 {
		active := 0
		b.View(func(tx *store.Tx) error {
			active = tx.Tasks.Count(store.TaskPreparing, 1) + tx.Tasks.Count(store.TaskPending, 1) + tx.Tasks.Count(store.TaskProcessing, 1)
			return nil
		})
		if active == 0 {
			return
		}
		b.Pass(time.Hour)
	}
	b.T.Fatal("a task has not ended within a month")
}

// prove checks what must hold after any test: no chat has a post twice, the counts of each task are
// those of its deliveries, what is sent is in the chat, and the pauses were kept.
func (b *bench) prove() {
	sent := map[call]bool{}
	for _, m := range b.net.sent() {
		k := call{account: m.account, chat: m.chat, key: m.key}
		if sent[k] {
			b.T.Errorf("chat %d has a post twice", m.chat)
		}
		sent[k] = true
	}
	b.View(func(tx *store.Tx) error {
		for task := range tx.Tasks.All() {
			n := map[store.DeliveryStatus]int{}
			for d := range tx.Deliveries.From(task.First) {
				if d.TaskID != task.ID {
					break
				}
				n[d.Status]++
				if d.Status == store.DeliveryPending && task.Status == store.TaskDone {
					b.T.Errorf("task %d is done, and chat %s waits", task.ID, d.Target)
				}
				if (d.Status == store.DeliveryFailed || d.Status == store.DeliverySkipped) && d.Reason.Zero() {
					b.T.Errorf("delivery to %s is %s for no reason", d.Target, d.Status)
				}
				if id, _ := chatID(d.Target); d.Status == store.DeliverySent && !sent[call{account: task.IdentityID, chat: id, key: d.Key}] {
					b.T.Errorf("delivery to %s is on record as sent, and is not there", d.Target)
				}
			}
			if n[store.DeliverySent] != task.Sent || n[store.DeliveryFailed] != task.Failed || n[store.DeliverySkipped] != task.Skipped ||
				n[store.DeliveryPending] != task.Left() {
				b.T.Errorf("task %d counts %d, %d, %d of %d, and its deliveries are %v", task.ID, task.Sent, task.Failed, task.Skipped, task.Total, n)
			}
		}
		return nil
	})
}

// gaps returns the pauses between the messages of an account.
func (b *bench) gaps(account uint64) (gaps []time.Duration) {
	var last time.Time
	for _, m := range b.net.sent() {
		if m.account != account {
			continue
		}
		if !last.IsZero() {
			gaps = append(gaps, m.at.Sub(last))
		}
		last = m.at
	}
	return gaps
}
