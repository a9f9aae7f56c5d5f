package scheduler

import (
	"encoding/json"
	"fmt"
	"time"

	"belfry/store"
)

// movePage is how many jobs one transaction moves after a step of the clock.
const movePage = 1000

// The settings in which the scheduler keeps what it knows about time and about itself.
const (
	settingPaused = store.Paused // not empty: nothing is started; the value says why
	settingSeen   = "clock_seen" // the last moment that the file has seen
	settingMove   = "clock_move" // a move that is not complete
)

// move is the work that a step of the clock makes: what waits for elapsed time is moved by it. It
// goes through the jobs page by page, and is kept in the file with each page.
type move struct {
	Step time.Duration `json:"step"`
	Next uint64        `json:"next"` // the first job that was not looked at
	Last uint64        `json:"last"` // the last job that there was
}

// moveWaits does a page of what a step of the clock has made necessary, and reports whether there
// is more. Nothing is claimed before all is done.
func (s *Scheduler) moveWaits() (more bool, err error) {
	s.mu.Lock()
	moving, step, planned := s.moving, s.unmoved, len(s.planned)
	s.mu.Unlock()
	if !moving {
		return false, nil
	}
	var m move
	err = s.update(func(tx *store.Tx) (err error) {
		if m, err = s.readMove(tx); err != nil {
			return err
		}
		if m.Next == 0 {
			if step == 0 && planned == 0 {
				return nil
			}
			if m, err = s.beginMove(tx, step); err != nil {
				return err
			}
		}
		if err := s.movePage(tx, &m); err != nil {
			return err
		}
		return writeMove(tx, m)
	})
	if err != nil {
		return true, fmt.Errorf("move what waits by a step of the clock: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if m.Next != 0 {
		return true, nil
	}
	s.unmoved -= m.Step
	if s.unmoved.Abs() < stepTolerance {
		s.moving, s.unmoved, s.planned = false, 0, nil
		return false, nil
	}
	for what := range s.planned {
		s.planned[what] -= m.Step
	}
	return true, nil
}

func (s *Scheduler) readMove(tx *store.Tx) (m move, err error) {
	text, err := s.readSetting(tx, settingMove)
	if err != nil || text == "" {
		return m, err
	}
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		return move{}, fmt.Errorf("setting %s: %w", settingMove, err)
	}
	return m, nil
}

func writeMove(tx *store.Tx, m move) error {
	text := ""
	if m.Next != 0 {
		data, err := json.Marshal(m)
		if err != nil {
			return err
		}
		text = string(data)
	}
	return tx.Settings.Set(settingMove, text)
}

// beginMove moves the holds, which are few, and says what there is to do.
func (s *Scheduler) beginMove(tx *store.Tx, step time.Duration) (move, error) {
	m := move{Step: step, Next: 1}
	for hold := range tx.Holds.All() {
		by := step - s.plannedWith(ofLane(hold.Lane))
		if by != 0 && hold.Until.After(tx.Now().Add(-max(0, by))) {
			hold.Until = hold.Until.Add(by)
			if err := tx.Holds.Put(&hold); err != nil {
				return m, err
			}
		}
	}
	for job := range tx.Jobs.Newest(0) {
		m.Last = job.ID
		break
	}
	return m, nil
}

// movePage moves the next jobs. Next is 0 when all were moved.
func (s *Scheduler) movePage(tx *store.Tx, m *move) error {
	n := 0
	for job := range tx.Jobs.From(m.Next) {
		if job.ID > m.Last {
			break
		}
		if n++; n > movePage {
			m.Next = job.ID
			return nil
		}
		by := m.Step - s.plannedWith(job.Name)
		if by == 0 || !moveWait(tx.Now(), &job, by) {
			continue
		}
		if err := tx.Jobs.Put(&job); err != nil {
			s.passOver(job.ID, err)
		}
	}
	m.Next = 0
	return nil
}

// notePlanned remembers while steps of the clock are not dealt with that a job, or the hold of a lane, was planned
// by the clock as it is now: only later steps move it.
func (s *Scheduler) notePlanned(what string) {
	s.watchClock() // it may have been set during the run
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.moving {
		return
	}
	if s.planned == nil {
		s.planned = make(map[string]time.Duration)
	}
	s.planned[what] = s.unmoved
}

// ofLane is what the hold of a lane is called in planned; jobs have their names.
func ofLane(lane string) string { return "lane " + lane }

// plannedWith returns which part of the steps that are not dealt with a job or a hold was planned with.
func (s *Scheduler) plannedWith(what string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.planned[what]
}

// moveWait reports whether a step of the clock moves the job's next run, and moves it. A run that was asked for is due
// at once, also if that was after the step. Retries and other waits keep their length, but for those that end at a time
// of day; what was begun too early returns to its occurrence, and intervals go on from now.
func moveWait(now time.Time, job *store.Job, step time.Duration) bool {
	if job.State != store.JobWaiting && job.State != store.JobPaused {
		return false
	}
	if job.Requested && job.Reason.Code == store.ReasonRequested { // it is due at once, by whatever clock that was asked for
		if !job.Due.After(now) {
			return false
		}
		job.Due = now
		return true
	}
	early := step < 0 && job.Occurrence.After(now) && !job.Requested
	if !job.Due.Equal(job.Occurrence) && !early {
		switch {
		case !job.Due.After(now.Add(-max(0, step))):
			return false // it was due before the step
		case job.WallClock && step > 0:
			return false
		case job.WallClock:
			job.Due = now
			return true
		}
		job.Due = job.Due.Add(step)
		if !job.Reason.Until.IsZero() {
			job.Reason.Until = job.Reason.Until.Add(step)
		}
		if job.Due.Before(now) {
			job.Due = now
		}
		return true
	}
	was := *job
	switch {
	case early && !job.Due.Equal(job.Occurrence):
		returnToOccurrence(now, job)
	case step < 0 && job.Occurrence.After(now):
		replan(now, job, -step)
	}
	return !job.Due.Equal(was.Due) || job.Attempt != was.Attempt
}

// returnToOccurrence makes a job wait for its occurrence, which lies ahead since the clock was set back,
// as if nothing had been tried for it.
func returnToOccurrence(now time.Time, job *store.Job) {
	job.Attempt, job.Broken, job.Missed = 0, 0, 0
	job.Due, job.Reason = job.Occurrence, store.Reason{}
	replan(now, job, job.Occurrence.Sub(now)) // it was due by the clock as it was
}

// replan lets a repeating job go on from now after the clock was set back by the given time. Times of day
// that have come are not repeated, unless the step was so big that the time between cannot have been. A
// trigger that cannot be read is dealt with when the job is due.
func replan(now time.Time, job *store.Job, back time.Duration) {
	if job.Trigger.Once() || (job.Trigger.Every == 0 && back <= bigStep) {
		return
	}
	if next, err := Next(job.Trigger, job.Name, now); err == nil && next.Before(job.Occurrence) {
		job.Occurrence, job.Due = next, next
	}
}
