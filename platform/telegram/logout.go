package telegram

import (
	"context"
	"time"

	"belfry/store"
)

// farewell is how long Telegram has to confirm that a session is ended.
const farewell = 5 * time.Second

// LogOut ends the identity's session at Telegram, if it is connected, and here in any case. What
// it has learned of chats stays.
func (n *Network) LogOut(ctx context.Context, identityID uint64) error {
	if _, err := n.user(identityID); err != nil {
		return err
	}
	n.AbandonLogin(identityID)
	if c := n.connection(identityID); c != nil {
		c.leave(ctx)
	}
	n.disconnect(identityID)
	err := n.db.Update(func(tx *store.Tx) error {
		identity, err := tx.Identities.Get(identityID)
		if err != nil {
			return err
		}
		if err := replaceSession(tx, identityID, nil); err != nil {
			return err
		}
		identity.State, identity.Reason, identity.UpdatedAt = store.IdentityLogin, store.Reason{}, tx.Now()
		return tx.Identities.Put(&identity)
	})
	if err != nil {
		return storeFailed("store that the account is logged out", err)
	}
	n.cfg.Log.Info().Str("platform", Platform).Uint64("identity", identityID).Msg("logged out of Telegram")
	return nil
}

// leave asks Telegram to end the session. Whatever it answers, nobody is told that the login was
// lost: it was given up.
func (c *connection) leave(ctx context.Context) {
	c.mu.Lock()
	api, linked := c.api, c.linked
	c.leaving = true
	c.mu.Unlock()
	if api == nil || !linked {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	if _, err := api.AuthLogOut(ctx); err != nil {
		c.log.Info().Str("error", plainly(err)).Msg("Telegram did not confirm that the session has ended")
	}
}
