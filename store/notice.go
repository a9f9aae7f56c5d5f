package store

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"time"
)

// Notice is a message to somebody who runs Belfry: what it says, who is told, and what became of it.
type Notice struct {
	ID   uint64 `json:"id"`
	Kind string `json:"kind"` // what it is about, such as account_found
	Chat string `json:"chat"` // who is told: a chat, or [WebhookChat]
	// IdentityID is the bot that answers a client; 0: the one that tells the admins.
	IdentityID uint64 `json:"identity_id,omitempty"`
	// Admin says that the chat is told because it is an admin's. It is not, once it no longer is.
	Admin bool `json:"admin,omitempty"`
	// First says that it goes before the others: the answer to a person, or an alert.
	First bool `json:"first,omitempty"`
	// Key makes the call to the network repeatable.
	Key      int64      `json:"key"`
	Text     string     `json:"text"`
	Buttons  [][]Button `json:"buttons,omitempty"`   // under the text, in rows
	File     string     `json:"file,omitempty"`      // sent with the text: a path below the media folder
	FileSize int64      `json:"file_size,omitempty"` // bytes; 0: not known

	// Of an answer to the press of a button: the press, and the message whose place the notice takes.
	Query int64 `json:"query,omitempty"`
	Edit  int64 `json:"edit,omitempty"`

	Attempts int    `json:"attempts,omitempty"`
	Reason   Reason `json:"reason,omitzero"` // why it waits, or was given up
	// After an attempt that failed: when that was, and before when there is to be no other one.
	FailedAt  time.Time `json:"failed_at,omitzero"`
	NotBefore time.Time `json:"not_before,omitzero"`
	CreatedAt time.Time `json:"created_at"`
	SentAt    time.Time `json:"sent_at,omitzero"`
	GivenUpAt time.Time `json:"given_up_at,omitzero"`
	// Missed marks the last notice that a chat has not got, until it gets another one: then ReachedAt is
	// when that was.
	Missed    bool      `json:"missed,omitempty"`
	ReachedAt time.Time `json:"reached_at,omitzero"`
}

// Button is one of the buttons under a notice. Whoever presses it tells the bot its Data.
type Button struct {
	Text string `json:"text"`
	Data string `json:"data"`
}

// WebhookChat stands for the webhook, which is told in JSON.
const WebhookChat = "webhook"

// Open reports whether the notice waits to be sent.
func (n Notice) Open() bool { return n.SentAt.IsZero() && n.GivenUpAt.IsZero() }

// maxNoticeWait is more than any notice has to wait after an attempt.
const maxNoticeWait = 25 * time.Hour

// Waits reports whether it is too early to try the notice again. If the clock was set back to before
// the last attempt, nobody knows how long ago that was, and the wait is over; as is one that is too long to
// be true.
func (n Notice) Waits(now time.Time) bool {
	return now.Before(n.NotBefore) && !now.Before(n.FailedAt) && n.NotBefore.Sub(now) <= maxNoticeWait
}

// JobName is the name of the job that sends the notice.
func (n Notice) JobName() string { return fmt.Sprintf("notice_%d", n.ID) }

// Lane is the lane of the job that sends the notice. What takes long does not keep the others.
func (n Notice) Lane() string {
	switch {
	case n.Chat == WebhookChat:
		return "notices:webhook"
	case n.IdentityID != 0:
		return fmt.Sprint("notices:bot:", n.IdentityID)
	case n.File != "":
		return "notices:files"
	case n.First:
		return "notices:first"
	}
	return "notices"
}

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
			{Name: "created", Key: func(n *Notice, k key) key { return k.time(n.CreatedAt) }},
			{Name: "open", Key: func(n *Notice, k key) key {
				if !n.Open() {
					return nil
				}
				return k.str(n.Lane()).str(n.Chat)
			}},
			{Name: "missed", Key: func(n *Notice, k key) key {
				if !n.Missed {
					return nil
				}
				return k.str(n.Chat)
			}},
		},
	}
}

func (n *Notice) validate() error {
	switch {
	case n.Chat == "":
		return Invalid("chat", "invalid.empty")
	case n.Key == 0:
		return fmt.Errorf("notice %d has no key", n.ID)
	case n.Text == "":
		return fmt.Errorf("notice %d says nothing", n.ID)
	}
	return nil
}

// Add writes a new notice and forgets those that are too old or too many. One that waits to be sent is never
// one too many: it has an end of its own.
func (t Notices) Add(n *Notice) error {
	if err := t.Put(n); err != nil {
		return err
	}
	return trim(t.Table, n.ID, math.MaxInt64, func(past *Notice) bool {
		return !past.Open() && past.ID+maxNotices <= n.ID || t.in().Now().Sub(past.CreatedAt) >= maxNoticeAge
	})
}

// Next returns the oldest notice of a lane to a chat that waits to be sent, or [ErrNotFound]. What is
// damaged is passed over, and what a damaged index names by mistake: the others must be sent.
func (t Notices) Next(lane, chat string) (Notice, error) {
	for n := range t.Queue(lane, chat) {
		return n, nil
	}
	return Notice{}, fmt.Errorf("a notice to %s that waits: %w", chat, ErrNotFound)
}

// Queue yields the notices that [Notices.Next] returns one after the other.
func (t Notices) Queue(lane, chat string) iter.Seq[Notice] {
	prefix := key(nil).str(lane).str(chat)
	return func(yield func(Notice) bool) {
		for n := range t.scan("open", prefix, prefix.next()) {
			if n.Open() && n.Lane() == lane && n.Chat == chat && !yield(n) {
				return
			}
		}
	}
}

// Miss marks a notice that its chat does not get, in the place of those before it.
func (t Notices) Miss(n *Notice) error {
	n.Missed = true
	return t.unmark(n.Chat, func(past *Notice) bool { return past.ID != n.ID })
}

// Got says that a chat has got a notice: it is reached again.
func (t Notices) Got(chat string) error {
	return t.unmark(chat, func(past *Notice) bool {
		past.ReachedAt = t.in().Now()
		return true
	})
}

// unmark takes the mark from those notices to a chat of which which says so.
func (t Notices) unmark(chat string, which func(*Notice) bool) error {
	for _, n := range slices.Collect(t.missed(chat)) {
		if !which(&n) {
			continue
		}
		n.Missed = false
		if err := t.Put(&n); err != nil {
			return err
		}
	}
	return nil
}

// LastMissed returns the last notice that a chat has not got, if it has got none since, or
// [ErrNotFound].
func (t Notices) LastMissed(chat string) (Notice, error) {
	for n := range t.missed(chat) {
		return n, nil
	}
	return Notice{}, fmt.Errorf("a notice that %s has not got: %w", chat, ErrNotFound)
}

// AllMissed yields, for each chat that is not reached, the last notice that it has not got.
func (t Notices) AllMissed() iter.Seq[Notice] { return t.scan("missed", nil, nil) }

func (t Notices) missed(chat string) iter.Seq[Notice] {
	prefix := key(nil).str(chat)
	return t.scan("missed", prefix, prefix.next())
}

// Waiting returns how many notices wait to be sent, and counts no further than limit.
func (t Notices) Waiting(limit int) int { return t.count("open", nil, limit) }
