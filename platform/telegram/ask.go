package telegram

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gotd/td/tg"

	"belfry/platform"
	"belfry/store"
)

// met returns the place that a target names if the identity has met it, or [store.ErrNotFound].
func (n *Network) met(identityID uint64, t target) (p place, err error) {
	err = n.db.View(func(tx *store.Tx) error {
		if t.self {
			identity, err := tx.Identities.Get(identityID)
			if err == nil && (identity.Kind != store.IdentityUser || identity.NetworkID == 0) {
				err = store.ErrNotFound
			}
			p.Peer = store.Peer{IdentityID: identityID, Type: store.PeerUser, PeerID: identity.NetworkID,
				Username: identity.Username, Title: identity.Title}
			return err
		}
		if t.username != "" {
			p.Peer, err = tx.Peers.ByUsername(identityID, t.username)
			return err
		}
		if t.invite != "" {
			p.Peer, err = tx.Peers.ByInvite(identityID, t.invite)
			return err
		}
		p.Peer, err = tx.Peers.ByPeer(identityID, t.typ, t.id)
		if !t.plain || !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if identity, e := tx.Identities.Get(identityID); e != nil || identity.Kind != store.IdentityUser {
			return err
		}
		for _, typ := range []store.PeerType{store.PeerChannel, store.PeerChat} {
			if errors.Is(err, store.ErrNotFound) {
				p.Peer, err = tx.Peers.ByPeer(identityID, typ, t.id)
			}
		}
		return err
	})
	p.self, p.writable = t.self, true
	return p, err
}

// ask finds a place at Telegram. Whoever asked stores it.
func (n *Network) ask(ctx context.Context, c *connection, api *tg.Client, t target) (p place, err error) {
	user := c.isUser()
	switch {
	case t.self:
		err = refusedChat(errors.New("a bot has no saved messages: name a chat"))
	case t.invite != "" && !user:
		err = refusedChat(errors.New("an invitation is not an address for a bot: add the bot to the chat and give the chat's id, such as -1001234567890"))
	case t.invite != "":
		p, err = askInvite(ctx, api, t.invite)
	case t.username != "":
		p, err = askName(ctx, api, t.username)
	case user && t.typ != store.PeerChat:
		p, err = n.askDialogs(ctx, c, api, t)
	default:
		p, err = askID(ctx, api, t)
	}
	p.IdentityID = c.identity
	return p, err
}

// askSlowmode asks how slow a chat in slow mode is. It is as well not to know: the chat says so when it is
// sent to.
func askSlowmode(ctx context.Context, api *tg.Client, p *place) error {
	if !p.slow {
		return nil
	}
	answer, err := api.ChannelsGetFullChannel(ctx, &tg.InputChannel{ChannelID: p.PeerID, AccessHash: p.AccessHash})
	if err != nil {
		return fmt.Errorf("ask for the slow mode: %w", err)
	}
	if full, ok := answer.FullChat.(*tg.ChannelFull); ok {
		p.slowmode = time.Duration(full.SlowmodeSeconds) * time.Second
	}
	return nil
}

func askName(ctx context.Context, api *tg.Client, name string) (place, error) {
	r, err := api.ContactsResolveUsername(ctx, &tg.ContactsResolveUsernameRequest{Username: name})
	if err != nil {
		return place{}, fmt.Errorf("resolve @%s: %w", name, err)
	}
	return pick(peerRef(r.Peer), r.Chats, r.Users)
}

// askID asks for a chat by its id alone, which is enough for basic groups, and for a bot also where
// it is a member.
func askID(ctx context.Context, api *tg.Client, t target) (p place, err error) {
	ref := platform.ChatRef{Type: platform.ChatType(t.typ), ID: t.id}
	var chats []tg.ChatClass
	var users []tg.UserClass
	switch t.typ {
	case store.PeerChannel:
		// A bot may name a channel that it is in without an access hash, and is told the hash.
		r, err := api.ChannelsGetChannels(ctx, []tg.InputChannelClass{&tg.InputChannel{ChannelID: t.id}})
		if err != nil {
			return p, fmt.Errorf("look up channel %d: %w", t.id, err)
		}
		chats = r.GetChats()
	case store.PeerChat:
		r, err := api.MessagesGetChats(ctx, []int64{t.id})
		if err != nil {
			return p, fmt.Errorf("look up group %d: %w", t.id, err)
		}
		chats = r.GetChats()
	case store.PeerUser:
		users, err = api.UsersGetUsers(ctx, []tg.InputUserClass{&tg.InputUser{UserID: t.id}})
		if err != nil {
			return p, fmt.Errorf("look up user %d: %w", t.id, err)
		}
	}
	return pick(ref, chats, users)
}

// askDialogs looks for an id among the chats of a user account, which cannot address a chat without
// the access hash that comes with them.
func (n *Network) askDialogs(ctx context.Context, c *connection, api *tg.Client, t target) (place, error) {
	if err := n.learnChats(ctx, c, api); err != nil {
		return place{}, err
	}
	p, err := n.met(c.identity, t)
	if errors.Is(err, store.ErrNotFound) {
		return p, unknownChat()
	}
	p.fresh = true
	return p, err
}

// askInvite asks which chat an invitation is for. One that the account is not in is not joined.
func askInvite(ctx context.Context, api *tg.Client, hash string) (place, error) {
	answer, err := api.MessagesCheckChatInvite(ctx, hash)
	if err != nil {
		return place{}, fmt.Errorf("look at the invitation: %w", err)
	}
	already, ok := answer.(*tg.ChatInviteAlready)
	if !ok {
		return place{}, refusedChat(errors.New("this login is not in the chat: join it first"))
	}
	p, ok := describeChat(already.Chat)
	if !ok || p.gone {
		return place{}, unknownChat()
	}
	p.Invite = hash
	return p, nil
}

// pick finds the chat that was asked for in an answer. Of a basic group that has become a supergroup it is that one.
func pick(ref platform.ChatRef, chats []tg.ChatClass, users []tg.UserClass) (place, error) {
	for _, c := range chats {
		p, ok := describeChat(c)
		switch {
		case !ok || p.ref() != ref:
		case p.moved:
			if to, ok := c.(*tg.Chat).MigratedTo.(*tg.InputChannel); ok {
				p.Peer = store.Peer{Type: store.PeerChannel, PeerID: to.ChannelID, AccessHash: to.AccessHash, Title: p.Title}
				p.moved, p.gone, p.writable = false, false, true
				return p, nil
			}
		case !p.gone:
			return p, nil
		}
	}
	for _, u := range users {
		if p, ok := describeUser(u); ok && p.ref() == ref {
			return p, nil
		}
	}
	return place{}, unknownChat()
}

func unknownChat() *platform.Error {
	return refusedChat(errors.New("this login does not know the chat: join it or add the login to it; a user has to write to a bot first"))
}

// isUser reports whether the connection was last logged in as a user account.
func (c *connection) isUser() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.self != nil && !c.self.Bot
}

// Taken asks Telegram whether anybody has a user name, whatever is remembered of it. Its error is a
// [*platform.Error]: Refused for what cannot be a name.
func (n *Network) Taken(ctx context.Context, identityID uint64, name string) (bool, error) {
	api, c, err := n.api(ctx, identityID)
	if err != nil {
		return false, err
	}
	if _, err = api.ContactsResolveUsername(ctx, &tg.ContactsResolveUsernameRequest{Username: name}); err == nil {
		return true, nil
	}
	e := c.sorted(api, fmt.Errorf("look up @%s: %w", name, err), false)
	if e.Code == "USERNAME_NOT_OCCUPIED" {
		return false, nil
	}
	return false, e
}
