package telegramtest

// Channel is a broadcast channel. Members are user names of accounts, or phone numbers of users
// without one; administrators may post.
type Channel struct {
	ID       int64 // 0: the next free one
	Title    string
	Username string // without @; empty for a private channel
	Invite   string // the part of an invitation link behind t.me/+
	Members  []string
}

// AddChannel makes a channel in which the named accounts may post, and returns it with its id.
func (s *Server) AddChannel(ch Channel, admins ...string) Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch.ID == 0 {
		ch.ID = s.freeChat(1_500_000_000)
	}
	c := s.newChat(broadcast, ch.ID)
	c.title, c.invite, c.readers = ch.Title, ch.Invite, ch.Members
	s.place(c, ch.Username, admins, ch.Members)
	return ch
}

// SetAdmins replaces the accounts that may post in a channel.
func (s *Server) SetAdmins(channelID int64, admins ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.chats[channelID]
	s.place(ch, ch.username, admins, ch.readers)
}

// RemoveChannel deletes a channel; calls that name it are answered with CHANNEL_INVALID.
func (s *Server) RemoveChannel(channelID int64) { s.remove(channelID) }

func (s *Server) remove(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch, ok := s.chats[id]; ok {
		s.displace(ch)
	}
}
