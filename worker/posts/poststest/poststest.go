// Package poststest brings posts into the simulation: people who schedule, change, cancel, approve and retry
// them, and judges who compare what the network got with what was asked for.
package poststest

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/posts"
	"belfry/worker/simulation"
)

const telegram = "telegram"

// Part is the posts of one world.
type Part struct {
	Worker *posts.Worker // of the process that runs
	// Import imports a row of scheduled_posts, and reports whether it has made or changed a post.
	Import func(into *simulation.Process, row map[string]string) (taken bool, err error)

	world   *simulation.World
	process *simulation.Process

	mu     sync.Mutex
	wishes map[string]*wish // by tag; those that are not settled
	ended  map[string]*wish // the others
	waits  map[uint64]wait  // by login; the last ones

	begun  []time.Time        // when the last posts of the login with a window were sent, in the bubble's time
	judged int64              // the last message of the ledger
	sent   map[string][]int64 // messages by their tags
}

// wish is what people want of a post, as far as their changes were accepted.
type wish struct {
	tag       string
	id        uint64
	text      string
	target    string
	login     uint64
	at        time.Time     // by the clock
	grace     time.Duration // that it may be late by; 0: as long as it takes
	asked     time.Time     // when it was asked for at once, in the bubble's time; zero: it was not
	cancelled time.Time     // likewise
	group     uint64        // of posts that were made together; 0: it was made alone
	queued    bool          // its time is one of its login's queue, and nobody has changed it
	moved     bool          // it was imported
	held      bool
	paused    bool // its job is
	marked    bool // a person has said that it is out
	doubt     bool // a change was made or not
	faults    int  // calls to publish it that failed, other than by the end of the program
	finals    int  // days on which it was seen at its end
}

// New returns the part of a world.
func New() *Part {
	return &Part{wishes: map[string]*wish{}, ended: map[string]*wish{}, waits: map[uint64]wait{}, sent: map[string][]int64{}}
}

// Part is what the simulation plays.
func (p *Part) Part() simulation.Part {
	slots := []store.Slot{{Times: []string{"09:00", "13:00", "21:30"}, Zone: "Europe/Berlin"}, {Times: []string{"02:30"}, Days: []int{6, 7}, Zone: "Europe/Berlin"}}
	return simulation.Part{
		Name: "posts",
		Logins: []store.Identity{
			{Platform: telegram, Name: "main", Kind: store.IdentityBot, Target: "@channel", Slots: slots, State: store.IdentityReady},
			{Platform: telegram, Name: "second", Kind: store.IdentityBot, Target: "@second", Slots: slots, Window: fmt.Sprint(windowPosts, "/1h"), State: store.IdentityReady},
			{Platform: telegram, Name: "anna", Kind: store.IdentityUser, Target: "@anna_news", State: store.IdentityReady},
		},
		Actions: p.actions(),
		Start:   p.start,
		Hourly:  p.hourly,
		Daily:   p.daily,
		Backup:  p.backup,
	}
}

// backup keeps what people want at this moment, and returns what lets them want that again.
func (p *Part) backup() func() {
	p.mu.Lock()
	defer p.mu.Unlock()
	wishes, ended := clone(p.wishes), clone(p.ended)
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.wishes, p.ended = clone(wishes), clone(ended)
		clear(p.waits) // the file does not know them any more
		p.begun = nil
	}
}

func clone(all map[string]*wish) map[string]*wish {
	kept := maps.Clone(all)
	for tag, wi := range kept {
		copied := *wi
		kept[tag] = &copied
	}
	return kept
}

func (p *Part) start(process *simulation.Process) worker.Module {
	if p.world == nil {
		p.world = process.World
		p.world.Network.OnMessage(p.heard)
	}
	p.process = process
	p.Worker = posts.New(process.DB, map[string]posts.Network{telegram: network{p, process}}, posts.Config{})
	return p.Worker.Module()
}

// network is the simulation's network as posts need it, for one process.
type network struct {
	part *Part
	p    *simulation.Process
}

func (n network) Check(p platform.Post) (platform.Measure, error) {
	return platform.Measure{Length: len(p.Text), Limit: 4096}, nil
}

func (n network) Styled(_ platform.Format, text string) (platform.Styled, error) {
	return platform.Styled{Text: text}, nil
}

func (n network) Reach(ctx context.Context, login uint64, target string) error {
	err := n.p.World.Network.Call(ctx, n.p, login, "reach "+target, func() {})
	if e := platform.AsError(err); err != nil && e.Kind == platform.Refused {
		return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeChat, Err: e} // else no posts are made
	}
	return err
}

func (n network) Publisher(login uint64) platform.Publisher {
	return publisher{n.p.World.Network.Publisher(n.p, login), n, login}
}

// text is what a post says: its tag, which names it in the network's ledger, and that of its last change.
func text(tag, change string) string { return fmt.Sprintf("post %s.%s", tag, change) }

// tagOf is the tag in a text, or empty.
func tagOf(text string) string {
	rest, is := strings.CutPrefix(text, "post ")
	tag, _, _ := strings.Cut(rest, ".")
	if !is {
		return ""
	}
	return tag
}

// tag names what a seed has made.
func tag(seed uint64) string { return fmt.Sprintf("%08x", uint32(seed)) }

// all returns the wishes that are not settled, by id.
func (p *Part) all() []*wish {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sorted(maps.Values(p.wishes))
}
