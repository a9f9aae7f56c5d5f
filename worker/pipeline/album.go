package pipeline

import (
	"context"
	"errors"
	"time"

	"belfry/store"
	"belfry/worker"
)

const (
	// albumPause is how long after the last member of an album a read of the channel shows that no other one follows: the
	// steps of one read take less.
	albumPause = 30 * time.Second
	// albumReads is for how many intervals of the channel that read is waited for.
	albumReads = 3
)

// album is the stage that says when an album is whole, however many reads its members came in: when another message
// follows its last member, or the channel was read once more without one. A member that comes later makes the album
// whole once more. The event is about the first member.
func (w *Worker) album() Stage {
	s := Stage{Name: "album", From: store.TopicParsed, To: "", Batch: 64, Parallel: 1, Deadline: 10 * time.Second, Attempts: 5}
	s.Work = func(_ context.Context, e store.Event, m store.Message) (Result, error) {
		if m.GroupedID == 0 || e.Why == store.EventEdited || e.Why == store.EventDeleted {
			return Result{}, nil
		}
		var first, last store.Message
		var again time.Time
		err := w.db.View(func(tx *store.Tx) (err error) {
			for member := range tx.Messages.Album(m.ChannelID, m.GroupedID) {
				if first.ID == 0 {
					first = member
				}
				last = member
			}
			again, err = albumAgain(tx, m, e.At)
			return err
		})
		switch {
		case err != nil || last.ID != m.ID:
			return Result{}, err
		case !again.IsZero():
			return Result{Again: again, Why: store.Reason{Code: store.ReasonCollecting}}, nil
		}
		return Result{Write: func(tx *store.Tx, _ *store.Message) error {
			return tx.Streams.Append(store.TopicAlbum, e.Why, first.ID)
		}}, nil
	}
	return s
}

// albumAgain returns when to look once more whether a member of an album is its last one; zero if it is. It was read at
// a time.
func albumAgain(tx *store.Tx, m store.Message, read time.Time) (time.Time, error) {
	for next := range tx.Messages.Of(m.ChannelID, m.MessageID+1, 0) {
		if !next.Date.IsZero() { // else it may have been a member
			return time.Time{}, nil
		}
	}
	c, err := tx.Channels.Get(m.ChannelID)
	if errors.Is(err, store.ErrNotFound) { // it was removed
		return time.Time{}, nil
	}
	pause := read.Add(albumPause)
	if err != nil || read.After(tx.Now()) || c.LastParsedAt.After(pause) || tx.Now().After(pause.Add(albumReads*c.Interval)) {
		return time.Time{}, err
	}
	return worker.Later(c.LastParsedAt.Add(c.Interval+albumPause), tx.Now().Add(albumPause)), nil
}
