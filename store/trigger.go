package store

import (
	"slices"
	"time"
)

// Trigger says when a job runs. Exactly one of At, Every, Cron, Times and Dates is set; all but At repeat.
type Trigger struct {
	At    time.Time     `json:"at,omitzero"`     // once, at this time
	Every time.Duration `json:"every,omitempty"` // each time this much has passed, in nanoseconds
	Cron  string        `json:"cron,omitempty"`  // five fields, six with seconds in front, or @daily and the like
	Times []string      `json:"times,omitempty"` // times of day, "15:04" or "15:04:05"

	// Weekdays narrows Times: 1 is Monday, 7 is Sunday. Empty means each day.
	Weekdays []int `json:"weekdays,omitempty"`
	// Zone is the IANA name of the time zone of Cron and Times. Empty means UTC.
	Zone string `json:"zone,omitempty"`

	// From is when Every runs first; the others follow at its distance. Zero: at a phase of the job's own.
	From time.Time `json:"from,omitzero"`
	// Dates are instants in the order of time, each of them once.
	Dates []time.Time `json:"dates,omitempty"`
}

// Once reports whether the job ends after its run.
func (t Trigger) Once() bool { return !t.At.IsZero() }

// Equal reports whether both name the same times.
func (t Trigger) Equal(u Trigger) bool {
	return t.At.Equal(u.At) && t.Every == u.Every && t.Cron == u.Cron && t.Zone == u.Zone &&
		slices.Equal(t.Times, u.Times) && slices.Equal(t.Weekdays, u.Weekdays) &&
		t.From.Equal(u.From) && slices.EqualFunc(t.Dates, u.Dates, time.Time.Equal)
}

// validate checks the shape; what the parts mean is the scheduler's.
func (t Trigger) validate() error {
	set := 0
	for _, is := range []bool{!t.At.IsZero(), t.Every != 0, t.Cron != "", len(t.Times) > 0, len(t.Dates) > 0} {
		if is {
			set++
		}
	}
	if set != 1 {
		return Invalid("trigger", "invalid.trigger")
	}
	return nil
}

// Lateness says what happens to a run whose time has passed, because the program was not running
// or had too much to do.
type Lateness struct {
	Policy LatenessPolicy `json:"policy,omitempty"`
	Grace  time.Duration  `json:"grace,omitempty"` // with LateSkip: how late is still in time, in nanoseconds
}

// LatenessPolicy names what to do.
type LatenessPolicy string

// The policies. The empty one is LateOnce.
const (
	LateOnce LatenessPolicy = "run_once" // however many were missed, run once
	LateSkip LatenessPolicy = "skip"     // do not run what is later than the grace
	LateEach LatenessPolicy = "run_each" // run as often as was missed, one after the other
)

// Validate checks that the policy is a known one. Its errors name a part of field.
func (l Lateness) Validate(field string) error {
	switch l.Policy {
	case "", LateOnce, LateSkip, LateEach:
	default:
		return Invalid(field+".policy", "invalid.policy")
	}
	if l.Grace < 0 {
		return Invalid(field+".grace", "invalid.too_small", 0, 0)
	}
	return nil
}
