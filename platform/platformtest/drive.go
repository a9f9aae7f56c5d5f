// Package platformtest drives a publisher as the worker of posts does, without a store: it keeps what an attempt
// leaves, and can forget how an attempt ended, as a program does that is killed.
package platformtest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"time"

	"belfry/platform"
)

// Keys are secrets in memory.
type Keys struct {
	mu      sync.Mutex
	secrets map[uint64][]byte
	out     map[uint64]string
	full    bool
}

// FailOnce has the next secret not be stored.
func (k *Keys) FailOnce() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.full = true
}

// Secret implements [platform.Keys].
func (k *Keys) Secret(id uint64) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.secrets[id] == nil {
		return nil, errors.New("not found")
	}
	return k.secrets[id], nil
}

// SetSecret implements [platform.Keys].
func (k *Keys) SetSecret(id uint64, used, secret []byte) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.holds(id, used) {
		return errors.New("another login was entered meanwhile")
	}
	if k.full {
		k.full = false
		return errors.New("no space left on device")
	}
	if k.secrets == nil {
		k.secrets = map[uint64][]byte{}
	}
	k.secrets[id] = secret
	return nil
}

// LoggedOut implements [platform.Keys].
func (k *Keys) LoggedOut(id uint64, used []byte, words string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.holds(id, used) {
		return nil
	}
	if k.out == nil {
		k.out = map[uint64]string{}
	}
	k.out[id] = words
	return nil
}

// holds reports whether a secret is the stored one; tests give none.
func (k *Keys) holds(id uint64, used []byte) bool {
	return used == nil || bytes.Equal(used, k.secrets[id])
}

// Out returns why an identity is logged out; empty if it is not.
func (k *Keys) Out(id uint64) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.out[id]
}

// Drive publishes a post to its end. It returns the receipt, or the error that ended it, or the last one of as many
// attempts as are allowed, and how many were made. killed reports, for each attempt from 0, whether the program is
// killed before the attempt's end is on record; nil: never. wait is told each pause.
func Drive(p platform.Publisher, post platform.Post, attempts int, killed func(attempt int) bool, wait func(time.Duration)) (platform.Receipt, *platform.Error, int) {
	var last *platform.Error
	for n := range attempts {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		receipt, err := p.Publish(ctx, post)
		cancel()
		before := post.Unanswered
		if killed != nil && killed(n) {
			post.Unanswered = true
			continue
		}
		if err == nil {
			return receipt, nil, n + 1
		}
		last = platform.AsError(err)
		post.Unanswered = before || last.Kind == platform.Unknown
		if last.State != nil {
			post.State = last.State
			post.Unanswered = post.Unanswered && last.Kind != platform.UnderWay
		}
		switch last.Kind {
		case platform.UnderWay, platform.Wait:
			if wait != nil {
				wait(last.Wait)
			}
		case platform.Transient, platform.Unknown:
		default:
			return platform.Receipt{}, last, n + 1
		}
	}
	return platform.Receipt{}, last, attempts
}
