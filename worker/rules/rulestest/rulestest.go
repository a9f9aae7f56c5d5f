// Package rulestest brings rules into the simulation: people who make, change, run, pause and delete them, and judges who
// compare the posts with the rules' records.
package rulestest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"belfry/platform"
	"belfry/platform/ai"
	"belfry/platform/feed"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/posts/poststest"
	"belfry/worker/rules"
	"belfry/worker/simulation"
)

const (
	// mostRules is how many rules people have at once.
	mostRules = 5
	// lateBy is how late a rule may be that nothing keeps: its run asks an AI, up to three times.
	lateBy = 20 * time.Minute
)

// Part is the rules of one world.
type Part struct {
	Worker *rules.Worker // of the process that runs
	posts  *poststest.Part
	judged int64  // the last message of the ledger
	run    uint64 // the last one when it was judged last
	seen   map[string]bool
}

// New returns the part of a world, whose rules make the posts of another part. It is started after that one.
func New(posts *poststest.Part) *Part { return &Part{posts: posts, seen: map[string]bool{}} }

// writer stands for the AI and the feeds in the ledger: it is no login.
const writer = 0

// Part is what the simulation plays.
func (p *Part) Part() simulation.Part {
	do := func(act func(*rules.Worker, *store.Tx, uint64) (store.Rule, error)) func(*simulation.World, *rand.Rand) {
		return func(w *simulation.World, r *rand.Rand) {
			p.act(w, r, func(tx *store.Tx, id uint64) error {
				_, err := act(p.Worker, tx, id)
				return err
			})
		}
	}
	return simulation.Part{
		Name: "rules",
		Actions: []simulation.Action{
			{Name: "rules: make", Rate: 1, Do: p.create},
			{Name: "rules: change", Rate: .7, Do: p.change},
			{Name: "rules: run", Rate: 1.5, Do: do((*rules.Worker).RunNow)},
			{Name: "rules: pause", Rate: .7, Do: do((*rules.Worker).Pause)},
			{Name: "rules: resume", Rate: 1.5, Do: do((*rules.Worker).Resume)},
			{Name: "rules: delete", Rate: .3, Do: func(w *simulation.World, r *rand.Rand) {
				p.act(w, r, func(tx *store.Tx, id uint64) error { return p.Worker.Remove(tx, id) })
			}},
		},
		Start: p.start, Hourly: p.hourly, Daily: p.daily,
	}
}

func (p *Part) start(process *simulation.Process) worker.Module {
	call := func(ctx context.Context, what string) error {
		err := process.World.Network.Call(ctx, process, writer, what, func() {})
		if e := platform.AsError(err); err != nil && e.Kind == platform.Unknown { // a question has no effect
			return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Err: e}
		}
		return err
	}
	p.Worker = rules.New(process.DB, p.posts.Worker, rules.Sources{
		Write: func(ctx context.Context, m []ai.Message) (ai.Text, error) {
			return ai.Text{Text: fmt.Sprintf("rule text %x", rand.Uint64()), Tokens: 100}, call(ctx, "ai "+m[1].Content)
		},
		Feed: func(ctx context.Context, address string) (items []feed.Item, err error) {
			last := process.DB.Now().Unix() / 7200 // an item each two hours
			for n := last - 20; n <= last; n++ {
				items = append(items, feed.Item{Mark: [8]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, Title: fmt.Sprint("rule item ", n), Link: address})
			}
			return items, call(ctx, "feed "+address)
		},
	}, rules.Config{})
	return p.Worker.Module()
}

// request is a rule as people ask for it.
func request(w *simulation.World, r *rand.Rand) rules.Request {
	q := rules.Request{Name: fmt.Sprintf("rule %x", r.Uint64()), Active: true}
	switch r.IntN(5) {
	case 0:
		q.ScheduleType, q.Schedule = "weekly", rules.Schedule{Days: []int{1 + r.IntN(7), 1 + r.IntN(7)}, Times: []string{"02:30"}, Zone: "Europe/Berlin"}
	case 1:
		q.ScheduleType, q.Schedule = "interval", rules.Schedule{Every: fmt.Sprint(3+r.IntN(20), "h")}
	case 2:
		q.ScheduleType, q.Schedule = "cron", rules.Schedule{Cron: fmt.Sprint(r.IntN(60), " */6 * * *"), Zone: "America/New_York"}
	case 3:
		q.ScheduleType = "custom"
		for n := range 3 {
			q.Schedule.Dates = append(q.Schedule.Dates, w.Now().Add(time.Duration(n+1)*time.Duration(1+r.IntN(30))*time.Hour).Format(time.RFC3339))
		}
	default:
		q.ScheduleType, q.Schedule = "daily", rules.Schedule{Times: []string{"12:05", "18:30"}}
	}
	c := &q.Content
	switch r.IntN(4) {
	case 0:
		c.Source, c.Title = "ai", "rule news"
	case 1:
		c.Source, c.Items, c.Order = "list", []string{"rule a", "rule b", "rule c"}, []string{"once", "circle", "shuffle"}[r.IntN(3)]
	case 2:
		c.Source, c.FeedURL, c.PerRun = "feed", "https://feed.example/rss", 1+r.IntN(3)
	default:
		c.Source, c.Template = "template", "rule {number}"
	}
	c.Approval = r.IntN(6) == 0
	q.Accounts = []uint64{w.Logins["main"]}
	if r.IntN(3) == 0 {
		q.Accounts = append(q.Accounts, w.Logins["second"])
	}
	return q
}

func (p *Part) create(w *simulation.World, r *rand.Rand) {
	if w.Process() == nil {
		return
	}
	q := request(w, r)
	draft, err := p.Worker.Prepare(context.Background(), q)
	process := w.Process()
	if err != nil || process == nil {
		w.Note("make a rule %+v: %v", q, err)
		return
	}
	full := false
	_, err = process.Update(func(tx *store.Tx) error {
		n := 0
		for range tx.Rules.All() {
			n++
		}
		if full = n >= mostRules; full {
			return nil
		}
		_, err := p.Worker.Create(tx, draft)
		return err
	})
	w.Note("make a rule %+v: %v, full %v", q, err, full)
}

// pick chooses a rule; 0 if there is none.
func (p *Part) pick(w *simulation.World, r *rand.Rand) (id uint64) {
	var all []store.Rule
	err := w.Process().DB.View(func(tx *store.Tx) error {
		for rule := range tx.Rules.All() {
			all = append(all, rule)
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return 0
	}
	return simulation.Pick(r, all, func(rule store.Rule) string { return rule.Name }).ID
}

func (p *Part) act(w *simulation.World, r *rand.Rand, do func(*store.Tx, uint64) error) {
	if w.Process() == nil {
		return
	}
	if id := p.pick(w, r); id != 0 {
		_, err := w.Process().Update(func(tx *store.Tx) error { return do(tx, id) })
		w.Note("rule %d: %v", id, err)
	}
}

func (p *Part) change(w *simulation.World, r *rand.Rand) {
	if w.Process() == nil {
		return
	}
	id := p.pick(w, r)
	if id == 0 {
		return
	}
	draft, err := p.Worker.PrepareChange(context.Background(), id, func(q *rules.Request) {
		next := request(w, r)
		q.ScheduleType, q.Schedule, q.Content = next.ScheduleType, next.Schedule, next.Content // each run makes as many posts as before
	})
	process := w.Process()
	if err != nil || process == nil {
		w.Note("change rule %d: %v", id, err)
		return
	}
	_, err = process.Update(func(tx *store.Tx) error {
		_, err := p.Worker.Change(tx, draft)
		return err
	})
	w.Note("change rule %d: %v", id, err)
}

// hourly complains of rules that wait for nothing.
func (p *Part) hourly(w *simulation.World, tx *store.Tx) {
	paused, _ := tx.Settings.Value(store.Paused)
	if paused != "" || !w.Calm(lateBy, "process", "disk", "clock", "network") {
		return
	}
	for r := range tx.Rules.All() {
		w.Judged(1)
		job, err := tx.Jobs.ByName(r.JobName())
		switch {
		case errors.Is(err, store.ErrNotFound) && r.Active:
			w.Complain("rules: no job", "rule %d is active and has no job", r.ID)
		case err == nil && !r.Active:
			w.Complain("rules: off", "rule %d is off, and its job is %s", r.ID, job.State)
		case err == nil && job.State == store.JobSetAside:
			w.Complain("rules: set aside", "rule %d: %+v", r.ID, job.Reason)
		case err == nil && job.State == store.JobWaiting && tx.Now().Sub(job.Due) > lateBy:
			w.Complain("rules: late", "rule %d is due since %v: %+v", r.ID, job.Due, job)
		}
	}
}

// daily compares the posts with what the rules' records say, and with the network's ledger.
func (p *Part) daily(w *simulation.World, tx *store.Tx) {
	const most = 200 // posts of a rule that are counted
	for r := range tx.Rules.All() {
		w.Judged(1)
		sets := map[uint64]int{} // posts by their content
		made, err := tx.Posts.OfRule(r.ID, store.Query{Limit: most})
		if err != nil {
			return
		}
		for _, post := range made.Items {
			sets[post.ContentID]++
		}
		if r.PostsMade < most && r.PostsMade != len(made.Items) || r.Executions != r.Succeeded+r.Failed {
			w.Complain("rules: statistics", "rule %d has made %d posts, and its record is %+v", r.ID, len(made.Items), r)
		}
		if r.Content.Source != "feed" && r.Failed > 0 && r.FailedInRow > 0 && r.Reason.Zero() {
			w.Complain("rules: no reason", "rule %d failed, and does not say why: %+v", r.ID, r)
		}
		for content, n := range sets {
			if n != len(r.Accounts) && made.Next == "" {
				w.Complain("rules: all or none", "content %d of rule %d has %d posts, and the rule %d accounts", content, r.ID, n, len(r.Accounts))
			}
		}
		done := map[time.Time]int{} // runs by their occurrence
		runs, err := tx.Runs.Of(r.JobName(), store.Query{Limit: 500})
		for _, run := range runs.Items {
			early := run.Started.Before(run.Occurrence) // it was asked for
			if err != nil || early || run.Result != store.ResultDone || run.ID <= p.run {
				continue
			}
			if !w.Calm(48*time.Hour, "clock") || tx.Now().Sub(run.Ended) > 48*time.Hour {
				continue // a clock that was ahead shows a time again
			}
			if done[run.Occurrence]++; done[run.Occurrence] > 1 {
				w.Complain("rules: once", "occurrence %v of rule %d was carried out %d times: %+v", run.Occurrence, r.ID, done[run.Occurrence], runs.Items[:min(5, len(runs.Items))])
			}
		}
	}
	p.run = 0
	for run := range tx.Runs.Newest(0) {
		p.run = run.ID
		break
	}
	for _, m := range w.Network.After(p.judged) {
		if p.judged = m.ID; !strings.HasPrefix(m.Post.Text, "rule text ") {
			continue
		}
		w.Judged(1)
		key := m.Post.Text + m.Target
		if p.seen[key] {
			w.Complain("rules: at most once", "%q was published twice in %s", m.Post.Text, m.Target)
		}
		p.seen[key] = true
	}
}
