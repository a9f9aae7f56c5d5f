package web

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"belfry/store"
)

// everyPage are the pages of a newsroom that has everything.
var everyPage = []string{"/", "/posts", "/posts?status=failed", "/posts/1", "/posts/new", "/posts/1/change", "/posts/1/cancel", "/jobs", "/jobs/post_1", "/logins", "/logins/1/change",
	"/tasks", "/tasks/1", "/tasks/2?show=unreachable", "/tasks/new?from=3", "/tasks/1/cancel", "/chats", "/logins/4/login", "/logins/4/login?way=qr", "/logins/4/login?way=session",
	"/accounts", "/accounts/5", "/accounts/new", "/accounts/5/change", "/accounts/sites", "/alerts", "/media", "/media/1/delete", "/contents", "/contents/new", "/search", "/watches", "/tags", "/tags/new", "/pipeline", "/bookings", "/bookings/new", "/bookings/settings", "/calendar", "/jobs/new", "/jobs/why-not", "/audit", "/password", "/posts/999",
	"/settings", "/setup/application", "/setup/login", "/setup/channel", "/setup/post", "/setup/admin", "/setup/locale", "/setup/finished"}

// TestInABrowser visits the page with a real Chromium.
func TestInABrowser(t *testing.T) {
	browser := chromium(t)
	for name, visit := range map[string]func(*testing.T, context.Context){
		"a post is written followed and cancelled": aPostIsWrittenFollowedAndCancelled,
		"a post is written for two accounts":       aPostIsWrittenForTwoAccounts,
		"the AI writes and the page waits":         theAIWritesAndThePageWaits,
		"live updates disturb nobody":              liveUpdatesDisturbNobody,
		"the language is switched":                 theLanguageIsSwitched,
		"pages fit a small phone":                  pagesFitASmallPhone,
		"rows are told apart":                      rowsAreToldApart,
		"the keyboard is enough":                   theKeyboardIsEnough,
		"nothing in the page is run":               nothingInThePageIsRun,
		"axe finds nothing":                        axeFindsNothing,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			visit(t, browser)
		})
	}
}

// A whole visit: sign in, write a post while looking at its length and its preview, see it in the
// list, see the store change under one's eyes, cancel.
func aPostIsWrittenFollowedAndCancelled(t *testing.T, chromium context.Context) {
	h := start(t)
	b := browse(t, chromium, h)
	b.open("/posts/new")
	b.until(`location.pathname === "/sign-in"`)
	b.do(chromedp.SendKeys(chromedp.ID("password"), "wrong password\n"))
	b.until(`document.querySelector("[role=alert]")?.innerText.includes("Wrong password")`)
	b.do(chromedp.SendKeys(chromedp.ID("password"), testPassword+"\n"))
	b.until(`location.pathname === "/posts/new" && !!document.getElementById("text")`)

	b.do(chromedp.SetValue(chromedp.ID("format"), "html"), chromedp.SendKeys(chromedp.ID("text"), "<b>Rain</b> & wind"))
	b.until(`document.getElementById("counter").innerText === "11 of 4,096 characters"`)
	b.until(`document.querySelector("#preview .message-text b")?.innerText === "Rain"`)
	b.do(chromedp.SetValue(chromedp.ID("format"), "plain"), chromedp.Evaluate[chromedp.Void](`document.getElementById("format").dispatchEvent(new Event("change", {bubbles: true}))`))
	b.until(`document.querySelector("#preview .message-text")?.innerText === "<b>Rain</b> & wind"`)
	b.until(`document.getElementById("counter").innerText.startsWith("18 of")`)
	b.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("text").value = "x".repeat(4100); document.getElementById("text").dispatchEvent(new Event("input", {bubbles: true}))`))
	b.until(`document.getElementById("counter").innerText.includes("4 characters too many")`)
	b.do(chromedp.SetValue(chromedp.ID("text"), "Rain and wind"), chromedp.SetValue(chromedp.ID("time"), "2030-05-17T09:30"), chromedp.Click(chromedp.ID("save")))
	b.until(`location.pathname === "/posts/1" && document.body.innerText.includes("The post is scheduled.")`)

	b.do(chromedp.Evaluate[chromedp.Void](`document.querySelector('nav a[href="/posts"]').click()`))
	b.until(`document.querySelector("#list tbody")?.innerText.includes("Rain and wind")`)
	b.do(chromedp.Evaluate[chromedp.Void](`window.stayed = true`))
	h.update(func(tx *store.Tx) error {
		p, err := tx.Posts.Get(1)
		if err != nil {
			return err
		}
		p.Status, p.Reason = store.PostPublishing, store.Reason{Code: store.ReasonRetry, N: 1, Of: 3}
		return tx.Posts.Put(&p)
	})
	b.until(`document.querySelector("#list tbody").innerText.includes("attempt 1 of 3 failed") && window.stayed`)
	b.until(`document.querySelector("#tab-publishing .count").innerText === "1" && window.stayed`)

	b.do(chromedp.Click(chromedp.ID("post-1")))
	b.until(`!!document.getElementById("do-cancel")`)
	b.do(chromedp.Click(chromedp.ID("do-cancel")))
	b.until(`document.querySelector("h1")?.innerText === "Cancel this post?"`)
	b.do(chromedp.Click(chromedp.CSS("button.danger")))
	b.until(`document.querySelector("#facts .chip")?.innerText === "cancelled"`)
	b.quiet("401 (Unauthorized)") // the wrong password
}

// What somebody types stays while the store changes, and so does the focus on a part that changes.
func liveUpdatesDisturbNobody(t *testing.T, chromium context.Context) {
	h := start(t)
	b := browse(t, chromium, h)
	h.schedulePost("First", time.Hour)
	b.signIn()
	b.open("/logins")
	b.do(chromedp.SendKeys(chromedp.ID("target"), "@half_typ"))
	h.update(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(1)
		if err != nil {
			return err
		}
		i.State, i.Title = store.IdentityLogin, "Evening News"
		return tx.Identities.Put(&i)
	})
	b.until(`document.getElementById("logins").innerText.includes("logged out")`)
	if got := eval[string](b, `document.getElementById("target").value + " " + document.activeElement.id`); got != "@half_typ target" {
		t.Errorf("the field and the focus: %q", got)
	}
	b.open("/jobs")
	b.do(chromedp.Focus(chromedp.CSS(`[name=job][value=post_1]`)))
	h.schedulePost("Before", 90*time.Minute)
	b.until(`document.getElementById("jobs").innerText.includes("Before")`)
	if got := eval[string](b, `document.activeElement.value`); got != "post_1" {
		t.Errorf("the focus of a checkbox is on %q", got)
	}
	b.do(chromedp.Focus(chromedp.ID("pause-post_1")))
	h.schedulePost("Second", 2*time.Hour)
	b.until(`document.getElementById("jobs").innerText.includes("Second")`)
	if got := eval[string](b, `document.activeElement.id`); got != "pause-post_1" {
		t.Errorf("the focus is on %q", got)
	}
	// A page that nobody sees lets its stream go, and takes it up again.
	see := func(hidden bool) {
		b.do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`Object.defineProperty(document, "hidden", {value: %t, configurable: true}); document.dispatchEvent(new Event("visibilitychange"))`, hidden)))
	}
	see(true)
	for len(h.server.streams) > 0 {
		h.schedulePost("Unseen", 3*time.Hour) // a closed stream is noticed at the latest when something is sent
	}
	if got := eval[int](b, `htmx.createEventSource("/live/jobs").readyState`); got != 2 {
		t.Errorf("a page that is opened while nobody sees it holds a stream: %d", got)
	}
	h.schedulePost("While nobody looked", 90*time.Minute)
	see(false)
	b.until(`document.getElementById("jobs").innerText.includes("While nobody looked")`)
	// What it was shown and has gone meanwhile goes from it.
	h.signIn()
	b.open("/")
	h.submit("/everything", "do", "pause")
	b.until(`document.body.innerText.includes("Everything is paused")`)
	see(true)
	h.submit("/everything", "do", "resume")
	see(false)
	b.until(`!document.body.innerText.includes("Everything is paused")`)
	b.quiet()
}

func theLanguageIsSwitched(t *testing.T, chromium context.Context) {
	h := start(t)
	b := browse(t, chromium, h)
	b.signIn()
	b.open("/posts?status=failed")
	b.do(chromedp.Click(chromedp.CSS(`button[name="lang"]`)))
	b.until(`document.documentElement.lang === "ru" && document.body.innerText.includes("Неудавшихся постов нет") && location.search === "?status=failed"`)
	b.open("/")
	b.until(`document.body.innerText.includes("Ничего не запланировано")`)
	b.do(chromedp.Click(chromedp.CSS(`button[name="lang"]`)))
	b.until(`document.documentElement.lang === "en"`)
	b.quiet()
}

// No page scrolls sideways on a small phone, in either language, and each word of a long line wraps.
func pagesFitASmallPhone(t *testing.T, chromium context.Context) {
	if testing.Short() {
		t.Skip("what the browser shows, page by page")
	}
	h := start(t, func(c *Config) { c.Lang = "ru" })
	h.newsroom()
	h.broadcasts()
	h.watching()
	h.wrong()
	withMedia := h.uploads()
	h.schedulePost(strings.Repeat("нераздельно", 30), 20*time.Minute)
	b := browse(t, chromium, h)
	b.viewport(360, 740, "light")
	b.signIn()
	for _, path := range append([]string{withMedia}, everyPage...) {
		b.open(path)
		if eval[bool](b, `document.querySelector(".dock").scrollWidth > document.querySelector(".dock").clientWidth`) {
			t.Errorf("%s hides a part of the navigation", path)
		}
		if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > 360 {
			t.Errorf("%s is %d pixels wide", path, wide)
		}
		small := eval[string](b, `[...document.querySelectorAll("main button, main .button, main select, main input:not([type=hidden])")].filter(e => {
			const box = e.type === "checkbox" || e.type === "radio" ? e.parentElement.getBoundingClientRect() : e.getBoundingClientRect()
			return e.checkVisibility() && box.height < 24 }).map(e => e.outerHTML).join("\n")`)
		if small != "" {
			t.Errorf("%s has targets that are too small for a finger:\n%s", path, small)
		}
	}
}

// The buttons of each row say to a screen reader which row they are of, and lists fit the smallest phone and are printed whole.
func rowsAreToldApart(t *testing.T, chromium context.Context) {
	h := start(t, func(c *Config) { c.Lang = "ru" })
	h.broadcasts()
	h.watching()
	h.wrong()
	b := browse(t, chromium, h)
	b.viewport(320, 640, "light")
	b.signIn()
	for _, path := range []string{"/", "/jobs", "/logins", "/chats", "/tasks/1", "/watches", "/accounts/sites"} {
		b.open(path)
		if wide := eval[int](b, `document.documentElement.scrollWidth`); wide > 320 {
			t.Errorf("%s is %d pixels wide", path, wide)
		}
		if same := eval[string](b, `[...document.querySelectorAll("main :is(li, tr) :is(button, .button)")].map(e => e.textContent.trim()).filter((name, i, all) => all.indexOf(name) < i).join(", ")`); same != "" {
			t.Errorf("%s has buttons of one name: %s", path, same)
		}
	}
	b.do(func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
		return chromedp.Void{}, err
	})
	if eval[bool](b, `document.querySelector(".dock").checkVisibility() || document.querySelector(".rail").checkVisibility()`) {
		t.Error("the navigation is printed")
	}
}

// Everything can be reached and used with the keyboard, and what has the focus can be seen.
func theKeyboardIsEnough(t *testing.T, chromium context.Context) {
	h := start(t)
	b := browse(t, chromium, h)
	b.signIn()
	b.open("/")
	b.do(chromedp.KeyEvent(kb.Tab))
	if got := eval[string](b, `document.activeElement.className + " " + (document.activeElement.getBoundingClientRect().top >= 0)`); got != "skip true" {
		t.Errorf("the first stop is %q", got)
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`document.activeElement.id === "main"`)
	b.open("/posts/new")
	b.tabTo("text")
	b.do(chromedp.KeyEvent("Written without a mouse"))
	b.tabTo("time")
	if got := eval[string](b, `getComputedStyle(document.activeElement).outlineStyle`); got == "none" {
		t.Error("the focus cannot be seen")
	}
	b.tabTo("save")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`location.pathname === "/posts/1"`)
	b.tabTo("do-cancel")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`location.pathname === "/posts/1/cancel"`)
	for range 60 {
		if eval[bool](b, `document.activeElement.matches("button.danger")`) {
			break
		}
		b.do(chromedp.KeyEvent(kb.Tab))
	}
	b.do(chromedp.KeyEvent(kb.Enter))
	b.until(`document.querySelector("#facts .chip")?.innerText === "cancelled"`)
	b.quiet()
}

// tabTo presses Tab until the element has the focus.
func (b *browser) tabTo(id string) {
	b.t.Helper()
	for range 60 {
		if eval[bool](b, fmt.Sprintf("document.activeElement.id === %q", id)) {
			return
		}
		b.do(chromedp.KeyEvent(kb.Tab))
	}
	b.t.Fatalf("Tab does not lead to %s", id)
}

// The policy holds: what gets into a page all the same is not run, and says so.
func nothingInThePageIsRun(t *testing.T, chromium context.Context) {
	h := start(t)
	b := browse(t, chromium, h)
	b.signIn()
	b.do(chromedp.Evaluate[chromedp.Void](`document.body.insertAdjacentHTML("beforeend", '<img src="/none" onerror="window.ran = true"><a id="js" href="javascript:window.ran = true">x</a>'); document.getElementById("js").click(); void 0`))
	b.until(`document.images[document.images.length-1].complete`)
	if eval[bool](b, `window.ran === true`) {
		t.Error("a script in the page was run")
	}
}

// axeFindsNothing looks at every page as it is shown to people who cannot see it, or not well: axe-core, which
// testdata has, finds no violation of its rules, in the light on a phone and in the dark on a desktop.
func axeFindsNothing(t *testing.T, chromium context.Context) {
	if testing.Short() {
		t.Skip("what the browser shows, page by page")
	}
	h := start(t)
	h.broadcasts()
	h.watching()
	h.wrong()
	withMedia := h.uploads()
	b := browse(t, chromium, h)
	b.signIn()
	axe, err := os.ReadFile("testdata/axe-4.14.1.min.js")
	if err != nil {
		t.Fatal(err)
	}
	for _, window := range []struct {
		width, height int64
		scheme        string
	}{{390, 844, "light"}, {1280, 800, "dark"}} {
		b.viewport(window.width, window.height, window.scheme)
		for _, path := range append([]string{withMedia}, everyPage...) {
			b.open(path)
			b.do(chromedp.Evaluate[chromedp.Void](string(axe) + "; void 0"))
			found, err := chromedp.Run(b.ctx, chromedp.Evaluate[string](`axe.run({resultTypes: ["violations"]}).then(found =>
				found.violations.map(v => v.id + ": " + v.help + v.nodes.map(n => "\n    " + n.html).join("")).join("\n"))`, chromedp.EvalAwaitPromise))
			if err != nil {
				t.Fatal(err)
			}
			if found != "" {
				t.Errorf("%s, %d pixels wide, %s:\n%s", path, window.width, window.scheme, found)
			}
		}
	}
}
