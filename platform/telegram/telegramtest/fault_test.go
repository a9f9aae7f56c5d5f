package telegramtest_test

import (
	"context"
	"testing"

	"github.com/gotd/td/telegram"
	"github.com/gotd/td/tg"

	"belfry/platform/telegram/telegramtest"
)

const sending = "messages.sendMessage"

func TestFaultsOfOneAccountOrChat(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Username: "ann_writes"})
	bob := srv.AddUser(telegramtest.User{Username: "bob_writes"})
	members := []string{"ann_writes", "bob_writes"}
	one := srv.AddGroup(telegramtest.Group{Title: "One", Username: "group_one", Members: members})
	srv.AddGroup(telegramtest.Group{Title: "Two", Username: "group_two", Members: members})

	send := func(ctx context.Context, c *telegram.Client, name string, random int64) error {
		peer, err := resolve(ctx, c, name)
		if err != nil {
			return err
		}
		_, err = say(ctx, c, peer, random, "x")
		return err
	}
	srv.FailFor(ann.ID, sending, 2, 420, "FLOOD_WAIT_7")
	srv.FailIn(one.ID, sending, -1, 403, "CHAT_WRITE_FORBIDDEN")
	srv.FailIn(bob.ID, "contacts.resolveUsername", 1, 400, "USERNAME_INVALID")
	client(t, srv, telegramtest.AppID, srv.Session(bob.ID), func(ctx context.Context, c *telegram.Client) error {
		for range 3 {
			wantError(t, "a fault of the chat", send(ctx, c, "group_one", 1), "CHAT_WRITE_FORBIDDEN")
		}
		return send(ctx, c, "group_two", 1)
	})
	client(t, srv, telegramtest.AppID, srv.Session(ann.ID), func(ctx context.Context, c *telegram.Client) error {
		wantError(t, "a fault of the chat before one of the account", send(ctx, c, "group_one", 1), "CHAT_WRITE_FORBIDDEN")
		wantError(t, "a fault of the account", send(ctx, c, "group_two", 1), "FLOOD_WAIT")
		_, err := say(ctx, c, &tg.InputPeerSelf{}, 1, "x")
		wantError(t, "a fault of the account", err, "FLOOD_WAIT")
		wantError(t, "a fault of a name", send(ctx, c, "bob_writes", 1), "USERNAME_INVALID")
		srv.ClearFaults()
		if err := send(ctx, c, "group_one", 1); err != nil {
			return err
		}
		return srv.AwaitDone(ctx, sending, 2) // of some that have arrived
	})
}

func TestAnEndedSessionStaysEnded(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Username: "ann_writes"})
	bob := srv.AddUser(telegramtest.User{Username: "bob_writes"})
	stored := srv.Session(ann.ID)
	ask := func(ctx context.Context, c *telegram.Client) error {
		_, err := c.Self(ctx)
		return err
	}
	client(t, srv, telegramtest.AppID, stored, func(ctx context.Context, c *telegram.Client) error {
		srv.EndSession(ann.ID, 401, "SESSION_REVOKED")
		wantError(t, "a call on an open connection", ask(ctx, c), "SESSION_REVOKED")
		return nil
	})
	wantError(t, "a client that comes back", try(t.Context(), srv, telegramtest.AppID, stored, ask), "SESSION_REVOKED")
	client(t, srv, telegramtest.AppID, srv.Session(ann.ID), ask)
	client(t, srv, telegramtest.AppID, srv.Session(bob.ID), ask)

	srv.EndSession(ann.ID, 406, "AUTH_KEY_DUPLICATED")
	wantError(t, "a client that comes back", try(t.Context(), srv, telegramtest.AppID, stored, ask), "SESSION_REVOKED")
}

func TestAKeyForOtherLibraries(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Phone: "+79990000001"})
	dc, addr, key := srv.AuthKey(ann.ID)
	if dc != 2 || addr != srv.Addr || len(key) != 256 {
		t.Errorf("data centre %d at %s, a key of %d bytes", dc, addr, len(key))
	}
}
