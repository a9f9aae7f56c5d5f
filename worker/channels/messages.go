package channels

import (
	"context"
	"errors"
	"net/http"
	"reflect"
	"time"

	"belfry/platform"
	"belfry/store"
)

// appendParsed tells the pipeline of a message.
func appendParsed(tx *store.Tx, id uint64, why string) error {
	return tx.Streams.Append(store.TopicParsed, why, id)
}

// put writes a message as the network tells it now. One that is known and has not changed stays as it is; one that was
// deleted stays deleted, whatever an older answer says.
func put(tx *store.Tx, c *store.Channel, m platform.Message, why string, photo []byte) error {
	if m.Deleted {
		return remove(tx, *c, m.ID)
	}
	row, err := tx.Messages.ByMessage(c.ID, m.ID)
	if damaged, ok := errors.AsType[*store.CorruptError](err); ok { // it is read anew
		err = errors.Join(tx.Messages.LetGo(damaged.ID), store.ErrNotFound)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if isNew := err != nil; isNew {
		if m.Date.Before(c.Since) && m.Unreadable == "" {
			return nil
		}
		if why == store.EventNew && m.ID <= c.LastMessageID && !m.EditedAt.IsZero() { // it was cleaned up, and nobody is told of it again
			why = store.EventBackfill
		}
		row = store.Message{ChannelID: c.ID, MessageID: m.ID, ReadAt: tx.Now(), Stages: map[string]store.StageState{
			store.StagePersist: {State: store.StageDone, At: tx.Now(), Attempts: 1},
		}}
	} else if !row.DeletedAt.IsZero() {
		return nil
	} else if edited, changed := differs(row, m); !changed {
		return nil
	} else if edited {
		why = store.EventEdited
		if row.Unreadable != "" {
			why = store.EventNew
		}
	} else {
		why = ""
	}
	describe(&row, m)
	if err := tx.Messages.Put(&row); err != nil {
		return err
	}
	if row.Service == "" && row.Date.After(c.LastMessageAt) {
		c.LastMessageAt = row.Date
	}
	if photo != nil {
		if err := tx.Photos.Add(&store.Photo{MessageID: row.ID, Type: http.DetectContentType(photo), Data: photo}); err != nil {
			return err
		}
	}
	if why == "" || row.Service != "" || row.Unreadable != "" {
		return nil
	}
	return appendParsed(tx, row.ID, why)
}

// differs reports whether a message is told otherwise than it is known: what it says, or anything. An answer that is
// older than what is known does not count as an edit.
func differs(row store.Message, m platform.Message) (edited, changed bool) {
	after := row
	describe(&after, m)
	changed = !reflect.DeepEqual(row, after)
	before := row
	before.Views, before.Forwards, before.Reactions = after.Views, after.Forwards, after.Reactions
	edited = !reflect.DeepEqual(before, after)
	return edited, changed
}

// describe writes into a row what the network says of the message. Of an answer that is older than the last edit it takes
// nothing; of one that cannot be read, that it cannot.
func describe(row *store.Message, m platform.Message) {
	if m.Unreadable != "" && !row.Date.IsZero() {
		row.Unreadable = m.Unreadable
		return
	}
	if row.EditedAt.After(m.EditedAt) {
		return
	}
	row.Date, row.Text, row.GroupedID, row.EditedAt = m.Date, m.Text, m.GroupedID, m.EditedAt
	row.ReplyTo, row.Views, row.Forwards, row.Service, row.Unreadable = m.ReplyTo, m.Views, m.Forwards, m.Service, m.Unreadable
	row.Entities, row.Reactions = nil, nil
	for _, e := range m.Entities {
		row.Entities = append(row.Entities, store.MessageEntity(e))
	}
	for _, r := range m.Reactions {
		row.Reactions = append(row.Reactions, store.MessageReaction(r))
	}
	row.Media, row.Forward = (*store.MessageMedia)(m.Media), (*store.MessageForward)(m.Forward)
}

// remove writes that a message is deleted. Of one that was never read only that is known; one from before the first that
// was read is no matter.
func remove(tx *store.Tx, c store.Channel, id int) error {
	row, err := tx.Messages.ByMessage(c.ID, id)
	if errors.Is(err, store.ErrNotFound) {
		for first := range tx.Messages.Of(c.ID, 0, 0) {
			if id < first.MessageID {
				return nil
			}
			return tx.Messages.Put(&store.Message{ChannelID: c.ID, MessageID: id, ReadAt: tx.Now(), DeletedAt: tx.Now()})
		}
		return nil
	}
	if err != nil || !row.DeletedAt.IsZero() {
		return err
	}
	row.DeletedAt = tx.Now()
	if err := tx.Messages.Put(&row); err != nil {
		return err
	}
	if photo, err := tx.Photos.Of(row.ID); err == nil {
		if err := tx.Photos.Delete(photo.ID); err != nil {
			return err
		}
	}
	if row.Service != "" || row.Unreadable != "" {
		return nil
	}
	return appendParsed(tx, row.ID, store.EventDeleted)
}

// photosTime bounds how long pictures are fetched in one read.
const photosTime = 2 * time.Minute

// photos fetches the pictures of messages that are not known yet. One that cannot be had is left out; an error means that
// the network cannot be reached, and the read is made again.
func (r *reading) photos(ctx context.Context, messages []platform.Message) (map[int][]byte, error) {
	if !r.cfg.Photos {
		return nil, nil
	}
	var wanted []platform.Message
	err := r.db.View(func(tx *store.Tx) error {
		for _, m := range messages {
			if m.Photo == nil || m.Date.Before(r.channel.Since) {
				continue
			}
			if _, err := tx.Messages.ByMessage(r.channel.ID, m.ID); err != nil {
				wanted = append(wanted, m)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, photosTime)
	defer cancel()
	all := make(map[int][]byte)
	for _, m := range wanted {
		data, err := r.network.Photo(ctx, r.identity.ID, r.channel.PeerID, m.ID, *m.Photo)
		if err == nil {
			all[m.ID] = data
			continue
		}
		switch e := platform.AsError(err); {
		case e.Kind == platform.Wait || errors.Is(ctx.Err(), context.DeadlineExceeded): // the messages do not wait for their pictures
			return all, nil
		case e.Scope == platform.ScopeIdentity:
			return nil, err
		}
	}
	return all, nil
}
