package telegramtest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gotd/td/telegram"
	"github.com/gotd/td/tg"

	"belfry/platform/telegram/telegramtest"
)

// missed asks for all that has happened since the state, page by page, and spells it: > are the
// account's own messages and * are edits. It returns the number of pages, and the state behind them.
func missed(ctx context.Context, c *telegram.Client, from *tg.UpdatesState) (list []string, pages int, to tg.UpdatesState, err error) {
	to = *from
	spell := func(prefix string, m tg.MessageClass, users []tg.UserClass) {
		message := m.(*tg.Message)
		if message.Out {
			prefix += ">"
		}
		if peer, ok := message.PeerID.(*tg.PeerUser); ok {
			if !slices.ContainsFunc(users, func(u tg.UserClass) bool { return u.GetID() == peer.UserID }) {
				prefix += "unknown "
			}
		}
		list = append(list, prefix+message.Message)
	}
	for {
		d, err := c.API().UpdatesGetDifference(ctx, &tg.UpdatesGetDifferenceRequest{Pts: to.Pts, Date: to.Date})
		if err != nil {
			return list, pages, to, err
		}
		hear := func(messages []tg.MessageClass, others []tg.UpdateClass, users []tg.UserClass) {
			pages++
			for _, m := range messages {
				spell("", m, users)
			}
			for _, u := range others {
				spell("*", u.(*tg.UpdateEditMessage).Message, users)
			}
		}
		switch d := d.(type) {
		case *tg.UpdatesDifferenceEmpty:
			return list, pages, to, nil
		case *tg.UpdatesDifference:
			hear(d.NewMessages, d.OtherUpdates, d.Users)
			to = d.State
		case *tg.UpdatesDifferenceSlice:
			hear(d.NewMessages, d.OtherUpdates, d.Users)
			to = d.IntermediateState
		default:
			return list, pages, to, fmt.Errorf("the difference is %v", d)
		}
	}
}

func TestDifferenceTellsLaterWhatAClientMissed(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{PageSize: 3})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Username: "ann_writes"})
	bot := srv.AddBot("1:A", "one_bot")
	basic := srv.AddGroup(telegramtest.Group{Title: "Basic", Basic: true, Members: []string{"ann_writes", "one_bot"}})
	super := srv.AddGroup(telegramtest.Group{Title: "Super", Members: []string{"ann_writes", "one_bot"}})
	sessions := map[int64][]byte{ann.ID: srv.Session(ann.ID), bot: srv.Session(bot)}
	begun := map[int64]*tg.UpdatesState{}
	as := func(id int64, use func(context.Context, *telegram.Client) error) {
		client(t, srv, telegramtest.AppID, sessions[id], use)
	}
	for id := range sessions {
		as(id, func(ctx context.Context, c *telegram.Client) (err error) {
			begun[id], err = c.API().UpdatesGetState(ctx)
			return err
		})
	}
	srv.Write(ann.ID, bot, "one")
	as(bot, func(ctx context.Context, c *telegram.Client) error {
		id, err := say(ctx, c, &tg.InputPeerUser{UserID: ann.ID}, 1, "two")
		if err != nil {
			return err
		}
		if again, err := say(ctx, c, &tg.InputPeerUser{UserID: ann.ID}, 1, "two"); err != nil || again != id {
			t.Errorf("message %d repeated is %d, %v", id, again, err)
		}
		edit := &tg.MessagesEditMessageRequest{Peer: &tg.InputPeerUser{UserID: ann.ID}, ID: id}
		edit.SetMessage("three")
		_, err = c.API().MessagesEditMessage(ctx, edit)
		return err
	})
	srv.Say(basic.ID, "four")
	srv.Say(super.ID, "not told later")
	for i := range 3 {
		srv.Write(ann.ID, bot, fmt.Sprint(5+i))
	}

	for id, want := range map[int64][]string{
		ann.ID: {">one", "three", "*three", "four", ">5", ">6", ">7"},
		bot:    {"one", ">three", "*>three", "four", "5", "6", "7"},
	} {
		as(id, func(ctx context.Context, c *telegram.Client) error {
			got, pages, to, err := missed(ctx, c, begun[id])
			if err != nil || pages != 3 || !slices.Equal(got, want) {
				t.Errorf("account %d missed %q in %d pages, %v; want %q", id, got, pages, err, want)
			}
			if state, err := c.API().UpdatesGetState(ctx); err != nil || state.Pts != to.Pts || to.Pts != begun[id].Pts+len(want) {
				t.Errorf("the state is %+v, %v, and behind the difference %+v", state, err, to)
			}
			return nil
		})
	}

	as(bot, func(ctx context.Context, c *telegram.Client) error {
		ask := func(req tg.UpdatesGetDifferenceRequest) (tg.UpdatesDifferenceClass, error) {
			return c.API().UpdatesGetDifference(ctx, &req)
		}
		from := begun[bot]
		_, err := ask(tg.UpdatesGetDifferenceRequest{Date: from.Date})
		wantError(t, "no pts", err, "PERSISTENT_TIMESTAMP_EMPTY")
		_, err = ask(tg.UpdatesGetDifferenceRequest{Pts: from.Pts})
		wantError(t, "no date", err, "DATE_EMPTY")
		_, err = ask(tg.UpdatesGetDifferenceRequest{Pts: from.Pts + 100, Date: from.Date})
		wantError(t, "a pts that has not been", err, "PERSISTENT_TIMESTAMP_INVALID")

		limited := tg.UpdatesGetDifferenceRequest{Pts: from.Pts, Date: from.Date}
		limited.SetPtsLimit(1)
		if d, err := ask(limited); err != nil || len(d.(*tg.UpdatesDifferenceSlice).NewMessages) != 1 {
			t.Errorf("a page of one is %v, %v", d, err)
		}
		limited.SetPtsTotalLimit(6)
		if d, err := ask(limited); err != nil || d.(*tg.UpdatesDifferenceTooLong).Pts != from.Pts+7 {
			t.Errorf("more than wanted is %v, %v", d, err)
		}
		srv.Forget(bot)
		if d, err := ask(tg.UpdatesGetDifferenceRequest{Pts: from.Pts, Date: from.Date}); err != nil || d.(*tg.UpdatesDifferenceTooLong).Pts != from.Pts+7 {
			t.Errorf("what is forgotten is %v, %v", d, err)
		}
		if d, err := ask(tg.UpdatesGetDifferenceRequest{Pts: from.Pts + 7, Date: from.Date}); err != nil {
			t.Error(err)
		} else if _, ok := d.(*tg.UpdatesDifferenceEmpty); !ok {
			t.Errorf("from the present state on it is %v", d)
		}
		return nil
	})
}

// pushedTo collects what is pushed to a client.
func pushedTo(to chan<- tg.UpdateClass) telegram.UpdateHandler {
	return telegram.UpdateHandlerFunc(func(_ context.Context, u tg.UpdatesClass) error {
		for _, update := range u.(*tg.Updates).Updates {
			to <- update
		}
		return nil
	})
}

func next[T tg.UpdateClass](ctx context.Context, t *testing.T, from <-chan tg.UpdateClass) (update T) {
	t.Helper()
	select {
	case u := <-from:
		update, ok := u.(T)
		if !ok {
			t.Fatalf("pushed %v, want %T", u, update)
		}
		return update
	case <-ctx.Done():
		t.Fatalf("nothing was pushed, want %T", update)
	}
	return update
}

func TestBotsArePushedWhatPeopleTellThem(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Username: "ann_writes"})
	bot := srv.AddBot("1:A", "one_bot")
	members := []string{"ann_writes", "one_bot"}
	basic := srv.AddGroup(telegramtest.Group{Title: "Basic", Basic: true, Members: members})
	super := srv.AddGroup(telegramtest.Group{Title: "Super", Members: members})
	toBot, toOther, toAnn := make(chan tg.UpdateClass, 10), make(chan tg.UpdateClass, 10), make(chan tg.UpdateClass, 10)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	with := func(id int64, to chan tg.UpdateClass, use func(context.Context, *telegram.Client) error) error {
		return tryWith(ctx, srv, telegramtest.AppID, srv.Session(id), pushedTo(to), func(ctx context.Context, c *telegram.Client) error {
			if _, err := c.Self(ctx); err != nil { // a session is pushed to once it has called
				return err
			}
			return use(ctx, c)
		})
	}
	err := with(ann.ID, toAnn, func(ctx context.Context, _ *telegram.Client) error {
		return with(bot, toOther, func(ctx context.Context, _ *telegram.Client) error {
			return with(bot, toBot, func(ctx context.Context, c *telegram.Client) error {
				srv.Say(super.ID, "not pushed to bots")
				next[*tg.UpdateNewChannelMessage](ctx, t, toAnn)
				srv.Say(basic.ID, "to all")
				next[*tg.UpdateNewMessage](ctx, t, toAnn)
				srv.Write(ann.ID, bot, "to the bot")
				for _, ear := range []<-chan tg.UpdateClass{toBot, toOther} {
					first := next[*tg.UpdateNewMessage](ctx, t, ear)
					second := next[*tg.UpdateNewMessage](ctx, t, ear)
					if first.Pts > second.Pts { // gotd hands updates over in any order
						first, second = second, first
					}
					if first.Message.(*tg.Message).Message != "to all" || second.Message.(*tg.Message).Message != "to the bot" || second.Pts != first.Pts+1 {
						t.Errorf("pushed %v and %v", first, second)
					}
				}

				id, err := say(ctx, c, &tg.InputPeerUser{UserID: ann.ID}, 1, "one")
				if err != nil {
					return err
				}
				said := next[*tg.UpdateNewMessage](ctx, t, toAnn)
				edit := &tg.MessagesEditMessageRequest{Peer: &tg.InputPeerUser{UserID: ann.ID}, ID: id}
				edit.SetMessage("two")
				answer, err := c.API().MessagesEditMessage(ctx, edit)
				if err != nil {
					return err
				}
				own := answer.(*tg.Updates).Updates[0].(*tg.UpdateEditMessage)
				edited := next[*tg.UpdateEditMessage](ctx, t, toAnn)
				if m := edited.Message.(*tg.Message); m.Message != "two" || m.ID != said.Message.GetID() || m.EditDate == 0 || edited.Pts != said.Pts+1 {
					t.Errorf("pushed %v after %v", edited, said)
				}
				if m := own.Message.(*tg.Message); m.ID != id || !m.Out || own.PtsCount != 1 {
					t.Errorf("the bot is answered %v", own)
				}
				srv.Write(ann.ID, bot, "last")
				for _, ear := range []<-chan tg.UpdateClass{toBot, toOther} { // its own are not pushed to it
					if u := next[*tg.UpdateNewMessage](ctx, t, ear); u.Message.(*tg.Message).Message != "last" || u.Pts != own.Pts+1 {
						t.Errorf("pushed %v", u)
					}
				}
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
}
