package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
	"time"

	"belfry/platform"
	"belfry/platform/telegram"
	"belfry/store"
	"belfry/web"
	"belfry/worker/identities"
	"belfry/worker/tasks"
)

// connectTelegram keeps the Telegram logins connected until ctx ends. Those of a restored file wait until
// everything is resumed.
func (svc *service) connectTelegram(ctx context.Context) error {
	changed, unwatch := svc.db.Watch("settings")
	defer unwatch()
	for said := false; ; said = true {
		restored := ""
		err := svc.db.View(func(tx *store.Tx) (err error) {
			restored, err = tx.Settings.Value(store.Restored)
			return err
		})
		if err != nil {
			return err
		}
		if restored == "" {
			unwatch()
			return svc.telegram.Run(ctx)
		}
		if !said {
			svc.log.Warn().Str("why", restored).Msg("nothing connects to Telegram until everything is resumed: belfry jobs resume --all")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// followIdentities connects identities that are added, or that are to log in with something else,
// while the service runs, and ends the connections of those that are removed. When a user account
// has logged in, its chats are listed.
func (svc *service) followIdentities(ctx context.Context) error {
	changed, unwatch := svc.db.Watch("identities")
	defer unwatch()
	known, err := svc.identities()
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
		now, err := svc.identities()
		if err != nil {
			svc.log.Error().Err(err).Msg("logins could not be read; they are looked at again with the next change")
			continue
		}
		for id, i := range now {
			before, there := known[id]
			switch {
			case !there || mustConnect(before, i):
				svc.telegram.Connect(id)
			case i.Kind == store.IdentityUser && i.State == store.IdentityReady && before.State != store.IdentityReady:
				if err := svc.db.Update(func(tx *store.Tx) error { return tasks.ListChats(tx, id) }); err != nil {
					svc.log.Error().Err(err).Str("login", i.Name).Msg("could not have its chats listed")
				}
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

// mustConnect reports whether an identity was changed so that it has to connect again: it has
// something else to log in with, or is to try anew.
func mustConnect(before, now store.Identity) bool {
	return now.Secret != before.Secret || now.State == store.IdentityNew && !now.UpdatedAt.Equal(before.UpdatedAt)
}

// identities returns the Telegram identities.
func (svc *service) identities() (map[uint64]store.Identity, error) {
	byID := make(map[uint64]store.Identity)
	err := svc.db.View(func(tx *store.Tx) error {
		for _, i := range tx.Identities.Of(telegram.Platform) {
			byID[i.ID] = i
		}
		return nil
	})
	return byID, err
}

// adopt takes over the user account of the setting TELETHON_SESSION: the text of a session, or the
// path of a file.
func (svc *service) adopt(setting string) error {
	if setting == "" {
		return nil
	}
	data := []byte(setting)
	file, err := os.ReadFile(setting)
	if err == nil {
		data = file
	} else if strings.HasSuffix(setting, ".session") {
		adopted := false
		if e := svc.db.View(func(tx *store.Tx) (err error) {
			adopted, err = identities.HasAdopted(tx)
			return err
		}); e != nil {
			return e
		}
		if adopted { // what it held is in the database
			svc.log.Warn().Str("file", setting).Msg("TELETHON_SESSION names a file that cannot be read; what was taken over before is used")
			return nil
		}
		return store.Invalid("TELETHON_SESSION", "invalid.session_unreadable", err)
	}
	session, err := svc.logins.Session(data)
	if err != nil {
		return ofSetting("TELETHON_SESSION", err)
	}
	mark := fmt.Sprintf("%x", sha256.Sum256(session))
	if err := svc.db.Update(func(tx *store.Tx) error { return identities.Adopt(tx, session, mark) }); err != nil {
		return fmt.Errorf("TELETHON_SESSION: %w", err)
	}
	return nil
}

// seen counts the messages that have come into the chats of a user account.
func (svc *service) seen(identityID uint64, counts map[platform.ChatRef]int) {
	if err := svc.tasks.Seen(identityID, counts); err != nil {
		svc.log.Warn().Err(err).Msg("messages in chats were not counted")
	}
}

func seconds(n float64) time.Duration { return time.Duration(n * float64(time.Second)) }

// connections says for the page and for health which logins are connected.
func (svc *service) connections() (all []web.Connection) {
	err := svc.db.View(func(tx *store.Tx) error {
		for _, i := range tx.Identities.Of(telegram.Platform) {
			status := svc.telegram.Status(i.ID)
			all = append(all, web.Connection{
				Identity: i.Name, Platform: i.Platform, Since: status.Since, Problem: status.Err,
				Connected: status.State == telegram.StateConnected,
			})
		}
		return nil
	})
	if err != nil {
		svc.log.Error().Err(err).Msg("logins could not be read")
	}
	return all
}
