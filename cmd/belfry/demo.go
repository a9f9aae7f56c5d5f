package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"belfry/platform/ai/aitest"
	"belfry/platform/profile/profiletest"
	"belfry/platform/telegram/telegramtest"
	"belfry/store"
	"belfry/worker/accounts"
	"belfry/worker/bookings"
	"belfry/worker/identities"
	"belfry/worker/posts"
	"belfry/worker/tasks"
)

// newDemo returns the command that shows everything against built-in fake networks.
func newDemo() *cobra.Command {
	var options struct {
		Listen   string `flag:"listen" default:"127.0.0.1:8080" help:"Address of the page. If it is taken, a free one is used."`
		Lang     string `flag:"lang" env:"BELFRY_LANG" default:"en" help:"Language of the page: en or ru."`
		Timezone string `flag:"timezone" env:"BELFRY_TIMEZONE" default:"UTC" help:"Time zone of the page, such as Europe/Moscow."`
	}
	c := newCommand("demo", "Try everything with built-in fake networks. Nothing to configure, nothing is kept.", func(c *cobra.Command, _ []string) error {
		s := defaultSettings()
		s.Listen, s.Lang, s.Timezone = free(options.Listen), options.Lang, options.Timezone
		return demo(c.Context(), s, c.OutOrStdout(), c.ErrOrStderr())
	})
	bind(c.Flags(), &options)
	return c
}

const (
	demoToken       = "424242424:demo-bot-of-this-machine-only"
	demoNotifyToken = "424242425:demo-bot-of-this-machine-only"
	demoChannel     = "belfry_demo"
	demoUser        = "belfry_demo_user"
	demoPhone       = "+79990000002" // of an account that is not connected
)

// demo serves with built-in fake networks and a file that is removed at the end.
func demo(ctx context.Context, s settings, out, log io.Writer) (err error) {
	dir, err := os.MkdirTemp("", "belfry-demo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tg := telegramtest.NewServer(telegramtest.Options{})
	defer tg.Close()
	tg.AddBot(demoToken, "belfry_demo_bot")
	channel := tg.AddChannel(telegramtest.Channel{Title: "Belfry demo", Username: demoChannel}, "belfry_demo_bot")
	account, groups := demoAccount(tg)
	news := demoChannels(tg)
	notify, owner := tg.AddBot(demoNotifyToken, "belfry_demo_notify_bot"), tg.AddUser(telegramtest.User{Username: "belfry_demo_owner", FirstName: "Owner"}).ID
	sites := profiletest.NewServer()
	defer sites.Close()
	sites.Set(profiletest.Exists, "evening.news")
	networks := newDemoNetworks()
	defer networks.close()
	writer := aitest.New()
	defer writer.Close()
	writer.Say("A text that the demo's AI has written, number")

	s.fileSetting = fileSetting{DB: filepath.Join(dir, "belfry.db"), KeyFile: filepath.Join(dir, "settings", keyName)}
	s.AdminPassword = rand.Text() // the link signs in
	s.APIToken = rand.Text()
	s.TelegramAPIID, s.TelegramAPIHash = telegramtest.AppID, telegramtest.AppHash
	s.TelegramDC, s.TelegramKey = tg.DC(), tg.PublicKeyPEM()
	s.TelegramBotToken, s.TelegramChat, s.AdminBotToken, s.Admins = demoToken, "@"+demoChannel, demoNotifyToken, people{owner}
	s.InstagramWeb, s.InstagramURL, s.XURL = sites.URL, networks.instagram.URL, networks.x.URL
	s.Rules.AIBase, s.Rules.AIKey = writer.Base(), aitest.Key
	s.Tasks.MinPause, s.Tasks.MaxPause = 3*time.Second, 8*time.Second
	s.Posts.Backoff, s.Posts.Deadline = 10*time.Second, 10*time.Second
	s.LogLevel = "warn"
	ready := func(svc *service) error {
		link, err := svc.web.SignInLink(svc.url)
		if err != nil {
			return err
		}
		if err := demoPosts(ctx, svc); err != nil {
			return fmt.Errorf("make the demo's posts: %w", err)
		}
		login, err := demoBroadcast(svc, tg.Session(account), groups)
		if err != nil {
			return fmt.Errorf("make the demo's broadcast: %w", err)
		}
		if err := demoReading(svc); err != nil {
			return fmt.Errorf("make the demo's tags: %w", err)
		}
		go readDemoChannels(ctx, svc, login, func() { tg.Post(news, telegramtest.Post{Text: demoFerryPost, At: time.Now()}) })
		if err := networks.connect(ctx, svc); err != nil {
			return fmt.Errorf("connect the demo's Instagram and X: %w", err)
		}
		if err := demoBookings(svc); err != nil {
			return fmt.Errorf("make the demo's bookings: %w", err)
		}
		if err := demoWatch(svc); err != nil {
			return fmt.Errorf("watch the demo's accounts: %w", err)
		}
		_, err = fmt.Fprintf(out, `Belfry demo: built-in fake networks, nothing leaves this machine, nothing is kept.

  page   %s
  open   %s
         (signed in already; the link works once)
  API    curl -H 'Authorization: Bearer %s' %s/api/v1/jobs

Posts are due within the next minute on a fake Telegram, Instagram and X. A user account sends a broadcast to some groups
and reads two channels, whose messages get tags; a watch looks for ferries. Some profiles are checked, and a bot notifies
the owner of the results. What arrives is printed here, also codes for connecting an account with the phone %s.
Ctrl-C ends the demo.

`, svc.url, link, s.APIToken, svc.url, demoPhone)
		return err
	}
	go showMessages(ctx, out, tg, "@"+demoChannel, channel.ID)
	for _, group := range groups {
		go showMessages(ctx, out, tg, group.Title, group.ID)
	}
	go networks.show(ctx, out)
	tg.AddUser(telegramtest.User{Phone: demoPhone, Username: "belfry_demo_second", FirstName: "Second", LastName: "Account"})
	go showCodes(ctx, out, tg)
	tg.Write(owner, notify, "/start") // a bot writes to nobody who has not written to it
	go demoOwner(ctx, out, tg, notify, owner)
	return s.serve(ctx, s.logger(log).With().Str("demo", "yes").Logger(), ready)
}

// free is addr if it can be listened at, and else a free port of the same host.
func free(addr string) string {
	l, err := net.Listen("tcp", addr)
	if err == nil {
		err = l.Close()
	}
	if err != nil {
		return "127.0.0.1:0"
	}
	return addr
}

// demoPosts schedules some posts that are due within a minute, and some later.
func demoPosts(ctx context.Context, svc *service) error {
	texts := []struct {
		in   time.Duration
		text string
	}{
		{5 * time.Second, "<b>Good morning!</b> This post was scheduled five seconds ahead."},
		{15 * time.Second, "A <i>second</i> post, with a <a href=\"https://core.telegram.org/mtproto\">link</a>."},
		{30 * time.Second, "Halfway through the minute. <tg-spoiler>Nobody had to press a button.</tg-spoiler>"},
		{55 * time.Second, "The last one of this minute. <code>belfry demo</code> goes on until you end it."},
		{3 * time.Hour, "The evening edition: three things worth reading."},
		{26 * time.Hour, "Tomorrow's reminder."},
	}
	for _, p := range texts {
		if err := demoPost(ctx, svc, posts.Request{Platform: "telegram", Text: p.text, Format: "html"}, p.in); err != nil {
			return err
		}
	}
	return nil
}

// demoPost schedules a post that is due after some time.
func demoPost(ctx context.Context, svc *service, r posts.Request, in time.Duration) error {
	r.ScheduledTime = svc.db.Now().Add(in).Format(time.RFC3339)
	draft, err := svc.workers.posts.Prepare(ctx, r)
	if err != nil {
		return err
	}
	return svc.db.Update(func(tx *store.Tx) error {
		_, err := svc.workers.posts.Schedule(tx, draft)
		return err
	})
}

// demoAccount adds a user account to the demo's Telegram, with groups that it is in. One of them takes
// nothing from it.
func demoAccount(tg *telegramtest.Server) (account int64, groups []telegramtest.Group) {
	const name = demoUser
	user := tg.AddUser(telegramtest.User{Phone: "+79990000001", Username: name, FirstName: "Demo", LastName: "Account"})
	for i, title := range []string{"Neighbours", "Book club", "Flea market", "Night runners", "Announcements only", "Allotment gardens", "Chess evenings"} {
		groups = append(groups, tg.AddGroup(telegramtest.Group{
			Title: title, Username: fmt.Sprint("demo_group_", i+1), Members: []string{name}, Forbidden: title == "Announcements only",
		}))
	}
	return user.ID, groups
}

// demoBroadcast adds the account, has it send a text to its groups, and returns its id.
func demoBroadcast(svc *service, session []byte, groups []telegramtest.Group) (uint64, error) {
	var account store.Identity
	err := svc.db.Update(func(tx *store.Tx) (err error) {
		account, err = identities.Add(tx, identities.Request{Platform: "telegram", Kind: string(store.IdentityUser), Session: session})
		return err
	})
	if err != nil {
		return 0, err
	}
	request := tasks.Request{IdentityID: account.ID, Format: "html",
		Text: "<b>Open evening</b> on Friday at seven. Everybody gets this once, one group after the other."}
	for _, group := range groups {
		request.Targets = append(request.Targets, "@"+group.Username)
	}
	draft, err := svc.workers.tasks.Prepare(request)
	if err != nil {
		return 0, err
	}
	return account.ID, svc.db.Update(func(tx *store.Tx) error {
		_, err := svc.workers.tasks.Create(tx, draft)
		return err
	})
}

// demoBookings makes some bookings, two of them at the same time.
func demoBookings(svc *service) error {
	return svc.db.Update(func(tx *store.Tx) error {
		for i, r := range []bookings.Request{{Client: "@belfry_demo_owner", Service: "Haircut"}, {Client: "@belfry_demo_user", Service: "Consultation"}, {Client: "@nina_demo", Service: "Massage", Duration: "90m"}} {
			r.Start = tx.Now().Add(time.Duration(3+i/2*21) * time.Hour).Truncate(time.Minute).Format(time.RFC3339)
			if _, err := svc.workers.bookings.Create(tx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

// demoWatch has some profiles looked for. Two of them exist.
func demoWatch(svc *service) error {
	return svc.db.Update(func(tx *store.Tx) error {
		_, err := svc.workers.accounts.AddList(tx, "natgeo\nevening.news\nmorning.news\nanna.writes\nold.town.cafe\n", accounts.Request{Tag: "demo"})
		return err
	})
}

// demoOwner asks the bot that tells the owner for its menu, and prints what it says.
func demoOwner(ctx context.Context, out io.Writer, tg *telegramtest.Server, bot, owner int64) {
	if tg.AwaitDone(ctx, "updates.getState", 2) != nil { // both bots listen
		return
	}
	tg.Write(owner, bot, "/status")
	for n := 1; tg.AwaitPrivate(ctx, bot, owner, n) == nil; n++ {
		m := tg.PrivateMessages(bot, owner)[n-1]
		fmt.Fprintf(out, "%s  the bot to the owner  %s\n", m.At.Local().Format(time.TimeOnly), strings.ReplaceAll(m.Text, "\n", "\n"+strings.Repeat(" ", 32)))
	}
}

// showCodes prints the codes with which accounts are logged in.
func showCodes(ctx context.Context, out io.Writer, tg *telegramtest.Server) {
	for shown := ""; wait(ctx, time.Second); {
		if code := tg.LoginCode(demoPhone); code != "" && code != shown {
			shown = code
			fmt.Fprintf(out, "%s  Telegram to %s  the login code is %s\n", time.Now().Format(time.TimeOnly), demoPhone, code)
		}
	}
}

// showMessages prints what arrives in a chat of the demo.
func showMessages(ctx context.Context, out io.Writer, tg *telegramtest.Server, name string, chat int64) {
	for n := 1; tg.Await(ctx, chat, n) == nil; n++ {
		m := tg.Messages(chat)[n-1]
		fmt.Fprintf(out, "%s  %s  %s\n", m.At.Local().Format(time.TimeOnly), name, m.Text)
	}
}
