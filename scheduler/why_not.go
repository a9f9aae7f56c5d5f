package scheduler

import (
	"slices"
	"time"

	"belfry/store"
)

// NotRun is a job that did not run when it could have.
type NotRun struct {
	Job    store.Job // of one that is gone the name and the kind alone
	Code   string    // paused, lane, window, quiet, flood, late, approval, set_aside, login or connection
	Reason store.Reason
	Since  time.Time // when it could have run
	Until  time.Time // when the wait ends; zero if nobody knows
}

const (
	// maxNotRun bounds the list, and how many jobs of each kind of reason are looked at.
	maxNotRun = 500
	// soon is how long a job that is due is on its way.
	soon = 2 * time.Second
	// lateSince is how long ago a run may have been dropped for being late.
	lateSince = 24 * time.Hour
)

// WhyNot returns the jobs that did not run when they could have, those first that have waited longest. It looks at a
// bounded number: the first of those that are paused, that wait and that are set aside, and the last runs.
func WhyNot(tx *store.Tx) (all []NotRun, err error) {
	add := func(n NotRun) { all = append(all, n) }
	for kind := range tx.Jobs.Counts().ByKind() {
		for job := range tx.Jobs.SetAside(kind) {
			if len(all) == maxNotRun {
				break
			}
			add(NotRun{Job: job, Code: "set_aside", Reason: job.Reason, Since: job.Occurrence})
		}
	}
	for _, state := range []store.JobState{store.JobPaused, store.JobWaiting} {
		page, err := tx.Jobs.List(store.JobQuery{State: state, Query: store.Query{Limit: maxNotRun}})
		if err != nil {
			return nil, err
		}
		for _, job := range page.Items {
			n, is, err := notRun(tx, job)
			if err != nil {
				return nil, err
			}
			if is {
				add(n)
			}
		}
	}
	addLate(tx, add)
	slices.SortStableFunc(all, func(a, b NotRun) int { return a.Since.Compare(b.Since) })
	return all[:min(len(all), maxNotRun)], nil
}

// notRun says why a job that waits or is paused did not run; false if its time has not come.
func notRun(tx *store.Tx, job store.Job) (n NotRun, is bool, err error) {
	since := job.Occurrence
	if job.Requested || since.IsZero() {
		since = job.Due
	}
	if !since.Before(tx.Now().Add(-soon)) {
		return n, false, nil
	}
	n = NotRun{Job: job, Since: since}
	if n.Reason, err = Why(tx, job); err != nil {
		return n, false, err
	}
	if post, err := tx.Posts.Get(job.Subject); job.Kind == "post" && err == nil && post.AwaitsApproval() {
		n.Reason = store.Reason{Code: store.ReasonApproval}
	}
	if n.Code = notRunCode(n.Reason.Code); n.Code == "" {
		if job.Due.After(tx.Now()) {
			return n, false, nil // it has run, and goes on then
		}
		n.Code, n.Reason = "lane", store.Reason{Code: store.ReasonLane}
	}
	if n.Until = n.Reason.Until; n.Until.IsZero() && job.Due.After(tx.Now()) && job.State == store.JobWaiting {
		n.Until = job.Due
	}
	return n, true, nil
}

// notRunCode is what a reason is called in the list; empty for one with which a job runs.
func notRunCode(reason store.ReasonCode) string {
	switch reason {
	case store.ReasonPaused:
		return "paused"
	case store.ReasonApproval:
		return "approval"
	case store.ReasonFlood, store.ReasonSlowmode:
		return "flood"
	case store.ReasonQuiet:
		return "quiet"
	case store.ReasonWindow, store.ReasonDailyCap:
		return "window"
	case store.ReasonLogin, store.ReasonStopped:
		return "login"
	case store.ReasonNotConnected:
		return "connection"
	case store.ReasonOverlap:
		return "lane"
	}
	return ""
}

// addLate adds the runs that were dropped lately because they were late: one for each job.
func addLate(tx *store.Tx, add func(NotRun)) {
	looked, seen := 0, make(map[string]bool)
	for past := range tx.Runs.Newest(0) {
		if looked++; looked > maxNotRun || past.Ended.Before(tx.Now().Add(-lateSince)) {
			return
		}
		if past.Result != store.ResultSkipped || past.Reason.Code != store.ReasonLate || seen[past.Job] {
			continue
		}
		seen[past.Job] = true
		job, err := tx.Jobs.ByName(past.Job)
		if err != nil { // it ran once, and is gone
			job = store.Job{Name: past.Job, Kind: past.Kind}
		}
		add(NotRun{Job: job, Code: "late", Reason: past.Reason, Since: past.Occurrence})
	}
}
