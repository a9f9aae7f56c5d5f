package page

import (
	"context"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/i18n"
	"belfry/store"
	"belfry/web/session"
	"belfry/worker/search"
)

// streamed is the browser's end of a stream in virtual time: it notes when each event came.
type streamed struct {
	*httptest.ResponseRecorder
	mu    sync.Mutex
	parts []time.Time
}

func (s *streamed) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(string(data), "event: parts") {
		s.parts = append(s.parts, time.Now())
	}
	return len(data), nil
}

func (s *streamed) SetReadDeadline(time.Time) error  { return nil }
func (s *streamed) SetWriteDeadline(time.Time) error { return nil }

// A file that is written to every 50 ms for a minute must not keep what changed from the page, and must
// not have it looked up for each commit either.
func TestACommitAfterAnotherDoesNotPutOffALivePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		server := New(Config{
			DB: db, Locale: func() (string, *time.Location) { return "en", time.UTC }, Ending: make(chan struct{}), Streams: make(chan struct{}, 1),
		})
		signIn := store.SignIn{Hash: []byte("one"), CSRF: "two", CreatedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}
		if err := db.Update(func(tx *store.Tx) error { return tx.SignIns.Put(&signIn) }); err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		w := &streamed{ResponseRecorder: httptest.NewRecorder()}
		c := echo.New().NewContext(httptest.NewRequestWithContext(ctx, http.MethodGet, "/live/posts", nil), w)
		session.With(c, signIn)
		ended := make(chan error, 1)
		go func() { ended <- server.stream(c, postPages{Server: server}.posts) }()

		begin := time.Now()
		for i := 0; time.Since(begin) < time.Minute; i++ {
			err := db.Update(func(tx *store.Tx) error {
				return tx.Posts.Put(&store.Post{Platform: "telegram", Text: strings.Repeat("a", i+1), Format: "plain", Status: store.PostFailed,
					ScheduledTime: begin.Add(time.Duration(i) * time.Millisecond)})
			})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(50 * time.Millisecond)
		}
		leave()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		last := begin
		for _, at := range w.parts {
			if gap := at.Sub(last); gap > 2*livePause {
				t.Errorf("nothing came for %s", gap)
			}
			last = at
		}
		if most := int(time.Minute/livePause) + 2; len(w.parts) < most/2 || len(w.parts) > most {
			t.Errorf("%d events in a minute", len(w.parts))
		}
	})
}

// What a reader opens is no part that comes anew, in which it would close. Nothing at all is hidden by the style sheet.
func TestRelatedChannelsStayOpen(t *testing.T) {
	v := view{Printer: i18n.For("en", time.UTC)}
	for want, tags := range map[string][]search.Count{"": nil, "ferry": {{Tag: "ferry", Count: 2}}} {
		var out strings.Builder
		if err := v.channelRelated(1, nil, tags).Render(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if html := out.String(); strings.Contains(html, "<details") || !strings.Contains(html, want) || (html == "") != (want == "") {
			t.Errorf("%v: %q", tags, html)
		}
	}
}
