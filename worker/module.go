// Package worker says what a worker brings to the program. The workers are the packages below it; docs/worker.md
// shows how one is made.
package worker

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

// Module is what a worker brings to the program. What is nil it does not bring.
type Module struct {
	// Kinds are the kinds of job that it runs.
	Kinds scheduler.Kinds
	// EvenPaused reports whether the jobs of a lane run also while everything is paused.
	EvenPaused func(lane string) bool
	// Start puts the jobs into the schedule that are always there. It is called once, before the first run.
	Start func() error
	// Run does what the worker does beside its jobs, until ctx ends. That is after the last run has ended.
	Run func(ctx context.Context) error
	// Wrong returns what is wrong with it at this moment, each thing as an alert with kind, about, name and
	// reason. What fails for good raises its alert in its own transaction and is not among them.
	Wrong func(tx *store.Tx) []store.Alert
	// Metrics are what is measured of it, under names that begin with belfry_.
	Metrics []prometheus.Collector
	// HandleUpdate takes in what a person has told a bot, and reports whether it was meant for the worker. It is called
	// as a telegram.Listener is.
	HandleUpdate func(tx *store.Tx, h platform.Heard) (handled bool, err error)
}

// Join returns the module that brings all that the given ones bring.
func Join(modules ...Module) Module {
	kinds := make(scheduler.Kinds)
	var metrics []prometheus.Collector
	for _, m := range modules {
		maps.Copy(kinds, m.Kinds)
		metrics = append(metrics, m.Metrics...)
	}
	return Module{
		Kinds: kinds, Metrics: metrics,
		EvenPaused: func(lane string) bool {
			for _, m := range modules {
				if m.EvenPaused != nil && m.EvenPaused(lane) {
					return true
				}
			}
			return false
		},
		Start: func() (err error) {
			for _, m := range modules {
				if m.Start != nil {
					err = errors.Join(err, m.Start())
				}
			}
			return err
		},
		Run: func(ctx context.Context) error {
			running, ctx := errgroup.WithContext(ctx)
			for _, m := range modules {
				if m.Run != nil {
					running.Go(func() error { return m.Run(ctx) })
				}
			}
			return running.Wait()
		},
		Wrong: func(tx *store.Tx) (all []store.Alert) {
			for _, m := range modules {
				if m.Wrong != nil {
					all = append(all, m.Wrong(tx)...)
				}
			}
			return all
		},
		HandleUpdate: func(tx *store.Tx, h platform.Heard) (handled bool, err error) {
			for _, m := range modules {
				if m.HandleUpdate == nil {
					continue
				}
				if handled, err = m.HandleUpdate(tx, h); handled || err != nil {
					break
				}
			}
			return handled, err
		},
	}
}

// maxAbout is how many characters what a job is about has at most.
const maxAbout = 80

// About is the About of a kind whose jobs are each about a row of a table: the first line of what say says of it.
func About[T any](table func(*store.Tx) store.Table[T], say func(T) string) func(*store.Tx, uint64) string {
	return func(tx *store.Tx, id uint64) string {
		row, err := table(tx).Get(id)
		if err != nil { // it is gone, or damaged
			return ""
		}
		line, _, _ := strings.Cut(strings.TrimSpace(say(row)), "\n")
		return store.Shorten(line, maxAbout)
	}
}
