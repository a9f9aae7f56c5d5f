package simulation

import (
	"errors"
	"strings"
	"time"

	"belfry/store"
)

// fairAfter is how long all must have been well for a job that is due to be started at once. After a big step
// of the clock the scheduler starts nothing for 5 minutes.
const fairAfter = 7 * time.Minute

// longestLease is longer than any run may take that the simulation has.
const longestLease = time.Hour

// fair complains of jobs that are due and are not started although their lane has room, and of jobs that run
// in more than their lane allows.
func (w *World) fair(tx *store.Tx) {
	w.blame(tx)
	running := map[string]string{}
	for job := range tx.Jobs.Running() {
		if other := running[job.Lane]; other != "" {
			w.Complain("schedule: lanes", "%s and %s run at once in lane %s", other, job.Name, job.Lane)
		}
		running[job.Lane] = job.Name
		if over := tx.Now().Sub(job.LeaseEnd); w.Calm(fairAfter, "process", "disk", "clock") && (over < -longestLease || over > fairAfter) {
			w.Complain("schedule: lease", "%s runs since %v, and its lease ends at %v", job.Name, job.Started, job.LeaseEnd)
		}
	}
	paused, err := tx.Settings.Value(store.Paused)
	if err != nil || !w.Calm(fairAfter, "process", "disk", "clock") {
		return
	}
	for lane, due := range tx.Jobs.Lanes() {
		late := tx.Now().Sub(due)
		if late <= 0 || running[lane] != "" || paused != "" {
			continue
		}
		hold, err := tx.Holds.ByLane(lane)
		if err != nil && !errors.Is(err, store.ErrNotFound) || hold.Until.After(tx.Now()) {
			continue
		}
		w.Judged(1)
		for job := range tx.Jobs.Due(lane, tx.Now()) {
			w.Complain("schedule: fair", "%s is due since %v in lane %s, which has room, and is not started: %+v", job.Name, late, lane, job)
			return
		}
	}
}

// blame complains of runs that have failed because a commit did: the store is never a job's fault.
func (w *World) blame(tx *store.Tx) {
	for run := range tx.Runs.Newest(0) {
		if tx.Now().Sub(run.Ended).Abs() > 2*time.Hour {
			return
		}
		if run.Result == store.ResultFailed && strings.Contains(run.Reason.Detail, ofCommit) {
			w.Complain("schedule: blame", "a run of %s has failed by the store: %+v", run.Job, run)
		}
	}
}
