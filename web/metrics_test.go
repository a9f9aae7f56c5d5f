package web

import (
	"io"
	"net/http"
	"testing"
)

func TestMetricsAreForThisMachineAndHoldersOfAToken(t *testing.T) {
	h := start(t, func(c *Config) {
		c.Hosts = []string{"belfry.example"}
		c.Metrics = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "measured") })
	})
	for name, c := range map[string]struct {
		host, forwarded, token string
		want                   int
	}{
		"on loopback":               {want: http.StatusOK},
		"as localhost":              {host: "localhost:8080", want: http.StatusOK},
		"by another name":           {host: "belfry.example", want: http.StatusUnauthorized},
		"by a name of another page": {host: "evil.example", want: http.StatusMisdirectedRequest},
		"through a proxy":           {forwarded: "198.51.100.1", want: http.StatusUnauthorized},
		"with a wrong token":        {forwarded: "198.51.100.1", token: "wrong", want: http.StatusUnauthorized},
		"with a token":              {host: "belfry.example", forwarded: "198.51.100.1", token: testToken, want: http.StatusOK},
	} {
		r := h.request("GET", "/metrics", "")
		if c.host != "" {
			r.Host = c.host
		}
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if c.token != "" {
			r.Header.Set("Authorization", "Bearer "+c.token)
		}
		if a := h.do(r); a.status != c.want || (a.status == http.StatusOK) != (a.body == "measured") {
			t.Errorf("%s: %d %s", name, a.status, a.body)
		}
	}
}

func TestTheHealthOfEachWorkerIsShown(t *testing.T) {
	h := start(t)
	h.look()
	var out struct {
		Posts   bool `json:"scheduled_posts_worker"`
		Workers []struct {
			Kind        string
			Running     bool
			LastSuccess string  `json:"last_success"`
			Lag         float64 `json:"lag_seconds"`
		}
	}
	h.get("/health/workers").decode(t, &out)
	seen := map[string]bool{}
	for _, w := range out.Workers {
		seen[w.Kind] = w.Running
	}
	if !out.Posts || !seen["post"] || !seen["notice"] {
		t.Errorf("workers: %+v", out)
	}
	r := h.request("GET", "/health/workers", "")
	r.Header.Set("X-Forwarded-For", "198.51.100.1")
	out.Workers = nil
	if h.do(r).decode(t, &out); len(out.Workers) != 0 {
		t.Errorf("strangers are told %+v", out.Workers)
	}
}
