package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"belfry/platform"
)

// Message is one message that the network has made.
type Message struct {
	ID     int64
	Login  uint64 // the identity that sent it
	Target string
	Post   platform.Post
	Asked  time.Time // when the call began; in the bubble's time
	At     time.Time // when the network made it; likewise
	Clock  time.Time // what Belfry's clock showed then
	Undone bool      // a restore has made the file forget it
}

// Network is a network in memory. Like Telegram it recognises the keys of what an identity has sent to a chat,
// and refuses, asks to wait, is gone and loses answers as the weather wants.
type Network struct {
	w *World

	mu      sync.Mutex
	ledger  []Message
	keys    map[key]int64
	calls   map[string]uint64        // by what they were about
	told    map[uint64]time.Time     // until when a login was told to wait; in the bubble's time
	longest map[uint64]time.Duration // the longest wait that a login was told
	heard   []func(Message)

	connected chan struct{}
}

type key struct {
	login  uint64
	target string
	key    int64
}

func newNetwork(w *World) *Network {
	return &Network{w: w, keys: map[key]int64{}, calls: map[string]uint64{}, told: map[uint64]time.Time{}, longest: map[uint64]time.Duration{}, connected: make(chan struct{}, 1)}
}

// Connection is the connection of each login.
func (n *Network) Connection() platform.Connection {
	if gone := n.w.Spell(NetworkGone); gone != nil {
		return platform.Connection{State: platform.Connecting, Since: n.w.Now().Add(-time.Since(gone.From)), Err: gone.What}
	}
	return platform.Connection{State: platform.Connected}
}

// Connected receives after logins were connected.
func (n *Network) Connected() <-chan struct{} { return n.connected }

// Connect connects the logins, unless the network is gone.
func (n *Network) Connect() {
	if n.Connection().State != platform.Connected {
		return
	}
	select {
	case n.connected <- struct{}{}:
	default:
	}
}

// OnMessage has hear called for each message at the moment in which the network makes it, from any goroutine.
// It is called before the first process begins.
func (n *Network) OnMessage(hear func(Message)) { n.heard = append(n.heard, hear) }

// Len returns how many messages there are.
func (n *Network) Len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.ledger)
}

// After returns the messages of the ledger behind the one with an id; 0: all of them.
func (n *Network) After(id int64) []Message {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.ledger[id:])
}

// Messages returns the messages with the given ids.
func (n *Network) Messages(ids []int64) (all []Message) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, id := range ids {
		all = append(all, n.ledger[id-1])
	}
	return all
}

// Latest returns the messages of the ledger for which which says so, at most limit, the latest first.
func (n *Network) Latest(limit int, which func(Message) bool) (all []Message) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, m := range slices.Backward(n.ledger) {
		if len(all) == limit {
			break
		}
		if which(m) {
			all = append(all, m)
		}
	}
	return all
}

// undo marks the messages that were made since a moment, of which a restored file does not know.
func (n *Network) undo(since time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, m := range n.ledger {
		n.ledger[i].Undone = m.Undone || !m.At.Before(since)
	}
}

// LongestWait returns the longest time that a login was told to wait, and until when it was told to at most, in
// the bubble's time.
func (n *Network) LongestWait(login uint64) (time.Duration, time.Time) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.longest[login], n.told[login]
}

// Publisher sends posts as a login, for a process.
func (n *Network) Publisher(p *Process, login uint64) platform.Publisher {
	return publisher{n, p, login}
}

type publisher struct {
	n     *Network
	p     *Process
	login uint64
}

// Publish makes the message, unless there is one with its key.
func (s publisher) Publish(ctx context.Context, post platform.Post) (platform.Receipt, error) {
	asked := time.Now()
	var receipt platform.Receipt // of a call without an answer the network writes it later
	err := s.n.Call(ctx, s.p, s.login, "publish "+post.Target+" "+post.Text, func() {
		id := s.n.put(s.login, post, asked)
		receipt = platform.Receipt{MessageIDs: []int64{id}, Link: fmt.Sprintf("https://t.me/c/%d", id)}
	})
	if err != nil {
		return platform.Receipt{}, err
	}
	return receipt, nil
}

func (n *Network) put(login uint64, post platform.Post, asked time.Time) int64 {
	k := key{login, post.Target, post.Key}
	n.mu.Lock()
	id, known := n.keys[k]
	var m Message
	if !known {
		id = int64(len(n.ledger) + 1)
		m = Message{ID: id, Login: login, Target: post.Target, Post: post, Asked: asked, At: time.Now(), Clock: n.w.Now()}
		n.ledger, n.keys[k] = append(n.ledger, m), id
	}
	n.mu.Unlock()
	if !known {
		n.w.disk.messageMade()
		for _, hear := range n.heard {
			hear(m)
		}
	}
	return id
}

// fate is what happens to a call.
type fate struct {
	before, after time.Duration // until the network has it; until its answer is there
	err           *platform.Error
	lost          bool // the answer never comes
	doubled       bool // the network has it twice
}

// Call is one call of a process to the network, as a login. about says what it is about: the fate of a call
// depends on the weather, on that and on how many calls were about the same before. carry is what the network
// does with it. The process hears nothing of a call that ends after its death or after ctx.
func (n *Network) Call(ctx context.Context, p *Process, login uint64, about string, carry func()) error {
	if p.Dead() {
		return unanswered(errDead)
	}
	f := n.fate(login, about)
	answer := make(chan struct{})
	n.w.zombies.Go(func() {
		if time.Sleep(f.before); p.Dead() {
			return
		}
		if f.err == nil {
			if carry(); f.doubled {
				carry()
			}
		}
		if time.Sleep(f.after); !f.lost {
			close(answer)
		}
	})
	select {
	case <-p.died:
		return unanswered(errDead)
	case <-ctx.Done():
		n.w.count("unanswered")
		return unanswered(ctx.Err())
	case <-answer:
	}
	if f.err != nil {
		n.noteWait(login, f.err)
		if f.err.Kind == platform.Login {
			n.noteLogin(p, login, f.err)
		}
		n.w.count(string(f.err.Kind) + " " + string(f.err.Scope))
		return f.err
	}
	return nil
}

func unanswered(err error) error {
	return &platform.Error{Kind: platform.Unknown, Scope: platform.ScopeIdentity, Err: err}
}

func (n *Network) noteWait(login uint64, e *platform.Error) {
	if e.Kind != platform.Wait {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.longest[login] = max(n.longest[login], e.Wait)
	if until := time.Now().Add(e.Wait); until.After(n.told[login]) {
		n.told[login] = until
	}
}

// fate decides what happens to a call.
func (n *Network) fate(login uint64, about string) (f fate) {
	n.mu.Lock()
	n.calls[about]++
	r := random(hash(n.w.Seed, about), n.calls[about])
	n.mu.Unlock()
	f.before = 50*time.Millisecond + time.Duration(r.Int64N(int64(500*time.Millisecond)))
	f.after = 50*time.Millisecond + time.Duration(r.Int64N(int64(500*time.Millisecond)))
	luck := r.Float64()
	for _, s := range n.w.active("network") {
		if luck > s.Strength || !s.Hits(login) {
			continue
		}
		if f.befall(s.What, r); f.err != nil {
			return f
		}
	}
	return f
}

// befall has a call meet a kind of weather.
func (f *fate) befall(what string, r *rand.Rand) {
	fail := func(kind platform.Kind, scope platform.Scope, code string) {
		f.err = &platform.Error{Kind: kind, Scope: scope, Code: code, Err: errors.New(what)}
	}
	switch what {
	case NetworkGone:
		fail(platform.Transient, platform.ScopeIdentity, "")
		f.after += 10*time.Second + time.Duration(r.Int64N(int64(15*time.Second))) // it is tried for a while
	case "answers lost":
		f.lost = true
	case "late":
		f.before += time.Duration(r.Int64N(int64(20 * time.Second)))
		f.after += time.Duration(r.Int64N(int64(30 * time.Second)))
	case "doubled":
		f.doubled = true
	case "flood":
		fail(platform.Wait, platform.ScopeIdentity, "FLOOD_WAIT")
		f.err.Wait = time.Duration(1+r.IntN(600)) * time.Second
		if r.IntN(10) == 0 {
			f.err.Wait *= 10
		}
	case "slow mode":
		fail(platform.Wait, platform.ScopeChat, "SLOWMODE_WAIT")
		f.err.Wait = time.Duration(1+r.IntN(900)) * time.Second
	case "refusals":
		scope := []platform.Scope{platform.ScopeContent, platform.ScopeChat, platform.ScopeChat, platform.ScopeIdentity, ""}[r.IntN(5)]
		fail(platform.Refused, scope, "REFUSED")
	case "trouble":
		scope := []platform.Scope{platform.ScopeContent, platform.ScopeChat, platform.ScopeChat}[r.IntN(3)]
		fail(platform.Transient, scope, "INTERNAL")
	case "restricted":
		fail(platform.Stopped, platform.ScopeIdentity, "PEER_FLOOD")
	case "logged out":
		fail(platform.Login, platform.ScopeIdentity, "AUTH_KEY_UNREGISTERED")
	}
}
