package web

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"slices"

	"github.com/labstack/echo/v4"

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

// routes is what is served over TCP: the API for holders of a token, the page for its owner.
func (s *Server) routes(ending <-chan struct{}) *echo.Echo {
	e := s.newEcho()
	e.Use(s.sessions.KnownHost, s.sessions.SameOrigin)
	s.api.Mount(e)
	s.healthRoutes(e)

	e.GET(assetBase+":name", s.assets.serve)
	page := e.Group("", limitForm)
	own := page.Group("", s.sessions.Required(s.ui.SignInFirst))
	s.ui.Ending = ending
	s.ui.Mount(page, own)
	s.ownerRoutes(own, ending)
	return e
}

// ownerRoutes are the pages that a browser sees once it is signed in.
func (s *Server) ownerRoutes(own *echo.Group, ending <-chan struct{}) {
	paths := map[string]string{
		"next": "/", "posts": "/posts", "post": "/posts/:id",
		"accounts": "/accounts", "account": "/accounts/:id", "alerts": "/alerts", "jobs": "/jobs", "job": "/jobs/:id",
	}
	for _, view := range liveViews() {
		if view.name == "posts" || view.name == "post" || view.name == "logins" {
			continue
		}
		if s.accounts == nil && (view.name == "accounts" || view.name == "account") {
			continue
		}
		if s.alerts == nil && view.name == "alerts" {
			continue
		}
		own.GET(paths[view.name], s.shown(view))
		own.GET("/live/"+view.name, s.live(view, ending))
	}
	own.GET("/posts/new", s.newPostForm)
	own.POST("/posts/new", s.savePost)
	own.POST("/posts/check", s.checkPost)
	own.GET("/posts/:id/change", s.changeForm)
	own.POST("/posts/:id/change", s.saveChange)
	s.accountRoutes(own)
	if s.alerts != nil {
		own.POST("/alerts/seen", s.seeAllAlerts)
		own.POST("/alerts/:id/seen", s.seeAlert)
	}
	own.POST("/jobs/:id", s.actOnJob)
	own.POST("/everything", s.actOnEverything)
}

// accountRoutes are the pages about watched accounts that do not change under the reader's eyes.
func (s *Server) accountRoutes(own *echo.Group) {
	if s.accounts == nil {
		return
	}
	own.GET("/accounts/new", s.newAccountsForm)
	own.POST("/accounts/new", s.addAccounts)
	own.POST("/accounts/check", s.actOnCheck)
	own.GET("/accounts/sites", s.showSites)
	own.POST("/accounts/sites", s.addSites)
	own.GET("/accounts/:id/change", s.editAccount)
	own.POST("/accounts/:id/change", s.saveAccount)
	own.GET("/accounts/:id/remove", s.askAccountRemoval)
	own.POST("/accounts/:id/remove", s.takeAccountAway)
}

// socketRoutes is what is served on the unix socket: the API without tokens, and what only the
// owner of the machine may do.
func (s *Server) socketRoutes() *echo.Echo {
	e := s.newEcho()
	e.Use(session.Owner)
	s.api.MountSocket(e)
	s.healthRoutes(e)
	return e
}

func (s *Server) healthRoutes(e *echo.Echo) {
	e.GET("/health", s.showHealth)
	e.GET("/health/workers", s.showWorkers)
}

func (s *Server) newEcho() *echo.Echo {
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.IPExtractor = echo.ExtractIPDirect()
	e.HTTPErrorHandler = s.handleError
	e.Use(session.Headers, recovered)
	return e
}

// limitForm ends the reading of a form that is too large.
func limitForm(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
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
