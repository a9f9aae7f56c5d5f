package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
				return ofSetting("TELEGRAM_BOT_TOKEN", err)
			}
		}
		if s.AdminBotToken != "" && s.AdminBotToken != s.TelegramBotToken {
			if notify, err = identities.Configure(tx, identities.Notify, s.AdminBotToken, ""); err != nil {
				return ofSetting("ADMIN_NOTIFY_BOT_TOKEN", err)
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
	asked := profile.Settings{Proxy: s.Proxy, Private: s.AllowPrivate}
	if s.InstagramWeb != "" {
		asked.Base = map[string]string{"instagram": s.InstagramWeb}
	}
	client, err := profile.NewClient(asked)
	if err != nil {
		names := map[string]string{"proxy": "BELFRY_PROXY", "base": "BELFRY_INSTAGRAM_WEB_URL"}
		return wrong(names[platform.AsError(err).Field], err)
	}
	svc.accounts = accounts.New(svc.db, client, svc.notices, accounts.Config{
		MinPause: s.CheckMinPause, MaxPause: s.CheckMaxPause,
		Identity: nameProber{svc}, Lang: s.Lang, Zone: zone, Log: svc.log.With().Str("part", "accounts").Logger(),
	})
	return nil
}

// nameProber asks Telegram whether a user name is taken, always as the same login, and not while that has
// to wait: looking names up is what Telegram makes logins wait for the longest.
type nameProber struct{ svc *service }

// longestHold is how long a login may have to wait before it may look names up.
const longestHold = 7 * 24 * time.Hour

// lookups is the lane under which it is kept how long a login may look no names up. What it sends is not
// held by that.
func lookups(i store.Identity) string { return "names:" + i.Lane() }

// Probe looks a name up.
func (p nameProber) Probe(ctx context.Context, _ profile.Rule, username string) (profile.Result, error) {
	asker, held, err := p.asker()
	switch {
	case err != nil:
		return profile.Result{}, err
	case asker.ID == 0:
		return profile.Result{Outcome: profile.Refused, Detail: "no login is connected to Telegram"}, nil
	case held > 0:
		wait := held.Truncate(time.Second) + time.Second
		return profile.Result{Outcome: profile.Refused, RetryAfter: wait,
			Detail: fmt.Sprintf("FLOOD_WAIT: Telegram asks this login to wait %d s", wait/time.Second)}, nil
	}
	taken, err := p.svc.telegram.Taken(ctx, asker.ID, username)
	if err == nil && !taken {
		return profile.Result{Outcome: profile.Absent, Detail: "nobody has the name"}, nil
	}
	if err == nil {
		return profile.Result{Outcome: profile.Found}, nil
	}
	e := platform.AsError(err)
	switch e.Kind {
	case platform.Refused:
		e.Field = "username"
		return profile.Result{}, e
	case platform.Wait:
		if err := p.hold(asker, e); err != nil {
			return profile.Result{}, err
		}
	}
	return profile.Result{Outcome: profile.Refused, Detail: e.Error(), RetryAfter: e.Wait}, nil
}

// asker returns the login that looks names up, and how long it has to wait before it may: because of a
// name that it looked up, or of a post or broadcast. Its ID is 0 if none is connected.
func (p nameProber) asker() (asker store.Identity, wait time.Duration, err error) {
	err = p.svc.db.View(func(tx *store.Tx) error {
		for _, i := range askers(tx.Identities.Of(telegram.Platform)) {
			if p.svc.telegram.Status(i.ID).State == telegram.StateConnected {
				asker = i
				break
			}
		}
		for _, lane := range []string{lookups(asker), asker.Lane()} {
			until, _ := tx.Holds.Until(lane)
			if left := until.Sub(tx.Now()); left <= longestHold { // else the clock was wrong when it was written
				wait = max(wait, left)
			}
		}
		return nil
	})
	return asker, wait, err
}

// askers are the logins that may look names up, the first of them being the one that does if it is
// connected: the bot that tells the admins, the one that posts, another bot. User accounts, whose
// broadcasts look names up, do it only where there is no bot.
func askers(all []store.Identity) []store.Identity {
	rank := func(i store.Identity) int {
		switch {
		case i.Kind == store.IdentityUser:
			return 3
		case i.Name == identities.Notify:
			return 0
		case i.Name == identities.Main:
			return 1
		}
		return 2
	}
	ready := slices.DeleteFunc(slices.Clone(all), func(i store.Identity) bool { return i.State != store.IdentityReady })
	slices.SortStableFunc(ready, func(a, b store.Identity) int { return rank(a) - rank(b) })
	if users := slices.IndexFunc(ready, func(i store.Identity) bool { return i.Kind == store.IdentityUser }); users > 0 {
		ready = ready[:users]
	}
	return ready
}

// hold keeps a login from looking names up for as long as Telegram asks, and for a week at most.
func (p nameProber) hold(i store.Identity, e *platform.Error) error {
	err := p.svc.db.Update(func(tx *store.Tx) error {
		until := tx.Now().Add(min(max(0, e.Wait), longestHold))
		return tx.Holds.Extend(lookups(i), until, store.Reason{Code: store.ReasonFlood, Detail: e.Error()})
	})
	if err != nil {
		return fmt.Errorf("note that %s may look no names up: %w", i.Name, err)
	}
	return nil
}
