// Package taskstest brings broadcasts into the simulation: people who make, pause, cancel and retry them, and
// judges who compare what the chats got, and how fast, with what was asked for.
package taskstest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/simulation"
	"belfry/worker/tasks"
)

// Part is the broadcasts of one world.
type Part struct {
	Worker *tasks.Worker // of the process that runs
	world  *simulation.World

	mu     sync.Mutex
	wishes map[string]*wish // by tag; those that are not settled
	last   map[uint64]simulation.Message
	off    map[string]time.Time // since when chats are switched off, in the bubble's time
}

// wish is what people want of a broadcast, as far as their changes were accepted.
type wish struct {
	tag     string
	id      uint64
	login   uint64
	start   time.Time
	pause   time.Duration
	quiet   store.QuietHours
	got     map[string]int // messages by chat
	stopped time.Time      // when it was paused or cancelled, in the bubble's time; zero: it goes on
	doubt   bool           // a change was made or not
	// restored says that the file was an old one since: chats may have it of which the file does not know.
	restored bool
	finals   int // days on which it was seen at its end
}

// New returns the part of a world.
func New() *Part {
	return &Part{wishes: map[string]*wish{}, last: map[uint64]simulation.Message{}, off: map[string]time.Time{}}
}

// Part is what the simulation plays.
func (p *Part) Part() simulation.Part {
	return simulation.Part{
		Name: "tasks",
		Logins: []store.Identity{
			{Platform: tasks.Platform, Name: "anna", Kind: store.IdentityUser, Target: "@anna_news", State: store.IdentityReady},
			{Platform: tasks.Platform, Name: "boris", Kind: store.IdentityUser, State: store.IdentityReady},
		},
		Actions: p.actions(),
		Start:   p.start,
		Hourly:  p.hourly,
		Daily:   p.daily,
		Backup:  p.backup,
	}
}

// backup keeps what people want at this moment, and returns what lets them want that again. What the chats got
// stays.
func (p *Part) backup() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	var kept []wish
	for _, wi := range p.wishes {
		kept = append(kept, *wi)
	}
	off := maps.Clone(p.off)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.off = maps.Clone(off)
		p.wishes = map[string]*wish{}
		for _, wi := range kept {
			wi.restored = true
			p.wishes[wi.tag] = &wi
		}
	}
}

// newYork is the zone of the program's days and quiet hours.
var newYork = func() *time.Location {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		panic(err) // the machine has no zones
	}
	return zone
}()

func (p *Part) start(process *simulation.Process) worker.Module {
	if p.world == nil {
		p.world = process.World
		p.world.Network.OnMessage(p.heard)
	}
	p.Worker = tasks.New(process.DB, network{process}, tasks.Config{Zone: newYork})
	return p.Worker.Module()
}

// chats is how many chats there are: @chat_1, which is -1001 too, and so on.
const chats = 400

// network is the simulation's network as broadcasts need it, for one process.
type network struct{ p *simulation.Process }

func (n network) Check(p platform.Post) (platform.Measure, error) {
	return platform.Measure{Length: len(p.Text), Limit: 4096}, nil
}

func (n network) Fetchable(context.Context, platform.Post) error { return nil }

// number is which chat a target is, or 0.
func number(target string) int64 {
	n, _ := strconv.ParseInt(strings.TrimPrefix(strings.TrimPrefix(target, "@chat_"), "-100"), 10, 64)
	return n
}

func (n network) Resolve(ctx context.Context, login uint64, target string) (chat platform.Chat, asked bool, err error) {
	id := number(target)
	if id%3 > 0 { // it was met before
		return chatOf(id), false, nil
	}
	err = n.p.World.Network.Call(ctx, n.p, login, "resolve "+target, func() {})
	if e, ok := errors.AsType[*platform.Error](err); ok && e.Kind == platform.Wait {
		e.Scope, e.Field = platform.ScopeChat, "target" // only this chat has to
	}
	return chatOf(id), true, err
}

// chatKey names a chat of a login as the network's ledger does.
func chatKey(login uint64, id int64) string { return fmt.Sprint(login, " chat ", id) }

func chatOf(id int64) platform.Chat {
	return platform.Chat{ChatRef: platform.ChatRef{Type: platform.ChatChannel, ID: id}, Title: fmt.Sprint("Chat ", id), Writable: id%50 != 0}
}

func (n network) Chats(ctx context.Context, login uint64) (all []platform.Chat, err error) {
	for id := range int64(20) {
		all = append(all, chatOf(id+1))
	}
	return all, n.p.World.Network.Call(ctx, n.p, login, "chats", func() {})
}

func (n network) Publisher(login uint64) platform.Publisher {
	return publisher{n.p.World.Network.Publisher(n.p, login)}
}

// publisher knows a chat whatever it is called.
type publisher struct{ platform.Publisher }

func (s publisher) Publish(ctx context.Context, post platform.Post) (platform.Receipt, error) {
	post.Target = fmt.Sprint("chat ", number(post.Target))
	return s.Publisher.Publish(ctx, post)
}

// tagOf is the tag of the broadcast in a text, or empty.
func tagOf(text string) string {
	tag, is := strings.CutPrefix(text, "broadcast ")
	if !is {
		return ""
	}
	return tag
}

// all returns the wishes that are not settled, in the order of their tags.
func (p *Part) all() []*wish {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.SortedFunc(maps.Values(p.wishes), func(a, b *wish) int { return strings.Compare(a.tag, b.tag) })
}
