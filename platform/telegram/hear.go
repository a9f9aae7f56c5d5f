package telegram

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strconv"

	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"

	"belfry/platform"
	"belfry/store"
)

// heard is how far a bot has been heard: Telegram's state of updates, as of the last text that was
// heard. It is kept as a setting.
type heard struct {
	Account int64 `json:"account"` // whose state it is; that of another account says nothing
	Pts     int   `json:"pts"`
	Qts     int   `json:"qts"`
	Date    int   `json:"date"`
}

func (e *ear) setting() string {
	return "telegram.heard." + strconv.FormatUint(e.connection.identity, 10)
}

// heard reads how far the bot has been heard; it is zero if nobody has ever listened.
func (e *ear) heard(tx *store.Tx) (h heard, err error) {
	value, err := tx.Settings.Value(e.setting())
	if err != nil || value == "" {
		return h, err
	}
	if err := json.Unmarshal([]byte(value), &h); err != nil {
		return heard{}, fmt.Errorf("setting %s: %w", e.setting(), err)
	}
	if h.Account != e.self {
		return heard{}, nil
	}
	return h, nil
}

func (e *ear) setHeard(tx *store.Tx, h heard) error {
	h.Account = e.self
	value, err := json.Marshal(h)
	if err != nil {
		return err
	}
	return tx.Settings.Set(e.setting(), string(value))
}

// pull asks Telegram for what has happened since the stored state, and hears it, until there is
// nothing more. Each page is heard and the state behind it stored in one transaction: an end at any
// moment loses nothing, and nothing is heard twice.
func (e *ear) pull(ctx context.Context) error {
	db := e.connection.network.db
	for {
		var from heard
		err := db.View(func(tx *store.Tx) (err error) {
			from, err = e.heard(tx)
			return err
		})
		if err != nil {
			return fmt.Errorf("read what was heard last: %w", err)
		}
		if from.Pts == 0 {
			return e.begin(ctx, from)
		}
		answer, err := e.api.UpdatesGetDifference(ctx, &tg.UpdatesGetDifferenceRequest{
			Pts: from.Pts, Qts: from.Qts, Date: from.Date})
		if tgerr.Is(err, "PERSISTENT_TIMESTAMP_INVALID", "PERSISTENT_TIMESTAMP_EMPTY", "DATE_EMPTY") {
			e.connection.log.Warn().Int("pts", from.Pts).Str("error", plainly(err)).
				Msg("Telegram does not know what the bot has heard: what was written meanwhile is not heard")
			return e.begin(ctx, from)
		}
		if err != nil {
			return e.connection.sorted(e.api, fmt.Errorf("ask for what people wrote: %w", err), false)
		}
		switch d := answer.(type) {
		case *tg.UpdatesDifferenceEmpty:
			return nil
		case *tg.UpdatesDifference:
			return e.hearPage(from, d.State, d.NewMessages, d.Users)
		case *tg.UpdatesDifferenceSlice:
			if d.IntermediateState.Pts == from.Pts && d.IntermediateState.Qts == from.Qts {
				return standsStill(from)
			}
			if err := e.hearPage(from, d.IntermediateState, d.NewMessages, d.Users); err != nil {
				return err
			}
		case *tg.UpdatesDifferenceTooLong:
			if d.Pts == from.Pts {
				return standsStill(from)
			}
			e.connection.log.Warn().Int("pts", from.Pts).
				Msg("the bot was away for too long: what was written meanwhile is not heard")
			if err := e.hearPage(from, tg.UpdatesState{Pts: d.Pts, Qts: from.Qts, Date: from.Date}, nil, nil); err != nil {
				return err
			}
		}
	}
}

// standsStill is the error for more that never comes. To ask for it at once would never end.
func standsStill(at heard) error {
	return fmt.Errorf("ask for what people wrote: Telegram says that there is more, and stands still at %d", at.Pts)
}

// begin stores the present state: what came before it is not heard.
func (e *ear) begin(ctx context.Context, from heard) error {
	state, err := e.api.UpdatesGetState(ctx)
	if err != nil {
		return e.connection.sorted(e.api, fmt.Errorf("ask where to begin to hear: %w", err), false)
	}
	return e.hearPage(from, *state, nil, nil)
}

// unheard is a failure of Hear.
type unheard struct {
	id  int // of the message
	err error
}

func (u *unheard) Error() string { return u.err.Error() }
func (u *unheard) Unwrap() error { return u.err }

// hearPage hears messages and stores the state behind them. One that has failed too often is left out.
func (e *ear) hearPage(from heard, to tg.UpdatesState, messages []tg.MessageClass, users []tg.UserClass) error {
	for {
		err := e.connection.network.db.Update(func(tx *store.Tx) error {
			if now, err := e.heard(tx); err != nil {
				return err
			} else if now != from {
				return fmt.Errorf("the bot was heard until %d, and now until %d", from.Pts, now.Pts)
			}
			for _, m := range messages {
				if err := e.hearMessage(tx, m, users); err != nil {
					return &unheard{m.GetID(), err}
				}
			}
			return e.setHeard(tx, heard{Pts: to.Pts, Qts: to.Qts, Date: to.Date})
		})
		failed, ok := errors.AsType[*unheard](err)
		switch {
		case err == nil:
			clear(e.tries)
			clear(e.leave)
			return nil
		case !ok:
			return fmt.Errorf("store what was heard: %w", err)
		case errors.Is(err, store.ErrUnavailable):
			return err
		}
		e.tries[failed.id]++
		if e.tries[failed.id] < hearTries {
			return fmt.Errorf("message %d: %w", failed.id, err)
		}
		e.leave[failed.id] = true
		e.leftOut(failed.err, int64(failed.id), "a message to the bot cannot be heard and is left out")
	}
}

// hearMessage hears a message, if it is one that a person has written to the bot in private, and
// stores how to address them.
func (e *ear) hearMessage(tx *store.Tx, in tg.MessageClass, users []tg.UserClass) error {
	m, ok := in.(*tg.Message)
	if !ok || m.Out {
		return nil
	}
	peer, ok := m.PeerID.(*tg.PeerUser)
	if !ok {
		return nil
	}
	from := userOf(users, peer.UserID)
	if u, ok := from.(*tg.User); ok && u.Bot {
		return nil
	}
	if err := e.meet(tx, from); err != nil || e.leave[m.ID] {
		return err
	}
	return e.tell(tx, platform.Heard{From: peer.UserID, Name: called(from), MessageID: int64(m.ID), Text: m.Message})
}

// hearPresses hears the presses that wait. One that has failed too often is left out.
func (e *ear) hearPresses(ctx context.Context) error {
	for {
		e.mu.Lock()
		if len(e.presses) == 0 || ctx.Err() != nil {
			e.mu.Unlock()
			return nil
		}
		p := e.presses[0]
		e.mu.Unlock()
		err := e.connection.network.db.Update(func(tx *store.Tx) error {
			if err := e.meet(tx, p.from); err != nil {
				return err
			}
			return e.tell(tx, p.Heard)
		})
		if err != nil {
			if !errors.Is(err, store.ErrUnavailable) {
				p.tries++
			}
			if p.tries < hearTries {
				return fmt.Errorf("a press under message %d: %w", p.MessageID, err)
			}
			e.leftOut(err, p.MessageID, "the press of a button cannot be heard and is left out")
		}
		e.mu.Lock()
		e.presses = e.presses[1:]
		e.mu.Unlock()
	}
}

// tell calls Hear. A panic is a failure: else a message that causes one would end the program
// whenever it starts.
func (e *ear) tell(tx *store.Tx, h platform.Heard) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{v, debug.Stack()}
		}
	}()
	h.IdentityID = e.connection.identity
	return e.listener.Hear(tx, h)
}

// panicked is a panic of Hear.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// leftOut tells the owner that something will never be heard.
func (e *ear) leftOut(err error, message int64, words string) {
	log := e.connection.log.Error().Err(err).Int64("message", message).Int("tries", hearTries)
	if p, ok := errors.AsType[*panicked](err); ok {
		log = log.Bytes("stack", p.stack)
	}
	log.Msg(words)
}

// meet stores how to address a person who has told the bot something. A description that leaves the
// access hash out does not replace one that has it.
func (e *ear) meet(tx *store.Tx, user tg.UserClass) error {
	p, ok := describeUser(user)
	if u, _ := user.(*tg.User); !ok || u.Min {
		return nil
	}
	p.IdentityID, p.Wrote = e.connection.identity, true
	return putPeer(tx, p.Peer)
}

func userOf(users []tg.UserClass, id int64) tg.UserClass {
	for _, u := range users {
		if u.GetID() == id {
			return u
		}
	}
	return nil
}

// called is a person's name for people to read.
func called(user tg.UserClass) string {
	u, ok := user.(*tg.User)
	if !ok {
		return ""
	}
	return cmp.Or(fullName(u), userName(u))
}
