package web

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/web/api"
)

// Every route is asked by 16 clients at once: those that anybody may ask, many times over, and each GET
// with a token and a sign-in. What handlers share without a guard ends the program here, or is found by
// -race.
func TestRoutesBearManyClientsAtOnce(t *testing.T) {
	const clients, rounds = 16, 10
	h := start(t)
	h.client.Transport.(documented).next.(*http.Transport).MaxIdleConnsPerHost = clients
	h.account("anna")
	h.signIn()
	h.schedulePost("Hello", time.Hour)
	h.makeTask("Hello", `["@evening_news"]`, `,"paused":true`)
	for _, route := range h.server.routes(nil).Routes() {
		path := strings.NewReplacer("/jobs/:id", "/jobs/post_1", ":id", "1", ":name", "belfry.css").Replace(route.Path)
		open := strings.HasPrefix(path, "/sign-in") || strings.HasPrefix(path, "/health") || strings.HasPrefix(path, "/static") ||
			path == "/language" || path == "/api/openapi.json"
		if route.Method != http.MethodGet && (route.Method != http.MethodPost || !open) {
			continue
		}
		times := 1
		if open {
			times = rounds
		}
		var group sync.WaitGroup
		for range clients {
			group.Go(func() {
				for range times {
					h.glance(t, route.Method, path)
				}
			})
		}
		group.Wait()
	}
}

// glance asks a route and reads the beginning of its answer: a live page never ends.
func (h *harness) glance(t *testing.T, method, path string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r := h.request(method, path, "password=wrong&key=wrong&lang=en").WithContext(ctx)
	r.Header.Set("Content-Type", echo.MIMEApplicationForm)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if strings.HasPrefix(path, api.Base) {
		r.Header.Set("Authorization", "Bearer "+testToken)
	}
	response, err := h.client.Do(r)
	if err != nil {
		t.Errorf("%s %s: %v", method, path, err)
		return
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusInternalServerError {
		t.Errorf("%s %s: %d", method, path, response.StatusCode)
	}
	_, _ = response.Body.Read(make([]byte, 512))
}
