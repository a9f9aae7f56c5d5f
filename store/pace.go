package store

import (
	"errors"
	"time"
)

// Pace is how fast an identity sends: to chats, whichever task it is that sends, and posts.
type Pace struct {
	ID         uint64 `json:"-"`
	IdentityID uint64 `json:"identity_id"`
	// Next is the first turn that no task has taken yet.
	Next time.Time `json:"next,omitzero"`
	// Last is when the last call ended, or began if its end is not on record, and Gap the pause that
	// its task wants after it at least.
	Last time.Time     `json:"last,omitzero"`
	Gap  time.Duration `json:"gap,omitempty"`
	// Open is the delivery of a call whose end is not on record; 0: there is none.
	Open uint64 `json:"open,omitempty"`
	Day  string `json:"day,omitempty"`  // 2026-11-21, in the zone of the settings
	Sent int    `json:"sent,omitempty"` // on that day
	// Posts are when its posts of late were begun, in Unix milliseconds, the earliest first.
	Posts []int64 `json:"posts,omitempty"`
}

// Paces is the table of paces.
type Paces struct{ Table[Pace] }

func paceTable() def[Pace] {
	return def[Pace]{
		name: "paces",
		id:   func(p *Pace) *uint64 { return &p.ID },
		indexes: []Index[Pace]{
			{Name: "identity", Unique: true, Key: func(p *Pace, k key) key { return k.uint(p.IdentityID) }},
		},
	}
}

// Of returns the pace of an identity; a new one if it has none yet, or a damaged one.
func (t Paces) Of(identityID uint64) (Pace, error) {
	p, err := t.first("identity", key(nil).uint(identityID))
	switch {
	case errors.Is(err, ErrNotFound):
		return Pace{IdentityID: identityID}, nil
	case IsCorrupt(err):
		return Pace{IdentityID: identityID, Last: t.in().Now()}, nil
	}
	return p, err
}

// Put writes a pace. A damaged row is let go for it.
func (t Paces) Put(p *Pace) error {
	if p.ID == 0 {
		_, err := t.first("identity", key(nil).uint(p.IdentityID))
		if damaged, is := errors.AsType[*CorruptError](err); is {
			if err := t.LetGo(damaged.ID); err != nil {
				return err
			}
		}
	}
	return t.Table.Put(p)
}
