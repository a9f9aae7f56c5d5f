package poststest

import (
	"cmp"
	"context"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/posts"
	"belfry/worker/simulation"
)

func sorted(all iter.Seq[*wish]) []*wish {
	return slices.SortedFunc(all, func(a, b *wish) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.tag, b.tag)) })
}

func (p *Part) actions() []simulation.Action {
	do := func(fn func(w *simulation.World, r *rand.Rand)) func(*simulation.World, *rand.Rand) {
		return func(w *simulation.World, r *rand.Rand) {
			if w.Process() != nil {
				fn(w, r)
			}
		}
	}
	return []simulation.Action{
		{Name: "posts: schedule", Rate: 12, Do: do(func(w *simulation.World, r *rand.Rand) { p.schedule(w, r, ahead(r)) })},
		{Name: "posts: burst", Rate: .5, Do: do(func(w *simulation.World, r *rand.Rand) {
			at := ahead(r)
			for range 2 + r.IntN(20) {
				p.schedule(w, r, at)
			}
		})},
		{Name: "posts: schedule together", Rate: 1, Do: do(p.together)},
		{Name: "posts: queue", Rate: 1, Do: do(p.queue)},
		{Name: "posts: import", Rate: 1.5, Do: do(p.move)},
		{Name: "posts: queue times", Rate: .3, Do: do(p.queueTimes)},
		{Name: "posts: cancel together", Rate: .3, Do: do(p.cancelTogether)},
		{Name: "posts: change", Rate: 4, Do: do(func(w *simulation.World, r *rand.Rand) {
			if wi := p.pick(r); wi != nil {
				p.change(w, r, wi)
			}
		})},
		{Name: "posts: act while it is sent", Rate: 3, Do: do(p.underWay)},
		{Name: "posts: cancel", Rate: 1.5, Do: do(p.one("cancel", func(wi *wish, w *posts.Worker, tx *store.Tx) (store.Post, error) { return w.Cancel(tx, wi.id) }))},
		{Name: "posts: retry", Rate: 1.5, Do: do(p.one("retry", func(wi *wish, w *posts.Worker, tx *store.Tx) (store.Post, error) { return w.Retry(tx, wi.id) }))},
		{Name: "posts: mark published", Rate: .3, Do: do(p.one("mark published", func(wi *wish, w *posts.Worker, tx *store.Tx) (store.Post, error) { return w.MarkPublished(tx, wi.id) }))},
		{Name: "posts: publish now", Rate: .7, Do: do(p.one("publish now", func(wi *wish, w *posts.Worker, tx *store.Tx) (store.Post, error) { return w.PublishNow(tx, wi.id) }))},
		{Name: "posts: approve", Rate: 1.5, Do: do(p.one("approve", func(wi *wish, w *posts.Worker, tx *store.Tx) (store.Post, error) { return w.Approve(tx, wi.id) }))},
		{Name: "posts: pause", Rate: .7, Do: do(p.one("pause", job(scheduler.Pause)))},
		{Name: "posts: resume", Rate: 1, Do: do(p.one("resume", job(posts.Approved(scheduler.Resume))))},
		{Name: "posts: run now", Rate: .5, Do: do(p.one("run now", job(posts.Approved(scheduler.RunNow))))},
	}
}

// ahead is how far ahead people plan.
func ahead(r *rand.Rand) time.Duration {
	switch r.IntN(10) {
	case 0:
		return 0
	case 1, 2, 3:
		return time.Duration(r.Int64N(int64(time.Hour)))
	case 4, 5, 6, 7:
		return time.Duration(r.Int64N(int64(24 * time.Hour)))
	}
	return time.Duration(r.Int64N(int64(10 * 24 * time.Hour))).Truncate(time.Minute)
}

var targets = []string{"@channel", "@evening_news", "@weather", "@sports", "@culture"}

func (p *Part) schedule(w *simulation.World, r *rand.Rand, in time.Duration) {
	names := []string{"main", "main", "main", "second", "anna"}
	for _, name := range w.LoginNames() {
		if strings.HasPrefix(name, "extra") {
			names = append(names, name)
		}
	}
	name := names[r.IntN(len(names))]
	wi := &wish{tag: tag(r.Uint64()), login: w.Logins[name], target: targets[r.IntN(len(targets))]}
	wi.text, wi.at = text(wi.tag, "0"), w.Now().Add(in).UTC()
	req := posts.Request{
		Text: wi.text, Platform: telegram, IdentityID: wi.login, Target: wi.target,
		ScheduledTime: wi.at.Format(time.RFC3339Nano), AllowPast: true, Hold: r.IntN(10) == 0,
	}
	if r.IntN(5) == 0 {
		req.Lateness = store.Lateness{Policy: store.LateSkip, Grace: time.Duration(1+r.IntN(120)) * time.Minute}
	}
	wi.held, wi.grace = req.Hold, req.Lateness.Grace
	draft, err := p.Worker.Prepare(context.Background(), req)
	if err != nil {
		w.Note("schedule %s: %v", wi.tag, err)
		return
	}
	process := w.Process()
	if process == nil {
		return
	}
	doubt, err := process.Update(func(tx *store.Tx) error {
		post, err := p.Worker.Schedule(tx, draft)
		wi.id = post.ID
		return err
	})
	w.Note("schedule post %d %s for %s by %s in %s, held %v, %+v: %v", wi.id, wi.tag, wi.at.Format(time.DateTime), name, wi.target, wi.held, req.Lateness, err)
	p.keep(wi, doubt, err)
}

// pick chooses a wish that people do something with: every other time one that is just going out, if there is
// any. Which one does not depend on what others there are.
func (p *Part) pick(r *rand.Rand) *wish {
	all := slices.DeleteFunc(p.all(), func(wi *wish) bool { return wi.doubt })
	now := slices.DeleteFunc(slices.Clone(all), func(wi *wish) bool { return p.world.Now().Sub(wi.at).Abs() > 10*time.Minute })
	if len(now) > 0 && r.IntN(2) == 0 {
		all = now
	}
	if len(all) == 0 {
		return nil
	}
	return simulation.Pick(r, all, func(wi *wish) string { return wi.tag })
}

// underWay is the action that does something with a post in the second in which it is sent.
func (p *Part) underWay(w *simulation.World, r *rand.Rand) {
	soon := slices.DeleteFunc(p.all(), func(wi *wish) bool {
		in := wi.at.Sub(w.Now())
		return wi.doubt || wi.held || wi.paused || !wi.cancelled.IsZero() || in < 0 || in > 24*time.Hour
	})
	if len(soon) == 0 {
		return
	}
	soonest := simulation.Pick(r, soon, func(wi *wish) string { return wi.tag })
	w.After(soonest.at.Sub(w.Now())+time.Duration(r.Int64N(int64(time.Second))), func() {
		p.mu.Lock()
		wi := p.wishes[soonest.tag]
		p.mu.Unlock()
		if wi == nil || wi.doubt || w.Process() == nil {
			return
		}
		switch r.IntN(3) {
		case 0:
			p.change(w, r, wi)
		case 1:
			p.do(w, wi, "cancel", func(tx *store.Tx) (store.Post, error) { return p.Worker.Cancel(tx, wi.id) })
		case 2:
			p.do(w, wi, "pause", func(tx *store.Tx) (store.Post, error) { return job(scheduler.Pause)(wi, p.Worker, tx) })
		}
	})
}

func (p *Part) change(w *simulation.World, r *rand.Rand, wi *wish) {
	next := *wi
	patch := posts.Patch{AllowPast: true}
	if r.IntN(2) == 0 {
		next.text = text(wi.tag, tag(r.Uint64()))
		patch.Text = &next.text
	}
	if r.IntN(3) == 0 {
		next.target = targets[r.IntN(len(targets))]
		patch.Target = &next.target
	}
	if r.IntN(4) == 0 {
		next.login = w.Logins[[]string{"main", "second", "anna"}[r.IntN(3)]]
		patch.IdentityID = &next.login
	}
	if patch.Queue = r.IntN(6) == 0; patch.Queue {
		next.queued = true
	} else if r.IntN(2) == 0 || patch.Text == nil && patch.Target == nil && patch.IdentityID == nil {
		next.at = w.Now().Add(ahead(r)).UTC()
		at := next.at.Format(time.RFC3339Nano)
		patch.ScheduledTime = &at
	}
	draft, err := p.Worker.PrepareChange(context.Background(), wi.id, patch)
	process := w.Process()
	if err != nil || process == nil {
		w.Note("change post %d %s: %v", wi.id, wi.tag, err)
		return
	}
	doubt, err := process.Update(func(tx *store.Tx) error {
		post, err := p.Worker.Change(tx, wi.id, draft)
		if patch.Queue {
			next.at = post.ScheduledTime
		}
		return err
	})
	w.Note("change post %d %s: %q for %s in %s: %v", wi.id, wi.tag, next.text, next.at.Format(time.DateTime), next.target, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	wi.doubt = wi.doubt || doubt
	if err == nil {
		wi.text, wi.target, wi.login, wi.at, wi.cancelled, wi.finals = next.text, next.target, next.login, next.at, time.Time{}, 0
		wi.asked, wi.queued = time.Time{}, patch.Queue
	}
}

func job(act func(*store.Tx, string) (store.Job, error)) func(*wish, *posts.Worker, *store.Tx) (store.Post, error) {
	return func(wi *wish, _ *posts.Worker, tx *store.Tx) (store.Post, error) {
		post, err := tx.Posts.Get(wi.id)
		if err == nil {
			_, err = act(tx, post.JobName())
		}
		return post, err
	}
}

// one is the action that does something with one post.
func (p *Part) one(what string, act func(*wish, *posts.Worker, *store.Tx) (store.Post, error)) func(*simulation.World, *rand.Rand) {
	return func(w *simulation.World, r *rand.Rand) {
		if wi := p.pick(r); wi != nil {
			p.do(w, wi, what, func(tx *store.Tx) (store.Post, error) { return act(wi, p.Worker, tx) })
		}
	}
}

// do does something with a post.
func (p *Part) do(w *simulation.World, wi *wish, what string, act func(*store.Tx) (store.Post, error)) {
	var post store.Post
	doubt, err := w.Process().Update(func(tx *store.Tx) (err error) {
		post, err = act(tx)
		return err
	})
	w.Note("%s post %d %s: %s, %v", what, wi.id, wi.tag, post.Status, err)
	p.mu.Lock()
	defer p.mu.Unlock()
	wi.done(what, post, doubt, err)
}

// Acted says that people have done something with a post through another door: retry, publish now, approve or
// cancel.
func (p *Part) Acted(what string, post store.Post, doubt bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	tag := tagOf(post.Text)
	wi := p.wishes[tag]
	if wi == nil && p.ended[tag] != nil {
		wi = p.ended[tag]
		delete(p.ended, tag)
		p.wishes[tag], wi.finals = wi, 0
	}
	if wi != nil {
		wi.done(what, post, doubt, err)
	}
}

// done notes what people have done with a post.
func (wi *wish) done(what string, post store.Post, doubt bool, err error) {
	wi.doubt = wi.doubt || doubt
	if err != nil {
		return
	}
	switch what {
	case "cancel":
		if post.Status == store.PostCancelled {
			wi.cancelled = time.Now()
		}
	case "mark published":
		wi.marked = true
	case "retry":
		wi.asked, wi.cancelled, wi.held, wi.grace, wi.finals = time.Now(), time.Time{}, false, 0, 0
	case "publish now":
		wi.asked, wi.held = time.Now(), false
	case "approve":
		wi.paused = wi.paused && !wi.held
		wi.held = false
	case "run now":
		wi.asked = time.Now()
	case "pause":
		wi.paused = true
	case "resume":
		wi.paused = false
	}
}
