package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// OwnJob is a job that its owner has made: what it does, and when. Its [Job] says how it stands.
type OwnJob struct {
	ID       uint64        `json:"id"`
	Title    string        `json:"title"`
	Trigger  Trigger       `json:"trigger"`
	Action   Action        `json:"action"`
	Lateness Lateness      `json:"lateness,omitzero"`
	Attempts int           `json:"attempts,omitempty"` // that a run may have; 0: 3
	Backoff  time.Duration `json:"backoff,omitempty"`  // the pause after the first failure, in nanoseconds; 0: a minute
	Timeout  time.Duration `json:"timeout,omitempty"`  // of one attempt, in nanoseconds; 0: as the action needs
	Tags     []string      `json:"tags,omitempty"`
	Sealed   string        `json:"sealed,omitempty"` // the action's secret, sealed with another key

	// Key identifies what a run sends in all of its attempts: it is written with the claim of the first, and 0 when the run
	// has ended. It is for one occurrence, and Begun is when that was taken up.
	Key        int64     `json:"key,omitempty"`
	Occurrence time.Time `json:"occurrence,omitzero"`
	Begun      time.Time `json:"begun,omitzero"`
	Failures   int       `json:"failures,omitempty"` // failed attempts at it
	Taken      bool      `json:"taken,omitempty"`    // the claim has done what there was to do

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"` // by its owner
}

// Action is what a job does.
type Action struct {
	Type ActionType `json:"type"`

	// Of a message:
	IdentityID uint64 `json:"identity_id,omitempty"`
	Target     string `json:"target,omitempty"`
	Text       string `json:"text,omitempty"`
	Format     string `json:"format,omitempty"`

	// Of a webhook:
	URL     string          `json:"url,omitempty"`
	Secret  string          `json:"secret,omitempty"`  // whsec_…; sealed in the file
	Payload json.RawMessage `json:"payload,omitempty"` // what is sent; empty: what the job is and when it was due

	RuleID uint64 `json:"rule_id,omitempty"`
}

// ActionType says what kind of action it is.
type ActionType string

// The actions of jobs.
const (
	ActionMessage   ActionType = "message"
	ActionWebhook   ActionType = "webhook"
	ActionRule      ActionType = "rule"      // carries out a rule
	ActionAutocheck ActionType = "autocheck" // checks the accounts
	ActionBackup    ActionType = "backup"    // copies the file
)

// ActionTypes are the actions, in the order in which people are offered them.
func ActionTypes() []ActionType {
	return []ActionType{ActionMessage, ActionWebhook, ActionRule, ActionAutocheck, ActionBackup}
}

// OwnJobKind is the kind of the jobs that their owner has made.
const OwnJobKind = "job"

// LastBackup is the setting with the time of the last backup that succeeded, in RFC 3339; empty if there was none.
const LastBackup = "last_backup"

// JobName is the name of the job.
func (j OwnJob) JobName() string { return fmt.Sprintf("%s_%d", OwnJobKind, j.ID) }

// OwnJobs is the table of the jobs that their owner has made. That of one that ran once is deleted with its job.
type OwnJobs struct{ Table[OwnJob] }

func ownJobTable() def[OwnJob] {
	return def[OwnJob]{
		name: "own_jobs",
		id:   func(j *OwnJob) *uint64 { return &j.ID },
		secret: func(j *OwnJob) secret {
			return secret{[]byte(j.Action.Secret), func(plain []byte) { j.Action.Secret = string(plain) }, &j.Sealed}
		},
		job: func(tx *Tx, j *OwnJob) Job { // perhaps its owner had paused it, and its lane was that of a login
			return Job{Name: j.JobName(), Kind: OwnJobKind, Subject: j.ID, Lane: j.JobName(), Trigger: j.Trigger, Tags: j.Tags,
				Lateness: j.Lateness, State: JobPaused, Reason: Reason{Code: ReasonPaused}, Occurrence: tx.Now(), Due: tx.Now()}
		},
	}
}

// OfJob returns what the owner has said of a job, or [ErrNotFound] for a job of another kind.
func (t OwnJobs) OfJob(j Job) (OwnJob, error) {
	if j.Kind != OwnJobKind {
		return OwnJob{}, fmt.Errorf("%s was not made by its owner: %w", j.Name, ErrNotFound)
	}
	return t.Get(j.Subject)
}

// Change writes what fn makes of a job. One that is gone stays so.
func (t OwnJobs) Change(id uint64, fn func(*OwnJob)) error {
	own, err := t.Get(id)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	fn(&own)
	return t.Put(&own)
}
