// Package web is two of Belfry's doors: the JSON API and the admin page. Each handler reads a
// request, checks who asks, calls an action of the worker that owns it, and says what came of it;
// it decides nothing itself.
//
// What was answered with success is on the disk. Every refusal is a problem document (RFC 9457)
// or, on the page, a sentence beside the field that it is about; both name the cure. Views of the
// store are short, and nothing is rendered or sent inside one, so the page never holds up the
// scheduler.
package web

import (
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/accounts"
	"belfry/worker/alerts"
	"belfry/worker/identities"
	"belfry/worker/posts"
	"belfry/worker/tasks"
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
	// Token lets programs use the API like a token made with `belfry token`; empty means none.
	Token string
	// Password becomes the page's password if none was chosen yet.
	Password string
	// Version is shown on the page and by the API.
	Version string
	// Idle says that nothing is run on purpose (DISABLE_WORKERS), so that this is no fault.
	Idle bool
	Log  zerolog.Logger
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

// Connection is the state of an identity's connection to its network.
type Connection struct {
	Identity  string // the identity's name
	Platform  string
	Connected bool
	Since     time.Time // when it came to be connected, or not; zero if it never was
	Problem   string    // why it is not connected, in the network's words; empty if it is
}

// Server serves the API and the page. Make it with [New]; its methods may be called from any
// goroutine.
type Server struct {
	cfg         Config
	db          *store.DB
	scheduler   *scheduler.Scheduler
	posts       *posts.Worker
	tasks       *tasks.Worker      // may be nil
	logins      *identities.Logins // may be nil
	accounts    *accounts.Worker   // may be nil
	alerts      *alerts.Worker     // may be nil
	connections func() []Connection

	assets     assets
	pages      pages
	doorkeeper doorkeeper
	guesses    *guesses
	links      *links
	page       atomic.Pointer[net.Addr] // where it is served; nil before
	streams    chan struct{}            // a place for each live page
	underWay   sync.Map                 // by caller: a chan struct{} with a place for each request to the API
}

// maxStreams bounds the live pages that are open at once.
const maxStreams = 32

// New returns a server for the records in db. It sets the page's password if cfg has one and none
// was chosen before. connections tells how the adapters are doing.
func New(cfg Config, db *store.DB, s *scheduler.Scheduler, w Workers, connections func() []Connection) (*Server, error) {
	if cfg.Timezone == nil {
		cfg.Timezone = time.UTC
	}
	if cfg.Lang == "" {
		cfg.Lang = english
	}
	if cfg.Lang != english && cfg.Lang != russian {
		return nil, store.Invalid("lang", "invalid.lang", cfg.Lang)
	}
	if connections == nil {
		connections = func() []Connection { return nil }
	}
	server := &Server{
		cfg: cfg, db: db, scheduler: s, posts: w.Posts, tasks: w.Tasks, logins: w.Logins, accounts: w.Accounts, alerts: w.Alerts,
		connections: connections, guesses: newGuesses(db.Now), links: newLinks(db.Now),
		doorkeeper: newDoorkeeper(),
		streams:    make(chan struct{}, maxStreams),
	}
	var err error
	if server.assets, err = newAssets(); err != nil {
		return nil, err
	}
	if server.pages, err = newPages(server.assets); err != nil {
		return nil, err
	}
	if cfg.Password != "" {
		if err := server.firstPassword(cfg.Password); err != nil {
			return nil, err
		}
	}
	return server, nil
}

// firstPassword sets the page's password unless one was chosen before.
func (s *Server) firstPassword(password string) error {
	chosen, err := s.hasPassword()
	if err != nil || chosen {
		return err
	}
	if err := checkPassword("password", password); err != nil {
		return err
	}
	hash := s.doorkeeper.hash(password)
	err = s.db.Update(func(tx *store.Tx) error { return tx.Settings.Set(passwordSetting, hash) })
	if err != nil {
		return fmt.Errorf("set the page's password: %w", err)
	}
	return nil
}

// HasPassword reports whether the page has a password. Without one nobody can sign in but with a
// link from [Server.SignInLink].
func (s *Server) HasPassword() (bool, error) { return s.hasPassword() }

func (s *Server) hasPassword() (chosen bool, err error) {
	err = s.db.View(func(tx *store.Tx) error {
		value, err := tx.Settings.Value(passwordSetting)
		chosen = value != ""
		return err
	})
	return chosen, err
}
