package web

import (
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

// freeTries is how many wrong passwords are answered at once.
const freeTries = 3

func TestGuessingBecomesSlow(t *testing.T) {
	h := start(t)
	guess := func(password string) answered { return h.post("/sign-in", url.Values{"password": {password}}) }
	for range freeTries {
		if a := guess("wrong"); a.status != http.StatusUnauthorized {
			t.Fatalf("a free try: %d", a.status)
		}
	}
	for wait := time.Second; wait <= 8*time.Second; wait *= 2 {
		for _, password := range []string{"wrong", testPassword} { // while it waits, not even the right one is looked at
			a := guess(password)
			if a.status != http.StatusTooManyRequests || a.header.Get("Retry-After") == "" {
				t.Fatalf("before %s: %d, Retry-After %q", wait, a.status, a.header.Get("Retry-After"))
			}
		}
		h.advance(wait)
		if a := guess("wrong"); a.status != http.StatusUnauthorized {
			t.Fatalf("after %s: %d", wait, a.status)
		}
	}
	h.advance(16 * time.Second)
	if a := guess(testPassword); a.status != http.StatusSeeOther {
		t.Errorf("the right one after the wait: %d", a.status)
	}
	if a := guess("wrong"); a.status != http.StatusUnauthorized {
		t.Errorf("the first wrong one after the right one: %d", a.status)
	}
}

// Behind a proxy all have one address, and whoever guesses has the owner's, too.
func TestABrowserThatHasSignedInBeforeIsNotShutOutByOthers(t *testing.T) {
	h := start(t)
	h.signIn()
	h.submit("/sign-out")
	guesser := h.another()
	guess := func(h *harness, password string) int {
		return h.post("/sign-in", url.Values{"password": {password}}).status
	}
	for range freeTries + 1 {
		guess(guesser, "wrong")
	}
	if status := guess(guesser, testPassword); status != http.StatusTooManyRequests {
		t.Fatalf("who guesses: %d", status)
	}
	if status := guess(h, testPassword); status != http.StatusSeeOther {
		t.Errorf("the owner's browser: %d", status)
	}
	if a := h.submit("/password", "old", testPassword, "password", "another password"); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.body)
	}
	h.submit("/sign-out")
	if status := guess(h, "another password"); status != http.StatusSeeOther {
		t.Errorf("after a change of the password: %d", status)
	}
	h.submit("/sign-out")
	for range freeTries {
		guess(h, "wrong")
	}
	if status := guess(h, "another password"); status != http.StatusTooManyRequests {
		t.Errorf("a known browser that guesses: %d", status)
	}
	for _, cookie := range h.client.Jar.Cookies(h.request("GET", "/sign-in", "").URL) {
		if strings.HasSuffix(cookie.Name, "-known") {
			cookie.Value = "x" + cookie.Value
			h.client.Jar.SetCookies(h.request("GET", "/", "").URL, []*http.Cookie{cookie})
		}
	}
	guess(guesser, "wrong") // the wait of before may have passed
	if status := guess(h, "another password"); status != http.StatusTooManyRequests {
		t.Errorf("a cookie that was made up: %d", status)
	}
}

func TestAForwardedAddressFoolsNobody(t *testing.T) {
	h := start(t)
	status := 0
	for i := range freeTries + 1 {
		r := h.request("POST", "/sign-in", "password=wrong")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		r.Header.Set("X-Forwarded-For", net.IPv4(198, 51, 100, byte(i)).String())
		status = h.do(r).status
	}
	if status != http.StatusTooManyRequests {
		t.Errorf("the last guess: %d", status)
	}
}
