package store

import (
	"errors"
	"fmt"
	"iter"
	"time"
)

// Batch is what a group handles next.
type Batch struct {
	Group Group
	Items []StreamItem // those with an id are tried again, those without come from the log, in its order
	Next  time.Time    // when there is something to do beside them; zero: nothing is known of
	upTo  uint64       // the cursor once the batch is handled
}

// Handled is what became of an item of a batch.
type Handled struct {
	State  string // StageDone, StageSkipped, StageRetrying or StageParked
	Reason Reason
	Due    time.Time // when it is tried again
	Free   bool      // it has not failed: the attempt does not count
}

// Fetch returns the next events of a group, at most limit: first those to be tried again now, of which half a batch at
// most, so that they keep no new one waiting. A damaged event is left out, and counts as skipped.
func (s Streams) Fetch(name string, limit int) (b Batch, err error) {
	if b.Group, err = s.Groups.ByName(name); err != nil {
		return b, fmt.Errorf("group %s: %w", name, err)
	}
	now, head := s.now(), s.Head(b.Group.Topic)
	for item := range s.Items.due(b.Group.ID, now) {
		if len(b.Items) >= (limit+1)/2 {
			b.Next = now
			break
		}
		b.Items = append(b.Items, item)
	}
	if b.upTo = min(head, b.Group.Cursor+uint64(limit-len(b.Items))); b.upTo < head {
		b.Next = now
	}
	if b.Next.IsZero() {
		b.Next = s.Items.after(b.Group.ID, now)
	}
	for event := range s.log(b.Group.Topic).From(b.Group.Cursor + 1) {
		if event.ID > b.upTo {
			break
		}
		b.Items = append(b.Items, StreamItem{Group: b.Group.ID, Event: event, Seq: event.ID})
	}
	return b, nil
}

// Empty reports whether there is nothing to do.
func (b Batch) Empty() bool { return len(b.Items) == 0 && b.upTo <= b.Group.Cursor }

// Commit records what became of a batch, which was fetched before: the group goes on behind it. It refuses a batch if
// the group has gone on meanwhile.
func (s Streams) Commit(b Batch, handled []Handled) error {
	g, err := s.Groups.ByName(b.Group.Name)
	if err != nil {
		return err
	}
	if g.Cursor != b.Group.Cursor {
		return fmt.Errorf("group %s is at event %d, no longer at %d", g.Name, g.Cursor, b.Group.Cursor)
	}
	fresh := 0
	for i, item := range b.Items {
		if item.ID == 0 {
			fresh++
		}
		if err := s.settle(&g, item, handled[i]); err != nil {
			return err
		}
	}
	g.Skipped += b.upTo - g.Cursor - uint64(fresh)
	g.Cursor = b.upTo
	g.count(s.now(), len(b.Items))
	if err := s.Groups.Put(&g); err != nil {
		return err
	}
	return s.trim(g.Topic, 2*len(b.Items))
}

// settle counts an item, or keeps it. One that was replayed meanwhile is handled once more.
func (s Streams) settle(g *Group, item StreamItem, h Handled) error {
	if item.ID != 0 {
		if now, err := s.Items.Get(item.ID); err == nil && !now.Due.Equal(item.Due) {
			return nil
		}
	}
	if h.State == StageRetrying || h.State == StageParked {
		if !h.Free {
			g.LastError, g.ErrorAt = h.Reason, s.now()
			item.Attempts++
		}
		item.At, item.Reason, item.Due, item.Parked = s.now(), h.Reason, h.Due, h.State == StageParked
		return s.Items.Put(&item)
	}
	if h.State == StageDone {
		g.Done++
	} else {
		g.Skipped++
	}
	if item.ID == 0 {
		return nil
	}
	return s.Items.Delete(item.ID)
}

// trim forgets events that every group has taken up, a few at a time.
func (s Streams) trim(topic Topic, most int) error {
	below := s.Head(topic)
	for g := range s.Groups.All() {
		if g.Topic == topic {
			below = min(below, g.Cursor)
		}
	}
	log := s.log(topic)
	var gone []uint64
	for event := range log.All() {
		if event.ID > below || len(gone) == most {
			break
		}
		gone = append(gone, event.ID)
	}
	for _, id := range gone {
		if err := log.Delete(id); err != nil {
			return err
		}
	}
	return nil
}

// Hold keeps a group from going on before a time, because what it needs cannot be had: nothing of a batch was handled.
func (s Streams) Hold(name string, until time.Time, why Reason) error {
	g, err := s.Groups.ByName(name)
	if err != nil {
		return err
	}
	g.NotBefore, g.LastError, g.ErrorAt = until, why, s.now()
	return s.Groups.Put(&g)
}

// Replay has a group handle a message once more.
func (s Streams) Replay(name string, message uint64) error {
	g, err := s.Groups.ByName(name)
	if err != nil {
		return err
	}
	for item := range s.Items.scan("message", key(nil).uint(message), key(nil).uint(message).next()) {
		if item.Group == g.ID { // it waits, or was parked
			item.Parked, item.Due, item.Attempts = false, s.now(), 0
			if err := s.Items.Put(&item); err != nil {
				return err
			}
			return s.wake(g)
		}
	}
	g.Replayed++
	if err := s.Groups.Put(&g); err != nil {
		return err
	}
	now := s.now()
	if err := s.Items.Put(&StreamItem{Group: g.ID, Event: Event{Message: message, Why: EventReplay, At: now}, Due: now, At: now}); err != nil {
		return err
	}
	return s.wake(g)
}

// release has the groups let go of what they have parked of a message that is gone.
func (s Streams) release(message uint64) error {
	for item := range s.Items.scan("message", key(nil).uint(message), key(nil).uint(message).next()) {
		if !item.Parked {
			continue // its turn comes, and it is skipped
		}
		item.Parked, item.Due = false, s.now()
		g, err := s.Groups.Get(item.Group)
		if err == nil {
			err = s.wake(g)
		}
		if err := errors.Join(err, s.Items.Put(&item)); err != nil {
			return err
		}
	}
	return nil
}

// Flow is what went into a group and what became of it.
type Flow struct {
	Group
	In, Retrying, Parked, Waiting uint64
	Oldest                        time.Time // since when the oldest event waits, or is tried again; zero if none does
}

// Lost is how many events are neither handled nor kept; it is 0 unless the file is damaged.
func (f Flow) Lost() int64 {
	return int64(f.In) - int64(f.Done+f.Skipped+f.Retrying+f.Parked+f.Waiting)
}

// Flows yields how each group stands.
func (s Streams) Flows() iter.Seq[Flow] {
	return func(yield func(Flow) bool) {
		for g := range s.Groups.All() {
			f := Flow{Group: g, Retrying: s.Items.count("due", g.ID), Parked: s.Items.count("parked", g.ID)}
			head := s.Head(g.Topic)
			f.In, f.Waiting = head-g.Start+g.Replayed, head-g.Cursor
			if f.Waiting > 0 {
				for event := range s.log(g.Topic).From(g.Cursor + 1) {
					f.Oldest = event.At
					break
				}
			}
			if f.Retrying > 0 {
				if since := s.retriedSince(g.ID); f.Oldest.IsZero() || !since.IsZero() && since.Before(f.Oldest) {
					f.Oldest = since
				}
			}
			if !yield(f) {
				return
			}
		}
	}
}

// retriedSince returns since when the oldest event is tried again by a group; zero if none is.
func (s Streams) retriedSince(group uint64) time.Time {
	for item := range s.Items.scan("due", key(nil).uint(group), key(nil).uint(group).next()) {
		if item.Reason.Code != ReasonCollecting {
			return item.Event.At
		}
		if !item.Due.After(s.now()) { // it waits for what comes from outside
			return item.Due
		}
	}
	return time.Time{}
}
