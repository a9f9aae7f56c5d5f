package poststest

import (
	"context"
	"errors"
	"time"

	"belfry/platform"
	"belfry/worker/simulation"
)

// publisher notes what a login is answered, and judges whether it keeps to that.
type publisher struct {
	platform.Publisher
	n     network
	login uint64
}

// wait is what a login was told to wait, in the bubble's time.
type wait struct {
	told     *simulation.Process
	from, to time.Time
}

// Publish publishes a post.
func (s publisher) Publish(ctx context.Context, post platform.Post) (platform.Receipt, error) {
	s.judge()
	receipt, err := s.Publisher.Publish(ctx, post)
	if err == nil || errors.Is(ctx.Err(), context.Canceled) {
		return receipt, err
	}
	p := s.n.part
	p.mu.Lock()
	defer p.mu.Unlock()
	if wi := p.wishes[tagOf(post.Text)]; wi != nil {
		wi.faults++
	}
	if e := platform.AsError(err); e.Kind == platform.Wait && e.Scope == platform.ScopeIdentity {
		p.waits[s.login] = wait{s.n.p, time.Now(), time.Now().Add(e.Wait)}
	}
	return receipt, err
}

// judge complains of a call before the time that the login was told. A process that has crashed may not have
// written it.
func (s publisher) judge() {
	p := s.n.part
	p.mu.Lock()
	defer p.mu.Unlock()
	told := p.waits[s.login]
	if !time.Now().Before(told.to) || told.told.Dead() || !p.world.Calm(time.Since(told.from)+time.Second, "disk", "clock") {
		return
	}
	p.world.Complain("posts: flood", "login %d asks %v before the end of the wait that it was told", s.login, time.Until(told.to))
}
