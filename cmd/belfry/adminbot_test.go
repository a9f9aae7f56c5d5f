package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/platform/profile/profiletest"
	"belfry/platform/telegram/telegramtest"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/accounts"
	"belfry/worker/adminbot"
	"belfry/worker/alerts"
	"belfry/worker/notices"
	"belfry/worker/posts"
	"belfry/worker/tasks"
)

// chat is an admin's chat with the bot.
type chat struct {
	*machine
	ctx        context.Context
	admin, bot int64
}

// newChat makes an admin and the bot that obeys them.
func newChat(t *testing.T, m *machine, env ...string) *chat {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	c := &chat{machine: m, ctx: ctx}
	c.admin = m.tg.AddUser(telegramtest.User{Phone: "+79990004455", Username: "the_admin", FirstName: "Admin"}).ID
	token, _ := m.bot("notify_bot")
	c.bot = m.tg.AddBot(token, "notify_bot")
	m.env = append(m.env, "ADMIN_NOTIFY_BOT_TOKEN="+token, fmt.Sprint("ADMIN_ID=", c.admin))
	m.env = append(m.env, env...)
	return c
}

func (c *chat) messages() []telegramtest.Message { return c.tg.PrivateMessages(c.bot, c.admin) }

// greet waits until the bot listens: what is written from then on is heard. Then it writes to it.
func (c *chat) greet() {
	c.t.Helper()
	bots := strings.Count(strings.Join(c.env, " "), "BOT_TOKEN=") // each of them listens
	if err := c.tg.AwaitDone(c.ctx, "updates.getState", bots); err != nil {
		c.t.Fatalf("the bot does not listen: %v", err)
	}
	c.tg.Write(c.admin, c.bot, "/menu")
	if err := c.tg.AwaitPrivate(c.ctx, c.bot, c.admin, 1); err != nil {
		c.t.Fatalf("the bot does not answer: %v", err)
	}
}

// until waits until a message says something, and returns it.
func (c *chat) until(what string) telegramtest.Message {
	c.t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		all := c.messages()
		for _, m := range slices.Backward(all) {
			if strings.Contains(m.Text, what) {
				return m
			}
		}
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			c.t.Fatalf("the bot does not say %q, but %+v", what, all)
		}
	}
}

// press presses a button under a message and waits until the bot has answered and a message says what
// is expected.
func (c *chat) press(m telegramtest.Message, button, expected string) telegramtest.Message {
	c.t.Helper()
	query, err := c.tg.Press(c.admin, c.bot, m.ID, button)
	if err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.tg.AwaitAnswer(c.ctx, query); err != nil {
		c.t.Fatalf("%q is not answered: %v", button, err)
	}
	return c.until(expected)
}

// obeys waits for two checks that begin after a moment, and fails the test if they are not an interval
// apart.
func (c *chat) obeys(url string, after time.Time, interval time.Duration) {
	c.t.Helper()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		var checks struct{ Items []struct{ Started time.Time } } // the latest first
		if err := callAPI(c.ctx, "GET", url+"/api/v1/autocheck/checks", nil, &checks); err != nil {
			c.t.Fatal(err)
		}
		if len(checks.Items) > 1 && checks.Items[1].Started.After(after) {
			if apart := checks.Items[0].Started.Sub(checks.Items[1].Started); apart.Round(time.Minute) != interval {
				c.t.Errorf("two checks are %v apart", apart)
			}
			return
		}
		select {
		case <-tick.C:
		case <-c.ctx.Done():
			c.t.Fatal("there are no checks")
		}
	}
}

func TestTheAdminBotAnswersWhileEverythingIsPaused(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	c := newChat(t, m)
	p, _ := m.start()
	c.greet()
	if _, err := m.output("jobs", "pause", "--all"); err != nil {
		t.Fatal(err)
	}
	m.tg.Write(c.admin, c.bot, "/status")
	c.until("Belfry, ")
	p.stop()
}

func TestAlertsAreNoPartOfAPause(t *testing.T) {
	t.Parallel()
	evenPaused := worker.Join((&posts.Worker{}).Module(), (&tasks.Worker{}).Module(), (&accounts.Worker{}).Module(), (&notices.Worker{}).Module(),
		(&alerts.Worker{}).Module(), (&adminbot.Bot{}).Module()).EvenPaused
	for lane, want := range map[string]bool{
		adminbot.BackupKind: true, store.Notice{Chat: "1"}.Lane(): true,
		store.Notice{Chat: "1", First: true}.Lane(): true, store.Notice{Chat: "1", File: "a.db"}.Lane(): true,
		store.Notice{Chat: store.WebhookChat}.Lane(): true,
		accounts.Kind: false, store.Identity{Platform: "telegram", Name: "notices"}.Lane(): false,
	} {
		if evenPaused(lane) != want {
			t.Errorf("the lane %s goes on while everything is paused: %v", lane, !want)
		}
	}
}

func TestTheOwnerSteersFromTelegram(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	sites := profiletest.NewServer()
	t.Cleanup(sites.Close)
	c := newChat(t, m, "BELFRY_LANG=ru", "BELFRY_INSTAGRAM_WEB_URL="+sites.URL, "BELFRY_CHECK_MIN_PAUSE=20ms", "BELFRY_CHECK_MAX_PAUSE=40ms",
		"BELFRY_BACKUP_PASSPHRASE=correct horse battery")
	p, url := m.start()
	m.waitForLogin(url)
	c.greet()
	if commands := m.tg.Commands(c.bot, ""); len(commands) < 6 {
		t.Errorf("Telegram lists the commands %+v", commands)
	}

	// Names are added by sending them, and checked at once.
	m.tg.Write(c.admin, c.bot, "/check")
	check := c.until("Аккаунтов пока нет")
	c.press(check, "➕ Добавить", "Пришлите имена")
	m.tg.Write(c.admin, c.bot, "@first_name\nsecond_name")
	c.until("Добавлено: 2")
	c.until("Автопроверка завершена")

	// The interval is changed by buttons and holds from this moment.
	m.tg.Write(c.admin, c.bot, "/check")
	check = c.until("Раз в 5 минут")
	choice := c.press(check, "⏱ Интервал", "Сколько минут между проверками?")
	c.press(choice, "1 мин", "Теперь раз в минуту")
	pressed := time.Now()
	var status struct {
		Interval string    `json:"interval"`
		Next     time.Time `json:"next_check"`
	}
	if err := callAPI(c.ctx, "GET", url+"/api/v1/autocheck", nil, &status); err != nil {
		t.Fatal(err)
	}
	if status.Interval != "1m0s" || status.Next.After(pressed.Add(time.Minute+time.Second)) {
		t.Errorf("autocheck is %+v after the press at %v", status, pressed)
	}

	// A text that is written while the program is dead is answered when it is back, and once.
	p.kill()
	before := len(c.messages())
	m.tg.Write(c.admin, c.bot, "/posts")
	stranger := m.tg.AddUser(telegramtest.User{Phone: "+79990006666", Username: "eve", FirstName: "Eve"})
	m.tg.Write(stranger.ID, c.bot, "/backup")
	p, url = m.start()
	c.until("Сегодня постов нет")
	m.tg.Write(c.admin, c.bot, "/status")
	c.until("Боту писали чужие: 1")
	if n := len(m.tg.PrivateMessages(c.bot, stranger.ID)); n != 0 {
		t.Errorf("a stranger got %d answers", n)
	}
	answers := 0
	for _, message := range c.messages()[before:] {
		if strings.Contains(message.Text, "Сегодня постов нет") {
			answers++
		}
	}
	if answers != 1 {
		t.Errorf("the text was answered %d times", answers)
	}

	// The next runs obey the interval. (They take minutes: the long form alone.)
	if *long {
		c.obeys(url, pressed, time.Minute)
	}

	// The backup that is sent is the file.
	m.tg.Write(c.admin, c.bot, "/backup")
	c.press(c.until("зашифрованную паролем"), "💾 Отправить", "Делаю копию")
	sent := c.until("Копия от")
	if sent.Media == nil || !strings.HasSuffix(sent.Media.Name, ".db.age") {
		t.Fatalf("the backup came as %+v", sent.Media)
	}
	p.stop()
	m.mustCheck()
	sealed, restored := filepath.Join(m.dir, "sent.age"), filepath.Join(m.dir, "restored", "belfry.db")
	if err := os.WriteFile(sealed, m.tg.File(*sent.Media), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := m.output("restore", sealed, "--db", restored); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := m.output("accounts", "--db", restored); err != nil || !strings.Contains(out, "second_name") {
		t.Errorf("the restored file has %q, %v", out, err)
	}
	if strings.Contains(p.log.String(), "correct horse") {
		t.Error("the passphrase is in the log")
	}
}

func TestWhatGoesWrongIsToldInTelegramAndToTheWebhook(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	hooked, beats := make(chan string, 100), make(chan struct{}, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/beat" {
			beats <- struct{}{}
			return
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		hooked <- string(body)
	}))
	t.Cleanup(hook.Close)
	token, news := m.bot("post_bot", "some_news")
	c := newChat(t, m, "TELEGRAM_BOT_TOKEN="+token, "BELFRY_ALERT_WEBHOOK="+hook.URL+"/told", "BELFRY_HEARTBEAT_URL="+hook.URL+"/beat")
	p, url := m.start()
	m.waitForLogin(url)
	c.greet()
	<-beats
	m.tg.FailIn(news[0].ID, "messages.sendMessage", -1, 403, "CHAT_WRITE_FORBIDDEN")
	var post struct{ ID uint64 }
	err := callAPI(c.ctx, "POST", url+"/api/v1/scheduled-posts", map[string]any{"platform": "telegram", "text": "Hello", "target": "@some_news",
		"scheduled_time": time.Now().Add(time.Second).Format(time.RFC3339Nano)}, &post)
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for status := ""; status != "failed"; <-tick.C {
		var post struct{ Status string }
		if err := callAPI(c.ctx, "GET", url+"/api/v1/scheduled-posts/1", nil, &post); err != nil {
			t.Fatal(err)
		}
		status = post.Status
	}
	told := c.until("Post 1 to @some_news was not published")
	if body := <-hooked; !strings.Contains(body, `"about":"post_1"`) || !strings.Contains(body, "make it an administrator") {
		t.Errorf("the webhook was told %s", body)
	}
	if out, err := m.output("alerts"); err != nil || !strings.Contains(out, "open") || !strings.Contains(out, "Post 1 to @some_news was not published") {
		t.Errorf("belfry alerts: %q, %v", out, err)
	}
	c.press(told, "Acknowledge", "Acknowledged by Admin")
	if out, err := m.output("alerts", "ack", "--all"); err != nil || out != "0 acknowledged\n" {
		t.Errorf("belfry alerts ack: %q, %v", out, err)
	}
	if out, err := m.output("alerts", "ack", "99"); err == nil {
		t.Errorf("an alert that is not there was acknowledged: %q", out)
	}
	m.tg.ClearFaults()
	m.tg.Write(c.admin, c.bot, "/posts")
	list := c.until("Today: 1")
	view := c.press(list, list.Buttons[0][0].Text, "make it an administrator")
	ask := c.press(view, "🔁 Publish again", "Publish this post again?")
	c.press(ask, "🔁 Publish again", "It is being published")
	if err := m.tg.Await(c.ctx, news[0].ID, 1); err != nil {
		t.Error(err)
	}
	p.stop()
	m.mustCheck()
	m.inStore(func(tx *store.Tx) error {
		page, err := tx.Alerts.ByState(store.AlertOver, store.Query{})
		if len(page.Items) != 1 || page.Items[0].AcknowledgedBy != "Admin" {
			t.Errorf("alerts %+v", page.Items)
		}
		return err
	})
}

// What people write is answered once each, however often the program is killed: between the push and
// the commit, between the commit and the answer, or in the middle of a call.
func TestEachTextIsAnsweredOnceAcrossKills(t *testing.T) {
	t.Parallel()
	kills := 4
	if *long {
		kills = 30
	}
	m := newMachine(t)
	c := newChat(t, m)
	p, url := m.start()
	m.waitForLogin(url)
	c.greet()
	greetings := len(c.messages())
	random := rand.New(rand.NewPCG(1, 2))
	written := 0
	for range kills {
		for range 1 + random.IntN(4) {
			m.tg.Write(c.admin, c.bot, "/posts")
			written++
		}
		if random.IntN(3) == 0 { // somewhere on the way
			<-time.After(time.Duration(random.IntN(400)) * time.Millisecond)
		} else if err := m.tg.AwaitPrivate(c.ctx, c.bot, c.admin, len(c.messages())+1); err != nil {
			t.Fatal(err)
		}
		p.kill()
		p = m.launch()
	}
	m.tg.Write(c.admin, c.bot, "/posts")
	written++
	if err := m.tg.AwaitPrivate(c.ctx, c.bot, c.admin, greetings+written); err != nil {
		t.Fatalf("%d of %d texts are answered: %v\n%s", len(c.messages())-greetings, written, err, p.log)
	}
	m.tg.Write(c.admin, c.bot, "/alerts")
	c.until("No open alerts") // whatever was to come has come
	select {
	case <-p.url:
	case err := <-p.done:
		t.Fatalf("the service ended: %v\n%s", err, p.log)
	}
	p.stop()
	m.mustCheck()
	answers := 0
	for _, message := range c.messages() {
		if strings.Contains(message.Text, "No posts today") {
			answers++
		}
	}
	if answers != written {
		t.Errorf("%d answers to %d texts", answers, written)
	}
	t.Logf("%d kills, %d texts, each answered once", kills, written)
}
