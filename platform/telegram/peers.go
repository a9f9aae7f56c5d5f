package telegram

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"

	"belfry/platform"
	"belfry/store"
)

// Reach finds out whether the identity can address the target and, in a channel, may post there.
// A chat that it has met is taken for granted without asking Telegram. The error is a
// [*platform.Error]: Refused if the chat is wrong, Transient if Telegram could not be asked.
func (n *Network) Reach(ctx context.Context, identityID uint64, name string) error {
	p, err := n.find(ctx, identityID, name)
	if err != nil || !p.fresh {
		return err
	}
	if !p.writable {
		return refusedChat(fmt.Errorf("this login may not post in %q: make it an administrator that may post messages", p.Title))
	}
	return n.storePlace(p)
}

// Resolve finds the chat that a target names, without asking Telegram if the identity has met it:
// then asked is false, and that it may write there is taken for granted.
func (n *Network) Resolve(ctx context.Context, identityID uint64, name string) (chat platform.Chat, asked bool, err error) {
	p, err := n.find(ctx, identityID, name)
	if err == nil && p.fresh {
		err = n.storePlace(p)
	}
	if err != nil {
		return platform.Chat{}, p.fresh, err
	}
	return p.chat(), p.fresh, nil
}

// find finds a place and does not store it. With an error, too, fresh says whether Telegram was asked.
func (n *Network) find(ctx context.Context, identityID uint64, name string) (place, error) {
	t, err := parseTarget(name)
	if err != nil {
		return place{}, refusedChat(err)
	}
	p, err := n.met(identityID, t)
	if err == nil {
		return p, t.fits(p)
	}
	if !errors.Is(err, store.ErrNotFound) {
		return p, storeFailed("look up the chat in the store", err)
	}
	api, c, err := n.api(ctx, identityID)
	if err != nil {
		return place{}, err
	}
	if p, err = n.lookUp(ctx, c, api, t); err != nil {
		return place{fresh: true}, c.sorted(api, err, false)
	}
	_ = askSlowmode(ctx, api, &p)
	return p, t.fits(p)
}

// fits refuses the link of a topic: what is sent to the group is in the general one.
func (t target) fits(p place) error {
	if t.numbered && p.Forum {
		return refusedChat(errors.New("the link is that of a topic, and posts go to the general topic of a group: give its address without the number"))
	}
	return nil
}

// place returns the place that a target names: the stored one, or what Telegram says, which is then
// stored.
func (n *Network) place(ctx context.Context, c *connection, api *tg.Client, t target) (place, error) {
	p, err := n.met(c.identity, t)
	if err == nil {
		return p, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return p, storeFailed("look up the chat in the store", err)
	}
	if p, err = n.lookUp(ctx, c, api, t); err != nil {
		return p, err
	}
	return p, n.storePlace(p)
}

// notation is how a target names its chat. Each is looked up by another method of Telegram's, with waits of its own.
type notation int

const (
	byID notation = iota
	byName
	byInvite
)

func (t target) notation() notation {
	switch {
	case t.invite != "":
		return byInvite
	case t.username != "":
		return byName
	}
	return byID
}

// lookUp asks for a chat that is to be sent to. Where Telegram asks to wait, which it does for the longest here, only
// chats that have to be looked up in the same way do: those that were met need not be, and Telegram is not asked again
// before the time.
func (n *Network) lookUp(ctx context.Context, c *connection, api *tg.Client, t target) (p place, err error) {
	c.mu.Lock()
	left := time.Until(c.lookUps[t.notation()])
	c.mu.Unlock()
	if left > 0 {
		err = tgerr.New(420, fmt.Sprintf("FLOOD_WAIT_%d", int(left/time.Second)+1))
	} else {
		p, err = n.ask(ctx, c, api, t)
	}
	if err == nil {
		return p, nil
	}
	e := *sortError(err, false)
	if e.Kind != platform.Wait {
		return p, err
	}
	if left <= 0 {
		c.mu.Lock()
		c.lookUps[t.notation()] = time.Now().Add(e.Wait)
		c.mu.Unlock()
	}
	e.Scope, e.Field = platform.ScopeChat, "target"
	return p, &e
}

func (n *Network) storePlace(p place) error {
	if p.self {
		return nil
	}
	if err := n.storePeers([]store.Peer{p.Peer}); err != nil {
		return storeFailed("store the chat", err)
	}
	return nil
}

func storeFailed(doing string, err error) *platform.Error {
	return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: fmt.Errorf("%s: %w", doing, err)}
}

func refusedChat(err error) *platform.Error {
	return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Field: "target", Err: err}
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
	identity, err := n.load(identityID)
	switch {
	case err != nil:
		return err
	case identity.State == store.IdentityLogin && identity.Reason.Detail == "":
		return mustLogIn(errNobody)
	case identity.State == store.IdentityLogin:
		return mustLogIn(errors.New("the login has ended: " + identity.Reason.Detail))
	}
	return notConnected("the connection has not been started")
}

// load reads an identity. The error is a [*platform.Error].
func (n *Network) load(identityID uint64) (identity store.Identity, err error) {
	err = n.db.View(func(tx *store.Tx) (err error) {
		identity, err = tx.Identities.Get(identityID)
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return identity, errRemoved()
	case err != nil:
		return identity, notConnected(err.Error())
	}
	return identity, nil
}

// sorted sorts the error of a call and, if it says that the login is gone, has it renewed.
func (c *connection) sorted(api *tg.Client, err error, sent bool) *platform.Error {
	e := sortError(err, sent)
	if e.Kind == platform.Login {
		c.loggedOut(api, e)
	}
	return e
}
