package poststest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"belfry/store"
	"belfry/worker"
	"belfry/worker/posts"
	"belfry/worker/simulation"
)

// together makes a post for each of several channels.
func (p *Part) together(w *simulation.World, r *rand.Rand) {
	at := w.Now().Add(ahead(r)).UTC()
	names := []string{"main", "second", "anna"}
	var all []*wish
	var places []posts.Target
	for i := range 2 + r.IntN(3) {
		wi := &wish{tag: tag(r.Uint64()), login: w.Logins[names[r.IntN(len(names))]], target: targets[i], at: at}
		wi.text = text(wi.tag, "0")
		all, places = append(all, wi), append(places, posts.Target{Platform: telegram, IdentityID: wi.login, Target: wi.target, Text: wi.text})
	}
	req := posts.Request{Text: "together", ScheduledTime: at.Format(time.RFC3339Nano), AllowPast: true}
	drafts, err := p.Worker.PrepareAll(context.Background(), req, places)
	process := w.Process()
	if err != nil || process == nil {
		w.Note("schedule together: %v", err)
		return
	}
	doubt, err := process.Update(func(tx *store.Tx) error {
		made, err := p.Worker.ScheduleAll(tx, drafts)
		for i, post := range made {
			all[i].id, all[i].group = post.ID, post.Group
		}
		return err
	})
	for _, wi := range all {
		w.Note("schedule post %d %s of group %d for %s in %s: %v", wi.id, wi.tag, wi.group, wi.at.Format(time.DateTime), wi.target, err)
		p.keep(wi, doubt, err)
	}
}

// queue adds a post to a queue.
func (p *Part) queue(w *simulation.World, r *rand.Rand) {
	name := []string{"main", "second"}[r.IntN(2)]
	wi := &wish{tag: tag(r.Uint64()), login: w.Logins[name], target: targets[r.IntN(2)], queued: true}
	wi.text = text(wi.tag, "0")
	draft, err := p.Worker.Prepare(context.Background(), posts.Request{Text: wi.text, Platform: telegram, IdentityID: wi.login, Target: wi.target, Queue: true})
	process := w.Process()
	if err != nil || process == nil {
		w.Note("queue %s: %v", wi.tag, err)
		return
	}
	doubt, err := process.Update(func(tx *store.Tx) error {
		post, err := p.Worker.Schedule(tx, draft)
		wi.id, wi.at = post.ID, post.ScheduledTime
		return err
	})
	w.Note("queue post %d %s for %s by %s in %s: %v", wi.id, wi.tag, wi.at.Format(time.DateTime), name, wi.target, err)
	p.keep(wi, doubt, err)
}

// queueTimes changes the times of a queue, at which posts wait.
func (p *Part) queueTimes(w *simulation.World, r *rand.Rand) {
	slots := []store.Slot{{Times: []string{fmt.Sprintf("%02d:00", r.IntN(12)), "13:00", "21:30"}, Zone: []string{"Europe/Berlin", "America/New_York"}[r.IntN(2)]}}
	name := []string{"main", "second"}[r.IntN(2)]
	_, err := w.Process().Update(func(tx *store.Tx) error {
		return worker.Change(tx.Identities.Get, tx.Identities.Put, w.Logins[name], func(i *store.Identity) { i.Slots = slots })
	})
	w.Note("the queue of %s has the times %v: %v", name, slots, err)
}

// keep remembers what people want, if it was accepted, or perhaps was.
func (p *Part) keep(wi *wish, doubt bool, err error) {
	wi.doubt = doubt
	if err == nil || doubt {
		p.mu.Lock()
		p.wishes[wi.tag] = wi
		p.mu.Unlock()
	}
}

// cancelTogether cancels posts that were made together.
func (p *Part) cancelTogether(w *simulation.World, r *rand.Rand) {
	one := p.pick(r)
	if one == nil || one.group == 0 {
		return
	}
	var all []store.Post
	var kept map[uint64]error
	doubt, err := w.Process().Update(func(tx *store.Tx) (err error) {
		all, kept, err = p.Worker.CancelGroup(tx, one.group)
		return err
	})
	w.Note("cancel group %d: %d posts, of which %d stay: %v, %v", one.group, len(all), len(kept), kept, err)
	for _, post := range all {
		if kept[post.ID] == nil {
			p.Acted("cancel", post, doubt, err)
		}
	}
}

// slots complains of two queued posts of a channel that share a time.
func (p *Part) slots(w *simulation.World, tx *store.Tx) {
	taken := make(map[string]*wish)
	for _, wi := range p.all() {
		if !wi.queued || wi.doubt || !wi.asked.IsZero() {
			continue
		}
		post, err := tx.Posts.Get(wi.id)
		if err != nil || post.Status.Final() {
			continue
		}
		w.Judged(1)
		slot := fmt.Sprint(wi.login, wi.target, post.ScheduledTime)
		if other := taken[slot]; other != nil {
			w.Complain("posts: slot", "posts %d (%s) and %d (%s) are queued for %v in %s", other.id, other.tag, wi.id, wi.tag, post.ScheduledTime, wi.target)
		}
		taken[slot] = wi
	}
}
