package telegramtest

import (
	"time"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// Group is a supergroup or a basic group. Its members are equals.
type Group struct {
	ID        int64 // 0: the next free one; channels and groups share the numbers
	Title     string
	Username  string // of a public supergroup, without @
	Invite    string // the part of an invitation link behind t.me/+
	Basic     bool
	Forum     bool          // of supergroups: it has topics
	Members   []string      // user names of accounts; phone numbers of users without one
	Slowmode  time.Duration // between two messages of one member; of supergroups
	Forbidden bool          // members may not send
}

// AddGroup makes a group and returns it with its id.
func (s *Server) AddGroup(g Group) Group {
	s.mu.Lock()
	defer s.mu.Unlock()
	k, first := supergroup, int64(1_500_000_000)
	if g.Basic {
		k, first = basic, 800_000_000
	}
	if g.ID == 0 {
		g.ID = s.freeChat(first)
	}
	s.setGroup(s.newChat(k, g.ID), g)
	return g
}

// SetGroup replaces the settings and members of the group with the id. What was said stays; a
// basic group stays basic.
func (s *Server) SetGroup(g Group) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.setGroup(s.chats[g.ID], g)
}

// RemoveGroup deletes a group; calls that name it are answered with CHANNEL_INVALID, or with
// PEER_ID_INVALID if it was basic.
func (s *Server) RemoveGroup(id int64) { s.remove(id) }

func (s *Server) setGroup(ch *chat, g Group) {
	if ch.kind == basic {
		g.Username, g.Slowmode = "", 0
	}
	ch.title, ch.invite, ch.slowmode, ch.forbidden, ch.forum = g.Title, g.Invite, g.Slowmode, g.Forbidden, g.Forum
	s.place(ch, g.Username, nil, g.Members)
}

// pause is how many seconds the caller has to wait before it may send again.
func (c *call) pause(ch *chat) int {
	if last, spoke := ch.spoke[c.by.ID]; spoke && ch.slowmode > 0 {
		return seconds(ch.slowmode - now().Sub(last))
	}
	return 0
}

// seconds are whole seconds, rounded up.
func seconds(d time.Duration) int { return int(max(0, d+time.Second-1) / time.Second) }

func (c *call) getFullChannel(req *tg.ChannelsGetFullChannelRequest) (bin.Encoder, error) {
	ch, err := c.inputChannel(req.Channel)
	if err != nil {
		return nil, err
	}
	full := &tg.ChannelFull{ID: ch.id, ParticipantsCount: len(ch.members), ReadInboxMaxID: ch.top().ID,
		ChatPhoto: &tg.PhotoEmpty{}, Pts: ch.pts()}
	full.SetParticipantsCount(len(ch.members))
	if ch.slowmode > 0 {
		full.SetSlowmodeSeconds(seconds(ch.slowmode))
	}
	if wait := c.pause(ch); wait > 0 {
		full.SetSlowmodeNextSendDate(int(now().Unix()) + wait)
	}
	full.SetFlags()
	return &tg.MessagesChatFull{FullChat: full, Chats: []tg.ChatClass{ch.tl(c.by)}}, nil
}

func (c *call) getFullChat(req *tg.MessagesGetFullChatRequest) (bin.Encoder, error) {
	ch, ok := c.srv.chats[req.ChatID]
	if !ok || ch.kind != basic || !ch.isMember(c.by) {
		return nil, tgerr.New(400, "CHAT_ID_INVALID")
	}
	participants := &tg.ChatParticipants{ChatID: ch.id, Version: 1}
	var users []tg.UserClass
	for _, a := range c.srv.inside(ch) {
		participants.Participants = append(participants.Participants,
			&tg.ChatParticipant{UserID: a.ID, InviterID: c.srv.stranger.ID, Date: ch.began()})
		users = append(users, a.tl(c.by))
	}
	return &tg.MessagesChatFull{FullChat: &tg.ChatFull{ID: ch.id, Participants: participants},
		Chats: []tg.ChatClass{ch.tl(c.by)}, Users: users}, nil
}
