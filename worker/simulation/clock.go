package simulation

import (
	"slices"
	"sync"
	"time"
)

// clock is the wall clock: the bubble's time, and what was added to it.
type clock struct {
	mu    sync.Mutex
	steps []clockStep
}

// clockStep is a moment from which on the clock is ahead by some time, or behind.
type clockStep struct {
	at    time.Time // in the bubble's time
	ahead time.Duration
}

// start sets the clock for the start of a history: each seed begins in another fortnight of the year 2000, so
// that short histories meet the leap day and the days on which zones change their clocks.
func (c *clock) start(at time.Time, seed uint64) {
	c.steps = []clockStep{{at, time.Duration(seed%24) * 15 * 24 * time.Hour}}
}

// Now is what the clock shows. It may be called from any goroutine.
func (w *World) Now() time.Time {
	w.clock.mu.Lock()
	defer w.clock.mu.Unlock()
	return time.Now().Round(0).Add(w.clock.steps[len(w.clock.steps)-1].ahead)
}

// Ahead is how far the clock is ahead of the time that has passed since the start.
func (w *World) Ahead() time.Duration {
	return (time.Until(w.Now()) - w.clock.steps[0].ahead).Round(time.Millisecond)
}

// SetClock adds to what the clock shows.
func (w *World) SetClock(step time.Duration) {
	w.Disturb("clock")
	w.clock.mu.Lock()
	last := w.clock.steps[len(w.clock.steps)-1]
	w.clock.steps = append(w.clock.steps, clockStep{time.Now(), last.ahead + step})
	w.clock.mu.Unlock()
	w.Note("the clock is set by %v", step)
}

// Latest is the latest time that the clock has shown since a moment, in the bubble's time. It may be called
// from any goroutine.
func (w *World) Latest(since time.Time) (latest time.Time) {
	w.clock.mu.Lock()
	defer w.clock.mu.Unlock()
	for i, s := range w.clock.steps {
		until := time.Now()
		if i+1 < len(w.clock.steps) {
			until = w.clock.steps[i+1].at
		}
		if until.Before(since) {
			continue
		}
		if shown := until.Round(0).Add(s.ahead); shown.After(latest) {
			latest = shown
		}
	}
	return latest
}

// Disturb notes that something was not as it should be at this moment, such as "process", "disk", "clock" or
// "network". It may be called from any goroutine.
func (w *World) Disturb(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if now := time.Now(); now.After(w.calm[what]) {
		w.calm[what] = now
	}
}

// plausible is a time that the clock has passed: while it shows an earlier one, the scheduler starts nothing.
func (w *World) plausible() time.Time { return w.start.Add(-24 * time.Hour) }

// Calm reports whether all has been well for some time: the process ran, the disk worked, the clock was not
// set and shows no impossible time, and no network was told to do harm. It may be called from any goroutine.
func (w *World) Calm(d time.Duration, what ...string) bool {
	if slices.Contains(what, "clock") && w.Now().Before(w.plausible()) {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, name := range what {
		if time.Since(w.calm[name]) < d {
			return false
		}
		for _, s := range w.spells {
			if s.Of == name && time.Since(s.To) < d {
				return false
			}
		}
	}
	return true
}
