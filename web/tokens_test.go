package web

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"belfry/web/api"
)

func TestTokens(t *testing.T) {
	h := start(t)
	socket := h.socket()
	made := struct {
		ID    uint64
		Token string
	}{}
	socket("POST", "/tokens", `{"name":"curator"}`).decode(t, &made)
	asks := func(authorization string) answered {
		r := h.request("GET", "/api/v1/jobs", "")
		if authorization != "" {
			r.Header.Set("Authorization", authorization)
		}
		return h.do(r)
	}
	for _, authorization := range []string{"Bearer " + made.Token, "bearer " + made.Token, "Bearer " + testToken} {
		if a := asks(authorization); a.status != http.StatusOK {
			t.Errorf("%s: %d", authorization, a.status)
		}
	}
	if list := socket("GET", "/tokens", ""); strings.Contains(list.body, made.Token) || !strings.Contains(list.body, "curator") {
		t.Errorf("list: %s", list.body)
	}
	socket("DELETE", "/tokens/1", "")
	for _, authorization := range []string{"", "Bearer", "Bearer ", "Bearer wrong", "Basic " + testToken, testToken, "Bearer " + made.Token} {
		a := asks(authorization)
		p := a.problem(t)
		if a.status != http.StatusUnauthorized || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer") || p.Errors[0].Field != "Authorization" {
			t.Errorf("%q: %d %s", authorization, a.status, a.body)
		}
	}
	without := start(t, func(c *Config) { c.Token = "" })
	if a := without.api("GET", "/jobs", "", "Authorization", "Bearer "); a.status != http.StatusUnauthorized {
		t.Errorf("an empty token where none is set: %d", a.status)
	}
}

func TestTheSocketIsForItsOwner(t *testing.T) {
	h := start(t)
	socket := h.socket()
	copied := filepath.Join(t.TempDir(), "copy.db")
	if a := socket("POST", "/backup", `{"file":"`+copied+`"}`); a.status != http.StatusOK {
		t.Errorf("backup: %d %s", a.status, a.body)
	}
	gone, leave := context.WithCancel(t.Context()) // before the copy is there
	leave()
	left := copied + ".gone"
	r := httptest.NewRequestWithContext(gone, "POST", api.Base+"/backup", strings.NewReader(`{"file":"`+left+`"}`))
	r.Header.Set("Content-Type", "application/json")
	h.server.socketRoutes().ServeHTTP(httptest.NewRecorder(), r)
	if _, err := os.Stat(left); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a copy was left that nobody knows of: %v", err)
	}
	info, err := os.Stat(h.socketPath)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if a := socket("POST", "/backup", `{"file":"`+copied+`"}`); a.status != http.StatusUnprocessableEntity {
		t.Errorf("backup over a file: %d %s", a.status, a.body)
	}
	if a := socket("POST", "/backup", `{"file":"copy.db"}`); a.status != http.StatusUnprocessableEntity {
		t.Errorf("backup to a relative path: %d %s", a.status, a.body)
	}
	if a := socket("POST", "/check", ""); a.status != http.StatusOK || !strings.Contains(a.body, `"problems":[]`) {
		t.Errorf("check: %d %s", a.status, a.body)
	}
	var link api.Link
	socket("POST", "/sign-in-links", `{"base":"`+h.base+`"}`).decode(t, &link)
	if a := h.get(strings.TrimPrefix(link.URL, h.base)); a.status != http.StatusOK {
		t.Errorf("link: %d", a.status)
	}
	if a := socket("POST", "/tokens", `{"name":" "}`); a.status != http.StatusUnprocessableEntity {
		t.Errorf("token without a name: %d", a.status)
	}
	if a := h.api("POST", "/backup", `{"file":"/tmp/x"}`); a.status != http.StatusNotFound {
		t.Errorf("backup over TCP: %d", a.status)
	}
}

func (h *harness) socket() func(method, path, body string) answered {
	h.socketPath = filepath.Join(h.t.TempDir(), "belfry.sock")
	l, err := net.Listen("unix", h.socketPath)
	if err != nil {
		h.fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- h.server.ServeSocket(ctx, l) }()
	h.t.Cleanup(func() {
		cancel()
		if err := <-served; err != nil {
			h.t.Error(err)
		}
	})
	client := &http.Client{Transport: documented{h.t, &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", h.socketPath)
	}}}}
	return func(method, path, body string) answered {
		if !strings.HasPrefix(path, "/api/") {
			path = api.Base + path
		}
		r, err := http.NewRequest(method, "http://belfry"+path, strings.NewReader(body))
		if err != nil {
			h.fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		response, err := client.Do(r)
		if err != nil {
			h.fatal(err)
		}
		defer response.Body.Close()
		data, err := io.ReadAll(response.Body)
		if err != nil {
			h.fatal(err)
		}
		return answered{response.StatusCode, response.Header, string(data)}
	}
}
