package page

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

const (
	// livePause is the shortest time between two looks at the store for one live page.
	livePause = 400 * time.Millisecond
	// liveTick is how often a live page is looked at without a change, for the words that tell how
	// long something takes. What it sends keeps the connection open.
	liveTick = 20 * time.Second
	// liveWrite is how long a browser may take to accept what is sent.
	liveWrite = 10 * time.Second
	// MaxStreams bounds the live pages that are open at once.
	MaxStreams = 32
	// liveBase is where the streams of live pages are, before the page's own path.
	liveBase = "/live"
)

// liveTables are the tables whose changes may show on a page.
var liveTables = []string{"posts", "tasks", "deliveries", "chats", "accounts", "account_results", "account_checks", "account_sites", "alerts", "notices", "jobs", "runs", "holds", "identities", "settings", "rules", "stream_groups", "bookings", "channels", "messages"}

// live mounts a page with parts that change while somebody looks at it, and the stream of their changes.
func (s *Server) live(g *echo.Group, path string, load func(view) (screen, error)) {
	g.GET(path, func(c echo.Context) error { return s.showPage(c, http.StatusOK, s.view(c), load) })
	g.GET(liveBase+path, func(c echo.Context) error { return s.stream(c, load) })
}

// showPage answers with a live page, whose path is that of the view.
func (s *Server) showPage(c echo.Context, status int, v view, load func(view) (screen, error)) error {
	p, err := load(v)
	if err != nil {
		return err
	}
	return s.showLive(c, status, v, p, liveBase+v.path)
}

// showLive answers with a page and tells it where its parts come from when they change; from is empty if
// they do not.
func (s *Server) showLive(c echo.Context, status int, v view, p screen, from string) error {
	ctx := c.Request().Context()
	rendered, err := v.renderParts(ctx, p)
	if err != nil {
		return err
	}
	places, marks := make(map[string]string), make([]string, len(rendered))
	for i, part := range rendered {
		places[part.id], marks[i] = part.html, part.mark
	}
	c.SetRequest(c.Request().WithContext(context.WithValue(ctx, placesKey{}, places)))
	if from != "" {
		from = withQuery(from, "done", "", "have", strings.Join(marks, "."))
	}
	return s.render(c, status, v.layout(p, from))
}

// renderedPart is a part as it was rendered, and a mark that differs where the part does.
type renderedPart struct{ id, html, mark string }

// renderParts renders the parts of a page, and the badge of the navigation.
func (v view) renderParts(ctx context.Context, p screen) ([]renderedPart, error) {
	all := make([]renderedPart, 0, len(p.parts)+1)
	for _, part := range append(p.parts, part{"badge", v.badge()}) {
		var out bytes.Buffer
		if err := part.Render(ctx, &out); err != nil {
			return nil, fmt.Errorf("render %s: %w", part.id, err)
		}
		sum := sha256.Sum256(out.Bytes())
		all = append(all, renderedPart{part.id, out.String(), fmt.Sprintf("%x", sum[:6])})
	}
	return all, nil
}

// stream sends the parts of a page that differ from what its browser has, as server-sent events,
// until the browser goes away, its sign-in ends, or the program does. It looks at the store when
// that has changed, not more often than [livePause], and holds no transaction meanwhile.
func (s *Server) stream(c echo.Context, load func(view) (screen, error)) error {
	select {
	case s.Streams <- struct{}{}:
		defer func() { <-s.Streams }()
	default:
		c.Response().Header().Set("Retry-After", "30")
		return c.NoContent(http.StatusServiceUnavailable)
	}
	changed, unwatch := s.DB.Watch(liveTables...)
	defer unwatch()
	to, err := newStream(c)
	if err != nil {
		return err
	}
	v := s.view(c)
	if c.Request().Header.Get("Last-Event-ID") == "" { // else the page has changed since those were its marks
		to.have = strings.Split(v.query.Get("have"), ".")
	}
	v.path = withQuery(strings.TrimPrefix(v.path, liveBase), "have", "")
	tick := time.NewTicker(liveTick)
	defer tick.Stop()
	for {
		if err := s.sendChanges(c.Request().Context(), to, v, load); err != nil {
			return nil // the browser has gone, or will ask again
		}
		pause := time.NewTimer(livePause)
		select {
		case <-pause.C:
		case <-s.Ending:
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
		case <-s.Ending:
			return nil
		case <-c.Request().Context().Done():
			return nil
		}
	}
}

// errSignedOut ends a stream whose sign-in has ended.
var errSignedOut = errors.New("signed out")

// sendChanges sends the parts that differ from those that the browser has, and notes them. It always sends
// something, so that a dead connection is noticed.
func (s *Server) sendChanges(ctx context.Context, to *stream, v view, load func(view) (screen, error)) error {
	v.Now = s.DB.Now()
	err := s.DB.View(func(tx *store.Tx) error {
		signIn, err := tx.SignIns.Get(v.signIn.ID)
		if err == nil && !signIn.ExpiresAt.After(v.Now) {
			err = errSignedOut
		}
		return err
	})
	if err != nil {
		return err
	}
	p, err := load(v)
	if err != nil {
		return to.beat() // the record is gone, or the store is out of use: the page stays as it is
	}
	parts, err := v.renderParts(ctx, p)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	for i, part := range parts {
		if i == len(to.have) {
			to.have = append(to.have, "")
		}
		if to.have[i] == part.mark {
			continue
		}
		to.have[i] = part.mark
		where := fmt.Sprintf("id=%q hx-swap-oob=\"innerHTML\"", part.id)
		if part.id == "badge" { // the navigation has it more than once
			where = `hx-swap-oob="innerHTML:.badge"`
		}
		fmt.Fprintf(&out, "<div %s>%s</div>", where, part.html)
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
	have     []string // the marks of the parts that the browser has
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

// send sends an event. A browser that asks again by itself names the id of the last one.
func (s *stream) send(event string, data []byte) error {
	var out bytes.Buffer
	out.WriteString("event: " + event + "\nid: 1\n")
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
