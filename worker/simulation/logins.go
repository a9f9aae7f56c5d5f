package simulation

import (
	"math/rand/v2"
	"time"

	"belfry/platform"
	"belfry/store"
)

// loginOut lets a login be logged out or restricted by its network, until a person sees to it.
func loginOut(what string, rate float64) Action {
	return Action{Name: "weather: " + what, Rate: rate, Weather: true, Do: func(w *World, r *rand.Rand) {
		names := w.LoginNames()
		name := names[r.IntN(len(names))]
		lasts := lasting(r, time.Minute, 48*time.Hour)
		w.Begin(Spell{Of: "network", What: what, Strength: 1, Login: name}, lasts)
		w.After(lasts, func() { w.logIn(name) })
	}}
}

// logIn has a person log a login in again, or say that it is not restricted any more. Nobody gives up.
func (w *World) logIn(name string) {
	later := func() { w.After(time.Minute, func() { w.logIn(name) }) }
	p := w.Process()
	if p == nil {
		later()
		return
	}
	if w.Logins[name] == 0 { // it was removed meanwhile
		return
	}
	_, err := p.Update(func(tx *store.Tx) error {
		login, err := tx.Identities.Get(w.Logins[name])
		if err != nil || login.State == store.IdentityReady {
			return err
		}
		login.State, login.Reason, login.UpdatedAt = store.IdentityReady, store.Reason{}, tx.Now()
		return tx.Identities.Put(&login)
	})
	if err != nil {
		later()
		return
	}
	w.Note("%s is logged in", name)
}

// noteLogin does what an adapter does when its network says that a login has ended.
func (n *Network) noteLogin(p *Process, login uint64, e *platform.Error) {
	_, err := p.Update(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(login)
		if err != nil || i.State != store.IdentityReady {
			return err
		}
		i.State, i.Reason = store.IdentityLogin, store.Reason{Code: store.ReasonLogin, Detail: e.Error()}
		i.UpdatedAt = tx.Now()
		return tx.Identities.Put(&i)
	})
	if err != nil {
		n.w.Note("that login %d has ended is not written: %v", login, err)
	}
}
