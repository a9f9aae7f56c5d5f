// Package web serves two of Belfry's doors: the JSON API, which is package api, and the admin page. Each
// handler reads a request, checks who asks, calls an action of the worker that owns it, and says what came
// of it; it decides nothing itself.
//
// What was answered with success is on the disk. Every refusal is a problem document (RFC 9457)
// or, on the page, a sentence beside the field that it is about; both name the cure. Views of the
// store are short, and nothing is rendered or sent inside one, so the page never holds up the
// scheduler.
package web

import (
	"cmp"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"belfry/i18n"
	"belfry/scheduler"
	"belfry/store"
	"belfry/web/api"
	"belfry/web/page"
	"belfry/web/session"
)

// Config is the settings of a [Server].
type Config struct {
	// Hosts are names under which the page may be opened besides localhost and the listener's own
	// address, such as the name that a reverse proxy serves.
	Hosts []string
	// Timezone is the zone in which the page shows and reads times; nil means UTC.
	Timezone *time.Location
	// Lang is the page's language until its reader chooses: en, also if it is empty, or ru.
	Lang string
	// Locale is asked for both at each request instead; it may be nil.
	Locale func() (lang string, zone *time.Location)
	// Token lets programs use the API like a token made with `belfry token`; empty means none.
	Token string
	// Password becomes the page's password if none was chosen yet.
	Password string
	// Version is shown on the page and by the API.
	Version string
	// Idle says that nothing is run on purpose (DISABLE_WORKERS), so that this is no fault.
	Idle bool
	// Metrics answers scrapes; nil means that there are none.
	Metrics http.Handler
	Log     zerolog.Logger
}

// Doors are what is served of the workers.
type Doors struct {
	API   []api.Door
	Local api.Door // only on the socket; nil: none
	Pages []page.Door
	// Wrong returns what is wrong, for /health; nil means that nothing looks.
	Wrong func() ([]store.Alert, error)
}

// Server serves the API and the page. Make it with [New]; its methods may be called from any
// goroutine.
type Server struct {
	cfg       Config
	db        *store.DB
	scheduler *scheduler.Scheduler
	doors     Doors

	sessions *session.Sessions
	api      *api.Server
	streams  chan struct{}            // a place for each live page
	listens  atomic.Pointer[net.Addr] // where the page is served; nil before
}

// New returns a server for the records in db. It sets the page's password if cfg has one and none
// was chosen before.
func New(cfg Config, db *store.DB, s *scheduler.Scheduler, doors Doors) (*Server, error) {
	if cfg.Timezone == nil {
		cfg.Timezone = time.UTC
	}
	cfg.Lang = cmp.Or(cfg.Lang, i18n.Languages[0])
	if !i18n.Known(cfg.Lang) {
		return nil, store.Invalid("lang", "invalid.lang", cfg.Lang)
	}
	if cfg.Locale == nil {
		cfg.Locale = func() (string, *time.Location) { return cfg.Lang, cfg.Timezone }
	}
	sessions, err := session.New(session.Config{Hosts: cfg.Hosts, Token: cfg.Token, Password: cfg.Password, Log: cfg.Log}, db)
	server := &Server{cfg: cfg, db: db, scheduler: s, doors: doors, sessions: sessions, streams: make(chan struct{}, page.MaxStreams)}
	server.api = api.New(api.Config{
		Version: cfg.Version, Sessions: sessions, SignInLink: server.SignInLink, Local: doors.Local, Kinds: s.Kinds(), Log: cfg.Log,
	}, db, doors.API)
	return server, err
}

// pages makes the door for people. Its live pages end when ending is closed.
func (s *Server) pages(ending <-chan struct{}) *page.Server {
	return page.New(page.Config{
		Locale: s.cfg.Locale, Version: s.cfg.Version, Idle: s.cfg.Idle, Log: s.cfg.Log,
		DB: s.db, Scheduler: s.scheduler, Sessions: s.sessions, Doors: s.doors.Pages, Ending: ending, Streams: s.streams,
	})
}

// HasPassword reports whether the page has a password. Without one nobody can sign in but with a
// link from [Server.SignInLink].
func (s *Server) HasPassword() (bool, error) { return s.sessions.HasPassword() }
