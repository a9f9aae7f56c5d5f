package tasks

import (
	"errors"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// Progress is what comes next in a task.
type Progress struct {
	Paused bool           // until somebody resumes it
	Next   store.Delivery // the chat that comes next; its ID is 0 if none is left
	At     time.Time      // when, as far as is known; zero while paused or ended
	Why    store.Reason   // why not before
	Ends   time.Time      // when the last chat will have been sent to, by estimate; zero if nobody can tell
	Check  store.Reason   // why a dry run that is under way has to wait
}

// ProgressOf says what comes next in a task.
func (w *Worker) ProgressOf(tx *store.Tx, task store.Task) (p Progress, err error) {
	if task.Status.Final() {
		return p, nil
	}
	if p.Next, err = tx.Deliveries.Next(task.ID); err != nil && !errors.Is(err, store.ErrNotFound) {
		return p, err
	}
	if task.Check == store.CheckRunning {
		if check, err := tx.Jobs.ByName(task.CheckName()); err == nil {
			p.Check, err = scheduler.Why(tx, check)
			if err != nil {
				return p, err
			}
		} else if !errors.Is(err, store.ErrNotFound) {
			return p, err
		}
	}
	job, err := tx.Jobs.ByName(task.JobName())
	if errors.Is(err, store.ErrNotFound) {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	if p.Why, err = scheduler.Why(tx, job); err != nil {
		return p, err
	}
	if task.Status == store.TaskPreparing {
		p.Paused, p.Why = job.State == store.JobPaused || job.Paused, preparing(task)
		return p, nil
	}
	if p.Paused = job.State == store.JobPaused || job.Paused; p.Paused || job.State == store.JobSetAside {
		return p, nil
	}
	p.At = worker.Later(job.Due, p.Why.Until)
	p.Ends, err = w.estimate(tx, task, p)
	return p, err
}

// estimate guesses when a task ends: its account's tasks take turns, at the middle of its pauses,
// outside of its quiet hours, and no more in a day than its cap.
func (w *Worker) estimate(tx *store.Tx, task store.Task, p Progress) (time.Time, error) {
	others := 0
	for other := range tx.Tasks.Active(task.IdentityID) {
		if other.ID != task.ID && !other.StartedAt.IsZero() {
			others++
		}
	}
	left := time.Duration(max(task.Left()-1, 0))
	each := (task.MinPause + task.MaxPause) / 2 * time.Duration(1+others)
	const day = 24 * time.Hour
	if quiet := quietLength(task.Quiet); quiet > 0 {
		each = time.Duration(float64(each) * float64(day) / float64(day-quiet))
	}
	if task.DailyCap > 0 {
		each = max(each, day*time.Duration(1+others)/time.Duration(task.DailyCap))
	}
	const tooFar = 10 * 365 * day
	if each > 0 && left > tooFar/each {
		return time.Time{}, nil
	}
	return worker.Later(tx.Now(), p.At).Add(left * each), nil
}

// quietLength is how much of a day is quiet.
func quietLength(q store.QuietHours) time.Duration {
	if q.IsZero() {
		return 0
	}
	from, to := clockTime(q.From), clockTime(q.To)
	if to <= from {
		to += 24 * time.Hour
	}
	return to - from
}

// clockTime is a time of the day as the time since midnight; a time that cannot be read is midnight.
func clockTime(text string) time.Duration {
	t, err := time.Parse("15:04", text)
	if err != nil {
		return 0
	}
	return time.Duration(t.Hour())*time.Hour + time.Duration(t.Minute())*time.Minute
}

// quietEnd returns when the quiet hours end that a local time is in, or false if it is in none. In a zone
// whose clock is changed the hours are those that the clock shows.
func quietEnd(q store.QuietHours, local time.Time) (time.Time, bool) {
	if q.IsZero() {
		return time.Time{}, false
	}
	at := time.Duration(local.Hour())*time.Hour + time.Duration(local.Minute())*time.Minute
	from, to := clockTime(q.From), clockTime(q.To)
	day := local.Day()
	switch {
	case from < to && (at < from || at >= to), from > to && at < from && at >= to:
		return time.Time{}, false
	case from > to && at >= from: // it ends tomorrow
		day++
	}
	end := time.Date(local.Year(), local.Month(), day, int(to/time.Hour), int(to/time.Minute%60), 0, 0, local.Location())
	if !end.After(local) { // the clock was set back just now
		end = local.Add(time.Minute)
	}
	return end.UTC(), true
}
