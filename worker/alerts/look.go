package alerts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"belfry/scheduler"
	"belfry/store"
)

// looker looks at what is wrong.
type looker struct{ *Worker }

// Run takes one look.
func (w looker) Run(context.Context, store.Job) (scheduler.Outcome, error) {
	out := w.again()
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

// news is what a look has found out.
type news struct {
	raised []store.Alert
	over   []store.Alert // of which it is told that they are over

	recently map[string]int // how often something was raised lately; nil as long as it is not needed
}

// look compares what is wrong with what is known, and tells what has changed.
func (w *Worker) look(tx *store.Tx, s sight) error {
	var n news
	standing := slices.Collect(tx.Alerts.AllStanding())
	w.noteGap(tx)
	lasting, unsure, err := w.lasting(tx, s, standing)
	if err != nil {
		return err
	}
	failed, err := w.failures(tx, s, standing)
	if err != nil {
		return err
	}
	still := make(map[string]bool)
	for _, a := range append(lasting, failed...) {
		still[string(a.Kind)+" "+a.About] = true
		if err := n.raise(tx, a); err != nil {
			return err
		}
	}
	for _, a := range standing {
		if unsure[a.Kind] || still[string(a.Kind)+" "+a.About] {
			continue
		}
		if err := w.settle(tx, &n, a, s); err != nil {
			return err
		}
	}
	return w.tell(tx, n)
}

// raise writes an alert, unless it stands already: then it is brought up to date. A failure is one that
// was not looked at before, so one that stands has failed once more, and is told again.
func (n *news) raise(tx *store.Tx, a store.Alert) error {
	a.Name, a.Reason.Detail = short(a.Name, maxName), short(a.Reason.Detail, maxDetail)
	known, err := tx.Alerts.Standing(a.Kind, a.About)
	if damaged, ok := errors.AsType[*store.CorruptError](err); ok { // it counts no more, and this one is told anew
		if err := tx.Alerts.LetGo(damaged.ID); err != nil {
			return err
		}
		err = store.ErrNotFound
	}
	if errors.Is(err, store.ErrNotFound) {
		a.RaisedAt = tx.Now()
		if a.Flaps, err = n.flaps(tx, a); err != nil {
			return err
		}
		if err := tx.Alerts.Add(&a); err != nil {
			return fmt.Errorf("raise an alert about %s: %w", a.About, err)
		}
		n.raised = append(n.raised, a)
		return nil
	}
	if err != nil {
		return err
	}
	if a.Subject == 0 && !lasts(a.Kind) { // it is about many, and these come on top
		a.Count += known.Count
	}
	before := known
	known.Subject, known.Name, known.Reason, known.Count, known.Limit = a.Subject, a.Name, a.Reason, a.Count, a.Limit
	known.ChangedAt, known.GoneAt = a.ChangedAt, time.Time{}
	if !lasts(a.Kind) {
		n.raised = append(n.raised, known)
	}
	if known == before {
		return nil
	}
	return tx.Alerts.Put(&known)
}

// flaps reports whether what an alert is about was raised so often lately that it comes and goes.
func (n *news) flaps(tx *store.Tx, a store.Alert) (bool, error) {
	if !lasts(a.Kind) {
		return false, nil
	}
	if n.recently == nil {
		n.recently = make(map[string]int)
		looked := 0
		for past := range tx.Alerts.Newest(0) {
			if looked++; looked > remembered {
				break
			}
			if tx.Now().Sub(past.RaisedAt).Abs() < flapTime {
				n.recently[string(past.Kind)+" "+past.About]++
			}
		}
	}
	return n.recently[string(a.Kind)+" "+a.About]+1 >= thirdTime, nil
}
