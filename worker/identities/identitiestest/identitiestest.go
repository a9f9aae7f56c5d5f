// Package identitiestest brings people into the simulation who connect accounts and remove them.
package identitiestest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/identities"
	"belfry/worker/simulation"
)

// Prefix is what the names of the accounts begin with that people connect and remove.
const Prefix = "extra"

// most is how many of these there are at once.
const most = 3

// Part is what the simulation plays.
func Part() simulation.Part {
	return simulation.Part{
		Name: "identities",
		Actions: []simulation.Action{
			{Name: "identities: add", Rate: .1, Do: add},
			{Name: "identities: remove", Rate: .1, Do: remove},
		},
		Start:  start,
		Hourly: hourly,
		Daily:  daily,
	}
}

func start(p *simulation.Process) worker.Module {
	return identities.New(p.DB, Network{World: p.World}, identities.Config{Connected: p.World.Network.Connected()}).Module()
}

// Network is a network of which only the connections are known.
type Network struct {
	identities.Network
	World *simulation.World
}

// Run connects the logins.
func (n Network) Run(ctx context.Context) error {
	n.World.Network.Connect()
	<-ctx.Done()
	return nil
}

// Connect does nothing: all logins share the connection.
func (n Network) Connect(uint64) {}

// Connection is how a login is connected.
func (n Network) Connection(uint64) platform.Connection { return n.World.Network.Connection() }

func add(w *simulation.World, r *rand.Rand) {
	process, n := w.Process(), r.Uint32()
	if process == nil || len(extra(w)) >= most {
		return
	}
	name := fmt.Sprintf("%s%08x", Prefix, n)
	_, err := process.Update(func(tx *store.Tx) error {
		login, err := identities.Add(tx, identities.Request{
			Platform: "telegram", Name: name, Token: fmt.Sprintf("%d:simulated-token-of-a-bot-%08x", 1000+n, n), Target: "@" + name,
		})
		login.State = store.IdentityReady
		return errors.Join(err, tx.Identities.Put(&login))
	})
	w.Note("connect %s: %v", name, err)
}

// extra are the names of the accounts that people have connected.
func extra(w *simulation.World) (names []string) {
	for _, name := range w.LoginNames() {
		if strings.HasPrefix(name, Prefix) {
			names = append(names, name)
		}
	}
	return names
}

func remove(w *simulation.World, r *rand.Rand) {
	process, names := w.Process(), extra(w)
	if process == nil || len(names) == 0 {
		return
	}
	name := simulation.Pick(r, names, func(name string) string { return name })
	_, err := process.Update(func(tx *store.Tx) error { return identities.Remove(tx, w.Logins[name]) })
	w.Note("remove %s: %v", name, err)
}

// hourly learns which accounts there are.
func hourly(w *simulation.World, tx *store.Tx) {
	maps.DeleteFunc(w.Logins, func(name string, _ uint64) bool { return strings.HasPrefix(name, Prefix) })
	for login := range tx.Identities.All() {
		if strings.HasPrefix(login.Name, Prefix) {
			w.Logins[login.Name] = login.ID
		}
	}
}

// daily complains of an account that is gone although something of it waits.
func daily(w *simulation.World, tx *store.Tx) {
	for _, status := range []store.PostStatus{store.PostScheduled, store.PostPublishing} {
		page, err := tx.Posts.Coming(status, store.Query{Limit: 100})
		if err != nil {
			return
		}
		for _, post := range page.Items {
			w.Judged(1)
			if _, err := tx.Identities.Get(post.IdentityID); errors.Is(err, store.ErrNotFound) {
				w.Complain("identities: removed", "post %d waits for login %d, which is not there", post.ID, post.IdentityID)
			}
		}
	}
}
