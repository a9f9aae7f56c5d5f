package search

import (
	"context"
	"net/http"
	"sync"
	"time"

	"belfry/i18n"
	"belfry/platform/fetch"
	"belfry/platform/webhook"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/posts"
)

// Teller writes what the bot is to tell the admins.
type Teller interface {
	Tell(tx *store.Tx, n store.Notice, more ...string) error
}

// Config is how the worker is set up.
type Config struct {
	Zone    *time.Location // of the times in notices; nil means UTC
	Lang    string         // of notices
	Private fetch.Allowed  // what webhooks may call although it is not public
	// Embed has the model of this name make vectors of texts; nil: messages are found by their words alone. Its errors are
	// of type [*platform.Error].
	Embed func(ctx context.Context, texts []string) ([][]float32, error)
	Model string
}

// Worker keeps the index, and carries out what watches do.
type Worker struct {
	db     *store.DB
	cfg    Config
	teller Teller
	posts  *posts.Worker
	calls  http.RoundTripper // of webhooks
	i18n.Live

	mu     sync.Mutex
	parsed map[string]Query        // of watches, by their text
	meant  map[string]store.Vector // of queries, by what is meant
}

// New returns a worker for the messages in db, whose notices are sent by teller and whose drafts are made by w.
func New(db *store.DB, teller Teller, w *posts.Worker, cfg Config) *Worker {
	made := &Worker{
		db: db, cfg: cfg, teller: teller, posts: w, calls: webhook.Guarded(cfg.Private),
		parsed: make(map[string]Query), meant: make(map[string]store.Vector),
	}
	made.SetLocale(cfg.Lang, cfg.Zone)
	return made
}

// attempts is how often a watch tries what it does with a message, and backoff the pause after the first failure: a receiver
// may be away for five hours.
const (
	attempts = 12
	backoff  = 5 * time.Minute
	jitter   = 0.2
)

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	return worker.Module{Kinds: scheduler.Kinds{store.WatchKind: {
		Worker: w, Timeout: time.Minute, Retry: scheduler.Retry{Attempts: attempts, Backoff: backoff, Jitter: jitter}, About: w.about,
	}}}
}

// about is the name of the watch that has found a message.
func (w *Worker) about(tx *store.Tx, hit uint64) string {
	found, err := tx.WatchHits.Get(hit)
	if err != nil {
		return ""
	}
	watch, _ := tx.Watches.Get(found.WatchID) // one that is gone has no name
	return watch.Name
}

// Add puts a document into the index, in the place of the one before of its message. One that is fresh is compared with
// the watches: what they do with it is put into the schedule, once for each watch and message. Fresh is what has just
// been written or changed in its channel, and not what is read of its past.
func (w *Worker) Add(tx *store.Tx, d *store.Document, fresh bool) error {
	if err := tx.Documents.Save(d); err != nil || !fresh {
		return err
	}
	return w.match(tx, d)
}
