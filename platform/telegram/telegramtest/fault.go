package telegramtest

import (
	"context"
	"sync"

	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

type faultKind int

const (
	fail       faultKind = iota // answer with an error
	mute                        // carry out, never answer
	drop                        // carry out, cut the connection
	dropBefore                  // cut the connection
	hold                        // carry out and answer when released
	pass                        // carry out and answer, as without a fault
	garble                      // answer with what nobody can read
)

// fault is what happens to one or more calls of a method in place of the usual.
type fault struct {
	kind faultKind
	left int // calls; below zero: for ever
	err  *tgerr.Error
	held chan struct{}
	once sync.Once
}

func (f *fault) release() { f.once.Do(func() { close(f.held) }) }

// Fail answers the next n calls of a method, such as "messages.sendMessage", with an error, such
// as 420 and "FLOOD_WAIT_7", and does not carry them out. Faults of one method queue up. A negative n
// is for ever.
func (s *Server) Fail(method string, n, code int, message string) {
	s.addFault(faultKey{method: method}, &fault{kind: fail, left: n, err: tgerr.New(code, message)})
}

// FailFor is [Server.Fail] for the calls of one account alone, including those in which it shows its
// password to log in.
func (s *Server) FailFor(userID int64, method string, n, code int, message string) {
	s.addFault(faultKey{method: method, user: userID}, &fault{kind: fail, left: n, err: tgerr.New(code, message)})
}

// FailIn is [Server.Fail] for the calls that address one chat alone: a channel or group, or the
// account at the other end of a private chat. It comes before FailFor, and that before Fail.
func (s *Server) FailIn(chatID int64, method string, n, code int, message string) {
	s.addFault(faultKey{method: method, chat: chatID}, &fault{kind: fail, left: n, err: tgerr.New(code, message)})
}

// Pass has nothing happen to the next n calls of a method, so that the faults after it come later.
func (s *Server) Pass(method string, n int) {
	s.addFault(faultKey{method: method}, &fault{kind: pass, left: n})
}

// Mute accepts, acknowledges and carries out the next n calls of a method, and never answers them.
func (s *Server) Mute(method string, n int) {
	s.addFault(faultKey{method: method}, &fault{kind: mute, left: n})
}

// Drop acknowledges and carries out the next n calls of a method, and cuts the connection instead
// of answering.
func (s *Server) Drop(method string, n int) {
	s.addFault(faultKey{method: method}, &fault{kind: drop, left: n})
}

// DropBefore cuts the connection at the next n calls of a method, without carrying them out.
func (s *Server) DropBefore(method string, n int) {
	s.addFault(faultKey{method: method}, &fault{kind: dropBefore, left: n})
}

// Hold keeps the next n calls of a method running until release is called; then they are carried
// out and answered. As long as they run, their random ids are taken: the same one sent again is
// refused with RANDOM_ID_DUPLICATE.
func (s *Server) Hold(method string, n int) (release func()) {
	f := &fault{kind: hold, left: n, held: make(chan struct{})}
	s.addFault(faultKey{method: method}, f)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holds = append(s.holds, f)
	return f.release
}

// ClearFaults removes all faults and releases what is held.
func (s *Server) ClearFaults() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.faults)
	for _, f := range s.holds {
		f.release()
	}
	s.holds = nil
}

// Calls is the number of calls of a method that have arrived, whatever became of them.
func (s *Server) Calls(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[method]
}

// AwaitCalls waits until n calls of a method have arrived since the server was started.
func (s *Server) AwaitCalls(ctx context.Context, method string, n int) error {
	return s.await(ctx, func() bool { return s.calls[method] >= n })
}

// AwaitDone waits until n calls of a method have been carried out since the server was started. After
// one of updates.getState, what is written is new to who has called it.
func (s *Server) AwaitDone(ctx context.Context, method string, n int) error {
	return s.await(ctx, func() bool { return s.done[method] >= n })
}

// faultKey says which calls a fault is for: those of a method, and if set, by one account or to one
// chat.
type faultKey struct {
	method     string
	user, chat int64
}

func (s *Server) addFault(key faultKey, f *fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[key] = append(s.faults[key], f)
}

// takeFault returns what happens to this call, or nil. The caller holds mu.
func (s *Server) takeFault(method string, by *account, req any) *fault {
	if len(s.faults) == 0 {
		return nil
	}
	var keys []faultKey
	for _, chat := range s.addressed(by, req) {
		keys = append(keys, faultKey{method: method, chat: chat})
	}
	if by != nil {
		keys = append(keys, faultKey{method: method, user: by.ID})
	}
	for _, key := range append(keys, faultKey{method: method}) {
		list := s.faults[key]
		for len(list) > 0 && list[0].left == 0 {
			list = list[1:]
		}
		if len(list) == 0 {
			delete(s.faults, key)
			continue
		}
		s.faults[key] = list
		if list[0].left > 0 {
			list[0].left--
		}
		return list[0]
	}
	return nil
}

// addressed are the chats that a call is about.
func (s *Server) addressed(by *account, req any) []int64 {
	switch r := req.(type) {
	case *tg.ContactsResolveUsernameRequest:
		switch n := s.names[handle(r.Username)]; {
		case n.chat != nil:
			return []int64{n.chat.id}
		case n.account != nil:
			return []int64{n.account.ID}
		}
	case *tg.ChannelsGetChannelsRequest:
		var ids []int64
		for _, in := range r.ID {
			if in, ok := in.AsNotEmpty(); ok {
				ids = append(ids, in.GetChannelID())
			}
		}
		return ids
	case *tg.MessagesGetChatsRequest:
		return r.ID
	case *tg.MessagesGetFullChatRequest:
		return []int64{r.ChatID}
	case interface{ GetChannel() tg.InputChannelClass }:
		if in, ok := r.GetChannel().AsNotEmpty(); ok {
			return []int64{in.GetChannelID()}
		}
	case *tg.MessagesGetDialogsRequest: // for the page that begins after it
		return addressed(by, r.OffsetPeer)
	case interface{ GetPeer() tg.InputPeerClass }:
		return addressed(by, r.GetPeer())
	}
	return nil
}

func addressed(by *account, peer tg.InputPeerClass) []int64 {
	switch in := peer.(type) {
	case *tg.InputPeerChannel:
		return []int64{in.ChannelID}
	case *tg.InputPeerChat:
		return []int64{in.ChatID}
	case *tg.InputPeerUser:
		return []int64{in.UserID}
	case *tg.InputPeerSelf:
		if by != nil {
			return []int64{by.ID}
		}
	}
	return nil
}
