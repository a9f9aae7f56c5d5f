package web

import (
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"belfry/store"
)

func TestOnlyOwnNamesAreAnswered(t *testing.T) {
	h := start(t, func(c *Config) { c.Hosts = []string{"belfry.example"} })
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(h.base, "http://"))
	for host, want := range map[string]int{
		"127.0.0.1:" + port: 200, "localhost:" + port: 200, "LOCALHOST": 200, "[::1]:" + port: 200, "belfry.example": 200, "Belfry.Example:443": 200,
		"attacker.example": 421, "attacker.example:" + port: 421, "127.0.0.1.attacker.example": 421, "localhost.attacker.example": 421, "192.0.2.7": 421,
	} {
		for _, path := range []string{"/sign-in", "/health", "/api/openapi.json"} {
			r := h.request("GET", path, "")
			r.Host = host
			a := h.do(r)
			if a.status != want {
				t.Errorf("%s as %s: %d, want %d", path, host, a.status, want)
			}
			if want == 421 && a.problem(t).Errors[0].Field != "Host" {
				t.Errorf("%s", a.body)
			}
		}
	}
}

func TestAProxyMayKeepItsNameToItself(t *testing.T) {
	h := start(t, func(c *Config) { c.Hosts = []string{"belfry.example"} })
	for origin, want := range map[string]int{"https://belfry.example": http.StatusSeeOther, "https://attacker.example": http.StatusForbidden} {
		r := h.request("POST", "/sign-in", url.Values{"password": {testPassword}}.Encode())
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		if a := h.do(r); a.status != want || want == http.StatusForbidden && !strings.Contains(a.body, "BELFRY_HOSTS") {
			t.Errorf("%s: %d %s", origin, a.status, a.body)
		}
		r = h.request("POST", "/sign-in", url.Values{"password": {testPassword}}.Encode())
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", origin)
		r.Header.Set("Sec-Fetch-Site", "same-origin")
		if a := h.do(r); a.status != http.StatusSeeOther {
			t.Errorf("%s, of which the browser says that it is the page's own: %d", origin, a.status)
		}
	}
}

func TestOtherSitesCannotAct(t *testing.T) {
	h := start(t)
	h.signIn()
	form := url.Values{"csrf": {h.csrf()}, "do": {"pause"}, "back": {"/jobs"}}
	h.schedulePost("Hello", time.Hour)
	for name, c := range map[string]struct{ origin, site string }{
		"another site":           {"https://attacker.example", "cross-site"},
		"another port":           {"http://127.0.0.1:1", "same-site"},
		"a frame without origin": {"null", "cross-site"},
		"no word of the browser": {"", ""},
		"a lie in one of them":   {h.base, "cross-site"},
		"an origin alone":        {"https://attacker.example", ""},
	} {
		r := h.request("POST", "/jobs/post_1", form.Encode())
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if c.origin != "" {
			r.Header.Set("Origin", c.origin)
		}
		if c.site != "" {
			r.Header.Set("Sec-Fetch-Site", c.site)
		}
		if a := h.do(r); a.status != http.StatusForbidden {
			t.Errorf("%s: %d", name, a.status)
		}
	}
	if a := h.api("POST", "/content/create", `{"text":"a"}`, "Origin", "https://attacker.example"); a.status != http.StatusForbidden {
		t.Errorf("API from another site: %d", a.status)
	}
	h.view(func(tx *store.Tx) error {
		if j, err := tx.Jobs.ByName("post_1"); err != nil || j.State != store.JobWaiting {
			t.Errorf("the job was changed: %+v %v", j, err)
		}
		return nil
	})
}

func TestProgramsWithoutATokenAreAskedForOne(t *testing.T) {
	h := start(t)
	for _, method := range []string{"GET", "HEAD", "POST", "PATCH", "DELETE"} {
		a := h.do(h.request(method, "/api/v1/scheduled-posts/1", ""))
		if a.status != http.StatusUnauthorized || a.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: %d", method, a.status)
		}
	}
}

func TestHeadIsAnsweredAsGetWithoutABody(t *testing.T) {
	h := start(t)
	for _, path := range []string{"/health", "/health/workers", "/sign-in", "/api/openapi.json", "/", "/nothing", "/api/v1/jobs"} {
		get, head := h.do(h.request("GET", path, "")), h.do(h.request("HEAD", path, ""))
		if head.status != get.status || head.body != "" || head.header.Get("Content-Type") != get.header.Get("Content-Type") ||
			head.header.Get("Location") != get.header.Get("Location") {
			t.Errorf("%s: GET %d %v, HEAD %d %v %q", path, get.status, get.header, head.status, head.header, head.body)
		}
	}
}

func TestEachAnswerCarriesThePolicy(t *testing.T) {
	h := start(t)
	h.signIn()
	for _, path := range []string{"/", "/sign-in", "/posts/new", "/nothing", "/health", "/api/v1/jobs", "/api/openapi.json"} {
		header := h.get(path).header
		policy := header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'self'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} {
			if !strings.Contains(policy, part) {
				t.Errorf("%s: policy %q", path, policy)
			}
		}
		if strings.Contains(policy, "unsafe") || header.Get("X-Content-Type-Options") != "nosniff" || header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %v", path, header)
		}
	}
}

func TestALoginThatNobodyHasLoggedInYetIsNoFailure(t *testing.T) {
	h := start(t)
	h.update(func(tx *store.Tx) error {
		return tx.Identities.Put(&store.Identity{Platform: "telegram", Name: "me", Kind: store.IdentityUser, State: store.IdentityLogin})
	})
	if a := h.get("/health"); a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestHealthTellsStrangersLittle(t *testing.T) {
	h := start(t)
	h.update(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(1)
		if err != nil {
			return err
		}
		i.State, i.Reason = store.IdentityLogin, store.Reason{Code: store.ReasonLogin}
		return tx.Identities.Put(&i)
	})
	a := h.get("/health")
	var own health
	if err := json.Unmarshal([]byte(a.body), &own); err != nil || a.status != http.StatusServiceUnavailable || own.Status != "failing" ||
		len(own.Reasons) != 1 || own.Reasons[0].Code != "login" || !strings.Contains(own.Reasons[0].Text, "main") {
		t.Errorf("on loopback: %d %s", a.status, a.body)
	}
	r := h.request("GET", "/health", "")
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	if a := h.do(r); a.status != http.StatusServiceUnavailable || strings.Contains(a.body, "main") {
		t.Errorf("through a proxy: %d %s", a.status, a.body)
	}
	var workers map[string]any
	h.get("/health/workers").decode(t, &workers)
	if workers["scheduled_posts_worker"] != true || workers["auto_posting_worker"] != true {
		t.Errorf("workers: %v", workers)
	}
}
