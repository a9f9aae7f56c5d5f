package main

import (
	"context"

	"belfry/platform/telegram"
	"belfry/store"
	"belfry/web"
)

// followIdentities connects identities that are added, or whose token is changed, while the
// service runs, and ends the connections of those that are removed.
func (svc *service) followIdentities(ctx context.Context) error {
	changed, unwatch := svc.db.Watch("identities")
	defer unwatch()
	known, err := svc.secrets()
	if err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case _, open := <-changed:
			if !open {
				return nil
			}
		}
		now, err := svc.secrets()
		if err != nil {
			svc.log.Error().Err(err).Msg("logins could not be read; they are looked at again with the next change")
			continue
		}
		for id, secret := range now {
			if known[id] != secret {
				svc.telegram.Connect(id)
			}
		}
		for id := range known {
			if _, there := now[id]; !there {
				svc.telegram.Connect(id)
			}
		}
		known = now
	}
}

// secrets returns what the Telegram identities log in with.
func (svc *service) secrets() (map[uint64]string, error) {
	secrets := make(map[uint64]string)
	err := svc.db.View(func(tx *store.Tx) error {
		all, err := tx.Identities.Of(telegram.Platform)
		for _, i := range all {
			secrets[i.ID] = i.Secret
		}
		return err
	})
	return secrets, err
}

// connections says for the page and for health which logins are connected.
func (svc *service) connections() (all []web.Connection) {
	err := svc.db.View(func(tx *store.Tx) error {
		identities, err := tx.Identities.Of(telegram.Platform)
		for _, i := range identities {
			status := svc.telegram.Status(i.ID)
			all = append(all, web.Connection{
				Identity: i.Name, Platform: i.Platform, Since: status.Since, Problem: status.Err,
				Connected: status.State == telegram.StateConnected,
			})
		}
		return err
	})
	if err != nil {
		svc.log.Error().Err(err).Msg("logins could not be read")
	}
	return all
}
