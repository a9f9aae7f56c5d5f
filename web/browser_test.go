package web

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// browser is a tab of a real Chromium that looks at a harness's page. It remembers what the page
// wrote to the console, where violations of the content policy are reported too.
type browser struct {
	t    *testing.T
	h    *harness
	ctx  context.Context
	mu   sync.Mutex
	said []string
}

// chromium starts a browser that ends with the test. Without Chromium the test is skipped, or fails
// with BELFRY_NO_SKIP=1.
func chromium(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("BELFRY_NO_SKIP") == "1" {
			t.Fatal("Chromium is not installed: apt-get install chromium")
		}
		t.Skip("Chromium is not installed: apt-get install chromium")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	t.Cleanup(cancel)
	options := []chromedp.ExecAllocatorOption{
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.NoDefaultBrowserCheck, chromedp.WindowSize(1280, 800),
	}
	for _, flag := range []string{
		"disable-dev-shm-usage", "disable-background-networking", "disable-component-update", "disable-sync", "disable-quic",
		"disable-extensions", "disable-default-apps",
	} {
		options = append(options, chromedp.Flag(flag, true))
	}
	ctx, cancelAllocator := chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancelAllocator)
	ctx, cancelTab := chromedp.NewContext(ctx)
	t.Cleanup(cancelTab)
	if err := chromedp.Do(ctx, chromedp.Navigate("about:blank")); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// browse opens a tab that shares nothing with the browser's other ones.
func browse(t *testing.T, chromium context.Context, h *harness) *browser {
	t.Helper()
	ctx, cancel := chromedp.NewContext(chromium, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	b := &browser{t: t, h: h, ctx: ctx}
	b.do(chromedp.Navigate("about:blank"))
	messages := chromedp.Console(ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return
			}
			b.mu.Lock()
			b.said = append(b.said, m.String())
			b.mu.Unlock()
		}
	}()
	return b
}

// do carries out steps in the tab.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns the value of a JavaScript expression.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return value
}

// until waits until a JavaScript expression is true, also across a change of the page.
func (b *browser) until(expression string) {
	b.t.Helper()
	end := time.Now().Add(time.Minute)
	var err error
	for time.Now().Before(end) {
		_, err = chromedp.Run(b.ctx, chromedp.Poll[bool](expression, chromedp.WithPollingTimeout(10*time.Second)))
		if err == nil {
			return
		}
		if b.ctx.Err() != nil {
			break
		}
	}
	body, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
	b.t.Fatalf("never became true: %s: %v\non the page:\n%s", expression, err, body)
}

// open goes to a page.
func (b *browser) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.h.base + path))
}

// viewport sets the size of the window, and dark or light.
func (b *browser) viewport(width, height int64, scheme string) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height), func(ctx context.Context, t *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return chromedp.Void{}, err
	})
}

// signIn signs in as a person does.
func (b *browser) signIn() {
	b.t.Helper()
	b.open("/sign-in")
	b.do(chromedp.SendKeys(chromedp.ID("password"), testPassword+"\n"))
	b.until(`location.pathname === "/" && document.readyState === "complete"`)
}

// quiet fails the test if the page wrote errors or warnings to the console, but for those that are
// meant.
func (b *browser) quiet(meant ...string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, message := range b.said {
		expected := slices.ContainsFunc(meant, func(words string) bool { return strings.Contains(message, words) })
		if !expected && !strings.HasPrefix(message, "log:") && !strings.HasPrefix(message, "debug:") {
			b.t.Errorf("the console says: %s", message)
		}
	}
}

func TestASecondClickSendsNothing(t *testing.T) {
	h := start(t)
	if a := h.api("POST", "/auto-posting/rules", `{"name":"Daily","schedule_type":"daily","schedule_config":{"times":["09:00"]},"content_config":{"source":"template","template":"Hello"},"platforms":["telegram"]}`); a.status != http.StatusCreated {
		t.Fatal(a.status, a.body)
	}
	b := browse(t, chromium(t), h)
	b.signIn()
	b.open("/rules/1")
	b.until(`document.readyState === "complete" && !!document.getElementById("do-run")`)
	got := eval[string](b, `(() => {
		const send = () => document.getElementById("do-run").form.dispatchEvent(new SubmitEvent("submit", {bubbles: true, cancelable: true}));
		const sent = [send(), send()];
		const form = document.getElementById("do-run").form;
		form.replaceWith(form.cloneNode(true));
		sent.push(send());
		window.dispatchEvent(new PageTransitionEvent("pageshow", {persisted: true}));
		sent.push(send());
		return sent.join(" ");
	})()`)
	if got != "true false false true" {
		t.Errorf("a click, a second one, one on the form that was shown anew, and one after going back: %s", got)
	}
}

// Coming back from X is a way from another site, on which browsers leave the cookie out.
func TestWhoComesBackFromXIsStillSignedIn(t *testing.T) {
	h := start(t)
	b := browse(t, chromium(t), h)
	b.signIn()
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/allow" {
			http.Redirect(w, r, h.base+"/logins/x?code=c&state=s", http.StatusFound)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, `<a id="allow" href="/allow">Allow</a>`)
	}))
	defer site.CloseClientConnections()
	b.do(chromedp.Navigate(strings.Replace(site.URL, "127.0.0.1", "localhost", 1)), chromedp.Click(chromedp.ID("allow")))
	b.until(`location.pathname === "/sign-in" || document.querySelector("#main [name=code]")?.value === "c"`)
	if got := eval[string](b, `location.pathname`); got != "/logins/x" {
		t.Errorf("sees %s", got)
	}
	if a := h.another().get("/logins/x?code=c&state=s&again=1"); a.status != http.StatusSeeOther {
		t.Errorf("who is not signed in: %d", a.status)
	}
}

func TestARefusedFormShowsWhatIsWrong(t *testing.T) {
	h := start(t)
	b := browse(t, chromium(t), h)
	b.viewport(390, 844, "light")
	b.signIn()
	b.open("/rules/new")
	b.do(chromedp.SendKeys(chromedp.ID("name"), "Daily"), chromedp.SetValue(chromedp.ID("times"), "09:00"), chromedp.SetValue(chromedp.ID("template"), "Hello"), chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("[name=account]").forEach(box => { box.checked = false })`), chromedp.Click(chromedp.ID("save")))
	b.until(`document.querySelector(".summary")?.innerText.includes("not saved") && document.readyState === "complete"`)
	if box := eval[string](b, `(() => { const at = document.querySelector("form p.wrong:not([role])").getBoundingClientRect(); return at.top >= 0 && at.bottom <= innerHeight ? "" : JSON.stringify(at) })()`); box != "" {
		t.Errorf("what is wrong is not shown: %s", box)
	}
}
