// Package accountstest brings watched accounts into the simulation: sites in memory on which profiles come and
// go, people who change what is watched, and a judge who compares what is believed with what was so.
package accountstest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"belfry/platform"
	"belfry/platform/profile"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/accounts"
	"belfry/worker/notices/noticestest"
	"belfry/worker/simulation"
)

// Part is the accounts of one world.
type Part struct {
	Worker  *accounts.Worker // of the process that runs
	notices *noticestest.Part

	mu     sync.Mutex
	people map[string]*person // by name
}

// person is somebody with a profile on a site, or without one.
type person struct {
	name   string
	exists bool
	ever   bool
	since  time.Time // when that has changed, in the bubble's time
	added  time.Time // when people began to watch it, likewise
}

// New returns the part of a world, which tells with the notices.
func New(notices *noticestest.Part) *Part {
	return &Part{notices: notices, people: map[string]*person{}}
}

const (
	site     = "instagram"
	interval = 6 * time.Hour
	// missedFor is how long a profile may have been there without being found when all has been well for as
	// long: two checks, and the longest time that a site is left alone.
	missedFor = 20 * time.Hour
)

// Part is what the simulation plays. It comes after that of the notices.
func (p *Part) Part() simulation.Part {
	return simulation.Part{
		Name: "accounts",
		Actions: []simulation.Action{
			{Name: "accounts: watch", Rate: .7, Do: p.watch},
			{Name: "accounts: remove", Rate: .3, Do: p.remove},
			{Name: "accounts: check now", Rate: .3, Do: p.checkNow},
			{Name: "accounts: quiet", Rate: .2, Do: p.act("quiet", func(tx *store.Tx, r *rand.Rand) error { return p.Worker.SetQuiet(tx, r.IntN(2) == 0) })},
			{Name: "accounts: interval", Rate: .2, Do: p.act("interval", func(tx *store.Tx, r *rand.Rand) error {
				_, err := p.Worker.SetInterval(tx, time.Duration(1+r.IntN(6))*time.Hour)
				return err
			})},
			{Name: "accounts: run the job now", Rate: .2, Do: p.act("run now", func(tx *store.Tx, _ *rand.Rand) error {
				_, err := scheduler.RunNow(tx, accounts.JobName)
				return err
			})},
			{Name: "accounts: pause the job", Rate: .1, Do: p.pause},
			{Name: "weather: profile comes or goes", Rate: 2, Weather: true, Do: p.turn},
		},
		Start:  p.start,
		Hourly: p.hourly,
	}
}

func (p *Part) start(process *simulation.Process) worker.Module {
	p.Worker = accounts.New(process.DB, sites{p, process}, p.notices.Worker, accounts.Config{})
	return p.Worker.Module()
}

// sites are the sites as a process sees them.
type sites struct {
	p       *Part
	process *simulation.Process
}

func (s sites) Probe(ctx context.Context, rule profile.Rule, username string) (profile.Result, error) {
	result := profile.Result{Outcome: profile.Absent, Status: 404}
	err := s.process.World.Network.Call(ctx, s.process, 0, "probe "+username, func() {
		if s.p.exists(rule, username) {
			result = profile.Result{Outcome: profile.Found, Status: 200}
		}
	})
	if ctx.Err() != nil {
		return profile.Result{}, ctx.Err()
	}
	if err != nil {
		e := platform.AsError(err)
		return profile.Result{Outcome: profile.Refused, Detail: e.Error(), RetryAfter: e.Wait}, nil
	}
	return result, nil
}

func (p *Part) exists(rule profile.Rule, username string) bool {
	if slices.Contains(rule.Canaries, username) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	who := p.people[username]
	return who != nil && who.exists
}

// pick chooses one of those who are watched.
func (p *Part) pick(r *rand.Rand) *person {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.SortedFunc(maps.Values(p.people), func(a, b *person) int { return strings.Compare(a.name, b.name) })
	if len(all) == 0 {
		return nil
	}
	return simulation.Pick(r, all, func(who *person) string { return who.name })
}

func (p *Part) watch(w *simulation.World, r *rand.Rand) {
	process := w.Process()
	if process == nil {
		return
	}
	who := &person{name: fmt.Sprintf("p%08x", r.Uint32()), exists: r.IntN(3) == 0, since: time.Now(), added: time.Now()}
	who.ever = who.exists
	doubt, err := process.Update(func(tx *store.Tx) error {
		if _, err := p.Worker.Add(tx, accounts.Request{Site: site, Username: who.name, KeepWatching: r.IntN(2) == 0}); err != nil {
			return err
		}
		if every, err := p.Worker.Interval(tx); err != nil || every == interval {
			return err
		}
		_, err := p.Worker.SetInterval(tx, interval)
		return err
	})
	w.Note("watch %s, which exists: %v: %v", who.name, who.exists, err)
	if err == nil || doubt {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.people[who.name] = who
	}
}

// Watched says that people watch an account, or perhaps do, which they have added through another door. It does not
// exist yet.
func (p *Part) Watched(name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.people[name] == nil {
		p.people[name] = &person{name: name, since: time.Now(), added: time.Now()}
	}
}

func (p *Part) remove(w *simulation.World, r *rand.Rand) {
	who, process := p.pick(r), w.Process()
	if who == nil || process == nil {
		return
	}
	_, err := process.Update(func(tx *store.Tx) error {
		a, err := tx.Accounts.ByName(site, who.name)
		if err != nil {
			return err
		}
		return p.Worker.Remove(tx, a.ID)
	})
	w.Note("stop watching %s: %v", who.name, err)
}

// act is the action that does something with the check.
func (p *Part) act(what string, do func(*store.Tx, *rand.Rand) error) func(*simulation.World, *rand.Rand) {
	return func(w *simulation.World, r *rand.Rand) {
		seed := r.Uint64()
		if process := w.Process(); process != nil {
			_, err := process.Update(func(tx *store.Tx) error { return do(tx, rand.New(rand.NewPCG(seed, 0))) }) // it may be called twice
			w.Note("check of the accounts, %s: %v", what, err)
		}
	}
}

func (p *Part) checkNow(w *simulation.World, r *rand.Rand) {
	p.act("now", func(tx *store.Tx, _ *rand.Rand) error {
		_, err := p.Worker.CheckNow(tx)
		return err
	})(w, r)
}

// pause pauses the job of the check for some hours.
func (p *Part) pause(w *simulation.World, r *rand.Rand) {
	p.act("pause", func(tx *store.Tx, _ *rand.Rand) error {
		_, err := scheduler.Pause(tx, accounts.JobName)
		return err
	})(w, r)
	w.After(time.Duration(r.Int64N(int64(12*time.Hour))), func() { p.resume(w) })
}

// resume is tried until it is done. What is paused counts as a pause of all for as long.
func (p *Part) resume(w *simulation.World) {
	w.Disturb("pause")
	err := errors.New("no process runs")
	if process := w.Process(); process != nil {
		_, err = process.Update(func(tx *store.Tx) error {
			job, err := tx.Jobs.ByName(accounts.JobName)
			if err != nil || job.State != store.JobPaused && !job.Paused {
				return nil //nolint:nilerr // there is nothing to resume
			}
			_, err = scheduler.Resume(tx, accounts.JobName)
			return err
		})
	}
	w.Note("check of the accounts, resume: %v", err)
	if err != nil {
		w.After(time.Minute, func() { p.resume(w) })
	}
}

// turn lets a profile appear or vanish.
func (p *Part) turn(w *simulation.World, r *rand.Rand) {
	who := p.pick(r)
	if who == nil {
		return
	}
	p.mu.Lock()
	who.exists, who.since = !who.exists, time.Now()
	who.ever = who.ever || who.exists
	p.mu.Unlock()
	w.Note("%s exists: %v", who.name, who.exists)
}

// hourly compares what is believed with what is so. A profile of which it is not known whether people watch it
// is not in the file, or is judged like the others.
func (p *Part) hourly(w *simulation.World, tx *store.Tx) {
	paused, _ := tx.Settings.Value(store.Paused)
	job, err := tx.Jobs.ByName(accounts.JobName)
	calm := err == nil && job.State != store.JobPaused && paused == "" && w.Calm(missedFor, "process", "disk", "clock", "network", "pause")
	for a := range tx.Accounts.All() {
		p.mu.Lock()
		who := p.people[a.Username]
		p.mu.Unlock()
		if who == nil {
			w.Complain("accounts: known", "account %d is %s, and nobody has asked for it", a.ID, a.Username)
			continue
		}
		w.Judged(1)
		switch {
		case a.State != store.AccountPending && !who.ever:
			w.Complain("accounts: found", "account %d (%s) is %s and has never existed", a.ID, a.Username, a.State)
		case calm && a.State != store.AccountFound && who.exists && time.Since(who.since) > missedFor:
			w.Complain("accounts: missed", "account %d (%s) is %s and exists for %v: %+v", a.ID, a.Username, a.State, time.Since(who.since), a)
		}
	}
}
