package store

import (
	"fmt"
	"iter"
	"strings"
	"time"
)

// Chat is a place that an identity sends to or could send to.
type Chat struct {
	ID         uint64   `json:"id"`
	IdentityID uint64   `json:"identity_id"`
	Type       PeerType `json:"type"`
	PeerID     int64    `json:"peer_id"` // the network's id, without a prefix
	Title      string   `json:"title"`
	Username   string   `json:"username,omitempty"`

	Off      bool `json:"off,omitempty"`       // the owner wants nothing sent there
	ReadOnly bool `json:"read_only,omitempty"` // the identity may not send there, as far as is known
	// LastSuccess is when something was last sent there, and Seen how many messages of others have
	// come since, as far as the identity was connected.
	LastSuccess time.Time `json:"last_success_post_at,omitzero"`
	Seen        int       `json:"messages_seen,omitempty"`
	Slowmode    int       `json:"slow_mode,omitempty"` // seconds between two messages of one sender
	SlowUntil   time.Time `json:"slow_until,omitzero"` // nothing is taken before that
	LastError   Reason    `json:"last_error,omitzero"` // of the last attempt, if that failed
	LastTried   time.Time `json:"last_tried,omitzero"` // the last attempt
	ListedAt    time.Time `json:"listed_at,omitzero"`  // when the account's list of chats last had it
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
}

// Chats is the table of chats.
type Chats struct{ Table[Chat] }

func chatTable() def[Chat] {
	return def[Chat]{
		name: "chats",
		id:   func(c *Chat) *uint64 { return &c.ID },
		indexes: []Index[Chat]{
			{Name: "peer", Unique: true, Key: func(c *Chat, k key) key {
				return k.uint(c.IdentityID).str(string(c.Type)).int(c.PeerID)
			}},
			{Name: "title", Key: func(c *Chat, k key) key {
				return k.uint(c.IdentityID).str(strings.ToLower(c.Title))
			}},
		},
	}
}

// Target is the chat as people write it: @name, or an id in the notation of bots and Telethon, in
// which channels begin with -100, groups with a minus, and users with neither.
func (c Chat) Target() string {
	if c.Username != "" {
		return "@" + c.Username
	}
	return PeerTarget(c.Type, c.PeerID)
}

// PeerTarget is a peer's id in that notation.
func PeerTarget(typ PeerType, id int64) string {
	switch typ {
	case PeerChannel:
		return fmt.Sprint(-1_000_000_000_000 - id)
	case PeerChat:
		return fmt.Sprint(-id)
	}
	return fmt.Sprint(id)
}

// ByPeer returns the chat that an identity knows under the network's id, or [ErrNotFound].
func (t Chats) ByPeer(identityID uint64, typ PeerType, peerID int64) (Chat, error) {
	return t.first("peer", key(nil).uint(identityID).str(string(typ)).int(peerID))
}

// Of yields the chats of an identity in the order of their titles.
func (t Chats) Of(identityID uint64) iter.Seq[Chat] {
	prefix := key(nil).uint(identityID)
	return t.scan("title", prefix, prefix.next())
}

// ByTitle returns chats of an identity in the order of their titles.
func (t Chats) ByTitle(identityID uint64, q Query) (Page[Chat], error) {
	return t.page("title", key(nil).uint(identityID), q, false)
}
