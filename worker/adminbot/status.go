package adminbot

import (
	"fmt"
	"strings"

	"belfry/store"
	"belfry/worker/alerts"
	"belfry/worker/posts"
	"belfry/worker/tasks"
)

// ahead is how many of the next jobs the status shows, and behind how many alerts.
const (
	ahead  = 5
	behind = 3
)

// status shows what runs, what is next and what failed.
func (r request) status() (screen, error) {
	var b strings.Builder
	b.WriteString(r.T("bot.status_at", r.Clock(r.Now)) + "\n\n")
	running := 0
	for job := range r.tx.Jobs.Running() {
		if r.bot.kinds[job.Kind].Routine {
			continue
		}
		running++
		fmt.Fprintf(&b, "▶️ %s\n", r.jobTitle(job))
	}
	if running == 0 {
		b.WriteString(r.T("bot.nothing_runs") + "\n")
	}
	next, err := r.next()
	if err != nil {
		return screen{}, err
	}
	b.WriteString("\n" + r.T("bot.next") + "\n")
	for _, job := range next {
		fmt.Fprintf(&b, "• %s %s\n", r.Exact(job.Due), r.jobTitle(job))
	}
	if len(next) == 0 {
		b.WriteString(r.T("bot.nothing_next") + "\n")
	}
	open, err := r.tx.Alerts.ByState(store.AlertOpen, store.Query{Limit: behind})
	if err != nil {
		return screen{}, err
	}
	b.WriteString("\n")
	for _, a := range open.Items {
		b.WriteString("⚠️ " + alerts.Text(r.Printer, a).What + "\n")
	}
	switch {
	case len(open.Items) == 0:
		b.WriteString(r.T("bot.all_well") + "\n")
	case open.Next != "":
		b.WriteString("…\n")
	}
	still, err := r.stillSo(behind)
	if err != nil {
		return screen{}, err
	}
	if len(still) > 0 {
		b.WriteString(r.T("bot.still_so") + "\n" + strings.Join(still, "\n") + "\n")
	}
	s, err := readStrangers(r.tx)
	if err != nil {
		return screen{}, err
	}
	if s.Count > 0 {
		b.WriteString("\n" + r.T("bot.strangers", s.Count, s.At, fmt.Sprint(s.Last)) + "\n")
	}
	return r.page(b.String(), nil, button(r.T("bot.refresh"), pageStatus)), nil
}

// next are the jobs that run next.
func (r request) next() (jobs []store.Job, err error) {
	q := store.Query{Limit: 50}
	for range 10 { // so many routine jobs come first, at most
		page, err := r.tx.Jobs.List(store.JobQuery{Query: q})
		if err != nil {
			return nil, err
		}
		for _, job := range page.Items {
			if job.State != store.JobWaiting || r.bot.kinds[job.Kind].Routine {
				continue
			}
			if jobs = append(jobs, job); len(jobs) == ahead {
				return jobs, nil
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	return jobs, nil
}

// jobTitle says what a job is.
func (r request) jobTitle(job store.Job) string {
	switch job.Kind {
	case posts.Kind:
		if post, err := r.tx.Posts.Get(job.Subject); err == nil {
			return r.postTitle(post)
		}
	case tasks.Kind:
		if task, err := r.tx.Tasks.Get(job.Subject); err == nil {
			return r.taskTitle(task)
		}
	}
	kind := job.Kind
	if key := "job.kind." + kind; r.Has(key) {
		kind = r.T(key)
	}
	return strings.TrimSuffix(kind+": "+r.bot.kinds.About(r.tx, job), ": ")
}
