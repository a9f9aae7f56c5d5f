package scheduler

import (
	"errors"
	"fmt"
	"time"
)

// passOverFor is how long a job is not looked at again that can neither be read nor set aside.
const passOverFor = time.Minute

// jobError says which job made a transaction fail.
type jobError struct {
	id  uint64
	at  int // how many jobs the transaction had dealt with before
	err error
}

func (e *jobError) Error() string { return fmt.Sprintf("job %d: %v", e.id, e.err) }
func (e *jobError) Unwrap() error { return e.err }

// isolate runs a transaction that deals with many jobs, and runs it again if one of them cannot be
// dealt with, so that this job does not hold up the others: first with those before it alone; then
// with the job itself refused, for which it is set aside, or its run counts as failed where that could not begin;
// and if not even that is possible, it is passed over.
func (s *Scheduler) isolate(attempt func(limit int, refused map[uint64]error) error) error {
	limit, refused := maxClaims, make(map[uint64]error)
	for {
		err := attempt(limit, refused)
		bad, ok := errors.AsType[*jobError](err)
		switch {
		case !ok:
			return err
		case bad.at > 0:
			limit = bad.at
		case refused[bad.id] == nil:
			s.cfg.Log.Error().Err(err).Msg("a job cannot be dealt with")
			refused[bad.id] = bad.err
		default:
			s.passOver(bad.id, bad.err)
		}
	}
}

// passOver keeps a job from being looked at for a while. What is wrong with it is logged once.
func (s *Scheduler) passOver(id uint64, why error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.passed[id]; !known {
		s.cfg.Log.Error().Err(why).Uint64("row", id).Msg("a damaged job is passed over; run belfry check")
	}
	s.passed[id] = time.Now().Add(passOverFor)
}

// passedFor is how long a job is not looked at yet.
func (s *Scheduler) passedFor(id uint64) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.passed) == 0 {
		return 0
	}
	return max(0, time.Until(s.passed[id]))
}
