// Package pipeline takes the messages of channels through its stages: their pictures are described, they are tagged,
// their links are read, they are indexed, their albums put together, and all of it is handed on.
//
// A stage takes events from a topic of the store's streams, works on each message outside of any transaction, with a
// deadline, and writes what it learned in one: the message, its passport, the event for the stages behind it and how
// far the stage has come. So nothing is lost, and nothing takes effect twice. What fails is tried again later and
// parked at last; it keeps nothing else waiting, and what follows goes on without it.
package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"belfry/platform/ai"
	"belfry/platform/article"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// Kind is the kind of the jobs that carry out stages.
const Kind = "stage"

// jobName is the name of a stage's job, and its lane.
func jobName(stage string) string { return "stage_" + stage }

// Config is the settings of the worker.
type Config struct {
	Vision bool          `flag:"vision" env:"BELFRY_VISION" default:"true" help:"Have the AI, if one is set up, describe the pictures of messages."`
	AITags bool          `flag:"ai-tags" env:"BELFRY_AI_TAGS" default:"false" help:"Have the AI choose tags, besides the rules of tags."`
	Links  bool          `flag:"read-links" env:"BELFRY_READ_LINKS" default:"true" help:"Read what the links of messages lead to."`
	Keep   time.Duration `flag:"messages-keep" env:"BELFRY_MESSAGES_KEEP" default:"8760h" help:"How long messages are kept; 0 keeps them for ever."`
	Most   int           `flag:"messages-max" env:"BELFRY_MESSAGES_MAX" default:"1000000" help:"How many messages are kept at most."`
	Relay  string        `flag:"relay-redis" env:"BELFRY_RELAY_REDIS" help:"Redis to hand the streams to, such as redis://127.0.0.1:6379/0."`
	Length int64         `flag:"relay-length" env:"BELFRY_RELAY_LENGTH" default:"100000" help:"How many events each stream in Redis keeps, roughly; 0 keeps all."`

	// Ask has the AI answer, within the day's budget; nil: there is none. Its errors are of type [*platform.Error].
	Ask func(ctx context.Context, messages []ai.Message) (string, error)
	// Index puts a document into the index; fresh says that it is about what has just happened in its channel.
	Index func(tx *store.Tx, d *store.Document, fresh bool) error
	// Vectors has a model make vectors of messages, as search.Worker.Vectors does; nil: there is none.
	Vectors func(ctx context.Context, messages []uint64) (map[uint64]store.Vector, error)
	// Read reads what a link leads to. Its errors are of type [*platform.Error].
	Read func(ctx context.Context, address string) (article.Article, error)
}

// Validate refuses what an owner should not set.
func (c Config) Validate() error {
	switch {
	case c.Keep < 0 || c.Keep > 0 && c.Keep < 24*time.Hour:
		return store.Invalid("BELFRY_MESSAGES_KEEP", "invalid.messages_keep")
	case c.Most < 1000:
		return store.Invalid("BELFRY_MESSAGES_MAX", "invalid.too_small", 1000, 1000)
	}
	_, err := newRelay(c)
	return err
}

// Worker carries out the stages.
type Worker struct {
	db     *store.DB
	cfg    Config
	stages []Stage
	relay  *relay // nil: nothing is handed on
	hung   atomic.Pointer[hang]
}

// Stage is one step of the pipeline.
type Stage struct {
	Name     string
	From, To store.Topic   // an event of From that was handled is followed by one of To; empty: by none
	Batch    int           // events that are handled together
	Parallel int           // how many of them at once
	Deadline time.Duration // of one
	Attempts int           // after so many failures an event is parked
	Off      bool          // messages pass it as they are
	OnlyDone bool          // an event follows only where there was something to do
	// Work does what the stage does for a message as it was read just now. It is called outside of any transaction, for
	// several messages at once. Without an error, nothing of what it returns counts twice.
	Work func(ctx context.Context, e store.Event, m store.Message) (Result, error)
	// Together, if not nil, returns Work for the messages of a batch. It does nothing else by itself.
	Together func(ctx context.Context, all map[uint64]store.Message) func(ctx context.Context, e store.Event, m store.Message) (Result, error)
}

// Result is what a stage learned of a message.
type Result struct {
	// Write changes the message, and what else there is to write, in the transaction that records that the stage is
	// done. The message is as it is then. nil: there was nothing to do.
	Write func(tx *store.Tx, m *store.Message) error
	Why   store.Reason // of there being nothing to do
	Again time.Time    // it is too early: the event is handled once more then
}

// New returns a worker for the messages in db.
func New(db *store.DB, cfg Config) (*Worker, error) {
	w := &Worker{db: db, cfg: cfg}
	w.stages = []Stage{w.vision(), w.tag("tag", store.TopicParsed), w.tag("retag", store.TopicVision), w.enrich(), w.index()}
	if cfg.Vectors != nil {
		w.stages = append(w.stages, w.embed())
	}
	w.stages = append(w.stages, w.album())
	var err error
	w.relay, err = newRelay(cfg)
	return w, err
}

// Stages returns the stages in the order in which a message passes them.
func (w *Worker) Stages() []Stage { return w.stages }

// stage returns the stage with a name.
func (w *Worker) stage(name string) (Stage, error) {
	at := slices.IndexFunc(w.stages, func(s Stage) bool { return s.Name == name })
	if at < 0 {
		var names []string
		for _, s := range w.stages {
			names = append(names, s.Name)
		}
		return Stage{}, store.Invalid("stage", "invalid.stage", name, strings.Join(names, ", "))
	}
	return w.stages[at], nil
}

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	retry := scheduler.Retry{Attempts: 3, Backoff: 10 * time.Second, Jitter: 0.2}
	kinds := scheduler.Kinds{
		Kind:      {Worker: runner{w}, Timeout: runTime + 10*time.Second, Retry: retry, Routine: true},
		RelayKind: {Worker: w.relay.runner(w.db), Timeout: relayTime + 10*time.Second, Retry: retry, Routine: true},
		CleanKind: {Worker: cleaner{w}, Timeout: time.Minute, Retry: retry, Routine: true},
	}
	return worker.Module{Kinds: kinds, Start: w.start, Wrong: w.wrong, Metrics: w.metrics()}
}

// idle is how often a stage without work looks whether there is some. An event that is appended wakes it.
const idle = time.Hour

// start puts the jobs of the stages into the schedule, and removes the groups that no stage has any more.
func (w *Worker) start() error {
	err := w.db.Update(func(tx *store.Tx) error {
		known := map[string]bool{}
		for _, s := range w.stages {
			known[s.Name] = true
			if err := tx.Streams.Join(s.Name, s.From, jobName(s.Name)); err != nil {
				return err
			}
			if err := put(tx, Kind, jobName(s.Name), store.Trigger{Every: idle}); err != nil {
				return err
			}
		}
		for _, topic := range store.Topics {
			if w.relay == nil {
				break
			}
			known[relayGroup(topic)] = true
			if err := tx.Streams.Join(relayGroup(topic), topic, RelayKind); err != nil {
				return err
			}
		}
		var gone []string
		for group := range tx.Streams.Groups.All() {
			if !known[group.Name] {
				gone = append(gone, group.Name)
			}
		}
		for _, name := range gone {
			if err := errors.Join(tx.Streams.Leave(name), scheduler.Delete(tx, jobName(name))); err != nil {
				return err
			}
		}
		if w.relay == nil {
			if err := scheduler.Delete(tx, RelayKind); err != nil {
				return err
			}
		} else if err := put(tx, RelayKind, RelayKind, store.Trigger{Every: idle}); err != nil {
			return err
		}
		return put(tx, CleanKind, CleanKind, store.Trigger{Every: time.Hour})
	})
	if err != nil {
		return fmt.Errorf("put the stages into the schedule: %w", err)
	}
	return nil
}

func put(tx *store.Tx, kind, name string, trigger store.Trigger) error {
	return scheduler.Put(tx, store.Job{Name: name, Kind: kind, Lane: name, Trigger: trigger, Due: tx.Now()})
}

// earliest returns the earlier of two times, of which a zero one is none.
func earliest(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
