package media

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"belfry/i18n"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

const (
	// cleanEvery is the time between two clean-ups.
	cleanEvery = 24 * time.Hour
	// cutOff is the age from which a file that is not ready is taken for one that never will be.
	cutOff = 24 * time.Hour
)

// removeCutOff removes what a process before has begun to write or to remove. It is called before anything is served.
func (w *Worker) removeCutOff() error {
	return w.removePartial(func(store.MediaFile) bool { return true })
}

func (w *Worker) removePartial(which func(store.MediaFile) bool) error {
	gone, err := worker.Read(w.db, func(tx *store.Tx) ([]store.MediaFile, error) { return slices.Collect(tx.Media.Partial()), nil })
	for _, f := range gone {
		if err == nil && which(f) {
			err = w.db.RemoveMedia(f.ID)
		}
	}
	if err != nil {
		return fmt.Errorf("remove what is left of uploads: %w", err)
	}
	return nil
}

// Delete removes a file. While something uses it, it is refused with a [*store.ConflictError].
func (w *Worker) Delete(id uint64) error {
	err := w.db.Update(func(tx *store.Tx) error {
		if _, err := tx.Media.Whole(id); err != nil {
			return err
		}
		if user, used := tx.Media.Users()[id]; used {
			return store.Conflict("conflict.media_used", id, i18n.M("media.user."+user.Kind, user.ID))
		}
		return tx.Media.Hide(id)
	})
	if err != nil {
		return err
	}
	return w.db.RemoveMedia(id)
}

// cleaner deletes what nothing uses.
type cleaner struct{ *Worker }

// Run notes which files are used, and deletes those that were not for too long.
func (w cleaner) Run(ctx context.Context, _ store.Job) (scheduler.Outcome, error) {
	now := w.db.Now()
	err := w.removePartial(func(f store.MediaFile) bool { return now.Sub(f.CreatedAt) > cutOff })
	if err != nil {
		return scheduler.Outcome{}, err
	}
	var used []store.Media
	var old []store.MediaFile
	err = w.db.View(func(tx *store.Tx) error {
		users := tx.Media.Users()
		for f := range tx.Media.Ready() {
			if _, is := users[f.ID]; is {
				used = append(used, store.Media{ID: f.ID})
			} else if now.Sub(worker.Later(f.CreatedAt, f.UsedAt)) > w.cfg.Keep {
				old = append(old, f)
			}
		}
		return nil
	})
	for some := range slices.Chunk(used, 100) {
		if err == nil {
			err = w.db.Update(func(tx *store.Tx) error { return tx.Media.Use(some) })
		}
	}
	for _, f := range old {
		if err == nil && ctx.Err() == nil {
			err = w.remove(f)
		}
	}
	return scheduler.Outcome{}, errors.Join(err, ctx.Err())
}

// remove removes a file unless it was used since it was read.
func (w cleaner) remove(f store.MediaFile) error {
	gone := false
	err := w.db.Update(func(tx *store.Tx) error {
		now, err := tx.Media.Whole(f.ID)
		gone = err == nil && now.UsedAt.Equal(f.UsedAt)
		if !gone {
			return nil //nolint:nilerr // it is gone already, or damaged
		}
		return tx.Media.Hide(f.ID)
	})
	if err != nil || !gone {
		return err
	}
	return w.db.RemoveMedia(f.ID)
}
