package telegram

import (
	"belfry/platform"
	"context"
	"runtime"
	"time"

	"github.com/gotd/td/tg"
)

// AwaitState waits until the connection of an identity is in a state.
func AwaitState(ctx context.Context, n *Network, identityID uint64, want platform.ConnectionState) error {
	for {
		c := n.connection(identityID)
		if c == nil { // Run has not come to it yet
			if ctx.Err() != nil {
				return ctx.Err()
			}
			runtime.Gosched()
			continue
		}
		c.mu.Lock()
		state, changed := c.status.State, c.changed
		c.mu.Unlock()
		if state == want {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
		}
	}
}

// SetSeenPause sets the pause between two reports of what was seen.
func SetSeenPause(n *Network, pause time.Duration) { n.seenPause = pause }

// SetHearPause sets the pause before what was not heard is tried a second time.
func SetHearPause(n *Network, pause time.Duration) { n.hearPause = pause }

// SetCallTime sets how long Telegram has for an answer.
func SetCallTime(n *Network, limit time.Duration) { n.callTime = limit }

// SetLoginTime sets how long a login may take.
func SetLoginTime(n *Network, limit time.Duration) { n.loginTime = limit }

// Count has a connection see the updates, and end.
func Count(n *Network, updates ...tg.UpdatesClass) error {
	s := newSeen(newConnection(n, 1, func() {}))
	defer s.stop()
	for _, u := range updates {
		if err := s.Handle(context.Background(), u); err != nil {
			return err
		}
	}
	return nil
}

// SetUploadPatience sets how long a post waits for its media.
func SetUploadPatience(n *Network, patience time.Duration) { n.uploading.patience = patience }

// SetUploadTimes sets how long Telegram may take to accept a part, and the pause before it is sent again.
func SetUploadTimes(n *Network, part, retry time.Duration) {
	n.uploading.part, n.uploading.retry = part, retry
}
