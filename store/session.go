package store

import "time"

// Session is what a network's client needs to stay logged in as an identity. Whoever has it has
// the identity.
type Session struct {
	ID         uint64    `json:"-"`
	IdentityID uint64    `json:"identity_id"`
	Data       []byte    `json:"data,omitempty"`   // in the file it is sealed
	Sealed     string    `json:"sealed,omitempty"` // not empty: with another key
	UpdatedAt  time.Time `json:"updated_at"`
}

// Sessions is the table of sessions.
type Sessions struct{ Table[Session] }

func sessionTable() def[Session] {
	return def[Session]{
		name: "sessions",
		id:   func(s *Session) *uint64 { return &s.ID },
		secret: func(s *Session) secret {
			return secret{s.Data, func(data []byte) { s.Data = data }, &s.Sealed}
		},
		indexes: []Index[Session]{
			{Name: "identity", Unique: true, Key: func(s *Session, k key) key { return k.uint(s.IdentityID) }},
		},
	}
}

// Of returns the session of an identity, or [ErrNotFound].
func (t Sessions) Of(identityID uint64) (Session, error) {
	return t.first("identity", key(nil).uint(identityID))
}
