package tasks

import (
	"context"

	"belfry/scheduler"
	"belfry/store"
)

type sender struct{ *Worker }
type checker struct{ *Worker }
type lister struct{ *Worker }

func (sender) Run(context.Context, store.Job) (scheduler.Outcome, error) {
	return scheduler.Outcome{}, nil
}
func (checker) Run(context.Context, store.Job) (scheduler.Outcome, error) {
	return scheduler.Outcome{}, nil
}
func (lister) Run(context.Context, store.Job) (scheduler.Outcome, error) {
	return scheduler.Outcome{}, nil
}
