package web

import (
	"net"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"
)

func TestGuessingBecomesSlow(t *testing.T) {
	h := start(t)
	guess := func(password string) answered { return h.post("/sign-in", url.Values{"password": {password}}) }
	for range freeTries {
		if a := guess("wrong"); a.status != http.StatusUnauthorized {
			t.Fatalf("a free try: %d", a.status)
		}
	}
	for wait := time.Second; wait <= 8*time.Second; wait *= 2 {
		for _, password := range []string{"wrong", testPassword} { // while it waits, not even the right one is looked at
			a := guess(password)
			if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
				t.Fatalf("before %s: %d, Retry-After %q", wait, a.status, a.header.Get("Retry-After"))
			}
		}
		h.advance(wait)
		if a := guess("wrong"); a.status != http.StatusUnauthorized {
			t.Fatalf("after %s: %d", wait, a.status)
		}
	}
	h.advance(16 * time.Second)
	if a := guess(testPassword); a.status != http.StatusSeeOther {
		t.Errorf("the right one after the wait: %d", a.status)
	}
	if a := guess("wrong"); a.status != http.StatusUnauthorized {
		t.Errorf("the first wrong one after the right one: %d", a.status)
	}
}

func TestGuessesMadeSideBySideAreCounted(t *testing.T) {
	g := newGuesses(time.Now)
	var group sync.WaitGroup
	var mu sync.Mutex
	allowed := 0
	for range 100 {
		group.Go(func() {
			if g.try("192.0.2.1") == 0 {
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

func TestManyAddressesAreSlowedDownTogetherButNotForLong(t *testing.T) {
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	g := newGuesses(func() time.Time { return now })
	allowed := 0
	for i := range 10_000 {
		if g.try(net.IPv4(10, 0, byte(i>>8), byte(i)).String()) == 0 {
			allowed++
		}
	}
	if allowed != freeTriesAll {
		t.Errorf("%d tries were allowed", allowed)
	}
	if wait := g.try("192.0.2.1"); wait <= 0 || wait > maxWaitAll {
		t.Errorf("the owner waits %s", wait)
	}
	if len(g.byAddress) > maxAddresses {
		t.Errorf("%d addresses are kept", len(g.byAddress))
	}
	if a, b := network("2001:db8::1"), network("2001:db8::ffff"); a != b {
		t.Errorf("one IPv6 network counts as %s and %s", a, b)
	}
}

func TestAForwardedAddressFoolsNobody(t *testing.T) {
	h := start(t)
	status := 0
	for i := range freeTries + 1 {
		r := h.request("POST", "/sign-in", "password=wrong")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("X-Forwarded-For", net.IPv4(198, 51, 100, byte(i)).String())
		status = h.do(r).status
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("the last guess: %d", status)
	}
}
