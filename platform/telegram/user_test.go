package telegram_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"belfry/platform"
	"belfry/platform/telegram"
	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

const (
	phone    = "+79990000017"
	password = "correct horse battery"
)

// newUser returns a room with a user account that may post in the channel, whose identity has
// never been logged in, and whose network runs.
func newUser(t *testing.T, u telegramtest.User) (*room, telegramtest.User) {
	t.Helper()
	r := newEmptyRoom(t)
	u.Phone, u.Username, u.FirstName, u.LastName = phone, "ringer", "Bell", "Ringer"
	u = r.srv.AddUser(u)
	r.srv.SetAdmins(r.channel.ID, "ringer")
	r.secrets = append(r.secrets, phone[1:], password)
	err := r.db.Update(func(tx *store.Tx) error {
		return tx.Identities.Put(&store.Identity{ID: r.id, Name: "main", Platform: telegram.Platform,
			Kind: store.IdentityUser, State: store.IdentityLogin})
	})
	if err != nil {
		t.Fatal(err)
	}
	r.start()
	return r, u
}

// newLoggedIn is such a room whose account is logged in.
func newLoggedIn(t *testing.T) (*room, telegramtest.User) {
	t.Helper()
	r, u := newUser(t, telegramtest.User{})
	r.give(r.srv.Session(u.ID))
	return r, u
}

// give gives the identity a session as an import does, and connects it.
func (r *room) give(session []byte) {
	r.Helper()
	err := r.db.Update(func(tx *store.Tx) error {
		identity, err := tx.Identities.Get(r.id)
		if err != nil {
			return err
		}
		identity.State = store.IdentityNew
		if err := tx.Identities.Put(&identity); err != nil {
			return err
		}
		return tx.Sessions.Put(&store.Session{IdentityID: r.id, Data: session})
	})
	if err != nil {
		r.Fatal(err)
	}
	r.network.Connect(r.id)
	r.connect()
}

// session is what the store has; nil for none.
func (r *room) session() (data []byte) {
	r.Helper()
	err := r.db.View(func(tx *store.Tx) error {
		row, err := tx.Sessions.Of(r.id)
		data = row.Data
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return data
}

// errorLines are the lines that the log has at the level of errors.
func (r *room) errorLines() []string {
	var lines []string
	for line := range strings.Lines(r.log.String()) {
		if strings.Contains(line, `"level":"error"`) {
			lines = append(lines, line)
		}
	}
	return lines
}

func TestUserWithoutASessionIsLeftAlone(t *testing.T) {
	t.Parallel()
	r, _ := newUser(t, telegramtest.User{})
	e := r.refused(platform.Post{Key: 1, Text: "never"}, platform.Login, platform.ScopeIdentity)
	if !strings.Contains(e.Error(), "not logged in") {
		t.Errorf("error %v", e)
	}
	r.network.Connect(r.id)
	r.awaitState(r.id, platform.LoggedOut)
	if lines := r.errorLines(); len(lines) > 0 {
		t.Errorf("log %v", lines)
	}
	r.calls("users.getUsers", 0)
}

func TestUserPostsLikeABot(t *testing.T) {
	t.Parallel()
	r, u := newLoggedIn(t)
	receipt := r.mustPublish(platform.Post{Key: 1, Text: "*as a person*", Format: platform.Markdown})
	if again := r.mustPublish(platform.Post{Key: 1, Text: "*as a person*", Format: platform.Markdown}); again.Link != receipt.Link {
		t.Errorf("receipts %+v and %+v", receipt, again)
	}
	if m := r.only(); m.FromID != u.ID || m.Text != "as a person" {
		t.Errorf("message %+v", m)
	}
	identity := r.identity()
	if identity.State != store.IdentityReady || identity.NetworkID != u.ID || identity.Title != "Bell Ringer" {
		t.Errorf("identity %+v", identity)
	}
}

func TestSessionThatTelegramEndedStopsAndTellsOnce(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code    int
		message string
		words   string
	}{
		{401, "SESSION_REVOKED", "log in again"},
		{401, "AUTH_KEY_UNREGISTERED", "log in again"},
		{406, "AUTH_KEY_DUPLICATED", "log in again"},
		{401, "USER_DEACTIVATED_BAN", "deactivated"},
	} {
		t.Run(test.message, func(t *testing.T) {
			t.Parallel()
			r, u := newLoggedIn(t)
			r.mustPublish(platform.Post{Key: 1, Text: "before"})
			r.srv.EndSession(u.ID, test.code, test.message)
			for range 3 {
				r.refused(platform.Post{Key: 2, Text: "never"}, platform.Login, platform.ScopeIdentity)
			}
			r.awaitState(r.id, platform.LoggedOut)
			identity := r.identity()
			if identity.State != store.IdentityLogin || identity.Reason.Code != store.ReasonLogin ||
				!strings.Contains(identity.Reason.Detail, test.words) || !strings.Contains(identity.Reason.Detail, test.message) {
				t.Errorf("identity %+v", identity)
			}
			if r.session() != nil {
				t.Error("the dead session is still stored")
			}
			if lines := r.errorLines(); len(lines) != 1 {
				t.Errorf("told %d times: %v", len(lines), lines)
			}
			calls := r.srv.Calls("users.getUsers")

			r.stop()
			r.start()
			r.refused(platform.Post{Key: 2, Text: "never"}, platform.Login, platform.ScopeIdentity)
			if lines := r.errorLines(); len(lines) != 1 {
				t.Errorf("told again: %v", lines)
			}
			r.calls("users.getUsers", calls)
		})
	}
}

func TestIdleUserNoticesTheEndOfItsSessionWhenItConnectsAgain(t *testing.T) {
	t.Parallel()
	r, u := newLoggedIn(t)
	cfg := r.config()
	cfg.Seen = func(uint64, map[platform.ChatRef]int) {}
	n, err := telegram.New(r.db, cfg)
	if err != nil {
		t.Fatal(err)
	}
	r.stop()
	r.run(n)
	r.connect()
	r.srv.EndSession(u.ID, 401, "SESSION_REVOKED")
	r.srv.CloseConnections()
	r.awaitState(r.id, platform.LoggedOut)
	if identity := r.identity(); !strings.Contains(identity.Reason.Detail, "SESSION_REVOKED") {
		t.Errorf("identity %+v", identity)
	}
	if lines := r.errorLines(); len(lines) != 1 {
		t.Errorf("told %d times: %v", len(lines), lines)
	}
}

func TestSessionOfAnotherAccountIsNotTaken(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	other := r.srv.AddUser(telegramtest.User{Phone: "+79990000018", FirstName: "Other"})
	r.stop()
	err := r.db.Update(func(tx *store.Tx) error {
		row, err := tx.Sessions.Of(r.id)
		if err != nil {
			return err
		}
		row.Data = r.srv.Session(other.ID)
		return tx.Sessions.Put(&row)
	})
	if err != nil {
		t.Fatal(err)
	}
	r.start()
	r.awaitState(r.id, platform.LoggedOut)
	if identity := r.identity(); identity.State != store.IdentityLogin || !strings.Contains(identity.Reason.Detail, "another Telegram account") {
		t.Errorf("identity %+v", identity)
	}
}

func TestLogOutEndsTheSessionThereAndHere(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	r.mustPublish(platform.Post{Key: 1, Text: "before"})
	session := r.session()
	if err := r.network.LogOut(r.ctx, r.id); err != nil {
		t.Fatal(err)
	}
	r.calls("auth.logOut", 1)
	if identity := r.identity(); identity.State != store.IdentityLogin || identity.Reason.Detail != "" {
		t.Errorf("identity %+v", identity)
	}
	if r.session() != nil {
		t.Error("the session is still stored")
	}
	if s := r.network.Connection(r.id); s.State != platform.Off {
		t.Errorf("status %+v", s)
	}
	r.refused(platform.Post{Key: 2, Text: "never"}, platform.Login, platform.ScopeIdentity)
	if lines := r.errorLines(); len(lines) > 0 {
		t.Errorf("log %v", lines)
	}

	// The chats are still known; the session is dead.
	peers := 0
	err := r.db.Update(func(tx *store.Tx) error {
		for range tx.Peers.Of(r.id) {
			peers++
		}
		return tx.Sessions.Put(&store.Session{IdentityID: r.id, Data: session})
	})
	if err != nil || peers != 1 {
		t.Errorf("%d peers, %v", peers, err)
	}
	r.network.Connect(r.id)
	r.awaitState(r.id, platform.LoggedOut)
	if r.session() != nil {
		t.Error("the session was still good")
	}
}

func TestLogOutDoesNotNeedAConnection(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	r.srv.Stop()
	r.awaitState(r.id, platform.Connecting)
	if err := r.network.LogOut(r.ctx, r.id); err != nil {
		t.Fatal(err)
	}
	if r.session() != nil || r.identity().State != store.IdentityLogin {
		t.Errorf("identity %+v", r.identity())
	}
}

func TestBotIsNotLoggedOutLikeAUser(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	if e := platform.AsError(r.network.LogOut(r.ctx, r.id)); e.Kind != platform.Refused {
		t.Errorf("LogOut: %v", e)
	}
	if _, err := r.network.SendCode(r.ctx, r.id, phone); platform.AsError(err).Kind != platform.Refused {
		t.Errorf("SendCode: %v", err)
	}
	if _, err := r.network.Chats(r.ctx, r.id); platform.AsError(err).Kind != platform.Refused {
		t.Errorf("Chats: %v", err)
	}
	r.mustPublish(platform.Post{Key: 1, Text: "still here"})
	if e := platform.AsError(fmt.Errorf("x: %w", r.network.Reach(r.ctx, r.id, "me"))); e.Kind != platform.Refused {
		t.Errorf("Reach(me): %v", e)
	}
}

// An import takes effect when the connection is started anew; until then the old one must leave the
// new session alone.
func TestConnectionDoesNotOverwriteASessionThatWasImported(t *testing.T) {
	t.Parallel()
	r, u := newLoggedIn(t)
	imported := r.srv.Session(u.ID)
	err := r.db.Update(func(tx *store.Tx) error {
		row, err := tx.Sessions.Of(r.id)
		if err != nil {
			return err
		}
		if err := tx.Sessions.Delete(row.ID); err != nil {
			return err
		}
		return tx.Sessions.Put(&store.Session{IdentityID: r.id, Data: imported})
	})
	if err != nil {
		t.Fatal(err)
	}
	r.srv.Stop()
	r.awaitState(r.id, platform.Connecting)
	r.srv.Start()
	r.connect()
	r.mustPublish(platform.Post{Key: 1, Text: "with the old one"})
	if string(r.session()) != string(imported) {
		t.Error("the imported session was overwritten")
	}
	r.network.Connect(r.id)
	r.connect()
	r.mustPublish(platform.Post{Key: 2, Text: "with the new one"})
}

// adopt adds a login with a session from the settings and connects it.
func (r *room) adopt(session []byte) (id uint64) {
	r.Helper()
	err := r.db.Update(func(tx *store.Tx) error {
		i := store.Identity{Name: "user2", Platform: telegram.Platform, Kind: store.IdentityUser, State: store.IdentityNew, Adopted: true}
		if err := tx.Identities.Put(&i); err != nil {
			return err
		}
		id = i.ID
		return tx.Sessions.Put(&store.Session{IdentityID: id, Data: session})
	})
	if err != nil {
		r.Fatal(err)
	}
	r.network.Connect(id)
	return id
}

// authKey is the key in a stored session. The rest of it changes while the login is connected.
func authKey(t *testing.T, data []byte) string {
	t.Helper()
	var session struct{ Data struct{ AuthKey string } }
	if err := json.Unmarshal(data, &session); err != nil || session.Data.AuthKey == "" {
		t.Fatalf("a session without a key: %v", err)
	}
	return session.Data.AuthKey
}

// sessionOf returns the stored session of a login, nil if it has none.
func (r *room) sessionOf(id uint64) (data []byte) {
	r.Helper()
	err := r.db.View(func(tx *store.Tx) error {
		row, err := tx.Sessions.Of(id)
		data = row.Data
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil {
		r.Fatal(err)
	}
	return data
}

func TestASessionOfAnotherAccountLeavesTheLoginAlone(t *testing.T) {
	r, _ := newLoggedIn(t)
	r.connect()
	before := r.sessionOf(r.id)
	other := r.srv.AddUser(telegramtest.User{Phone: "+79990000018", Username: "another"})
	id := r.adopt(r.srv.Session(other.ID))
	r.awaitState(id, platform.Connected)
	if authKey(t, r.sessionOf(r.id)) != authKey(t, before) || r.network.Connection(r.id).State != platform.Connected {
		t.Error("the login that was there was disturbed")
	}
	r.mustPublish(platform.Post{Key: 3, Text: "still here"})
}

func TestASessionOfTheSameAccountTakesThePlaceOfItsOldOne(t *testing.T) {
	r, u := newLoggedIn(t)
	r.connect()
	before := r.sessionOf(r.id)
	changed, stop := r.db.Watch("identities")
	defer stop()
	id := r.adopt(r.srv.Session(u.ID))
	for there := true; there; {
		select {
		case <-changed:
		case <-r.ctx.Done():
			t.Fatalf("the session is not handed over\n%s", r.log)
		}
		err := r.db.View(func(tx *store.Tx) error {
			_, err := tx.Identities.Get(id)
			if there = err == nil; errors.Is(err, store.ErrNotFound) {
				return nil
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	r.network.Connect(r.id) // as whoever follows the identities does
	r.connect()
	if now := r.sessionOf(r.id); now == nil || authKey(t, now) == authKey(t, before) || r.sessionOf(id) != nil {
		t.Error("the session was not handed over")
	}
	r.mustPublish(platform.Post{Key: 3, Text: "with the new session"})
}
