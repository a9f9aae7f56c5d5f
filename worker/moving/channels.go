package moving

import (
	"context"
	"errors"
	"strconv"

	"belfry/store"
	"belfry/worker/channels"
)

// channel reads a row of channels. Reading goes on where the replaced system was.
func (w *Worker) channel(_ context.Context, r *reader, _ uint64) (func(*store.Tx) (uint64, error), error) {
	id, err := strconv.ParseInt(r.text("tg_channel_id"), 10, 64)
	if err != nil {
		return nil, store.Invalid("tg_channel_id", "invalid.import_channel_id")
	}
	imported := channels.Imported{
		PeerID: id, Username: r.text("username"), Title: r.text("title"), Active: r.yes("is_active", true),
		Since: r.time("last_parsed_at"), CreatedAt: r.time("created_at"),
	}
	imported.IdentityID, err = w.Channels.Account(r.batch.IdentityID)
	return func(tx *store.Tx) (uint64, error) {
		c, err := w.Channels.Import(tx, imported)
		return c.ID, err
	}, err
}

// message reads a row of posts, the messages of channels.
func (w *Worker) message(_ context.Context, r *reader, _ uint64) (func(*store.Tx) (uint64, error), error) {
	m := store.Message{MessageID: r.number("telegram_message_id"), Text: r.values["content"], Date: r.time("posted_at"), ReadAt: r.time("created_at")}
	if m.MessageID <= 0 {
		r.wrong("telegram_message_id", "invalid.import_message_id")
	}
	if m.Date.IsZero() {
		r.wrong("posted_at", "invalid.time_missing")
	}
	if w.Keep > 0 && r.now.Sub(m.Date) > w.Keep {
		r.report.note("import.old", w.Keep)
	}
	source := r.text("channel_id")
	return func(tx *store.Tx) (uint64, error) {
		channel, err := tx.Moved.Of("channels", source)
		if err == nil {
			m.ID, m.ChannelID = 0, channel.OurID
			m, err = w.Channels.ImportMessage(tx, m)
		}
		if errors.Is(err, store.ErrNotFound) {
			return 0, store.Invalid("channel_id", "invalid.import_no_channel", source)
		}
		return m.ID, err
	}, nil
}
