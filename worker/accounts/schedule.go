package accounts

import (
	"errors"
	"slices"
	"time"

	"belfry/scheduler"
	"belfry/store"
)

// The settings of the check.
const (
	settingInterval = "accounts.interval"
	settingQuiet    = "accounts.quiet"
)

const (
	minInterval = time.Minute
	maxInterval = 7 * 24 * time.Hour
)

// Interval is the time between two checks.
func (w *Worker) Interval(tx *store.Tx) (time.Duration, error) {
	job, err := tx.Jobs.ByName(JobName)
	if err == nil && job.Trigger.Every > 0 {
		return job.Trigger.Every, nil
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return 0, err
	}
	if every, err := time.ParseDuration(setting(tx, settingInterval)); err == nil && every >= minInterval {
		return every, nil
	}
	return defaultInterval, nil
}

// SetInterval sets the time between two checks. It holds from this moment. A check that is under way
// goes on.
func (w *Worker) SetInterval(tx *store.Tx, every time.Duration) (store.Job, error) {
	if every < minInterval || every > maxInterval {
		return store.Job{}, store.Invalid("interval", "invalid.interval")
	}
	if err := tx.Settings.Set(settingInterval, every.String()); err != nil {
		return store.Job{}, err
	}
	before, err := w.put(tx)
	if err != nil {
		return before, err
	}
	job, err := scheduler.Reschedule(tx, JobName, store.Trigger{Every: every})
	if err != nil {
		return job, err
	}
	if len(slices.Collect(tx.AccountChecks.Running())) == 0 || job.State != store.JobWaiting || !before.Due.Before(job.Due) {
		return job, err
	}
	job.Due, job.Occurrence, job.Reason = before.Due, before.Occurrence, before.Reason // its next step
	return job, tx.Jobs.Put(&job)
}

// Quiet reports whether the admins are told only what has changed.
func (w *Worker) Quiet(tx *store.Tx) bool { return setting(tx, settingQuiet) != "" }

// SetQuiet has the admins told only what has changed, or everything.
func (w *Worker) SetQuiet(tx *store.Tx, quiet bool) error {
	if quiet {
		return tx.Settings.Set(settingQuiet, "yes")
	}
	return tx.Settings.Set(settingQuiet, "")
}

// CheckNow has the accounts checked at once, also on sites that are being left alone or rest. The error is a
// [*store.ConflictError] if a check is under way, or if there is nobody to look at; then nothing is written.
func (w *Worker) CheckNow(tx *store.Tx) (store.Job, error) {
	job, err := tx.Jobs.ByName(JobName)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return job, err
	}
	if err := w.mayBegin(tx, job); err != nil {
		return job, err
	}
	if _, err := w.put(tx); err != nil {
		return job, err
	}
	for site := range tx.AccountSites.All() {
		if site.Until.IsZero() && site.Well.IsZero() {
			continue
		}
		site.Since, site.Until, site.Well = time.Time{}, time.Time{}, time.Time{}
		if err := tx.AccountSites.Put(&site); err != nil {
			return job, err
		}
	}
	return scheduler.RunNow(tx, JobName)
}

// mayBegin says why no check can begin now, if so. job is the one that checks; its ID is 0 if there is none.
func (w *Worker) mayBegin(tx *store.Tx, job store.Job) error {
	switch {
	case tx.Accounts.AnyWatched():
	case hasAny(tx):
		return store.Conflict("conflict.all_found")
	default:
		return store.Conflict("conflict.no_accounts")
	}
	checks := slices.Collect(tx.AccountChecks.Running())
	if len(checks) > 0 && (job.State == store.JobWaiting || job.State == store.JobRunning) {
		return store.Conflict("conflict.check_running", checks[0].Checked, checks[0].Total)
	}
	if job.State == store.JobRunning { // it is about to begin one, or to find that there is nothing to do
		return store.Conflict("conflict.check_beginning")
	}
	return nil
}

// Status is how the check stands.
type Status struct {
	Interval time.Duration
	Quiet    bool
	Job      store.Job
	Running  *store.AccountCheck // the check under way, if there is one; the first of several
	Last     *store.AccountCheck // the last that has ended, if there is one
	Counts   map[store.AccountState]int
	Alone    []store.AccountSite // sites that are left alone for a while
	Waiting  int                 // notices that wait to be sent
}

// maxCount is how far the status counts.
const maxCount = 1_000_000

// Status returns how the check stands.
func (w *Worker) Status(tx *store.Tx) (s Status, err error) {
	if s.Interval, err = w.Interval(tx); err != nil {
		return s, err
	}
	s.Quiet = w.Quiet(tx)
	if s.Job, err = tx.Jobs.ByName(JobName); err != nil && !errors.Is(err, store.ErrNotFound) {
		return s, err
	}
	readChecks(tx, &s)
	s.Counts = make(map[store.AccountState]int)
	for _, state := range store.AccountStates() {
		s.Counts[state] = tx.Accounts.Count(state, maxCount)
	}
	for site := range tx.AccountSites.All() {
		if site.LeftAlone(tx.Now()) {
			s.Alone = append(s.Alone, site)
		}
	}
	s.Waiting = tx.Notices.Waiting(maxCount)
	return s, nil
}

// readChecks reads the check that is under way and the last before it: the last to have begun, whatever
// the clock said then.
func readChecks(tx *store.Tx, s *Status) {
	for check := range tx.AccountChecks.Running() {
		s.Running = &check
		break
	}
	for check := range tx.AccountChecks.Newest(0) {
		if check.Status != store.AccountCheckRunning {
			s.Last = &check
			break
		}
	}
}
