package telegram

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/gotd/td/session"
	"github.com/gotd/td/tg"

	"belfry/store"
)

// sessionRow keeps gotd's session of one identity in the store. It follows the row that was there at
// first: one that took its place, or was deleted, is not written to.
type sessionRow struct {
	db       *store.DB
	identity uint64
	dc       int // the data centre to connect to, whichever the session names; 0: the session's

	mu  sync.Mutex
	met bool
	row uint64 // 0: there was none
}

// LoadSession returns the stored session, or session.ErrNotFound. The address in it means nothing
// to gotd, which asks its list of data centres.
func (s *sessionRow) LoadSession(context.Context) (data []byte, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var row store.Session
	err = s.db.View(func(tx *store.Tx) error {
		row, err = tx.Sessions.Of(s.identity)
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if !s.met {
		s.met, s.row = true, row.ID
	}
	if row.ID == 0 || row.ID != s.row {
		return nil, session.ErrNotFound
	}
	if row.Sealed != "" {
		return nil, mustLogIn(errSealed)
	}
	if s.dc == 0 {
		return row.Data, nil
	}
	parsed, err := decodeSession(row.Data)
	if err != nil || parsed.DC == s.dc {
		return row.Data, nil //nolint:nilerr // gotd finds the same error and says what it means
	}
	parsed.DC = s.dc
	return encodeSession(parsed)
}

// StoreSession stores the session, unless it is stored already.
func (s *sessionRow) StoreSession(_ context.Context, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var row store.Session
	err := s.db.Update(func(tx *store.Tx) (err error) {
		row, err = tx.Sessions.Of(s.identity)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if row.ID != s.row || bytes.Equal(row.Data, data) {
			return nil
		}
		row.IdentityID, row.Data, row.UpdatedAt = s.identity, data, tx.Now()
		return tx.Sessions.Put(&row)
	})
	if err == nil && s.row == 0 {
		s.met, s.row = true, row.ID
	}
	return err
}

// drop deletes the session that was found dead.
func (s *sessionRow) drop(tx *store.Tx) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, err := tx.Sessions.Of(s.identity)
	if errors.Is(err, store.ErrNotFound) || err == nil && row.ID != s.row {
		return nil
	}
	if err != nil {
		return err
	}
	return tx.Sessions.Delete(row.ID)
}

// replaceSession gives an identity another session, in a row of its own; nil means none.
func replaceSession(tx *store.Tx, identityID uint64, data []byte) error {
	row, err := tx.Sessions.Of(identityID)
	if err == nil {
		err = tx.Sessions.Delete(row.ID)
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if data == nil {
		return nil
	}
	return tx.Sessions.Put(&store.Session{IdentityID: identityID, Data: data, UpdatedAt: tx.Now()})
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

// remember stores who the identity is and, unless it is restricted, that it is logged in.
func (c *connection) remember(self *tg.User) error {
	return c.network.db.Update(func(tx *store.Tx) error {
		identity, err := tx.Identities.Get(c.identity)
		if err != nil {
			return err
		}
		before := identity
		if identity.State != store.IdentityStopped { // only a person knows when a restriction is over
			identity.State, identity.Reason = store.IdentityReady, store.Reason{}
		}
		describeSelf(&identity, self)
		identity.Adopted = false
		if reflect.DeepEqual(identity, before) {
			return nil
		}
		identity.UpdatedAt = tx.Now()
		return tx.Identities.Put(&identity)
	})
}

// sameAccount ends the first life of a session from the settings whose account another login is already.
type sameAccount struct{ login uint64 }

func (s *sameAccount) Error() string { return "another login has this account" }

func (c *connection) sameAccount(networkID int64) error {
	return c.network.db.View(func(tx *store.Tx) error {
		for _, i := range tx.Identities.Of(Platform) {
			if i.Kind == store.IdentityUser && i.NetworkID == networkID && i.ID != c.identity {
				return &sameAccount{i.ID}
			}
		}
		return nil
	})
}

// handOver gives the session, whose client has ended, to the login that has the account already, and
// removes this one. Two connections of one key would end it for good.
func (c *connection) handOver(to uint64) error {
	c.network.disconnect(to)
	return c.network.db.Update(func(tx *store.Tx) error {
		session, err := tx.Sessions.Of(c.identity)
		if err != nil {
			return err
		}
		same, err := tx.Identities.Get(to)
		if err != nil {
			return err
		}
		same.State, same.Reason, same.UpdatedAt = store.IdentityNew, store.Reason{}, tx.Now() // it is connected for that
		return errors.Join(replaceSession(tx, c.identity, nil), replaceSession(tx, to, session.Data),
			tx.Identities.Delete(c.identity), tx.Identities.Put(&same))
	})
}

func describeSelf(identity *store.Identity, self *tg.User) {
	identity.NetworkID, identity.Username, identity.Title = self.ID, userName(self), fullName(self)
}

// endLogin stores that a person has to log the identity in, and why. A user account loses its dead
// session; a bot's may be good for another token. A first reason is kept.
func (c *connection) endLogin(reason store.Reason, keep bool) error {
	return c.network.db.Update(func(tx *store.Tx) error {
		identity, err := tx.Identities.Get(c.identity)
		if err != nil {
			return err
		}
		if keep && identity.State == store.IdentityLogin {
			return nil
		}
		if identity.Kind == store.IdentityUser && c.session != nil {
			if err := c.session.drop(tx); err != nil {
				return err
			}
		}
		identity.State, identity.Reason, identity.UpdatedAt = store.IdentityLogin, reason, tx.Now()
		return tx.Identities.Put(&identity)
	})
}

// putPeer stores a peer as Telegram has just described it. A user name belongs to one peer: if
// another had it, it has moved.
func putPeer(tx *store.Tx, peer store.Peer) error {
	if peer.Username != "" {
		other, err := tx.Peers.ByUsername(peer.IdentityID, peer.Username)
		if err == nil && (other.Type != peer.Type || other.PeerID != peer.PeerID) {
			other.Username = ""
			if err := tx.Peers.Put(&other); err != nil {
				return err
			}
		}
	}
	before, err := tx.Peers.ByPeer(peer.IdentityID, peer.Type, peer.PeerID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	row := peer
	row.ID, row.UpdatedAt, row.Wrote = before.ID, before.UpdatedAt, row.Wrote || before.Wrote
	row.Invite = cmp.Or(row.Invite, before.Invite)
	if row == before {
		return nil
	}
	row.UpdatedAt = tx.Now()
	return tx.Peers.Put(&row)
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
