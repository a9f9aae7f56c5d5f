package store

import (
	"encoding/json"
	"math"
	"time"
)

// Answer is what a request with an Idempotency-Key was answered. The same request is given the same
// answer again instead of being carried out twice.
type Answer struct {
	ID        uint64          `json:"id"`
	Key       []byte          `json:"key"`     // SHA-256 of who asked, what for, and the key
	Request   []byte          `json:"request"` // SHA-256 of the request's body
	Status    int             `json:"status"`  // HTTP status of the answer
	Body      json.RawMessage `json:"body"`
	CreatedAt time.Time       `json:"created_at"`
}

// An answer is kept for answerAge at least, and until so many others have followed, whatever the clock
// shows: one that is years ahead for a moment must not let a request be carried out twice.
const (
	answerAge   = 7 * 24 * time.Hour
	answersKept = 5000
)

// Idempotency is the table of answers.
type Idempotency struct{ Table[Answer] }

func answerTable() def[Answer] {
	return def[Answer]{
		name: "idempotency",
		id:   func(a *Answer) *uint64 { return &a.ID },
		indexes: []Index[Answer]{
			{Name: "key", Unique: true, Key: func(a *Answer, k key) key { return append(k, a.Key...) }},
		},
	}
}

// ByKey returns the answer for a key, or [ErrNotFound].
func (t Idempotency) ByKey(k []byte) (Answer, error) { return t.first("key", k) }

// Add writes an answer and forgets some that are too old.
func (t Idempotency) Add(a *Answer) error {
	a.CreatedAt = t.in().Now()
	if err := t.Put(a); err != nil {
		return err
	}
	return trim(t.Table, a.ID, math.MaxInt64, func(past *Answer) bool {
		return past.ID+answersKept <= a.ID && t.in().Now().Sub(past.CreatedAt) >= answerAge
	})
}
