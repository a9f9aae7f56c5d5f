package telegramtest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/gotd/td/telegram"
	"github.com/gotd/td/telegram/query"
	"github.com/gotd/td/telegram/query/dialogs"
	"github.com/gotd/td/tg"

	"belfry/platform/telegram/telegramtest"
)

func TestDialogsComeInPages(t *testing.T) {
	const chats = 250
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Phone: "+79990000001"})
	members := []string{"+79990000001"}
	var last telegramtest.Group
	for i := range chats - 1 {
		last = srv.AddGroup(telegramtest.Group{Title: fmt.Sprint(i), Basic: i%3 == 0, Members: members})
	}
	srv.AddChannel(telegramtest.Channel{Title: "Channel", Members: members})
	srv.AddGroup(telegramtest.Group{Title: "Others"})

	client(t, srv, telegramtest.AppID, srv.Session(ann.ID), func(ctx context.Context, c *telegram.Client) error {
		if _, err := say(ctx, c, &tg.InputPeerSelf{}, 1, "saved"); err != nil {
			return err
		}
		list := func(want int) map[string]tg.InputPeerClass {
			t.Helper()
			found := map[string]tg.InputPeerClass{}
			err := query.GetDialogs(c.API()).BatchSize(100).ForEach(ctx, func(_ context.Context, e dialogs.Elem) error {
				found[e.Peer.String()] = e.Peer
				if e.Last == nil || e.Last.GetID() != e.Dialog.(*tg.Dialog).TopMessage {
					t.Errorf("%v comes with the message %v", e.Dialog, e.Last)
				}
				return nil
			})
			if err != nil || len(found) != want {
				t.Errorf("%d chats, want %d; %v", len(found), want, err)
			}
			return found
		}
		for _, peer := range list(chats + 1) { // with the Saved Messages
			if _, ok := peer.(*tg.InputPeerChat); !ok {
				continue
			}
			if _, err := say(ctx, c, peer, 1, "hello"); err != nil {
				return err
			}
			break
		}

		page := func(req tg.MessagesGetDialogsRequest) *tg.MessagesDialogsSlice {
			t.Helper()
			if req.OffsetPeer == nil {
				req.OffsetPeer = &tg.InputPeerEmpty{}
			}
			answer, err := c.API().MessagesGetDialogs(ctx, &req)
			if err != nil {
				t.Fatal(err)
			}
			slice, ok := answer.(*tg.MessagesDialogsSlice)
			if !ok {
				t.Fatalf("a page is %T", answer)
			}
			return slice
		}
		first := page(tg.MessagesGetDialogsRequest{Limit: 1000})
		if len(first.Dialogs) != 100 || first.Count != chats+1 {
			t.Errorf("%d of %d chats in a page of 1000", len(first.Dialogs), first.Count)
		}
		m := first.Messages[99].(tg.NotEmptyMessage)
		end := page(tg.MessagesGetDialogsRequest{Limit: 100, OffsetDate: 1, OffsetID: m.GetID()})
		if len(end.Dialogs) != 0 {
			t.Errorf("%d chats are older than any", len(end.Dialogs))
		}
		archive, err := c.API().MessagesGetDialogs(ctx, &tg.MessagesGetDialogsRequest{OffsetPeer: &tg.InputPeerEmpty{}, Limit: 100, FolderID: 1})
		if whole, ok := archive.(*tg.MessagesDialogs); err != nil || !ok || len(whole.Dialogs) != 0 {
			t.Errorf("the archive is %v, %v", archive, err)
		}

		// A chat that one has left is listed no more, and one that is new is listed first.
		srv.SetGroup(telegramtest.Group{ID: last.ID, Title: "left"})
		list(chats)
		srv.AddGroup(telegramtest.Group{ID: 1_999_999_999, Title: "new", Members: members})
		list(chats + 1)
		return nil
	})
}
