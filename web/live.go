package web

import (
	"bytes"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/web/session"
)

const (
	// livePause is the shortest time between two looks at the store for one live page.
	livePause = 400 * time.Millisecond
	// liveTick is how often a live page is looked at without a change, for the words that tell how
	// long something takes. What it sends keeps the connection open.
	liveTick = 20 * time.Second
	// liveWrite is how long a browser may take to accept what is sent.
	liveWrite = 10 * time.Second
)

// liveView is a page with parts that change while somebody looks at it. A part is a template and
// the id of the element that holds it.
type liveView struct {
	name  string // of the page's template
	parts []string
	load  func(*Server, reader) (page, error)
}

func liveViews() []liveView {
	return []liveView{
		{"next", []string{"hero", "attention", "coming", "happened"}, (*Server).loadNext},
		{"accounts", []string{"now", "chart", "tabs", "list"}, (*Server).loadAccounts},
		{"account", []string{"facts", "history"}, (*Server).loadAccount},
		{"alerts", []string{"open", "seen", "past"}, (*Server).loadAlerts},
		{"jobs", []string{"jobs"}, (*Server).loadJobs},
		{"job", []string{"job", "job-runs"}, (*Server).loadJob},
	}
}

// liveTables are the tables whose changes may show on a page.
func liveTables() []string {
	return []string{"posts", "tasks", "deliveries", "chats", "accounts", "account_results", "account_checks", "account_sites", "alerts", "notices", "jobs", "runs", "holds", "identities", "settings"}
}

// shown answers with a page and tells it where its parts come from when they change.
func (s *Server) shown(v liveView) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := s.readerOf(c)
		data, err := v.load(s, r)
		if err != nil {
			return err
		}
		return s.showLive(c, http.StatusOK, v, r, data)
	}
}

func (s *Server) showLive(c echo.Context, status int, v liveView, r reader, data page) error {
	parts, err := s.liveParts(v, data)
	if err != nil {
		return err
	}
	f := data.base()
	f.parts = make(map[string]template.HTML, len(parts))
	marks := make([]string, len(parts))
	for i, p := range parts {
		f.parts[p.name], marks[i] = p.html, p.mark
	}
	f.Live = "/live/" + v.name + "?" + url.Values{"path": {r.path}, "id": {r.id}, "have": {strings.Join(marks, ".")}}.Encode()
	return s.render(c, status, v.name, data)
}

// livePart is a part as it was rendered, and a mark that differs where the part does.
type livePart struct {
	name, mark string
	html       template.HTML
}

func (s *Server) liveParts(v liveView, data page) ([]livePart, error) {
	parts := make([]livePart, 0, len(v.parts))
	for _, name := range v.parts {
		html, err := s.pages.part(v.name, name, data)
		if err != nil {
			return nil, err
		}
		parts = append(parts, livePart{name, fmt.Sprintf("%x", session.Digest([]byte(html))[:6]), html})
	}
	return parts, nil
}

// live sends the parts of a page that differ from what its browser has, as server-sent events,
// until the browser goes away, its sign-in ends, or ending is closed. It looks at the store when
// that has changed, not more often than [livePause], and holds no transaction meanwhile.
func (s *Server) live(v liveView, ending <-chan struct{}) echo.HandlerFunc {
	return func(c echo.Context) error {
		select {
		case s.streams <- struct{}{}:
			defer func() { <-s.streams }()
		default:
			c.Response().Header().Set("Retry-After", "30")
			return c.NoContent(http.StatusServiceUnavailable)
		}
		changed, unwatch := s.db.Watch(liveTables()...)
		defer unwatch()
		stream, err := newStream(c)
		if err != nil {
			return err
		}
		r := s.liveReader(c)
		have := strings.Split(c.QueryParam("have"), ".")
		tick := time.NewTicker(liveTick)
		defer tick.Stop()
		for {
			if err := s.sendChanges(stream, v, &r, have); err != nil {
				return nil // the browser has gone, or will ask again
			}
			pause := time.NewTimer(livePause)
			select {
			case <-pause.C:
			case <-ending:
				return nil
			case <-c.Request().Context().Done():
				return nil
			}
			select {
			case _, open := <-changed:
				if !open {
					return nil
				}
			case <-tick.C:
			case <-ending:
				return nil
			case <-c.Request().Context().Done():
				return nil
			}
		}
	}
}

// liveReader reads for which page the stream is.
func (s *Server) liveReader(c echo.Context) reader {
	r := s.readerOf(c)
	r.id, r.path = c.QueryParam("id"), localPath(c.QueryParam("path"))
	r.query = url.Values{}
	if u, err := url.Parse(r.path); err == nil {
		r.query = u.Query()
	}
	return r
}

// errSignedOut ends a stream whose sign-in has ended.
var errSignedOut = errors.New("signed out")

// sendChanges sends the parts that differ from have, and notes them there. It always sends
// something, so that a dead connection is noticed.
func (s *Server) sendChanges(to *stream, v liveView, r *reader, have []string) error {
	r.now = s.db.Now()
	err := s.db.View(func(tx *store.Tx) error {
		signIn, err := tx.SignIns.Get(r.signIn.ID)
		if err == nil && !signIn.ExpiresAt.After(r.now) {
			err = errSignedOut
		}
		return err
	})
	if err != nil {
		return err
	}
	data, err := v.load(s, *r)
	if err != nil {
		return to.beat() // the record is gone, or the store is out of use: the page stays as it is
	}
	parts, err := s.liveParts(v, data)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for i, p := range parts {
		if i < len(have) && have[i] == p.mark {
			continue
		}
		if i < len(have) {
			have[i] = p.mark
		}
		fmt.Fprintf(&out, "<div id=%q hx-swap-oob=\"innerHTML\">%s</div>", p.name, p.html)
	}
	if out.Len() == 0 {
		return to.beat()
	}
	return to.send("parts", out.Bytes())
}

// stream writes server-sent events.
type stream struct {
	response *echo.Response
	control  *http.ResponseController
}

func newStream(c echo.Context) (*stream, error) {
	s := &stream{response: c.Response(), control: http.NewResponseController(c.Response())}
	h := s.response.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no")
	// The limit for reading the request would otherwise end the stream.
	if err := s.control.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("keep the stream open: %w", err)
	}
	s.response.WriteHeader(http.StatusOK)
	return s, s.beat()
}

// beat sends a comment, which browsers pass over.
func (s *stream) beat() error { return s.write([]byte(":\n\n")) }

func (s *stream) send(event string, data []byte) error {
	var out bytes.Buffer
	out.WriteString("event: " + event + "\n")
	for line := range bytes.Lines(data) {
		out.WriteString("data: ")
		out.Write(bytes.TrimRight(line, "\r\n"))
		out.WriteByte('\n')
	}
	out.WriteByte('\n')
	return s.write(out.Bytes())
}

func (s *stream) write(data []byte) error {
	if err := s.control.SetWriteDeadline(time.Now().Add(liveWrite)); err != nil {
		return err
	}
	if _, err := s.response.Write(data); err != nil {
		return err
	}
	return s.control.Flush()
}

// refusedLive answers with a live page whose form was refused.
func (s *Server) refusedLive(c echo.Context, name string, r reader, data page) error {
	for _, v := range liveViews() {
		if v.name == name {
			return s.showLive(c, http.StatusUnprocessableEntity, v, r, data)
		}
	}
	return fmt.Errorf("no live page is called %q", name)
}
