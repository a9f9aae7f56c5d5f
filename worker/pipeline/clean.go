package pipeline

import (
	"context"
	"slices"
	"time"

	"belfry/scheduler"
	"belfry/store"
)

// CleanKind is the kind and the name of the job that deletes messages which are too old or too many.
const CleanKind = "message_cleanup"

// cleanStep is how many messages are deleted in one run, which counts all that there are.
const cleanStep = 200

// Keeps returns how long messages are kept; 0 is for ever.
func (w *Worker) Keeps() time.Duration { return w.cfg.Keep }

// cleaner deletes old messages.
type cleaner struct{ *Worker }

// Run deletes a few messages that need not be kept any longer, with what was made of them.
func (w cleaner) Run(context.Context, store.Job) (scheduler.Outcome, error) {
	var old []uint64
	err := w.db.View(func(tx *store.Tx) error {
		over := tx.Messages.Count() - w.cfg.Most
		for m := range tx.Messages.Oldest() {
			if len(old) == cleanStep || len(old) >= over && (w.cfg.Keep == 0 || tx.Now().Sub(m.Date) <= w.cfg.Keep) {
				break
			}
			old = append(old, m.ID)
		}
		return nil
	})
	if err != nil || len(old) == 0 {
		return scheduler.Outcome{}, err
	}
	for some := range slices.Chunk(old, store.RemoveAtOnce) {
		err := w.db.Update(func(tx *store.Tx) error {
			for _, id := range some {
				if err := tx.Messages.Remove(id); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return scheduler.Outcome{}, err
		}
	}
	var out scheduler.Outcome
	if len(old) == cleanStep {
		out.Again, out.Step = w.db.Now(), true
	}
	return out, nil
}
