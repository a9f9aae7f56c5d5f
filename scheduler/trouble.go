package scheduler

import (
	"fmt"
	"time"

	"belfry/store"
)

const (
	// seenAfterClaim and seenAnyway are how often the file is told what time it is: with a claim,
	// which costs nothing, and without.
	seenAfterClaim = time.Minute
	seenAnyway     = time.Hour
)

// noteOutcome says whether the store has taken a change. After a failure nothing is claimed for a
// while, and the claim may have been committed although the commit reported an error. It logs when
// the store begins to fail and when it is back, not each time between.
func (s *Scheduler) noteOutcome(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.problem
	s.problem = err
	switch {
	case err != nil:
		s.doubt = true
		if !time.Now().Before(s.retryAt) { // one pause at a time: no other failure makes it longer
			s.retryAt = time.Now().Add(storeRetry)
		}
		if before == nil {
			s.cfg.Log.Error().Err(err).Msg("the store failed; jobs wait until it is back")
		}
	case before != nil:
		s.retryAt = time.Time{}
		s.cfg.Log.Info().Msg("the store is back")
	}
}

// failing is how long the store is left alone after it has failed.
func (s *Scheduler) failing() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.retryAt.IsZero() {
		return 0
	}
	return max(0, time.Until(s.retryAt))
}

func (s *Scheduler) isMoving() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moving
}

// readPause reports whether the file says that nothing is to be started.
func (s *Scheduler) readPause(tx *store.Tx) (bool, error) {
	why, err := tx.Settings.Value(settingPaused)
	if err != nil {
		return false, fmt.Errorf("read whether the file is paused: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if why != s.paused {
		s.cfg.Log.Info().Str("why", why).Bool("paused", why != "").Msg("pause of all jobs")
	}
	s.paused = why
	return why != "", nil
}

// mustNote reports whether the file is to be told the time although nothing is claimed: it was not for a
// while, or it is a way to find out whether the store is back.
func (s *Scheduler) mustNote() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	since := s.cfg.Now().Sub(s.seen)
	return s.problem != nil || since < 0 || since >= seenAnyway
}

// noteSeen writes the time into the file with a claim, if that was not done for a while, or if it must.
func (s *Scheduler) noteSeen(tx *store.Tx, c *claims) error {
	now := tx.Now()
	s.mu.Lock()
	since := now.Sub(s.seen)
	s.mu.Unlock()
	if !s.mustNote() && (len(c.runs) == 0 || since < seenAfterClaim) {
		return nil
	}
	if err := tx.Settings.Set(settingSeen, now.Format(time.RFC3339Nano)); err != nil {
		return fmt.Errorf("note the time: %w", err)
	}
	c.seen = now
	return nil
}

// readSetting reads a setting of the schedule's own. A damaged one counts as empty, and is replaced when it is written.
func (s *Scheduler) readSetting(tx *store.Tx, name string) (string, error) {
	text, err := tx.Settings.Value(name)
	if store.IsCorrupt(err) {
		s.cfg.Log.Error().Str("setting", name).Err(err).Msg("what the schedule has noted is damaged, and is noted anew")
		return "", nil
	}
	return text, err
}

// readState reads what the run of the program before has left: the last moment that it saw, and a
// move that was not complete.
func (s *Scheduler) readState() error {
	return s.db.View(func(tx *store.Tx) error {
		if _, err := s.readPause(tx); err != nil {
			return err
		}
		text, err := s.readSetting(tx, settingSeen)
		if err != nil {
			return err
		}
		seen, err := time.Parse(time.RFC3339Nano, text)
		if text != "" && err != nil {
			s.cfg.Log.Error().Err(err).Msg("the last moment that the file has seen cannot be read")
		}
		m, err := s.readMove(tx)
		if err != nil {
			return err
		}
		s.clock.begin(seen)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen, s.moving, s.unmoved = seen, m.Next != 0, m.Step
		return nil
	})
}
