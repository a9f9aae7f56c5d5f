package pipeline

import (
	"context"
	"time"

	"belfry/store"
	"belfry/worker/search"
)

// index is the stage that lets a message be found, and has the watches look at it. Batches are small: what is due meanwhile
// waits for no more than one of them to be written.
func (w *Worker) index() Stage {
	s := Stage{Name: "index", From: store.TopicEnriched, To: store.TopicIndexed, Batch: 16, Parallel: 2, Deadline: 10 * time.Second, Attempts: 5}
	s.Work = func(_ context.Context, e store.Event, _ store.Message) (Result, error) {
		return Result{Write: func(tx *store.Tx, m *store.Message) error {
			if !m.DeletedAt.IsZero() {
				return tx.Documents.Drop(m.ID)
			}
			d := search.Document(*m)
			return w.cfg.Index(tx, &d, e.Why != store.EventBackfill && e.Why != store.EventReplay)
		}}, nil
	}
	return s
}
