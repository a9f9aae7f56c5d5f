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

// Wrong returns what keeps Belfry at this moment from doing what it is there for: something that is overdue, a
// login that cannot act, a damaged file. It asks nobody for what a look has found, so it is right also when
// no looks are taken.
func (w *Worker) Wrong() (all []store.Alert, err error) {
	damaged := w.db.Damaged()
	err = w.db.View(func(tx *store.Tx) (err error) {
		all, err = w.wrong(tx, damaged, nil)
		return err
	})
	if store.IsCorrupt(err) { // the damage is among them
		err = nil
	}
	return all, err
}

// wrong is [Worker.Wrong]. Of the logins, those that had an alert before have no connection until they have
// one, however often the program was started. Its error is a [*store.CorruptError] if it is not known
// whether something is overdue.
func (w *Worker) wrong(tx *store.Tx, damaged []store.Problem, standing []store.Alert) (all []store.Alert, err error) {
	if len(damaged) > 0 {
		first := damaged[0]
		all = append(all, store.Alert{Kind: store.AlertDamage, About: "file", Count: int64(len(damaged)),
			Reason: store.Reason{Code: store.ReasonError, Detail: first.String()}})
	}
	for i := range tx.Identities.All() {
		a := store.Alert{Kind: store.AlertLogin, About: fmt.Sprint("login_", i.ID), Subject: i.ID, Name: i.Name, Reason: i.Reason}
		switch {
		case i.State == store.IdentityLogin || i.State == store.IdentityStopped:
			if a.Reason.Zero() { // it waits for its first login, or was logged out by its owner
				continue
			}
		case w.cfg.Connection == nil:
			continue
		default:
			since, why := w.cfg.Connection(i.ID)
			stands := slices.ContainsFunc(standing, func(s store.Alert) bool { return s.Kind == a.Kind && s.About == a.About })
			if since.IsZero() || tx.Now().Sub(since) < offline && !stands {
				continue
			}
			a.Reason = store.Reason{Code: store.ReasonNotConnected, Detail: why}
		}
		all = append(all, a)
	}
	job, since, late, err := scheduler.Overdue(tx)
	if err != nil || !late {
		return all, err
	}
	if wait := w.ran(tx, since); wait >= overdue {
		a := store.Alert{Kind: store.AlertOverdue, About: "schedule", Name: job.Name, Count: int64(wait / time.Minute)}
		if job.LastReason.Code == store.ReasonNotConnected {
			a.Reason = job.LastReason
		}
		all = append(all, a)
	}
	return all, nil
}

// lasting are the things that are wrong at this moment, and may come right. Of the kinds in unsure nothing
// is known at this moment.
func (w *Worker) lasting(tx *store.Tx, s sight, standing []store.Alert) (all []store.Alert, unsure map[store.AlertKind]bool, err error) {
	unsure = make(map[store.AlertKind]bool)
	for job := range tx.Jobs.Failing() {
		if a, is := failing(job); is {
			all = append(all, a)
		}
	}
	wrong, err := w.wrong(tx, s.damaged, standing)
	if store.IsCorrupt(err) {
		w.cfg.Log.Error().Err(err).Msg("what is due and was not started could not be looked for; run belfry check")
		unsure[store.AlertOverdue] = true
	} else if err != nil {
		return nil, nil, err
	}
	all = append(all, wrong...)
	for n := range w.teller.Missed(tx) {
		all = append(all, store.Alert{Kind: store.AlertUnreached, About: n.Chat, Subject: n.ID, Name: n.Chat, Reason: n.Reason})
	}
	stands := func(kind store.AlertKind) bool {
		return slices.ContainsFunc(standing, func(a store.Alert) bool { return a.Kind == kind })
	}
	switch {
	case s.disk == nil:
		unsure[store.AlertDisk] = w.cfg.Disk != nil
	case s.disk.Free < s.disk.Need, stands(store.AlertDisk) && s.disk.Free < s.disk.Need+s.disk.Need/10:
		all = append(all, store.Alert{Kind: store.AlertDisk, About: "disk", Count: s.disk.Free, Limit: s.disk.Need})
	}
	queue := store.Alert{Kind: store.AlertQueue, About: "schedule", Count: int64(s.waiting)}
	if s.growing || stands(queue.Kind) && s.waiting >= w.cfg.Backlog { // one that has grown is wrong until it is short
		all = append(all, queue)
	}
	return all, unsure, nil
}

// gap is a time in which nothing could be started: this program did not run, or the clock has passed it by
// being set.
type gap struct{ from, to time.Time }

// noteGap looks for a gap before this look.
func (w *Worker) noteGap(tx *store.Tx) {
	now := tx.Now()
	switch {
	case w.gap.Load() == nil:
		w.gap.Store(w.beforeStart(tx))
	case now.Sub(w.last.clock)-time.Since(w.last.elapsed) >= overdue:
		w.gap.Store(&gap{w.last.clock, now})
	}
}

// beforeStart is the gap between the last look of the process before and the start of this one.
func (w *Worker) beforeStart(tx *store.Tx) *gap {
	seen, err := readSeen(tx)
	if err != nil {
		seen = time.Time{}
	}
	return &gap{seen, tx.Now().Add(-time.Since(w.started))}
}

// ran is how much of the time since then was there to start something in.
func (w *Worker) ran(tx *store.Tx, since time.Time) time.Duration {
	g, now := w.gap.Load(), tx.Now()
	if g == nil {
		g = w.beforeStart(tx)
	}
	from := g.from
	if since.After(from) {
		from = since
	}
	return now.Sub(since) - max(0, g.to.Sub(from))
}

// failing is the alert about a job that fails again and again or is set aside. One that runs once ends
// by itself, and its worker knows what that means; it is one as well if it was tried that often in vain.
func failing(job store.Job) (store.Alert, bool) {
	a := store.Alert{Kind: store.AlertJobFailing, About: job.Name, Subject: job.Subject, Name: job.Name}
	switch {
	case job.State == store.JobSetAside:
		a.Reason = job.Reason
	case job.State == store.JobPaused:
		return a, false
	case job.Trigger.Once() && job.LastReason.Code == store.ReasonRetry && job.LastReason.N >= failures:
		a.Reason, a.Count = job.LastReason, int64(job.LastReason.N)
	case job.Trigger.Once() || job.Failures < failures:
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
