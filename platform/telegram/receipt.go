package telegram

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gotd/td/tg"

	"belfry/platform"
	"belfry/store"
)

// receipt reads what Telegram answers to a send, which is the same for a first call and for a
// repetition: which random id belongs to which message, and the messages. An answer in which they
// cannot be found is still a success: the receipt then has no ids.
func receipt(u tg.UpdatesClass, peer store.Peer, randomIDs []int64) platform.Receipt {
	updates, chats, _ := updatesIn(u)
	var messages []int64 // in the order in which they are named
	if u, ok := u.(*tg.UpdateShortSentMessage); ok {
		messages = append(messages, int64(u.ID))
	}
	byRandomID := map[int64]int64{}
	for _, update := range updates {
		switch update := update.(type) {
		case *tg.UpdateMessageID:
			byRandomID[update.RandomID] = int64(update.ID)
		case *tg.UpdateNewChannelMessage:
			messages = append(messages, int64(update.Message.GetID()))
		case *tg.UpdateNewMessage:
			messages = append(messages, int64(update.Message.GetID()))
		}
	}
	var r platform.Receipt
	for _, random := range randomIDs {
		if id, ok := byRandomID[random]; ok {
			r.MessageIDs = append(r.MessageIDs, id)
		}
	}
	if len(r.MessageIDs) < len(randomIDs) && len(messages) == len(randomIDs) {
		r.MessageIDs = messages
	}
	if len(r.MessageIDs) > 0 {
		r.Link = link(peer, chats, r.MessageIDs[0])
	}
	return r
}

// link is the address of a message in a channel; other chats have none. The channel's name is
// taken from the answer, where it is fresh.
func link(peer store.Peer, chats []tg.ChatClass, message int64) string {
	if peer.Type != store.PeerChannel {
		return ""
	}
	name := peer.Username
	for _, c := range chats {
		if c, ok := c.(*tg.Channel); ok && c.ID == peer.PeerID && !c.Min {
			name = channelName(c)
		}
	}
	if name == "" {
		return fmt.Sprintf("https://t.me/c/%d/%d", peer.PeerID, message)
	}
	return fmt.Sprintf("https://t.me/%s/%d", name, message)
}

// renamed reports whether an answer says that a channel does not have the name any more by which it was addressed.
func renamed(u tg.UpdatesClass, peer store.Peer) bool {
	_, chats, _ := updatesIn(u)
	for _, c := range chats {
		if c, ok := c.(*tg.Channel); ok && c.ID == peer.PeerID && !c.Min {
			also := slices.ContainsFunc(c.Usernames, func(name tg.Username) bool { return name.Active && strings.EqualFold(name.Username, peer.Username) })
			return peer.Username != "" && !also && !strings.EqualFold(c.Username, peer.Username)
		}
	}
	return false
}
