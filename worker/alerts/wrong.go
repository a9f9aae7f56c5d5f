package alerts

import (
	"slices"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

const (
	// maxBacklog is how far jobs that wait are counted.
	maxBacklog = 100_000
	// looks is how many times in a row more jobs must wait than before for the queue to grow.
	looks = 4
	// maxWrong is how many alerts that stand Wrong returns: anybody may ask /health.
	maxWrong = 1000
)

// Wrong returns what is wrong: what keeps Belfry at this moment from doing what it is there for, and then the other
// alerts that stand. Those that are not so at this moment have a GoneAt. It looks at the schedule, the logins and the
// damage itself, so it is right also when no looks are taken.
func (w *Worker) Wrong() (all []store.Alert, err error) {
	damaged := w.db.Damaged()
	err = w.db.View(func(tx *store.Tx) error {
		now, err := w.wrong(tx, damaged)
		if err != nil && !store.IsCorrupt(err) { // the damage is among them
			return err
		}
		for _, a := range now {
			known, err := tx.Alerts.Standing(a.Kind, a.About)
			if err != nil {
				known = store.Alert{Kind: a.Kind, About: a.About, Subject: a.Subject, RaisedAt: tx.Now()}
			}
			known.Name, known.Reason, known.Count, known.GoneAt = a.Name, a.Reason, a.Count, time.Time{}
			all = append(all, known)
		}
		others := 0
		for a := range tx.Alerts.AllStanding() {
			if others++; others > maxWrong {
				break
			}
			if slices.ContainsFunc(now, func(b store.Alert) bool { return a.Kind == b.Kind && a.About == b.About }) {
				continue
			}
			gone := Hinders(a.Kind)
			if !a.Kind.Lasts() {
				if gone, _, err = w.ended(tx, a, sight{}); err != nil && !store.IsCorrupt(err) {
					return err
				}
			}
			if gone && a.GoneAt.IsZero() {
				a.GoneAt = tx.Now()
			}
			all = append(all, a)
		}
		return nil
	})
	return all, err
}

// Hinders reports whether alerts of a kind say that Belfry does not do what it is there for.
func Hinders(kind store.AlertKind) bool {
	return kind == store.AlertDamage || kind == store.AlertLogin || kind == store.AlertOverdue
}

// wrong returns what is wrong at this moment with the file, the other workers and the schedule. Its error is a
// [*store.CorruptError] if it is not known whether something is overdue.
func (w *Worker) wrong(tx *store.Tx, damaged []store.Problem) (all []store.Alert, err error) {
	if len(damaged) > 0 {
		first := damaged[0]
		all = append(all, store.Alert{Kind: store.AlertDamage, About: "file", Count: int64(len(damaged)),
			Reason: store.Reason{Code: store.ReasonError, Detail: first.String()}})
	}
	if w.cfg.Wrong != nil {
		all = append(all, w.cfg.Wrong(tx)...)
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
func (w *Worker) lasting(tx *store.Tx, s sight) (all []store.Alert, unsure map[store.AlertKind]bool, err error) {
	unsure = make(map[store.AlertKind]bool)
	for job := range tx.Jobs.Failing() {
		if a, is := failing(job); is {
			all = append(all, a)
		}
	}
	wrong, err := w.wrong(tx, s.damaged)
	if store.IsCorrupt(err) {
		w.cfg.Log.Error().Err(err).Msg("what is due and was not started could not be looked for; run belfry check")
		unsure[store.AlertOverdue] = true
	} else if err != nil {
		return nil, nil, err
	}
	all = append(all, wrong...)
	switch {
	case s.disk == nil:
		unsure[store.AlertDisk] = w.cfg.Disk != nil
	case s.disk.Free < s.disk.Need, stands(tx, store.AlertDisk, "disk") && s.disk.Free < s.disk.Need+s.disk.Need/10:
		all = append(all, store.Alert{Kind: store.AlertDisk, About: "disk", Count: s.disk.Free, Limit: s.disk.Need})
	}
	queue := store.Alert{Kind: store.AlertQueue, About: "schedule", Count: int64(s.waiting)}
	if s.growing || stands(tx, queue.Kind, queue.About) && s.waiting >= w.cfg.Backlog { // one that has grown is wrong until it is short
		all = append(all, queue)
	}
	return all, unsure, nil
}

// gap is a time in which nothing could be started: this program did not run, or the clock has passed it by
// being set.
type gap struct{ from, to time.Time }

// lookedAt is when a look was taken.
type lookedAt struct {
	clock   time.Time // without the monotonic reading
	elapsed time.Time // carries the monotonic reading
}

// noteGap notes if the clock was set forward since the last look.
func (w *Worker) noteGap(tx *store.Tx) {
	now := lookedAt{tx.Now().Round(0), time.Now()}
	if now.clock.Sub(w.last.clock)-now.elapsed.Sub(w.last.elapsed) >= overdue {
		w.gap.Store(&gap{w.last.clock, now.clock})
	}
	w.last = now
}

// ran is how much of the time since then was there to start something in.
func (w *Worker) ran(tx *store.Tx, since time.Time) time.Duration {
	g := w.gap.Load()
	return tx.Now().Sub(since) - max(0, g.to.Sub(worker.Later(since, g.from)))
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
