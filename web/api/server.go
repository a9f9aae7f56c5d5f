package api

import (
	"net/http"

	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"belfry/store"
	"belfry/web/session"
	"belfry/worker/accounts"
	"belfry/worker/alerts"
	"belfry/worker/identities"
	"belfry/worker/posts"
	"belfry/worker/tasks"
)

// english is the language in which reasons are told to programs.
const english = "en"

// Config is the settings of a [Server].
type Config struct {
	Version     string // of Belfry, for the document
	Sessions    *session.Sessions
	SignInLink  func(base string) (string, error) // returns a link that signs in to the page at base once; base may be empty
	Connections func() []identities.Connection    // how the adapters are doing
	Log         zerolog.Logger
}

// Workers are those whose actions the doors offer. Without Tasks there are no broadcasts, without
// Logins no user account can be logged in, without Accounts none is watched, and without Alerts
// nobody looks for what is wrong.
type Workers struct {
	Posts    *posts.Worker
	Tasks    *tasks.Worker
	Logins   *identities.Logins
	Accounts *accounts.Worker
	Alerts   *alerts.Worker
}

// Server answers the API's requests. Make it with [New].
type Server struct {
	cfg      Config
	db       *store.DB
	posts    *posts.Worker
	tasks    *tasks.Worker      // may be nil
	logins   *identities.Logins // may be nil
	accounts *accounts.Worker   // may be nil
	alerts   *alerts.Worker     // may be nil
}

// New returns a server for the records in db.
func New(cfg Config, db *store.DB, w Workers) *Server {
	return &Server{cfg: cfg, db: db, posts: w.Posts, tasks: w.Tasks, logins: w.Logins, accounts: w.Accounts, alerts: w.Alerts}
}

// Mount registers the API for holders of a token, and its document.
func (s *Server) Mount(e *echo.Echo) {
	s.mount(e, newAPI(e, s.cfg.Version, s.cfg.Log, s.cfg.Sessions.Bearer))
}

// MountSocket registers the API without tokens, what only the owner of the machine may do, and the document of both.
func (s *Server) MountSocket(e *echo.Echo) {
	a := newAPI(e, s.cfg.Version, s.cfg.Log)
	s.localAPI(a)
	s.mount(e, a)
}

func (s *Server) mount(e *echo.Echo, a *api) {
	s.contentAPI(a)
	s.postsAPI(a)
	s.identitiesAPI(a)
	s.tasksAPI(a)
	s.chatsAPI(a)
	s.accountsAPI(a)
	s.alertsAPI(a)
	s.jobsAPI(a)
	s.everythingAPI(a)
	doc, err := a.document()
	e.GET("/api/openapi.json", func(c echo.Context) error {
		if err != nil {
			return err
		}
		return c.Blob(http.StatusOK, "application/openapi+json", doc)
	})
}
