// Package accounts watches profiles on other sites and tells the admins what became of them.
//
// The job autocheck goes over the accounts that are looked for, and over those that are found and
// kept in sight. A run takes one step of a check, asks a site at most once, and asks to be called
// again when the next site may be asked: the sites take turns, and nothing waits in memory, so a check goes
// on after a restart where it was. While one is under way, another may begin on the sites that it has left.
//
// It promises that nothing is believed of an account which a site only refused to say: a site's
// "there is nobody" counts in a check in which it has found a profile that surely exists, and what
// is believed of an account changes only when the site has said so twice. What the admins are told
// is written with what it is about, in one transaction.
package accounts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"belfry/i18n"
	"belfry/platform"
	"belfry/platform/profile"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// Kind is the kind of the job that goes over the accounts.
const Kind = "autocheck"

// JobName is the name of the job that goes over the accounts.
const JobName = "autocheck"

// lane is that of the job.
const lane = "autocheck"

// A Teller writes what those who run Belfry are told, and perhaps other chats, in the transaction that
// it is about. It sees to its being sent.
type Teller interface {
	Tell(tx *store.Tx, n store.Notice, more ...string) error
}

// Config is the settings of the worker. The zero value is good.
type Config struct {
	// MinPause and MaxPause bound the pause between two questions; 0 means 3 and 5 s.
	MinPause time.Duration `flag:"check-min-pause" env:"BELFRY_CHECK_MIN_PAUSE" default:"3s" help:"Shortest pause between two account checks."`
	MaxPause time.Duration `flag:"check-max-pause" env:"BELFRY_CHECK_MAX_PAUSE" default:"5s" help:"Longest pause between two account checks."`
	// Refusals is how many in a row have a check give a site up; 0 means 5.
	Refusals int
	// Backoff is how long a site is left alone that was given up; it doubles with each time in a
	// row, up to MaxBackoff. 0 means 10 minutes and 6 hours.
	Backoff, MaxBackoff time.Duration
	// Identity asks the sites that are asked through a login, such as Telegram; nil if nothing does.
	Identity profile.Prober
	// Lang is the language of the messages, en or ru; Zone that of their times; nil means UTC.
	Lang string
	Zone *time.Location
	Log  zerolog.Logger
}

// Validate refuses what an owner should not set.
func (c Config) Validate() error {
	if c.MinPause <= 0 || c.MaxPause < c.MinPause {
		return store.Invalid("BELFRY_CHECK_MAX_PAUSE", "invalid.check_pauses")
	}
	return nil
}

const (
	// defaultInterval is the time between two checks unless another is set.
	defaultInterval = 5 * time.Minute
	// deadline is how long one question may take.
	deadline = time.Minute
	// patience is how long a check waits because a site asks it to. Longer, and the site is given up.
	patience = 2 * time.Minute
	// longestWait bounds what a site may ask for.
	longestWait = 7 * 24 * time.Hour
	jitter      = 0.2
)

// Worker watches accounts.
type Worker struct {
	db     *store.DB
	http   profile.Prober
	teller Teller
	cfg    Config
	i18n.Live
	pause func(from, to time.Duration) time.Duration

	mu    sync.Mutex
	owned ownRules // the owner's rules as they were last read
}

// New returns a worker for the accounts in db. http asks sites over HTTP, and teller tells
// the admins.
func New(db *store.DB, http profile.Prober, teller Teller, cfg Config) *Worker {
	cfg.MinPause = cmp.Or(cfg.MinPause, 3*time.Second)
	cfg.MaxPause = max(cmp.Or(cfg.MaxPause, 5*time.Second), cfg.MinPause)
	cfg.Refusals = cmp.Or(cfg.Refusals, 5)
	cfg.Backoff = cmp.Or(cfg.Backoff, 10*time.Minute)
	cfg.MaxBackoff = max(cmp.Or(cfg.MaxBackoff, 6*time.Hour), cfg.Backoff)
	w := &Worker{db: db, http: http, teller: teller, cfg: cfg, pause: worker.Pause}
	w.SetLocale(cfg.Lang, cfg.Zone)
	return w
}

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	return worker.Module{
		Kinds: scheduler.Kinds{
			Kind: {Worker: checker{w}, Timeout: deadline + time.Minute, Retry: scheduler.Retry{Backoff: 10 * time.Second, Jitter: jitter}},
		},
		Start: w.start,
		Metrics: []prometheus.Collector{worker.Counts(w.db, "belfry_accounts", "Watched accounts by status.", []string{"status"}, worker.Each(store.AccountStates()),
			func(tx *store.Tx) []store.Count { return tx.Accounts.Counts() })},
	}
}

// start puts the job into the schedule if there is an account and it is not there yet: then it runs at
// once. Without accounts there is nothing to do; the first one that is added brings it.
func (w *Worker) start() error {
	var job store.Job
	err := w.db.Update(func(tx *store.Tx) (err error) {
		job = store.Job{}
		if _, err = tx.Jobs.ByName(JobName); errors.Is(err, store.ErrNotFound) && !hasAny(tx) {
			return nil
		}
		job, err = w.put(tx)
		return err
	})
	if err != nil {
		return fmt.Errorf("put %s into the schedule: %w", JobName, err)
	}
	if job.ID == 0 {
		return nil
	}
	w.cfg.Log.Info().Dur("interval", job.Trigger.Every).Msg("autocheck initialised")
	next := w.cfg.Log.Info().Str("state", string(job.State))
	if !job.Due.IsZero() { // one that runs has no next time yet
		next = next.Time("at", job.Due)
	}
	next.Msg("next check scheduled")
	return nil
}

// hasAny reports whether there is an account.
func hasAny(tx *store.Tx) bool {
	for range tx.Accounts.All() {
		return true
	}
	return false
}

// put writes the job. One that is there keeps the interval that somebody gave it.
func (w *Worker) put(tx *store.Tx) (store.Job, error) {
	job, err := tx.Jobs.ByName(JobName)
	if errors.Is(err, store.ErrNotFound) {
		every, err := w.Interval(tx)
		if err != nil {
			return job, err
		}
		job = store.Job{Name: JobName, Trigger: store.Trigger{Every: every}, Due: tx.Now()}
	} else if err != nil {
		return job, err
	}
	job.Kind, job.Lane = Kind, lane
	if err := scheduler.Put(tx, job); err != nil {
		return job, err
	}
	return tx.Jobs.ByName(JobName)
}

// prober returns who asks a site; nil if nobody does.
func (w *Worker) prober(rule profile.Rule) profile.Prober {
	if rule.Via == profile.ViaIdentity {
		return w.cfg.Identity
	}
	return w.http
}

// ask asks a site about a name. What went wrong with the question is a refusal too; the error is that
// of a context that has ended. known is false for a name that the site cannot have.
func (w *Worker) ask(ctx context.Context, rule profile.Rule, username string) (r profile.Result, known bool, err error) {
	call, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	r, err = w.prober(rule).Probe(call, rule, username)
	switch {
	case err == nil:
		r.RetryAfter = min(max(0, r.RetryAfter), longestWait)
		return r, true, nil
	case ctx.Err() != nil:
		return r, true, err
	}
	e := platform.AsError(err)
	r = profile.Result{Outcome: profile.Refused, Detail: e.Error(), RetryAfter: min(max(0, e.Wait), longestWait)}
	return r, e.Field != "username", nil
}
