package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belfry/platform"
	"belfry/platform/profile"
	"belfry/platform/telegram"
	"belfry/store"
	"belfry/worker/accounts"
	"belfry/worker/identities"
)

// configureBots makes the bots of the settings identities, and returns the one that tells the
// admins: the one that is for it, or the one that posts. Its ID is 0 if there is none.
func (svc *service) configureBots(s *settings) (notify store.Identity, err error) {
	err = svc.db.Update(func(tx *store.Tx) error {
		if s.TelegramBotToken != "" {
			if _, err := identities.Configure(tx, identities.Main, s.TelegramBotToken, s.TelegramChat); err != nil {
				return fmt.Errorf("TELEGRAM_BOT_TOKEN: %w", err)
			}
		}
		if s.AdminBotToken != "" && s.AdminBotToken != s.TelegramBotToken {
			if notify, err = identities.Configure(tx, identities.Notify, s.AdminBotToken, ""); err != nil {
				return fmt.Errorf("ADMIN_NOTIFY_BOT_TOKEN: %w", err)
			}
			return nil
		}
		notify, err = tx.Identities.ByName(telegram.Platform, identities.Main)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	return notify, err
}

// watchAccounts sets up the worker that looks whether accounts exist.
func (svc *service) watchAccounts(s *settings, zone *time.Location) error {
	asked := profile.Settings{Proxy: s.Proxy}
	if s.InstagramWeb != "" {
		asked.Base = map[string]string{"instagram": s.InstagramWeb}
	}
	client, err := profile.NewClient(asked)
	if err != nil {
		return fmt.Errorf("BELFRY_PROXY or BELFRY_INSTAGRAM_WEB_URL: %w", err)
	}
	svc.accounts = accounts.New(svc.db, client, svc.notices, accounts.Config{
		MinPause: s.CheckMinPause, MaxPause: s.CheckMaxPause,
		Identity: nameProber{svc}, Lang: s.Lang, Zone: zone, Log: svc.log.With().Str("part", "accounts").Logger(),
	})
	return nil
}

// nameProber asks Telegram whether a user name is taken, as one of the logins that can act.
type nameProber struct{ svc *service }

// Probe looks a name up.
func (p nameProber) Probe(ctx context.Context, _ profile.Rule, username string) (profile.Result, error) {
	ids, err := p.svc.identities()
	if err != nil {
		return profile.Result{}, err
	}
	for id, identity := range ids {
		if identity.State != store.IdentityReady || p.svc.telegram.Status(id).State != telegram.StateConnected {
			continue
		}
		return p.probe(ctx, id, username)
	}
	return profile.Result{Outcome: profile.Refused, Detail: "no login is connected to Telegram"}, nil
}

func (p nameProber) probe(ctx context.Context, id uint64, username string) (profile.Result, error) {
	taken, err := p.svc.telegram.Taken(ctx, id, username)
	if e := platform.AsError(err); err != nil && e.Kind == platform.Refused {
		e.Field = "username"
		return profile.Result{}, e
	} else if err != nil {
		return profile.Result{Outcome: profile.Refused, Detail: e.Error(), RetryAfter: e.Wait}, nil
	}
	if !taken {
		return profile.Result{Outcome: profile.Absent, Detail: "nobody has the name"}, nil
	}
	return profile.Result{Outcome: profile.Found}, nil
}
