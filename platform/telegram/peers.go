package telegram

import (
	"context"
	"errors"
	"fmt"

	"github.com/gotd/td/tg"

	"belfry/platform"
	"belfry/store"
)

// Reach finds out whether the identity can address the target and, in a channel, may post there.
// A chat that it has met is taken for granted without asking Telegram. The error is a
// [*platform.Error]: Refused if the chat is wrong, Transient if Telegram could not be asked.
func (n *Network) Reach(ctx context.Context, identityID uint64, name string) error {
	t, err := parseTarget(name)
	if err != nil {
		return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Field: "target", Err: err}
	}
	if _, err := n.storedPeer(identityID, t); err == nil {
		return nil
	} else if !errors.Is(err, store.ErrNotFound) {
		return notStored(err)
	}
	api, c, err := n.api(ctx, identityID)
	if err != nil {
		return err
	}
	peer, writable, err := ask(ctx, api, t)
	if err != nil {
		return c.sorted(api, err, false)
	}
	if !writable {
		return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Field: "target",
			Err: fmt.Errorf("this login may not post in %q: make it an administrator that may post messages", peer.Title)}
	}
	peer.IdentityID = identityID
	if err := n.storePeer(peer); err != nil {
		return notStored(err)
	}
	return nil
}

// peer returns the peer that a target names: the stored one, or what Telegram says, which is then
// stored.
func (n *Network) peer(ctx context.Context, api *tg.Client, identityID uint64, t target) (store.Peer, error) {
	peer, err := n.storedPeer(identityID, t)
	if err == nil {
		return peer, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return peer, notStored(err)
	}
	if peer, _, err = ask(ctx, api, t); err != nil {
		return peer, err
	}
	peer.IdentityID = identityID
	if err := n.storePeer(peer); err != nil {
		return peer, notStored(err)
	}
	return peer, nil
}

func notStored(err error) *platform.Error {
	return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity,
		Err: fmt.Errorf("look up the chat in the store: %w", err)}
}

// ask resolves a target at Telegram. writable is false if it is certain that the identity may not
// post there.
func ask(ctx context.Context, api *tg.Client, t target) (peer store.Peer, writable bool, err error) {
	var chats []tg.ChatClass
	var users []tg.UserClass
	typ, id := t.typ, t.id
	switch {
	case t.username != "":
		r, err := api.ContactsResolveUsername(ctx, &tg.ContactsResolveUsernameRequest{Username: t.username})
		if err != nil {
			return peer, false, fmt.Errorf("resolve @%s: %w", t.username, err)
		}
		chats, users = r.Chats, r.Users
		switch p := r.Peer.(type) {
		case *tg.PeerChannel:
			typ, id = store.PeerChannel, p.ChannelID
		case *tg.PeerUser:
			typ, id = store.PeerUser, p.UserID
		}
	case typ == store.PeerChannel:
		// A bot may name a channel that it is in without an access hash, and is told the hash.
		r, err := api.ChannelsGetChannels(ctx, []tg.InputChannelClass{&tg.InputChannel{ChannelID: id}})
		if err != nil {
			return peer, false, fmt.Errorf("look up channel %d: %w", id, err)
		}
		chats = r.GetChats()
	case typ == store.PeerChat:
		r, err := api.MessagesGetChats(ctx, []int64{id})
		if err != nil {
			return peer, false, fmt.Errorf("look up group %d: %w", id, err)
		}
		chats = r.GetChats()
	case typ == store.PeerUser:
		users, err = api.UsersGetUsers(ctx, []tg.InputUserClass{&tg.InputUser{UserID: id}})
		if err != nil {
			return peer, false, fmt.Errorf("look up user %d: %w", id, err)
		}
	}
	for _, c := range chats {
		if peer, writable, ok := describeChat(c); ok && peer.Type == typ && peer.PeerID == id {
			return peer, writable, nil
		}
	}
	for _, u := range users {
		if u, ok := u.(*tg.User); ok && typ == store.PeerUser && u.ID == id {
			return store.Peer{Type: typ, PeerID: id, AccessHash: u.AccessHash, Username: u.Username,
				Title: u.FirstName}, true, nil
		}
	}
	return peer, false, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Field: "target",
		Err: errors.New("this login does not know the chat: add the bot to it; a user has to write to the bot first")}
}

func describeChat(c tg.ChatClass) (peer store.Peer, writable, ok bool) {
	switch c := c.(type) {
	case *tg.Channel:
		writable := !c.Broadcast || c.Min || c.Creator || c.AdminRights.PostMessages
		return store.Peer{Type: store.PeerChannel, PeerID: c.ID, AccessHash: c.AccessHash,
			Username: channelName(c), Title: c.Title}, writable, true
	case *tg.Chat:
		return store.Peer{Type: store.PeerChat, PeerID: c.ID, Title: c.Title}, true, true
	}
	return store.Peer{}, false, false
}

// channelName is a channel's user name; one with several has them in a list.
func channelName(c *tg.Channel) string {
	if c.Username != "" {
		return c.Username
	}
	for _, u := range c.Usernames {
		if u.Active {
			return u.Username
		}
	}
	return ""
}

func inputPeer(p store.Peer) tg.InputPeerClass {
	switch p.Type {
	case store.PeerUser:
		return &tg.InputPeerUser{UserID: p.PeerID, AccessHash: p.AccessHash}
	case store.PeerChat:
		return &tg.InputPeerChat{ChatID: p.PeerID}
	}
	return &tg.InputPeerChannel{ChannelID: p.PeerID, AccessHash: p.AccessHash}
}

// api returns a connection that is ready for calls.
func (n *Network) api(ctx context.Context, identityID uint64) (*tg.Client, *connection, error) {
	c := n.connection(identityID)
	if c == nil {
		return nil, nil, n.absent(identityID)
	}
	api, err := c.ready(ctx)
	return api, c, err
}

// absent says why an identity has no connection at all.
func (n *Network) absent(identityID uint64) error {
	var identity store.Identity
	err := n.db.View(func(tx *store.Tx) (err error) {
		identity, err = tx.Identities.Get(identityID)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return errRemoved()
	case err != nil:
		return notConnected(err.Error())
	case identity.State == store.IdentityLogin:
		return mustLogIn(errors.New("the login has ended: " + identity.Reason.Detail))
	case identity.State == store.IdentityStopped:
		return &platform.Error{Kind: platform.Stopped, Scope: platform.ScopeIdentity,
			Err: errors.New("Telegram has restricted this login: " + identity.Reason.Detail)}
	}
	return notConnected("the connection has not been started")
}

// sorted sorts the error of a call and, if it says that the login is gone, has it renewed.
func (c *connection) sorted(api *tg.Client, err error, sent bool) *platform.Error {
	e := sortError(err, sent)
	if e.Kind == platform.Login {
		c.loggedOut(api)
	}
	return e
}
