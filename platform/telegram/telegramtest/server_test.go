package telegramtest_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	tdsession "github.com/gotd/td/session"
	"github.com/gotd/td/telegram"
	"github.com/gotd/td/telegram/dcs"
	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"

	"belfry/platform/telegram/telegramtest"
)

// client runs a plain gotd client and calls use with it.
func client(t *testing.T, srv *telegramtest.Server, appID int, stored []byte, use func(context.Context, *telegram.Client) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := try(ctx, srv, appID, stored, use); err != nil {
		t.Fatal(err)
	}
}

func try(ctx context.Context, srv *telegramtest.Server, appID int, stored []byte, use func(context.Context, *telegram.Client) error) error {
	return tryWith(ctx, srv, appID, stored, nil, use)
}

// tryWith is try for a client that also takes updates.
func tryWith(ctx context.Context, srv *telegramtest.Server, appID int, stored []byte, updates telegram.UpdateHandler, use func(context.Context, *telegram.Client) error) error {
	host, port, err := net.SplitHostPort(srv.Addr)
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	storage := &tdsession.StorageMemory{}
	if stored != nil {
		if err := storage.StoreSession(ctx, stored); err != nil {
			return err
		}
	}
	c := telegram.NewClient(appID, telegramtest.AppHash, telegram.Options{
		DCList:         dcs.List{Options: []tg.DCOption{{ID: 2, IPAddress: host, Port: number}}},
		PublicKeys:     []telegram.PublicKey{srv.PublicKey()},
		SessionStorage: storage,
		UpdateHandler:  updates,
		OnDead: func(err error) {
			if _, refused := tgerr.As(err); refused { // gotd would try for ever
				cancel(err)
			}
		},
	})
	if err := c.Run(ctx, func(ctx context.Context) error { return use(ctx, c) }); err != nil {
		return err
	}
	return context.Cause(ctx)
}

func wantError(t *testing.T, doing string, err error, typ string) {
	t.Helper()
	if !tgerr.Is(err, typ) {
		t.Errorf("%s: got %v, want %s", doing, err, typ)
	}
}

func TestServerIsAsStrictAsTelegram(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	bot := srv.AddBot("1:A", "one_bot")
	open := srv.AddChannel(telegramtest.Channel{Title: "Open", Username: "open_channel"}, "one_bot")
	member := srv.AddChannel(telegramtest.Channel{Title: "Member", Members: []string{"one_bot"}})
	others := srv.AddChannel(telegramtest.Channel{Title: "Others", Username: "others_channel"})

	client(t, srv, telegramtest.AppID, nil, func(ctx context.Context, c *telegram.Client) error {
		_, err := c.API().UpdatesGetState(ctx)
		wantError(t, "a call before the login", err, "AUTH_KEY_UNREGISTERED")
		_, err = c.Auth().Bot(ctx, "1:B")
		wantError(t, "an unknown token", err, "ACCESS_TOKEN_INVALID")
		_, err = c.Auth().Bot(ctx, "1:A")
		return err
	})
	err := try(t.Context(), srv, 1, srv.Session(bot), func(context.Context, *telegram.Client) error { return nil })
	wantError(t, "an unknown application", err, "API_ID_INVALID")

	client(t, srv, telegramtest.AppID, srv.Session(bot), func(ctx context.Context, c *telegram.Client) error {
		api := c.API()
		resolve := func(name string) (*tg.Channel, error) {
			r, err := api.ContactsResolveUsername(ctx, &tg.ContactsResolveUsernameRequest{Username: name})
			if err != nil {
				return nil, err
			}
			return r.Chats[0].(*tg.Channel), nil
		}
		_, err := resolve("no_such_name")
		wantError(t, "an unknown name", err, "USERNAME_NOT_OCCUPIED")
		known, err := resolve("Open_Channel")
		if err != nil {
			return err
		}
		foreign, err := resolve("others_channel")
		if err != nil {
			return err
		}
		to := known.AsInputPeer()
		send := func(peer tg.InputPeerClass, random int64, text string, entities ...tg.MessageEntityClass) error {
			_, err := api.MessagesSendMessage(ctx, &tg.MessagesSendMessageRequest{
				Peer: peer, RandomID: random, Message: text, Entities: entities})
			return err
		}
		wantError(t, "a wrong access hash", send(&tg.InputPeerChannel{ChannelID: open.ID, AccessHash: 1}, 1, "x"), "CHANNEL_INVALID")
		wantError(t, "an unknown channel", send(&tg.InputPeerChannel{ChannelID: 1}, 1, "x"), "CHANNEL_INVALID")
		wantError(t, "a channel of others without a hash", send(&tg.InputPeerChannel{ChannelID: others.ID}, 1, "x"), "CHANNEL_INVALID")
		wantError(t, "a channel of others", send(foreign.AsInputPeer(), 1, "x"), "CHAT_WRITE_FORBIDDEN")
		wantError(t, "a member that is no admin", send(&tg.InputPeerChannel{ChannelID: member.ID}, 1, "x"), "CHAT_ADMIN_REQUIRED")
		wantError(t, "no random id", send(to, 0, "x"), "RANDOM_ID_EMPTY")
		wantError(t, "no text", send(to, 1, " "), "MESSAGE_EMPTY")
		wantError(t, "a long text", send(to, 1, strings.Repeat("😀", 2049)), "MESSAGE_TOO_LONG")
		wantError(t, "an entity out of bounds", send(to, 1, "😀", &tg.MessageEntityBold{Offset: 1, Length: 2}), "ENTITY_BOUNDS_INVALID")
		if n := len(srv.Messages(open.ID)); n != 0 {
			t.Errorf("%d refused messages are in the channel", n)
		}
		if err := send(to, 1, "😀", &tg.MessageEntityBold{Offset: 0, Length: 2}); err != nil {
			return err
		}

		file := &tg.InputFile{ID: 5, Parts: 2, Name: "a.bin"}
		media := func(f tg.InputFileClass, caption string) error {
			_, err := api.MessagesSendMedia(ctx, &tg.MessagesSendMediaRequest{
				Peer: to, RandomID: 2, Message: caption, Media: &tg.InputMediaUploadedDocument{File: f, MimeType: "a/b"}})
			return err
		}
		wantError(t, "a file that was not uploaded", media(file, ""), "FILE_ID_INVALID")
		if _, err := api.UploadSaveFilePart(ctx, &tg.UploadSaveFilePartRequest{FileID: 5, Bytes: make([]byte, 1024)}); err != nil {
			return err
		}
		wantError(t, "a part that is missing", media(file, ""), "FILE_PART_MISSING")
		file.Parts = 1
		wantError(t, "a long caption", media(file, strings.Repeat("x", 1025)), "MEDIA_CAPTION_TOO_LONG")
		album := func(items ...tg.InputSingleMedia) error {
			_, err := api.MessagesSendMultiMedia(ctx, &tg.MessagesSendMultiMediaRequest{Peer: to, MultiMedia: items})
			return err
		}
		item := tg.InputSingleMedia{RandomID: 9, Media: &tg.InputMediaUploadedDocument{File: file, MimeType: "a/b"}}
		wantError(t, "an album of one", album(item), "MULTI_MEDIA_TOO_LONG")
		wantError(t, "an album of eleven", album(item, item, item, item, item, item, item, item, item, item, item), "MULTI_MEDIA_TOO_LONG")
		wantError(t, "an album of fresh uploads", album(item, item), "MEDIA_INVALID")
		return media(file, "fine")
	})
	if n := len(srv.Messages(open.ID)); n != 2 {
		t.Errorf("%d messages, want 2", n)
	}
}

func TestServerTakesLoad(t *testing.T) {
	const clients, each = 20, 100
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	var bots []string
	for i := range clients {
		bots = append(bots, fmt.Sprintf("bot_%d", i))
	}
	ch := srv.AddChannel(telegramtest.Channel{Title: "Busy"}, bots...)
	began := time.Now()
	var all sync.WaitGroup
	for i, name := range bots {
		bot := srv.AddBot(strconv.Itoa(i+1)+":x", name)
		all.Go(func() {
			err := try(t.Context(), srv, telegramtest.AppID, srv.Session(bot), func(ctx context.Context, c *telegram.Client) error {
				for k := range int64(each) {
					req := &tg.MessagesSendMessageRequest{Peer: &tg.InputPeerChannel{ChannelID: ch.ID},
						RandomID: bot*1000 + k, Message: "x"}
					for range 2 { // the second makes no message
						if _, err := c.API().MessagesSendMessage(ctx, req); err != nil {
							return err
						}
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	// Clients that come and say nothing, or nonsense, keep nobody out.
	for range 20 {
		c, err := net.Dial("tcp", srv.Addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		noise := make([]byte, 300)
		if _, err := rand.Read(noise); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(noise); err != nil {
			t.Fatal(err)
		}
	}
	all.Wait()
	seen := map[int64]bool{}
	for _, m := range srv.Messages(ch.ID) {
		seen[m.RandomID] = true
	}
	if n := len(srv.Messages(ch.ID)); n != clients*each || len(seen) != n {
		t.Errorf("%d messages with %d random ids, want %d", n, len(seen), clients*each)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestStateOutlivesARestart(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	bot := srv.AddBot("1:A", "one_bot")
	ch := srv.AddChannel(telegramtest.Channel{Title: "Open"}, "one_bot")
	stored := srv.Session(bot)
	send := func(ctx context.Context, c *telegram.Client) error {
		_, err := c.API().MessagesSendMessage(ctx, &tg.MessagesSendMessageRequest{
			Peer: &tg.InputPeerChannel{ChannelID: ch.ID}, RandomID: 7, Message: "once"})
		return err
	}
	client(t, srv, telegramtest.AppID, stored, send)
	srv.Restart()
	client(t, srv, telegramtest.AppID, stored, send)
	if m := srv.Messages(ch.ID); len(m) != 1 || m[0].RandomID != 7 || m[0].From != "one_bot" {
		t.Errorf("messages %+v", m)
	}
	if !bytes.Contains([]byte(srv.PublicKeyPEM()), []byte("RSA PUBLIC KEY")) {
		t.Error("the public key is not PKCS#1 PEM")
	}
}

func TestAnOutageRefusesClientsAndKeepsTheAddress(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	addr, err := net.ResolveTCPAddr("tcp", srv.Addr)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		srv.Stop()
		srv.Stop() // as often as one likes
		if c, err := net.Dial("tcp", srv.Addr); err == nil {
			c.Close()
			t.Error("a client was let in")
		}
		from := net.Dialer{LocalAddr: addr}
		if c, err := from.Dial("tcp", other.Addr().String()); err == nil {
			c.Close()
			t.Error("somebody was given the address")
		}
		srv.Start()
		c, err := net.Dial("tcp", srv.Addr)
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}
