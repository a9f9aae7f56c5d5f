// Package profile finds out whether a profile exists on a site. How a site is asked and what its
// answers mean is data, a [Rule]: those of a few sites come with the program, and an owner can add
// others in the form of Sherlock's data.json.
//
// It promises that a site which refuses to answer is never taken for one that says no: what no rule
// calls found or absent is [Refused], and so is every answer that a site gives to callers whom it
// does not like. What it cannot promise is that a site tells the truth; the caller asks for a
// profile that surely exists, and asks twice.
package profile

import (
	"context"
	"time"
)

// Outcome is what a site said.
type Outcome string

// The outcomes.
const (
	Found   Outcome = "found"
	Absent  Outcome = "absent"
	Refused Outcome = "refused" // nobody knows: the site did not answer the question
)

// Result is the answer to one question.
type Result struct {
	Outcome Outcome
	// Detail says in words what was seen, with Refused always.
	Detail string
	Status int // of the HTTP answer; 0 if there was none
	// RetryAfter is how long the site wants to be left alone; 0 if it did not say.
	RetryAfter time.Duration
}

// A Prober asks a site whether a profile exists. Sites that are not asked over HTTP, such as
// Telegram, have probers of their own. The error is a [*platform.Error]: for a name that the site
// cannot have it is Refused with the Field username, for a rule that cannot be asked in this way
// Refused without one; or it is that of a context that has ended. Whatever the site says or does
// is a Result.
//
// [*platform.Error]: belfry/platform.Error
type Prober interface {
	Probe(ctx context.Context, rule Rule, username string) (Result, error)
}
