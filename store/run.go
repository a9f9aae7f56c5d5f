package store

import "time"

// Run is one execution of a job, or the record of why one did not take place.
type Run struct {
	ID         uint64    `json:"id"`
	Job        string    `json:"job"`
	Kind       string    `json:"kind"`
	Lane       string    `json:"lane"`
	Occurrence time.Time `json:"occurrence,omitzero"` // the time in the schedule that it stands for
	Started    time.Time `json:"started,omitzero"`    // zero if it did not take place
	Ended      time.Time `json:"ended"`
	Attempt    int       `json:"attempt,omitempty"`
	Result     Result    `json:"result"`
	Reason     Reason    `json:"reason,omitzero"`
	Missed     int       `json:"missed,omitempty"` // further occurrences that it stands for
	Next       time.Time `json:"next,omitzero"`    // when the job runs again
}

// Result says how a run ended.
type Result string

// The results of a run.
const (
	ResultDone        Result = "done"
	ResultAgain       Result = "again"       // it asked to be called again
	ResultFailed      Result = "failed"      // an error, a panic, or the time limit
	ResultSkipped     Result = "skipped"     // it did not take place
	ResultInterrupted Result = "interrupted" // the program ended first
)

// Runs is the history of the jobs.
type Runs struct{ Table[Run] }

// The history keeps this much.
const (
	maxRuns   = 100_000
	maxRunAge = 90 * 24 * time.Hour
)

func runTable() def[Run] {
	return def[Run]{
		name: "runs",
		id:   func(r *Run) *uint64 { return &r.ID },
		indexes: []Index[Run]{
			{Name: "job", Key: func(r *Run, k key) key { return k.str(r.Job) }},
		},
	}
}

// Add writes a run and forgets those that are too old or too many.
func (t Runs) Add(r *Run) error {
	if err := t.Put(r); err != nil {
		return err
	}
	return trim(t.Table, r.ID, maxRuns, func(past *Run) bool { return t.in().Now().Sub(past.Ended) >= maxRunAge })
}

// Of returns the runs of a job, the latest first.
func (t Runs) Of(job string, q Query) (Page[Run], error) {
	return t.page("job", key(nil).str(job), q, true)
}
