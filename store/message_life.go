package store

import (
	"errors"
	"iter"
	"time"
)

// Count returns how many messages are kept that have a date. It walks an index.
func (t Messages) Count() (n int) {
	for range t.entries("time", nil, nil) {
		n++
	}
	return n
}

// Oldest yields the messages by their dates, the oldest first.
func (t Messages) Oldest() iter.Seq[Message] { return t.scan("time", nil, nil) }

// Since yields the messages from a date on, the oldest first.
func (t Messages) Since(date time.Time) iter.Seq[Message] {
	return t.scan("time", key(nil).time(date), nil)
}

// RemoveAtOnce is how many messages one commit removes: the entries of their words lie all over the index, and whatever is
// due meanwhile waits for them.
const RemoveAtOnce = 16

// Remove deletes a message with all that was made of it. One that does not exist is no error.
func (t Messages) Remove(id uint64) error {
	if err := t.Delete(id); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if photo, err := t.in().Photos.Of(id); err == nil {
		if err := t.in().Photos.Delete(photo.ID); err != nil {
			return err
		}
	}
	return errors.Join(t.in().Documents.Drop(id), t.in().Streams.release(id))
}
