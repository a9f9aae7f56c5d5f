package scheduler

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"belfry/store"
)

// maxVain bounds how many jobs that were tried in vain are looked at.
const maxVain = 1000

// Status is what a scheduler is doing.
type Status struct {
	Started   time.Time     // zero if it does not run
	Running   []Running     // the runs under way, the oldest first
	Problem   string        // why the store cannot be used; empty if it can
	Paused    string        // why nothing at all is started, such as that the file was restored; empty if it is
	Settling  time.Duration // how long nothing will be started, because the clock is not to be trusted
	Step      time.Duration // by how much the wall clock was set last; 0 if it was not
	SteppedAt time.Time
	Ends      map[string]Ends // by kind: how the last runs ended
}

// Running is a run under way.
type Running struct {
	Job   string    `json:"job"`
	Kind  string    `json:"kind"`
	Lane  string    `json:"lane"`
	Since time.Time `json:"since"`
}

// Status returns what the scheduler is doing now.
func (s *Scheduler) Status() Status {
	settling := s.clock.settling()
	s.clock.mu.Lock()
	step, at := s.clock.lastStep, s.clock.steppedAt
	s.clock.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	status := Status{Started: s.started, Settling: settling, Step: step, SteppedAt: at, Paused: s.paused, Ends: maps.Clone(s.ends)}
	if s.problem != nil {
		status.Problem = s.problem.Error()
	}
	for _, r := range s.active {
		status.Running = append(status.Running,
			Running{Job: r.job.Name, Kind: r.job.Kind, Lane: r.job.Lane, Since: r.job.Started})
	}
	slices.SortFunc(status.Running, func(a, b Running) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Job, b.Job))
	})
	return status
}

// Knows reports whether there is a worker for jobs of this kind.
func (s *Scheduler) Knows(kind string) bool {
	_, known := s.cfg.Kinds[kind]
	return known
}

// Kinds returns the kinds of job for which there is a worker. They must not be changed.
func (s *Scheduler) Kinds() Kinds { return s.cfg.Kinds }

// Overdue returns the job that has been due for longest without having been started, and since
// when it could have been; false if none is due. One that was started and has found no connection since is
// due as if it had not been. Jobs whose lane is held are not due before the hold ends, and none is while
// the file is paused.
func Overdue(tx *store.Tx) (job store.Job, since time.Time, found bool, err error) {
	if paused, err := tx.Settings.Value(settingPaused); err != nil || paused != "" {
		return job, since, false, err
	}
	looked := 0
	for vain := range tx.Jobs.Failing() {
		tried := vain.State == store.JobRunning || vain.State == store.JobWaiting && !vain.Due.Equal(vain.Occurrence)
		if tried && vain.LastReason.Code == store.ReasonNotConnected && (!found || vain.VainSince.Before(since)) {
			job, since, found = vain, vain.VainSince, true
		}
		if looked++; looked == maxVain {
			break
		}
	}
	now := tx.Now()
	for lane, due := range tx.Jobs.Lanes() {
		if due.After(now) || (found && !due.Before(since)) {
			continue
		}
		held, _ := tx.Holds.Until(lane)
		for head := range tx.Jobs.Due(lane, now) {
			could := head.Due
			if held.After(could) {
				could = held
			}
			if !could.After(now) && (!found || could.Before(since)) {
				job, since, found = head, could, true
			}
			break
		}
	}
	return job, since, found, nil
}
