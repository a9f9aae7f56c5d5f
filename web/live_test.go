package web

import (
	"bufio"
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"belfry/store"
)

// listen opens the stream of a page and returns its events, one text each. It ends with the test.
func (h *harness) listen(page string) <-chan string {
	match := regexp.MustCompile(`sse-connect="([^"]+)"`).FindStringSubmatch(h.get(page).body)
	if match == nil {
		h.fatal("the page is not live: ", page)
	}
	return h.listenAgain(match[1], "")
}

// listenAgain opens a stream whose address a page has named; last is the id of the last event that its browser has.
func (h *harness) listenAgain(address, last string) <-chan string {
	ctx, cancel := context.WithCancel(context.Background())
	h.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, "GET", h.base+strings.ReplaceAll(address, "&amp;", "&"), nil)
	if err != nil {
		h.fatal(err)
	}
	r.Header.Set("Last-Event-ID", last)
	client := &http.Client{Jar: h.client.Jar, Transport: h.client.Transport} // without a limit of time
	response, err := client.Do(r)
	if err != nil {
		h.fatal(err)
	}
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		h.fatal(response.StatusCode, kind)
	}
	events := make(chan string, 100)
	go func() {
		defer close(events)
		defer response.Body.Close()
		var event strings.Builder
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			if lines.Text() != "" {
				event.WriteString(lines.Text() + "\n")
				continue
			}
			if !strings.HasPrefix(event.String(), ":") {
				events <- event.String()
			}
			event.Reset()
		}
	}()
	return events
}

// next waits for an event that contains the words.
func next(t *testing.T, events <-chan string, words string) string {
	t.Helper()
	limit := time.After(time.Minute)
	for {
		select {
		case event, open := <-events:
			if !open {
				t.Fatalf("the stream ended before it said %q", words)
			}
			if strings.Contains(event, words) {
				return event
			}
		case <-limit:
			t.Fatalf("it never said %q", words)
		}
	}
}

func TestALivePageIsToldWhatChanged(t *testing.T) {
	h := start(t)
	h.signIn()
	h.schedulePost("First", time.Hour)
	posts, first := h.listen("/posts?status=scheduled"), h.listen("/")
	h.schedulePost("Second", 2*time.Hour)
	event := next(t, posts, "Second")
	if !strings.HasPrefix(event, "event: parts\n") || !strings.Contains(event, `<div id="list" hx-swap-oob="innerHTML">`) || !strings.Contains(event, "First") {
		t.Errorf("%s", event)
	}
	event = next(t, first, "Second")
	if strings.Contains(event, `id="happened"`) {
		t.Errorf("a part that did not change was sent: %s", event)
	}
	h.api("DELETE", "/scheduled-posts/1", "")
	if event := next(t, posts, `id="list"`); strings.Contains(event, "First") {
		t.Errorf("a cancelled post is among those scheduled: %s", event)
	}
}

func TestAStreamThatBeginsAgainSendsWhatCameAndWent(t *testing.T) {
	h := start(t)
	h.signIn()
	address := regexp.MustCompile(`sse-connect="([^"]+)"`).FindStringSubmatch(h.get("/posts?status=scheduled").body)[1]
	h.schedulePost("First", time.Hour)
	if event := next(t, h.listenAgain(address, ""), "First"); !strings.Contains(event, "\nid: 1\n") {
		t.Errorf("a browser that asks again does not say that it has more than the page: %s", event)
	}
	h.api("DELETE", "/scheduled-posts/1", "") // now the parts are those that the page came with
	for address, last := range map[string]string{address: "1", "/live/posts?status=scheduled": ""} {
		again := h.listenAgain(address, last)
		if event := next(t, again, `id="list"`); strings.Contains(event, "First") || !strings.Contains(event, `.badge"`) {
			t.Errorf("%s: %s", address, event)
		}
		h.schedulePost("Second", time.Hour)
		if event := next(t, again, "Second"); strings.Contains(event, `.badge"`) {
			t.Errorf("a part that did not change was sent: %s", event)
		}
	}
}

func TestAStreamEndsWithItsSignIn(t *testing.T) {
	h := start(t)
	h.signIn()
	events := h.listen("/posts")
	h.submit("/sign-out")
	h.schedulePost("Secret", time.Hour)
	for event := range events {
		if strings.Contains(event, "Secret") {
			t.Errorf("a browser that has signed out was told: %s", event)
		}
	}
}

func TestStreamsAreBoundedAndEndWithTheServer(t *testing.T) {
	h := start(t)
	h.signIn()
	var last <-chan string
	for range 32 {
		last = h.listen("/jobs")
	}
	a := h.get("/live/jobs")
	if a.status != http.StatusServiceUnavailable || a.header.Get("Retry-After") == "" {
		t.Errorf("one more: %d", a.status)
	}
	h.stop()
	for range last {
	}
}

func TestALivePageOutlivesTheStore(t *testing.T) {
	h := start(t)
	h.signIn()
	events := h.listen("/")
	h.update(func(tx *store.Tx) error { // many changes at once are one event, or a few
		for range 200 {
			if err := tx.Contents.Put(&store.Content{Text: "a", Format: "plain"}); err != nil {
				return err
			}
		}
		return nil
	})
	for range 50 {
		h.update(func(tx *store.Tx) error {
			return tx.Holds.Extend("telegram:main", tx.Now().Add(time.Hour), store.Reason{Code: store.ReasonFlood})
		})
	}
	h.schedulePost("Later", time.Hour)
	next(t, events, "Later")
	if n := len(events); n > 3 {
		t.Errorf("%d events for one change", n)
	}
}
