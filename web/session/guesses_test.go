package session

import (
	"net"
	"sync"
	"testing"
	"time"
)

func TestGuessesMadeSideBySideAreCounted(t *testing.T) {
	g := newGuesses(time.Now)
	var group sync.WaitGroup
	var mu sync.Mutex
	allowed := 0
	for range 100 {
		group.Go(func() {
			if wait, _ := g.try(guesser{key: "192.0.2.1"}); wait == 0 {
				mu.Lock()
				defer mu.Unlock()
				allowed++
			}
		})
	}
	group.Wait()
	if allowed != freeTries {
		t.Errorf("%d tries were allowed", allowed)
	}
}

func TestGuessersElsewhereSlowTheOwnerAndNeverShutOut(t *testing.T) {
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	g := newGuesses(func() time.Time { return now })
	for i := range 10_000 {
		g.try(guesser{key: network(net.IPv4(10, 0, byte(i>>8), byte(i)).String()).String()})
	}
	if wait, slow := g.try(guesser{key: "192.0.2.1"}); wait != 0 || slow != slowedBy {
		t.Errorf("from an address that has not guessed: refused for %s, answered after %s", wait, slow)
	}
	if wait, slow := g.try(guesser{"browser", true}); wait != 0 || slow != 0 {
		t.Errorf("from a browser that has signed in before: refused for %s, answered after %s", wait, slow)
	}
	if len(g.by) > maxGuessers {
		t.Errorf("%d guessers are kept", len(g.by))
	}
	if a, b := network("2001:db8::1"), network("2001:db8::ffff"); a != b {
		t.Errorf("one IPv6 network counts as %s and %s", a, b)
	}
}
