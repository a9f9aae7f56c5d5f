package session

import (
	"errors"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	// LinkAge is how long a one-time link works.
	LinkAge = 15 * time.Minute
	// maxLinks bounds the links that wait to be used.
	maxLinks = 8
	// linkTrust is how long after signing in with a link a password may be chosen without the old
	// one: whoever has the link has the machine.
	linkTrust = 15 * time.Minute
)

// links are the one-time links that were given out, kept in memory: a restart ends them.
type links struct {
	now func() time.Time

	mu      sync.Mutex
	waiting map[string]time.Time // by digest of the key: when it ends
	trusted map[uint64]time.Time // sign-ins that were made with a link: until when
}

func newLinks(now func() time.Time) *links {
	return &links{now: now, waiting: make(map[string]time.Time), trusted: make(map[uint64]time.Time)}
}

// IssueLink returns the key of a new link, with which a browser can sign in once within [LinkAge].
func (s *Sessions) IssueLink() (key string, err error) { return s.links.issue() }

// LinkWorks reports whether a key can be used.
func (s *Sessions) LinkWorks(key string) bool { return s.links.works(key) }

// UseLink signs the browser in and uses the key up; false means that it cannot be used. For a while the
// browser may choose a password without knowing the old one.
func (s *Sessions) UseLink(c echo.Context, key string) (bool, error) {
	if !s.links.use(key) {
		return false, nil
	}
	signIn, err := s.SignIn(c)
	if err == nil {
		s.links.trust(signIn.ID)
	}
	return true, err
}

// issue returns the key of a new link.
func (l *links) issue() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	for key, end := range l.waiting {
		if !end.After(now) {
			delete(l.waiting, key)
		}
	}
	if len(l.waiting) >= maxLinks {
		return "", errors.New("too many sign-in links wait to be used: use one of them, or wait 15 minutes")
	}
	key := NewSecret()
	l.waiting[string(Digest([]byte(key)))] = now.Add(LinkAge)
	return key, nil
}

// works reports whether a key can be used.
func (l *links) works(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting[string(Digest([]byte(key)))].After(l.now())
}

// use reports whether a key can be used, and uses it up.
func (l *links) use(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := string(Digest([]byte(key)))
	good := l.waiting[id].After(l.now())
	delete(l.waiting, id)
	return good
}

// trust lets a sign-in choose a password for a while.
func (l *links) trust(signIn uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for id, end := range l.trusted {
		if !end.After(l.now()) {
			delete(l.trusted, id)
		}
	}
	l.trusted[signIn] = l.now().Add(linkTrust)
}

// trusts reports whether a sign-in may choose a password without knowing the old one.
func (l *links) trusts(signIn uint64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trusted[signIn].After(l.now())
}
