package channels

import (
	"slices"

	"belfry/store"
)

// The classes of holes.
const (
	HoleDeleted = "deleted" // seen to be deleted
	HoleService = "service" // service messages
	HoleUnknown = "unknown" // never seen, or not readable
)

// Hole is a run of ids of a channel that are no messages to read.
type Hole struct {
	From, To int
	Class    string
}

// Holes returns up to limit holes between the first and the last message of a channel, the latest first; those below an
// id unless that is 0.
func Holes(tx *store.Tx, id uint64, below, limit int) (holes []Hole, err error) {
	if _, err := Get(tx, id); err != nil {
		return nil, err
	}
	add := func(from, to int, class string) {
		if n := len(holes); n > 0 && holes[n-1].Class == class && holes[n-1].To == from-1 {
			holes[n-1].To = to
			return
		}
		holes = append(holes, Hole{from, to, class})
	}
	last := 0
	for m := range tx.Messages.Of(id, 0, below) {
		if last > 0 && m.MessageID > last+1 {
			add(last+1, m.MessageID-1, HoleUnknown)
		}
		switch last = m.MessageID; {
		case !m.DeletedAt.IsZero():
			add(last, last, HoleDeleted)
		case m.Service != "":
			add(last, last, HoleService)
		case m.Unreadable != "" && m.Date.IsZero():
			add(last, last, HoleUnknown)
		}
	}
	slices.Reverse(holes)
	return holes[:min(len(holes), limit)], nil
}
