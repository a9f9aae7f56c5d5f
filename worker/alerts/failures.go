package alerts

import (
	"math"
	"time"

	"belfry/store"
)

const (
	// settingSeen is the time of the last look: what had failed until then was looked at.
	settingSeen = "alerts.seen"
	// maxFailures is how many failures of one look become alerts of their own; the others are one.
	maxFailures = 100
	// remembered is how many of the latest alerts say, besides those that stand, what was told before.
	remembered = 1000
)

// failures are the posts and tasks that have failed since the last look.
//
// They are found by the time at which they were changed, and the clock may have been set back since. So a
// look goes back at least as far as time has elapsed. Where the last look lies ahead, whatever lies ahead of
// it is new as well. What a look finds twice that way is known by the alert that tells of it; only those that
// have none of their own may be counted once more.
func (w *Worker) failures(tx *store.Tx, s sight, standing []store.Alert) ([]store.Alert, error) {
	now := tx.Now()
	seen := w.lastLook(tx)
	from := seen
	if elapsed := now.Add(-w.elapsed(seen)); elapsed.Before(from) {
		from = elapsed
	}
	if err := w.setLastLook(tx, now); err != nil || seen.IsZero() {
		return nil, err
	}
	f := failed{tx: tx, standing: standing}
	f.between(from, now)
	if seen.After(now) {
		f.between(seen, seen.Add(math.MaxInt64)) // without end
	}
	if s.badCopy != nil && !s.copied.Before(from) {
		why := store.Reason{Code: store.ReasonError, Detail: s.badCopy.Error()}
		f.take(store.Alert{Kind: store.AlertCopy, About: "copy", Reason: why, ChangedAt: s.copied})
	}
	if f.more > 0 {
		f.all = append(f.all, store.Alert{Kind: store.AlertPostFailed, About: "more", Count: int64(f.more)})
	}
	return f.all, nil
}

// lookedAt is when a look was taken.
type lookedAt struct {
	clock   time.Time // without the monotonic reading, as the file has it
	elapsed time.Time // carries the monotonic reading
}

// elapsed is how much time has passed since the last look; if it was another process's, since the start of
// this one.
func (w *Worker) elapsed(seen time.Time) time.Duration {
	if seen.Equal(w.last.clock) { // the file has it
		w.kept = w.last
	}
	if seen.Equal(w.kept.clock) {
		return time.Since(w.kept.elapsed)
	}
	return time.Since(w.started)
}

// lastLook returns the time of the last look; zero if there was none. If the file cannot say it, the worker
// goes by its own.
func (w *Worker) lastLook(tx *store.Tx) time.Time {
	seen, err := readSeen(tx)
	if err != nil {
		w.cfg.Log.Error().Err(err).Msg("the time of the last look for failures cannot be read; run belfry check")
		return w.last.clock
	}
	return seen
}

// readSeen reads the time of the last look; zero if there was none.
func readSeen(tx *store.Tx) (time.Time, error) {
	text, err := tx.Settings.Value(settingSeen)
	if err != nil || text == "" {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339Nano, text)
}

func (w *Worker) setLastLook(tx *store.Tx, now time.Time) error {
	w.last = lookedAt{now.Round(0), time.Now()}
	return tx.Settings.Set(settingSeen, now.Format(time.RFC3339Nano))
}

// failed gathers failures.
type failed struct {
	tx       *store.Tx
	standing []store.Alert
	told     map[failure]bool // nil as long as it is not needed
	all      []store.Alert
	more     int // those that get no alert of their own
}

// failure is what one failure is known by.
type failure struct {
	kind    store.AlertKind
	about   string
	changed int64
}

func failureOf(a store.Alert) failure { return failure{a.Kind, a.About, a.ChangedAt.UnixNano()} }

// between gathers what failed from from, included, to to, excluded, and was not told.
func (f *failed) between(from, to time.Time) {
	for p := range f.tx.Posts.Trouble(from, to) {
		f.take(aboutPost(p))
	}
	for t := range f.tx.Tasks.Trouble(from, to) {
		f.take(aboutTask(t))
	}
}

func (f *failed) take(a store.Alert) {
	if f.told == nil {
		f.remember()
	}
	switch {
	case f.told[failureOf(a)]:
	case len(f.all) == maxFailures:
		f.more++
	default:
		f.all = append(f.all, a)
	}
}

// remember reads which failures were told before.
func (f *failed) remember() {
	f.told = make(map[failure]bool)
	for _, a := range f.standing {
		f.told[failureOf(a)] = true
	}
	n := 0
	for a := range f.tx.Alerts.Newest(0) {
		if n++; n > remembered {
			break
		}
		f.told[failureOf(a)] = true
	}
}

func aboutPost(p store.Post) store.Alert {
	a := store.Alert{Kind: store.AlertPostFailed, About: p.JobName(), Subject: p.ID, Name: p.Target, Reason: p.Reason, ChangedAt: p.UpdatedAt}
	if p.Status == store.PostUnknown {
		a.Kind = store.AlertPostUnknown
	}
	return a
}

func aboutTask(t store.Task) store.Alert {
	return store.Alert{Kind: store.AlertTaskFailed, About: t.JobName(), Subject: t.ID, Reason: t.LastError, Count: int64(t.Sent), Limit: int64(t.Total),
		ChangedAt: t.UpdatedAt}
}
