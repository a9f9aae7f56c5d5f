package posts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry/platform"
	"belfry/scheduler/schedulertest"
	"belfry/store"
)

// network is a small network in memory. Like Telegram it remembers the keys of what was sent to a
// chat, and takes faults: each call uses up one, if any is left.
type network struct {
	mu       sync.Mutex
	messages []platform.Post
	faults   []fault
	calls    int
	took     time.Duration // how long a call takes
	upload   time.Duration // how long media take, beginning with the first call
	uploaded time.Time     // when they are there
	failed   map[int64]int // calls by the post's key that the network has let fail
}

// fault is what happens to a call.
type fault struct {
	err     *platform.Error
	carried bool // the message is made all the same
	hang    bool // no answer comes before the caller's deadline
}

func refusal(field, problem string) error {
	return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: field, Err: errors.New(problem)}
}

func (n *network) Check(p platform.Post) (platform.Measure, error) {
	m := platform.Measure{Length: len(p.Text), Limit: 100}
	if m.Length > m.Limit {
		return m, refusal("text", "it is too long")
	}
	if len(p.Media) == 1 && p.Media[0].URL == "" {
		return m, refusal("media[0].url", "is missing")
	}
	return m, nil
}

// Styled knows bold text alone, and refuses what is not closed.
func (n *network) Styled(_ platform.Format, text string) (platform.Styled, error) {
	before, rest, _ := strings.Cut(text, "<b>")
	bold, after, closed := strings.Cut(rest, "</b>")
	if !closed {
		return platform.Styled{}, refusal("text", "it is not closed")
	}
	return platform.Styled{Text: before + bold + after, Spans: []platform.Span{{Kind: platform.Bold, Start: len(before), End: len(before + bold)}}}, nil
}

func (n *network) Reach(_ context.Context, _ uint64, target string) error {
	if target == "@nowhere" {
		return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Code: "USERNAME_NOT_OCCUPIED", Err: errors.New("there is no such chat")}
	}
	if target == "@later" {
		return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: errors.New("not connected")}
	}
	return nil
}

func (n *network) Publisher(uint64) platform.Publisher { return n }

func (n *network) Publish(ctx context.Context, p platform.Post) (platform.Receipt, error) {
	n.mu.Lock()
	n.calls++
	if len(p.Media) > 0 && n.uploaded.IsZero() {
		n.uploaded = time.Now().Add(n.upload)
	}
	if len(p.Media) > 0 && time.Now().Before(n.uploaded) {
		n.mu.Unlock()
		time.Sleep(2 * time.Second)
		return platform.Receipt{}, &platform.Error{Kind: platform.UnderWay, Scope: platform.ScopeContent, Wait: 3 * time.Second, Err: errors.New("1 of 2 MB")}
	}
	var f fault
	if len(n.faults) > 0 {
		f, n.faults = n.faults[0], n.faults[1:]
	}
	receipt := platform.Receipt{}
	if f.err == nil && !f.hang || f.carried {
		i := slices.IndexFunc(n.messages, func(m platform.Post) bool { return m.Key == p.Key && m.Target == p.Target })
		if i < 0 {
			n.messages = append(n.messages, p)
			i = len(n.messages) - 1
		}
		receipt = platform.Receipt{MessageIDs: []int64{int64(i + 1)}, Link: fmt.Sprintf("https://t.me/c/%d", i+1)}
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
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			n.blame(p)
		}
		return platform.Receipt{}, &platform.Error{Kind: platform.Unknown, Scope: platform.ScopeIdentity, Err: errors.New("no answer")}
	}
	if f.err != nil {
		if f.err.Kind != platform.Wait && f.err.Scope != platform.ScopeIdentity {
			n.blame(p)
		}
		return platform.Receipt{}, f.err
	}
	return receipt, nil
}

func (n *network) blame(p platform.Post) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.failed[p.Key]++
}

// bench is a post worker with its scheduler on a real store, in a synctest bubble.
type bench struct {
	*schedulertest.Bench
	net     *network
	worker  *Worker
	firstID uint64 // of the identity
}

func inBubble(t *testing.T, test func(b *bench)) {
	t.Helper()
	schedulertest.InBubble(t, func(base *schedulertest.Bench) {
		b := &bench{Bench: base, net: &network{failed: map[int64]int{}}}
		b.worker = New(b.DB, map[string]Network{"telegram": b.net}, Config{})
		b.Update(func(tx *store.Tx) error {
			i := store.Identity{Platform: "telegram", Name: "main", Kind: store.IdentityBot, Target: "@channel", State: store.IdentityReady}
			defer func() { b.firstID = i.ID }()
			return tx.Identities.Put(&i)
		})
		b.start()
		test(b)
	})
}

// start starts the worker on the store, as a new process would.
func (b *bench) start() { b.Start(b.worker.Module()) }

// schedule makes a post that is due in d.
func (b *bench) schedule(d time.Duration, r Request) store.Post {
	b.T.Helper()
	r.Platform = cmp.Or(r.Platform, "telegram")
	r.Text = cmp.Or(r.Text, "hello")
	r.ScheduledTime = b.DB.Now().Add(d).Format(time.RFC3339Nano)
	draft, err := b.worker.Prepare(context.Background(), r)
	if err != nil {
		b.T.Fatal(err)
	}
	var post store.Post
	b.Update(func(tx *store.Tx) (err error) {
		post, err = b.worker.Schedule(tx, draft)
		return err
	})
	return post
}

func (b *bench) post(id uint64) (p store.Post) {
	b.T.Helper()
	err := b.DB.View(func(tx *store.Tx) (err error) {
		p, err = tx.Posts.Get(id)
		return err
	})
	if err != nil {
		b.T.Fatal(err)
	}
	return p
}

// sent returns how many messages the network has made.
func (b *bench) sent() int {
	b.net.mu.Lock()
	defer b.net.mu.Unlock()
	return len(b.net.messages)
}

func (b *bench) fault(faults ...fault) {
	b.net.mu.Lock()
	defer b.net.mu.Unlock()
	b.net.faults = append(b.net.faults, faults...)
}
