// Package tasks sends one post to many chats as a user account: slowly, politely, and exactly once
// to each chat.
//
// A task is one job. A run sends to one chat, or finds out why nothing may be sent now, and asks to
// be called again: nothing waits in memory, so a broadcast of a week survives every restart. The
// tasks of an account share its lane and its [store.Pace], in which each takes a turn after the
// other.
package tasks

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

// The kinds of jobs of this package.
const (
	Kind        = store.TaskKind // sends to one chat after the other
	PrepareKind = "task_prepare" // writes the list of chats of a large task
	CheckKind   = "task_check"   // a dry run: finds out which chats can be reached
	ListKind    = "chat_list"    // lists the chats of an account
)

// Platform is the network of broadcasts.
const Platform = "telegram"

// Me is the target that stands for the account itself: what it keeps as its saved messages.
const Me = "me"

// Network is Telegram as broadcasts need it. Its errors are of type [*platform.Error].
type Network interface {
	// Check finds what the network would not accept, without asking it, and measures the text.
	Check(p platform.Post) (platform.Measure, error)
	// Fetchable asks for media that are to be fetched from somewhere else.
	Fetchable(ctx context.Context, p platform.Post) error
	// Resolve finds the chat that a target names, without asking the network if the identity has
	// met it before: then asked is false, and that it can be written to is taken for granted.
	Resolve(ctx context.Context, identityID uint64, target string) (chat platform.Chat, asked bool, err error)
	// Chats lists the chats of an account.
	Chats(ctx context.Context, identityID uint64) ([]platform.Chat, error)
	// Publisher sends posts as an identity. It knows the target "me".
	Publisher(identityID uint64) platform.Publisher
}

// Config is the settings of the worker. The zero value is good.
type Config struct {
	// MinPause and MaxPause bound the pause between two chats where a task does not say; 0 means 20
	// and 40 s.
	MinPause time.Duration `flag:"min-seconds-between-chats" env:"MIN_SECONDS_BETWEEN_CHATS" default:"20" unit:"s" help:"Shortest pause between two chats of a broadcast."`
	MaxPause time.Duration `flag:"max-seconds-between-chats" env:"MAX_SECONDS_BETWEEN_CHATS" default:"40" unit:"s" help:"Longest pause between two chats of a broadcast."`
	// Attempts is how often a task is taken up; 0 means 3. Backoff is the pause before it is taken
	// up again; 0 means a minute.
	Attempts int `flag:"max-task-attempts" env:"MAX_TASK_ATTEMPTS" default:"3" help:"Attempts of a broadcast that fails before it ends."`
	Backoff  time.Duration
	// Refusals is how many chats in a row have to refuse a post with the same words, of which nobody knows
	// what they are about, before its task ends; 0 means 5.
	Refusals int `flag:"task-refusals" env:"BELFRY_TASK_REFUSALS" default:"5" help:"A broadcast ends when so many chats in a row refuse it\nfor the same unknown reason."`
	// Targets are the chats of a task that names none.
	Targets []string `flag:"target-chat-ids" env:"TARGET_CHAT_IDS" help:"Default chats of broadcasts: ids, @names or links, separated by commas."`
	// Zone is that of quiet hours and of the days of the cap; nil means UTC.
	Zone *time.Location
	// Deadline is how long a call with text alone may take; 0 means 30 s. One with media may take
	// ten times that.
	Deadline time.Duration
}

// Validate refuses what an owner should not set.
func (c Config) Validate() error {
	switch {
	case c.MinPause < 0:
		return store.Invalid("MIN_SECONDS_BETWEEN_CHATS", "invalid.too_small", 0, 20)
	case c.MaxPause < c.MinPause:
		return store.Invalid("MAX_SECONDS_BETWEEN_CHATS", "invalid.pause_order")
	case c.Attempts < 1:
		return store.Invalid("MAX_TASK_ATTEMPTS", "invalid.too_small", 1, 1)
	case c.Refusals < 1:
		return store.Invalid("BELFRY_TASK_REFUSALS", "invalid.too_small", 1, 1)
	case len(c.Targets) == 0:
		return nil
	}
	err := new(Draft).setTargets(c.Targets, nil)
	if e, ok := errors.AsType[*store.FieldError](err); ok {
		return store.Invalid("TARGET_CHAT_IDS", e.Key, e.Args...)
	}
	return err
}

const (
	// mediaDeadline is how many times longer a call with media may take than one without.
	mediaDeadline = 10
	// chatFailures is how many failures that may pass a chat is allowed.
	chatFailures = 3
	// chatBackoff is the pause after the first of them; it grows with each.
	chatBackoff = time.Minute
)

// Worker makes and sends broadcasts.
type Worker struct {
	db      *store.DB
	network Network
	cfg     Config
	pause   func(from, to time.Duration) time.Duration
	zone    atomic.Pointer[time.Location]
	ended   func(*store.Tx, store.Task) error // tells of a task that is done; nil: nobody is told

	deliveries *prometheus.CounterVec // by result
}

// New returns a worker for the tasks in db.
func New(db *store.DB, network Network, cfg Config) *Worker {
	cfg.MinPause = cmp.Or(cfg.MinPause, 20*time.Second)
	cfg.MaxPause = max(cmp.Or(cfg.MaxPause, 40*time.Second), cfg.MinPause)
	cfg.Attempts = cmp.Or(cfg.Attempts, 3)
	cfg.Backoff = cmp.Or(cfg.Backoff, time.Minute)
	cfg.Refusals = cmp.Or(cfg.Refusals, 5)
	cfg.Zone = cmp.Or(cfg.Zone, time.UTC)
	cfg.Deadline = cmp.Or(cfg.Deadline, 30*time.Second)
	deliveries := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "belfry_deliveries_total", Help: "Chats of broadcasts that were sent to, failed or were skipped.",
	}, []string{"result"})
	for _, result := range []store.DeliveryStatus{store.DeliverySent, store.DeliveryFailed, store.DeliverySkipped} {
		deliveries.WithLabelValues(string(result))
	}
	w := &Worker{db: db, network: network, cfg: cfg, pause: worker.Pause, deliveries: deliveries}
	w.zone.Store(cfg.Zone)
	return w
}

// OnEnd has tell told of tasks that are done: that one has failed is an alert. It is called before anything is served.
func (w *Worker) OnEnd(tell func(*store.Tx, store.Task) error) { w.ended = tell }

// SetZone sets the zone of quiet hours, and of the days of the cap. Broadcasts that wait for the end of either look again.
func (w *Worker) SetZone(zone *time.Location) {
	if w.zone.Swap(zone).String() == zone.String() {
		return
	}
	_ = w.db.Update(func(tx *store.Tx) error { // else they look when they would have
		for _, identity := range tx.Identities.Of(Platform) {
			for task := range tx.Tasks.Active(identity.ID) {
				job, err := tx.Jobs.ByName(task.JobName())
				if err == nil && (job.Reason.Code == store.ReasonQuiet || job.Reason.Code == store.ReasonDailyCap) {
					err = tx.Jobs.Wake(job.Name, tx.Now())
				}
				if err != nil && !errors.Is(err, store.ErrNotFound) {
					return err
				}
			}
		}
		return nil
	})
}

func (w *Worker) metrics() []prometheus.Collector {
	return []prometheus.Collector{w.deliveries,
		worker.Counts(w.db, "belfry_tasks", "Broadcasts by status.", []string{"status"}, worker.Each(store.TaskStatuses()), func(tx *store.Tx) []store.Count { return tx.Tasks.Counts() })}
}

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	about := worker.About(func(tx *store.Tx) store.Table[store.Task] { return tx.Tasks.Table }, func(t store.Task) string { return t.Text })
	login := worker.About(func(tx *store.Tx) store.Table[store.Identity] { return tx.Identities.Table }, func(i store.Identity) string { return i.Name })
	return worker.Module{Metrics: w.metrics(), Kinds: scheduler.Kinds{
		Kind: {
			Worker:  sender{Worker: w},
			Timeout: mediaDeadline*w.cfg.Deadline + 30*time.Second,
			Retry:   scheduler.Retry{Attempts: w.cfg.Attempts, Backoff: w.cfg.Backoff, Jitter: send.Jitter},
			About:   about,
		},
		PrepareKind: {Worker: preparer{w}, About: about},
		CheckKind:   {Worker: checker{w}, Timeout: 2 * time.Minute, Retry: scheduler.Retry{Attempts: checkAttempts, Backoff: checkBackoff, Jitter: send.Jitter}, About: about},
		ListKind:    {Worker: lister{w}, Timeout: 10 * time.Minute, Retry: scheduler.Retry{Attempts: 5}, About: login},
	}}
}

// platformPost is the task's post to one chat.
func platformPost(t store.Task, key int64, target string) platform.Post {
	return platform.Post{
		Key: key, Target: target, Text: t.Text, Format: platform.Format(t.Format), Media: send.Media(t.Media), MediaKey: t.Key,
		Silent: t.Silent, NoLinkPreview: t.NoLinkPreview,
	}
}
