package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gotd/td/session"
	"github.com/gotd/td/tg"

	"belfry/store"
)

// sessionRow keeps gotd's session of one identity in the store.
type sessionRow struct {
	db       *store.DB
	identity uint64
}

// LoadSession returns the stored session, or session.ErrNotFound.
func (s sessionRow) LoadSession(context.Context) (data []byte, err error) {
	err = s.db.View(func(tx *store.Tx) error {
		row, err := tx.Sessions.Of(s.identity)
		data = row.Data
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, session.ErrNotFound
	}
	return data, err
}

// StoreSession stores the session, unless it is stored already.
func (s sessionRow) StoreSession(_ context.Context, data []byte) error {
	return s.db.Update(func(tx *store.Tx) error {
		row, err := tx.Sessions.Of(s.identity)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if bytes.Equal(row.Data, data) {
			return nil
		}
		row.IdentityID, row.Data, row.UpdatedAt = s.identity, data, tx.Now()
		return tx.Sessions.Put(&row)
	})
}

func (c *connection) dropSession() error {
	return c.network.db.Update(func(tx *store.Tx) error {
		row, err := tx.Sessions.Of(c.identity)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return tx.Sessions.Delete(row.ID)
	})
}

func (c *connection) load() (identity store.Identity, err error) {
	err = c.network.db.View(func(tx *store.Tx) error {
		identity, err = tx.Identities.Get(c.identity)
		return err
	})
	if err != nil {
		return identity, fmt.Errorf("read the identity: %w", err)
	}
	return identity, nil
}

// remember stores who the identity is and that it is logged in.
func (c *connection) remember(self *tg.User) error {
	return c.network.db.Update(func(tx *store.Tx) error {
		identity, err := tx.Identities.Get(c.identity)
		if err != nil {
			return err
		}
		before := identity
		identity.State, identity.Reason = store.IdentityReady, store.Reason{}
		identity.NetworkID, identity.Username = self.ID, self.Username
		identity.Title = strings.TrimSpace(self.FirstName + " " + self.LastName)
		if identity == before {
			return nil
		}
		identity.UpdatedAt = tx.Now()
		return tx.Identities.Put(&identity)
	})
}

func (c *connection) setState(state store.IdentityState, reason store.Reason) error {
	return c.network.db.Update(func(tx *store.Tx) error {
		identity, err := tx.Identities.Get(c.identity)
		if err != nil {
			return err
		}
		identity.State, identity.Reason, identity.UpdatedAt = state, reason, tx.Now()
		return tx.Identities.Put(&identity)
	})
}

// storedPeer returns the peer that the target names if the identity has met it.
func (n *Network) storedPeer(identityID uint64, t target) (peer store.Peer, err error) {
	err = n.db.View(func(tx *store.Tx) error {
		if t.username != "" {
			peer, err = tx.Peers.ByUsername(identityID, t.username)
		} else {
			peer, err = tx.Peers.ByPeer(identityID, t.typ, t.id)
		}
		return err
	})
	return peer, err
}

// storePeer stores a peer as Telegram has just described it. A user name belongs to one peer: if
// another had it, it has moved.
func (n *Network) storePeer(peer store.Peer) error {
	return n.db.Update(func(tx *store.Tx) error {
		if peer.Username != "" {
			other, err := tx.Peers.ByUsername(peer.IdentityID, peer.Username)
			if err == nil && (other.Type != peer.Type || other.PeerID != peer.PeerID) {
				other.Username = ""
				if err := tx.Peers.Put(&other); err != nil {
					return err
				}
			}
		}
		row := peer
		before, err := tx.Peers.ByPeer(peer.IdentityID, peer.Type, peer.PeerID)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		row.ID, row.UpdatedAt = before.ID, tx.Now()
		return tx.Peers.Put(&row)
	})
}

// forgetPeer removes a peer that Telegram does not accept any more.
func (n *Network) forgetPeer(peer store.Peer) error {
	return n.db.Update(func(tx *store.Tx) error {
		row, err := tx.Peers.ByPeer(peer.IdentityID, peer.Type, peer.PeerID)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return tx.Peers.Delete(row.ID)
	})
}
