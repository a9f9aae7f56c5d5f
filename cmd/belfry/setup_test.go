package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/rs/zerolog"

	"belfry/i18n"
	"belfry/platform/instagram/instagramtest"
	"belfry/platform/telegram/telegramtest"
	"belfry/store"
	"belfry/worker/jobs"
	"belfry/worker/setup"
)

// tab is a tab of a real Chromium.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string // of the page
}

// browse opens a tab. Without Chromium the test is skipped, or fails with BELFRY_NO_SKIP=1.
func browse(t *testing.T, url string) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("BELFRY_NO_SKIP") == "1" {
		t.Fatal("Chromium is not installed: apt-get install chromium")
	} else if err != nil {
		t.Skip("Chromium is not installed: apt-get install chromium")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx, chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.NoFirstRun, chromedp.NoDefaultBrowserCheck, chromedp.WindowSize(1280, 900), chromedp.Flag("disable-dev-shm-usage", true))
	t.Cleanup(cancelAllocator)
	ctx, cancelTab := chromedp.NewContext(ctx)
	t.Cleanup(cancelTab)
	return &tab{t, ctx, url}
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *tab) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.url + path))
}

// fill enters a text into a field in the place of what is there.
func (b *tab) fill(field, text string) {
	b.t.Helper()
	b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("document.getElementById(%q).value = ''; void 0", field)), chromedp.SendKeys(chromedp.ID(field), text))
}

func (b *tab) click(id string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.ID(id)))
}

// says waits until the page at a path says something.
func (b *tab) says(path, words string) {
	b.t.Helper()
	b.until(fmt.Sprintf("location.pathname === %q && document.readyState === 'complete' && document.querySelector('main').innerText.includes(%q)", path, words))
}

// until waits until a JavaScript expression is true, also across a change of the page.
func (b *tab) until(expression string) {
	b.t.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end) && b.ctx.Err() == nil; {
		if _, err = chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(10*time.Second))); err == nil {
			return
		}
	}
	body, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("location.pathname + ' ' + document.body.innerText"))
	b.t.Fatalf("never became true: %s: %v\non the page:\n%s", expression, err, body)
}

// An owner comes from an empty folder to a published post on the page alone, and from there to an album on Telegram and
// Instagram. No variable is set but where this test's networks are, and where the page listens and is reached.
func TestTheSetupLeadsFromAnEmptyFolderToAPublishedPost(t *testing.T) {
	m := newMachine(t)
	gram := instagramtest.NewServer(instagramtest.Options{})
	t.Cleanup(gram.Close)
	gram.AddAccount(instagramtest.Account{Username: "morning.gram", Token: instagramToken, Made: time.Now()})
	m.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + m.dir, "TMPDIR=" + m.dir, "BELFRY_LISTEN=127.0.0.1:0", "BELFRY_PUBLIC_URL=https://" + publicHost,
		"BELFRY_TELEGRAM_DC=" + m.tg.DC(), "BELFRY_TELEGRAM_KEY=" + m.tg.PublicKeyPEM(), "BELFRY_INSTAGRAM_URL=" + gram.URL,
	}
	token, _ := m.bot("morning_bot")
	bot := m.tg.AddBot(token, "morning_bot")
	channel := m.tg.AddChannel(telegramtest.Channel{Title: "Morning news", Username: "morning_news", Members: []string{"morning_bot"}})
	owner := m.tg.AddUser(telegramtest.User{Username: "the_owner", FirstName: "Olga"}).ID
	stranger := m.tg.AddUser(telegramtest.User{Username: "a_stranger", FirstName: "Stan"}).ID
	p, address := m.start()
	b := browse(t, address)

	_, link, _ := strings.Cut(p.log.String(), `"link":"`)
	link, _, _ = strings.Cut(link, `"`)
	b.do(chromedp.Navigate(link), chromedp.Click(chromedp.CSS("main button")))
	b.says("/password", "password")
	b.do(chromedp.SendKeys(chromedp.ID("password"), "a long password of mine\n"))
	b.says("/", "Set up Belfry")

	// A bot is refused before the application is known.
	b.open("/setup/login")
	b.fill("token", token)
	b.click("add-bot")
	b.says("/setup/bot", "API ID of the Telegram application is missing")

	b.open("/")
	b.click("setup-go")
	b.says("/setup/application", "my.telegram.org")
	b.fill("telegram_api_id", fmt.Sprint(telegramtest.AppID))
	b.fill("telegram_api_hash", strings.Repeat("f", 32))
	b.click("save-application")
	b.says("/settings/application", "does not accept")
	b.fill("telegram_api_hash", telegramtest.AppHash)
	b.click("save-application")
	b.says("/setup/login", "Telegram accepts the application")

	b.fill("token", "100011:no-bot-has-this-token-0123456789")
	b.click("add-bot")
	b.says("/setup/login", "the bot token is not valid")
	b.fill("token", token)
	b.click("add-bot")
	b.says("/setup/login", "connected")
	b.click("setup-on")

	b.says("/setup/channel", "Where should posts go?")
	b.fill("target", "@morning_news")
	b.click("save-channel")
	b.says("/setup/channel", "make it an administrator")
	m.tg.SetAdmins(channel.ID, "morning_bot")
	b.click("save-channel")
	b.says("/setup/post", "Belfry may post there")

	b.click("test-post")
	b.says("/setup/post", "published")
	if got := m.tg.Messages(channel.ID); len(got) != 1 || got[0].Text != "This is a test post from Belfry." {
		t.Errorf("the channel has %+v", got)
	}
	b.click("setup-on")

	b.says("/setup/locale", "Times on the page")
	b.fill("timezone", "Europe/Nowhere")
	b.click("save-locale")
	b.says("/settings/locale", "is not known")
	b.fill("timezone", "Europe/Moscow")
	b.click("save-locale")

	b.says("/setup/admin", "A bot tells you")
	b.click("choose-bot")
	b.until(`location.pathname === "/setup/admin" && !!document.getElementById("bot-link")`)
	href, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.getElementById("bot-link").href`))
	if err != nil {
		t.Fatal(err)
	}
	start, err := url.Parse(href)
	if err != nil || start.Path != "/morning_bot" {
		t.Fatalf("the link is %s: %v", href, err)
	}
	m.tg.Write(stranger, bot, "/start")
	m.tg.Write(stranger, bot, "/start "+strings.Repeat("A", 26))
	m.tg.Write(owner, bot, "/start "+start.Query().Get("start"))
	b.says("/setup/admin", "Olga")
	if err := m.tg.AwaitPrivate(b.ctx, bot, owner, 1); err != nil {
		t.Fatal(err)
	}
	m.tg.Write(stranger, bot, "/start "+start.Query().Get("start")) // it works once
	b.click("setup-on")
	b.says("/setup/finished", "Belfry is set up")
	b.open("/")
	b.until(`document.querySelector(".foot").innerText.includes("Europe/Moscow") && !document.getElementById("setup-go")`)
	b.open("/settings")
	b.says("/settings", "Olga")
	b.until(`!document.querySelector("main").innerText.includes("Stan") && !!document.getElementById("setup-again")`)
	if got := m.tg.PrivateMessages(bot, stranger); len(got) != 0 {
		t.Errorf("the stranger got %+v", got)
	}

	m.publishAlbum(b, gram, channel.ID)

	// All of it outlasts a restart, and the hash is not in the file in clear.
	p.stop()
	file, err := os.ReadFile(m.file())
	if err != nil || bytes.Contains(file, []byte(telegramtest.AppHash)) {
		t.Errorf("the file has the application's hash in clear, or cannot be read: %v", err)
	}
	m.mustCheck()
	p, b.url = m.start()
	m.tg.Write(owner, bot, "/status")
	if err := m.tg.AwaitPrivate(b.ctx, bot, owner, 2); err != nil {
		t.Errorf("the bot does not answer after a restart: %v", err)
	}
	p.stop()
}

func TestTheLanguageAndTheZoneOfThePageHoldAtOnce(t *testing.T) {
	s := defaultSettings()
	dir := t.TempDir()
	s.fileSetting = fileSetting{DB: filepath.Join(dir, "belfry.db"), KeyFile: filepath.Join(dir, "key", "belfry.key")}
	s.Media = filepath.Join(dir, "media")
	key, err := s.key(true)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := s.open(zerolog.Nop(), key)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.db.Close()
	if err := opened.workers.setup.SetLocale(setup.Locale{Timezone: "Europe/Moscow", Lang: "ru"}); err != nil {
		t.Fatal(err)
	}
	w := opened.workers
	for name, live := range map[string]interface{ Printer() i18n.Printer }{
		"rules": w.rules, "bookings": w.bookings, "jobs": w.jobs, "notices": w.notices, "search": w.search, "accounts": w.accounts, "alerts": w.alerts, "bot": w.adminBot,
	} {
		if say := live.Printer(); say.Lang != "ru" || say.Zone.String() != "Europe/Moscow" {
			t.Errorf("%s: %s, %v", name, say.Lang, say.Zone)
		}
	}
	if trigger, err := w.jobs.Trigger(jobs.Schedule{Times: []string{"09:00"}}); err != nil || trigger.Zone != "Europe/Moscow" {
		t.Errorf("a job at 09:00 runs at that time of %s, %v", trigger.Zone, err)
	}
	_ = opened.db.View(func(tx *store.Tx) error {
		if s, err := w.bookings.Settings(tx); s.Zone != "Europe/Moscow" || s.Lang != "ru" {
			t.Errorf("bookings are in %s, and clients are written to in %s: %v", s.Zone, s.Lang, err)
		}
		return nil
	})
}
