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
	"io"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
	AIImages   string `flag:"ai-image-model" env:"BELFRY_AI_IMAGE_MODEL" default:"gpt-image-1" help:"The model that makes pictures."`
	Embed      string `flag:"embed-model" env:"BELFRY_EMBED_MODEL" help:"A model of the same server that makes vectors (embeddings), such as\ntext-embedding-3-small. With it messages of channels are also found by their meaning."`
	Dimensions int    `flag:"embed-dimensions" env:"BELFRY_EMBED_DIMENSIONS" default:"0" help:"The length of its vectors, if the model can shorten them, such as 512;\n0 is its own. Each message takes about as many bytes in the file."`
	AIRequests int    `flag:"ai-daily-requests" env:"BELFRY_AI_DAILY_REQUESTS" default:"500" help:"Questions to the AI a day at most. A fifth is kept for posts."`
	AITokens   int    `flag:"ai-daily-tokens" env:"BELFRY_AI_DAILY_TOKENS" default:"1000000" help:"Tokens of the AI a day at most. A fifth is kept for posts."`

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
	case c.Dimensions < 0:
		return store.Invalid("BELFRY_EMBED_DIMENSIONS", "invalid.too_small", 0, 0)
	case c.Embed != "" && c.AIBase == "" && c.AIKey == "":
		return store.Invalid("BELFRY_EMBED_MODEL", "invalid.embed_without_ai")
	}
	return nil
}

// Sources are what rules ask outside. Their errors are of type [*platform.Error].
type Sources struct {
	Write func(ctx context.Context, messages []ai.Message) (ai.Text, error) // nil: no AI is set up
	Draw  func(ctx context.Context, prompt string) (ai.Picture, error)      // likewise
	Embed func(ctx context.Context, texts []string) (ai.Vectors, error)     // nil: no model for it is set up
	// Keep keeps a picture as an uploaded file.
	Keep func(ctx context.Context, name, claimed string, from io.Reader) (store.MediaFile, error)
	Feed func(ctx context.Context, address string) ([]feed.Item, error)
}

// Sources returns what the settings name. Feeds may be at private addresses that are allowed.
func (c Config) Sources(private fetch.Allowed) (Sources, error) {
	out := Sources{Feed: feed.New(private).Read}
	if c.AIBase == "" && c.AIKey == "" {
		return out, nil
	}
	client, err := ai.New(ai.Config{Base: c.AIBase, Key: c.AIKey, Model: c.AIModel, EmbedModel: c.Embed, Dimensions: c.Dimensions, ImageModel: c.AIImages})
	if err != nil {
		return out, err
	}
	out.Write, out.Draw = client.Write, client.Draw
	if c.Embed != "" {
		out.Embed = client.Embed
	}
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

	// Of metrics.
	askedDone    = "done"
	askedFailed  = "failed"
	askedBudget  = "budget"
	tokensPrompt = "prompt"
	tokensAnswer = "completion"
)

// Worker carries out rules.
type Worker struct {
	db        *store.DB
	posts     *posts.Worker
	sources   Sources
	cfg       Config
	i18n.Live // the zone is that of rules that name none

	requests *prometheus.CounterVec // to the AI, by result
	tokens   *prometheus.CounterVec // of the AI, by kind
}

// New returns a worker for the rules in db, whose posts are made by w.
func New(db *store.DB, w *posts.Worker, sources Sources, cfg Config) *Worker {
	cfg.AIRequests, cfg.AITokens = cmp.Or(cfg.AIRequests, 500), cmp.Or(cfg.AITokens, 1_000_000)
	made := &Worker{db: db, posts: w, sources: sources, cfg: cfg}
	made.SetLocale(cfg.Lang, cfg.Zone)
	made.requests = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "belfry_ai_requests_total", Help: "Questions to the AI: answered, failed, or not asked because the day's budget is used up.",
	}, []string{"result"})
	made.tokens = prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "belfry_ai_tokens_total", Help: "Tokens that the AI took, of questions and of answers.",
	}, []string{"kind"})
	for _, result := range []string{askedDone, askedFailed, askedBudget} {
		made.requests.WithLabelValues(result)
	}
	for _, kind := range []string{tokensPrompt, tokensAnswer} {
		made.tokens.WithLabelValues(kind)
	}
	return made
}

// HasAI reports whether an AI is set up.
func (w *Worker) HasAI() bool { return w.sources.Write != nil }

// Limits are what the AI may be asked in a day.
func (w *Worker) Limits() (requests, tokens int) { return w.cfg.AIRequests, w.cfg.AITokens }

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	return worker.Module{Metrics: []prometheus.Collector{w.requests, w.tokens}, Kinds: scheduler.Kinds{Kind: {
		Worker: w, Timeout: runTime + 10*time.Second, Retry: scheduler.Retry{Attempts: attempts, Backoff: backoff, Jitter: jitter},
		About: worker.About(func(tx *store.Tx) store.Table[store.Rule] { return tx.Rules.Table }, func(r store.Rule) string { return r.Name }),
	}}}
}
