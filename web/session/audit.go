package session

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

// strangersAMinute is how many refusals of who is not known are on record for a minute, so that nobody can fill the
// audit from outside.
const strangersAMinute = 10

// trail is what the audit is to say of a request.
type trail struct {
	entry   store.AuditEntry
	written bool // with what was done, in its transaction
	nothing bool // was done
}

type trailKey struct{}

func trailOf(ctx context.Context) *trail {
	t, _ := ctx.Value(trailKey{}).(*trail)
	return t
}

// Audited puts on record what requests through a door change, and what is refused; who asks is found out behind it.
// What [Note] has not written with the change is written right after it, before the answer ends.
func (s *Sessions) Audited(door store.Door) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			action := Action(c.Request().Method, c.Path())
			if action == "" {
				return next(c)
			}
			t := &trail{entry: store.AuditEntry{Door: door, Action: action, About: about(c)}}
			c.SetRequest(c.Request().WithContext(context.WithValue(c.Request().Context(), trailKey{}, t)))
			if err := next(c); err != nil {
				c.Error(err)
			}
			s.finish(c, t)
			return nil
		}
	}
}

// finish writes the entry of a request that was answered.
func (s *Sessions) finish(c echo.Context, t *trail) {
	e, status := t.entry, c.Response().Status
	switch {
	case t.written || t.nothing:
		return
	case status >= http.StatusInternalServerError:
		e.Result = store.AuditFailed
	case status >= http.StatusBadRequest:
		e.Result = store.AuditRefused
	default:
		e.Result = store.AuditDone
	}
	known := s.actor(c, &e, status)
	if e.Action = strings.TrimSuffix(e.Action, ".do"); e.Action != t.entry.Action {
		e.Action += "." + word(c.Request().PostForm.Get("do"))
	}
	switch {
	case c.Request().Method == http.MethodGet && (known || e.Result != store.AuditRefused): // it was only read
		return
	case e.Door == store.DoorPage && e.Result == store.AuditDone && status < http.StatusMultipleChoices && c.Path() != "/media/file": // a form is shown again, or a part of one
		return
	case !known && !s.strangers.allow(s.db.Now()):
		return
	}
	if e.About == "" && e.Result == store.AuditDone {
		e.About = madeAt(c.Response().Header().Get(echo.HeaderLocation))
	}
	if err := s.db.Update(func(tx *store.Tx) error { return add(c.Request().Context(), tx, e) }); err != nil {
		s.cfg.Log.Error().Err(err).Str("action", e.Action).Str("actor", e.Actor).Msg("the audit could not be written")
	}
}

// actor says on the page, and of requests that were not let in, who asks. It returns false for who is not known: then
// the entry is about the address.
func (s *Sessions) actor(c echo.Context, e *store.AuditEntry, status int) (known bool) {
	_, known = Of(c)
	if e.Door != store.DoorPage {
		known = CallerOf(c.Request().Context()) != ""
	} else if e.Actor = "page"; isSignIn(c.Path()) {
		e.About = c.RealIP()
		known = e.Result == store.AuditDone
		return known
	}
	if !known {
		e.Actor, e.About, e.Result = "unknown", c.RealIP(), store.AuditRefused
	}
	return known
}

func isSignIn(route string) bool { return strings.HasPrefix(route, "/sign-in") }

// Note writes in tx that what the request asks for is done, so that there is no change without its entry. made is the
// id of what was made.
func Note(ctx context.Context, tx *store.Tx, made string) error {
	t := trailOf(ctx)
	if t == nil {
		return nil
	}
	e := t.entry
	e.Result = store.AuditDone
	if resource, _, _ := strings.Cut(e.Action, "."); made != "" {
		e.About = recordName(resource, made)
	}
	tx.After(func() { t.written = true })
	return add(ctx, tx, e)
}

// Nothing says that the request changes nothing, such as one that was carried out before.
func Nothing(ctx context.Context) {
	if t := trailOf(ctx); t != nil {
		t.nothing = true
	}
}

// add writes an entry; who has asked through the API or the socket is found in ctx.
func add(ctx context.Context, tx *store.Tx, e store.AuditEntry) error {
	if e.Actor == "" {
		switch who := CallerOf(ctx); who {
		case socket:
			e.Actor = userOf(ctx)
		case settings:
			e.Actor = "BELFRY_API_TOKEN"
		default:
			token, err := tx.Tokens.Get(who.token())
			if err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			e.Actor = token.Name
		}
	}
	return tx.Audit.Add(e)
}

// about names the record that a path is about.
func about(c echo.Context) string {
	if values := c.ParamValues(); len(values) > 0 {
		resource, _, _ := strings.Cut(Action(http.MethodPost, c.Path()), ".")
		return recordName(resource, values[0])
	}
	return ""
}

// madeAt names the record to which a browser is sent after it was made.
func madeAt(location string) string {
	path, _, _ := strings.Cut(location, "?")
	parts := strings.Split(strings.Trim(path, "/"), "/")
	if len(parts) < 2 {
		return ""
	}
	if _, err := strconv.ParseUint(parts[1], 10, 64); err != nil {
		return ""
	}
	return recordName(named(parts[0]), parts[1])
}

// recordName is post_17 for the record 17 of posts. Jobs have such a name already.
func recordName(resource, id string) string {
	if _, err := strconv.ParseUint(id, 10, 64); err != nil {
		return id
	}
	one := strings.TrimSuffix(resource, "s")
	if strings.HasSuffix(resource, "ies") {
		one = strings.TrimSuffix(resource, "ies") + "y"
	} else if strings.HasSuffix(resource, "ches") {
		one = strings.TrimSuffix(resource, "es")
	}
	return one + "_" + id
}

// limiter counts what happens within a minute.
type limiter struct {
	mu    sync.Mutex
	since time.Time
	n     int
}

func (l *limiter) allow(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now.Sub(l.since).Abs() >= time.Minute {
		l.since, l.n = now, 0
	}
	l.n++
	return l.n <= strangersAMinute
}
