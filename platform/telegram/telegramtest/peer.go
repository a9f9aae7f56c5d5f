package telegramtest

import (
	"regexp"
	"strings"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

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
		case !ok || ch.kind != basic || !ch.isMember(c.by) || ch.moved != nil:
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
	return c.srv.privateChat(c.by, other), nil
}

// privateChat is the chat of two accounts.
func (s *Server) privateChat(a, b *account) *chat {
	ch, ok := a.private[b.ID]
	if !ok {
		ch = s.newChat(private, 0)
		ch.pair = [2]*account{a, b}
		a.private[b.ID], b.private[a.ID] = ch, ch
	}
	return ch
}
