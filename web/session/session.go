// Package session decides who may use the doors: sign-ins of browsers and the page's password, one-time
// links, tokens of programs, and the checks that every request passes. A request that is not let in ends
// with a [Refusal], which the server turns into an answer.
package session

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"belfry/store"
)

// Config is the settings of [Sessions].
type Config struct {
	// Hosts are names under which the page may be opened besides localhost and the listener's own address.
	Hosts []string
	// Token lets programs use the API; empty means none but those made with `belfry token`.
	Token string
	// Password becomes the page's password if none was chosen yet.
	Password string
	Log      zerolog.Logger
}

// Sessions knows who is signed in and which tokens are good. Make it with [New]; its methods may be called
// from any goroutine.
type Sessions struct {
	cfg        Config
	db         *store.DB
	doorkeeper doorkeeper
	guesses    *guesses
	links      *links
	strangers  limiter
	underWay   sync.Map // by Caller: a chan struct{} with a place for each request to the API
}

// New returns the sessions that are kept in db. It sets the page's password if cfg has one and none was
// chosen before.
func New(cfg Config, db *store.DB) (*Sessions, error) {
	s := &Sessions{cfg: cfg, db: db, guesses: newGuesses(db.Now), links: newLinks(db.Now), doorkeeper: newDoorkeeper()}
	if cfg.Password == "" {
		return s, nil
	}
	return s, s.firstPassword(cfg.Password)
}

// Refusal says to a program why its request is not let in.
type Refusal struct {
	Field, Problem, Cure string        // of the header or the form
	Status               int           // of HTTP
	RetryAfter           time.Duration // 0: trying again does not help
}

func (r *Refusal) Error() string { return r.Field + " " + r.Problem + ": " + r.Cure }

func refusal(status int, field, problem, cure string) *Refusal {
	return &Refusal{Field: field, Problem: problem, Cure: cure, Status: status}
}
