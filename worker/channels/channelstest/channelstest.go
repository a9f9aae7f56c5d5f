// Package channelstest brings channels into the simulation: channels that post, edit, delete, send albums, become private
// and are renamed, an owner who adds, pauses and removes them, and judges who compare what was read, and what became of
// it in the pipeline, with what the channels have.
package channelstest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"belfry/platform"
	"belfry/platform/platformtest"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/alerts/alertstest"
	"belfry/worker/channels"
	"belfry/worker/notices/noticestest"
	"belfry/worker/pipeline"
	"belfry/worker/search"
	"belfry/worker/simulation"
)

const (
	mostChannels = 4 // at the network
	reader       = "anna"
)

// Part is the channels of one world.
type Part struct {
	channels *channels.Worker // of the process that runs
	pipeline *pipeline.Worker
	search   *search.Worker
	module   worker.Module // of the first two
	notices  *noticestest.Part

	net   *platformtest.Channels
	state map[int64]*state // by the network's id; used within net.Do

	watchedSince time.Time // when the watches were changed last, in the bubble's time
}

// state is what a channel has been through, in the bubble's time.
type state struct {
	changed map[int]time.Time // by message
	began   time.Time         // since when it was private last
	shut    time.Time         // until when
	added   int               // how often
	joined  time.Time         // when it was added last, by Telegram's clock
	events  int               // that it had
	forgot  time.Time         // when the difference was made too long last, by Telegram's clock

	compared time.Time // when what was read was last compared with what is there
}

// New returns the part of a world. It is started after the notices.
func New(notices *noticestest.Part, alerts *alertstest.Part) *Part {
	p := &Part{notices: notices, net: platformtest.NewChannels(), state: map[int64]*state{}}
	for id := range int64(mostChannels) {
		p.net.Add(100+id, fmt.Sprint("news", id))
		p.state[100+id] = &state{changed: map[int]time.Time{}}
	}
	alerts.Wrong = func(tx *store.Tx) []store.Alert { return p.module.Wrong(tx) }
	return p
}

// Part is what the simulation plays.
func (p *Part) Part() simulation.Part {
	do := func(what string, act func(tx *store.Tx, id uint64) error) func(*simulation.World, *rand.Rand) {
		return func(w *simulation.World, r *rand.Rand) {
			c, ok := p.pick(w, r)
			if !ok {
				return
			}
			_, err := w.Process().Update(func(tx *store.Tx) error { return act(tx, c.ID) })
			w.Note("%s %s: %v", what, c.Name(), err)
		}
	}
	return simulation.Part{
		Name: "channels",
		Actions: []simulation.Action{
			{Name: "channels: add", Rate: 2, Do: p.add},
			{Name: "channels: pause", Rate: .2, Do: do("pause", func(tx *store.Tx, id uint64) error { _, err := p.channels.Pause(tx, id); return err })},
			{Name: "channels: resume", Rate: .6, Do: do("resume", func(tx *store.Tx, id uint64) error { _, err := p.channels.Resume(tx, id); return err })},
			{Name: "channels: read", Rate: .5, Do: do("read", func(tx *store.Tx, id uint64) error { _, err := p.channels.ReadNow(tx, id); return err })},
			{Name: "channels: remove", Rate: .1, Do: do("remove", func(tx *store.Tx, id uint64) error { return p.channels.Remove(tx, id) })},
			{Name: "channels: interval", Rate: .3, Do: func(w *simulation.World, r *rand.Rand) {
				interval := []string{"30m", "1h", "2h"}[r.IntN(3)]
				do("interval "+interval, func(tx *store.Tx, id uint64) error {
					_, err := p.channels.Change(tx, id, channels.Change{Interval: &interval})
					return err
				})(w, r)
			}},
			{Name: "channels: post", Rate: 8, Do: p.write}, {Name: "channels: edit", Rate: 2, Do: p.edit},
			{Name: "channels: delete", Rate: 1, Do: p.erase}, {Name: "channels: album", Rate: 1, Do: p.album},
			{Name: "channels: burst", Rate: .1, Do: p.burst}, {Name: "channels: forget", Rate: .2, Do: p.forget},
			{Name: "channels: watch", Rate: .3, Do: p.watch},
			{Name: "channels: rename", Rate: .1, Do: p.rename}, {Name: "channels: private", Rate: .1, Do: p.shut},
		},
		Start: p.start, Hourly: p.hourly,
		Backup: func() func() { return p.restored },
	}
}

// restored has the watches judged by what comes from now on: the file may know other ones, and read the channels anew.
func (p *Part) restored() { p.watchedSince = time.Now() }

func (p *Part) start(process *simulation.Process) worker.Module {
	net := network{p, process}
	p.channels = channels.New(process.DB, net, channels.Config{})
	p.search = search.New(process.DB, p.notices.Worker, nil, search.Config{})
	stages, err := pipeline.New(process.DB, pipeline.Config{Links: true, Most: 1_000_000, Index: p.search.Add, Read: net.read})
	if err != nil {
		process.World.Complain("channels: start", "%v", err)
	}
	p.pipeline = stages
	p.module = worker.Join(p.channels.Module(), p.pipeline.Module())
	return worker.Join(p.module, p.search.Module())
}

// truth is the time by Telegram's clock.
func truth(w *simulation.World) time.Time { return w.Now().Add(-w.Ahead()).UTC().Truncate(time.Second) }

// at chooses a channel of the network and changes it, and what it has been through.
func (p *Part) at(r *rand.Rand, change func(c *platformtest.Channel, s *state)) int64 {
	id := 100 + r.Int64N(mostChannels)
	p.net.Do(func() { change(p.net.ByID[id], p.state[id]) })
	return id
}

func (s *state) happened(id int) {
	s.changed[id] = time.Now()
	s.events++
}

func (p *Part) write(w *simulation.World, r *rand.Rand) {
	text := []string{"Новость", "News", "Акция: скидки"}[r.IntN(3)] + fmt.Sprintf(" %x", r.Uint32())
	m := platform.Message{Text: text, Date: truth(w)}
	switch r.IntN(8) {
	case 0:
		m.Service, m.Text = "pinMessage", ""
	case 1, 2:
		m.Entities = []platform.Entity{{Type: "text_link", Length: 4, URL: fmt.Sprintf("https://example.com/%x", r.Uint32())}}
	}
	gap := r.IntN(10) == 0
	id := p.at(r, func(c *platformtest.Channel, s *state) {
		if gap {
			c.Next += 3
		}
		s.happened(c.Post(m).ID)
	})
	w.Note("channel %d posts %q", id, text)
}

// some chooses a message that is there.
func some(c *platformtest.Channel, r *rand.Rand) *platformtest.ChannelPost {
	recent := c.Posts[max(0, len(c.Posts)-20):]
	if len(recent) == 0 {
		return nil
	}
	if m := recent[r.IntN(len(recent))]; !m.Gone && m.Service == "" {
		return m
	}
	return nil
}

func (p *Part) edit(w *simulation.World, r *rand.Rand) {
	var message int
	id := p.at(r, func(c *platformtest.Channel, s *state) {
		if m := some(c, r); m != nil {
			c.Edit(m, m.Text+"!")
			s.happened(m.ID)
			message = m.ID
		}
	})
	w.Note("channel %d edits %d", id, message)
}

func (p *Part) erase(w *simulation.World, r *rand.Rand) {
	var message int
	id := p.at(r, func(c *platformtest.Channel, s *state) {
		if m := some(c, r); m != nil {
			c.Remove(m)
			s.happened(m.ID)
			message = m.ID
		}
	})
	w.Note("channel %d deletes %d", id, message)
}

// album sends an album, half of the time in two pieces between which the channel may be read.
func (p *Part) album(w *simulation.World, r *rand.Rand) {
	id, album, size := 100+r.Int64N(mostChannels), r.Int64(), 2+r.IntN(3)
	send := func() {
		at := truth(w)
		p.net.Do(func() {
			c, s := p.net.ByID[id], p.state[id]
			for range size {
				s.happened(c.Post(platform.Message{Text: "album", GroupedID: album, Date: at}).ID)
			}
		})
	}
	send()
	if r.IntN(2) == 0 {
		w.After(time.Duration(r.Int64N(int64(2*time.Minute))), send)
	}
	w.Note("channel %d sends an album", id)
}

func (p *Part) burst(w *simulation.World, r *rand.Rand) {
	at, n := truth(w), 120+r.IntN(120)
	id := p.at(r, func(c *platformtest.Channel, s *state) {
		for i := range n {
			s.happened(c.Post(platform.Message{Text: fmt.Sprint("burst ", i), Date: at}).ID)
		}
	})
	w.Note("channel %d posts %d messages", id, n)
}

// forget makes the difference too long for who reads the channel next. With a wrong clock it is not known how old
// messages are, and so which are asked for again.
func (p *Part) forget(w *simulation.World, r *rand.Rand) {
	if w.Ahead().Abs() < 24*time.Hour {
		w.Note("channel %d forgets", p.at(r, func(c *platformtest.Channel, s *state) {
			c.Forget()
			s.forgot = truth(w)
		}))
	}
}

func (p *Part) rename(w *simulation.World, r *rand.Rand) {
	w.Note("channel %d is renamed", p.at(r, func(c *platformtest.Channel, _ *state) { c.Username = fmt.Sprintf("news%x", r.Uint32()) }))
}

func (p *Part) shut(w *simulation.World, r *rand.Rand) {
	lasts := time.Duration(r.Int64N(int64(36 * time.Hour)))
	id := p.at(r, func(c *platformtest.Channel, s *state) {
		if !c.Shut {
			s.began = time.Now()
		}
		c.Shut, s.shut = true, time.Now().Add(lasts)
	})
	w.Note("channel %d is private for %v", id, lasts)
	w.After(lasts, func() {
		p.net.Do(func() { p.net.ByID[id].Shut = time.Now().Before(p.state[id].shut) })
	})
}

func (p *Part) add(w *simulation.World, r *rand.Rand) {
	process := w.Process()
	if process == nil {
		return
	}
	var name string
	id := p.at(r, func(c *platformtest.Channel, _ *state) { name = c.Username })
	d, err := p.channels.Prepare(context.Background(), channels.Request{Channel: "@" + name, IdentityID: w.Logins[reader], Interval: "1h"})
	if process = w.Process(); err != nil || process == nil {
		w.Note("add channel %d: %v", id, err)
		return
	}
	doubt, err := process.Update(func(tx *store.Tx) error {
		_, err := p.channels.Create(tx, d)
		return err
	})
	if err == nil || doubt {
		p.net.Do(func() {
			p.state[id].added++
			p.state[id].joined = truth(w).Add(2 * slack) // until its history is read
		})
	}
	w.Note("add channel %d: %v", id, err)
}

// pick chooses a channel that is read, or returns false.
func (p *Part) pick(w *simulation.World, r *rand.Rand) (c store.Channel, ok bool) {
	if w.Process() == nil {
		return c, false
	}
	var all []store.Channel
	err := w.Process().DB.View(func(tx *store.Tx) error {
		for c := range tx.Channels.All() {
			if !c.Removed {
				all = append(all, c)
			}
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return c, false
	}
	return simulation.Pick(r, all, func(c store.Channel) string { return fmt.Sprint(c.PeerID) }), true
}
