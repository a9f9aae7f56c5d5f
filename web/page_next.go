package web

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/store"
	"belfry/worker/tasks"
)

// How much the first page shows.
const (
	comingRuns    = 12
	comingPages   = 10 // of jobs, of which those are left out that are paused
	pastPosts     = 8
	recentTrouble = 7 * 24 * time.Hour // how long a post that failed is brought up
	maxTrouble    = 3                  // of each kind, by name
	maxUnseen     = 100                // how far alerts are counted that nobody has looked at
)

// nextPage tells what happens next, what needs attention, and what just happened.
type nextPage struct {
	frame
	Hero      *hero
	NoLogin   bool
	Attention []trouble
	Unseen    string // how many new alerts; empty if there is none
	Held      *heldCard
	Days      []day
	More      bool
	Happened  []pastEntry
}

// hero is the next post, or where none is scheduled the next chat of a broadcast.
type hero struct {
	When                              *moment
	Label, Link, Title, Where, Reason string
}

// day is the coming runs of one day.
type day struct {
	Name string
	Runs []comingRun
}

// comingRun is a job that waits for its time, or runs.
type comingRun struct {
	ID, Class, Link, Title, Where, Clock, Reason string
	When                                         *moment
}

// pastEntry is a post or a broadcast that has ended.
type pastEntry struct {
	ID, Link, Title, Where, Network string
	When                            *moment
	Status                          chip

	at time.Time
}

// chip is a state in one word.
type chip struct{ Class, Name string }

// overview is what the first page needs of the store, read in one short view.
type overview struct {
	identities []store.Identity
	coming     []planned
	more       bool
	past       []store.Post
	tasks      []store.Task // that have ended
	failedTask []store.Task
	failed     []store.Post
	failedMore int
	unknown    []store.Post
	setAside   []store.Job
	overdue    string // the job that has been for longest
	alone      []store.AccountSite
	noPassword bool
	paused     string // why everything is
	alerts     []told // nobody has looked at, the latest first
	moreAlerts bool
	held       store.Page[store.Post] // that need approval
}

func (s *Server) loadNext(r reader) (page, error) {
	wrong, err := s.wrong()
	if err != nil {
		return nil, err
	}
	var o overview
	err = s.db.View(func(tx *store.Tx) error {
		o = overview{}
		if err := o.read(tx); err != nil || s.alerts == nil {
			return err
		}
		return o.readAlerts(tx)
	})
	if err != nil {
		return nil, err
	}
	for _, a := range wrong {
		if a.Kind == store.AlertOverdue {
			o.overdue = a.Name
		}
	}
	p := &nextPage{frame: s.frame(r, "next", r.words.Next.Title), NoLogin: len(o.identities) == 0, More: o.more}
	p.Attention = s.troubles(r, o)
	if len(o.alerts) > 0 {
		p.Unseen = r.words.Next.Unseen(len(o.alerts), o.moreAlerts)
	}
	p.Held = r.heldCard(o.held)
	p.plan(r, o)
	p.happened(r, o)
	return p, nil
}

func (o *overview) read(tx *store.Tx) error {
	for i, err := range tx.Identities.All() {
		if err == nil {
			o.identities = append(o.identities, i)
		}
	}
	if err := errors.Join(o.readComing(tx), o.readPosts(tx), o.readTasks(tx)); err != nil {
		return err
	}
	var err error
	if o.held, err = tx.Posts.Held(store.Query{Limit: maxHeld}); err != nil {
		return err
	}
	for site, err := range tx.AccountSites.All() {
		if err == nil && site.LeftAlone(tx.Now()) && len(o.alone) < maxTrouble {
			o.alone = append(o.alone, site)
		}
	}
	if o.paused, err = tx.Settings.Value(store.Paused); err != nil {
		return err
	}
	password, err := tx.Settings.Value(passwordSetting)
	o.noPassword = password == ""
	return err
}

func (o *overview) readPosts(tx *store.Tx) error {
	for _, status := range []store.PostStatus{store.PostPublished, store.PostFailed, store.PostUnknown, store.PostSkipped} {
		ended, err := tx.Posts.ByTime(status, store.Query{Limit: pastPosts})
		if err != nil {
			return err
		}
		o.past = append(o.past, ended.Items...)
	}
	slices.SortStableFunc(o.past, func(a, b store.Post) int { return endOf(b).Compare(endOf(a)) })
	o.past = o.past[:min(len(o.past), pastPosts)]
	failed, err := tx.Posts.ByTime(store.PostFailed, store.Query{Limit: 50})
	if err != nil {
		return err
	}
	for _, p := range failed.Items {
		if tx.Now().Sub(p.UpdatedAt) > recentTrouble {
			continue
		}
		if len(o.failed) < maxTrouble {
			o.failed = append(o.failed, p)
		} else {
			o.failedMore++
		}
	}
	unknown, err := tx.Posts.ByTime(store.PostUnknown, store.Query{Limit: maxTrouble})
	o.unknown = unknown.Items
	return err
}

// readTasks reads the broadcasts that have ended, the latest first.
func (o *overview) readTasks(tx *store.Tx) error {
	for _, status := range []store.TaskStatus{store.TaskDone, store.TaskFailed} {
		ended, err := tx.Tasks.ByTime(status, store.Query{Limit: pastPosts})
		if err != nil {
			return err
		}
		for _, t := range ended.Items {
			o.tasks = append(o.tasks, t)
			if status == store.TaskFailed && tx.Now().Sub(t.EndedAt) <= recentTrouble && len(o.failedTask) < maxTrouble {
				o.failedTask = append(o.failedTask, t)
			}
		}
	}
	return nil
}

// endOf is when a post that has ended did so.
func endOf(p store.Post) time.Time {
	if p.Status == store.PostPublished {
		return p.PublishedAt
	}
	return p.UpdatedAt
}

// happened fills in what has ended.
func (p *nextPage) happened(r reader, o overview) {
	for _, post := range o.past {
		p.Happened = append(p.Happened, pastEntry{
			ID: id(post.ID), Link: postPath(post.ID), Title: r.postTitle(post), Where: post.Target, Network: webAddress(post.Link),
			When: r.moment(endOf(post)), Status: r.statusChip(post.Status), at: endOf(post),
		})
	}
	for _, t := range o.tasks {
		p.Happened = append(p.Happened, pastEntry{
			ID: "task-" + id(t.ID), Link: taskPath(t.ID), Title: r.taskTitle(t), Where: r.taskWhere(t),
			When: r.moment(t.EndedAt), Status: r.taskChip(progress{task: t}), at: t.EndedAt,
		})
	}
	slices.SortStableFunc(p.Happened, func(a, b pastEntry) int { return b.at.Compare(a.at) })
	p.Happened = p.Happened[:min(len(p.Happened), pastPosts)]
}

// taskWhere says in a few words that something is a broadcast, and how many chats have it.
func (r reader) taskWhere(t store.Task) string {
	return r.words.JobKinds[tasks.Kind] + ", " + r.words.Tasks.Of(t.Sent, t.Total)
}

// heroOf returns which of the coming runs stands above the others: the next post, and where there is
// none the next chat of a broadcast; or -1.
func heroOf(coming []planned) int {
	waits := func(of func(planned) bool) int {
		return slices.IndexFunc(coming, func(c planned) bool { return c.job.State == store.JobWaiting && of(c) })
	}
	if i := waits(func(c planned) bool { return c.post != nil }); i >= 0 {
		return i
	}
	return waits(func(c planned) bool { return c.task != nil && c.job.Kind == tasks.Kind })
}

// plan fills in what stands above all, and the coming runs by day.
func (p *nextPage) plan(r reader, o overview) {
	first := heroOf(o.coming)
	for i, c := range o.coming {
		title, where, link := r.jobTitle(c)
		run := comingRun{
			ID: c.job.Name, Link: link, Title: title, Where: where, When: r.moment(c.job.Due),
			Reason: r.Say(c.why), Class: string(c.job.State),
		}
		if c.job.State == store.JobRunning {
			run.When = r.moment(c.job.Started)
			run.Reason = r.words.JobStates[store.JobRunning]
		} else if !c.job.Due.After(r.now) {
			run.When.Relative = r.words.Time.Now
		}
		run.Clock = run.When.Clock
		if i == first {
			p.Hero = &hero{When: run.When, Label: r.words.Next.NextPost, Link: link, Title: title, Where: where, Reason: run.Reason}
			if c.post == nil {
				p.Hero.Label = r.words.Next.NextChat
			}
			if i == 0 {
				continue // it stands above the list
			}
		}
		name := r.day(maxTime(c.job.Due, r.now), r.words.Time.Day)
		if n := len(p.Days); n == 0 || p.Days[n-1].Name != name {
			p.Days = append(p.Days, day{Name: name})
		}
		last := &p.Days[len(p.Days)-1]
		last.Runs = append(last.Runs, run)
	}
}

func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func (r reader) statusChip(s store.PostStatus) chip {
	return chip{Class: "is-" + string(s), Name: r.words.Status[s].Name}
}

func id(n uint64) string { return strconv.FormatUint(n, 10) }

func postPath(n uint64) string { return fmt.Sprintf("/posts/%d", n) }

// webAddress returns a link only if it leads to the web, and not to a program of the reader's.
func webAddress(link string) string {
	if strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://") {
		return link
	}
	return ""
}
