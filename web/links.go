package web

import (
	"errors"
	"sync"
	"time"
)

const (
	// linkAge is how long a one-time link works.
	linkAge = 15 * time.Minute
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
	key := newSecret()
	l.waiting[string(digest([]byte(key)))] = now.Add(linkAge)
	return key, nil
}

// works reports whether a key can be used.
func (l *links) works(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.waiting[string(digest([]byte(key)))].After(l.now())
}

// use reports whether a key can be used, and uses it up.
func (l *links) use(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	id := string(digest([]byte(key)))
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
