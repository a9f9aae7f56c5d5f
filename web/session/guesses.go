package session

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

// How guessing is slowed down. The first tries are free; then each failure doubles the wait.
const (
	freeTries    = 3
	maxWait      = 15 * time.Minute
	freeTriesAll = 20
	slowedBy     = 2 * time.Second // an answer, once there were as many failures in all
	forgetAfter  = time.Hour
	maxGuessers  = 4096
)

// guesses counts wrong passwords by address and in all. It refuses a try only for failures from the same
// address: failures elsewhere make the answer slow, and never shut the owner out. A browser that has signed
// in before is counted by itself, so that nothing that others do concerns it. The counts are kept in
// memory: a restart forgives.
type guesses struct {
	now func() time.Time

	mu  sync.Mutex
	by  map[string]*tally // by address, or by what a known browser has
	all tally
}

// tally is the failures of one address, or of all.
type tally struct {
	failures int
	last     time.Time
	next     time.Time // before it, no try is looked at
}

func newGuesses(now func() time.Time) *guesses {
	return &guesses{now: now, by: make(map[string]*tally)}
}

// try asks for leave to try a password. If wait is 0, the try counts as failed until [guesses.forgive] is
// called, so that tries made side by side are counted too; it is to be answered after slow. Otherwise the
// password must not be looked at before wait has passed.
func (g *guesses) try(who guesser) (wait, slow time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	own := g.of(who.key, now)
	if wait := own.next.Sub(now); wait > 0 {
		return wait, 0
	}
	own.fail(now)
	if who.known {
		return 0, 0
	}
	if now.Sub(g.all.last) > forgetAfter {
		g.all = tally{}
	}
	if g.all.failures >= freeTriesAll {
		slow = slowedBy
	}
	g.all.failures, g.all.last = g.all.failures+1, now
	return 0, slow
}

// forgive takes a try back: the password was right.
func (g *guesses) forgive(who guesser) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.by, who.key)
	if !who.known {
		g.all.failures = max(0, g.all.failures-1)
	}
}

func (t *tally) fail(now time.Time) {
	t.failures++
	t.last = now
	if over := t.failures - freeTries; over >= 0 {
		t.next = now.Add(min(time.Second<<min(over, 20), maxWait))
	}
}

// of returns a tally. Where there are too many, the one that was quiet for longest makes room.
func (g *guesses) of(key string, now time.Time) *tally {
	if t, ok := g.by[key]; ok && now.Sub(t.last) <= forgetAfter {
		return t
	}
	if len(g.by) >= maxGuessers {
		var quiet string
		var since time.Time
		for k, t := range g.by {
			if since.IsZero() || t.last.Before(since) {
				quiet, since = k, t.last
			}
		}
		delete(g.by, quiet)
	}
	t := &tally{last: now}
	g.by[key] = t
	return t
}

// guesser is who tries a password: a browser that is known, or an address.
type guesser struct {
	key   string
	known bool
}

// knownAge is how long a browser stays known after it has signed in.
const knownAge = 400 * 24 * time.Hour // browsers keep nothing for longer

// knownCookie names the cookie of a browser that has signed in before; see [cookieName].
func knownCookie(r *http.Request) string { return cookieName(r) + "-known" }

// guesserOf reads who tries a password. hash is what is kept of the password.
func guesserOf(c echo.Context, hash string) guesser {
	if cookie, err := c.Cookie(knownCookie(c.Request())); err == nil {
		browser, proof, _ := strings.Cut(cookie.Value, ".")
		if hmac.Equal([]byte(proof), []byte(browserProof(hash, browser))) {
			return guesser{"browser " + browser, true}
		}
	}
	return guesser{network(c.RealIP()).String(), false}
}

// browserContext is where the browser that has just shown the password is kept in its echo context.
const browserContext = "browser"

// rememberBrowser lets the browser try a password later whatever others try. Another password ends this.
func (s *Sessions) rememberBrowser(c echo.Context, hash string) {
	browser := NewSecret()
	if who := guesserOf(c, hash); who.known {
		browser = strings.TrimPrefix(who.key, "browser ")
	}
	c.Set(browserContext, browser)
	cookie := s.cookie(c, browser+"."+browserProof(hash, browser), int(knownAge/time.Second))
	cookie.Name = knownCookie(c.Request())
	c.SetCookie(cookie)
}

// formToken is the token that the forms of a new sign-in carry. A known browser has the same one each time, so that a
// page that it opened before can still be sent. It does not tell which cookie it was made from.
func formToken(c echo.Context) string {
	browser, known := c.Get(browserContext).(string)
	if !known {
		return NewSecret()
	}
	token := hmac.New(sha256.New, []byte(browser))
	token.Write([]byte(csrfField))
	return base64.RawURLEncoding.EncodeToString(token.Sum(nil))
}

// browserProof shows that a browser was told by who has the password's hash, which is never shown to anybody.
func browserProof(hash, browser string) string {
	proof := hmac.New(sha256.New, []byte(hash))
	proof.Write([]byte(browser))
	return base64.RawURLEncoding.EncodeToString(proof.Sum(nil))
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
