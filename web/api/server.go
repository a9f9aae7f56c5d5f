package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"belfry/scheduler"
	"belfry/store"
	"belfry/web/session"
)

// english is the language in which reasons are told to programs.
const english = "en"

// Config is the settings of a [Server].
type Config struct {
	Version    string // of Belfry, for the document
	Sessions   *session.Sessions
	Kinds      scheduler.Kinds                   // of jobs
	Local      Door                              // what only the owner of the machine may do; nil: nothing more than the server's own
	SignInLink func(base string) (string, error) // returns a link that signs in to the page at base once; base may be empty
	Log        zerolog.Logger
}

// Door registers the operations of a worker.
type Door func(s *Server, a *api)

// Server answers the API's requests. Make it with [New].
type Server struct {
	cfg   Config
	db    *store.DB
	doors []Door
}

// New returns a server for the records in db.
func New(cfg Config, db *store.DB, doors []Door) *Server {
	return &Server{cfg: cfg, db: db, doors: doors}
}

// Mount registers the API for holders of a token, and its document.
func (s *Server) Mount(e *echo.Echo) {
	s.mount(e, newAPI(e, s.cfg.Version, s.cfg.Log, s.cfg.Sessions.Audited(store.DoorAPI), s.cfg.Sessions.Bearer))
}

// MountSocket registers the API without tokens, what only the owner of the machine may do, and the document of both.
func (s *Server) MountSocket(e *echo.Echo) {
	a := newAPI(e, s.cfg.Version, s.cfg.Log, s.cfg.Sessions.Audited(store.DoorCLI))
	s.localAPI(a)
	if s.cfg.Local != nil {
		s.cfg.Local(s, a)
	}
	s.mount(e, a)
}

func (s *Server) mount(e *echo.Echo, a *api) {
	for _, door := range s.doors {
		door(s, a)
	}
	doc, err := a.document()
	e.GET("/api/openapi.json", func(c echo.Context) error {
		if err != nil {
			return err
		}
		return c.Blob(http.StatusOK, "application/openapi+json", doc)
	})
}
