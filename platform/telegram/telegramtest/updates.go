package telegramtest

import (
	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// firstPts is the pts of an account to which nothing has happened.
const firstPts = 1

// event is something that took one pts of an account: a message that was new, or an edit of one.
type event struct {
	m    *stored
	edit bool
}

// record appends an event and returns the account's pts after it.
func (a *account) record(e event) int {
	a.log = append(a.log, e)
	return a.pts()
}

func (a *account) pts() int { return firstPts + len(a.log) }

// Forget has updates.getDifference know nothing any more of what has happened to an account until
// now: to a client that missed some of it, the difference is too long.
func (s *Server) Forget(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.accounts[id]
	a.forgot = len(a.log)
}

func (c *call) getState(*tg.UpdatesGetStateRequest) (bin.Encoder, error) {
	state := c.state(c.by.pts())
	return &state, nil
}

func (c *call) state(pts int) tg.UpdatesState {
	return tg.UpdatesState{Pts: pts, Date: int(now().Unix())}
}

// getDifference tells what has happened since a pts, oldest first, in pages. A message is shown as
// it is now; a later edit of it comes all the same.
func (c *call) getDifference(req *tg.UpdatesGetDifferenceRequest) (bin.Encoder, error) {
	latest := c.by.pts()
	from := req.Pts - firstPts
	total, limited := req.GetPtsTotalLimit()
	switch {
	case req.Pts == 0:
		return nil, tgerr.New(400, "PERSISTENT_TIMESTAMP_EMPTY")
	case req.Date == 0:
		return nil, tgerr.New(400, "DATE_EMPTY")
	case from < 0 || req.Pts > latest:
		return nil, tgerr.New(400, "PERSISTENT_TIMESTAMP_INVALID")
	case from < c.by.forgot || limited && req.Pts+total < latest:
		return &tg.UpdatesDifferenceTooLong{Pts: latest}, nil
	case req.Pts == latest:
		return &tg.UpdatesDifferenceEmpty{Date: int(now().Unix())}, nil
	}
	page := c.srv.page
	if limit, ok := req.GetPtsLimit(); ok && limit > 0 {
		page = min(page, limit)
	}
	until := min(from+page, len(c.by.log))
	d := &tg.UpdatesDifference{State: c.state(firstPts + until)}
	var met meeting
	for i, e := range c.by.log[from:until] {
		if e.edit {
			d.OtherUpdates = append(d.OtherUpdates, e.m.edited(c.by, req.Pts+i+1))
		} else {
			d.NewMessages = append(d.NewMessages, e.m.tl(c.by))
		}
		met.chat(e.m.chat, c.by)
		met.account(e.m.from, c.by)
	}
	d.Chats, d.Users = met.chats, met.users
	if until == len(c.by.log) {
		return d, nil
	}
	return &tg.UpdatesDifferenceSlice{NewMessages: d.NewMessages, OtherUpdates: d.OtherUpdates,
		Chats: d.Chats, Users: d.Users, IntermediateState: d.State}, nil
}

// meeting collects the chats and accounts that an answer mentions, each once.
type meeting struct {
	chats []tg.ChatClass
	users []tg.UserClass
	known map[any]bool
}

func (m *meeting) first(who any) bool {
	if m.known == nil {
		m.known = map[any]bool{}
	}
	known := m.known[who]
	m.known[who] = true
	return !known
}

func (m *meeting) account(a, viewer *account) {
	if m.first(a) {
		m.users = append(m.users, a.tl(viewer))
	}
}

// chat meets a channel or group, or both who are in a private chat.
func (m *meeting) chat(ch *chat, viewer *account) {
	if ch.kind == private {
		m.account(ch.pair[0], viewer)
		m.account(ch.pair[1], viewer)
	} else if m.first(ch) {
		m.chats = append(m.chats, ch.tl(viewer))
	}
}
