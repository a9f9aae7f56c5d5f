package telegram_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/gotd/td/tg"

	"belfry/platform"
	"belfry/platform/telegram/telegramtest"
)

// What a user account reads of a channel, on a real server.
func TestAUserAccountReadsAChannel(t *testing.T) {
	r, _ := newLoggedIn(t)
	news := r.srv.AddChannel(telegramtest.Channel{Title: "News", Username: "daily_news"})
	old := time.Now().Add(-30 * 24 * time.Hour)
	r.srv.Post(news.ID, telegramtest.Post{Text: "old", At: old})
	first := r.srv.Post(news.ID, telegramtest.Post{
		Text: "Новости 😀 today", Entities: []tg.MessageEntityClass{&tg.MessageEntityBold{Offset: 11, Length: 5}, &tg.MessageEntityTextURL{Offset: 0, Length: 7, URL: "https://a.example"}},
		Views: 7, ReplyTo: 2, Forward: &tg.MessageFwdHeader{FromID: &tg.PeerChannel{ChannelID: 77}, ChannelPost: 5, Date: 1},
	})
	photo := bytes.Repeat([]byte("photo"), 200_000) // two parts
	pictured := r.srv.Post(news.ID, telegramtest.Post{Text: "album", Photo: photo, GroupedID: 9})
	r.srv.SkipIDs(news.ID, 4)
	strange := r.srv.Post(news.ID, telegramtest.Post{Strange: true})
	r.srv.Post(news.ID, telegramtest.Post{Pinned: true})

	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%v\n%s", err, r.log)
		}
	}
	chat, err := r.network.FindChannel(r.ctx, r.id, "https://t.me/daily_news/4")
	must(err)
	if chat.ID != news.ID || chat.Title != "News" {
		t.Fatalf("%+v", chat)
	}
	h, err := r.network.HistoryBefore(r.ctx, r.id, news.ID, time.Now().Add(-24*time.Hour))
	must(err)
	if len(h.Messages) != 1 || h.Messages[0].Text != "old" || h.Pts == 0 {
		t.Fatalf("%+v", h)
	}
	pts := h.Pts
	h, err = r.network.History(r.ctx, r.id, news.ID, h.Messages[0].ID, 100)
	must(err)
	if len(h.Messages) != 4 || h.Messages[0].ID != first || h.Chat.Username != "daily_news" {
		t.Fatalf("%+v", h)
	}
	m := h.Messages[0]
	entities := []platform.Entity{{Type: "text_link", Length: 7, URL: "https://a.example"}, {Type: "bold", Offset: 11, Length: 5}}
	if m.Text != "Новости 😀 today" || !slices.Equal(m.Entities, entities) || m.Views != 7 || m.ReplyTo != 2 || m.Forward == nil || m.Forward.ChannelID != 77 {
		t.Errorf("%+v", m)
	}
	if m := h.Messages[1]; m.GroupedID != 9 || m.Media == nil || m.Media.Kind != "photo" || m.Photo == nil {
		t.Errorf("%+v", m)
	}
	if m := h.Messages[2]; m.ID != strange || m.Media == nil || m.Media.Kind != "unknown" || m.Media.Class != "dice" {
		t.Errorf("%+v %+v", m, m.Media)
	}
	if m := h.Messages[3]; m.Service != "pinMessage" {
		t.Errorf("%+v", m)
	}
	if one, err := r.network.History(r.ctx, r.id, news.ID, first, 1); err != nil || len(one.Messages) != 1 || one.Messages[0].ID != pictured {
		t.Errorf("upward: %v, %+v", err, one)
	}

	r.srv.ExpireReferences() // the reference that was read is worth nothing
	data, err := r.network.Photo(r.ctx, r.id, news.ID, pictured, *h.Messages[1].Photo)
	if err != nil || !bytes.Equal(data, photo) {
		t.Errorf("photo: %v, %d bytes", err, len(data))
	}

	r.srv.EditPost(news.ID, first, "edited")
	r.srv.DeletePosts(news.ID, strange)
	r.srv.React(news.ID, first, 90, "🔥", 3)
	d, err := r.network.Difference(r.ctx, r.id, news.ID, pts)
	must(err)
	i := slices.IndexFunc(d.Messages, func(m platform.Message) bool { return m.ID == first })
	if i < 0 || d.Messages[i].Text != "edited" || d.Messages[i].EditedAt.IsZero() || !slices.Equal(d.Deleted, []int{strange}) || d.More || d.Pts != pts+2 {
		t.Errorf("%+v", d)
	}
	r.srv.Omit(news.ID, pictured)
	h, err = r.network.MessagesByID(r.ctx, r.id, news.ID, []int{first, pictured, strange})
	must(err)
	if len(h.Messages) != 2 || h.Messages[0].Views != 90 || len(h.Messages[0].Reactions) != 1 || !h.Messages[1].Deleted {
		t.Errorf("%+v", h)
	}
	if d, err := r.network.Difference(r.ctx, r.id, news.ID, 9999); err != nil || !d.TooLong {
		t.Errorf("a state that never was: %v, %+v", err, d)
	}
	r.srv.ForgetChannel(news.ID)
	if d, err := r.network.Difference(r.ctx, r.id, news.ID, pts); err != nil || !d.TooLong || d.Pts == 0 {
		t.Errorf("%v, %+v", err, d)
	}

	refused := func(err error, kind platform.Kind, scope platform.Scope, code string) {
		t.Helper()
		e, ok := errors.AsType[*platform.Error](err)
		if !ok || e.Kind != kind || e.Scope != scope || e.Code != code {
			t.Errorf("%+v, %v", e, err)
		}
	}
	read := func() error {
		_, err := r.network.History(r.ctx, r.id, news.ID, first, 100)
		return err
	}
	r.srv.Garble(news.ID, "messages.getHistory", 1)
	refused(read(), platform.Transient, platform.ScopeChat, platform.CodeMalformed)
	r.srv.Spoil(news.ID, pictured, true)
	refused(read(), platform.Transient, platform.ScopeChat, platform.CodeMalformed)
	r.srv.Spoil(news.ID, pictured, false)
	r.srv.Fail("messages.getHistory", 1, 420, "FLOOD_WAIT_30")
	refused(read(), platform.Wait, platform.ScopeIdentity, "FLOOD_WAIT")
	r.srv.Fail("messages.getHistory", 1, 420, "FLOOD_WAIT_-5")
	if e, ok := errors.AsType[*platform.Error](read()); !ok || e.Kind != platform.Wait || e.Wait != time.Second {
		t.Errorf("a negative wait: %+v", e)
	}
	r.srv.Shut(news.ID, true)
	refused(read(), platform.Refused, platform.ScopeChat, "CHANNEL_PRIVATE")
	r.srv.Shut(news.ID, false)
	must(read())

	began, last := time.Now(), 0
	var hidden []int
	for range 130 {
		last = r.srv.Post(news.ID, telegramtest.Post{Text: "x"})
		hidden = append(hidden, last)
	}
	r.srv.Vanish(news.ID, hidden[:len(hidden)-1]...)
	if h, err := r.network.History(r.ctx, r.id, news.ID, hidden[0]-1, 100); err != nil || len(h.Messages) != 1 || h.Messages[0].ID != last {
		t.Errorf("behind an empty page: %v, %+v", err, h)
	}
	if h, err := r.network.History(r.ctx, r.id, news.ID, last, 100); err != nil || len(h.Messages) != 0 || h.Pts == 0 {
		t.Errorf("at the end: %v, %+v", err, h)
	}
	r.srv.Pass("messages.getHistory", 1)
	release, calls := r.srv.Hold("messages.getHistory", 1), r.srv.Calls("messages.getHistory")
	written := make(chan int, 1)
	go func() { // between the page that has nothing yet and the latest message
		defer release()
		if err := r.srv.AwaitCalls(r.ctx, "messages.getHistory", calls+2); err != nil {
			t.Error(err)
		}
		written <- r.srv.Post(news.ID, telegramtest.Post{Text: "x"})
		for range 130 {
			r.srv.Post(news.ID, telegramtest.Post{Text: "x"})
		}
	}()
	if h, err := r.network.History(r.ctx, r.id, news.ID, last, 100); err != nil || len(h.Messages) != 100 || h.Messages[0].ID != <-written {
		t.Errorf("written meanwhile: %v, %d messages", err, len(h.Messages))
	}
	for range 2 {
		must(read())
	}
	if time.Since(began) < time.Second { // 4 + 2 + 3 + 2 reads
		t.Error("more than 5 reads in a second")
	}

	r.srv.Rename(news.ID, "other_name")
	thief := r.srv.AddChannel(telegramtest.Channel{Title: "Thief", Username: "daily_news"})
	must(read())
	if chat, err := r.network.FindChannel(r.ctx, r.id, "@daily_news"); err != nil || chat.ID != thief.ID {
		t.Errorf("%v, %+v", err, chat)
	}
}
