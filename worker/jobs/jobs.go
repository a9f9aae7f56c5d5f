// Package jobs is the schedule as its owner uses it: jobs of their own, which send a message, call a webhook, carry out
// a rule, check the accounts or make a backup, and the actions that people take on jobs of any kind.
//
// A job's record and its row of the schedule are written together. What a run sends has a key that is written with the
// claim of its first attempt and is the same for each: a message appears once, also where the program ends in between,
// and whoever gets a webhook can recognise a repetition. A job that runs once and fails for good is set aside, so that
// it can be looked at and run again; a repeating one goes on at its next time.
package jobs

import (
	"cmp"
	"errors"
	"net/http"
	"time"

	"belfry/i18n"
	"belfry/platform"
	"belfry/platform/fetch"
	"belfry/platform/webhook"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/accounts"
	"belfry/worker/posts"
	"belfry/worker/rules"
)

// Kind is the kind of the owner's own jobs.
const Kind = store.OwnJobKind

// Config is the settings of the worker.
type Config struct {
	// BackupDir is where backups are written; empty: in the folder backups beside the file. BackupKeep is how many of them
	// are kept; 0 means 7.
	BackupDir  string `flag:"backup-dir" env:"BELFRY_BACKUP_DIR" help:"Folder of the backups that jobs make. By default backups beside the file."`
	BackupKeep int    `flag:"backup-keep" env:"BELFRY_BACKUP_KEEP" default:"7" help:"Backups of jobs that are kept; older ones are removed."`

	Zone    *time.Location // of triggers that name none; nil means UTC
	Lang    string         // of reasons
	Private fetch.Allowed  // what webhooks may call although it is not public
}

// Validate refuses what an owner should not set.
func (c Config) Validate() error {
	if c.BackupKeep < 1 {
		return store.Invalid("BELFRY_BACKUP_KEEP", "invalid.too_small", 1, 1)
	}
	return nil
}

// A Messenger sends messages as identities. Their errors are of type [*platform.Error].
type Messenger interface {
	Publisher(identityID uint64) platform.Publisher
}

// Workers are those whose actions jobs take.
type Workers struct {
	Posts    *posts.Worker
	Rules    *rules.Worker
	Accounts *accounts.Worker
	Messages Messenger
}

const (
	attempts = 3
	backoff  = time.Minute
	// end is what a run has beside the time limit of its attempt.
	end = 10 * time.Second
)

// limit is how long an attempt may take.
func limit(own store.OwnJob) time.Duration {
	standard := 30 * time.Second
	switch own.Action.Type {
	case store.ActionWebhook:
		standard = webhook.Timeout
	case store.ActionBackup:
		standard = 30 * time.Minute
	}
	return cmp.Or(own.Timeout, standard)
}

// Worker runs the owner's own jobs.
type Worker struct {
	db        *store.DB
	with      Workers
	cfg       Config
	calls     http.RoundTripper // of webhooks
	i18n.Live                   // the zone is that of triggers that name none
}

// New returns a worker for the jobs in db.
func New(db *store.DB, with Workers, cfg Config) *Worker {
	cfg.BackupKeep = cmp.Or(cfg.BackupKeep, 7)
	w := &Worker{db: db, with: with, cfg: cfg, calls: webhook.Guarded(cfg.Private)}
	w.SetLocale(cfg.Lang, cfg.Zone)
	return w
}

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	return worker.Module{Kinds: scheduler.Kinds{Kind: {
		Worker: w, Timeout: time.Minute, Retry: scheduler.Retry{Attempts: attempts, Backoff: backoff},
		About: worker.About(func(tx *store.Tx) store.Table[store.OwnJob] { return tx.OwnJobs.Table }, func(j store.OwnJob) string { return j.Title }),
	}}}
}

// job is the row of the schedule of an own job, whose message is sent as the given identity.
func job(own store.OwnJob, identity store.Identity) store.Job {
	lane := own.JobName()
	switch own.Action.Type {
	case store.ActionMessage:
		lane = identity.Lane()
	case store.ActionWebhook:
		lane = "webhook:" + host(own.Action.URL)
	case store.ActionBackup:
		lane = "backups"
	}
	return store.Job{
		Name: own.JobName(), Kind: Kind, Subject: own.ID, Lane: lane, Trigger: own.Trigger, Lateness: own.Lateness,
		Timeout: limit(own) + end, Attempts: own.Attempts, Backoff: own.Backoff, Tags: own.Tags,
	}
}

// put writes an own job's row of the schedule.
func put(tx *store.Tx, own store.OwnJob) error {
	identity, err := tx.Identities.Get(own.Action.IdentityID)
	if own.Action.Type != store.ActionMessage {
		err = nil
	}
	if errors.Is(err, store.ErrNotFound) {
		err = store.Invalid("action.identity_id", "invalid.no_account", own.Action.IdentityID)
	}
	if err != nil {
		return err
	}
	return scheduler.Put(tx, job(own, identity))
}
