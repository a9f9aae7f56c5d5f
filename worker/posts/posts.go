// Package posts publishes posts at their times: the actions that people take on them, and the
// worker that the scheduler runs for each.
//
// A post and its job are born together and change together. A post goes out once: its key is fixed
// when it is made, every attempt uses it, and the network recognises it.
package posts

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

// Kind is the kind of the jobs that publish posts.
const Kind = "post"

// Network is one platform as posts need it. Its errors are of type [*platform.Error].
type Network interface {
	// Check finds what the network would not accept, without asking it, and measures the text.
	// The measure is good also where the text is too long.
	Check(p platform.Post) (platform.Measure, error)
	// Styled reads the markup of a text as the publisher does.
	Styled(format platform.Format, text string) (platform.Styled, error)
	// Reach finds out whether an identity can post to the target.
	Reach(ctx context.Context, identityID uint64, target string) error
	// Publisher sends posts as an identity.
	Publisher(identityID uint64) platform.Publisher
}

// Config is the settings of the worker. The zero value is good.
type Config struct {
	// Attempts is how many failed calls a post is allowed; 0 means 3.
	Attempts int `flag:"post-attempts" env:"BELFRY_POST_ATTEMPTS" default:"3" help:"Attempts of a post that fails."`
	// Backoff is the pause after the first failure; after the second it is twice that, and so on,
	// each varied by up to a fifth. 0 means a minute.
	Backoff time.Duration `flag:"post-backoff" env:"BELFRY_POST_BACKOFF" default:"60s" help:"Pause after the first failed attempt. It grows with each."`
	// Deadline is how long a call with text alone may take; 0 means 30 s. One with media may take
	// three times that; their upload is no part of it.
	Deadline time.Duration `flag:"post-deadline" env:"BELFRY_POST_DEADLINE" default:"30s" help:"Time limit of one attempt to send a text; three times as long with media."`
	// The windows are how many posts an identity of each network may send in any hour or day.
	TelegramWindow  send.Window `flag:"telegram-window" env:"BELFRY_TELEGRAM_WINDOW" default:"30/1h" help:"Posts of a Telegram account in any hour, or off."`
	InstagramWindow send.Window `flag:"instagram-window" env:"BELFRY_INSTAGRAM_WINDOW" default:"25/1h,100/24h" help:"Posts of an Instagram account in any hour and in any 24 hours, or off."`
	XWindow         send.Window `flag:"x-window" env:"BELFRY_X_WINDOW" default:"300/1h" help:"Posts of an X account in any hour, or off."`
}

// Validate refuses what an owner should not set.
func (c Config) Validate() error {
	switch {
	case c.Attempts < 1:
		return store.Invalid("BELFRY_POST_ATTEMPTS", "invalid.too_small", 1, 1)
	case c.Backoff <= 0:
		return store.Invalid("BELFRY_POST_BACKOFF", "invalid.not_pause")
	case c.Deadline < time.Second:
		return store.Invalid("BELFRY_POST_DEADLINE", "invalid.under_a_second")
	}
	return nil
}

// Worker makes and publishes posts.
type Worker struct {
	db       *store.DB
	networks map[string]Network // by platform
	cfg      Config
	held     func(*store.Tx, []store.Post) error // tells of posts that need approval; nil: nobody is told
}

// OnHeld has tell told of new posts that need approval. It is called before anything is served.
func (w *Worker) OnHeld(tell func(*store.Tx, []store.Post) error) { w.held = tell }

// New returns a worker for the posts in db and the given networks, by the platform's name.
func New(db *store.DB, networks map[string]Network, cfg Config) *Worker {
	cfg.Attempts = cmp.Or(cfg.Attempts, 3)
	cfg.Backoff = cmp.Or(cfg.Backoff, time.Minute)
	cfg.Deadline = cmp.Or(cfg.Deadline, 30*time.Second)
	return &Worker{db: db, networks: networks, cfg: cfg}
}

const (
	// mediaDeadline is how many times longer a call with media may take than one without.
	mediaDeadline = 3
	// patience is how long making a post waits for the network to confirm its target. One that could not be
	// confirmed in that time is accepted.
	patience = 3 * time.Second
)

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	return worker.Module{
		Kinds: scheduler.Kinds{Kind: {
			Worker:  attempt{Worker: w},
			Timeout: mediaDeadline*w.cfg.Deadline + 10*time.Second,
			Retry:   scheduler.Retry{Attempts: w.cfg.Attempts, Backoff: w.cfg.Backoff, Jitter: send.Jitter},
			About:   worker.About(func(tx *store.Tx) store.Table[store.Post] { return tx.Posts.Table }, w.Plain),
		}},
		Start:   w.start,
		Metrics: []prometheus.Collector{w.counts()},
	}
}

// counts measures the posts of each network.
func (w *Worker) counts() prometheus.Collector {
	var all [][]string
	for network := range w.networks {
		for _, status := range store.PostStatuses() {
			all = append(all, []string{network, string(status)})
		}
	}
	return worker.Counts(w.db, "belfry_posts", "Posts by platform and status.", []string{"platform", "status"}, all,
		func(tx *store.Tx) []store.Count { return tx.Posts.Counts() })
}

// start looks again at the posts that wait for a window: the settings may name another one.
func (w *Worker) start() error {
	return w.db.Update(func(tx *store.Tx) error {
		for identity := range tx.Identities.All() {
			if err := tx.Posts.LookAgain(identity.ID); err != nil {
				return fmt.Errorf("look again at what waits for a window: %w", err)
			}
		}
		return nil
	})
}

// platformPost is the post as its network takes it.
func platformPost(p store.Post) platform.Post {
	return platform.Post{
		Key: p.Key, Target: p.Target, Text: p.Text, Format: platform.Format(p.Format), Media: send.Media(p.Media),
		Silent: p.Silent, NoLinkPreview: p.NoLinkPreview,
		State: p.State, Unanswered: p.Unsettled, SentAgain: p.SentAgain,
	}
}
