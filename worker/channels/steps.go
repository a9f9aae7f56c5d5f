package channels

import (
	"context"
	"errors"
	"slices"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
)

// probed is how many ids after the last message are looked at for the one that cannot be read.
const probed = 10 * pageSize

// size is how many messages are asked for at once.
func (r *reading) size() int {
	if r.channel.Place.Page > 0 {
		return r.channel.Place.Page
	}
	return pageSize
}

// begin finds the message after which reading begins: the latest one that is too old.
func (r *reading) begin(ctx context.Context) (found, error) {
	h, err := r.network.HistoryBefore(ctx, r.identity.ID, r.channel.PeerID, r.channel.Since)
	last := 0
	for _, m := range h.Messages {
		last = max(last, m.ID)
	}
	return found{chat: h.Chat, more: true, settle: func(c *store.Channel, _ time.Time) {
		c.Place.Begun, c.Place.NextPts, c.LastMessageID = true, h.Pts, max(c.LastMessageID, last)
	}}, err
}

// page reads history upward. At its end the difference takes over, from the state in which the channel was when history
// was begun: what has happened since is told again, and what is known already changes nothing.
func (r *reading) page(ctx context.Context) (found, error) {
	f, err := r.after(ctx)
	if err != nil {
		return f, err
	}
	settle, end := f.settle, !f.more
	f.settle = func(c *store.Channel, now time.Time) {
		settle(c, now)
		if end && c.Place.NextPts != 0 {
			c.Place.Pts, c.Place.NextPts, c.Place.Counted = c.Place.NextPts, 0, now
		}
	}
	f.more = f.more || r.channel.Place.Again > 0 && r.channel.Place.NextPts != 0
	return f, nil
}

// after reads the messages that follow the last one.
func (r *reading) after(ctx context.Context) (f found, err error) {
	h, err := r.network.History(ctx, r.identity.ID, r.channel.PeerID, r.channel.LastMessageID, r.size())
	if isMalformed(err) && r.size() == 1 {
		return r.pass(ctx, err)
	}
	f = found{chat: h.Chat, messages: h.Messages, more: len(h.Messages) > 0, why: store.EventNew}
	if r.channel.Place.Counted.IsZero() {
		f.why = store.EventBackfill
	}
	f.settle = upTo(h.Messages, h.Pts)
	return f, err
}

// upTo goes on after messages that were read when the channel was in the state pts or later. 0: nothing was read.
func upTo(messages []platform.Message, pts int) func(*store.Channel, time.Time) {
	return func(c *store.Channel, _ time.Time) {
		for _, m := range messages {
			c.LastMessageID = max(c.LastMessageID, m.ID)
		}
		if c.Place.NextPts == 0 && c.Place.Pts == 0 {
			c.Place.NextPts = pts
		}
	}
}

// pass finds the message that follows the last one and cannot be read, and goes past it. Messages that it meets on the way
// are read: then it was the answer that could not be, and not a message. If those that were read before cannot be read
// either, err is returned.
func (r *reading) pass(ctx context.Context, err error) (found, error) {
	last, pts := r.channel.LastMessageID, 0
	var all []platform.Message
	readable := func(from, to int) (bool, error) {
		var ids []int
		for id := from; id <= to; id++ {
			ids = append(ids, id)
		}
		h, err := r.network.MessagesByID(ctx, r.identity.ID, r.channel.PeerID, ids)
		if isMalformed(err) {
			return false, nil
		}
		if pts == 0 {
			pts = h.Pts
		}
		for _, m := range h.Messages {
			if !m.Deleted {
				all = append(all, m)
			}
		}
		return err == nil, err
	}
	past := func(messages []platform.Message) (found, error) {
		return found{messages: messages, more: true, why: store.EventNew, settle: upTo(messages, pts)}, nil
	}
	if !r.othersReadable(ctx, last) {
		return found{}, err
	}
	for from := last + 1; from <= last+probed; from += pageSize {
		to := from + pageSize - 1
		ok, e := readable(from, to)
		switch {
		case e != nil:
			return found{}, e
		case ok && len(all) > 0:
			return past(all)
		case ok:
			continue
		}
		for from < to { // the lowest one that cannot be read is between them
			middle := (from + to) / 2
			if ok, e = readable(from, middle); e != nil {
				return found{}, e
			}
			if ok {
				from = middle + 1
			} else {
				to = middle
			}
		}
		switch ok, e = readable(from, from); {
		case e != nil:
			return found{}, e
		case !ok:
			return past(append(all, platform.Message{ID: from, Unreadable: err.Error()}))
		case len(all) > 0: // it was the answer
			return past(all)
		}
		return found{}, err
	}
	return found{}, err
}

func isMalformed(err error) bool {
	e, ok := errors.AsType[*platform.Error](err)
	return ok && e.Code == platform.CodeMalformed
}

// difference reads what has happened since the last read.
func (r *reading) difference(ctx context.Context) (found, error) {
	d, err := r.network.Difference(ctx, r.identity.ID, r.channel.PeerID, r.channel.Place.Pts)
	if err != nil {
		return found{}, err
	}
	counted := r.db.Now().Sub(r.channel.Place.Counted).Abs() // or the clock was set back
	again := d.TooLong && counted >= time.Minute             // else it has just been read, and would be for ever
	more := d.More && d.Pts != r.channel.Place.Pts           // one that stands still would be asked for for ever
	f := found{chat: d.Chat, messages: d.Messages, deleted: d.Deleted, more: more || again, why: store.EventNew}
	_, held := r.held[ofMessages] // a round that cannot go on would be begun again and again
	follow := !held && !f.more && !d.TooLong && r.channel.LastMessageID > 0 && counted >= followEach*r.channel.Interval
	f.more = f.more || follow
	f.settle = func(c *store.Channel, now time.Time) {
		if d.TooLong {
			readAgain(c)
			c.Place.NextPts = d.Pts
			return
		}
		c.Place.Pts = d.Pts
		for _, m := range d.Messages {
			c.LastMessageID = max(c.LastMessageID, m.ID)
		}
		if follow {
			c.Place.Counts = c.LastMessageID
		}
	}
	return f, nil
}

// readAgain has history read after the last message, and then what is known once more.
func readAgain(c *store.Channel) {
	c.Place.Pts, c.Place.NextPts, c.Place.Again = 0, 0, c.LastMessageID
}

// again asks for known messages once more, because Telegram did not tell what has happened to them.
func (r *reading) again(ctx context.Context) (found, error) {
	return r.known(ctx, r.channel.Place.Again, known, func(c *store.Channel, next int, _ time.Time) { c.Place.Again = next })
}

// counts reads the views and reactions of the latest messages.
func (r *reading) counts(ctx context.Context) (found, error) {
	return r.known(ctx, r.channel.Place.Counts, followed, func(c *store.Channel, next int, now time.Time) {
		if c.Place.Counts = next; next == 0 {
			c.Place.Counted = now
		}
	})
}

// known asks for the known messages with ids up to from that are not older than age, as many as may be asked at once.
// place notes up to which id the next ones are; 0 if there are no more. Then new ones are looked for: the round may have
// begun long ago.
func (r *reading) known(ctx context.Context, from int, age time.Duration, place func(c *store.Channel, next int, now time.Time)) (f found, err error) {
	rows, err := r.below(from, age, r.size())
	if err != nil {
		return f, err
	}
	var ids []int
	next := 0
	for _, m := range rows {
		next = m.MessageID - 1
		if m.DeletedAt.IsZero() && m.Unreadable == "" {
			ids = append(ids, m.MessageID)
		}
	}
	if len(rows) < r.size() {
		next = 0
	}
	f = found{more: true, why: store.EventNew, settle: func(c *store.Channel, now time.Time) { place(c, next, now) }}
	if len(ids) == 0 {
		return f, nil
	}
	h, err := r.network.MessagesByID(ctx, r.identity.ID, r.channel.PeerID, ids)
	if isMalformed(err) && r.size() == 1 && r.othersReadable(ctx, next) {
		f.messages = []platform.Message{{ID: ids[0], Unreadable: err.Error()}}
		return f, nil
	}
	f.chat, f.messages = h.Chat, h.Messages
	return f, err
}

// othersReadable reports whether one of the messages up to an id can be read, so that it is not the channel as a whole
// that cannot be.
func (r *reading) othersReadable(ctx context.Context, from int) bool {
	rows, err := r.below(from, known, 10)
	rows = slices.DeleteFunc(rows, func(m store.Message) bool { return m.Unreadable != "" || !m.DeletedAt.IsZero() })
	for _, m := range rows[:min(len(rows), 3)] {
		if _, err = r.network.MessagesByID(ctx, r.identity.ID, r.channel.PeerID, []int{m.MessageID}); err == nil {
			return true
		}
	}
	return len(rows) == 0 && err == nil
}

func (r *reading) below(from int, age time.Duration, limit int) ([]store.Message, error) {
	return worker.Read(r.db, func(tx *store.Tx) ([]store.Message, error) {
		return tx.Messages.Below(r.channel.ID, from, tx.Now().Add(-age), limit), nil
	})
}
