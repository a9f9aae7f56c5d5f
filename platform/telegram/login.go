package telegram

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gotd/td/session"
	"github.com/gotd/td/telegram"
	"github.com/gotd/td/tg"

	"belfry/platform"
	"belfry/store"
)

// loginCall is the time for what a login asks by itself.
const loginCall = 30 * time.Second

var (
	errTooLong   = errors.New("the login took too long: begin again")
	errAbandoned = errors.New("the login was given up: begin again")
	errIsBot     = errors.New("a bot logs in with its token by itself")
)

var _ platform.Logins = (*Network)(nil)

// login is a login under way. It has a client and a session of its own, which become the
// identity's once they are logged in; until then the store knows nothing of it.
type login struct {
	network  *Network
	identity uint64
	self     int64 // the account that the identity is already; 0: any
	qr       bool
	began    time.Time
	client   *telegram.Client
	session  session.StorageMemory
	end      context.CancelCauseFunc
	turn     chan struct{} // held by the one call that goes on
	ready    chan struct{} // closed once the client has connected
	scanned  chan struct{} // the QR code was accepted
	won      chan struct{} // closed once the account is known
	done     chan struct{} // closed when the client has ended and what came of it is stored

	mu      sync.Mutex
	step    platform.LoginStep
	hash    string // of the code that was sent
	account *tg.User
	failed  *platform.Error // why it ended without an account
	trouble string          // why there is no connection
}

// SendCode begins a login, or begins the one by code that is under way again.
func (n *Network) SendCode(ctx context.Context, identityID uint64, phone string) (platform.LoginStep, error) {
	l, err := n.beginLogin(ctx, identityID, false)
	if err != nil {
		return platform.LoginStep{}, err
	}
	return l.take(ctx, func(ctx context.Context) error { return l.sendCode(ctx, phone) })
}

// EnterCode goes on with the code that Telegram sent.
func (n *Network) EnterCode(ctx context.Context, identityID uint64, code string) (platform.LoginStep, error) {
	l, err := n.loginAt(identityID, platform.LoginCode)
	if err != nil {
		return platform.LoginStep{}, err
	}
	return l.take(ctx, func(ctx context.Context) error { return l.enterCode(ctx, code) })
}

// EnterPassword goes on with the account's two-step password.
func (n *Network) EnterPassword(ctx context.Context, identityID uint64, password string) (platform.LoginStep, error) {
	l, err := n.loginAt(identityID, platform.LoginPassword)
	if err != nil {
		return platform.LoginStep{}, err
	}
	return l.take(ctx, func(ctx context.Context) error { return l.enterPassword(ctx, password) })
}

// Login returns where a login stands.
func (n *Network) Login(identityID uint64) platform.LoginStep {
	if l := n.login(identityID); l != nil {
		return l.at()
	}
	return platform.LoginStep{}
}

// AbandonLogin ends a login that is under way.
func (n *Network) AbandonLogin(identityID uint64) {
	n.mu.Lock()
	l := n.logins[identityID]
	delete(n.logins, identityID)
	n.mu.Unlock()
	if l != nil {
		l.end(errAbandoned)
	}
}

// login returns the login of an identity, under way or ended not long ago, or nil.
func (n *Network) login(identityID uint64) *login {
	n.mu.Lock()
	defer n.mu.Unlock()
	l := n.logins[identityID]
	if l != nil && l.over() && n.cfg.Now().Sub(l.began) > 2*n.loginTime {
		delete(n.logins, identityID)
		return nil
	}
	return l
}

// loginAt returns the login of an identity that waits for what belongs to a state.
func (n *Network) loginAt(identityID uint64, state platform.LoginState) (*login, error) {
	l := n.login(identityID)
	if l == nil {
		return nil, refusedLogin("", "", errTooLong)
	}
	if err := l.failure(); err != nil {
		return nil, err
	}
	if l.at().State != state {
		return nil, refusedLogin("", "", errors.New("the login is not at this step: begin again"))
	}
	return l, nil
}

// beginLogin returns the login of that sort that is under way, or starts one.
func (n *Network) beginLogin(ctx context.Context, identityID uint64, qr bool) (*login, error) {
	identity, err := n.user(identityID)
	if err != nil {
		return nil, err
	}
	appID, appHash := n.cfg.Application()
	if appID == 0 || appHash == "" {
		return nil, mustLogIn(errNoApplication)
	}
	n.awaitRun(ctx)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.run == nil {
		return nil, notConnected("the program is starting or ending")
	}
	before := n.logins[identityID]
	if before != nil && before.qr == qr && !before.over() {
		return before, nil
	}
	if before != nil {
		before.end(errAbandoned)
	}
	l := &login{
		network: n, identity: identityID, self: identity.NetworkID, qr: qr, began: n.cfg.Now(),
		turn: make(chan struct{}, 1), ready: make(chan struct{}), scanned: make(chan struct{}, 1),
		won: make(chan struct{}), done: make(chan struct{}),
	}
	life, end := context.WithCancelCause(n.run)
	l.end = end
	opts := n.options()
	opts.SessionStorage = &l.session
	opts.UpdateHandler = telegram.UpdateHandlerFunc(l.update)
	opts.OnDead = l.dead
	l.client = telegram.NewClient(appID, appHash, opts)
	n.logins[identityID] = l
	n.running.Go(func() {
		ctx, cancel := context.WithTimeoutCause(life, n.loginTime, errTooLong)
		defer cancel()
		l.run(ctx)
	})
	return l, nil
}

// user returns an identity that is a user account.
func (n *Network) user(identityID uint64) (identity store.Identity, err error) {
	if identity, err = n.load(identityID); err == nil && identity.Kind != store.IdentityUser {
		err = refusedLogin("", "", errIsBot)
	}
	return identity, err
}

// run is the life of a login.
func (l *login) run(ctx context.Context) {
	defer close(l.done)
	defer l.end(nil)
	err := l.client.Run(ctx, l.hold)
	l.mu.Lock()
	account := l.account
	l.mu.Unlock()
	var failed *platform.Error
	switch {
	case account != nil:
		if err := l.adopt(account); err != nil {
			failed = storeFailed("store the login", err)
		}
	case ctx.Err() != nil: // gotd's own error says less
		failed = refusedLogin("", "", errAbandoned)
		if e := context.Cause(ctx); !errors.Is(e, context.Canceled) {
			failed = loginError(e)
		}
	case err != nil:
		failed = loginError(err)
	default:
		failed = refusedLogin("", "", errAbandoned)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if failed == nil {
		l.step = platform.LoginStep{State: platform.LoginDone, Title: fullName(account)}
		return
	}
	l.step = platform.LoginStep{}
	if l.failed == nil {
		l.failed = failed
	}
}

// hold keeps the client connected until the account is known.
func (l *login) hold(ctx context.Context) error {
	close(l.ready)
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.won:
			return nil
		case <-l.scanned:
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.won:
			return nil
		case l.turn <- struct{}{}:
			l.redeem(ctx)
			<-l.turn
		}
	}
}

// dead follows the connection's troubles. What will not pass ends the login.
func (l *login) dead(err error) {
	e := sortError(err, false)
	l.mu.Lock()
	l.trouble = plainly(err)
	l.mu.Unlock()
	if e.Kind == platform.Login {
		l.end(e)
	}
}

// take carries out one step of the login, one at a time, and returns where it stands then.
func (l *login) take(ctx context.Context, step func(context.Context) error) (platform.LoginStep, error) {
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return l.at(), notConnected("Telegram does not answer")
	}
	select {
	case <-l.ready:
	case <-l.done:
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		return l.step, notConnected(cmp.Or(l.trouble, "the connection is being made"))
	}
	err := l.failure()
	if err == nil && !l.over() {
		err = step(ctx)
	}
	select {
	case <-l.won: // it is closing its client and being stored
	default:
		if err != nil {
			err = cmp.Or(l.failure(), err) // if it ended meanwhile, the reason for that
		}
		return l.at(), err
	}
	select {
	case <-l.done:
		return l.at(), l.failure()
	case <-ctx.Done():
		return l.at(), notConnected("the login is being stored")
	}
}

// adopt makes the session of the login, whose client has ended, the identity's, and connects it.
// Two connections of one key would end it for good.
func (l *login) adopt(account *tg.User) error {
	data, err := l.session.LoadSession(context.Background())
	if err != nil {
		return fmt.Errorf("read the new session: %w", err)
	}
	l.network.disconnect(l.identity)
	err = l.network.db.Update(func(tx *store.Tx) error {
		identity, err := tx.Identities.Get(l.identity)
		if err != nil {
			return err
		}
		if err := replaceSession(tx, l.identity, data); err != nil {
			return err
		}
		identity.State, identity.Reason, identity.UpdatedAt = store.IdentityNew, store.Reason{}, tx.Now()
		describeSelf(&identity, account)
		return tx.Identities.Put(&identity)
	})
	if err != nil {
		return err
	}
	l.network.cfg.Log.Info().Str("platform", Platform).Uint64("identity", l.identity).
		Str("username", account.Username).Msg("logged in to Telegram")
	l.network.Connect(l.identity)
	return nil
}

func (l *login) at() platform.LoginStep {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.step
}

// over reports whether nothing more can come of the login.
func (l *login) over() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// failure is why the login ended without an account; nil if it did not.
func (l *login) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return l.failed
	}
	return nil
}

func fullName(u *tg.User) string { return strings.TrimSpace(u.FirstName + " " + u.LastName) }
