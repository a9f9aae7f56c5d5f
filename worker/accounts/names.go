package accounts

import (
	"context"
	"fmt"
	"slices"
	"time"

	"belfry/platform"
	"belfry/platform/profile"
	"belfry/store"
	"belfry/worker/identities"
)

// Names finds out whether a user name is taken, as an identity. Its errors are of type [*platform.Error].
type Names interface {
	Taken(ctx context.Context, identityID uint64, username string) (bool, error)
	Connection(identityID uint64) platform.Connection
}

// nameProber asks a network whether a user name is taken, always as the same login, and not while that has
// to wait: looking names up is what Telegram makes logins wait for the longest.
type nameProber struct {
	db    *store.DB
	names Names
}

// NewNameProber returns what asks a network for names, as the logins in db.
func NewNameProber(db *store.DB, names Names) profile.Prober { return nameProber{db, names} }

// longestHold is how long a login may have to wait before it may look names up.
const longestHold = 7 * 24 * time.Hour

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
	taken, err := p.names.Taken(ctx, asker.ID, username)
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
	err = p.db.View(func(tx *store.Tx) error {
		for _, i := range askers(tx.Identities.Of("telegram")) {
			if p.names.Connection(i.ID).State == platform.Connected {
				asker = i
				break
			}
		}
		for _, lane := range []string{asker.NamesLane(), asker.Lane()} {
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
	err := p.db.Update(func(tx *store.Tx) error {
		until := tx.Now().Add(min(max(0, e.Wait), longestHold))
		return tx.Holds.Extend(i.NamesLane(), until, store.Reason{Code: store.ReasonFlood, Detail: e.Error()})
	})
	if err != nil {
		return fmt.Errorf("note that %s may look no names up: %w", i.Name, err)
	}
	return nil
}
