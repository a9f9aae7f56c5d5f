package scheduler

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"belfry/store"
)

// check proves what must hold after each step.
func (w *world) check() error {
	w.mu.Lock()
	wrong := slices.Clone(w.wrong)
	failing := len(w.fail) > 0
	w.mu.Unlock()
	if len(wrong) > 0 {
		return errors.New(strings.Join(wrong, "; "))
	}
	problems, err := w.db.Verify()
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("verify: %v, %w", problems, err)
	}
	if w.sched.Status().Problem != "" || w.sched.inDoubt() {
		failing = true
	}
	return w.db.View(func(tx *store.Tx) error {
		for job := range tx.Jobs.All() {
			if err := w.checkJob(tx, job, failing); err != nil {
				return fmt.Errorf("%s: %w\n%+v", job.Name, err, job)
			}
		}
		for name, p := range w.plans {
			if err := w.checkPlan(tx, name, p); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
}

// checkJob proves that the row agrees with what runs, with what was asked for, and that nothing is
// left lying.
func (w *world) checkJob(tx *store.Tx, job store.Job, failing bool) error {
	p := w.plans[job.Name]
	if p == nil {
		if job.State == store.JobRunning && job.Removed {
			return nil
		}
		return errors.New("is there, and nobody asked for it")
	}
	w.mu.Lock()
	inside, in := w.inside[job.Name], w.in[job.Lane]
	w.mu.Unlock()
	if job.State == store.JobRunning && inside == 0 && !failing {
		return errors.New("runs by the store, and nowhere else")
	}
	if p.paused != (job.State == store.JobPaused || job.Paused) {
		return fmt.Errorf("paused: %v, asked for: %v", !p.paused, p.paused)
	}
	if job.Occurrence.Before(p.last) {
		return fmt.Errorf("the next run went back from %v to %v", p.last, job.Occurrence)
	}
	p.last = job.Occurrence
	if job.State == store.JobWaiting && !job.Due.After(tx.Now()) && in < w.laneMax[job.Lane] && inside == 0 && !failing {
		until, _ := tx.Holds.Until(job.Lane)
		all, _ := tx.Settings.Value(settingPaused)
		if !until.After(tx.Now()) && all == "" {
			return errors.New("is due, could run, and does not")
		}
	}
	return nil
}

// checkPlan proves that each time that the trigger has named is in exactly one place: behind the
// job, with one record that ends it or one that says why it was passed; or with the job, waiting or
// running.
func (w *world) checkPlan(tx *store.Tx, name string, p *plan) error {
	job, err := tx.Jobs.ByName(name)
	gone := errors.Is(err, store.ErrNotFound)
	if err != nil && !gone {
		return err
	}
	covered, ends := map[int64]int{}, map[int64][]store.Run{}
	for run := range tx.Runs.All() {
		if run.Job == name && run.ID > p.after && !run.Occurrence.Before(p.first) {
			ends[run.Occurrence.UnixNano()] = append(ends[run.Occurrence.UnixNano()], run)
		}
	}
	for at, runs := range ends {
		final := runs[len(runs)-1]
		if !gone && !time.Unix(0, at).Before(job.Occurrence) {
			continue // not at its end yet
		}
		done := 0
		for _, run := range runs {
			if run.Result == store.ResultSkipped {
				final = run
			} else if run.Result == store.ResultDone && !run.Started.Before(run.Occurrence) {
				done++
			}
		}
		if done > 1 {
			return fmt.Errorf("%v was done %d times", final.Occurrence, done)
		}
		if final.Result == store.ResultAgain || final.Result == store.ResultInterrupted {
			return fmt.Errorf("%v has no end: %+v", final.Occurrence, final)
		}
		if final.Result == store.ResultSkipped && final.Reason.Zero() {
			return fmt.Errorf("%v was passed without a reason", final.Occurrence)
		}
		covered[at]++
		next := final.Occurrence
		for range final.Missed {
			if next, err = Next(p.trigger, name, next); err != nil {
				return err
			}
			covered[next.UnixNano()]++
		}
	}
	if p.trigger.Once() {
		if gone && covered[p.first.UnixNano()] != 1 {
			return fmt.Errorf("is gone, and its end is on record %d times", covered[p.first.UnixNano()])
		}
		return nil
	}
	if gone {
		return errors.New("is gone, and nobody asked for that")
	}
	for at := p.first; at.Before(job.Occurrence); {
		if n := covered[at.UnixNano()]; n != 1 {
			return fmt.Errorf("the occurrence of %v is on record %d times; the job is at %v\n%+v", at, n, job.Occurrence, ends)
		}
		delete(covered, at.UnixNano())
		if at, err = Next(p.trigger, name, at); err != nil {
			return err
		}
	}
	if len(covered) > 0 {
		return fmt.Errorf("on record before their time: %v", covered)
	}
	return nil
}
