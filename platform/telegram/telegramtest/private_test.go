package telegramtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/gotd/td/telegram"
	"github.com/gotd/td/tg"

	"belfry/platform/telegram/telegramtest"
)

func TestPeopleWriteToEachOtherAndThemselves(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Username: "ann_writes"})
	bob := srv.AddUser(telegramtest.User{Username: "bob_writes"})
	bot := srv.AddBot("1:A", "one_bot")
	basic := srv.AddGroup(telegramtest.Group{Title: "Basic", Basic: true, Members: []string{"ann_writes", "bob_writes"}})

	client(t, srv, telegramtest.AppID, srv.Session(ann.ID), func(ctx context.Context, c *telegram.Client) error {
		toBob, err := resolve(ctx, c, "bob_writes")
		if err != nil {
			return err
		}
		_, err = say(ctx, c, &tg.InputPeerUser{UserID: bob.ID}, 1, "x")
		wantError(t, "a user without an access hash", err, "PEER_ID_INVALID")
		_, err = say(ctx, c, &tg.InputPeerUser{UserID: 1, AccessHash: 1}, 1, "x")
		wantError(t, "an unknown user", err, "PEER_ID_INVALID")

		// The same random id goes to four chats, and to each of them once.
		ids := map[int]bool{}
		for _, to := range []tg.InputPeerClass{toBob, &tg.InputPeerSelf{}, &tg.InputPeerChat{ChatID: basic.ID}} {
			id, err := say(ctx, c, to, 7, "hello")
			if err != nil {
				return err
			}
			again, err := say(ctx, c, to, 7, "hello")
			if err != nil || again != id || ids[id] {
				t.Errorf("message %d to %v, repeated %d, %v; before it %v", id, to, again, err, ids)
			}
			ids[id] = true
		}
		u, err := c.API().MessagesSendMessage(ctx, &tg.MessagesSendMessageRequest{Peer: toBob, RandomID: 8, Message: "and"})
		if short, ok := u.(*tg.UpdateShortSentMessage); !ok || !short.Out || short.PtsCount != 1 {
			t.Errorf("a text to a user is answered with %v, %v", u, err)
		}
		state, err := c.API().UpdatesGetState(ctx)
		if err != nil || state.Pts != u.(*tg.UpdateShortSentMessage).Pts {
			t.Errorf("the state is %v, %v after %v", state, err, u)
		}
		if d, err := c.API().UpdatesGetDifference(ctx, &tg.UpdatesGetDifferenceRequest{Pts: state.Pts, Date: state.Date}); err != nil {
			return err
		} else if _, ok := d.(*tg.UpdatesDifferenceEmpty); !ok {
			t.Errorf("the difference is %v", d)
		}
		_, err = c.API().ContactsResolveUsername(ctx, &tg.ContactsResolveUsernameRequest{Username: "one_bot"})
		return err
	})
	if m := srv.PrivateMessages(ann.ID, bob.ID); len(m) != 2 || m[0].From != "ann_writes" || m[1].Text != "and" {
		t.Errorf("Ann wrote %+v to Bob", m)
	}
	if m := srv.PrivateMessages(bob.ID, ann.ID); len(m) != 0 {
		t.Errorf("Bob wrote %+v to Ann", m)
	}
	if m := srv.PrivateMessages(ann.ID, ann.ID); len(m) != 1 || m[0].FromID != ann.ID {
		t.Errorf("Ann saved %+v", m)
	}
	if m := srv.Messages(basic.ID); len(m) != 1 || m[0].FromID != ann.ID {
		t.Errorf("the group has %+v", m)
	}

	// A bot writes only to who has written to it.
	botWrites := func(ctx context.Context, c *telegram.Client) error {
		_, err := say(ctx, c, &tg.InputPeerUser{UserID: bob.ID}, 1, "hello")
		return err
	}
	wantError(t, "a bot that nobody has written to", try(t.Context(), srv, telegramtest.AppID, srv.Session(bot), botWrites), "PEER_ID_INVALID")
	client(t, srv, telegramtest.AppID, srv.Session(bob.ID), func(ctx context.Context, c *telegram.Client) error {
		toBot, err := resolve(ctx, c, "one_bot")
		if err != nil {
			return err
		}
		_, err = say(ctx, c, toBot, 1, "/start")
		return err
	})
	client(t, srv, telegramtest.AppID, srv.Session(bot), func(ctx context.Context, c *telegram.Client) error {
		_, err := c.API().MessagesGetDialogs(ctx, &tg.MessagesGetDialogsRequest{OffsetPeer: &tg.InputPeerEmpty{}})
		wantError(t, "a bot that lists its chats", err, "BOT_METHOD_INVALID")
		return botWrites(ctx, c)
	})
	if m := srv.PrivateMessages(bot, bob.ID); len(m) != 1 || m[0].From != "one_bot" {
		t.Errorf("the bot wrote %+v", m)
	}
}

func TestPeopleHearWhatOthersWrite(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Username: "ann_writes"})
	bob := srv.AddUser(telegramtest.User{Username: "bob_writes"})
	members := []string{"ann_writes", "bob_writes"}
	super := srv.AddGroup(telegramtest.Group{Title: "Super", Username: "super_group", Members: members})
	basic := srv.AddGroup(telegramtest.Group{Title: "Basic", Basic: true, Members: members})
	others := srv.AddGroup(telegramtest.Group{Title: "Others"})
	channel := srv.AddChannel(telegramtest.Channel{Title: "Channel", Members: members})

	type heard struct {
		peer tg.PeerClass
		text string
		user bool // the sender is described
	}
	listen := func(to chan<- heard) telegram.UpdateHandler {
		d := tg.NewUpdateDispatcher()
		hear := func(e tg.Entities, m tg.MessageClass) {
			message := m.(*tg.Message)
			from, ok := message.FromID.(*tg.PeerUser)
			if !ok {
				from, ok = message.PeerID.(*tg.PeerUser)
			}
			to <- heard{message.PeerID, message.Message, ok && e.Users[from.UserID] != nil}
		}
		d.OnNewMessage(func(_ context.Context, e tg.Entities, u *tg.UpdateNewMessage) error { hear(e, u.Message); return nil })
		d.OnNewChannelMessage(func(_ context.Context, e tg.Entities, u *tg.UpdateNewChannelMessage) error {
			hear(e, u.Message)
			return nil
		})
		return d
	}
	toAnn, toBob := make(chan heard, 10), make(chan heard, 10)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := tryWith(ctx, srv, telegramtest.AppID, srv.Session(bob.ID), listen(toBob), func(ctx context.Context, _ *telegram.Client) error {
		return tryWith(ctx, srv, telegramtest.AppID, srv.Session(ann.ID), listen(toAnn), func(ctx context.Context, c *telegram.Client) error {
			// gotd hands updates over in any order.
			hears := func(ear <-chan heard, wanted ...heard) {
				t.Helper()
				got := map[string]heard{}
				for range wanted {
					select {
					case h := <-ear:
						got[h.text] = h
					case <-ctx.Done():
						t.Fatalf("heard only %v", got)
					}
				}
				for _, want := range wanted {
					h, ok := got[want.text]
					if !ok || h.peer.String() != want.peer.String() || h.user != want.user {
						t.Errorf("heard %+v, want %+v", h, want)
					}
				}
			}
			srv.Say(others.ID, "zero")
			if m := srv.Say(super.ID, "one"); m.FromID == 0 || m.ID != 2 {
				t.Errorf("said %+v", m)
			}
			srv.Say(basic.ID, "two")
			srv.Say(channel.ID, "three")
			for _, ear := range []<-chan heard{toAnn, toBob} {
				hears(ear, heard{&tg.PeerChannel{ChannelID: super.ID}, "one", true},
					heard{&tg.PeerChat{ChatID: basic.ID}, "two", true},
					heard{&tg.PeerChannel{ChannelID: channel.ID}, "three", false})
			}
			for i, name := range []string{"super_group", "bob_writes"} {
				peer, err := resolve(ctx, c, name)
				if err != nil {
					return err
				}
				if _, err := say(ctx, c, peer, int64(i)+1, name); err != nil {
					return err
				}
			}
			hears(toBob, heard{&tg.PeerChannel{ChannelID: super.ID}, "super_group", true},
				heard{&tg.PeerUser{UserID: ann.ID}, "bob_writes", true})
			if len(toAnn) != 0 {
				t.Errorf("Ann heard herself: %+v", <-toAnn)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}
