// Package alerts decides what those who run Belfry have to be told of because it is wrong, tells them
// once, and tells them when it is over.
//
// A post, a broadcast or a login that fails raises its [store.Alert] in the transaction in which it fails. What
// only time can tell, the job alerts looks at once a minute: the schedule, the connections, the disk. It
// tells what is new over Telegram and to a webhook; alerts that were raised in between make it due at once.
// As long as an alert stands, the same is not told again. A look costs what there is to find, and not what
// there is.
//
// Each look also calls the address of a heartbeat as long as nobody has to look at anything, so that a server that
// is dead is noticed elsewhere.
package alerts

import (
	"cmp"
	"context"
	"fmt"
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

// Kind is the kind of the job that looks, and its name.
const Kind = "alerts"

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
	period   = time.Minute     // between two looks
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
	return worker.Module{
		Kinds:      map[string]scheduler.Kind{Kind: {Worker: looker{w}, Timeout: time.Minute, Retry: scheduler.Retry{Backoff: 10 * time.Second, Jitter: 0.2}}},
		EvenPaused: func(lane string) bool { return lane == Kind },
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

// start puts the job into the schedule, in a lane of its own: what keeps others waiting must not keep it.
func (w *Worker) start() error {
	err := w.db.Update(func(tx *store.Tx) error {
		if job, err := tx.Jobs.ByName(Kind); err == nil {
			w.gap.Store(&gap{job.LastRun, w.last.clock})
		}
		if err := scheduler.Delete(tx, "heartbeat"); err != nil { // of older files
			return err
		}
		return scheduler.Put(tx, store.Job{Name: Kind, Kind: Kind, Lane: Kind, Trigger: store.Trigger{Every: period}, Due: tx.Now()})
	})
	if err != nil {
		return fmt.Errorf("put the job of alerts into the schedule: %w", err)
	}
	return nil
}
