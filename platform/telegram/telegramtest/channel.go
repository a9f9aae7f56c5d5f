package telegramtest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/gotd/td/bin"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"
)

// Channel is a broadcast channel. Admins and Members are user names of bots; an admin may post.
type Channel struct {
	ID       int64 // 0: the next free one
	Title    string
	Username string // without @; empty for a private channel
	Members  []string
}

// channel is a Channel with what happened in it.
type channel struct {
	Channel
	admins []string
	posts  []*stored
}

// hashMask makes access hashes that differ from account to account and from channel to channel.
const hashMask = 0x5bd1e9955bd1e995

func accessHash(userID, channelID int64) int64 { return userID*31 ^ channelID*1_000_003 ^ hashMask }

// AddChannel makes a channel in which the named bots may post, and returns it with its id.
func (s *Server) AddChannel(ch Channel, admins ...string) Channel {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch.ID == 0 {
		ch.ID = 1_500_000_000 + int64(len(s.channels))
	}
	s.channels[ch.ID] = &channel{Channel: ch, admins: slices.Clone(admins)}
	return ch
}

// SetAdmins replaces the bots that may post in a channel.
func (s *Server) SetAdmins(channelID int64, admins ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.channels[channelID].admins = slices.Clone(admins)
}

// RemoveChannel deletes a channel; calls that name it are answered with CHANNEL_INVALID.
func (s *Server) RemoveChannel(channelID int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.channels, channelID)
}

func (ch *channel) isAdmin(b *bot) bool { return slices.Contains(ch.admins, b.username) }

func (ch *channel) isMember(b *bot) bool {
	return ch.isAdmin(b) || slices.Contains(ch.Members, b.username)
}

func (ch *channel) tl(b *bot) *tg.Channel {
	c := &tg.Channel{
		ID: ch.ID, Title: ch.Title, Username: ch.Username, Broadcast: true,
		Left: !ch.isMember(b), Photo: &tg.ChatPhotoEmpty{}, Date: 1,
	}
	c.SetAccessHash(accessHash(b.id, ch.ID))
	if ch.isAdmin(b) {
		c.SetAdminRights(tg.ChatAdminRights{PostMessages: true, EditMessages: true})
	}
	c.SetFlags()
	return c
}

func (c *call) resolveUsername(req *tg.ContactsResolveUsernameRequest) (bin.Encoder, error) {
	if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{3,31}$`).MatchString(req.Username) {
		return nil, tgerr.New(400, "USERNAME_INVALID")
	}
	for _, ch := range c.srv.channels {
		if strings.EqualFold(ch.Username, req.Username) {
			return &tg.ContactsResolvedPeer{
				Peer: &tg.PeerChannel{ChannelID: ch.ID}, Chats: []tg.ChatClass{ch.tl(c.bot)},
			}, nil
		}
	}
	for _, b := range c.srv.bots {
		if strings.EqualFold(b.username, req.Username) {
			return &tg.ContactsResolvedPeer{
				Peer: &tg.PeerUser{UserID: b.id}, Users: []tg.UserClass{b.tl(b == c.bot)},
			}, nil
		}
	}
	return nil, tgerr.New(400, "USERNAME_NOT_OCCUPIED")
}

func (c *call) getChannels(req *tg.ChannelsGetChannelsRequest) (bin.Encoder, error) {
	var found []tg.ChatClass
	for _, id := range req.ID {
		in, ok := id.(*tg.InputChannel)
		if !ok {
			return nil, tgerr.New(400, "CHANNEL_INVALID")
		}
		ch, err := c.channel(in.ChannelID, in.AccessHash)
		if err != nil {
			return nil, err
		}
		found = append(found, ch.tl(c.bot))
	}
	return &tg.MessagesChats{Chats: found}, nil
}

// channel finds a channel by id and access hash. A bot may leave the hash out for a channel that
// it is in.
func (c *call) channel(id, hash int64) (*channel, error) {
	ch, ok := c.srv.channels[id]
	switch {
	case !ok:
	case hash == accessHash(c.bot.id, id):
		return ch, nil
	case hash == 0 && ch.isMember(c.bot):
		return ch, nil
	}
	return nil, tgerr.New(400, "CHANNEL_INVALID")
}

// writable finds the channel that a message goes to and checks that the bot may post there.
func (c *call) writable(peer tg.InputPeerClass) (*channel, error) {
	in, ok := peer.(*tg.InputPeerChannel)
	if !ok {
		return nil, tgerr.New(400, "PEER_ID_INVALID")
	}
	ch, err := c.channel(in.ChannelID, in.AccessHash)
	switch {
	case err != nil:
		return nil, err
	case !ch.isMember(c.bot):
		return nil, tgerr.New(403, "CHAT_WRITE_FORBIDDEN")
	case !ch.isAdmin(c.bot):
		return nil, tgerr.New(400, "CHAT_ADMIN_REQUIRED")
	}
	return ch, nil
}
