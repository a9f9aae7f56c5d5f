package alerts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belfry/scheduler"
	"belfry/store"
)

// settingSeen is the time up to which failures of posts and tasks have been looked at.
const settingSeen = "alerts.seen"

// looker looks at what is wrong.
type looker struct{ *Worker }

// Run takes one look.
func (w looker) Run(context.Context, store.Job) (scheduler.Outcome, error) {
	out := w.again()
	var disk Disk
	if w.cfg.Disk != nil {
		var err error
		if disk, err = w.cfg.Disk(); err != nil {
			w.cfg.Log.Warn().Err(err).Msg("the room on the disk could not be measured")
		}
	}
	err := w.db.View(func(tx *store.Tx) error {
		w.backlog.add(tx.Jobs.Backlog(tx.Now(), maxBacklog))
		return nil
	})
	if err != nil {
		return out, fmt.Errorf("count what is due: %w", err)
	}
	growing := w.backlog.growing(w.cfg.Backlog)
	out.Write = func(tx *store.Tx) error { return w.look(tx, disk, growing) }
	return out, nil
}

// news is what a look has found out.
type news struct {
	raised []store.Alert
	over   []store.Alert // of which it is told that they are over
}

// look compares what is wrong with what is known, and tells what has changed.
func (w *Worker) look(tx *store.Tx, disk Disk, growing int) error {
	var n news
	lasting, err := w.lasting(tx, disk, growing)
	if err != nil {
		return err
	}
	failed, err := w.failures(tx)
	if err != nil {
		return err
	}
	for _, a := range append(lasting, failed...) {
		if err := n.raise(tx, a); err != nil {
			return err
		}
	}
	still := make(map[string]bool)
	for _, a := range lasting {
		still[string(a.Kind)+" "+a.About] = true
	}
	for a, err := range tx.Alerts.AllStanding() {
		if store.IsCorrupt(err) {
			continue
		}
		if err != nil {
			return err
		}
		if err := w.settle(tx, &n, a, still[string(a.Kind)+" "+a.About]); err != nil {
			return err
		}
	}
	return w.tell(tx, n)
}

// raise writes an alert, unless it stands already: then it is brought up to date. A failure is one that
// was not looked at before, so one that stands has failed once more, and is told again.
func (n *news) raise(tx *store.Tx, a store.Alert) error {
	known, err := tx.Alerts.Standing(a.Kind, a.About)
	if errors.Is(err, store.ErrNotFound) {
		a.RaisedAt = tx.Now()
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
	known.Reason, known.Count, known.Limit, known.Name, known.GoneAt = a.Reason, a.Count, a.Limit, a.Name, time.Time{}
	if !lasts(a.Kind) {
		n.raised = append(n.raised, known)
	}
	if known == before {
		return nil
	}
	return tx.Alerts.Put(&known)
}

// settle ends an alert that is over.
func (w *Worker) settle(tx *store.Tx, n *news, a store.Alert, still bool) error {
	now := tx.Now()
	if !lasts(a.Kind) {
		over, well, err := ended(tx, a)
		if err != nil || !over {
			return err
		}
		a.OverAt = now
		if well {
			n.over = append(n.over, a)
		}
		return tx.Alerts.Put(&a)
	}
	switch {
	case still:
		return nil
	case a.GoneAt.IsZero() || a.GoneAt.After(now): // or the clock was set back
		a.GoneAt = now
	case now.Sub(a.GoneAt) < w.cfg.Calm:
		return nil
	default:
		a.OverAt = now
		n.over = append(n.over, a)
	}
	return tx.Alerts.Put(&a)
}

// lasts reports whether alerts of a kind stand as long as something is so. The others are about
// something that has happened, and are over when somebody has seen it.
func lasts(kind store.AlertKind) bool {
	switch kind {
	case store.AlertPostFailed, store.AlertPostUnknown, store.AlertTaskFailed:
		return false
	}
	return true
}

// ended reports whether what failed has come to another end, and whether to a good one.
func ended(tx *store.Tx, a store.Alert) (over, well bool, err error) {
	if a.Subject == 0 { // it is about many
		return false, false, nil
	}
	if a.Kind == store.AlertTaskFailed {
		task, err := tx.Tasks.Get(a.Subject)
		if over, err := gone(err); over || err != nil {
			return over, false, err
		}
		done := task.Status == store.TaskDone
		return done || task.Status == store.TaskCancelled, done, nil
	}
	post, err := tx.Posts.Get(a.Subject)
	if over, err := gone(err); over || err != nil {
		return over, false, err
	}
	published := post.Status == store.PostPublished
	other := post.Status.Final() && post.Status != store.PostFailed && post.Status != store.PostUnknown
	return published || other, published, nil
}

// gone reports whether the record that was to be read is not there any more. One that is damaged says
// nothing.
func gone(err error) (bool, error) {
	if errors.Is(err, store.ErrNotFound) || store.IsCorrupt(err) {
		return errors.Is(err, store.ErrNotFound), nil
	}
	return false, err
}
