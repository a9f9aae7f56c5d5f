package telegramtest

import (
	"context"
	"sync"

	"github.com/gotd/td/tgerr"
)

type faultKind int

const (
	fail       faultKind = iota // answer with an error
	mute                        // carry out, never answer
	drop                        // carry out, cut the connection
	dropBefore                  // cut the connection
	hold                        // carry out and answer when released
)

// fault is what happens to one or more calls of a method in place of the usual.
type fault struct {
	kind faultKind
	left int // calls
	err  *tgerr.Error
	held chan struct{}
	once sync.Once
}

func (f *fault) release() { f.once.Do(func() { close(f.held) }) }

// Fail answers the next n calls of a method, such as "messages.sendMessage", with an error, such
// as 420 and "FLOOD_WAIT_7", and does not carry them out. Faults of one method queue up.
func (s *Server) Fail(method string, n, code int, message string) {
	s.addFault(method, &fault{kind: fail, left: n, err: tgerr.New(code, message)})
}

// Mute accepts, acknowledges and carries out the next n calls of a method, and never answers them.
func (s *Server) Mute(method string, n int) { s.addFault(method, &fault{kind: mute, left: n}) }

// Drop acknowledges and carries out the next n calls of a method, and cuts the connection instead
// of answering.
func (s *Server) Drop(method string, n int) { s.addFault(method, &fault{kind: drop, left: n}) }

// DropBefore cuts the connection at the next n calls of a method, without carrying them out.
func (s *Server) DropBefore(method string, n int) {
	s.addFault(method, &fault{kind: dropBefore, left: n})
}

// Hold keeps the next n calls of a method running until release is called; then they are carried
// out and answered. As long as they run, their random ids are taken: the same one sent again is
// refused with RANDOM_ID_DUPLICATE.
func (s *Server) Hold(method string, n int) (release func()) {
	f := &fault{kind: hold, left: n, held: make(chan struct{})}
	s.addFault(method, f)
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

func (s *Server) addFault(method string, f *fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[method] = append(s.faults[method], f)
}

// takeFault returns what happens to this call of the method, or nil. The caller holds mu.
func (s *Server) takeFault(method string) *fault {
	list := s.faults[method]
	for len(list) > 0 && list[0].left <= 0 {
		list = list[1:]
	}
	s.faults[method] = list
	if len(list) == 0 {
		return nil
	}
	list[0].left--
	return list[0]
}
