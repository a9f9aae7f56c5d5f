package alerts

import (
	"errors"

	"belfry/store"
)

// settle ends an alert that is over, and reports whether what it was about has come right. About a record
// that is damaged nothing is known, and the alert stays as it is.
func (w *Worker) settle(tx *store.Tx, a *store.Alert, s sight) (well bool, err error) {
	over, well, err := w.ended(tx, *a, s)
	if store.IsCorrupt(err) {
		return false, nil
	}
	if err != nil || !over {
		return false, err
	}
	now, calm, lasts := tx.Now(), w.cfg.Calm, a.Kind.Lasts()
	if a.Flaps {
		calm = store.FlapTime
	}
	switch {
	case lasts && (a.GoneAt.IsZero() || a.GoneAt.After(now)): // or the clock was set back
		a.GoneAt = now
		return false, nil
	case lasts && now.Sub(a.GoneAt) < calm:
		return false, nil
	}
	a.OverAt = now
	return well, nil
}

// ended reports whether what an alert is about has ended, and whether it has come right. What was removed,
// or stopped by somebody, has ended and no more.
func (w *Worker) ended(tx *store.Tx, a store.Alert, s sight) (over, well bool, err error) {
	switch a.Kind {
	case store.AlertPostFailed, store.AlertPostUnknown:
		if a.Subject == 0 { // it is about many
			return false, false, nil
		}
		post, err := tx.Posts.Get(a.Subject)
		if err != nil {
			return gone(err)
		}
		over = post.Status.Final() && post.Status != store.PostFailed && post.Status != store.PostUnknown
		return over, post.Status == store.PostPublished, nil
	case store.AlertTaskFailed:
		task, err := tx.Tasks.Get(a.Subject)
		if err != nil {
			return gone(err)
		}
		well = task.Status == store.TaskDone
		return well || task.Status == store.TaskCancelled, well, nil
	case store.AlertRulePaused:
		rule, err := tx.Rules.Get(a.Subject)
		if err != nil {
			return gone(err)
		}
		return !rule.Stopped, rule.FailedInRow == 0, nil
	case store.AlertJobFailing:
		job, err := tx.Jobs.ByName(a.About)
		if err != nil {
			return gone(err)
		}
		runs := job.State == store.JobWaiting || job.State == store.JobRunning
		return true, runs && !job.Paused && !job.Removed && job.Failures == 0 && !job.Trigger.Once(), nil
	case store.AlertLogin, store.AlertToken:
		login, err := tx.Identities.Get(a.Subject)
		if err != nil {
			return gone(err)
		}
		return true, login.State == store.IdentityReady, nil
	case store.AlertChannel:
		channel, err := tx.Channels.Get(a.Subject)
		if err != nil {
			return gone(err)
		}
		return true, channel.Active && !channel.Removed, nil
	case store.AlertOverdue:
		return true, !waits(tx), nil
	case store.AlertCopy, store.AlertBooking, store.AlertWatch:
		return false, false, nil
	case store.AlertDamage: // or the program was started again, and nobody has met it yet
		return true, false, nil
	case store.AlertDisk:
		return true, s.disk != nil, nil
	case store.AlertUnreached:
		n, err := tx.Notices.Get(a.Subject)
		if err != nil {
			return gone(err)
		}
		return true, !n.ReachedAt.IsZero(), nil
	}
	return true, true, nil
}

// gone reports that a record that is not there any more has ended.
func gone(err error) (over, well bool, _ error) {
	if errors.Is(err, store.ErrNotFound) {
		return true, false, nil
	}
	return false, false, err
}

// waits reports whether anything has been due for long, also if that is as it should be because somebody
// has paused everything, or a network asked to be left alone.
func waits(tx *store.Tx) bool {
	for _, due := range tx.Jobs.Lanes() {
		if tx.Now().Sub(due) >= overdue {
			return true
		}
	}
	return false
}
