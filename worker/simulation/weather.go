package simulation

import (
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"belfry/store"
)

// NetworkGone is the spell in which no login is connected.
const NetworkGone = "network gone"

// Spell is weather that lasts.
type Spell struct {
	Of       string // network or disk
	What     string
	From, To time.Time // in the bubble's time
	Strength float64   // the share of the calls or commits that it befalls
	Login    string    // whose calls; empty: those of all
	Seed     uint64

	login uint64
}

// Active reports whether the spell is on.
func (s *Spell) Active() bool { return !time.Now().Before(s.From) && time.Now().Before(s.To) }

// Hits reports whether it is about a login.
func (s *Spell) Hits(login uint64) bool { return s.login == 0 || s.login == login }

// Begin lets a spell begin now.
func (w *World) Begin(s Spell, lasts time.Duration) {
	s.From, s.To, s.login = time.Now(), time.Now().Add(lasts), w.Logins[s.Login]
	w.Note("%s for %v, strength %.2f %s", s.What, lasts.Round(time.Second), s.Strength, s.Login)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.spells = slices.DeleteFunc(w.spells, func(past *Spell) bool { // what is over counts as it did
		over := !time.Now().Before(past.To)
		if over && past.To.After(w.calm[past.Of]) {
			w.calm[past.Of] = past.To
		}
		return over
	})
	w.spells = append(w.spells, &s)
	if s.What == NetworkGone {
		w.After(lasts, w.Network.Connect)
	}
}

// active returns the spells of a kind that are on. It may be called from any goroutine.
func (w *World) active(of string) (all []*Spell) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.spells {
		if s.Of == of && s.Active() {
			all = append(all, s)
		}
	}
	return all
}

// Spell returns a spell that is on, or nil. It may be called from any goroutine.
func (w *World) Spell(what string) *Spell {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.spells {
		if s.What == what && s.Active() {
			return s
		}
	}
	return nil
}

// lasting is a length of time: mostly near the least, and seldom near the most.
func lasting(r *rand.Rand, least, most time.Duration) time.Duration {
	return skewed(r, least, most, 8)
}

func skewed(r *rand.Rand, least, most time.Duration, by float64) time.Duration {
	return (least + time.Duration(float64(most-least)*math.Pow(r.Float64(), by))).Round(time.Millisecond)
}

// spell is the action that begins a spell.
func spell(of, what string, rate float64, strength float64, least, most time.Duration) Action {
	return Action{Name: "weather: " + what, Rate: rate, Weather: true, Do: func(w *World, r *rand.Rand) {
		s := Spell{Of: of, What: what, Strength: strength, Seed: r.Uint64()}
		if strength < 1 {
			s.Strength = strength * r.Float64()
		}
		if of == "network" && what != NetworkGone && r.IntN(3) == 0 {
			names := w.LoginNames()
			s.Login = names[r.IntN(len(names))]
		}
		by := 8.0
		if of == "network" && strength < 1 { // there are few calls that it can befall
			by = 2
		}
		w.Begin(s, skewed(r, least, most, by))
	}}
}

// weather is what happens without people.
func weather() []Action {
	const hour, day = time.Hour, 24 * time.Hour
	return []Action{
		spell("network", NetworkGone, .15, 1, 10*time.Second, 12*hour),
		{Name: "weather: outage", Rate: .01, Weather: true, Do: func(w *World, r *rand.Rand) {
			w.Begin(Spell{Of: "network", What: NetworkGone, Strength: 1}, lasting(r, 6*hour, 3*day))
		}},
		spell("network", "answers lost", .5, .999, 2*time.Minute, 8*hour),
		spell("network", "late", .5, .999, 2*time.Minute, 8*hour),
		spell("network", "doubled", .3, .999, 2*time.Minute, 8*hour),
		spell("network", "flood", .4, .8, time.Minute, 6*hour),
		spell("network", "slow mode", .3, .8, time.Minute, 6*hour),
		spell("network", "refusals", .3, .5, time.Minute, 6*hour),
		spell("network", "trouble", .4, .9, time.Minute, 6*hour),
		spell("disk", "disk full", .1, 1, time.Second, 10*time.Minute),
		spell("disk", "write error", .2, .999, time.Second, 10*time.Minute),
		spell("disk", "sync error", .2, .999, time.Second, 10*time.Minute),
		spell("disk", "slow disk", .3, .9, time.Minute, 6*hour),
		loginOut("logged out", .1),
		loginOut("restricted", .1),
		{Name: "weather: crash", Rate: 1, Weather: true, Do: crash},
		{Name: "weather: crash after a message", Rate: 1, Weather: true, Do: func(w *World, r *rand.Rand) {
			crash(w, r)
			w.disk.mu.Lock()
			defer w.disk.mu.Unlock()
			w.disk.crash, w.disk.sent, w.disk.stage = 0, true, store.BeforeCommit
		}},
		{Name: "weather: crash loop", Rate: .1, Weather: true, Do: func(w *World, r *rand.Rand) {
			for range 2 + r.IntN(8) {
				w.After(time.Duration(r.Int64N(int64(2*time.Minute))), func() { crash(w, r) })
			}
		}},
		{Name: "weather: orderly end", Rate: .5, Weather: true, Do: func(w *World, r *rand.Rand) {
			w.end(false)
			if w.process == nil {
				w.After(lasting(r, time.Second, 2*day), w.boot)
			}
		}},
		{Name: "weather: end when something is due", Rate: .5, Weather: true, Do: endWhenDue},
		{Name: "weather: clock step", Rate: .3, Weather: true, Do: func(w *World, r *rand.Rand) {
			step := lasting(r, time.Second, 2*hour)
			if r.IntN(2) == 0 {
				step = -step
			}
			if ahead := w.Ahead() + step; ahead.Abs() < day { // it may not drift away for ever
				w.SetClock(step)
			}
		}},
		{Name: "weather: wrong clock", Rate: .1, Weather: true, Do: func(w *World, r *rand.Rand) {
			step := lasting(r, hour, 300*day)
			if r.IntN(3) == 0 {
				step = -step
			}
			w.SetClock(step)
			w.After(lasting(r, 10*time.Second, 12*hour), func() { w.SetClock(-step) })
		}},
		{Name: "weather: suspended", Rate: .1, Weather: true, Do: func(w *World, r *rand.Rand) {
			if step := lasting(r, time.Minute, 12*hour); w.Ahead()+step < 2*day {
				w.SetClock(step) // the time that the machine slept was none for the process
			}
		}},
	}
}

// crash has the process die at one of the next commits.
func crash(w *World, r *rand.Rand) {
	d := &w.disk
	d.mu.Lock()
	defer d.mu.Unlock()
	d.crash, d.stage = 1+r.IntN(8), store.BeforeCommit
	if r.IntN(2) == 0 {
		d.stage = store.AfterCommit
	}
	if d.off = 0; r.IntN(3) == 0 { // a power failure
		d.off = skewed(r, time.Minute, 24*time.Hour, 3)
	}
	w.Note("it is to crash %s a commit", d.stage)
}

// endWhenDue ends the program in order just after a login has begun what is due next, and starts it again.
func endWhenDue(w *World, r *rand.Rand) {
	p, names := w.Process(), w.LoginNames()
	if p == nil {
		return
	}
	var due time.Time
	_ = p.DB.View(func(tx *store.Tx) error { // a file that has just failed has no jobs to look at
		login, err := tx.Identities.Get(w.Logins[names[r.IntN(len(names))]])
		for job := range tx.Jobs.Due(login.Lane(), tx.Now().Add(24*time.Hour)) {
			if due = job.Due; due.After(tx.Now()) {
				break
			}
		}
		return err
	})
	w.After(due.Sub(w.Now())+time.Duration(r.Int64N(int64(time.Second))), func() {
		if w.end(false); w.process == nil {
			w.boot()
		}
	})
}
