package poststest

import (
	"errors"
	"slices"
	"strings"
	"time"

	"belfry/store"
	"belfry/worker/simulation"
)

const (
	// earlyBy is how long ago the clock may have shown that a post is due: it was claimed then.
	earlyBy = 2 * time.Minute
	// lateBy is how late a post may be that nothing keeps: a lane sends one after the other.
	lateBy = 15 * time.Minute
	// settled is on how many days a post must have been seen at its end not to be looked at daily any more.
	settled = 3
	// windowPosts is how many posts one of the logins may send in an hour, and windowWait how long one waits for
	// that at most: a burst has 21 posts.
	windowPosts = 3
	windowWait  = 12 * time.Hour
)

// heard judges a message when the network makes it.
func (p *Part) heard(m simulation.Message) {
	tag := tagOf(m.Post.Text)
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.world
	p.window(m)
	if tag == "" {
		return
	}
	w.Note("the network makes message %d: %s in %s", m.ID, m.Post.Text, m.Target)
	wi := p.wishes[tag]
	if wi == nil {
		wi = p.ended[tag]
	}
	if wi == nil || wi.doubt {
		return // the first check of the day tells what was meant
	}
	w.Judged(1)
	switch {
	case !wi.cancelled.IsZero():
		w.Complain("posts: cancelled", "post %d (%s) was published at %v after it was cancelled", wi.id, wi.tag, m.Clock)
	case m.Post.Text != wi.text || m.Target != wi.target || m.Login != wi.login:
		w.Complain("posts: changed", "post %d (%s) went out as %q in %s, and is to be %q in %s", wi.id, wi.tag, m.Post.Text, m.Target, wi.text, wi.target)
	case wi.asked.IsZero() && wi.held:
		w.Complain("posts: held", "post %d (%s) went out without approval", wi.id, wi.tag)
	case wi.asked.IsZero() && wi.at.After(w.Latest(time.Now().Add(-earlyBy))):
		w.Complain("posts: early", "post %d (%s) went out at %v and was scheduled for %v", wi.id, wi.tag, m.Clock, wi.at)
	case wi.asked.IsZero() && wi.grace > 0 && m.Clock.Sub(wi.at) > wi.grace+earlyBy && w.Calm(earlyBy, "clock"):
		w.Complain("posts: too late", "post %d (%s) of %v went out at %v, and was not to be late by more than %v", wi.id, wi.tag, wi.at, m.Clock, wi.grace)
	}
}

// window complains of more posts in an hour than a login may send.
func (p *Part) window(m simulation.Message) {
	w := p.world
	if m.Login != w.Logins["second"] || !strings.HasPrefix(m.Target, "@") { // a booking's client has a number
		return
	}
	p.begun = append(p.begun, m.Asked)
	slices.SortFunc(p.begun, time.Time.Compare)
	if n := len(p.begun) - 1 - windowPosts; n >= 0 && p.begun[n+windowPosts].Sub(p.begun[n]) < time.Hour-earlyBy && w.Calm(2*time.Hour, "clock") {
		w.Complain("posts: window", "message %d (%q) is one of more than %d in an hour, those of %v", m.ID, m.Post.Text, windowPosts, p.begun[n:])
	}
	p.begun = p.begun[max(0, len(p.begun)-windowPosts-1):]
}

// hourly looks at the posts that have not ended.
func (p *Part) hourly(w *simulation.World, tx *store.Tx) {
	p.settleDoubts(w, tx)
	p.slots(w, tx)
	paused, _ := tx.Settings.Value(store.Paused)
	if paused != "" || !w.Calm(lateBy, "process", "disk", "clock", "network") {
		return
	}
	for _, wi := range p.all() {
		if wi.finals > 0 || wi.asked.IsZero() && tx.Now().Sub(wi.at) < lateBy {
			continue // it has ended, or is not due; if a restore has undone that, the next day's look finds it
		}
		post, err := tx.Posts.Get(wi.id)
		if err != nil || post.Status.Final() || tx.Now().Sub(later(post.ScheduledTime, post.UpdatedAt)) < lateBy {
			continue
		}
		p.late(w, tx, wi, post)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// late judges a post that is late although all has been well for a while.
func (p *Part) late(w *simulation.World, tx *store.Tx, wi *wish, post store.Post) {
	w.Judged(1)
	login, err := tx.Identities.Get(post.IdentityID)
	if err != nil || login.State != store.IdentityReady {
		return // the alerts tell of it
	}
	if _, told := w.Network.LongestWait(post.IdentityID); time.Since(told) < lateBy {
		return
	}
	job, err := tx.Jobs.ByName(post.JobName())
	switch {
	case err != nil:
		w.Complain("posts: no job", "post %d (%s) is %s and has none: %v", wi.id, wi.tag, post.Status, err)
	case job.State == store.JobPaused && !wi.paused && !wi.held:
		w.Complain("posts: paused", "post %d (%s) is paused and nobody has done that", wi.id, wi.tag)
	case job.State == store.JobPaused || job.State == store.JobRunning:
	case job.State == store.JobWaiting && job.Reason.Code == store.ReasonWindow && tx.Now().Sub(job.Due) < lateBy && job.Due.Sub(tx.Now()) < windowWait:
	case job.State == store.JobWaiting && job.Due.After(tx.Now()):
		if job.Reason.Zero() {
			w.Complain("posts: no reason", "post %d (%s) waits until %v without a reason, and was due at %v", wi.id, wi.tag, job.Due, post.ScheduledTime)
		}
		if longest, _ := w.Network.LongestWait(post.IdentityID); job.Due.Sub(tx.Now()) > longest+lateBy {
			w.Complain("posts: waits", "post %d (%s) waits until %v because of %+v, longer than anything asks for", wi.id, wi.tag, job.Due, job.Reason)
		}
	default:
		w.Complain("posts: late", "post %d (%s) of %v is %s, with its job %s, due %v", wi.id, wi.tag, post.ScheduledTime, post.Status, job.State, job.Due)
	}
}

// settleDoubts finds out what became of changes whose commit failed, as people do: they look.
func (p *Part) settleDoubts(w *simulation.World, tx *store.Tx) {
	for _, wi := range p.all() {
		if !wi.doubt {
			continue
		}
		post, err := tx.Posts.Get(wi.id)
		if wi.id == 0 || err != nil || tagOf(post.Text) != wi.tag {
			post, err = p.find(tx, wi.tag)
		}
		p.mu.Lock()
		switch {
		case errors.Is(err, store.ErrNotFound):
			w.Note("post %s was not made after all", wi.tag)
			delete(p.wishes, wi.tag)
		case err == nil:
			w.Note("post %d %s was looked up: %s", post.ID, wi.tag, post.Status)
			wi.id, wi.text, wi.target, wi.login, wi.at, wi.doubt = post.ID, post.Text, post.Target, post.IdentityID, post.ScheduledTime, false
			wi.marked = true      // perhaps
			wi.asked = time.Now() // perhaps
			wi.held, wi.paused, wi.cancelled = post.Held, true, time.Time{}
			if post.Status == store.PostCancelled {
				wi.cancelled = time.Now()
			}
		}
		p.mu.Unlock()
	}
}

// find returns the post with a tag.
func (p *Part) find(tx *store.Tx, tag string) (store.Post, error) {
	for post := range tx.Posts.Newest(0) {
		if tagOf(post.Text) == tag {
			return post, nil
		}
	}
	return store.Post{}, store.ErrNotFound
}

// daily compares each post with the network's ledger.
func (p *Part) daily(w *simulation.World, tx *store.Tx) {
	for _, m := range w.Network.After(p.judged) {
		tag := tagOf(m.Post.Text)
		p.sent[tag] = append(p.sent[tag], m.ID)
		p.judged = m.ID
	}
	for _, wi := range p.all() {
		if wi.doubt {
			continue
		}
		post, err := tx.Posts.Get(wi.id)
		if err != nil {
			w.Complain("posts: lost", "post %d (%s): %v", wi.id, wi.tag, err)
			continue
		}
		w.Judged(1)
		p.compare(w, wi, post, w.Network.Messages(p.sent[wi.tag]))
		if wi.finals++; !post.Status.Final() {
			wi.finals = 0
		}
		if wi.finals >= settled {
			p.mu.Lock()
			delete(p.wishes, wi.tag)
			p.ended[wi.tag] = wi
			p.mu.Unlock()
		}
	}
}

func (p *Part) compare(w *simulation.World, wi *wish, post store.Post, sent []simulation.Message) {
	p.mu.Lock()
	faults := wi.faults
	p.mu.Unlock()
	// Of a message that a restored file cannot know only its number counts, in the chat and of the account that the file names.
	sent = slices.DeleteFunc(sent, func(m simulation.Message) bool {
		return m.Undone && (m.Target != post.Target || m.Login != post.IdentityID)
	})
	known := len(sent) == 1 && !sent[0].Undone
	switch {
	case post.Failures > faults:
		w.Complain("posts: failures", "post %d (%s) has failed %d times by its record (%+v), and %d times by the network's answers", wi.id, wi.tag, post.Failures, post.Reason, faults)
	case len(sent) > 1:
		w.Complain("posts: at most once", "post %d (%s) is in the ledger %d times: %+v", wi.id, wi.tag, len(sent), sent)
	case len(sent) == 0 && post.Status == store.PostPublished && !wi.marked:
		w.Complain("posts: published", "post %d (%s) is published by its record, and the network has not got it", wi.id, wi.tag)
	case known && post.Status.Final() && post.Status != store.PostPublished && post.Status != store.PostUnknown:
		w.Complain("posts: out", "post %d (%s) is %s by its record (%+v), and message %d is out", wi.id, wi.tag, post.Status, post.Reason, sent[0].ID)
	case known && post.Status == store.PostScheduled:
		w.Complain("posts: out", "post %d (%s) is scheduled by its record, and message %d is out", wi.id, wi.tag, sent[0].ID)
	case known && post.Status == store.PostPublished && sent[0].Post.Text != post.Text:
		w.Complain("posts: text", "post %d (%s) says %q by its record, and message %d says %q", wi.id, wi.tag, post.Text, sent[0].ID, sent[0].Post.Text)
	case post.Status.Final() && post.Status != store.PostPublished && post.Reason.Zero():
		w.Complain("posts: no reason", "post %d (%s) is %s without a reason", wi.id, wi.tag, post.Status)
	}
}
