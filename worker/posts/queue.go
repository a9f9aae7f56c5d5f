package posts

import (
	"time"

	"belfry/i18n"
	"belfry/scheduler"
	"belfry/store"
)

// maxQueue is how far ahead a post is queued at most.
const maxQueue = 366 * 24 * time.Hour

// NextSlot returns the next time of an identity's queue at which it has no post for the channel, but for the one that is
// to be queued, if it exists. It refuses with a [*store.FieldError] where the queue has no times, or none that is free.
func NextSlot(tx *store.Tx, identity store.Identity, target string, post uint64) (time.Time, error) {
	if len(identity.Slots) == 0 {
		return time.Time{}, store.Invalid("queue", "invalid.no_slots", identity.Name, i18n.M("platform."+identity.Platform))
	}
	for at := tx.Now(); ; {
		var next time.Time
		for _, slot := range identity.Slots {
			of, err := scheduler.Next(slot.Trigger(), "", at)
			if err != nil {
				return next, err
			}
			if next.IsZero() || of.Before(next) {
				next = of
			}
		}
		if next.After(tx.Now().Add(maxQueue)) {
			return next, store.Invalid("queue", "invalid.queue_full", identity.Name, i18n.M("platform."+identity.Platform))
		}
		if !tx.Posts.Taken(identity.ID, target, next, post) {
			return next, nil
		}
		at = next
	}
}
