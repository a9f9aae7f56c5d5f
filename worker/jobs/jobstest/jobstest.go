// Package jobstest brings the owner's own jobs into the simulation: people who make, change, run, pause and delete jobs
// that send messages, and judges who compare the network's ledger with the history of the jobs.
package jobstest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/jobs"
	"belfry/worker/posts/poststest"
	"belfry/worker/simulation"
)

const (
	// mostJobs is how many jobs people have at once.
	mostJobs = 6
	// lateBy is how late a job may be that nothing keeps: its lane has the posts of the login, too.
	lateBy = 30 * time.Minute
	// judgedFor is how old a job is judged: after that its first runs are forgotten.
	judgedFor = 60 * 24 * time.Hour
)

// Part is the own jobs of one world.
type Part struct {
	worker *jobs.Worker // of the process that runs
	posts  *poststest.Part
	judged int64              // the last message of the ledger
	sent   map[string][]int64 // messages by their texts

	changes map[string]int       // by job: what it sends after one is something new
	made    map[string]time.Time // by job: when, in the bubble's time
}

// New returns the part of a world. It is started after the part with the posts.
func New(posts *poststest.Part) *Part {
	return &Part{posts: posts, sent: map[string][]int64{}, changes: map[string]int{}, made: map[string]time.Time{}}
}

// Part is what the simulation plays.
func (p *Part) Part() simulation.Part {
	do := func(action jobs.Action) func(*simulation.World, *rand.Rand) {
		return func(w *simulation.World, r *rand.Rand) {
			if name := p.pick(w, r); name != "" {
				_, err := w.Process().Update(func(tx *store.Tx) error {
					_, err := p.worker.Do(tx, action, name)
					return err
				})
				w.Note("%s %s: %v", action, name, err)
			}
		}
	}
	return simulation.Part{
		Name: "jobs",
		Actions: []simulation.Action{
			{Name: "jobs: make", Rate: 1.5, Do: p.create}, {Name: "jobs: change", Rate: 1, Do: p.change},
			{Name: "jobs: run", Rate: 1.5, Do: do(jobs.Run)}, {Name: "jobs: pause", Rate: .5, Do: do(jobs.Pause)},
			{Name: "jobs: resume", Rate: 1.5, Do: do(jobs.Resume)}, {Name: "jobs: delete", Rate: .4, Do: do(jobs.Delete)},
		},
		Start: p.start, Hourly: p.hourly, Daily: p.daily,
	}
}

// network is the world's network as a process has it.
type network struct{ *simulation.Process }

func (n network) Publisher(login uint64) platform.Publisher {
	return n.World.Network.Publisher(n.Process, login)
}

func (p *Part) start(process *simulation.Process) worker.Module {
	p.worker = jobs.New(process.DB, jobs.Workers{Posts: p.posts.Worker, Messages: network{process}}, jobs.Config{})
	return p.worker.Module()
}

// when is a trigger as people choose it.
func when(w *simulation.World, r *rand.Rand) jobs.Schedule {
	switch r.IntN(4) {
	case 0:
		return jobs.Schedule{At: w.Now().Add(time.Duration(1+r.IntN(40)) * time.Hour).Format(time.RFC3339)}
	case 1:
		return jobs.Schedule{Every: fmt.Sprint(2+r.IntN(20), "h")}
	case 2:
		return jobs.Schedule{Cron: fmt.Sprint(r.IntN(60), " */8 * * *"), Zone: "America/New_York"}
	}
	return jobs.Schedule{Times: []string{"02:30", "14:00"}, Days: []int{1, 2, 3, 4, 5}, Zone: "Europe/Berlin"}
}

func (p *Part) create(w *simulation.World, r *rand.Rand) {
	if w.Process() == nil {
		return
	}
	q := jobs.Request{Title: "job", Trigger: when(w, r), Action: store.Action{
		Type: store.ActionMessage, IdentityID: w.Logins["main"], Target: "@jobs", Text: fmt.Sprintf("own job %x", r.Uint64()),
	}}
	draft, err := p.worker.Prepare(context.Background(), q)
	process := w.Process()
	if err != nil || process == nil {
		w.Note("make a job %+v: %v", q, err)
		return
	}
	var job store.Job
	_, err = process.Update(func(tx *store.Tx) (err error) {
		n := 0
		for range tx.OwnJobs.All() {
			n++
		}
		if n >= mostJobs {
			return nil
		}
		job, err = p.worker.Create(tx, draft)
		return err
	})
	p.made[job.Name] = time.Now()
	w.Note("make a job %+v: %v", q, err)
}

// pick chooses a job; empty if there is none.
func (p *Part) pick(w *simulation.World, r *rand.Rand) string {
	if w.Process() == nil {
		return ""
	}
	var all []store.OwnJob
	err := w.Process().DB.View(func(tx *store.Tx) error {
		for own := range tx.OwnJobs.All() {
			all = append(all, own)
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return ""
	}
	return simulation.Pick(r, all, func(own store.OwnJob) string { return own.Action.Text }).JobName()
}

func (p *Part) change(w *simulation.World, r *rand.Rand) {
	name := p.pick(w, r)
	if name == "" {
		return
	}
	draft, err := p.worker.PrepareChange(context.Background(), name, func(q *jobs.Request) { q.Trigger = when(w, r) })
	process := w.Process()
	if err != nil || process == nil {
		w.Note("change %s: %v", name, err)
		return
	}
	_, err = process.Update(func(tx *store.Tx) error {
		_, err := p.worker.Change(tx, draft)
		return err
	})
	p.changes[name]++
	w.Note("change %s: %v", name, err)
}

// counts complains of counts that are not those of the rows.
func counts(w *simulation.World, tx *store.Tx) {
	rows, total := map[string]int{}, 0
	for job := range tx.Jobs.All() {
		rows[job.Kind+" "+string(job.State)]++
		total++
	}
	for _, of := range tx.Jobs.Counts() {
		if total -= of.N; rows[of.Kind+" "+string(of.State)] != of.N {
			w.Complain("jobs: counts", "%+v, the rows are %v", of, rows)
		}
	}
	if w.Judged(1); total != 0 {
		w.Complain("jobs: counts", "%d jobs are not counted", total)
	}
}

// hourly complains of jobs that wait for nothing.
func (p *Part) hourly(w *simulation.World, tx *store.Tx) {
	paused, _ := tx.Settings.Value(store.Paused)
	for own := range tx.OwnJobs.All() {
		job, err := tx.Jobs.ByName(own.JobName())
		if err != nil {
			w.Complain("jobs: no job", "%s: %v", own.JobName(), err)
			continue
		}
		held, _ := tx.Holds.Until(job.Lane)
		if paused != "" || tx.Now().Sub(held) < lateBy || !w.Calm(lateBy, "process", "disk", "clock", "network") {
			continue
		}
		if job.State == store.JobWaiting && tx.Now().Sub(job.Due) > lateBy {
			w.Complain("jobs: late", "%s is due since %v: %+v", job.Name, job.Due, job)
		}
	}
}

// daily compares what was sent with the history: each run that is done has its message, and no run has two.
func (p *Part) daily(w *simulation.World, tx *store.Tx) {
	counts(w, tx)
	for _, m := range w.Network.After(p.judged) {
		p.sent[m.Post.Text] = append(p.sent[m.Post.Text], m.ID)
		p.judged = m.ID
	}
	for own := range tx.OwnJobs.All() {
		runs, err := tx.Runs.Of(own.JobName(), store.Query{Limit: 500})
		if err != nil || runs.Next != "" || w.Latest(p.made[own.JobName()]).Sub(own.CreatedAt) > judgedFor {
			continue
		}
		w.Judged(1)
		done, begun := 0, 1+p.changes[own.JobName()] // one may be under way
		for _, run := range runs.Items {
			if !run.Started.IsZero() {
				begun++
			}
			if run.Result == store.ResultDone {
				done++
			}
		}
		messages := w.Network.Messages(p.sent[own.Action.Text])
		sent, known := len(messages), 0
		for _, m := range messages {
			if !m.Undone {
				known++
			}
		}
		if done > sent || known > begun {
			w.Complain("jobs: exactly once", "%s was done %d times of %d runs, and %d messages were sent, %d of them known", own.JobName(), done, begun, sent, known)
		}
		if own.Trigger.Once() && known > 1 && own.CreatedAt.Equal(own.UpdatedAt) {
			w.Complain("jobs: at most once", "%s runs once, and %d messages were sent", own.JobName(), known)
		}
	}
}
