package scheduler

import (
	"slices"
	"time"

	"belfry/store"
)

const (
	// pastRuns is how many runs of the history a start looks at, and headJobs how many jobs of each lane are looked at
	// for how long they have waited.
	pastRuns = 1000
	headJobs = 100
)

// Ends says how the last runs of a kind ended. What is zero has not happened, as far as the history of the last
// runs shows.
type Ends struct {
	Success time.Time    // the end of the last run that led to something
	Failure time.Time    // the end of the last one that failed, or is to be tried again
	Reason  store.Reason // of that one
}

// observe tells of a run, as it is then, when the transaction is on the disk.
func (s *Scheduler) observe(tx *store.Tx, past *store.Run, due time.Time) {
	tx.After(func() {
		s.noteEnd(past)
		if s.cfg.Observe != nil {
			s.cfg.Observe(*past, due)
		}
	})
}

// noteEnd keeps how a run ended, unless that says nothing about its kind.
func (s *Scheduler) noteEnd(past *store.Run) {
	if past.Result == store.ResultInterrupted || past.Result == store.ResultSkipped {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ends := s.ends[past.Kind]
	if inVain(past) {
		ends.Failure, ends.Reason = past.Ended, past.Reason
	} else {
		ends.Success = past.Ended
	}
	s.ends[past.Kind] = ends
}

// readEnds learns from the history how the last runs ended.
func (s *Scheduler) readEnds() error {
	var last []store.Run
	err := s.db.View(func(tx *store.Tx) error {
		for past := range tx.Runs.Newest(0) {
			if last = append(last, past); len(last) == pastRuns {
				break
			}
		}
		return nil
	})
	for _, past := range slices.Backward(last) {
		s.noteEnd(&past)
	}
	return err
}

// Lags returns for how long the first jobs of each kind have waited although they could run; a kind of which none is
// due is not in it. It looks at the first hundred jobs of each lane that are due.
func Lags(tx *store.Tx) (map[string]time.Duration, error) {
	lags := make(map[string]time.Duration)
	if paused, err := tx.Settings.Value(settingPaused); err != nil || paused != "" {
		return lags, err
	}
	now := tx.Now()
	for lane, first := range tx.Jobs.Lanes() {
		held, _ := tx.Holds.Until(lane)
		if first.After(now) || held.After(now) {
			continue
		}
		looked := 0
		for job := range tx.Jobs.Due(lane, now) {
			since := job.Due
			if held.After(since) {
				since = held
			}
			lags[job.Kind] = max(lags[job.Kind], now.Sub(since))
			if looked++; looked == headJobs {
				break
			}
		}
	}
	return lags, nil
}
