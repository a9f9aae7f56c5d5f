package telegramtest

import (
	"github.com/gotd/td/bin"
	"github.com/gotd/td/proto"
	"github.com/gotd/td/tg"
)

// pushLimit bounds what waits to be pushed on one connection; more is lost, as it is when a
// connection breaks.
const pushLimit = 256

// pushed is an update on its way to a session.
type pushed struct {
	ses    *session
	update bin.Encoder
}

// push tells the accounts in a chat, except the sender, about new messages. The caller holds mu.
func (s *Server) push(ch *chat, from *account, posts []*stored) {
	s.tell(ch, from, func(a *account) *tg.Updates { return ch.news(a, posts) })
}

// tell pushes what somebody did in a chat to the others in it, on every connection that they have
// open. The caller holds mu.
func (s *Server) tell(ch *chat, by *account, update func(viewer *account) *tg.Updates) {
	for _, a := range s.inside(ch) {
		if a != by && !(a.bot && ch.isChannel()) {
			s.pushTo(a, update)
		}
	}
}

// pushTo pushes to every connection that the account has open. Each gets an update of its own:
// encoding writes to it. The caller holds mu.
func (s *Server) pushTo(a *account, update func(viewer *account) *tg.Updates) {
	for key := range a.keys {
		for ses := range s.open[key] {
			if ses.updates {
				ses.push(update(a))
			}
		}
	}
}

// push queues an update and never waits.
func (ses *session) push(update bin.Encoder) {
	select {
	case ses.conn.pushes <- pushed{ses, update}:
	default:
	}
}

// deliver sends what is pushed until the connection ends.
func (c *conn) deliver() {
	for {
		select {
		case <-c.gone:
			return
		case p := <-c.pushes:
			if err := c.send(p.ses, proto.MessageFromServer, p.update); err != nil {
				c.close()
				return
			}
		}
	}
}

// enter makes a session one that updates are pushed to.
func (s *Server) enter(ses *session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[ses.key.ID] == nil {
		s.open[ses.key.ID] = map[*session]struct{}{}
	}
	s.open[ses.key.ID][ses] = struct{}{}
}

// quit is enter's end, for all sessions of a connection.
func (s *Server) quit(c *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ses := range c.sessions {
		delete(s.open[ses.key.ID], ses)
		if len(s.open[ses.key.ID]) == 0 {
			delete(s.open, ses.key.ID)
		}
	}
}
