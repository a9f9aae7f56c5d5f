// Package alerts decides what those who run Belfry have to be told of because it is wrong, tells them
// once, and tells them when it is over.
//
// A post, a broadcast or a login that fails raises its [store.Alert] in the transaction in which it fails. What
// only time can tell, the worker looks at once a minute: the schedule, the connections, the disk. It tells what is
// new over Telegram and to a webhook; alerts that were raised in between have it look within seconds. As long as an
// alert stands, the same is not told again. A look costs what there is to find, and not what there is, and writes
// nothing if nothing has changed.
//
// After each look the address of a heartbeat is called if nobody has to look at anything, so that a server that is
// dead is noticed elsewhere. Looks are no job of the schedule: they also tell of a schedule that stands still.
package alerts

import (
	"cmp"
	"context"
	"errors"
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
	// Heartbeat is called after each look while nobody has to look at anything; nil means that nothing is.
	Heartbeat func(ctx context.Context) error
	// Lang is the language of the messages, en or ru; Zone that of their times; nil means UTC.
	Lang string
	Zone *time.Location
	Log  zerolog.Logger
}

const (
	period     = time.Minute      // between two looks
	afterError = 10 * time.Second // until the next look, if one has failed
	gather     = 5 * time.Second  // between an alert and the look that tells of it, if nothing was told for a period
	failures   = 3                // in a row of one job that are told
	overdue    = 5 * time.Minute  // that something may be due without being started
)

// Worker finds out what is wrong.
type Worker struct {
	db     *store.DB
	teller Teller
	cfg    Config
	i18n.Live

	// Of the looks alone, of which one is taken at a time:
	backlog backlog   // of the last ones
	last    lookedAt  // or the start, before the first look
	told    time.Time // when something was told last, with the monotonic reading

	gap atomic.Pointer[gap] // the last one
}

// New returns a worker for the alerts in db.
func New(db *store.DB, teller Teller, cfg Config) *Worker {
	cfg.Calm = cmp.Or(cfg.Calm, 3*time.Minute)
	cfg.Backlog = cmp.Or(cfg.Backlog, 100)
	w := &Worker{db: db, teller: teller, cfg: cfg, last: lookedAt{db.Now().Round(0), time.Now()}}
	w.SetLocale(cfg.Lang, cfg.Zone)
	w.gap.Store(&gap{to: w.last.clock})
	return w
}

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	return worker.Module{
		Start:   w.start,
		Run:     w.run,
		Metrics: []prometheus.Collector{worker.Gauge(w.db, "belfry_alerts", "Alerts by state.", []string{"state"}, countAlerts)},
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

// start removes the jobs of older files, and says until when the program has surely run before.
func (w *Worker) start() error {
	err := w.db.Update(func(tx *store.Tx) error {
		for run := range tx.Runs.Newest(0) {
			w.gap.Store(&gap{run.Ended, w.last.clock})
			break
		}
		return errors.Join(scheduler.Delete(tx, "heartbeat"), scheduler.Delete(tx, "alerts"))
	})
	if err != nil {
		return fmt.Errorf("remove the jobs that looked for what is wrong: %w", err)
	}
	return nil
}
