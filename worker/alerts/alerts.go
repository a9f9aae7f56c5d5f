// Package alerts decides what those who run Belfry have to be told of because it is wrong, tells them
// once, and tells them when it is over.
//
// A post, a broadcast or a login that fails raises its [store.Alert] in the transaction in which it fails. What
// only time can tell, the job alerts looks at once a minute: the schedule, the connections, the disk. It
// tells what is new over Telegram and to a webhook; alerts that were raised in between make it due at once.
// As long as an alert stands, the same is not told again. A look costs what there is to find, and not what
// there is.
//
// The job heartbeat calls an address as long as nobody has to look at anything, so that a server that
// is dead is noticed elsewhere.
package alerts

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"belfry/i18n"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// The kinds of jobs of this package, which are also their names.
const (
	Kind          = "alerts"
	HeartbeatKind = "heartbeat"
)

// A Teller writes what those who run Belfry are told, in the transaction that it is about. It sees to
// its being sent.
type Teller interface {
	Tell(tx *store.Tx, n store.Notice, more ...string) error
	// TellHook tells the webhook, if there is one. body is JSON.
	TellHook(tx *store.Tx, kind string, body []byte) error
}

// Disk is the room on the disk that the file is on, in bytes.
type Disk struct {
	Free int64
	Need int64 // what ought to be free
}

// Config is the settings of the worker. The zero value is good.
type Config struct {
	// Backlog is how many jobs must wait, more with each of several looks, for the queue to count as
	// growing; 0 means 100.
	Backlog int
	// Calm is how long something must be over to be told so; 0 means 3 minutes.
	Calm time.Duration
	// Disk measures the disk; nil means that nobody looks at it.
	Disk func() (Disk, error)
	// Wrong returns what is wrong with the other workers at this moment; see [worker.Module]. nil means nothing.
	Wrong func(tx *store.Tx) []store.Alert
	// Heartbeat is called each minute while nobody has to look at anything; nil means that nothing is.
	Heartbeat func(ctx context.Context) error
	// Lang is the language of the messages, en or ru; Zone that of their times; nil means UTC.
	Lang string
	Zone *time.Location
	Log  zerolog.Logger
}

const (
	period = time.Minute // between two looks, and two beats
	jitter = 0.2

	failures = 3               // in a row of one job that are told
	overdue  = 5 * time.Minute // that something may be due without being started
)

// Worker finds out what is wrong.
type Worker struct {
	db     *store.DB
	teller Teller
	cfg    Config
	say    i18n.Printer

	// Of the job's runs alone:
	backlog backlog  // of the last looks
	last    lookedAt // or the start, before the first look

	gap atomic.Pointer[gap] // the last one
}

// New returns a worker for the alerts in db.
func New(db *store.DB, teller Teller, cfg Config) *Worker {
	cfg.Calm = cmp.Or(cfg.Calm, 3*time.Minute)
	cfg.Backlog = cmp.Or(cfg.Backlog, 100)
	w := &Worker{db: db, teller: teller, cfg: cfg, say: i18n.For(cfg.Lang, cfg.Zone), last: lookedAt{db.Now().Round(0), time.Now()}}
	w.gap.Store(&gap{to: w.last.clock})
	return w
}

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	retry := scheduler.Retry{Backoff: 10 * time.Second, Jitter: jitter}
	return worker.Module{
		Kinds: map[string]scheduler.Kind{
			Kind:          {Worker: looker{w}, Timeout: time.Minute, Retry: retry},
			HeartbeatKind: {Worker: heart{w}, Timeout: time.Minute, Retry: retry},
		},
		EvenPaused: func(lane string) bool { return lane == Kind || lane == HeartbeatKind },
		Start:      w.start,
		Metrics:    []prometheus.Collector{worker.Gauge(w.db, "belfry_alerts", "Alerts by state.", []string{"state"}, countAlerts)},
	}
}

// countAlerts calls what the store calls over resolved, as the other doors do.
func countAlerts(tx *store.Tx, set func(float64, ...string)) error {
	states := map[string]int{}
	for _, c := range tx.Alerts.Counts() {
		states[strings.Join(c.Of, "")] = c.N
	}
	set(float64(states[string(store.AlertOpen)]), "open")
	set(float64(states[string(store.AlertAcknowledged)]), "acknowledged")
	set(float64(states[string(store.AlertOver)]), "resolved")
	return nil
}

// start puts the jobs into the schedule.
func (w *Worker) start() error {
	err := w.db.Update(func(tx *store.Tx) error {
		if job, err := tx.Jobs.ByName(Kind); err == nil {
			w.gap.Store(&gap{job.LastRun, w.last.clock})
		}
		if err := put(tx, Kind); err != nil {
			return err
		}
		if w.cfg.Heartbeat == nil {
			return scheduler.Delete(tx, HeartbeatKind)
		}
		return put(tx, HeartbeatKind)
	})
	if err != nil {
		return fmt.Errorf("put the jobs of alerts into the schedule: %w", err)
	}
	return nil
}

// put writes a job, which has a lane of its own: what keeps others waiting must not keep it.
func put(tx *store.Tx, kind string) error {
	return scheduler.Put(tx, store.Job{Name: kind, Kind: kind, Lane: kind, Trigger: store.Trigger{Every: period}, Due: tx.Now()})
}

// again has a run followed by another one after that time. Each is a step, of which the history of the
// alerts tells and that of the jobs does not.
func (w *Worker) again() scheduler.Outcome {
	return scheduler.Outcome{Again: w.db.Now().Add(period), Step: true}
}

// heart tells others that nothing is wrong.
type heart struct{ *Worker }

// Run calls the address, unless somebody has to look at an alert.
func (w heart) Run(ctx context.Context, _ store.Job) (scheduler.Outcome, error) {
	out := w.again()
	var wrong []store.Alert
	var restored string
	blind := false
	err := w.db.View(func(tx *store.Tx) (err error) {
		if restored, err = tx.Settings.Value(store.Restored); err != nil {
			return err
		}
		look, err := tx.Jobs.ByName(Kind)
		blind = err != nil || look.LastResult == store.ResultFailed || tx.Now().Sub(look.LastRun).Abs() >= overdue
		return nil
	})
	if err == nil {
		wrong, err = w.Wrong()
	}
	open := slices.ContainsFunc(wrong, func(a store.Alert) bool { return a.State() == store.AlertOpen })
	switch {
	case err != nil:
		return out, fmt.Errorf("look for open alerts: %w", err)
	case restored != "": // the file that it was copied from may be in use: this one does not speak for it
		out.Reason = store.Reason{Code: store.ReasonPaused, Detail: restored}
		return out, nil
	case open || blind:
		out.Reason = store.Reason{Code: store.ReasonAlertsOpen}
		return out, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if err := w.cfg.Heartbeat(ctx); err != nil {
		out.Reason = store.Reason{Code: store.ReasonError, Detail: err.Error()}
	}
	return out, nil
}
