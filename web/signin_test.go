package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"belfry/store"
	"belfry/web/session"
)

func TestFormsNeedTheTokenOfTheirSignIn(t *testing.T) {
	h := start(t)
	h.signIn()
	h.schedulePost("Hello", time.Hour)
	other := h.another()
	other.signIn()
	for name, csrf := range map[string]string{"none": "", "a wrong one": "wrong", "another sign-in's": other.csrf()} {
		for _, path := range []string{"/posts/1/cancel", "/posts/new", "/posts/1/change", "/jobs/post_1", "/logins", "/logins/1/remove", "/password", "/sign-out", "/posts/check"} {
			if a := h.post(path, url.Values{"csrf": {csrf}, "do": {"pause"}}); a.status != http.StatusForbidden {
				t.Errorf("%s with %s: %d", path, name, a.status)
			}
		}
	}
	if a := h.submit("/posts/1/cancel"); a.status != http.StatusSeeOther {
		t.Errorf("with the right one: %d %s", a.status, a.body)
	}
}

func TestPagesAreForSignedInBrowsersAlone(t *testing.T) {
	h := start(t)
	h.schedulePost("Hello", time.Hour)
	for _, path := range []string{"/", "/posts", "/posts/1", "/posts/new", "/jobs", "/jobs/post_1", "/logins", "/password", "/posts/1/cancel"} {
		a := h.get(path)
		if a.status != http.StatusSeeOther || !strings.HasPrefix(a.header.Get("Location"), "/sign-in") || strings.Contains(a.body, "Hello") {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	for _, path := range []string{"/live/", "/live/posts"} {
		if a := h.get(path); a.status != http.StatusNoContent {
			t.Errorf("%s: %d", path, a.status)
		}
	}
	if a := h.post("/posts/new", url.Values{"text": {"a"}}); a.status != http.StatusSeeOther {
		t.Errorf("a form: %d", a.status)
	}
}

func TestASignInIsNewHardAndEnds(t *testing.T) {
	h := start(t)
	base, err := url.Parse(h.base)
	if err != nil {
		t.Fatal(err)
	}
	name := "belfry-" + base.Port()
	h.client.Jar.SetCookies(base, []*http.Cookie{{Name: name, Value: "put-there-by-somebody-else", Path: "/"}})
	a := h.post("/sign-in", url.Values{"password": {testPassword}, "back": {"/posts?status=failed"}})
	if a.header.Get("Location") != "/posts?status=failed" {
		t.Errorf("goes to %s", a.header.Get("Location"))
	}
	cookie, err := http.ParseSetCookie(a.header.Values("Set-Cookie")[1]) // after the one by which the browser is known later
	if err != nil {
		t.Fatal(err)
	}
	if cookie.Name != name || len(cookie.Value) < 40 || !cookie.HttpOnly || cookie.SameSite != http.SameSiteStrictMode || cookie.MaxAge != 30*24*3600 {
		t.Errorf("cookie: %+v", cookie)
	}
	h.view(func(tx *store.Tx) error {
		for s := range tx.SignIns.All() {
			if strings.Contains(string(s.Hash), cookie.Value) || s.CSRF == "" {
				t.Errorf("kept: %+v", s)
			}
		}
		return nil
	})
	if a := h.get("/"); a.status != http.StatusOK {
		t.Fatalf("signed in: %d", a.status)
	}
	for range 2 {
		h.advance(29 * 24 * time.Hour)
		if a := h.get("/"); a.status != http.StatusOK || !strings.Contains(a.header.Get("Set-Cookie"), cookie.Value) {
			t.Errorf("used after 29 days: %d %v", a.status, a.header)
		}
		if a := h.get("/"); a.status != http.StatusOK || a.header.Get("Set-Cookie") != "" {
			t.Errorf("used again: %d %v", a.status, a.header)
		}
	}
	h.advance(31 * 24 * time.Hour)
	if a := h.get("/"); a.status != http.StatusSeeOther {
		t.Errorf("unused for 31 days: %d", a.status)
	}
	h.signIn()
	if a := h.submit("/sign-out"); a.status != http.StatusSeeOther {
		t.Errorf("sign out: %d", a.status)
	}
	h.client.Jar.SetCookies(base, []*http.Cookie{cookie})
	if a := h.get("/"); a.status != http.StatusSeeOther {
		t.Errorf("after signing out: %d", a.status)
	}
}

func TestAPageThatIsOpenIsSentAfterSigningInAgain(t *testing.T) {
	h := start(t)
	h.signIn()
	open := h.csrf()
	h.schedulePost("Hello", 32*24*time.Hour)
	h.advance(31 * 24 * time.Hour)
	if a := h.post("/media/file", url.Values{"csrf": {open}}); a.status != http.StatusUnauthorized || !strings.Contains(a.body, "You are signed out") {
		t.Errorf("a file of a browser that is signed out: %d %s", a.status, a.body)
	}
	h.signIn()
	if a := h.post("/posts/1/cancel", url.Values{"csrf": {open}}); a.status != http.StatusSeeOther {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestTheCookieIsSecureBehindHTTPS(t *testing.T) {
	h := start(t)
	r := h.request("POST", "/sign-in", url.Values{"password": {testPassword}}.Encode())
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	r.Header.Set("X-Forwarded-Proto", "https")
	if a := h.do(r); !strings.Contains(a.header.Get("Set-Cookie"), "; Secure") {
		t.Errorf("%d %v", a.status, a.header)
	}
}

func TestALinkSignsInOnceAndChoosesThePassword(t *testing.T) {
	h := start(t, func(c *Config) { c.Password = "" })
	if a := h.post("/sign-in", url.Values{"password": {""}}); a.status != http.StatusUnauthorized {
		t.Errorf("an empty password where none was chosen: %d", a.status)
	}
	link, err := h.server.SignInLink(h.base + "/")
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(link, h.base)
	key := strings.TrimPrefix(path, "/sign-in/link?key=")
	for range 2 { // a program that looks at links first does not use it up
		if a := h.get(path); a.status != http.StatusOK || !strings.Contains(a.body, key) {
			t.Fatalf("%d %s", a.status, a.body)
		}
	}
	if a := h.post("/sign-in/link", url.Values{"key": {key}}); a.status != http.StatusSeeOther || a.header.Get("Location") != "/password" {
		t.Fatalf("%d %v", a.status, a.header)
	}
	if a := h.post("/sign-in/link", url.Values{"key": {key}}); a.status != http.StatusGone {
		t.Errorf("a second time: %d", a.status)
	}
	if a := h.submit("/password", "password", "short"); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.body, "shorter than 8") {
		t.Errorf("short password: %d %s", a.status, a.body)
	}
	if a := h.submit("/password", "password", "пароль из слов"); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.body)
	}
	h.submit("/sign-out")
	if a := h.post("/sign-in", url.Values{"password": {"пароль из слов"}}); a.status != http.StatusSeeOther {
		t.Errorf("with the new password: %d", a.status)
	}
	if a := h.submit("/password", "old", "wrong", "password", "another password"); a.status != http.StatusUnprocessableEntity {
		t.Errorf("changed without the old one: %d", a.status)
	}
}

func TestALinkEnds(t *testing.T) {
	h := start(t)
	link, err := h.server.SignInLink(h.base)
	if err != nil {
		t.Fatal(err)
	}
	h.advance(session.LinkAge)
	a := h.get(strings.TrimPrefix(link, h.base))
	if a.status != http.StatusGone {
		t.Errorf("%d", a.status)
	}
	a.has(t, "belfry page") // a restart logs a link only while there is no password
	for range 100 {
		if _, err = h.server.SignInLink(h.base); err != nil {
			break
		}
	}
	if err == nil {
		t.Error("any number of links can be had")
	}
}

func TestAChangedPasswordEndsOtherSignIns(t *testing.T) {
	h := start(t)
	h.signIn()
	other := h.another()
	other.signIn()
	if a := h.submit("/password", "old", testPassword, "password", "another password"); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if a := h.get("/"); a.status != http.StatusOK {
		t.Errorf("the one that changed it: %d", a.status)
	}
	if a := other.get("/"); a.status != http.StatusSeeOther {
		t.Errorf("another one: %d", a.status)
	}
}

func TestWithoutAPasswordItListensOnLoopbackAlone(t *testing.T) {
	h := start(t, func(c *Config) { c.Password = "" })
	for addr, allowed := range map[string]bool{
		"127.0.0.1:8080": true, "localhost:8080": true, "[::1]:8080": true, "127.9.9.9:1": true,
		":8080": false, "0.0.0.0:8080": false, "[::]:8080": false, "192.0.2.1:80": false, "belfry.example:80": false, "nothing": false,
	} {
		err := h.server.MayListen(addr)
		if field, ok := errors.AsType[*store.FieldError](err); (err == nil) != allowed || (!allowed && (!ok || field.Field != "listen")) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	h.update(func(tx *store.Tx) error { return tx.Settings.Set("page.password", "chosen") })
	if err := h.server.MayListen("0.0.0.0:8080"); err != nil {
		t.Errorf("with a password: %v", err)
	}
}

// socket serves the API on a unix socket and returns a way to ask it.
