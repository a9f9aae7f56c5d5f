package send

import (
	"context"

	"belfry/scheduler"
	"belfry/store"
)

// Ended is a run for which there is nothing to do but to end with an outcome: what [scheduler.Beginner].Begin returns
// where nothing is sent.
type Ended scheduler.Outcome

// Run returns the outcome.
func (e Ended) Run(context.Context, store.Job) (scheduler.Outcome, error) {
	return scheduler.Outcome(e), nil
}
