package alerts

import (
	"context"
	"slices"
	"sync"
	"time"

	"belfry/store"
)

// run takes a look at once, then once a minute, and soon after an alert was raised, until ctx ends. The clock is not
// asked when: it may be set.
func (w *Worker) run(ctx context.Context) error {
	raised, unwatch := w.db.Watch("alerts")
	defer unwatch()
	next := time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-raised:
			if !open {
				return nil
			}
			if soon := time.Now().Add(gather); soon.Before(next) && time.Since(w.told) >= period && w.untold() {
				next = soon
			}
		case <-time.After(time.Until(next)):
			next = time.Now().Add(period)
			if err := w.Look(ctx); err != nil {
				w.cfg.Log.Error().Err(err).Msg("what is wrong could not be looked for")
				next = time.Now().Add(afterError)
			}
		}
	}
}

// untold reports whether nobody was told of an alert yet.
func (w *Worker) untold() (is bool) {
	// A file that cannot be read now is looked at with the next look.
	_ = w.db.View(func(tx *store.Tx) error {
		for a := range tx.Alerts.AllStanding() {
			is = is || a.Untold && a.State() == store.AlertOpen
		}
		return nil
	})
	return is
}

// Look takes one look at what is wrong, and then tells others if nothing is.
func (w *Worker) Look(ctx context.Context) error {
	s := w.measure()
	var counted sync.Once // no update waits for it: it takes long where many wait
	var n news
	if err := w.db.MaybeUpdate(func(tx *store.Tx) (err error) {
		counted.Do(func() {
			s.waiting = tx.Jobs.Backlog(tx.Now(), maxBacklog)
			w.backlog.add(s.waiting)
			s.growing = w.backlog.growing(w.cfg.Backlog)
		})
		n, err = w.look(tx, s)
		return err
	}); err != nil {
		return err
	}
	if len(n.raised)+len(n.over) > 0 {
		w.told = time.Now()
	}
	if w.cfg.Heartbeat != nil && n.well {
		w.beat(ctx)
	}
	return nil
}

// beat tells others that nothing is wrong.
func (w *Worker) beat(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := w.cfg.Heartbeat(ctx); err != nil {
		w.cfg.Log.Warn().Err(err).Msg("BELFRY_HEARTBEAT_URL could not be called")
	}
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
	well   bool          // nobody has to look at an alert
}

// look writes what is wrong, ends what is not wrong any more, and tells what nobody was told yet.
func (w *Worker) look(tx *store.Tx, s sight) (n news, err error) {
	w.noteGap(tx)
	found, unsure, err := w.lasting(tx, s)
	if err != nil {
		return n, err
	}
	if s.badCopy != nil && !copyKnown(tx, s.copied) {
		why := store.Reason{Code: store.ReasonError, Detail: s.badCopy.Error()}
		found = append(found, store.Alert{Kind: store.AlertCopy, About: "copy", Reason: why, ChangedAt: s.copied})
	}
	still := make(map[string]bool)
	for _, a := range found {
		still[string(a.Kind)+" "+a.About] = true
		if err := tx.Alerts.Raise(a); err != nil {
			return n, err
		}
	}
	for _, a := range slices.Collect(tx.Alerts.AllStanding()) { // they change meanwhile
		before := a
		if !unsure[a.Kind] && !still[string(a.Kind)+" "+a.About] {
			well, err := w.settle(tx, &a, s)
			if err != nil {
				return n, err
			}
			if well && !a.Untold {
				n.over = append(n.over, a)
			}
		}
		if a.Untold && a.State() == store.AlertOpen && a.GoneAt.IsZero() {
			a.Untold, a.Told = false, a.Count
			n.raised = append(n.raised, a)
		}
		if a == before {
			continue
		}
		if err := tx.Alerts.Put(&a); err != nil {
			return n, err
		}
	}
	restored, err := tx.Settings.Value(store.Restored)
	n.well = err == nil && restored == "" && !tx.Alerts.Open() // the file that it was copied from may be in use: this one does not speak for it
	return n, w.tell(tx, n)
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
