package pipeline

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"belfry/platform"
	"belfry/platform/ai"
	"belfry/store"
)

// embedBatch is how many messages the model is given at once.
const embedBatch = 16

// embed is the stage that lets messages be found by their meaning. The messages of a batch are one question to the model;
// where it refuses that, or fails again, each is asked about alone, so that one bad message is parked and no other.
func (w *Worker) embed() Stage {
	s := Stage{Name: "embed", From: store.TopicIndexed, Batch: embedBatch, Parallel: 1, Deadline: ai.Deadline + 10*time.Second, Attempts: 12}
	s.Together = func(ctx context.Context, all map[uint64]store.Message) func(context.Context, store.Event, store.Message) (Result, error) {
		ask := sync.OnceValues(func() (map[uint64]store.Vector, error) {
			return w.cfg.Vectors(ctx, slices.Sorted(maps.Keys(all)))
		})
		return func(ctx context.Context, _ store.Event, m store.Message) (Result, error) {
			made, err := ask()
			if e, outside := errors.AsType[*platform.Error](err); outside && e.Scope != platform.ScopeIdentity && len(all) > 1 &&
				(e.Kind == platform.Refused || e.Kind == platform.Transient && m.Stages["embed"].State == store.StageRetrying) {
				made, err = w.cfg.Vectors(ctx, []uint64{m.ID})
			}
			v, changed := made[m.ID]
			if err != nil || !changed {
				return Result{}, err
			}
			return Result{Write: func(tx *store.Tx, _ *store.Message) error { return tx.Vectors.Save(&v) }}, nil
		}
	}
	return s
}
