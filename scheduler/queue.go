package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reugn/go-quartz/quartz"

	"belfry/store"
)

const (
	// tick is how long the loop sleeps at most, so that it notices a step of the clock.
	tick = 5 * time.Second
	// storeRetry is the pause after the store has failed.
	storeRetry = time.Second
	// maxInVain is how often something may seem due in a row of which nothing can be claimed, and
	// vainPause what follows. It should never happen; if it does, the loop must not spin.
	maxInVain = 8
	vainPause = 200 * time.Millisecond
)

// queue is the schedule as go-quartz's loop sees it. The loop spins if Head or Pop return errors,
// or if Size and Head disagree, so they never do: there is always a head, at the latest at the
// next tick, and popping it claims whatever is due.
type queue struct{ s *Scheduler }

var _ quartz.JobQueue = queue{}

// Size is always 1: the head.
func (q queue) Size() (int, error) { return 1, nil }

// Head returns when the loop has to claim again.
func (q queue) Head() (quartz.ScheduledJob, error) {
	return batch{at: time.Now().Add(q.s.untilNext())}, nil
}

// Pop claims the jobs that are due and returns them as one.
func (q queue) Pop() (quartz.ScheduledJob, error) {
	return batch{at: time.Now(), s: q.s, runs: q.s.claimDue()}, nil
}

// Push is called by the loop only for what Pop returned before it was due, which never happens.
func (q queue) Push(quartz.ScheduledJob) error { return nil }

// The rest is for calls that this package does not make: jobs are put, read and removed in the
// caller's transaction.
var errStoreOnly = errors.New("jobs are managed in the store")

func (q queue) Get(*quartz.JobKey) (quartz.ScheduledJob, error)    { return nil, errStoreOnly }
func (q queue) Remove(*quartz.JobKey) (quartz.ScheduledJob, error) { return nil, errStoreOnly }
func (q queue) Clear() error                                       { return errStoreOnly }
func (q queue) ScheduledJobs([]quartz.Matcher[quartz.ScheduledJob]) ([]quartz.ScheduledJob, error) {
	return nil, errStoreOnly
}

// batch is the claimed jobs as one go-quartz job. Executing it hands them to their own goroutines
// and returns at once, so that the loop never waits for a run.
type batch struct {
	at   time.Time
	s    *Scheduler
	runs []*run
}

func (b batch) JobDetail() *quartz.JobDetail {
	return quartz.NewJobDetail(b, quartz.NewJobKey("batch"))
}
func (b batch) Trigger() quartz.Trigger { return b }
func (b batch) NextRunTime() int64      { return b.at.UnixNano() }
func (b batch) Description() string     { return fmt.Sprintf("%d jobs", len(b.runs)) }

// NextFireTime ends the batch for the loop: what comes next is in the store.
func (b batch) NextFireTime(int64) (int64, error) { return 0, quartz.ErrTriggerExpired }

// Execute starts the runs.
func (b batch) Execute(context.Context) error {
	for _, r := range b.runs {
		b.s.start(r)
	}
	return nil
}

// untilNext is how long it is until a job may be claimed.
func (s *Scheduler) untilNext() time.Duration {
	s.watchClock()
	now := s.cfg.Now()
	s.mu.Lock()
	s.idle = false
	s.mu.Unlock()
	if wait := max(s.clock.settling(), s.failing()); wait > 0 {
		return min(wait, tick)
	}
	if s.isMoving() {
		return 0
	}
	next := now.Add(tick)
	err := s.db.View(func(tx *store.Tx) error {
		paused, err := s.readPause(tx)
		if err != nil {
			return err
		}
		for lane, due := range tx.Jobs.Lanes() {
			if !due.Before(next) || s.free(lane) == 0 || (paused && !s.cfg.EvenPaused(lane)) {
				continue
			}
			hold, err := tx.Holds.ByLane(lane)
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			due = s.firstGood(tx, lane, due)
			if hold.Until.After(due) {
				due = hold.Until
			}
			if due.Before(next) {
				next = due
			}
		}
		return s.watchLeases(tx)
	})
	if err != nil {
		s.noteOutcome(err)
		return storeRetry
	}
	wait := next.Sub(now)
	if s.inDoubt() {
		wait = 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = wait >= tick && s.problem == nil && now.Sub(s.seen) < seenAnyway
	if wait > 0 {
		s.inVain = 0
	} else if s.inVain > maxInVain {
		return vainPause
	}
	return wait
}

// firstGood is when the first job of a lane is due that is not passed over.
func (s *Scheduler) firstGood(tx *store.Tx, lane string, head time.Time) time.Time {
	s.mu.Lock()
	none := len(s.passed) == 0
	s.mu.Unlock()
	if none {
		return head
	}
	for id, due := range tx.Jobs.Queue(lane) {
		if !s.passedOver(id) {
			return due
		}
	}
	return head.Add(passOverFor)
}

// watchLeases is the last resort against a job that the store holds as running and nobody runs: when
// its lease has ended, it is taken back.
func (s *Scheduler) watchLeases(tx *store.Tx) error {
	for job, err := range tx.Jobs.Running() {
		if isDamaged(err) {
			continue
		}
		if err != nil {
			return err
		}
		if job.LeaseEnd.After(tx.Now()) {
			return nil
		}
		if !s.isUnderWay(job) && !s.passedOver(job.ID) {
			s.mu.Lock()
			s.doubt = true
			s.mu.Unlock()
			return nil
		}
	}
	return nil
}

// free returns how many more runs a lane may have.
func (s *Scheduler) free(lane string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.cfg.LaneLimit(lane)-s.lanes[lane])
}
