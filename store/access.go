package store

import (
	"time"
)

// Token lets a program use the API. Only its hash is kept.
type Token struct {
	ID        uint64    `json:"id"`
	Name      string    `json:"name"` // what the owner calls it
	Hash      []byte    `json:"hash"` // SHA-256 of the token
	CreatedAt time.Time `json:"created_at"`
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

// Tokens is the table of tokens.
type Tokens struct{ Table[Token] }

func tokenTable() def[Token] {
	return def[Token]{
		name: "tokens",
		id:   func(t *Token) *uint64 { return &t.ID },
		indexes: []Index[Token]{
			{Name: "hash", Unique: true, Key: func(t *Token, k key) key { return append(k, t.Hash...) }},
		},
	}
}

// ByHash returns the token with the given hash, or [ErrNotFound].
func (t Tokens) ByHash(hash []byte) (Token, error) { return t.first("hash", hash) }

// SignIn is a browser in which the owner has signed in to the page. Only the hash of its cookie is
// kept.
type SignIn struct {
	ID        uint64    `json:"id"`
	Hash      []byte    `json:"hash"` // SHA-256 of the cookie
	CSRF      string    `json:"csrf"` // what forms of this browser carry
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// SignIns is the table of sign-ins.
type SignIns struct{ Table[SignIn] }

func signInTable() def[SignIn] {
	return def[SignIn]{
		name: "signins",
		id:   func(s *SignIn) *uint64 { return &s.ID },
		indexes: []Index[SignIn]{
			{Name: "hash", Unique: true, Key: func(s *SignIn, k key) key { return append(k, s.Hash...) }},
			{Name: "expiry", Key: func(s *SignIn, k key) key { return k.time(s.ExpiresAt) }},
		},
	}
}

// ByHash returns the sign-in with the given hash, or [ErrNotFound]. It may have expired.
func (t SignIns) ByHash(hash []byte) (SignIn, error) { return t.first("hash", hash) }

// Trim deletes up to limit sign-ins that have expired.
func (t SignIns) Trim(limit int) error {
	for _, s := range collect(t.scan("expiry", nil, key(nil).time(t.in().Now())), limit) {
		if err := t.Delete(s.ID); err != nil {
			return err
		}
	}
	return nil
}
