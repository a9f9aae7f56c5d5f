package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v4"
	"github.com/gotd/td/session"
	"github.com/gotd/td/telegram"
	"github.com/gotd/td/telegram/dcs"
	"github.com/gotd/td/tg"
	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/store"
)

const (
	shortestPause = 100 * time.Millisecond // between two attempts to connect
	longestPause  = 10 * time.Second

	// renewalPause is how long after logging in anew a second loss of the login counts as final.
	renewalPause = time.Minute
)

var (
	// errLoggedOut is how a connection's life ends when a call finds that the login is gone.
	errLoggedOut = errors.New("the session has ended")
	// errNoApplication keeps everything from being connected.
	errNoApplication = errors.New("the Telegram API ID is not configured: enter it in Settings, or set TELEGRAM_API_ID and TELEGRAM_API_HASH, from my.telegram.org")
	// errSealed is the state of an identity whose token or session another key has sealed.
	errSealed = errors.New("the login is sealed with another key: put the key file of the system that the database is from in the place of this one's, or log it in again")
	// errNobody is the state of a user account that has no session.
	errNobody = errors.New("the account is not logged in: log it in")
)

// errRemoved is the error for an identity that the store has no more.
func errRemoved() *platform.Error { return mustLogIn(errors.New("this login was removed")) }

// mustLogIn is the error for an identity that cannot act.
func mustLogIn(err error) *platform.Error {
	return &platform.Error{Kind: platform.Login, Scope: platform.ScopeIdentity, Err: err}
}

// connection keeps one identity connected and logged in. Its goroutine runs keep.
type connection struct {
	network  *Network
	identity uint64
	log      zerolog.Logger
	cancel   context.CancelFunc
	done     chan struct{} // closed when the goroutine has ended
	renew    chan error    // asks for a new login, and says why
	uploads  *uploads

	// Of the goroutine alone.
	renewed time.Time   // the last time a dead login was replaced
	session *sessionRow // of the present life

	mu      sync.Mutex
	changed chan struct{} // closed and replaced with every change below
	status  platform.Connection
	linked  bool            // the MTProto connection stands
	leaving bool            // the login is being given up on purpose
	silence *time.Timer     // runs while there is no connection, from each sign of life on
	silent  map[string]int  // by method, the calls in a row that were not answered
	unheard error           // why what people write could not be heard several times in a row; nil if it could
	api     *tg.Client      // set while logged in
	self    *tg.User        // who it was logged in as last
	final   *platform.Error // why it was given up

	lookUps map[notation]time.Time // before which Telegram does not want to be asked for another chat
}

func newConnection(n *Network, identityID uint64, cancel context.CancelFunc) *connection {
	return &connection{
		network:  n,
		identity: identityID,
		log:      n.cfg.Log.With().Str("platform", Platform).Uint64("identity", identityID).Logger(),
		cancel:   cancel,
		done:     make(chan struct{}),
		renew:    make(chan error, 1),
		uploads:  newUploads(),
		changed:  make(chan struct{}),
		silent:   make(map[string]int),
		lookUps:  make(map[notation]time.Time),
		silence:  time.NewTimer(time.Hour), // each life has its own
		status:   platform.Connection{State: platform.Connecting, Since: n.cfg.Now().UTC()},
	}
}

// keep connects until ctx ends or a person is needed.
func (c *connection) keep(ctx context.Context) {
	defer c.uploads.stop()
	pause := shortestPause
	for ctx.Err() == nil {
		began := c.network.cfg.Now()
		err := c.live(ctx)
		if ctx.Err() != nil {
			return
		}
		e := sortError(err, false)
		wait := pause
		var same *sameAccount
		switch {
		case errors.Is(err, store.ErrNotFound):
			c.giveUp(errRemoved(), false)
			return
		case errors.As(err, &same):
			if err = c.handOver(same.login); err == nil {
				return
			}
			c.failed(fmt.Errorf("hand the session over: %w", err))
		case e.Kind == platform.Login && c.renewable(e):
			if err := c.network.db.Update(c.session.drop); err != nil {
				c.failed(fmt.Errorf("drop the dead session: %w", err))
				break
			}
			c.renewed = c.network.cfg.Now()
			c.log.Warn().Str("code", e.Code).Msg("Telegram ended the session; logging in again")
			continue
		case e.Kind == platform.Login:
			c.giveUp(e, !misconfigured(e))
			return
		case e.Kind == platform.Wait:
			c.failed(e)
			wait = e.Wait
		default:
			c.failed(e)
		}
		if c.network.cfg.Now().Sub(began) > longestPause {
			pause = shortestPause // it had been up
		}
		_ = sleep(ctx, wait) // the loop looks whether ctx has ended
		pause = min(2*pause, longestPause)
	}
}

// live is one life of a client: it connects, logs in if it must, and returns when the client
// cannot go on. While it lives the client connects again by itself as often as it takes.
func (c *connection) live(parent context.Context) error {
	ctx, end := context.WithCancelCause(parent)
	defer end(nil)
	identity, err := c.load()
	if err != nil {
		return err
	}
	cfg := c.network.cfg
	appID, appHash := cfg.Application()
	if appID == 0 || appHash == "" {
		return mustLogIn(errNoApplication)
	}
	if identity.Sealed != "" {
		return mustLogIn(errSealed)
	}
	c.mu.Lock()
	c.silence = time.AfterFunc(2*c.network.callTime, func() { end(&unanswered{"help.getConfig"}) })
	defer c.silence.Stop()
	c.mu.Unlock()
	c.session = &sessionRow{db: c.network.db, identity: c.identity, dc: c.network.dc.number}
	opts := c.network.options()
	opts.Middlewares = append([]telegram.Middleware{telegram.MiddlewareFunc(c.follow)}, opts.Middlewares...)
	opts.SessionStorage = c.session
	opts.OnConnectionState = c.link
	var hearing *ear // nil: nobody listens
	if l := c.network.listener; l.Hear != nil && identity.Kind == store.IdentityBot {
		hearing = newEar(c, l)
		opts.UpdateHandler = hearing
		opts.OnConnectionState = func(state telegram.ConnectionState) {
			c.link(state)
			if state == telegram.ConnectionStateReady {
				hearing.poke() // something may have been written meanwhile
			}
		}
	}
	opts.OnDead = func(err error) {
		if e := sortError(err, false); e.Kind == platform.Login { // gotd would try for ever
			end(err)
			return
		}
		if strings.Contains(err.Error(), "msg_id too ") { // gotd's type has no name; the ids of its client never go back, so another one is needed
			end(notConnected("the clock of this machine is not that of Telegram: turn time synchronisation on"))
			return
		}
		c.failed(err)
	}
	if identity.Kind == store.IdentityUser {
		if _, err := c.session.LoadSession(ctx); errors.Is(err, session.ErrNotFound) {
			return mustLogIn(errNobody)
		} else if errors.Is(err, errSealed) {
			return err
		}
		opts.OnSelfError = func(_ context.Context, err error) error {
			if sortError(err, false).Kind == platform.Login {
				return err
			}
			return nil
		}
		if cfg.Seen != nil {
			s := newSeen(c)
			defer s.stop()
			opts.UpdateHandler = s
		}
	}
	client := telegram.NewClient(appID, appHash, opts)
	err = client.Run(ctx, func(ctx context.Context) error {
		self, err := c.logIn(ctx, client, identity)
		if err != nil {
			return err
		}
		if identity.Adopted {
			if err := c.sameAccount(self.ID); err != nil {
				return err
			}
		}
		if err := c.remember(self); err != nil {
			return err
		}
		api := client.API()
		c.loggedIn(api, self)
		defer c.loggedIn(nil, nil)
		if hearing != nil {
			defer hearing.listen(ctx, api, self.ID)()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-c.renew:
			return err
		}
	})
	c.link(telegram.ConnectionStateDisconnected)
	if err == nil && parent.Err() == nil {
		return cmp.Or(context.Cause(ctx), errors.New("the connection ended"))
	}
	return err
}

// options is how a client is set up, whoever it logs in as.
func (n *Network) options() telegram.Options {
	opts := telegram.Options{
		Middlewares: []telegram.Middleware{answerOnTime(n.callTime)},
		ReconnectionBackoff: func() backoff.BackOff {
			b := backoff.NewExponentialBackOff()
			b.InitialInterval, b.MaxInterval, b.MaxElapsedTime = shortestPause, longestPause, 0
			return b
		},
		Device: telegram.DeviceConfig{DeviceModel: "Belfry", AppVersion: n.cfg.Version},
	}
	if d := n.dc; d.key != nil {
		opts.DC = d.number
		opts.DCList = dcs.List{Options: []tg.DCOption{{ID: d.number, IPAddress: d.host, Port: d.port, Static: true}}}
		opts.PublicKeys = []telegram.PublicKey{{RSA: d.key}}
	}
	return opts
}

// logIn returns the account that the session belongs to, logging the bot in if it belongs to none.
func (c *connection) logIn(ctx context.Context, client *telegram.Client, identity store.Identity) (*tg.User, error) {
	if identity.Kind == store.IdentityUser {
		self, err := client.Self(ctx)
		if err != nil {
			return nil, fmt.Errorf("ask whose session it is: %w", err)
		}
		if identity.NetworkID != 0 && identity.NetworkID != self.ID {
			return nil, mustLogIn(errors.New("the session is that of another Telegram account than this login has been: add a new login for it"))
		}
		return self, nil
	}
	status, err := client.Auth().Status(ctx)
	if err != nil {
		return nil, fmt.Errorf("ask whether the session is logged in: %w", err)
	}
	if status.Authorized {
		if id, ok := tokenID(identity.Secret); ok && id != status.User.ID {
			return nil, mustLogIn(errLoggedOut) // the token is another bot's now
		}
		return status.User, nil
	}
	authorization, err := client.Auth().Bot(ctx, identity.Secret)
	if err != nil {
		return nil, fmt.Errorf("log the bot in: %w", err)
	}
	self, ok := authorization.User.(*tg.User)
	if !ok {
		return nil, fmt.Errorf("log the bot in: Telegram answered with %T", authorization.User)
	}
	c.log.Info().Str("username", self.Username).Msg("logged in to Telegram")
	return self, nil
}

// tokenID is the id of the bot that a token belongs to: the number before the colon.
func tokenID(token string) (int64, bool) {
	before, _, ok := strings.Cut(token, ":")
	id, err := strconv.ParseInt(before, 10, 64)
	return id, ok && err == nil
}

// renewable reports whether a dead session can be replaced without a person, which a bot with its
// token can do; once, because a second time it would hardly be another matter.
func (c *connection) renewable(e *platform.Error) bool {
	switch e.Code {
	case "AUTH_KEY_UNREGISTERED", "AUTH_KEY_INVALID", "AUTH_KEY_PERM_EMPTY", "AUTH_KEY_DUPLICATED",
		"SESSION_REVOKED", "SESSION_EXPIRED":
	default:
		if !errors.Is(e, errLoggedOut) {
			return false
		}
	}
	if !c.renewed.IsZero() && c.network.cfg.Now().Sub(c.renewed).Abs() < renewalPause {
		return false
	}
	identity, err := c.load()
	return err == nil && identity.Kind == store.IdentityBot && identity.Secret != ""
}

// misconfigured reports whether the settings of the program are to blame, which a restart with
// others cures, and not the identity.
func misconfigured(e *platform.Error) bool {
	return errors.Is(e, errNoApplication) || errors.Is(e, errSealed) || strings.Contains(e.Code, "API_ID_")
}
