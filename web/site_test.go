package web

import (
	"context"
	"strings"
	"sync"

	"belfry/platform/profile"
)

// memorySite answers whether profiles exist, in memory. It knows the names that surely exist; of
// others it says what it was told, and else that there is nobody.
type memorySite struct {
	mu      sync.Mutex
	answers map[string]profile.Result // by name in lower case
	gate    chan struct{}             // if there is one, each question waits until it gives something
	asked   int
}

func (m *memorySite) Probe(ctx context.Context, rule profile.Rule, username string) (profile.Result, error) {
	m.mu.Lock()
	gate := m.gate
	m.asked++
	m.mu.Unlock()
	if gate != nil {
		select {
		case <-gate:
		case <-ctx.Done():
			return profile.Result{}, ctx.Err()
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, canary := range rule.Canaries {
		if strings.EqualFold(canary, username) {
			return profile.Result{Outcome: profile.Found, Status: 200}, nil
		}
	}
	if said, ok := m.answers[strings.ToLower(username)]; ok {
		return said, nil
	}
	return profile.Result{Outcome: profile.Absent, Status: 404, Detail: "the site says that there is no such profile"}, nil
}

// says has a name answered in this way from now on.
func (m *memorySite) says(username string, r profile.Result) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers[strings.ToLower(username)] = r
}
