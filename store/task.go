package store

import (
	"fmt"
	"iter"
	"slices"
	"time"
)

// Task is a broadcast: one post that goes to many chats as a user account, one after the other.
type Task struct {
	ID         uint64  `json:"id"`
	ContentID  uint64  `json:"content_id,omitempty"` // 0 for a task that was made from a text directly
	IdentityID uint64  `json:"identity_id"`
	Text       string  `json:"text"`
	Format     string  `json:"format"`
	Media      []Media `json:"media,omitempty"`

	Silent        bool `json:"silent,omitempty"`
	NoLinkPreview bool `json:"no_link_preview,omitempty"`

	// The pause between two chats is random between these.
	MinPause time.Duration `json:"min_pause"`
	MaxPause time.Duration `json:"max_pause"`
	// MaxAttempts is how often the task may be taken up before a failure of its own ends it.
	MaxAttempts int        `json:"max_attempts"`
	StartAt     time.Time  `json:"start_at"`
	Quiet       QuietHours `json:"quiet,omitzero"`
	DailyCap    int        `json:"daily_cap,omitempty"` // messages of the account in a day, whichever task sent them; 0: no limit

	// Key makes the calls to the network repeatable: the key of each delivery is derived from it.
	Key int64 `json:"key"`

	Status    TaskStatus `json:"status"`
	Attempts  int        `json:"attempts,omitempty"`  // how often it was taken up
	LastError Reason     `json:"last_error,omitzero"` // of the task or of a chat, whichever came last
	Slot      time.Time  `json:"slot,omitzero"`       // when its turn in the account's pace comes; zero: it has none
	Check     CheckState `json:"check,omitempty"`     // how far the dry run has come
	Checked   uint64     `json:"checked,omitempty"`   // the last delivery that the dry run has looked at
	First     uint64     `json:"first,omitempty"`     // its deliveries are the rows from First
	Total     int        `json:"total,omitempty"`     // and this many
	Sent      int        `json:"sent_count,omitempty"`
	Failed    int        `json:"error_count,omitempty"`
	Skipped   int        `json:"skipped_count,omitempty"`
	// Refusal is what the last chat answered that refused, and Refusals how many in a row answered that.
	Refusal  string `json:"refusal,omitempty"`
	Refusals int    `json:"refusals,omitempty"`
	// Prepared is the last delivery that is ready, while the task is prepared.
	Prepared  uint64    `json:"prepared,omitempty"`
	StartedAt time.Time `json:"started_at,omitzero"`
	EndedAt   time.Time `json:"ended_at,omitzero"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// QuietHours is a time of the day, in the owner's zone, in which nothing is sent. It may pass midnight.
type QuietHours struct {
	From string `json:"from"` // 22:00
	To   string `json:"to"`   // 08:00
}

// IsZero makes absent quiet hours disappear from JSON under omitzero.
func (q QuietHours) IsZero() bool { return q.From == "" }

// TaskStatus says how far a task has come.
type TaskStatus string

// The statuses of a task.
const (
	TaskPreparing  TaskStatus = "preparing"  // its list of chats is being written
	TaskPending    TaskStatus = "pending"    // waits to be taken up, for the first time or again
	TaskProcessing TaskStatus = "processing" // is being sent, one chat after the other
	TaskDone       TaskStatus = "done"       // ended, and some chat has it
	TaskFailed     TaskStatus = "failed"
	TaskCancelled  TaskStatus = "cancelled"
)

// TaskStatuses are all statuses, in the order in which a task may pass through them.
func TaskStatuses() []TaskStatus {
	return []TaskStatus{TaskPreparing, TaskPending, TaskProcessing, TaskDone, TaskFailed, TaskCancelled}
}

// Final reports whether the task will not change by itself any more.
func (s TaskStatus) Final() bool {
	return s != TaskPreparing && s != TaskPending && s != TaskProcessing
}

// CheckState says how far a dry run has come.
type CheckState string

// The states of a dry run; empty means that none was asked for.
const (
	CheckRunning CheckState = "running"
	CheckDone    CheckState = "done"
)

// TaskKind is the kind of the jobs that send broadcasts.
const TaskKind = "task"

// JobName is the name of the task's job, and CheckName that of its dry run.
func (t Task) JobName() string { return fmt.Sprintf("task_%d", t.ID) }

// CheckName is the name of the job of the task's dry run.
func (t Task) CheckName() string { return fmt.Sprintf("task_check_%d", t.ID) }

// PrepareName is the name of the job that writes the task's list of chats.
func (t Task) PrepareName() string { return fmt.Sprintf("task_prepare_%d", t.ID) }

// Left is how many chats are still to be sent to.
func (t Task) Left() int { return t.Total - t.Sent - t.Failed - t.Skipped }

// Tasks is the table of tasks.
type Tasks struct{ Table[Task] }

func taskTable() def[Task] {
	return def[Task]{
		name:  "tasks",
		id:    func(t *Task) *uint64 { return &t.ID },
		valid: (*Task).validate,
		job: func(tx *Tx, t *Task) Job {
			if t.Status.Final() {
				return Job{}
			}
			// Somebody may have paused it, and to go on against their will is worse than to wait for them.
			return jobOnce(tx, t.JobName(), TaskKind, t.ID, t.IdentityID, t.StartAt, true)
		},
		indexes: []Index[Task]{
			{Name: "status", Key: func(t *Task, k key) key { return k.str(string(t.Status)).time(t.CreatedAt) }},
			{Name: "counts", Counted: true, Key: func(t *Task, k key) key { return k.str(string(t.Status)) }},
			{Name: "created", Key: func(t *Task, k key) key { return k.time(t.CreatedAt) }},
			{Name: "active", Key: func(t *Task, k key) key {
				if t.Status.Final() {
					return nil
				}
				return k.uint(t.IdentityID)
			}},
			{Name: "failed", Key: func(t *Task, k key) key {
				if t.Status != TaskFailed {
					return nil
				}
				return k.time(t.UpdatedAt)
			}},
			{Name: "media", Key: func(t *Task, k key) key {
				if t.Status.Final() {
					return nil
				}
				return mediaKey(t.Media, t.CreatedAt)
			}},
		},
	}
}

func (t *Task) validate() error {
	if slices.Contains(TaskStatuses(), t.Status) {
		return nil
	}
	return fmt.Errorf("task %d: no status is called %q", t.ID, t.Status)
}

// Put writes a task. If it has failed, that raises an alert.
func (t Tasks) Put(task *Task) error {
	if task.Status != TaskFailed {
		return t.Table.Put(task)
	}
	before, _ := t.Get(task.ID) // if it cannot be read, it cannot be written
	if err := t.Table.Put(task); err != nil || before.Status == TaskFailed && before.EndedAt.Equal(task.EndedAt) {
		return err
	}
	return t.in().Alerts.Raise(Alert{Kind: AlertTaskFailed, About: task.JobName(), Subject: task.ID, Reason: task.LastError,
		Count: int64(task.Sent), Limit: int64(task.Total)})
}

// ByTime returns tasks, the latest first; with a status, those that have it.
func (t Tasks) ByTime(status TaskStatus, q Query) (Page[Task], error) {
	if status == "" {
		return t.page("created", nil, q, true)
	}
	return t.page("status", key(nil).str(string(status)), q, true)
}

// Active yields the tasks of an identity that have not ended.
func (t Tasks) Active(identityID uint64) iter.Seq[Task] {
	prefix := key(nil).uint(identityID)
	return t.scan("active", prefix, prefix.next())
}

// Count returns how many tasks have a status, and counts no further than limit.
func (t Tasks) Count(status TaskStatus, limit int) int {
	return t.count("status", key(nil).str(string(status)), limit)
}
