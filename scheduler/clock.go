package scheduler

import (
	"sync"
	"time"
)

const (
	// stepTolerance is the difference between wall clock and elapsed time that is not worth a word:
	// what a time service corrects now and then.
	stepTolerance = 2 * time.Second
	// bigStep is a step forward after which nothing is started for a while: if the clock is wrong,
	// it may be corrected before the posts of the coming years go out. A step back by more takes
	// with it what was planned by the clock that was wrong.
	bigStep = 25 * time.Hour
	// longAbsence is how much later than at its end a program may start without any doubt about the
	// clock.
	longAbsence = 366 * 24 * time.Hour
	// settleTime is how long a doubtful clock has to be corrected before it is believed.
	settleTime = 5 * time.Minute
)

// clock compares the wall clock with elapsed time, and at the start with the last moment that the
// file has seen. The rule where they disagree: nothing is started for [settleTime], in which a time
// service can correct the clock; after that the clock is believed, forward and back. Only a clock
// that shows an impossible time is never believed.
type clock struct {
	now       func() time.Time
	plausible time.Time

	mu          sync.Mutex
	lastWall    time.Time
	lastElapsed time.Time // carries the monotonic reading
	settleUntil time.Time // likewise
	behind      time.Time // the last moment that the file has seen, as long as the clock shows an earlier one
	lastStep    time.Duration
	steppedAt   time.Time
}

func newClock(now func() time.Time, plausible time.Time) *clock {
	return &clock{now: now, plausible: plausible, lastWall: now().Round(0), lastElapsed: time.Now()}
}

// begin compares the clock with the last moment that the file has seen, if it has seen any.
func (c *clock) begin(seen time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall := c.now().Round(0)
	ahead := wall.Sub(seen)
	if seen.IsZero() || (ahead > -stepTolerance && ahead < longAbsence) {
		return
	}
	c.settleUntil = time.Now().Add(settleTime)
	c.lastStep, c.steppedAt = ahead, wall
	if ahead < 0 {
		c.behind = seen
	}
}

// step returns by how much the wall clock has been set since the last call: 0 if it has not. A
// clock that was behind at the start, and that nobody has corrected in time, counts as set back
// then.
func (c *clock) step() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall, elapsed := c.now().Round(0), time.Now()
	step := c.diff(wall, elapsed)
	floor := c.plausible
	if c.behind.After(floor) {
		floor = c.behind
	}
	corrected := c.lastWall.Before(floor) // by a step forward, if it is one
	c.lastWall, c.lastElapsed = wall, elapsed
	if step != 0 {
		c.lastStep, c.steppedAt = step, c.lastWall
	}
	if !c.behind.IsZero() {
		return c.catchUp()
	}
	switch {
	case step > bigStep && !corrected:
		c.settleUntil = c.lastElapsed.Add(settleTime)
	case step < 0:
		c.settleUntil = time.Time{}
	}
	return step
}

// catchUp looks whether a clock that was behind at the start has been corrected, or is to be
// believed. What waits in the file was planned by the clock of before.
func (c *clock) catchUp() (step time.Duration) {
	if c.lastWall.Before(c.behind) {
		if c.lastElapsed.Before(c.settleUntil) || c.lastWall.Before(c.plausible) {
			return 0
		}
		step = c.lastWall.Sub(c.behind)
	}
	c.behind, c.settleUntil = time.Time{}, time.Time{}
	return step
}

// diff returns by how much the wall clock was set since it was last looked at. The caller holds mu.
func (c *clock) diff(wall, elapsed time.Time) time.Duration {
	step := wall.Sub(c.lastWall) - elapsed.Sub(c.lastElapsed)
	if step.Abs() < stepTolerance {
		return 0
	}
	return step
}

// settling is how long nothing should be started because the clock is not to be trusted.
func (c *clock) settling() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unsettled(c.now(), time.Now())
}

// unsettled is settling as of a moment. The caller holds mu.
func (c *clock) unsettled(wall, elapsed time.Time) time.Duration {
	wait := c.plausible.Sub(wall)
	if !c.settleUntil.IsZero() {
		wait = max(wait, c.settleUntil.Sub(elapsed))
	}
	return max(0, wait)
}

// steady reports whether the clock can be trusted at this moment, which includes that nobody has
// set it since it was last looked at.
func (c *clock) steady() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall, elapsed := c.now().Round(0), time.Now()
	return c.unsettled(wall, elapsed) == 0 && c.behind.IsZero() && c.diff(wall, elapsed) == 0
}

// watchClock notices a step of the wall clock. Jobs whose times it has passed are due, which their
// lateness deals with; whatever waits for elapsed time is moved along.
func (s *Scheduler) watchClock() {
	step := s.clock.step()
	if step == 0 {
		return
	}
	s.cfg.Log.Warn().Dur("step", step).Dur("holding_back", s.clock.settling()).Msg("the wall clock was set")
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unmoved += step
	s.moving = s.moving || s.unmoved.Abs() >= stepTolerance
}
