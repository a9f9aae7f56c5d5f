package telegram_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/telegram"
	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

const (
	loginID   = "auth.importBotAuthorization"
	resolveID = "contacts.resolveUsername"
)

func (r *room) identity() store.Identity {
	r.Helper()
	var identity store.Identity
	err := r.db.View(func(tx *store.Tx) (err error) {
		identity, err = tx.Identities.Get(r.id)
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return identity
}

func (r *room) calls(method string, want int) {
	r.Helper()
	if got := r.srv.Calls(method); got != want {
		r.Errorf("%s was called %d times, want %d", method, got, want)
	}
}

func TestSessionAndPeersAreReusedAfterARestart(t *testing.T) {
	t.Parallel()
	r := newEmptyRoom(t)
	r.start()
	r.connect()
	r.mustPublish(platform.Post{Key: 1, Text: "before"})
	r.restart()
	r.mustPublish(platform.Post{Key: 2, Text: "after"})
	r.mustPublish(platform.Post{Key: 3, Text: "and by link", Target: "https://t.me/Bells_Daily/1"})

	r.calls(loginID, 1)
	r.calls(resolveID, 1)
	identity := r.identity()
	if identity.State != store.IdentityReady || identity.NetworkID != r.bot || identity.Username != "bell_bot" {
		t.Errorf("identity %+v", identity)
	}
	if n := len(r.messages()); n != 3 {
		t.Errorf("%d messages, want 3", n)
	}
}

func TestDeadSessionOfABotIsReplacedWithoutAPerson(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mustPublish(platform.Post{Key: 1, Text: "before"})
	r.srv.LogOut(r.bot)
	r.mustPublish(platform.Post{Key: 2, Text: "after"})
	r.calls(loginID, 1)
	if state := r.identity().State; state != store.IdentityReady {
		t.Errorf("state %s", state)
	}
}

func TestServerThatForgotTheKeyIsLoggedInToAnew(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.srv.Stop()
	r.awaitState(r.id, platform.Connecting)
	r.srv.ForgetKeys()
	r.srv.Start()
	r.connect()
	r.mustPublish(platform.Post{Key: 1, Text: "after"})
	r.calls(loginID, 1)
}

func TestInvalidTokenStopsAndTellsTheOwner(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.srv.SetToken(r.bot, "7001:another-token")
	e := r.refused(platform.Post{Key: 1, Text: "never"}, platform.Login, platform.ScopeIdentity)
	if e.Code != "ACCESS_TOKEN_INVALID" || !strings.Contains(e.Error(), "@BotFather") {
		t.Errorf("error %v", e)
	}
	identity := r.identity()
	if identity.State != store.IdentityLogin || identity.Reason.Code != store.ReasonLogin ||
		!strings.Contains(identity.Reason.Detail, "@BotFather") {
		t.Errorf("identity %+v", identity)
	}
	r.calls(loginID, 1)
	if s := r.network.Connection(r.id); s.State != platform.LoggedOut || s.Err == "" {
		t.Errorf("status %+v", s)
	}

	// After a restart it is left alone, and says why.
	r.stop()
	r.start()
	r.refused(platform.Post{Key: 1, Text: "never"}, platform.Login, platform.ScopeIdentity)
	r.calls(loginID, 1)

	// The owner enters the new token.
	err := r.db.Update(func(tx *store.Tx) error {
		identity, err := tx.Identities.Get(r.id)
		if err != nil {
			return err
		}
		identity.Secret = "7001:another-token"
		return tx.Identities.Put(&identity)
	})
	if err != nil {
		t.Fatal(err)
	}
	r.network.Connect(r.id)
	r.connect()
	r.mustPublish(platform.Post{Key: 1, Text: "at last"})
	if identity := r.identity(); identity.State != store.IdentityReady || !identity.Reason.Zero() {
		t.Errorf("identity %+v", identity)
	}
}

func TestTokenOfAnotherBotLogsInAsThatBot(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	other := r.srv.AddBot("7002:BBB", "other_bot")
	err := r.db.Update(func(tx *store.Tx) error {
		identity, err := tx.Identities.Get(r.id)
		if err != nil {
			return err
		}
		identity.Secret = "7002:BBB"
		return tx.Identities.Put(&identity)
	})
	if err != nil {
		t.Fatal(err)
	}
	r.network.Connect(r.id)
	if err := r.srv.AwaitCalls(r.ctx, loginID, 1); err != nil {
		t.Fatal(err)
	}
	r.connect()
	if identity := r.identity(); identity.NetworkID != other {
		t.Errorf("logged in as %d, want %d", identity.NetworkID, other)
	}
}

func TestConnectionComesBack(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mustPublish(platform.Post{Key: 1, Text: "before"})
	r.srv.CloseConnections()
	r.mustPublish(platform.Post{Key: 2, Text: "after a cut"})

	r.srv.Stop()
	r.awaitState(r.id, platform.Connecting)
	r.srv.Start()
	r.connect()
	r.mustPublish(platform.Post{Key: 3, Text: "after an outage"})
	r.calls(loginID, 0)
}

func TestARestrictionOutlastsTheConnection(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	why := store.Reason{Code: store.ReasonStopped, Detail: "PEER_FLOOD"}
	err := r.db.Update(func(tx *store.Tx) error {
		identity, err := tx.Identities.Get(r.id)
		identity.State, identity.Reason = store.IdentityStopped, why
		return errors.Join(err, tx.Identities.Put(&identity))
	})
	if err != nil {
		t.Fatal(err)
	}
	r.network.Connect(r.id) // as after a change of its target
	r.connect()
	if identity := r.identity(); identity.State != store.IdentityStopped || identity.Reason != why {
		t.Errorf("identity %+v", identity)
	}
}

func TestWithoutAConnectionPublishSaysSoSoon(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.srv.Stop()
	r.awaitState(r.id, platform.Connecting)
	cfg := r.config()
	cfg.Patience = 50 * time.Millisecond
	n, err := telegram.New(r.db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.stop()
	r.run(n)
	e := r.refused(platform.Post{Key: 1, Text: "later"}, platform.Transient, platform.ScopeIdentity)
	if !strings.Contains(e.Error(), "not connected") {
		t.Errorf("error %v", e)
	}

	// The network is down at the start, which is normal, and comes up afterwards.
	r.srv.Start()
	r.connect()
	r.mustPublish(platform.Post{Key: 1, Text: "later"})
}

func TestWithoutTheRightApplicationPostsAreCheckedButNotSent(t *testing.T) {
	t.Parallel()
	for _, id := range []int{0, telegramtest.AppID + 1} {
		r := newEmptyRoom(t)
		cfg := r.config()
		cfg.Application = application(id)
		n, err := telegram.New(r.db, cfg)
		if err != nil {
			t.Fatal(err)
		}
		r.run(n)
		if _, err := n.Check(platform.Post{Text: "fine", Target: "@bells_daily"}); err != nil {
			t.Error(err)
		}
		r.awaitState(r.id, platform.LoggedOut)
		e := r.refused(platform.Post{Key: 1, Text: "never"}, platform.Transient, platform.ScopeIdentity)
		if !strings.Contains(e.Error(), "my.telegram.org") {
			t.Errorf("error %v", e)
		}
		if state := r.identity().State; state != store.IdentityNew {
			t.Errorf("state %s: with the settings in order it could not connect", state)
		}
	}
}

func TestWrongConfigurationIsRefusedInWords(t *testing.T) {
	t.Parallel()
	for _, cfg := range []telegram.Config{
		{Server: "127.0.0.1:443", Key: "x"},
		{Server: "2@127.0.0.1", Key: "x"},
		{Server: "2@127.0.0.1:443"},
		{Server: "2@127.0.0.1:443", Key: "no key"},
		{Key: "a key alone"},
		{MediaDir: "/nonexistent"},
	} {
		if _, err := telegram.New(nil, cfg); err == nil {
			t.Errorf("%+v was accepted", cfg)
		}
	}
}

func TestAnApplicationIsTriedOutAtTelegram(t *testing.T) {
	t.Parallel()
	r := newEmptyRoom(t)
	n, err := telegram.New(r.db, r.config())
	if err != nil {
		t.Fatal(err)
	}
	if err := n.TryApplication(r.ctx, telegramtest.AppID, telegramtest.AppHash); err != nil {
		t.Errorf("the right one: %v", err)
	}
	for id, hash := range map[int]string{telegramtest.AppID + 1: telegramtest.AppHash, telegramtest.AppID: strings.Repeat("f", 32)} {
		if e := platform.AsError(n.TryApplication(r.ctx, id, hash)); e.Kind != platform.Login || !strings.Contains(e.Error(), "my.telegram.org") {
			t.Errorf("a wrong one: %v", e)
		}
	}
	r.srv.Stop()
	ctx, cancel := context.WithTimeout(r.ctx, time.Second)
	defer cancel()
	if e := platform.AsError(n.TryApplication(ctx, telegramtest.AppID, telegramtest.AppHash)); e.Kind != platform.Transient || e.Error() == "" {
		t.Errorf("without Telegram: %v", e)
	}
}
