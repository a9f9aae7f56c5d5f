package telegramtest

import (
	"slices"
	"time"

	"github.com/gotd/td/tg"
)

type kind int

const (
	broadcast  kind = iota // a channel in which administrators post
	supergroup             // to MTProto a channel, too
	basic                  // a basic group
	private                // two accounts, or one with itself
)

// chat is a place for messages, with what happened in it.
type chat struct {
	kind      kind
	id        int64       // of a channel or group
	pair      [2]*account // of a private chat
	title     string
	username  string
	invite    string
	admins    map[string]struct{} // handles
	members   map[string]struct{} // handles, administrators included
	readers   []string            // of a channel: who is in it without being an administrator
	slowmode  time.Duration
	forbidden bool
	forum     bool
	spoke     map[int64]time.Time // when an account last sent a message
	opening   *stored             // the service message that it began with
	posts     []*stored
	lastID    int            // of a channel: the highest one given out, 0: none
	log       []channelEvent // of a channel: what happened, each of which took one pts
	forgot    int            // how many of these getChannelDifference does not know any more
	shut      bool           // nobody may read it
	moved     *chat          // the supergroup that a basic group has become
}

// named is who or what has a user name.
type named struct {
	account *account
	chat    *chat
}

// hashMask makes access hashes that differ from account to account and from chat to chat.
const hashMask = 0x5bd1e9955bd1e995

func accessHash(viewer, id int64) int64 { return viewer*31 ^ id*1_000_003 ^ hashMask }

// newChat makes a chat that begins now.
func (s *Server) newChat(k kind, id int64) *chat {
	ch := &chat{kind: k, id: id, spoke: map[int64]time.Time{}}
	ch.opening = &stored{chat: ch, from: s.stranger, service: true, ids: map[int64]int{}, Message: Message{ID: 1, At: now()}}
	return ch
}

// place puts a channel or group, new or changed, where it is found. The caller holds mu.
func (s *Server) place(ch *chat, username string, admins, members []string) {
	if old, ok := s.chats[ch.id]; ok {
		s.displace(old)
	}
	ch.username = username
	ch.admins, ch.members = map[string]struct{}{}, map[string]struct{}{}
	for _, name := range admins {
		ch.admins[handle(name)] = struct{}{}
		ch.members[handle(name)] = struct{}{}
	}
	for _, name := range members {
		ch.members[handle(name)] = struct{}{}
	}
	s.chats[ch.id] = ch
	if username != "" {
		s.names[handle(username)] = named{chat: ch}
	}
	if ch.invite != "" {
		s.invites[ch.invite] = ch
	}
	for h := range ch.members {
		if s.memberOf[h] == nil {
			s.memberOf[h] = map[*chat]struct{}{}
		}
		s.memberOf[h][ch] = struct{}{}
		s.resort(h)
	}
}

// displace makes a chat impossible to find.
func (s *Server) displace(ch *chat) {
	delete(s.chats, ch.id)
	if h := handle(ch.username); s.names[h].chat == ch {
		delete(s.names, h)
	}
	for h := range ch.members {
		delete(s.memberOf[h], ch)
		s.resort(h)
	}
}

// resort has the chats of an account sorted anew when they are listed next.
func (s *Server) resort(handle string) {
	if a := s.names[handle].account; a != nil {
		a.listed = nil
	}
}

// freeChat is the next free id from first on.
func (s *Server) freeChat(first int64) int64 {
	for {
		id := first + s.lastChat
		s.lastChat++
		if _, taken := s.chats[id]; !taken {
			return id
		}
	}
}

func (ch *chat) isAdmin(a *account) bool {
	return slices.ContainsFunc(a.handles(), func(h string) bool { _, ok := ch.admins[h]; return ok })
}

func (ch *chat) isMember(a *account) bool {
	if ch.kind == private {
		return a == ch.pair[0] || a == ch.pair[1]
	}
	return slices.ContainsFunc(a.handles(), func(h string) bool { _, ok := ch.members[h]; return ok })
}

// inside are the accounts that read the chat.
func (s *Server) inside(ch *chat) []*account {
	if ch.kind == private {
		if ch.pair[0] == ch.pair[1] {
			return ch.pair[:1]
		}
		return ch.pair[:]
	}
	list := make([]*account, 0, len(ch.members))
	for h := range ch.members {
		if a := s.names[h].account; a != nil && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}

// isChannel reports whether MTProto calls it a channel: with messages of its own numbering.
func (ch *chat) isChannel() bool { return ch.kind == broadcast || ch.kind == supergroup }

// other is the account at the other end of a private chat.
func (ch *chat) other(viewer *account) *account {
	if ch.pair[0] == viewer {
		return ch.pair[1]
	}
	return ch.pair[0]
}

func (ch *chat) peer(viewer *account) tg.PeerClass {
	switch ch.kind {
	case private:
		return &tg.PeerUser{UserID: ch.other(viewer).ID}
	case basic:
		return &tg.PeerChat{ChatID: ch.id}
	}
	return &tg.PeerChannel{ChannelID: ch.id}
}

// tl is a channel or group as the viewer sees it.
func (ch *chat) tl(viewer *account) tg.ChatClass {
	rights := tg.ChatBannedRights{}
	if ch.forbidden {
		rights = tg.ChatBannedRights{SendMessages: true, SendMedia: true, SendStickers: true, SendGifs: true, SendPlain: true,
			SendPhotos: true, SendVideos: true, SendAudios: true, SendVoices: true, SendDocs: true}
	}
	if ch.kind == basic {
		if !ch.isMember(viewer) {
			return &tg.ChatForbidden{ID: ch.id, Title: ch.title}
		}
		c := &tg.Chat{ID: ch.id, Title: ch.title, Photo: &tg.ChatPhotoEmpty{}, Date: ch.began(),
			ParticipantsCount: len(ch.members), Version: 1}
		c.SetDefaultBannedRights(rights)
		if ch.moved != nil {
			c.Deactivated = true
			c.SetMigratedTo(&tg.InputChannel{ChannelID: ch.moved.id, AccessHash: accessHash(viewer.ID, ch.moved.id)})
		}
		c.SetFlags()
		return c
	}
	c := &tg.Channel{ID: ch.id, Title: ch.title, Username: ch.username, Photo: &tg.ChatPhotoEmpty{}, Date: ch.began(),
		Broadcast: ch.kind == broadcast, Megagroup: ch.kind == supergroup, Forum: ch.forum,
		SlowmodeEnabled: ch.slowmode > 0, Left: !ch.isMember(viewer)}
	c.SetAccessHash(accessHash(viewer.ID, ch.id))
	if ch.isAdmin(viewer) {
		c.SetAdminRights(tg.ChatAdminRights{PostMessages: true, EditMessages: true})
	}
	if ch.kind == supergroup {
		c.SetDefaultBannedRights(rights)
	}
	c.SetFlags()
	return c
}

func (ch *chat) began() int { return int(ch.opening.At.Unix()) }

// Migrate has a basic group become a supergroup, as Telegram does by itself when it needs what only those have.
func (s *Server) Migrate(id int64, to Group) Group {
	to = s.AddGroup(to)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chats[id].moved = s.chats[to.ID]
	return to
}
