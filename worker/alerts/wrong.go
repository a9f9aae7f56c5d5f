package alerts

import (
	"fmt"
	"slices"
	"time"

	"belfry/scheduler"
	"belfry/store"
)

const (
	// maxBacklog is how far jobs that wait are counted.
	maxBacklog = 100_000
	// looks is how many times in a row more jobs must wait than before for the queue to grow.
	looks = 4
)

// lasting are the things that are wrong at this moment, and may come right. Of the kinds in unsure nothing
// is known at this moment.
func (w *Worker) lasting(tx *store.Tx, s sight, standing []store.Alert) (all []store.Alert, unsure map[store.AlertKind]bool, err error) {
	unsure = make(map[store.AlertKind]bool)
	for job, err := range tx.Jobs.Failing() {
		if store.IsCorrupt(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if a, is := failing(job); is {
			all = append(all, a)
		}
	}
	job, since, late, err := scheduler.Overdue(tx)
	switch wait := tx.Now().Sub(since); {
	case store.IsCorrupt(err):
		w.cfg.Log.Error().Err(err).Msg("what is due and was not started could not be looked for; run belfry check")
		unsure[store.AlertOverdue] = true
	case err != nil:
		return nil, nil, err
	case w.catchingUp(tx.Now()):
		unsure[store.AlertOverdue] = true
	case late && wait >= overdue:
		all = append(all, store.Alert{Kind: store.AlertOverdue, About: "schedule", Name: job.Name, Count: int64(wait / time.Minute)})
	}
	for i, err := range tx.Identities.All() {
		if store.IsCorrupt(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		// A login without a reason waits for its first login, or was logged out by its owner.
		if (i.State == store.IdentityLogin || i.State == store.IdentityStopped) && !i.Reason.Zero() {
			all = append(all, store.Alert{Kind: store.AlertLogin, About: fmt.Sprint("login_", i.ID), Subject: i.ID, Name: i.Name, Reason: i.Reason})
		}
	}
	for n, err := range w.teller.Missed(tx) {
		if err != nil {
			return nil, nil, err
		}
		all = append(all, store.Alert{Kind: store.AlertUnreached, About: n.Chat, Subject: n.ID, Name: n.Chat, Reason: n.Reason})
	}
	switch {
	case s.disk == nil:
		unsure[store.AlertDisk] = w.cfg.Disk != nil
	case s.disk.Free < s.disk.Need:
		all = append(all, store.Alert{Kind: store.AlertDisk, About: "disk", Count: s.disk.Free, Limit: s.disk.Need})
	}
	queue := store.Alert{Kind: store.AlertQueue, About: "schedule", Count: int64(s.waiting)}
	stands := slices.ContainsFunc(standing, func(a store.Alert) bool { return a.Kind == queue.Kind })
	if s.growing || stands && s.waiting >= w.cfg.Backlog { // one that has grown is wrong until it is short
		all = append(all, queue)
	}
	return all, unsure, nil
}

// catchingUp reports whether this process has had no time yet to start what became due while it did not run,
// or what the clock has passed by being set.
func (w *Worker) catchingUp(now time.Time) bool {
	if !w.last.clock.IsZero() && now.Sub(w.last.clock)-time.Since(w.last.elapsed) >= overdue {
		w.jumped = time.Now()
	}
	return time.Since(w.started) < overdue || time.Since(w.jumped) < overdue
}

// failing is the alert about a job that fails again and again or is set aside. One that runs once ends
// by itself, and its worker knows what that means.
func failing(job store.Job) (store.Alert, bool) {
	a := store.Alert{Kind: store.AlertJobFailing, About: job.Name, Subject: job.Subject, Name: job.Name}
	switch {
	case job.State == store.JobSetAside:
		a.Reason = job.Reason
	case job.State == store.JobPaused || job.Trigger.Once() || job.Failures < failures:
		return a, false
	default:
		a.Reason, a.Count = job.LastReason, int64(job.Failures)
	}
	a.Reason.Until = time.Time{}
	return a, true
}

// backlog is how many jobs waited at the last looks, the latest last.
type backlog []int

func (b *backlog) add(n int) {
	*b = append(*b, n)
	if len(*b) > looks {
		*b = (*b)[1:]
	}
}

// growing reports whether at least least jobs wait, and more than at each look before. Of those beyond
// maxBacklog nobody knows whether they have become more.
func (b backlog) growing(least int) bool {
	if len(b) < looks || b[len(b)-1] < least {
		return false
	}
	for i := range b[1:] {
		if b[i+1] <= b[i] && b[i+1] < maxBacklog {
			return false
		}
	}
	return true
}
