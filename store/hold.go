package store

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Hold keeps a lane from starting runs until a time, because a network said so or a login is out.
type Hold struct {
	ID     uint64    `json:"-"`
	Lane   string    `json:"lane"`
	Until  time.Time `json:"until"`
	Reason Reason    `json:"reason"`
	// Login is the identity that cannot act: the hold ends as soon as it can. 0: a network asked for the wait.
	Login uint64 `json:"login,omitempty"`
}

// Holds is the lanes that are held.
type Holds struct{ Table[Hold] }

func holdTable() def[Hold] {
	return def[Hold]{
		name:  "holds",
		id:    func(h *Hold) *uint64 { return &h.ID },
		cache: new(cache[Hold]),
		indexes: []Index[Hold]{
			{Name: "lane", Unique: true, Key: func(h *Hold, k key) key { return k.str(h.Lane) },
				Changed: func(tx *Tx, k key) {
					if k != nil {
						tx.noteLane(k)
					}
				}},
		},
	}
}

// ByLane returns the hold of a lane, which may be over, or [ErrNotFound].
func (t Holds) ByLane(lane string) (Hold, error) {
	return t.first("lane", key(nil).str(lane))
}

// Until returns until when a lane is held, which may have passed, and why; zero if it is not. A damaged
// hold counts as none: if the network still wants the wait, it says so again.
func (t Holds) Until(lane string) (time.Time, Reason) {
	h, err := t.ByLane(lane)
	if err != nil { // there is none, or it is damaged
		return time.Time{}, Reason{}
	}
	if !h.Reason.Until.IsZero() { // the hold may have been moved with the clock since
		h.Reason.Until = h.Until
	}
	return h.Until, h.Reason
}

// Put writes a hold.
func (t Holds) Put(h *Hold) error {
	t.in().noteLane(key(nil).str(h.Lane))
	return t.Table.Put(h)
}

// Extend holds a lane until the given time, or longer if it is held longer already. A damaged hold is
// replaced.
func (t Holds) Extend(lane string, until time.Time, why Reason) error {
	return t.extend(Hold{Lane: lane, Until: until.UTC(), Reason: why})
}

// Await is [Holds.Extend] for a lane that needs an identity which cannot act: [Identities.Put] ends the hold when it
// can.
func (t Holds) Await(identityID uint64, lane string, until time.Time, why Reason) error {
	return t.extend(Hold{Lane: lane, Until: until.UTC(), Reason: why, Login: identityID})
}

// EndAwait ends the waits for an identity.
func (t Holds) EndAwait(identityID uint64) error {
	for _, h := range slices.Collect(t.All()) {
		if h.Login == 0 || h.Login != identityID {
			continue
		}
		if err := t.Delete(h.ID); err != nil {
			return err
		}
	}
	return nil
}

// End ends the waits for a reason that is gone: a connection is back, or all is resumed. How often it was tried in vain
// stays known.
func (t Holds) End(reason ReasonCode) error {
	for _, h := range slices.Collect(t.All()) {
		if h.Reason.Code != reason || !h.Until.After(t.in().Now()) {
			continue
		}
		h.Until = t.in().Now()
		if err := t.Put(&h); err != nil {
			return err
		}
	}
	return nil
}

func (t Holds) extend(next Hold) error {
	h, err := t.ByLane(next.Lane)
	if damaged, ok := errors.AsType[*CorruptError](err); ok {
		h, err = Hold{}, t.LetGo(damaged.ID)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("hold lane %s: %w", next.Lane, err)
	}
	if !next.Until.After(h.Until) {
		return nil
	}
	next.ID = h.ID
	return t.Put(&next)
}
