package telegramtest_test

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gotd/td/telegram"
	"github.com/gotd/td/tg"

	"belfry/platform/telegram/telegramtest"
)

func callback(text, data string) tg.KeyboardInlineButton {
	return tg.KeyboardInlineButton{Text: text, Type: &tg.InlineButtonTypeCallback{Data: []byte(data)}}
}

// keyboard is a keyboard of one row.
func keyboard(row ...tg.KeyboardInlineButton) *tg.ReplyInlineMarkup {
	return &tg.ReplyInlineMarkup{Rows: []tg.KeyboardInlineButtonRow{{Buttons: row}}}
}

// ask sends a text with buttons.
func ask(ctx context.Context, c *telegram.Client, to tg.InputPeerClass, random int64, markup tg.ReplyMarkupClass) error {
	_, err := c.API().MessagesSendMessage(ctx, &tg.MessagesSendMessageRequest{Peer: to, RandomID: random, Message: "ask", ReplyMarkup: markup})
	return err
}

func TestButtonsAreAsStrictAsTelegrams(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Username: "ann_writes"})
	bot := srv.AddBot("1:A", "one_bot")
	srv.Write(ann.ID, bot, "/start")
	toAnn := &tg.InputPeerUser{UserID: ann.ID}
	client(t, srv, telegramtest.AppID, srv.Session(bot), func(ctx context.Context, c *telegram.Client) error {
		for doing, test := range map[string]struct {
			markup tg.ReplyMarkupClass
			want   string
		}{
			"no data":             {keyboard(callback("x", "")), "BUTTON_DATA_INVALID"},
			"65 bytes of data":    {keyboard(callback("x", strings.Repeat("x", 65))), "BUTTON_DATA_INVALID"},
			"no text":             {keyboard(callback("", "x")), "BUTTON_INVALID"},
			"a button of a game":  {keyboard(tg.KeyboardInlineButton{Text: "x", Type: &tg.InlineButtonTypeGame{}}), "BUTTON_TYPE_INVALID"},
			"an empty row":        {keyboard(), "REPLY_MARKUP_INVALID"},
			"another keyboard":    {&tg.ReplyKeyboardHide{}, "REPLY_MARKUP_INVALID"},
			"a hundred and a bit": {keyboard(manyButtons(101)...), "REPLY_MARKUP_TOO_LONG"},
		} {
			wantError(t, doing, ask(ctx, c, toAnn, 1, test.markup), test.want)
		}
		return ask(ctx, c, toAnn, 1, keyboard(callback("Yes", "1"), callback("No", strings.Repeat("x", 64))))
	})
	if m := srv.PrivateMessages(bot, ann.ID); len(m) != 1 || !reflect.DeepEqual(m[0].Buttons, [][]telegramtest.Button{{{Text: "Yes", Data: "1"}, {Text: "No", Data: strings.Repeat("x", 64)}}}) {
		t.Errorf("messages %+v", m)
	}
	client(t, srv, telegramtest.AppID, srv.Session(ann.ID), func(ctx context.Context, c *telegram.Client) error {
		seen, err := c.API().MessagesGetDialogs(ctx, &tg.MessagesGetDialogsRequest{OffsetPeer: &tg.InputPeerEmpty{}})
		if err != nil {
			return err
		}
		shown, ok := seen.(*tg.MessagesDialogs).Messages[0].(*tg.Message).ReplyMarkup.(*tg.ReplyInlineMarkup)
		if !ok || shown.Rows[0].Buttons[0].Text != "Yes" {
			t.Errorf("the reader sees %v", shown)
		}
		toBot, err := resolve(ctx, c, "one_bot")
		if err != nil {
			return err
		}
		return ask(ctx, c, toBot, 1, keyboard(callback("Yes", "1"))) // taken, and not shown
	})
	if m := srv.PrivateMessages(ann.ID, bot); len(m) != 2 || m[1].Buttons != nil {
		t.Errorf("messages %+v", m)
	}
}

// manyButtons is so many buttons.
func manyButtons(n int) (row []tg.KeyboardInlineButton) {
	for range n {
		row = append(row, callback("x", "x"))
	}
	return row
}

func TestEditingIsAsStrictAsTelegrams(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Username: "ann_writes"})
	bot := srv.AddBot("1:A", "one_bot")
	theirs := srv.Write(ann.ID, bot, "/start")
	client(t, srv, telegramtest.AppID, srv.Session(bot), func(ctx context.Context, c *telegram.Client) error {
		toAnn := &tg.InputPeerUser{UserID: ann.ID}
		if err := ask(ctx, c, toAnn, 1, keyboard(callback("Yes", "1"))); err != nil {
			return err
		}
		id := srv.PrivateMessages(bot, ann.ID)[0].ID
		edit := func(id int, text string, markup tg.ReplyMarkupClass) error {
			req := &tg.MessagesEditMessageRequest{Peer: toAnn, ID: id, ReplyMarkup: markup}
			if text != "" {
				req.SetMessage(text)
			}
			_, err := c.API().MessagesEditMessage(ctx, req)
			return err
		}
		wantError(t, "no such message", edit(99, "x", nil), "MESSAGE_ID_INVALID")
		wantError(t, "a message of somebody else", edit(theirs.ID, "x", nil), "MESSAGE_AUTHOR_REQUIRED")
		wantError(t, "no text", edit(id, " ", nil), "MESSAGE_EMPTY")
		wantError(t, "a long text", edit(id, strings.Repeat("x", 4097), nil), "MESSAGE_TOO_LONG")
		wantError(t, "the same", edit(id, "ask", keyboard(callback("Yes", "1"))), "MESSAGE_NOT_MODIFIED")
		wantError(t, "bad buttons", edit(id, "x", keyboard(callback("Yes", ""))), "BUTTON_DATA_INVALID")
		if m := srv.PrivateMessages(bot, ann.ID)[0]; m.Text != "ask" || !m.Edited.IsZero() {
			t.Errorf("after refused edits: %+v", m)
		}
		if err := edit(id, "ask", keyboard(callback("Yes", "2"))); err != nil { // other data
			return err
		}
		if err := edit(id, "", nil); err != nil { // the text stays
			return err
		}
		m, err := srv.AwaitMessage(ctx, bot, ann.ID, func(m telegramtest.Message) bool { return !m.Edited.IsZero() && m.Buttons == nil })
		if err != nil || m.Text != "ask" {
			t.Errorf("message %+v, %v", m, err)
		}
		return nil
	})
}

func TestPressesReachTheBotAndAreAnsweredOnce(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Username: "ann_writes"})
	bot, other := srv.AddBot("1:A", "one_bot"), srv.AddBot("2:A", "two_bot")
	srv.Write(ann.ID, bot, "/start")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	stored := srv.Session(bot)
	client(t, srv, telegramtest.AppID, stored, func(ctx context.Context, c *telegram.Client) error {
		return ask(ctx, c, &tg.InputPeerUser{UserID: ann.ID}, 1, keyboard(callback("Yes", "1"), callback("No", "2")))
	})
	if err := srv.AwaitPrivate(ctx, bot, ann.ID, 1); err != nil {
		t.Fatal(err)
	}
	id := srv.PrivateMessages(bot, ann.ID)[0].ID
	press := func(button string) int64 {
		t.Helper()
		query, err := srv.Press(ann.ID, bot, id, button)
		if err != nil {
			t.Fatal(err)
		}
		return query
	}
	press("Yes") // while nobody is connected: lost

	answer := func(ctx context.Context, c *telegram.Client, query int64, text string) error {
		req := &tg.MessagesSetBotCallbackAnswerRequest{QueryID: query, Alert: true}
		req.SetMessage(text)
		_, err := c.API().MessagesSetBotCallbackAnswer(ctx, req)
		return err
	}
	pushes := make(chan tg.UpdateClass, 10)
	err := tryWith(ctx, srv, telegramtest.AppID, stored, pushedTo(pushes), func(ctx context.Context, c *telegram.Client) error {
		if _, err := c.Self(ctx); err != nil {
			return err
		}
		query := press("No")
		u := next[*tg.UpdateBotCallbackQuery](ctx, t, pushes)
		if u.QueryID != query || u.UserID != ann.ID || u.MsgID != id || !bytes.Equal(u.Data, []byte("2")) {
			t.Errorf("pushed %v for %d", u, query)
		}
		wantError(t, "a long answer", answer(ctx, c, query, strings.Repeat("é", 201)), "MESSAGE_TOO_LONG")
		wantError(t, "an unknown query", answer(ctx, c, 1, "x"), "QUERY_ID_INVALID")
		if a, ok := srv.Answer(query); ok {
			t.Errorf("answered %+v", a)
		}
		if err := answer(ctx, c, query, "fine"); err != nil {
			return err
		}
		wantError(t, "a second answer", answer(ctx, c, query, "not fine"), "QUERY_ID_INVALID")
		if a, err := srv.AwaitAnswer(ctx, query); err != nil || a != (telegramtest.Answer{Text: "fine", Alert: true}) {
			t.Errorf("answered %+v, %v", a, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, who := range []struct {
		id   int64
		want string
	}{{ann.ID, "USER_BOT_REQUIRED"}, {other, "QUERY_ID_INVALID"}} {
		client(t, srv, telegramtest.AppID, srv.Session(who.id), func(ctx context.Context, c *telegram.Client) error {
			wantError(t, "an answer of somebody else", answer(ctx, c, press("Yes"), "x"), who.want)
			return nil
		})
	}
	for doing, err := range map[string]error{
		"no such button":  second(srv.Press(ann.ID, bot, id, "Maybe")),
		"no such message": second(srv.Press(ann.ID, bot, 99, "Yes")),
		"no such chat":    second(srv.Press(ann.ID, other, id, "Yes")),
	} {
		if err == nil {
			t.Errorf("%s: pressed", doing)
		}
	}
}

func second(_ int64, err error) error { return err }

func TestBotsListTheirCommands(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Username: "ann_writes"})
	bot := srv.AddBot("1:A", "one_bot")
	set := func(ctx context.Context, c *telegram.Client, language string, list ...tg.BotCommand) error {
		_, err := c.API().BotsSetBotCommands(ctx, &tg.BotsSetBotCommandsRequest{
			Scope: &tg.BotCommandScopeDefault{}, LangCode: language, Commands: list})
		return err
	}
	status := tg.BotCommand{Command: "status", Description: "How it stands"}
	client(t, srv, telegramtest.AppID, srv.Session(bot), func(ctx context.Context, c *telegram.Client) error {
		for _, name := range []string{"", "/status", "Status", "two words", strings.Repeat("x", 33)} {
			wantError(t, name, set(ctx, c, "", status, tg.BotCommand{Command: name, Description: "x"}), "BOT_COMMAND_INVALID")
		}
		for _, about := range []string{"", strings.Repeat("é", 257)} {
			wantError(t, about, set(ctx, c, "", tg.BotCommand{Command: "x", Description: about}), "BOT_COMMAND_DESCRIPTION_INVALID")
		}
		wantError(t, "many", set(ctx, c, "", make([]tg.BotCommand, 101)...), "BOT_COMMANDS_TOO_MUCH")
		wantError(t, "no language", set(ctx, c, "russian", status), "LANG_CODE_INVALID")
		if list := srv.Commands(bot, ""); list != nil {
			t.Errorf("after refusals: %v", list)
		}
		if err := set(ctx, c, "", status); err != nil {
			return err
		}
		return set(ctx, c, "ru", tg.BotCommand{Command: "status", Description: strings.Repeat("é", 256)})
	})
	list, err := srv.AwaitCommands(t.Context(), bot, "")
	if want := []telegramtest.Command{{Name: "status", About: "How it stands"}}; err != nil || !reflect.DeepEqual(list, want) {
		t.Errorf("commands %v, %v", list, err)
	}
	if list := srv.Commands(bot, "ru"); len(list) != 1 {
		t.Errorf("commands %v", list)
	}
	client(t, srv, telegramtest.AppID, srv.Session(ann.ID), func(ctx context.Context, c *telegram.Client) error {
		wantError(t, "a user", set(ctx, c, "", status), "USER_BOT_REQUIRED")
		return nil
	})
}
