package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gotd/td/telegram"
	"github.com/gotd/td/tg"

	"belfry/platform"
	"belfry/store"
)

// link follows the state of the MTProto connection.
func (c *connection) link(state telegram.ConnectionState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.linked = state == telegram.ConnectionStateReady
	if c.linked {
		c.silence.Stop()
	} else {
		c.silence.Reset(2 * c.network.callTime)
	}
	c.settle()
}

func (c *connection) loggedIn(api *tg.Client, self *tg.User) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.api = api
	if self != nil {
		c.self = self
	}
	select {
	case <-c.renew: // of the life before
	default:
	}
	c.settle()
}

// settle brings the status in line and wakes whoever waits for it. The caller holds mu.
func (c *connection) settle() {
	state := platform.Connecting
	if c.final != nil {
		state = platform.LoggedOut
	} else if err := c.deaf(); err != nil {
		c.status.Err = plainly(err)
	} else if c.linked && c.api != nil {
		state = platform.Connected
		c.status.Err = ""
	}
	if state != c.status.State {
		switch {
		case state == platform.Connected:
			c.log.Info().Msg("connected to Telegram")
			wake(c.network.connected)
		case c.status.State == platform.Connected:
			c.log.Info().Msg("disconnected from Telegram")
		}
		c.status.State, c.status.Since = state, c.network.cfg.Now().UTC()
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// failed notes why there is no connection; the same words are logged once.
func (c *connection) failed(err error) {
	words := plainly(err)
	c.mu.Lock()
	repeated := c.status.Err == words
	c.status.Err = words
	if !c.linked {
		c.silence.Reset(2 * c.network.callTime)
	}
	c.mu.Unlock()
	if !repeated {
		c.log.Warn().Str("error", words).Msg("no connection to Telegram; trying again")
	}
}

// giveUp ends the attempts; with record, the store says that a person has to log the identity in.
// This is where the owner is told, once: an identity in that state is not connected again.
func (c *connection) giveUp(e *platform.Error, record bool) {
	words := plainly(e)
	c.mu.Lock()
	leaving := c.leaving
	c.mu.Unlock()
	if record && !leaving {
		if err := c.endLogin(store.Reason{Code: store.ReasonLogin, Detail: words}, errors.Is(e, errNobody)); err != nil {
			c.log.Error().Err(err).Msg("could not store that the login has ended")
		}
		c.network.forgetDone(c.identity)
	}
	if !leaving && !errors.Is(e, errNobody) {
		c.log.Error().Str("code", e.Code).Str("error", words).Msg("gave up connecting to Telegram")
	}
	if misconfigured(e) { // what waits for it is not told to log in
		e = notConnected(words)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.final = e
	c.status.Err = words
	c.settle()
}

func (c *connection) currently() platform.Connection {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.status
}

// ready returns the API of a connection that stands, waiting for one as long as the configuration
// says. Its error is Transient, or Login if the connection was given up.
func (c *connection) ready(ctx context.Context) (*tg.Client, error) {
	patience := time.NewTimer(c.network.cfg.Patience)
	defer patience.Stop()
	for {
		c.mu.Lock()
		api, linked, final, changed, words := c.api, c.linked, c.final, c.changed, c.status.Err
		c.mu.Unlock()
		switch {
		case final != nil:
			return nil, final
		case api != nil && linked:
			return api, nil
		}
		select {
		case <-changed:
			continue
		case <-ctx.Done():
		case <-patience.C:
		case <-c.done:
		}
		return nil, notConnected(cmp.Or(words, "the connection is being made"))
	}
}

// loggedOut is told by a call that api's login is gone, and how Telegram said so. It asks for a new
// one, once.
func (c *connection) loggedOut(api *tg.Client, e *platform.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.api != api {
		return
	}
	c.api = nil
	c.settle()
	c.askRenewal(&platform.Error{Kind: platform.Login, Scope: platform.ScopeIdentity, Code: e.Code,
		Err: worded{e.Err.Error(), errors.Join(errLoggedOut, e.Err)}})
}

// askRenewal ends the present life for a reason. It never waits.
func (c *connection) askRenewal(why error) {
	select {
	case c.renew <- why:
	default:
	}
}

func notConnected(words string) *platform.Error {
	return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity,
		Err: fmt.Errorf("not connected to Telegram: %s", words)}
}
