package alerts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"belfry/scheduler"
	"belfry/store"
)

// looker looks at what is wrong.
type looker struct{ *Worker }

// Run takes one look. It is a step, of which the history of the alerts tells and that of the jobs does not.
func (w looker) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	out := scheduler.Outcome{Again: w.db.Now().Add(period), Step: true}
	if err := w.beat(ctx, job); err != nil {
		out.Reason = store.Reason{Code: store.ReasonError, Detail: "BELFRY_HEARTBEAT_URL: " + err.Error()}
	}
	s := w.measure()
	err := w.db.View(func(tx *store.Tx) error {
		s.waiting = tx.Jobs.Backlog(tx.Now(), maxBacklog)
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("count what is due: %w", err)
	}
	w.backlog.add(s.waiting)
	s.growing = w.backlog.growing(w.cfg.Backlog)
	out.Write = func(tx *store.Tx) error { return w.look(tx, s) }
	return out, nil
}

// beat tells others that nothing is wrong, as the look before has written it; job is as that one left it.
func (w *Worker) beat(ctx context.Context, job store.Job) error {
	if w.cfg.Heartbeat == nil || job.LastResult == store.ResultFailed || w.db.Now().Sub(job.LastRun).Abs() >= overdue {
		return nil
	}
	silent := false
	err := w.db.View(func(tx *store.Tx) error {
		restored, err := tx.Settings.Value(store.Restored)
		silent = restored != "" // the file that it was copied from may be in use: this one does not speak for it
		for a := range tx.Alerts.AllStanding() {
			silent = silent || a.State() == store.AlertOpen
		}
		return err
	})
	if err != nil || silent {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	return w.cfg.Heartbeat(ctx)
}

// measure measures what no transaction is needed for.
func (w *Worker) measure() (s sight) {
	s.damaged = w.db.Damaged()
	s.copied, s.badCopy = w.db.CopyGivenUp()
	if w.cfg.Disk == nil {
		return s
	}
	disk, err := w.cfg.Disk()
	if err != nil {
		w.cfg.Log.Warn().Err(err).Msg("the room on the disk could not be measured")
		return s
	}
	s.disk = &disk
	return s
}

// sight is what was measured for a look.
type sight struct {
	damaged []store.Problem
	copied  time.Time // when a copy was given up last
	badCopy error     // why; nil if none was
	disk    *Disk     // nil if it was not measured
	waiting int       // jobs that are due, counted up to maxBacklog
	growing bool      // these become more
}

// news is what a look has to tell.
type news struct {
	raised []store.Alert
	over   []store.Alert // of which it is told that they are over
}

// look writes what is wrong, ends what is not wrong any more, and tells what nobody was told yet.
func (w *Worker) look(tx *store.Tx, s sight) error {
	w.noteGap(tx)
	found, unsure, err := w.lasting(tx, s)
	if err != nil {
		return err
	}
	if s.badCopy != nil && !copyKnown(tx, s.copied) {
		why := store.Reason{Code: store.ReasonError, Detail: s.badCopy.Error()}
		found = append(found, store.Alert{Kind: store.AlertCopy, About: "copy", Reason: why, ChangedAt: s.copied})
	}
	still := make(map[string]bool)
	for _, a := range found {
		still[string(a.Kind)+" "+a.About] = true
		if err := tx.Alerts.Raise(a); err != nil {
			return err
		}
	}
	var n news
	for _, a := range slices.Collect(tx.Alerts.AllStanding()) { // they change meanwhile
		before := a
		if !unsure[a.Kind] && !still[string(a.Kind)+" "+a.About] {
			well, err := w.settle(tx, &a, s)
			if err != nil {
				return err
			}
			if well && !a.Untold {
				n.over = append(n.over, a)
			}
		}
		if a.Untold && a.State() == store.AlertOpen && a.GoneAt.IsZero() {
			a.Untold = false
			n.raised = append(n.raised, a)
		}
		if a == before {
			continue
		}
		if err := tx.Alerts.Put(&a); err != nil {
			return err
		}
	}
	return w.tell(tx, n)
}

// copyKnown reports whether the last bad copy is the one that was given up at a time.
func copyKnown(tx *store.Tx, at time.Time) bool {
	for a := range tx.Alerts.Newest(0) {
		if a.Kind == store.AlertCopy {
			return a.ChangedAt.Equal(at)
		}
	}
	return false
}

// stands reports whether an alert is not over.
func stands(tx *store.Tx, kind store.AlertKind, about string) bool {
	_, err := tx.Alerts.Standing(kind, about)
	return err == nil
}
