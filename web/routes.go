package web

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/web/api"
	"belfry/web/page"
	"belfry/web/session"
)

// The largest forms that the page accepts, in bytes; huma has its own limit for the API. A list of
// 200,000 chats or a session file is a long one.
const (
	maxForm     = 512 << 10
	maxLongForm = 8 << 20
)

// longForms are the routes that take long forms.
func longForms() []string {
	return []string{"/tasks/new", "/tasks/check", "/tasks/chats", "/accounts/new", "/accounts/sites", "/logins/:id/login"}
}

// streams are the routes that take files: their bodies are read while they arrive, and limited there.
func streams() []string {
	return []string{"/media", "/media/file", "/posts/new", "/posts/:id/change", "/tasks/new", "/rules/new", "/rules/:id/change", "/contents/new", "/contents/:id"}
}

// routes is what is served over TCP: the API for holders of a token, the page for its owner.
func (s *Server) routes(ending <-chan struct{}) *echo.Echo {
	pages := s.pages(ending)
	e := s.newEcho(pages)
	e.Use(s.sessions.KnownHost, s.sessions.SameOrigin)
	s.api.Mount(e)
	s.healthRoutes(e)
	s.metricsRoute(e)

	public := e.Group("", limitForm, s.sessions.Audited(store.DoorPage))
	pages.Mount(public, public.Group("", s.sessions.Required(pages.SignInFirst)))
	return e
}

// socketRoutes is what is served on the unix socket: the API without tokens, and what only the
// owner of the machine may do.
func (s *Server) socketRoutes() *echo.Echo {
	e := s.newEcho(s.pages(nil))
	e.Use(session.Owner)
	s.api.MountSocket(e)
	s.healthRoutes(e)
	return e
}

func (s *Server) healthRoutes(e *echo.Echo) {
	e.GET("/health", s.showHealth)
	e.GET("/health/workers", s.showWorkers)
}

// metricsRoute answers scrapes.
func (s *Server) metricsRoute(e *echo.Echo) {
	if s.cfg.Metrics != nil {
		e.GET("/metrics", echo.WrapHandler(s.cfg.Metrics), s.sessions.Scraper)
	}
}

func (s *Server) newEcho(pages *page.Server) *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.IPExtractor = echo.ExtractIPDirect()
	e.HTTPErrorHandler = func(err error, c echo.Context) { s.handleError(pages, err, c) }
	e.Use(session.Headers, recovered)
	return e
}

// handleError is where the errors of all handlers end: as a problem document for programs, as a
// page for people, and in the log if it is Belfry's own fault.
func (s *Server) handleError(pages *page.Server, err error, c echo.Context) {
	if c.Response().Committed {
		return
	}
	path, p := c.Request().URL.Path, api.ProblemOf(err)
	if h, ok := errors.AsType[*echo.HTTPError](err); ok {
		p = api.NewProblem(h.Code, http.StatusText(h.Code))
		if h.Code == http.StatusNotFound {
			p.Detail = "there is nothing at " + c.Request().Method + " " + path + ": see /api/openapi.json for what there is"
		}
	}
	if p.Status >= http.StatusInternalServerError {
		s.cfg.Log.Error().Err(err).Str("route", c.Path()).Msg("request failed") // a path may hold a secret
	}
	answer := func() error { return api.WriteProblem(c, p) }
	if !strings.HasPrefix(path, "/api/") && !strings.HasPrefix(path, "/health") && path != "/metrics" && p.Status != http.StatusMisdirectedRequest {
		for name, values := range p.GetHeaders() {
			c.Response().Header()[name] = values
		}
		answer = func() error { return pages.ShowError(c, err, p.Status, store.IsFull(err)) }
	}
	if err := answer(); err != nil {
		s.cfg.Log.Error().Err(err).Str("route", c.Path()).Msg("error page failed")
	}
}

// limitForm ends the reading of a form that is too large.
func limitForm(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		kind := c.Request().Header.Get(echo.HeaderContentType)
		if slices.Contains(streams(), c.Path()) && (c.Path() == "/media/file" || strings.HasPrefix(kind, echo.MIMEMultipartForm)) {
			session.Stream(c)
			c.Request().Body = api.Steady(c)
			return next(c)
		}
		r, limit := c.Request(), int64(maxForm)
		if slices.Contains(longForms(), c.Path()) {
			limit = maxLongForm
		}
		r.Body = http.MaxBytesReader(c.Response(), r.Body, limit)
		return next(c)
	}
}

// errPanic is wrapped by the error of a handler that panicked.
var errPanic = errors.New("panic")

// recovered turns a panic of a handler into an error, which is logged with the others.
func recovered(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) (err error) {
		defer func() {
			v := recover()
			if v == http.ErrAbortHandler { // the server's own way to drop a connection
				panic(v)
			}
			if v != nil {
				err = fmt.Errorf("%w: %v\n%s", errPanic, v, debug.Stack())
			}
		}()
		return next(c)
	}
}
