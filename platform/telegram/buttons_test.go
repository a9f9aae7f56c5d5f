package telegram_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"belfry/platform"
	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

// buttons is a row of buttons whose data are their texts.
func buttons(texts ...string) [][]platform.Button {
	row := make([]platform.Button, len(texts))
	for i, text := range texts {
		row[i] = platform.Button{Text: text, Data: "data of " + text}
	}
	return [][]platform.Button{row}
}

// toAnn is a post to a person who has written to the bot.
func toAnn(ann telegramtest.User, key int64, text string, rows [][]platform.Button) platform.Post {
	return platform.Post{Key: key, Target: fmt.Sprint(ann.ID), Text: text, Buttons: rows}
}

func TestButtonsAreShownPressedAndAnswered(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	r.srv.Write(ann.ID, r.bot, "/start")
	r.hears("Ann Lee 1: /start")
	receipt := r.mustPublish(toAnn(ann, 1, "Shall I?", buttons("Yes", "No")))
	shown := r.srv.PrivateMessages(r.bot, ann.ID)[0]
	if want := [][]telegramtest.Button{{{Text: "Yes", Data: "data of Yes"}, {Text: "No", Data: "data of No"}}}; !reflect.DeepEqual(shown.Buttons, want) {
		t.Errorf("buttons %v", shown.Buttons)
	}
	query, err := r.srv.Press(ann.ID, r.bot, shown.ID, "No")
	if err != nil {
		t.Fatal(err)
	}
	r.hears("Ann Lee 1: /start", "Ann Lee 2: data of No")
	if receipt.MessageIDs[0] != int64(shown.ID) {
		t.Errorf("receipt %+v for message %d", receipt, shown.ID)
	}
	if err := r.network.Answer(r.ctx, r.id, query, "As you like"); err != nil {
		t.Fatal(err)
	}
	if a, ok := r.srv.Answer(query); !ok || a.Text != "As you like" {
		t.Errorf("answer %+v", a)
	}
	// Nobody waits any more, or ever has.
	for _, query := range []int64{query, 1} {
		if err := r.network.Answer(r.ctx, r.id, query, "Again"); err != nil {
			t.Errorf("a late answer: %v", err)
		}
	}
	e := platform.AsError(r.network.Answer(r.ctx, r.id, query, strings.Repeat("é", 201)))
	if e.Kind != platform.Refused || e.Field != "text" {
		t.Errorf("a long answer: %+v", e)
	}
}

func TestButtonsThatCannotBeAreRefused(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.file("a.png", picture(4, 3))
	photo := platform.Media{Kind: platform.Photo, File: "a.png"}
	many := make([]string, 101)
	for i := range many {
		many[i] = "x"
	}
	for _, p := range []platform.Post{
		{Text: "no data", Buttons: [][]platform.Button{{{Text: "x"}}}},
		{Text: "long data", Buttons: [][]platform.Button{{{Text: "x", Data: strings.Repeat("x", 65)}}}},
		{Text: "no text", Buttons: [][]platform.Button{{{Data: "x"}}}},
		{Text: "no button", Buttons: [][]platform.Button{{}}},
		{Text: "many", Buttons: buttons(many...)},
		{Text: "album", Media: []platform.Media{photo, photo}, Buttons: buttons("x")},
	} {
		p.Key = 1
		if e := r.refused(p, platform.Refused, platform.ScopeContent); e.Field != "buttons" {
			t.Errorf("%s: %+v", p.Text, e)
		}
		if _, err := r.network.Check(p); platform.AsError(err).Field != "buttons" {
			t.Errorf("%s: Check: %v", p.Text, err)
		}
	}
	r.calls(sendID, 0)
	r.srv.Fail(sendID, 1, 400, "BUTTON_DATA_INVALID")
	if e := r.refused(platform.Post{Key: 1, Text: "as Telegram says", Buttons: buttons("x")}, platform.Refused, platform.ScopeContent); e.Field != "buttons" {
		t.Errorf("%+v", e)
	}
	r.mustPublish(platform.Post{Key: 2, Text: "a photo", Media: []platform.Media{photo}, Buttons: buttons("x")})
	if m := r.only(); len(m.Buttons) != 1 {
		t.Errorf("message %+v", m)
	}
}

// Whoever has the name of a deleted account next must not be taken for the person who has written to the bot.
func TestADeletedAccountLosesItsName(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	r.srv.Write(ann.ID, r.bot, "/start")
	r.hears("Ann Lee 1: /start")
	r.srv.Fail(sendID, 1, 400, "INPUT_USER_DEACTIVATED")
	r.refused(toAnn(ann, 1, "hello", nil), platform.Refused, platform.ScopeChat)
	err := r.db.View(func(tx *store.Tx) error {
		if p, err := tx.Peers.ByUsername(r.id, ann.Username); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the name is still that of %+v, %v", p, err)
		}
		p, err := tx.Peers.ByPeer(r.id, store.PeerUser, ann.ID)
		if !p.Wrote {
			t.Errorf("it is not known that the person has written: %+v", p)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestUserAccountShowsNoButtons(t *testing.T) {
	t.Parallel()
	r, _ := newLoggedIn(t)
	e := r.refused(platform.Post{Key: 1, Text: "x", Buttons: buttons("x")}, platform.Refused, platform.ScopeContent)
	if e.Field != "buttons" || !strings.Contains(e.Error(), "only bots") {
		t.Errorf("%+v", e)
	}
	r.mustPublish(platform.Post{Key: 1, Text: "x"})
}

func TestMessagesAreEdited(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	r.srv.Write(ann.ID, r.bot, "/start")
	r.hears("Ann Lee 1: /start")
	id := r.mustPublish(toAnn(ann, 1, "one", buttons("Yes"))).MessageIDs[0]
	edit := func(id int64, p platform.Post) *platform.Error {
		e, _ := errors.AsType[*platform.Error](r.network.Edit(r.ctx, r.id, id, p))
		return e
	}
	next := toAnn(ann, 0, "**two**", buttons("No"))
	next.Format = platform.Markdown
	for range 2 { // the second changes nothing
		if e := edit(id, next); e != nil {
			t.Fatal(e)
		}
	}
	m := r.srv.PrivateMessages(r.bot, ann.ID)[0]
	if m.Text != "two" || len(m.Entities) != 1 || m.Buttons[0][0].Text != "No" || m.Edited.IsZero() {
		t.Errorf("message %+v", m)
	}
	if e := edit(id, toAnn(ann, 0, "three", nil)); e != nil {
		t.Fatal(e)
	}
	if m := r.srv.PrivateMessages(r.bot, ann.ID)[0]; m.Text != "three" || m.Buttons != nil {
		t.Errorf("message %+v", m)
	}

	if e := edit(99, next); e == nil || e.Code != "MESSAGE_ID_INVALID" || e.Kind != platform.Refused || e.Scope != platform.ScopeContent {
		t.Errorf("no such message: %+v", e)
	}
	if e := edit(1, next); e == nil || e.Code != "MESSAGE_AUTHOR_REQUIRED" || e.Scope != platform.ScopeContent {
		t.Errorf("a message of somebody else: %+v", e)
	}
	r.srv.Fail("messages.editMessage", 1, 400, "MESSAGE_EDIT_TIME_EXPIRED")
	if e := edit(id, next); e == nil || e.Kind != platform.Refused || e.Scope != platform.ScopeContent || !strings.Contains(e.Error(), "too old") {
		t.Errorf("an old message: %+v", e)
	}
	media := next
	media.Media = []platform.Media{{Kind: platform.Photo, URL: "https://example.com/a.png"}}
	if e := edit(id, media); e == nil || e.Field != "media" {
		t.Errorf("with media: %+v", e)
	}
	if e := edit(id, platform.Post{Text: "x"}); e == nil || e.Scope != platform.ScopeChat {
		t.Errorf("without a chat: %+v", e)
	}
	r.srv.Drop("messages.editMessage", 1) // it is repeated by itself
	if e := edit(id, next); e != nil {
		t.Errorf("a connection that broke: %+v", e)
	}
	if m := r.srv.PrivateMessages(r.bot, ann.ID); len(m) != 1 || m[0].Text != "two" {
		t.Errorf("messages %+v", m)
	}
}
