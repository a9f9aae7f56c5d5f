package store

import (
	"iter"
	"strings"
	"time"
)

// Peer is a chat or user as an identity may address it. The access hash is good for that identity
// alone.
type Peer struct {
	ID         uint64    `json:"-"`
	IdentityID uint64    `json:"identity_id"`
	Type       PeerType  `json:"type"`
	PeerID     int64     `json:"peer_id"` // the network's id, without a prefix
	AccessHash int64     `json:"access_hash,omitempty"`
	Username   string    `json:"username,omitempty"`
	Title      string    `json:"title,omitempty"`
	Invite     string    `json:"invite,omitempty"` // the hash of the invitation that named it last; it may not be good any more
	Forum      bool      `json:"forum,omitempty"`  // a supergroup with topics
	Wrote      bool      `json:"wrote,omitempty"`  // a user who has written to the identity, a bot, which may answer since
	UpdatedAt  time.Time `json:"updated_at"`
}

// PeerType says what a peer is.
type PeerType string

// The types of peers.
const (
	PeerUser    PeerType = "user"
	PeerChat    PeerType = "chat"    // a basic group
	PeerChannel PeerType = "channel" // a channel or a supergroup
)

// Peers is the table of peers.
type Peers struct{ Table[Peer] }

func peerTable() def[Peer] {
	return def[Peer]{
		name: "peers",
		id:   func(p *Peer) *uint64 { return &p.ID },
		indexes: []Index[Peer]{
			{Name: "peer", Unique: true, Key: func(p *Peer, k key) key {
				return k.uint(p.IdentityID).str(string(p.Type)).int(p.PeerID)
			}},
			{Name: "username", Key: func(p *Peer, k key) key {
				if p.Username == "" {
					return nil
				}
				return usernameKey(p.IdentityID, p.Username)
			}},
		},
	}
}

func usernameKey(identityID uint64, username string) key {
	return key(nil).uint(identityID).str(strings.ToLower(username))
}

// Of yields the peers that an identity knows.
func (t Peers) Of(identityID uint64) iter.Seq[Peer] {
	prefix := key(nil).uint(identityID)
	return t.scan("peer", prefix, prefix.next())
}

// ByUsername returns the peer that an identity knows under a user name, without @ and in any case,
// or [ErrNotFound].
func (t Peers) ByUsername(identityID uint64, username string) (Peer, error) {
	return t.first("username", usernameKey(identityID, username))
}

// ByInvite returns the peer that an invitation has named to an identity, or [ErrNotFound].
func (t Peers) ByInvite(identityID uint64, hash string) (Peer, error) {
	for p := range t.Of(identityID) {
		if p.Invite == hash {
			return p, nil
		}
	}
	return Peer{}, ErrNotFound
}

// ByPeer returns the peer that an identity knows under the network's id, or [ErrNotFound].
func (t Peers) ByPeer(identityID uint64, typ PeerType, peerID int64) (Peer, error) {
	return t.first("peer", key(nil).uint(identityID).str(string(typ)).int(peerID))
}
