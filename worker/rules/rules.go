// Package rules makes posts at the times of rules: from a template, a list, a feed, or texts of an AI.
//
// A rule and its job are written together. A run makes its texts outside of any transaction, and its content and posts
// in the one that ends it, together with the rule's statistics: each occurrence has all of its posts, once, or none and
// a reason. A run that fails is tried again; an occurrence whose attempts are used up counts as a failure, and after
// several in a row the rule pauses itself and raises an alert.
package rules

import (
	"cmp"
	"context"
	"time"

	"belfry/i18n"
	"belfry/platform/ai"
	"belfry/platform/feed"
	"belfry/platform/fetch"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/posts"
)

// Kind is the kind of the jobs that carry out rules.
const Kind = store.RuleKind

// Config is the settings of the worker.
type Config struct {
	AIBase     string `flag:"openai-base-url" env:"OPENAI_BASE_URL" help:"Any server with OpenAI's interface, such as http://127.0.0.1:11434/v1."`
	AIKey      string `flag:"openai-api-key" env:"OPENAI_API_KEY" help:"Its key. With an address or a key, texts are written by the AI."`
	AIModel    string `flag:"ai-model" env:"BELFRY_AI_MODEL" default:"gpt-4o-mini" help:"The model that writes texts."`
	AIRequests int    `flag:"ai-daily-requests" env:"BELFRY_AI_DAILY_REQUESTS" default:"500" help:"Questions to the AI a day at most."`
	AITokens   int    `flag:"ai-daily-tokens" env:"BELFRY_AI_DAILY_TOKENS" default:"1000000" help:"Tokens of the AI a day at most."`

	// Zone is that of rules which name none, and of the AI's days; nil means UTC. Lang is the language of dates in texts.
	Zone *time.Location
	Lang string
}

// Validate refuses what an owner should not set.
func (c Config) Validate() error {
	switch {
	case c.AIRequests < 1:
		return store.Invalid("BELFRY_AI_DAILY_REQUESTS", "invalid.too_small", 1, 1)
	case c.AITokens < 1:
		return store.Invalid("BELFRY_AI_DAILY_TOKENS", "invalid.too_small", 1, 1)
	}
	return nil
}

// Sources are what rules ask outside. Their errors are of type [*platform.Error].
type Sources struct {
	Write func(ctx context.Context, messages []ai.Message) (ai.Text, error) // nil: no AI is set up
	Feed  func(ctx context.Context, address string) ([]feed.Item, error)
}

// Sources returns what the settings name. Feeds may be at private addresses that are allowed.
func (c Config) Sources(private fetch.Allowed) (Sources, error) {
	out := Sources{Feed: feed.New(private).Read}
	if c.AIBase == "" && c.AIKey == "" {
		return out, nil
	}
	client, err := ai.New(ai.Config{Base: c.AIBase, Key: c.AIKey, Model: c.AIModel})
	if err != nil {
		return out, err
	}
	out.Write = client.Write
	return out, nil
}

const (
	// attempts is how often an occurrence is tried, and backoff the pause after the first failure; after the second it is
	// twice that.
	attempts = 3
	backoff  = time.Minute
	jitter   = 0.2
	// runTime bounds a run: texts of an AI, or a feed, and what the networks say about the posts.
	runTime = 4 * time.Minute
	// pauseAfter is how many failures in a row pause a rule, unless it says so itself.
	pauseAfter = 5
)

// Worker carries out rules.
type Worker struct {
	db      *store.DB
	posts   *posts.Worker
	sources Sources
	cfg     Config
	say     i18n.Printer
}

// New returns a worker for the rules in db, whose posts are made by w.
func New(db *store.DB, w *posts.Worker, sources Sources, cfg Config) *Worker {
	cfg.Zone = cmp.Or(cfg.Zone, time.UTC)
	cfg.AIRequests, cfg.AITokens = cmp.Or(cfg.AIRequests, 500), cmp.Or(cfg.AITokens, 1_000_000)
	return &Worker{db, w, sources, cfg, i18n.For(cfg.Lang, cfg.Zone)}
}

// HasAI reports whether an AI is set up.
func (w *Worker) HasAI() bool { return w.sources.Write != nil }

// Limits are what the AI may be asked in a day.
func (w *Worker) Limits() (requests, tokens int) { return w.cfg.AIRequests, w.cfg.AITokens }

// Zone is the time zone of rules that name none.
func (w *Worker) Zone() *time.Location { return w.cfg.Zone }

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	return worker.Module{Kinds: map[string]scheduler.Kind{Kind: {
		Worker: w, Timeout: runTime + 10*time.Second, Retry: scheduler.Retry{Attempts: attempts, Backoff: backoff, Jitter: jitter},
	}}}
}
