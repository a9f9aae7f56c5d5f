package telegramtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/gotd/td/telegram"
	"github.com/gotd/td/tg"

	"belfry/platform/telegram/telegramtest"
)

// say sends a text and returns the id of the message that it became.
func say(ctx context.Context, c *telegram.Client, peer tg.InputPeerClass, random int64, text string) (int, error) {
	u, err := c.API().MessagesSendMessage(ctx, &tg.MessagesSendMessageRequest{Peer: peer, RandomID: random, Message: text})
	if err != nil {
		return 0, err
	}
	switch u := u.(type) {
	case *tg.UpdateShortSentMessage:
		return u.ID, nil
	case *tg.Updates:
		return u.Updates[0].(*tg.UpdateMessageID).ID, nil
	}
	return 0, nil
}

// resolve returns the peer behind a user name.
func resolve(ctx context.Context, c *telegram.Client, name string) (tg.InputPeerClass, error) {
	r, err := c.API().ContactsResolveUsername(ctx, &tg.ContactsResolveUsernameRequest{Username: name})
	if err != nil {
		return nil, err
	}
	for _, chat := range r.Chats {
		return chat.(*tg.Channel).AsInputPeer(), nil
	}
	return r.Users[0].(*tg.User).AsInputPeer(), nil
}

func TestGroupsAreAsStrictAsTelegram(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Phone: "+79990000001", FirstName: "Ann"})
	open := srv.AddGroup(telegramtest.Group{Title: "Open", Username: "open_group", Members: []string{"+79990000001"}})
	foreign := srv.AddGroup(telegramtest.Group{Title: "Foreign", Username: "foreign_group"})
	left := srv.AddGroup(telegramtest.Group{Title: "Left", Username: "left_group", Members: []string{"+79990000001"}})
	basic := srv.AddGroup(telegramtest.Group{Title: "Basic", Basic: true, Members: []string{"+79990000001"}})
	others := srv.AddGroup(telegramtest.Group{Title: "Others", Basic: true})

	client(t, srv, telegramtest.AppID, srv.Session(ann.ID), func(ctx context.Context, c *telegram.Client) error {
		send := func(peer tg.InputPeerClass, random int64) error {
			_, err := say(ctx, c, peer, random, "x")
			return err
		}
		peers := map[string]tg.InputPeerClass{}
		for _, g := range []telegramtest.Group{open, foreign, left} {
			peer, err := resolve(ctx, c, g.Username)
			if err != nil {
				return err
			}
			peers[g.Username] = peer
		}
		wantError(t, "a wrong access hash", send(&tg.InputPeerChannel{ChannelID: open.ID, AccessHash: 1}, 1), "CHANNEL_INVALID")
		wantError(t, "no access hash", send(&tg.InputPeerChannel{ChannelID: open.ID}, 1), "CHANNEL_INVALID")
		wantError(t, "a public group that one is not in", send(peers["foreign_group"], 1), "CHAT_WRITE_FORBIDDEN")
		wantError(t, "a basic group of others", send(&tg.InputPeerChat{ChatID: others.ID}, 1), "PEER_ID_INVALID")
		wantError(t, "a supergroup addressed as a basic one", send(&tg.InputPeerChat{ChatID: open.ID}, 1), "PEER_ID_INVALID")
		srv.SetGroup(telegramtest.Group{ID: left.ID, Title: "Left"})
		wantError(t, "a private group that one is not in any more", send(peers["left_group"], 1), "CHANNEL_PRIVATE")
		_, err := resolve(ctx, c, "left_group")
		wantError(t, "a name that was given up", err, "USERNAME_NOT_OCCUPIED")

		open.Forbidden, basic.Forbidden = true, true
		srv.SetGroup(open)
		srv.SetGroup(basic)
		wantError(t, "a group in which nobody may send", send(peers["open_group"], 1), "CHAT_WRITE_FORBIDDEN")
		wantError(t, "a basic group in which nobody may send", send(&tg.InputPeerChat{ChatID: basic.ID}, 1), "CHAT_WRITE_FORBIDDEN")
		open.Forbidden, basic.Forbidden = false, false
		srv.SetGroup(open)
		srv.SetGroup(basic)

		for range 2 { // the second makes no message
			if err := send(peers["open_group"], 1); err != nil {
				return err
			}
			if err := send(&tg.InputPeerChat{ChatID: basic.ID}, 1); err != nil {
				return err
			}
		}
		srv.RemoveGroup(open.ID)
		srv.RemoveGroup(basic.ID)
		wantError(t, "a group that is gone", send(peers["open_group"], 1), "CHANNEL_INVALID")
		wantError(t, "a basic group that is gone", send(&tg.InputPeerChat{ChatID: basic.ID}, 1), "PEER_ID_INVALID")
		return nil
	})
}

func TestAnInvitationLeadsToTheChat(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Username: "ann_writes"})
	inside := srv.AddGroup(telegramtest.Group{Title: "Inside", Invite: "aaa", Members: []string{"ann_writes"}})
	srv.AddChannel(telegramtest.Channel{Title: "Outside", Invite: "bbb"})
	client(t, srv, telegramtest.AppID, srv.Session(ann.ID), func(ctx context.Context, c *telegram.Client) error {
		answer, err := c.API().MessagesCheckChatInvite(ctx, "aaa")
		if err != nil {
			return err
		}
		already, ok := answer.(*tg.ChatInviteAlready)
		if !ok {
			t.Fatalf("the invitation is %v", answer)
		}
		if _, err := say(ctx, c, already.Chat.(*tg.Channel).AsInputPeer(), 1, "x"); err != nil {
			return err
		}
		if answer, err = c.API().MessagesCheckChatInvite(ctx, "bbb"); err != nil {
			return err
		}
		if in, ok := answer.(*tg.ChatInvite); !ok || in.Title != "Outside" || !in.Broadcast {
			t.Errorf("the invitation is %v", answer)
		}
		srv.RemoveGroup(inside.ID)
		_, err = c.API().MessagesCheckChatInvite(ctx, "aaa")
		wantError(t, "an invitation to what is gone", err, "INVITE_HASH_EXPIRED")
		return nil
	})
}

func TestSlowModeHoldsEachMemberBack(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Username: "ann_writes"})
	bob := srv.AddUser(telegramtest.User{Username: "bob_writes"})
	slow := srv.AddGroup(telegramtest.Group{Title: "Slow", Username: "slow_group", Slowmode: time.Hour,
		Members: []string{"ann_writes", "bob_writes"}})
	client(t, srv, telegramtest.AppID, srv.Session(ann.ID), func(ctx context.Context, c *telegram.Client) error {
		peer, err := resolve(ctx, c, "slow_group")
		if err != nil {
			return err
		}
		first, err := say(ctx, c, peer, 1, "one")
		if err != nil {
			return err
		}
		_, err = say(ctx, c, peer, 2, "two")
		wantError(t, "a second message", err, "SLOWMODE_WAIT")
		again, err := say(ctx, c, peer, 1, "one")
		if err != nil || again != first {
			t.Errorf("the repetition of message %d: %d, %v", first, again, err)
		}
		in := peer.(*tg.InputPeerChannel)
		full, err := c.API().ChannelsGetFullChannel(ctx, &tg.InputChannel{ChannelID: in.ChannelID, AccessHash: in.AccessHash})
		if err != nil {
			return err
		}
		described := full.FullChat.(*tg.ChannelFull)
		next, ok := described.GetSlowmodeNextSendDate()
		if wait := time.Until(time.Unix(int64(next), 0)); described.SlowmodeSeconds != 3600 || !ok || wait < 50*time.Minute {
			t.Errorf("slow mode of %d s, the next message in %s", described.SlowmodeSeconds, wait)
		}
		if ch := full.Chats[0].(*tg.Channel); !ch.SlowmodeEnabled || !ch.Megagroup || ch.Broadcast {
			t.Errorf("the group is %+v", ch)
		}
		slow.Slowmode = 0
		srv.SetGroup(slow)
		_, err = say(ctx, c, peer, 2, "two")
		return err
	})
	slow.Slowmode = time.Hour
	srv.SetGroup(slow)
	client(t, srv, telegramtest.AppID, srv.Session(bob.ID), func(ctx context.Context, c *telegram.Client) error {
		peer, err := resolve(ctx, c, "slow_group")
		if err != nil {
			return err
		}
		_, err = say(ctx, c, peer, 1, "three")
		return err
	})
	m := srv.Messages(slow.ID)
	if len(m) != 3 || m[0].Text != "one" || m[1].From != "ann_writes" || m[2].FromID != bob.ID {
		t.Errorf("messages %+v", m)
	}
}
