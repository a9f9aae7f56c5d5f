//go:build pictures

package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"belfry/store"
)

// TestPictures takes pictures of all pages with the data of a small newsroom, for people to look at, and those
// of the README: page.png and broadcast.png. BELFRY_PICTURES_ONLY names some of the pages.
func TestPictures(t *testing.T) {
	dir := os.Getenv("BELFRY_PICTURES")
	if dir == "" {
		t.Fatal("set BELFRY_PICTURES to the folder that the pictures go to")
	}
	zone, err := time.LoadLocation("Europe/Moscow")
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, func(c *Config) { c.Timezone, c.Version = zone, "1.0.0" })
	h.newsroom()
	withMedia := h.uploads()
	b := browse(t, chromium(t), h)
	b.viewport(1280, 800, "light")
	b.open("/sign-in")
	b.shoot(filepath.Join(dir, "signin.png"))
	b.signIn()
	pages := map[string]string{
		"next": "/", "posts": "/posts", "failed": "/posts?status=failed", "post": "/posts/1", "published": "/posts/12", "compose": "/posts/new?from=3",
		"change": "/posts/2/change", "cancel": "/posts/1/cancel", "held": "/posts/14", "held-late": "/posts/15", "held-list": "/posts?status=held", "held-change": "/posts/14/change", "approve": "/posts/14/approve", "held-job": "/jobs/post_14", "jobs": "/jobs", "job": "/jobs/post_4", "logins": "/logins", "login": "/logins/1/change",
		"tasks": "/tasks", "task": "/tasks/1", "task-unreachable": "/tasks/2?show=unreachable", "task-done": "/tasks/3?show=failed", "send": "/tasks/new?from=3",
		"chats": "/chats", "login-phone": "/logins/4/login", "login-qr": "/logins/4/login?way=qr", "login-session": "/logins/4/login?way=session",
		"log-out": "/logins/3/log-out", "task-cancel": "/tasks/1/cancel",
		"accounts": "/accounts", "accounts-vanished": "/accounts?state=not_found", "accounts-add": "/accounts/new", "account": "/accounts/5", "account-change": "/accounts/5/change", "account-remove": "/accounts/5/remove", "sites": "/accounts/sites",
		"alerts": "/alerts", "media": "/media", "compose-media": withMedia,
		"password": "/password", "empty": "/posts?status=skipped", "missing": "/posts/999",
	}
	if only := os.Getenv("BELFRY_PICTURES_ONLY"); only != "" {
		for name := range pages {
			if !strings.Contains(" "+only+" ", " "+name+" ") {
				delete(pages, name)
			}
		}
	}
	weather := func(state store.IdentityState) {
		h.update(func(tx *store.Tx) error {
			i, err := tx.Identities.ByName("telegram", "weather")
			if err != nil {
				return err
			}
			i.State = state
			return tx.Identities.Put(&i)
		})
	}
	weather(store.IdentityReady) // one trouble is enough for the pictures of the README
	for name, size := range map[string][2]int64{"page.png": {1280, 800}, "page-phone.png": {390, 844}} {
		b.viewport(size[0], size[1], "light")
		b.open("/")
		b.shootWindow(filepath.Join(dir, name))
	}
	weather(store.IdentityLogin)
	h.approvals()
	h.broadcasts()
	b.viewport(1280, 800, "light")
	b.open("/tasks/1")
	b.shootWindow(filepath.Join(dir, "broadcast.png"))
	h.watching()
	b.open("/accounts")
	b.shoot(filepath.Join(dir, "accounts-waiting.png"))
	h.checking()
	b.open("/alerts")
	b.shoot(filepath.Join(dir, "alerts-none.png"))
	h.wrong()
	for _, lang := range []string{"en", "ru"} {
		b.viewport(1280, 800, "light")
		b.open("/password")
		if eval[string](b, "document.documentElement.lang") != lang {
			b.do(chromedp.Click(chromedp.CSS(`button[name="lang"]`)))
			b.until(fmt.Sprintf("document.documentElement.lang === %q", lang))
		}
		for _, width := range []int64{1280, 390} {
			b.viewport(width, 800, "light")
			b.open("/accounts/new")
			eval[bool](b, `document.getElementById("list").value = "anna_writes\nnot a name\n\"open", true`)
			b.do(chromedp.Click(chromedp.ID("add-accounts")))
			b.until(`!!document.querySelector(".report")`)
			b.shoot(filepath.Join(dir, fmt.Sprintf("accounts-report-%s-%d.png", lang, width)))
		}
		for name, path := range pages {
			for _, width := range []int64{1280, 390} {
				for _, scheme := range []string{"light", "dark"} {
					b.viewport(width, 800, scheme)
					b.open(path)
					if strings.Contains(path, "way=qr") {
						b.until(`!!document.querySelector("svg.qr")`)
					}
					b.shoot(filepath.Join(dir, fmt.Sprintf("%s-%s-%d-%s.png", name, lang, width, scheme)))
				}
			}
		}
	}
}

// shoot takes a picture of the whole page.
func (b *browser) shoot(file string) {
	b.t.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(file, picture, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// shootWindow takes a picture of what is in the window.
func (b *browser) shootWindow(file string) {
	b.t.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(file, picture, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// approvals adds what the newsroom's editor has still to read.
func (h *harness) approvals() {
	h.holdPost("Who sits on the new parks board, and what each of them wants to plant", 4*time.Hour, store.Lateness{})
	h.holdPost("Roadworks on the ring road: the detours for tonight", -35*time.Minute, store.Lateness{})
	h.holdPost("Traffic at six: where it is slow right now", -time.Hour, store.Lateness{Policy: store.LateSkip, Grace: 15 * time.Minute})
	h.holdPost("Letters of the week: dogs on trams, again", 30*time.Hour, store.Lateness{})
}

// checking puts the newsroom into the middle of a check.
func (h *harness) checking() {
	h.nextCheck(time.Hour)
	h.update(func(tx *store.Tx) error {
		return tx.AccountChecks.Begin(&store.AccountCheck{Status: store.AccountCheckRunning, Began: tx.Now().Add(-80 * time.Second), Total: 40, Checked: 17, Found: 5, NotFound: 11, Errors: 1, Sites: []string{"instagram"}, Last: 64})
	})
}
