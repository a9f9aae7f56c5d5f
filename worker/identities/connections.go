package identities

import (
	"context"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
)

// offline is how long an identity may have no connection before that is wrong.
const offline = 3 * time.Minute

// givenUp is how long it takes at most until what gave up just before a connection was made has written that it waits.
const givenUp = 10 * time.Second

// Connection returns how the connection of an identity is doing.
func (w *Worker) Connection(id uint64) platform.Connection { return w.network.Connection(id) }

// run keeps the identities connected until ctx ends, and follows what changes meanwhile: since before the network
// reads which there are, so that one that is added just then is connected, if need be twice.
func (w *Worker) run(ctx context.Context) error {
	changed, unwatch := w.db.Watch("identities")
	defer unwatch()
	known, err := w.identities()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	followed := make(chan struct{})
	go func() {
		defer close(followed)
		defer cancel()
		w.follow(ctx, changed, known)
	}()
	err = w.connect(ctx)
	cancel()
	<-followed
	return err
}

// connect keeps the identities connected until ctx ends. Those of a restored file wait until everything is
// resumed: the file that it was copied from may be in use.
func (w *Worker) connect(ctx context.Context) error {
	changed, unwatch := w.db.Watch("settings")
	defer unwatch()
	for said := false; ; said = true {
		restored, err := w.restored()
		if err != nil {
			return err
		}
		if restored == "" {
			unwatch()
			return w.network.Run(ctx)
		}
		if !said {
			w.cfg.Log.Warn().Str("why", restored).Msg("nothing connects to Telegram until everything is resumed: belfry jobs resume --all")
		}
		select {
		case <-ctx.Done():
			return nil
		case <-changed:
		}
	}
}

// restored says why nothing connects; empty: it does.
func (w *Worker) restored() (string, error) {
	return worker.Read(w.db, func(tx *store.Tx) (string, error) { return tx.Settings.Value(store.Restored) })
}

// follow connects identities that are added to those that are known, or that are to log in with something else, and
// ends the connections of those that are removed. What waits for a connection goes on when there is one.
func (w *Worker) follow(ctx context.Context, changed <-chan struct{}, known map[uint64]store.Identity) {
	var again <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.cfg.Connected:
			w.goOn()
			again = time.After(givenUp)
			continue
		case <-again:
			w.goOn()
			continue
		case _, open := <-changed:
			if !open {
				return
			}
		}
		now, err := w.identities()
		if err != nil {
			w.cfg.Log.Error().Err(err).Msg("logins could not be read; they are looked at again with the next change")
			continue
		}
		for id, i := range now {
			before, there := known[id]
			switch {
			case !there || mustConnect(before, i):
				w.network.Connect(id)
			case i.Kind == store.IdentityUser && i.State == store.IdentityReady && before.State != store.IdentityReady && w.cfg.LoggedIn != nil:
				if err := w.db.Update(func(tx *store.Tx) error { return w.cfg.LoggedIn(tx, id) }); err != nil {
					w.cfg.Log.Error().Err(err).Str("login", i.Name).Msg("could not have its chats listed")
				}
			}
		}
		for id := range known {
			if _, there := now[id]; !there {
				w.network.Connect(id)
			}
		}
		known = now
	}
}

// goOn has what waits for a connection tried now.
func (w *Worker) goOn() {
	if err := w.db.Update(func(tx *store.Tx) error { return tx.Holds.End(store.ReasonNotConnected) }); err != nil {
		w.cfg.Log.Error().Err(err).Msg("what waits for a connection is tried when its pause is over")
	}
}

// mustConnect reports whether an identity was changed so that it has to connect again: it has
// something else to log in with, or is to try anew.
func mustConnect(before, now store.Identity) bool {
	return now.Secret != before.Secret || now.State == store.IdentityNew && !now.UpdatedAt.Equal(before.UpdatedAt)
}

// identities returns the identities that connect, by their ids.
func (w *Worker) identities() (map[uint64]store.Identity, error) {
	all, err := List(w.db)
	byID := make(map[uint64]store.Identity, len(all))
	for _, i := range all {
		if i.Kind != store.IdentityProfile { // those have no connection
			byID[i.ID] = i
		}
	}
	return byID, err
}

// wrong returns the identities that cannot act: a person has to do something, or they have had no connection
// for too long. One that has an alert already has none until it is connected, however often the program was
// started since.
func (w *Worker) wrong(tx *store.Tx) (all []store.Alert) {
	for i := range tx.Identities.All() {
		a, out := i.Out()
		if soon, ends := ending(i, tx.Now()); ends {
			all = append(all, soon)
		}
		if !out {
			c := w.network.Connection(i.ID)
			if i.State == store.IdentityLogin || i.State == store.IdentityStopped || c.State == platform.Off || c.State == platform.Connected {
				continue
			}
			if _, err := tx.Alerts.Standing(a.Kind, a.About); err != nil && tx.Now().Sub(c.Since) < offline {
				continue
			}
			a.Reason = store.Reason{Code: store.ReasonNotConnected, Detail: c.Err}
		}
		all = append(all, a)
	}
	return all
}
