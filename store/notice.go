package store

import (
	"fmt"
	"time"
)

// Notice is a message to somebody who runs Belfry: what it says, to whom, and what became of it. It
// is kept as its facts, so that each door can say it in its reader's language.
type Notice struct {
	ID   uint64 `json:"id"`
	Kind string `json:"kind"`
	Chat string `json:"chat"`
	// Key makes the call to the network repeatable.
	Key  int64      `json:"key"`
	Data NoticeData `json:"data"`

	Attempts  int       `json:"attempts,omitempty"`
	Reason    Reason    `json:"reason,omitzero"` // why it waits, or was given up
	CreatedAt time.Time `json:"created_at"`
	SentAt    time.Time `json:"sent_at,omitzero"`
	GivenUpAt time.Time `json:"given_up_at,omitzero"`
}

// NoticeData are the facts that a notice tells.
type NoticeData struct {
	At       time.Time `json:"at"`
	CheckID  uint64    `json:"check_id,omitempty"`
	Total    int       `json:"total,omitempty"`
	Checked  int       `json:"checked,omitempty"`
	Found    int       `json:"found,omitempty"`
	NotFound int       `json:"not_found,omitempty"`
	Errors   int       `json:"errors,omitempty"`
	Reason   Reason    `json:"reason,omitzero"`

	AccountID uint64 `json:"account_id,omitempty"`
	Site      string `json:"site,omitempty"`
	Username  string `json:"username,omitempty"`
	Link      string `json:"link,omitempty"`
	Note      string `json:"note,omitempty"`
}

// Open reports whether the notice waits to be sent.
func (n Notice) Open() bool { return n.SentAt.IsZero() && n.GivenUpAt.IsZero() }

// JobName is the name of the job that sends the notice.
func (n Notice) JobName() string { return fmt.Sprintf("notice_%d", n.ID) }

// Notices is the table of notices.
type Notices struct{ Table[Notice] }

const (
	maxNotices   = 20_000
	maxNoticeAge = 90 * 24 * time.Hour
)

func noticeTable() def[Notice] {
	return def[Notice]{
		name:  "notices",
		id:    func(n *Notice) *uint64 { return &n.ID },
		valid: (*Notice).validate,
		indexes: []Index[Notice]{
			{Name: "open", Key: func(n *Notice) []byte {
				if !n.Open() {
					return nil
				}
				return key(nil).str(n.Chat)
			}},
		},
	}
}

func (n *Notice) validate() error {
	switch {
	case n.Chat == "":
		return &FieldError{Field: "chat", Problem: "is empty", Cure: "say who is told"}
	case n.Key == 0:
		return fmt.Errorf("notice %d has no key", n.ID)
	}
	return nil
}

// Add writes a new notice and forgets those that are too old or too many.
func (t Notices) Add(n *Notice) error {
	if err := t.Put(n); err != nil {
		return err
	}
	return trim(t.Table, n.ID, maxNotices, func(past *Notice) bool {
		return !past.Open() && t.tx.Now().Sub(past.CreatedAt) >= maxNoticeAge
	})
}

// NextTo returns the oldest notice to a chat that waits to be sent, or [ErrNotFound].
func (t Notices) NextTo(chat string) (Notice, error) { return t.first("open", key(nil).str(chat)) }

// Waiting returns how many notices wait to be sent, and counts no further than limit.
func (t Notices) Waiting(limit int) (n int) {
	for range t.entries("open", nil, nil) {
		if n == limit {
			break
		}
		n++
	}
	return n
}
