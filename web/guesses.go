package web

import (
	"net/netip"
	"sync"
	"time"
)

// How guessing is slowed down. The first tries are free; then each failure doubles the wait.
const (
	freeTries    = 3
	maxWait      = 15 * time.Minute
	freeTriesAll = 20
	maxWaitAll   = 30 * time.Second // bounds what a guesser can do to the owner, who is elsewhere
	forgetAfter  = time.Hour
	maxAddresses = 4096
)

// guesses counts wrong passwords by address and in all. It makes a guesser wait by refusing, so
// that waiting costs the server nothing. It is kept in memory: a restart forgives.
type guesses struct {
	now func() time.Time

	mu        sync.Mutex
	byAddress map[netip.Prefix]*tally
	all       tally
}

// tally is the failures of one address, or of all.
type tally struct {
	failures int
	last     time.Time
	next     time.Time // before it, no try is looked at
}

func newGuesses(now func() time.Time) *guesses {
	return &guesses{now: now, byAddress: make(map[netip.Prefix]*tally)}
}

// try asks for leave to try a password from an address. If wait is 0, the try counts as failed
// until [guesses.forgive] is called, so that tries made side by side are counted too. Otherwise
// the password must not be looked at before wait has passed.
func (g *guesses) try(address string) (wait time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	own := g.of(address, now)
	if now.Sub(g.all.last) > forgetAfter {
		g.all = tally{}
	}
	if wait := max(own.next.Sub(now), g.all.next.Sub(now)); wait > 0 {
		return wait
	}
	own.fail(now, freeTries, maxWait)
	g.all.fail(now, freeTriesAll, maxWaitAll)
	return 0
}

// forgive takes a try back: the password was right.
func (g *guesses) forgive(address string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.byAddress, network(address))
	if g.all.failures = max(0, g.all.failures-1); g.all.failures <= freeTriesAll {
		g.all.next = time.Time{}
	}
}

func (t *tally) fail(now time.Time, free int, longest time.Duration) {
	t.failures++
	t.last = now
	if over := t.failures - free; over >= 0 {
		t.next = now.Add(min(time.Second<<min(over, 20), longest))
	}
}

// of returns the tally of an address. Where there are too many addresses, the one that was quiet
// for longest makes room.
func (g *guesses) of(address string, now time.Time) *tally {
	key := network(address)
	if t, ok := g.byAddress[key]; ok && now.Sub(t.last) <= forgetAfter {
		return t
	}
	if len(g.byAddress) >= maxAddresses {
		var quiet netip.Prefix
		var since time.Time
		for k, t := range g.byAddress {
			if since.IsZero() || t.last.Before(since) {
				quiet, since = k, t.last
			}
		}
		delete(g.byAddress, quiet)
	}
	t := &tally{last: now}
	g.byAddress[key] = t
	return t
}

// network is what counts as one address: an IPv4 address, or the /64 that an IPv6 host has to
// itself.
func network(address string) netip.Prefix {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return netip.Prefix{}
	}
	ip = ip.Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	prefix, err := ip.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}
