package scheduler

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/reugn/go-quartz/quartz"
)

const (
	// tick is how long the loop sleeps at most, so that it notices a step of the clock.
	tick = 5 * time.Second
	// storeRetry is the pause after the store has failed.
	storeRetry = time.Second
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
	return batch{at: time.Now().Add(q.s.untilNext()), job: nothing}, nil
}

// Pop claims the jobs that are due and returns them as one.
func (q queue) Pop() (quartz.ScheduledJob, error) {
	next := batch{job: nothing}
	if runs := q.s.claimDue(); len(runs) > 0 {
		next.job = quartz.NewJobDetail(starts{q.s, runs}, batchKey)
	}
	next.at = time.Now()
	return next, nil
}

// Push is called by the loop for what Pop has returned if the clock was set back just then and it is not
// due any more. It is claimed, so it is started.
func (q queue) Push(popped quartz.ScheduledJob) error {
	return popped.JobDetail().Job().Execute(context.Background())
}

// The rest is for calls that this package does not make: jobs are put, read and removed in the
// caller's transaction.
var errStoreOnly = errors.New("jobs are managed in the store")

func (q queue) Get(*quartz.JobKey) (quartz.ScheduledJob, error)    { return nil, errStoreOnly }
func (q queue) Remove(*quartz.JobKey) (quartz.ScheduledJob, error) { return nil, errStoreOnly }
func (q queue) Clear() error                                       { return errStoreOnly }
func (q queue) ScheduledJobs([]quartz.Matcher[quartz.ScheduledJob]) ([]quartz.ScheduledJob, error) {
	return nil, errStoreOnly
}

// batch is what the loop has to do at a time, as one go-quartz job.
type batch struct {
	at  time.Time
	job *quartz.JobDetail
}

func (b batch) JobDetail() *quartz.JobDetail { return b.job }
func (b batch) Trigger() quartz.Trigger      { return b }
func (b batch) NextRunTime() int64           { return b.at.UnixNano() }
func (b batch) Description() string          { return b.job.Job().Description() }

// NextFireTime ends the batch for the loop: what comes next is in the store.
func (b batch) NextFireTime(int64) (int64, error) { return 0, quartz.ErrTriggerExpired }

// starts is the claimed jobs. Executing it hands them to their own goroutines and returns at once, so that the
// loop never waits for a run.
type starts struct {
	s    *Scheduler
	runs []*run
}

var (
	batchKey = quartz.NewJobKey("batch")
	nothing  = quartz.NewJobDetail(starts{}, batchKey)
)

func (j starts) Description() string { return fmt.Sprintf("%d jobs", len(j.runs)) }

// Execute starts the runs.
func (j starts) Execute(context.Context) error {
	if len(j.runs) > 0 {
		j.s.start(j.runs)
	}
	return nil
}

// untilNext is how long it is until a job may be claimed.
func (s *Scheduler) untilNext() time.Duration {
	s.watchClock()
	if wait := max(s.clock.settling(), s.failing()); wait > 0 {
		return min(wait, tick)
	}
	if s.isMoving() {
		return 0
	}
	if err := s.refresh(); err != nil {
		s.noteOutcome(err)
		return storeRetry
	}
	if s.inDoubt() {
		return 0
	}
	wait := tick
	if at, found := s.agenda.next(); found {
		wait = min(wait, max(0, at.Sub(s.cfg.Now())))
	}
	return wait
}

// free returns how many more runs a lane may have.
func (s *Scheduler) free(lane string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return max(0, s.cfg.LaneLimit(lane)-s.lanes[lane])
}
