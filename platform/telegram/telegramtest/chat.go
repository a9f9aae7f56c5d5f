package telegramtest

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
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
	spoke     map[int64]time.Time // when an account last sent a message
	opening   *stored             // the service message that it began with
	posts     []*stored
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
		c.SetFlags()
		return c
	}
	c := &tg.Channel{ID: ch.id, Title: ch.title, Username: ch.username, Photo: &tg.ChatPhotoEmpty{}, Date: ch.began(),
		Broadcast: ch.kind == broadcast, Megagroup: ch.kind == supergroup,
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

var usernames = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{3,31}$`)

func (c *call) resolveUsername(req *tg.ContactsResolveUsernameRequest) (bin.Encoder, error) {
	if !usernames.MatchString(req.Username) {
		return nil, tgerr.New(400, "USERNAME_INVALID")
	}
	switch n := c.srv.names[strings.ToLower(req.Username)]; {
	case n.chat != nil:
		return &tg.ContactsResolvedPeer{Peer: n.chat.peer(c.by), Chats: []tg.ChatClass{n.chat.tl(c.by)}}, nil
	case n.account != nil:
		return &tg.ContactsResolvedPeer{
			Peer: &tg.PeerUser{UserID: n.account.ID}, Users: []tg.UserClass{n.account.tl(c.by)},
		}, nil
	}
	return nil, tgerr.New(400, "USERNAME_NOT_OCCUPIED")
}

func (c *call) getChannels(req *tg.ChannelsGetChannelsRequest) (bin.Encoder, error) {
	var found []tg.ChatClass
	for _, id := range req.ID {
		ch, err := c.inputChannel(id)
		if err != nil {
			return nil, err
		}
		found = append(found, ch.tl(c.by))
	}
	return &tg.MessagesChats{Chats: found}, nil
}

func (c *call) getChats(req *tg.MessagesGetChatsRequest) (bin.Encoder, error) {
	var found []tg.ChatClass
	for _, id := range req.ID {
		ch, ok := c.srv.chats[id]
		if !ok || ch.kind != basic {
			return nil, tgerr.New(400, "CHAT_ID_INVALID")
		}
		found = append(found, ch.tl(c.by))
	}
	return &tg.MessagesChats{Chats: found}, nil
}

// checkChatInvite looks behind an invitation link: at the chat, if one is in it already.
func (c *call) checkChatInvite(req *tg.MessagesCheckChatInviteRequest) (bin.Encoder, error) {
	ch, ok := c.srv.invites[req.Hash]
	switch {
	case req.Hash == "":
		return nil, tgerr.New(400, "INVITE_HASH_EMPTY")
	case !ok || ch.invite != req.Hash || c.srv.chats[ch.id] != ch:
		return nil, tgerr.New(400, "INVITE_HASH_EXPIRED")
	case ch.isMember(c.by):
		return &tg.ChatInviteAlready{Chat: ch.tl(c.by)}, nil
	}
	in := &tg.ChatInvite{Channel: ch.isChannel(), Broadcast: ch.kind == broadcast, Megagroup: ch.kind == supergroup,
		Public: ch.username != "", Title: ch.title, Photo: &tg.PhotoEmpty{}, ParticipantsCount: len(ch.members)}
	in.SetFlags()
	return in, nil
}

func (c *call) inputChannel(in tg.InputChannelClass) (*chat, error) {
	id, ok := in.(*tg.InputChannel)
	if !ok {
		return nil, tgerr.New(400, "CHANNEL_INVALID")
	}
	return c.channel(id.ChannelID, id.AccessHash)
}

// channel finds a channel or supergroup by id and access hash. A bot may leave the hash out for
// one that it is in.
func (c *call) channel(id, hash int64) (*chat, error) {
	ch, ok := c.srv.chats[id]
	switch {
	case !ok || !ch.isChannel():
		return nil, tgerr.New(400, "CHANNEL_INVALID")
	case hash == accessHash(c.by.ID, id):
	case hash == 0 && c.by.bot && ch.isMember(c.by):
	default:
		return nil, tgerr.New(400, "CHANNEL_INVALID")
	}
	if ch.kind == supergroup && ch.username == "" && !ch.isMember(c.by) {
		return nil, tgerr.New(400, "CHANNEL_PRIVATE")
	}
	return ch, nil
}

// writable finds the chat that a message goes to and checks that the account may post there.
func (c *call) writable(peer tg.InputPeerClass) (*chat, error) {
	switch in := peer.(type) {
	case *tg.InputPeerChannel:
		ch, err := c.channel(in.ChannelID, in.AccessHash)
		switch {
		case err != nil:
			return nil, err
		case !ch.isMember(c.by) || ch.forbidden:
			return nil, tgerr.New(403, "CHAT_WRITE_FORBIDDEN")
		case ch.kind == broadcast && !ch.isAdmin(c.by):
			return nil, tgerr.New(400, "CHAT_ADMIN_REQUIRED")
		}
		return ch, nil
	case *tg.InputPeerChat:
		ch, ok := c.srv.chats[in.ChatID]
		switch {
		case !ok || ch.kind != basic || !ch.isMember(c.by):
			return nil, tgerr.New(400, "PEER_ID_INVALID")
		case ch.forbidden:
			return nil, tgerr.New(403, "CHAT_WRITE_FORBIDDEN")
		}
		return ch, nil
	case *tg.InputPeerSelf:
		return c.privateChat(c.by)
	case *tg.InputPeerUser:
		if a, ok := c.account(in.UserID, in.AccessHash); ok {
			return c.privateChat(a)
		}
	}
	return nil, tgerr.New(400, "PEER_ID_INVALID")
}

// privateChat is the chat of the caller with the other, or with itself. It is listed once it has
// a message.
func (c *call) privateChat(other *account) (*chat, error) {
	if c.by.bot && (other.bot || !other.wroteTo(c.by)) {
		return nil, tgerr.New(400, "PEER_ID_INVALID")
	}
	ch, ok := c.by.private[other.ID]
	if !ok {
		ch = c.srv.newChat(private, 0)
		ch.pair = [2]*account{c.by, other}
		c.by.private[other.ID], other.private[c.by.ID] = ch, ch
	}
	return ch, nil
}
