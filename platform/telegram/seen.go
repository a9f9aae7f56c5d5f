package telegram

import (
	"context"
	"sync"
	"time"

	"github.com/gotd/td/tg"

	"belfry/platform"
)

// seen counts the messages of others that come to a connection. While none come it costs nothing.
type seen struct {
	connection *connection

	mu     sync.Mutex
	counts map[platform.ChatRef]int
	timer  *time.Timer // running while there is something to report
	ended  bool

	reporting sync.Mutex
}

func newSeen(c *connection) *seen { return &seen{connection: c} }

// Handle counts what an update brings. gotd reads nothing meanwhile, so it must be quick.
func (s *seen) Handle(_ context.Context, u tg.UpdatesClass) error {
	switch u := u.(type) {
	case *tg.UpdateShortMessage:
		s.count(platform.ChatRef{Type: platform.ChatUser, ID: u.UserID}, u.Out)
	case *tg.UpdateShortChatMessage:
		s.count(platform.ChatRef{Type: platform.ChatGroup, ID: u.ChatID}, u.Out)
	}
	updates, _, _ := updatesIn(u)
	for _, update := range updates {
		var message tg.MessageClass
		switch update := update.(type) {
		case *tg.UpdateNewMessage:
			message = update.Message
		case *tg.UpdateNewChannelMessage:
			message = update.Message
		}
		if m, ok := message.(*tg.Message); ok {
			s.count(peerRef(m.PeerID), m.Out)
		}
	}
	return nil
}

func (s *seen) count(chat platform.ChatRef, out bool) {
	if out || chat.ID == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if s.counts == nil {
		s.counts = map[platform.ChatRef]int{}
		s.timer = time.AfterFunc(s.connection.network.seenPause, s.report)
	}
	s.counts[chat]++
}

// report tells what has been counted and begins anew.
func (s *seen) report() {
	s.reporting.Lock()
	defer s.reporting.Unlock()
	s.mu.Lock()
	counts := s.counts
	s.counts = nil
	s.mu.Unlock()
	if len(counts) > 0 {
		s.connection.network.cfg.Seen(s.connection.identity, counts)
	}
}

// stop reports what is left. Nothing is reported after it has returned.
func (s *seen) stop() {
	s.mu.Lock()
	s.ended = true
	if s.timer != nil {
		s.timer.Stop()
	}
	s.mu.Unlock()
	s.report()
}
