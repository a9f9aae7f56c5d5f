package channels

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/send"
)

// patience is how long adding a channel waits for the network to find it.
const patience = 20 * time.Second

// Request is a channel as its owner names it.
type Request struct {
	Channel    string    // @name, a link, or the id of one that the account's dialogs have
	IdentityID uint64    // that reads it; 0: the only user account
	Interval   string    // such as 5m; empty: the default
	Since      time.Time // zero: 7 days ago
}

// Draft is a channel that was found and can be added.
type Draft struct{ channel store.Channel }

// Channel is the channel as it would be added.
func (d Draft) Channel() store.Channel { return d.channel }

// Prepare finds a channel. It refuses, with a [*store.FieldError], what cannot be read.
func (w *Worker) Prepare(ctx context.Context, r Request) (d Draft, err error) {
	name := strings.TrimSpace(r.Channel)
	if name == "" {
		return d, store.Invalid("channel", "invalid.channel_empty")
	}
	now := w.db.Now().UTC()
	c := store.Channel{Active: true, Interval: Interval, Since: r.Since.UTC()}
	if r.Interval != "" {
		if c.Interval, err = readInterval(r.Interval); err != nil {
			return d, err
		}
	}
	if r.Since.IsZero() {
		c.Since = now.Add(-sinceDefault)
	} else if r.Since.After(now) {
		return d, store.Invalid("since", "invalid.channel_since")
	}
	if c.IdentityID, err = w.Account(r.IdentityID); err != nil {
		return d, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	chat, err := w.network.FindChannel(ctx, c.IdentityID, name)
	if err != nil {
		return d, refused(err)
	}
	c.PeerID, c.Username, c.Title = chat.ID, chat.Username, chat.Title
	return Draft{c}, nil
}

// refused is what people are told of an error of the network about a channel.
func refused(err error) error {
	e := platform.AsError(err)
	if e.Kind == platform.Refused {
		return store.Invalid("channel", "invalid.channel_refused", store.Detail(e.Error()))
	}
	return send.Conflict(e)
}

func readInterval(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < shortest || d > longest {
		return 0, store.Invalid("interval", "invalid.channel_interval")
	}
	return d, nil
}

// Account returns the user account with an id or, for 0, the only one. It refuses others with a [*store.FieldError].
func (w *Worker) Account(id uint64) (uint64, error) {
	err := w.db.View(func(tx *store.Tx) error {
		if id != 0 {
			identity, err := tx.Identities.Get(id)
			if errors.Is(err, store.ErrNotFound) || err == nil && identity.Kind != store.IdentityUser {
				return store.Invalid("identity_id", "invalid.channel_account")
			}
			return err
		}
		all := Accounts(tx)
		if len(all) != 1 {
			return store.Invalid("identity_id", "invalid.channel_which_account")
		}
		id = all[0].ID
		return nil
	})
	return id, err
}

// Accounts returns the accounts that can read channels.
func Accounts(tx *store.Tx) []store.Identity {
	return slices.DeleteFunc(tx.Identities.Of("telegram"), func(i store.Identity) bool { return i.Kind != store.IdentityUser })
}

// Create adds a channel, which is read at once. One that is there is refused.
func (w *Worker) Create(tx *store.Tx, d Draft) (store.Channel, error) {
	c := d.channel
	if known, err := tx.Channels.ByPeer(c.PeerID); err == nil {
		if known.Removed {
			return c, store.Conflict("conflict.channel_going", known.Name())
		}
		return c, store.Conflict("conflict.channel_known", known.Name())
	}
	c.CreatedAt, c.UpdatedAt = tx.Now(), tx.Now()
	if err := tx.Channels.Put(&c); err != nil {
		return c, err
	}
	return c, schedule(tx, c, true)
}

// schedule puts the job of a channel into the schedule; now has it read at once.
func schedule(tx *store.Tx, c store.Channel, now bool) error {
	identity, err := tx.Identities.Get(c.IdentityID)
	if errors.Is(err, store.ErrNotFound) {
		return store.Invalid("identity_id", "invalid.channel_account")
	}
	if err != nil {
		return err
	}
	job := c.Job(identity.ReadLane())
	if now {
		job.Due = tx.Now()
	}
	return scheduler.Put(tx, job)
}

// Change is what an owner may change of a channel; nil and 0 leave it.
type Change struct {
	Interval   *string
	Active     *bool
	IdentityID uint64 // the account that reads it
}

// Change changes a channel. A read under way is not disturbed; what it brings is kept.
func (w *Worker) Change(tx *store.Tx, id uint64, change Change) (store.Channel, error) {
	c, err := Get(tx, id)
	if err != nil {
		return c, err
	}
	resumed := change.Active != nil && *change.Active && !c.Active
	if change.Interval != nil {
		if c.Interval, err = readInterval(*change.Interval); err != nil {
			return c, err
		}
	}
	if change.Active != nil {
		c.Active = *change.Active
	}
	moved := change.IdentityID != 0 && change.IdentityID != c.IdentityID
	if moved {
		if !slices.ContainsFunc(Accounts(tx), func(i store.Identity) bool { return i.ID == change.IdentityID }) {
			return c, store.Invalid("identity_id", "invalid.channel_account")
		}
		c.IdentityID, c.Place.Unmet = change.IdentityID, true
	}
	if resumed || moved {
		c.Failures, c.FailedSince, c.LastError = 0, time.Time{}, store.Reason{}
	}
	c.UpdatedAt = tx.Now()
	if err := tx.Channels.Put(&c); err != nil {
		return c, err
	}
	if !c.Active {
		return c, scheduler.Delete(tx, c.JobName())
	}
	if err := schedule(tx, c, resumed); err != nil {
		return c, err
	}
	if change.Active != nil { // it may have been paused among the jobs
		_, err = scheduler.Resume(tx, c.JobName())
	}
	if err == nil && moved {
		err = tx.Jobs.Wake(c.JobName(), tx.Now())
	}
	return c, err
}

// Get returns a channel that is not being removed.
func Get(tx *store.Tx, id uint64) (store.Channel, error) {
	c, err := tx.Channels.Get(id)
	if err == nil && c.Removed {
		err = store.ErrNotFound
	}
	return c, err
}

// Pause keeps a channel from being read until it is resumed.
func (w *Worker) Pause(tx *store.Tx, id uint64) (store.Channel, error) {
	return w.Change(tx, id, Change{Active: new(false)})
}

// Resume lets a channel be read again, beginning at once with what has come meanwhile.
func (w *Worker) Resume(tx *store.Tx, id uint64) (store.Channel, error) {
	return w.Change(tx, id, Change{Active: new(true)})
}

// ReadNow has a channel read at once. Its schedule is not shifted.
func (w *Worker) ReadNow(tx *store.Tx, id uint64) (store.Channel, error) {
	c, err := Get(tx, id)
	if err != nil {
		return c, err
	}
	if !c.Active {
		return c, store.Conflict("conflict.channel_paused", c.Name())
	}
	_, err = scheduler.RunNow(tx, c.JobName())
	return c, err
}

// Remove takes a channel out of all lists. Its job deletes its messages, and then the channel. It refuses while a watch looks
// at nothing else.
func (w *Worker) Remove(tx *store.Tx, id uint64) error {
	c, err := Get(tx, id)
	if err != nil {
		return err
	}
	if err := unwatch(tx, id); err != nil {
		return err
	}
	c.Removed, c.UpdatedAt = true, tx.Now()
	if err := tx.Channels.Put(&c); err != nil {
		return err
	}
	job := c.Job("channels:remove") // whatever becomes of the account
	job.Due = tx.Now()
	if _, err := tx.Jobs.ByName(job.Name); err == nil {
		job.Trigger.Every = time.Minute // another one, so that it begins anew
	}
	if err := scheduler.Put(tx, job); err != nil {
		return err
	}
	_, err = scheduler.Resume(tx, job.Name) // it may have been paused among the jobs
	return err
}

// unwatch takes a channel out of the watches that look at it, and refuses that where one would find nothing any more.
func unwatch(tx *store.Tx, id uint64) error {
	for _, watch := range slices.Collect(tx.Watches.All()) {
		i := slices.Index(watch.Channels, id)
		if i < 0 {
			continue
		}
		if watch.Channels = slices.Delete(watch.Channels, i, i+1); len(watch.Channels) == 0 {
			return store.Conflict("conflict.channel_watched", watch.Name)
		}
		if err := tx.Watches.Put(&watch); err != nil {
			return err
		}
	}
	return nil
}

// clean deletes some messages of a channel that was removed; at last the channel and its job.
func (w *Worker) clean(c store.Channel) scheduler.Outcome {
	out := scheduler.Outcome{Again: w.db.Now(), Step: true}
	out.Write = func(tx *store.Tx) error {
		left := 0
		for m := range tx.Messages.Of(c.ID, 0, 0) {
			if left++; left > store.RemoveAtOnce {
				return nil
			}
			if err := tx.Messages.Remove(m.ID); err != nil {
				return err
			}
		}
		return errors.Join(tx.Channels.Delete(c.ID), scheduler.Delete(tx, c.JobName()))
	}
	return out
}

// Chats lists what an account could read and is not read yet.
func (w *Worker) Chats(ctx context.Context, identityID uint64) ([]platform.Chat, error) {
	id, err := w.Account(identityID)
	if err != nil {
		return nil, err
	}
	chats, err := w.network.Chats(ctx, id)
	if err != nil {
		return nil, refused(err)
	}
	err = w.db.View(func(tx *store.Tx) error {
		chats = slices.DeleteFunc(chats, func(c platform.Chat) bool {
			_, err := tx.Channels.ByPeer(c.ID)
			return c.Type != platform.ChatChannel || err == nil
		})
		return nil
	})
	return chats, err
}

// Preview is what the first read of a channel would bring.
type Preview struct {
	Channel  store.Channel
	Messages []store.Message // the first ones, in the order of their ids
	More     bool            // there are more
}

// DryRun finds a channel and reads its first messages. It writes nothing.
func (w *Worker) DryRun(ctx context.Context, r Request) (p Preview, err error) {
	const shown = 20
	d, err := w.Prepare(ctx, r)
	if err != nil {
		return p, err
	}
	p.Channel = d.channel
	h, err := w.network.HistoryBefore(ctx, p.Channel.IdentityID, p.Channel.PeerID, p.Channel.Since)
	if err != nil {
		return p, refused(err)
	}
	last := 0
	for _, m := range h.Messages {
		last = m.ID
	}
	if h, err = w.network.History(ctx, p.Channel.IdentityID, p.Channel.PeerID, last, shown); err != nil {
		return p, refused(err)
	}
	for _, m := range h.Messages {
		row := store.Message{MessageID: m.ID}
		describe(&row, m)
		p.Messages = append(p.Messages, row)
	}
	p.More = len(h.Messages) == shown
	return p, nil
}
