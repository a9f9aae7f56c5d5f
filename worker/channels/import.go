package channels

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"belfry/platform"
	"belfry/store"
)

// Imported is a channel as another system has read it.
type Imported struct {
	PeerID          int64 // as Telegram or the Bot API writes it
	Username, Title string
	IdentityID      uint64 // that reads it; see [Worker.Account]
	Active          bool
	Since           time.Time // it is read from there; zero: 7 days ago
	CreatedAt       time.Time
}

// botPrefix is what the Bot API adds to the id of a channel, before it makes it negative.
const botPrefix = 1_000_000_000_000

// Import adds a channel that another system has read; one that is known stays as it is. It is found at Telegram by its
// name when it is read first. It refuses an id that is none with a [*store.FieldError].
func (w *Worker) Import(tx *store.Tx, i Imported) (store.Channel, error) {
	if i.PeerID < 0 {
		i.PeerID = -i.PeerID - botPrefix
	}
	if i.PeerID <= 0 {
		return store.Channel{}, store.Invalid("tg_channel_id", "invalid.import_channel_id")
	}
	if known, err := tx.Channels.ByPeer(i.PeerID); err == nil {
		if known.Removed {
			return known, store.Conflict("conflict.channel_going", known.Name())
		}
		return known, nil
	}
	if i.Since.IsZero() {
		i.Since = tx.Now().Add(-sinceDefault)
	}
	if i.CreatedAt.IsZero() {
		i.CreatedAt = tx.Now()
	}
	c := store.Channel{
		PeerID: i.PeerID, Username: strings.TrimPrefix(strings.TrimSpace(i.Username), "@"), Title: i.Title, IdentityID: i.IdentityID,
		Active: i.Active, Interval: Interval, Since: i.Since, CreatedAt: i.CreatedAt, UpdatedAt: tx.Now(),
	}
	c.Place.Unmet = c.Username != ""
	if err := tx.Channels.Put(&c); err != nil || !c.Active {
		return c, err
	}
	return c, schedule(tx, c, false)
}

// ImportMessage writes a message that another system has read, and tells the pipeline of it as of one of the past. One
// that is known stays as it is.
func (w *Worker) ImportMessage(tx *store.Tx, m store.Message) (store.Message, error) {
	known, err := tx.Messages.ByMessage(m.ChannelID, m.MessageID)
	if err == nil || !errors.Is(err, store.ErrNotFound) {
		return known, err
	}
	c, err := Get(tx, m.ChannelID)
	if err != nil {
		return m, err
	}
	if m.ReadAt.IsZero() {
		m.ReadAt = tx.Now()
	}
	m.Stages = map[string]store.StageState{store.StagePersist: {State: store.StageDone, At: tx.Now(), Attempts: 1}}
	if err := tx.Messages.Put(&m); err != nil {
		return m, err
	}
	if m.Date.After(c.LastMessageAt) {
		c.LastMessageAt = m.Date
		if err := tx.Channels.Put(&c); err != nil {
			return m, err
		}
	}
	return m, appendParsed(tx, m.ID, store.EventBackfill)
}

// meet finds a channel that the account has not met by its name, so that the account may read it. The name may be another
// channel's by now, or nobody's, and a channel may have none: then it is found by its id if the account is in it.
func (r *reading) meet(ctx context.Context) (found, error) {
	name := "@" + r.channel.Username
	chat, err := r.network.FindChannel(ctx, r.identity.ID, name)
	if err == nil && chat.ID != r.channel.PeerID {
		err = &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Err: fmt.Errorf("%s is another channel now: remove this one and add it by its new name", name)}
	}
	if err != nil && platform.AsError(err).Kind == platform.Refused {
		if byID, e := r.network.FindChannel(ctx, r.identity.ID, strconv.FormatInt(r.channel.PeerID, 10)); e == nil {
			chat, err = byID, nil
		} else if r.channel.Username == "" {
			err = e
		}
	}
	return found{chat: chat, more: true, settle: func(c *store.Channel, _ time.Time) { c.Place.Unmet = false }}, err
}
