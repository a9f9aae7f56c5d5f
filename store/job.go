package store

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Job is a row of the schedule: something that runs at the times its trigger names.
type Job struct {
	ID   uint64 `json:"-"`
	Name string `json:"id"`   // what it is called everywhere, such as post_17
	Kind string `json:"kind"` // which worker runs it
	// Subject is the id of the record that the job is about, such as the post; 0 if it is about none.
	Subject  uint64        `json:"subject,omitempty"`
	Lane     string        `json:"lane"`
	Trigger  Trigger       `json:"trigger"`
	Lateness Lateness      `json:"lateness,omitzero"`
	Timeout  time.Duration `json:"timeout,omitempty"`  // of one run, in nanoseconds; 0: as the kind says
	Attempts int           `json:"attempts,omitempty"` // runs in all where one fails; 0: as the kind says
	Backoff  time.Duration `json:"backoff,omitempty"`  // the pause after attempt n is n times this; 0: as the kind says
	Tags     []string      `json:"tags,omitempty"`     // for filtering

	State   JobState `json:"state"`
	Paused  bool     `json:"paused,omitempty"`  // of a running or requested job: it is paused when the run has ended
	Removed bool     `json:"removed,omitempty"` // of a running job: it is deleted when the run has ended
	Woken   bool     `json:"woken,omitempty"`   // of a running job: there is more to do when the run has ended
	// Due is the next run. It differs from Occurrence while a run is tried again or was asked for.
	Due time.Time `json:"due,omitzero"`
	// Occurrence is the time in the schedule that the next run, or the one under way, stands for.
	Occurrence time.Time `json:"occurrence,omitzero"`
	WallClock  bool      `json:"wall_clock,omitempty"` // Due is a time of day, not the end of an elapsed time
	Requested  bool      `json:"requested,omitempty"`  // a person asked for the next run; the schedule goes on after it
	Attempt    int       `json:"attempt,omitempty"`    // runs begun for this occurrence
	Broken     int       `json:"broken,omitempty"`     // runs of this occurrence that ended with the program
	LeaseEnd   time.Time `json:"lease_end,omitzero"`   // of a running job: when the run is lost
	Started    time.Time `json:"started,omitzero"`     // of a running job
	Missed     int       `json:"missed,omitempty"`     // occurrences that were merged into the next run

	Reason     Reason    `json:"reason,omitzero"` // why it waits until Due, or does not wait
	LastRun    time.Time `json:"last_run,omitzero"`
	LastResult Result    `json:"last_result,omitempty"`
	LastReason Reason    `json:"last_reason,omitzero"`
	Failures   int       `json:"failures,omitempty"` // runs that failed in a row
	// VainSince is since when its runs have failed, or ended with nothing but being tried again; zero after
	// any other end.
	VainSince time.Time `json:"vain_since,omitzero"`
}

// JobState says what a job does now.
type JobState string

// The states of a job.
const (
	JobWaiting  JobState = "waiting"
	JobRunning  JobState = "running"
	JobPaused   JobState = "paused"
	JobSetAside JobState = "set_aside" // cannot run as it is, and is kept
)

// Jobs is the schedule.
type Jobs struct{ Table[Job] }

// The queue holds the jobs that the scheduler has to look at: those that wait, by lane and time,
// those that run, by the end of their lease, and those that are set aside, by kind.
const (
	queueAside   = "a"
	queueRunning = "r"
	queueWaiting = "w"
)

func jobTable() def[Job] {
	return def[Job]{
		name:  "jobs",
		id:    func(j *Job) *uint64 { return &j.ID },
		valid: (*Job).validate,
		indexes: []Index[Job]{
			{Name: "name", Unique: true, Key: func(j *Job, k key) key { return k.str(j.Name) }},
			{Name: "queue", Key: func(j *Job, k key) key {
				switch j.State {
				case JobWaiting:
					return append(k, queueWaiting...).str(j.Lane).time(j.Due)
				case JobRunning:
					return append(k, queueRunning...).time(j.LeaseEnd)
				case JobSetAside:
					return append(k, queueAside...).str(j.Kind)
				}
				return nil
			}, Changed: func(tx *Tx, k key) {
				if len(k) > 0 && k[0] == queueWaiting[0] {
					tx.noteLane(k[len(queueWaiting) : len(k)-8])
				}
			}},
			{Name: "kind", Key: func(j *Job, k key) key { return k.str(j.Kind).str(j.phase()).time(j.Due) }},
			{Name: "counts", Counted: true, Key: func(j *Job, k key) key { return k.str(j.Kind).str(string(j.State)) }},
			{Name: "failing", Key: func(j *Job, k key) key {
				if j.Failures == 0 && j.State != JobSetAside && j.VainSince.IsZero() {
					return nil
				}
				return k.str(j.Kind)
			}},
		},
	}
}

func (j *Job) validate() error {
	switch {
	case j.Name == "":
		return Invalid("id", "invalid.empty")
	case j.Kind == "":
		return Invalid("kind", "invalid.empty")
	case j.Lane == "":
		return Invalid("lane", "invalid.empty")
	case j.State != JobWaiting && j.State != JobRunning && j.State != JobPaused && j.State != JobSetAside:
		return fmt.Errorf("job %s: no state is called %q", j.Name, j.State)
	}
	if err := j.Trigger.validate(); err != nil {
		return err
	}
	return j.Lateness.Validate("lateness")
}

// ByName returns the job with the given name, or [ErrNotFound].
func (t Jobs) ByName(name string) (Job, error) {
	j, err := t.first("name", key(nil).str(name))
	if errors.Is(err, ErrNotFound) {
		err = ErrNotFound // without its index, which is nothing to people
	}
	if err != nil {
		return j, fmt.Errorf("job %s: %w", name, err)
	}
	return j, nil
}

// Wake lets a job run at the given time at the latest, because there is something to do for it: one that runs does so
// again when it has ended, and one that is paused when it is resumed. One that does not exist stays so.
func (t Jobs) Wake(name string, at time.Time) error {
	j, err := t.ByName(name)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	switch {
	case j.State == JobRunning && !j.Woken:
		j.Woken = true
	case (j.State == JobWaiting || j.State == JobPaused) && j.Due.After(at):
		j.BringForward(at)
	default:
		return nil
	}
	return t.Put(&j)
}

// BringForward makes the next run earlier, and with it the occurrence that it stands for, where that lies ahead: what
// is due before its occurrence counts as begun before a step of the clock.
func (j *Job) BringForward(at time.Time) {
	if j.Due = at; j.Occurrence.After(at) {
		j.Occurrence = at
	}
}

// ByNames yields the jobs in the order of their names.
func (t Jobs) ByNames() iter.Seq[Job] { return t.scan("name", nil, nil) }

// Lanes yields each lane in which jobs wait, with the time of the first of them. It costs one
// look-up for each lane, however many jobs wait.
func (t Jobs) Lanes() iter.Seq2[string, time.Time] {
	return func(yield func(string, time.Time) bool) {
		cursor := t.indexNamed("queue").Cursor()
		from := key(queueWaiting)
		for {
			k, _ := cursor.Seek(from)
			if k == nil || k[0] != queueWaiting[0] {
				return
			}
			if len(k) < len(queueWaiting)+2+8+idSize { // damaged
				from = append(key(nil), k...).next()
				continue
			}
			prefix := key(k[:len(k)-idSize-8])
			if !yield(laneOf(string(prefix[len(queueWaiting):])), timeAt(k[len(prefix):])) {
				return
			}
			if from = prefix.next(); from == nil {
				return
			}
		}
	}
}

// Due yields the jobs that wait in a lane and whose time has come, in the order of their times.
func (t Jobs) Due(lane string, now time.Time) iter.Seq[Job] {
	prefix := key(queueWaiting).str(lane)
	return t.scan("queue", prefix, slices.Clip(prefix).time(now).next())
}

// Queue yields the ids and the times of the jobs that wait in a lane, in the order of their times,
// without reading the jobs.
func (t Jobs) Queue(lane string) iter.Seq2[uint64, time.Time] {
	prefix := key(queueWaiting).str(lane)
	return func(yield func(uint64, time.Time) bool) {
		for entry := range t.entries("queue", prefix, prefix.next()) {
			if !yield(entryID(entry), timeAt(entry[len(prefix):])) {
				return
			}
		}
	}
}

// First returns the id and the time of the first job that waits in a lane, without reading it.
func (t Jobs) First(lane string) (id uint64, due time.Time, found bool) {
	prefix := key(queueWaiting).str(lane)
	entry := t.seek(t.indexNumber("queue"), prefix)
	if !bytes.HasPrefix(entry, prefix) || len(entry) != len(prefix)+8+idSize {
		return 0, time.Time{}, false
	}
	return entryID(entry), timeAt(entry[len(prefix):]), true
}

// Running yields the jobs that run, beginning with the lease that ends first.
func (t Jobs) Running() iter.Seq[Job] {
	prefix := key(queueRunning)
	return t.scan("queue", prefix, prefix.next())
}

// Leases yields the ids of the jobs that run and the ends of their leases, beginning with the one that
// ends first, without reading the jobs.
func (t Jobs) Leases() iter.Seq2[uint64, time.Time] {
	prefix := key(queueRunning)
	return func(yield func(uint64, time.Time) bool) {
		for entry := range t.entries("queue", prefix, prefix.next()) {
			if len(entry) == len(prefix)+8+idSize && !yield(entryID(entry), timeAt(entry[len(prefix):])) {
				return
			}
		}
	}
}

// Waits reports whether the queue names the job in a lane, due at the given time: whether the row, if it
// says otherwise, disagrees with the queue.
func (t Jobs) Waits(lane string, due time.Time, id uint64) bool {
	return t.has(indexKey{t.indexNumber("queue"), key(queueWaiting).str(lane).time(due)}, id)
}

// SetAside yields the jobs of a kind that are set aside.
func (t Jobs) SetAside(kind string) iter.Seq[Job] {
	prefix := key(queueAside).str(kind)
	return t.scan("queue", prefix, prefix.next())
}

// Failing yields the jobs whose last runs failed or were in vain and those that are set aside, by their
// kinds.
func (t Jobs) Failing() iter.Seq[Job] { return t.scan("failing", nil, nil) }

// Backlog returns how many jobs are due and wait to be started, and counts no further than limit.
func (t Jobs) Backlog(now time.Time, limit int) (n int) {
	for lane, first := range t.Lanes() {
		if first.After(now) {
			continue
		}
		prefix := key(queueWaiting).str(lane)
		for range t.entries("queue", prefix, slices.Clip(prefix).time(now).next()) {
			if n++; n == limit {
				return n
			}
		}
	}
	return n
}
