package web

import (
	"time"

	"belfry/store"
)

// checkNow is how the check stands.
type checkNow struct {
	Chip        *chip // of a check that is running
	Bar         bar
	Counts      []countOf
	Ends        *moment // nil while nobody can know
	Next        *moment // nil if none is planned
	Why         string
	Last        *pastCheck
	Alone       []aloneSite
	CanRun      bool
	Paused      bool
	Job, JobURL string
}

// pastCheck is a check that has ended.
type pastCheck struct {
	When   *moment
	Counts []countOf
	Reason string
}

type aloneSite struct{ Site, Why string }

// checkNow says what the check does now.
func (r reader) checkNow(v accountsView) checkNow {
	w, status := r.words.Accounts, v.status
	now := checkNow{Job: w.ToJob, CanRun: true}
	if status.Job.ID != 0 {
		now.JobURL = "/jobs/" + status.Job.Name
		now.Paused = status.Job.State == store.JobPaused
	}
	if c := status.Running; c != nil {
		now.Chip, now.CanRun = &chip{"job-running", w.Checking}, now.Paused
		now.Bar = bar{Value: c.Checked, Max: max(c.Total, 1), Text: r.words.Tasks.Of(c.Checked, c.Total)}
		now.Counts = r.checkCounts(*c)
		if now.Paused {
			now.Chip = &chip{"job-paused", r.words.JobStates[store.JobPaused]}
		} else if c.Checked > 0 && c.Total > c.Checked {
			now.Ends = r.moment(r.now.Add(r.now.Sub(c.Began) / time.Duration(c.Checked) * time.Duration(c.Total-c.Checked)))
		}
	} else if status.Job.State == store.JobWaiting || status.Job.State == store.JobRunning {
		if now.Next = r.moment(status.Job.Due); !status.Job.Due.After(r.now) {
			now.Next.Relative = w.Due
		}
	}
	if !now.Paused && v.why.Code != store.ReasonRequested && v.why.Code != store.ReasonChecking {
		now.Why = r.Say(v.why)
	}
	if c := status.Last; c != nil {
		now.Last = &pastCheck{When: r.moment(lastOf(*c)), Counts: r.checkCounts(*c), Reason: r.Say(c.Reason)}
	}
	for _, site := range status.Alone {
		why := site.Reason
		why.Until = site.Until
		now.Alone = append(now.Alone, aloneSite{siteName(site.Site), r.Say(why)})
	}
	return now
}

// lastOf is when a check ended, or began if it has not.
func lastOf(c store.AccountCheck) time.Time {
	if c.Ended.IsZero() {
		return c.Began
	}
	return c.Ended
}

// checkCounts are what a check has found. Zero changes and refusals need no word.
func (r reader) checkCounts(c store.AccountCheck) []countOf {
	w := r.words.Accounts
	counts := []countOf{{w.Found, group(c.Found, r.thousands())}, {w.NotFound, group(c.NotFound, r.thousands())}}
	if c.Errors > 0 {
		counts = append(counts, countOf{w.Errors, group(c.Errors, r.thousands())})
	}
	if c.Changes > 0 {
		counts = append(counts, countOf{w.Changed, group(c.Changes, r.thousands())})
	}
	return counts
}
