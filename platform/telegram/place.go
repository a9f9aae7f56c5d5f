package telegram

import (
	"cmp"
	"time"

	"github.com/gotd/td/tg"

	"belfry/platform"
	"belfry/store"
)

// place is a chat that was found.
type place struct {
	store.Peer
	self     bool          // the account itself, whose chat with itself holds its saved messages
	fresh    bool          // Telegram was asked
	writable bool          // false if it is certain that the identity may not write there
	gone     bool          // the identity is no longer in it
	moved    bool          // it has become a supergroup, which is another chat
	slow     bool          // it is in slow mode for the identity
	slowmode time.Duration // if that was asked for
}

func (p place) ref() platform.ChatRef {
	return platform.ChatRef{Type: platform.ChatType(p.Type), ID: p.PeerID}
}

func (p place) chat() platform.Chat {
	return platform.Chat{ChatRef: p.ref(), Title: p.Title, Username: p.Username, Writable: p.writable, Slowmode: p.slowmode}
}

func (p place) input() tg.InputPeerClass {
	switch {
	case p.self:
		return &tg.InputPeerSelf{}
	case p.Type == store.PeerUser:
		return &tg.InputPeerUser{UserID: p.PeerID, AccessHash: p.AccessHash}
	case p.Type == store.PeerChat:
		return &tg.InputPeerChat{ChatID: p.PeerID}
	}
	return &tg.InputPeerChannel{ChannelID: p.PeerID, AccessHash: p.AccessHash}
}

// peerRef is what a peer of Telegram's names.
func peerRef(p tg.PeerClass) platform.ChatRef {
	switch p := p.(type) {
	case *tg.PeerUser:
		return platform.ChatRef{Type: platform.ChatUser, ID: p.UserID}
	case *tg.PeerChat:
		return platform.ChatRef{Type: platform.ChatGroup, ID: p.ChatID}
	case *tg.PeerChannel:
		return platform.ChatRef{Type: platform.ChatChannel, ID: p.ChannelID}
	}
	return platform.ChatRef{}
}

// describeChat reads what Telegram says of a chat.
func describeChat(c tg.ChatClass) (p place, ok bool) {
	switch c := c.(type) {
	case *tg.Channel:
		p.Peer = store.Peer{Type: store.PeerChannel, PeerID: c.ID, AccessHash: c.AccessHash,
			Username: channelName(c), Title: c.Title, Forum: c.Forum}
		p.writable = mayPost(c)
		p.slow = c.SlowmodeEnabled && !c.Creator && c.AdminRights.Zero()
	case *tg.ChannelForbidden:
		p.Peer = store.Peer{Type: store.PeerChannel, PeerID: c.ID, AccessHash: c.AccessHash, Title: c.Title}
		p.gone = true
	case *tg.Chat:
		p.Peer = store.Peer{Type: store.PeerChat, PeerID: c.ID, Title: c.Title}
		admin := c.Creator || !c.AdminRights.Zero()
		p.moved = c.MigratedTo != nil
		p.gone = c.Left || c.Deactivated || p.moved
		p.writable = !p.gone && (admin || !c.DefaultBannedRights.SendMessages)
	case *tg.ChatForbidden:
		p.Peer = store.Peer{Type: store.PeerChat, PeerID: c.ID, Title: c.Title}
		p.gone = true
	default:
		return p, false
	}
	p.fresh = true
	return p, true
}

// mayPost reports whether it is possible that messages may be sent to a channel or supergroup.
func mayPost(c *tg.Channel) bool {
	switch {
	case c.Min || c.Creator:
		return true
	case c.Broadcast || c.Gigagroup:
		return c.AdminRights.PostMessages || c.Gigagroup && !c.AdminRights.Zero()
	case c.Left && !(c.HasLink && !c.JoinToSend): // only discussions take what others write
		return false
	case !c.AdminRights.Zero():
		return true
	}
	banned := c.BannedRights.ViewMessages || c.BannedRights.SendMessages && !past(c.BannedRights.UntilDate)
	return !banned && !c.DefaultBannedRights.SendMessages
}

// past reports whether a restriction has ended; one without an end has not.
func past(until int) bool {
	const never = 1<<31 - 1
	return until != 0 && until != never && time.Unix(int64(until), 0).Before(time.Now())
}

func describeUser(u tg.UserClass) (p place, ok bool) {
	user, ok := u.(*tg.User)
	if !ok {
		return p, false
	}
	return place{
		Peer: store.Peer{Type: store.PeerUser, PeerID: user.ID, AccessHash: user.AccessHash,
			Username: userName(user), Title: fullName(user)},
		fresh: true, writable: !user.Deleted,
	}, true
}

// channelName is a channel's user name.
func channelName(c *tg.Channel) string { return inLinks(c.Username, c.Usernames) }

// userName is a user's name in links.
func userName(u *tg.User) string { return inLinks(u.Username, u.Usernames) }

// inLinks is the only name, or the first that is used of several.
func inLinks(only string, several []tg.Username) string {
	for _, name := range several {
		if name.Active {
			return cmp.Or(only, name.Username)
		}
	}
	return only
}
