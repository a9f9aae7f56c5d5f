package identities

import (
	"errors"

	"belfry/store"
)

// forget deletes what was learned while an identity was logged in.
func forget(tx *store.Tx, id uint64) error {
	return errors.Join(endSession(tx, id), forgetPeers(tx, id))
}

func endSession(tx *store.Tx, id uint64) error {
	session, err := tx.Sessions.Of(id)
	if err == nil {
		err = tx.Sessions.Delete(session.ID)
	}
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

func forgetPeers(tx *store.Tx, id uint64) error {
	for peer := range tx.Peers.Of(id) {
		if err := tx.Peers.Delete(peer.ID); err != nil {
			return err
		}
	}
	return nil
}
