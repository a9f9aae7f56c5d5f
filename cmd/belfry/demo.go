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

	"belfry/platform/profile/profiletest"
	"belfry/platform/telegram/telegramtest"
	"belfry/store"
	"belfry/worker/accounts"
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
	notify, owner := tg.AddBot(demoNotifyToken, "belfry_demo_notify_bot"), tg.AddUser(telegramtest.User{Username: "belfry_demo_owner", FirstName: "Owner"}).ID
	sites := profiletest.NewServer()
	defer sites.Close()
	sites.Set(profiletest.Exists, "evening.news")
	networks := newDemoNetworks()
	defer networks.close()

	s.fileSetting = fileSetting{DB: filepath.Join(dir, "belfry.db"), KeyFile: filepath.Join(dir, "settings", keyName)}
	s.AdminPassword = rand.Text() // the link signs in
	s.TelegramAPIID, s.TelegramAPIHash = telegramtest.AppID, telegramtest.AppHash
	s.TelegramDC, s.TelegramKey = tg.DC(), tg.PublicKeyPEM()
	s.TelegramBotToken, s.TelegramChat, s.AdminBotToken, s.Admins = demoToken, "@"+demoChannel, demoNotifyToken, people{owner}
	s.InstagramWeb, s.InstagramURL, s.XURL = sites.URL, networks.instagram.URL, networks.x.URL
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
		if err := demoBroadcast(svc, tg.Session(account), groups); err != nil {
			return fmt.Errorf("make the demo's broadcast: %w", err)
		}
		if err := networks.connect(ctx, svc); err != nil {
			return fmt.Errorf("connect the demo's Instagram and X: %w", err)
		}
		if err := demoWatch(svc); err != nil {
			return fmt.Errorf("watch the demo's accounts: %w", err)
		}
		_, err = fmt.Fprintf(out, `Belfry demo: built-in fake networks, nothing leaves this machine, nothing is kept.

  page   %s
  open   %s
         (signed in already; the link works once)

Posts are due within the next minute, also on an Instagram and an X of its own, a user account sends a broadcast to some groups, and some profiles
of that Instagram are looked for. A bot tells the owner what was found. What arrives is printed
here. Ctrl-C ends the demo.

`, svc.url, link)
		return err
	}
	go showMessages(ctx, out, tg, "@"+demoChannel, channel.ID)
	for _, group := range groups {
		go showMessages(ctx, out, tg, group.Title, group.ID)
	}
	go networks.show(ctx, out)
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
		draft, err := svc.workers.posts.Prepare(ctx, posts.Request{
			Platform: "telegram", Text: p.text, Format: "html",
			ScheduledTime: svc.db.Now().Add(p.in).Format(time.RFC3339),
		})
		if err != nil {
			return err
		}
		err = svc.db.Update(func(tx *store.Tx) error {
			_, err := svc.workers.posts.Schedule(tx, draft)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// demoAccount adds a user account to the demo's Telegram, with groups that it is in. One of them takes
// nothing from it.
func demoAccount(tg *telegramtest.Server) (account int64, groups []telegramtest.Group) {
	const name = "belfry_demo_user"
	user := tg.AddUser(telegramtest.User{Phone: "+79990000001", Username: name, FirstName: "Demo", LastName: "Account"})
	for i, title := range []string{"Neighbours", "Book club", "Flea market", "Night runners", "Announcements only", "Allotment gardens", "Chess evenings"} {
		groups = append(groups, tg.AddGroup(telegramtest.Group{
			Title: title, Username: fmt.Sprint("demo_group_", i+1), Members: []string{name}, Forbidden: title == "Announcements only",
		}))
	}
	return user.ID, groups
}

// demoBroadcast adds the account and has it send a text to its groups.
func demoBroadcast(svc *service, session []byte, groups []telegramtest.Group) error {
	var account store.Identity
	err := svc.db.Update(func(tx *store.Tx) (err error) {
		account, err = identities.Add(tx, identities.Request{Platform: "telegram", Kind: string(store.IdentityUser), Session: session})
		return err
	})
	if err != nil {
		return err
	}
	request := tasks.Request{IdentityID: account.ID, Format: "html",
		Text: "<b>Open evening</b> on Friday at seven. Everybody gets this once, one group after the other."}
	for _, group := range groups {
		request.Targets = append(request.Targets, "@"+group.Username)
	}
	draft, err := svc.workers.tasks.Prepare(request)
	if err != nil {
		return err
	}
	return svc.db.Update(func(tx *store.Tx) error {
		_, err := svc.workers.tasks.Create(tx, draft)
		return err
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
	if tg.AwaitDone(ctx, "updates.getState", 1) != nil {
		return
	}
	tg.Write(owner, bot, "/status")
	for n := 1; tg.AwaitPrivate(ctx, bot, owner, n) == nil; n++ {
		m := tg.PrivateMessages(bot, owner)[n-1]
		fmt.Fprintf(out, "%s  the bot to the owner  %s\n", m.At.Local().Format(time.TimeOnly), strings.ReplaceAll(m.Text, "\n", "\n"+strings.Repeat(" ", 32)))
	}
}

// showMessages prints what arrives in a chat of the demo.
func showMessages(ctx context.Context, out io.Writer, tg *telegramtest.Server, name string, chat int64) {
	for n := 1; tg.Await(ctx, chat, n) == nil; n++ {
		m := tg.Messages(chat)[n-1]
		fmt.Fprintf(out, "%s  %s  %s\n", m.At.Local().Format(time.TimeOnly), name, m.Text)
	}
}
