// Package metrics measures what Belfry does, for Prometheus: one of the doors, which only shows.
//
// A scrape costs about as much as there are kinds of job and logins, however many jobs and posts: what is counted is
// counted where it changes. Labels are kinds, states and the lanes of logins, so they stay few; none holds what people
// have written.
package metrics

import (
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/rs/zerolog"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// Metrics are what is measured. Make them with [New]; the hooks may be called from any goroutine.
type Metrics struct {
	registry *prometheus.Registry
	log      zerolog.Logger

	lateness, runTime *prometheus.HistogramVec
	results, retries  *prometheus.CounterVec
	commit            prometheus.Histogram
}

// New returns the metrics of a build, with the hooks for the store and the scheduler; what is to be read of these is
// added with [Metrics.Watch].
func New(version, commit string, log zerolog.Logger) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), log: log,
		lateness: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "belfry_job_lateness_seconds", Help: "Time from when a run was due until it began, waits for a free lane or a flood wait included.",
			Buckets: []float64{0.05, 0.25, 1, 5, 15, 60, 300, 900, 3600, 14400, 86400},
		}, []string{"kind"}),
		runTime: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "belfry_job_run_seconds", Help: "Time that runs took.",
			Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 15, 60, 300},
		}, []string{"kind"}),
		results: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "belfry_job_runs_total", Help: "Runs that ended, and those that were skipped.",
		}, []string{"kind", "result"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "belfry_job_retries_total", Help: "Runs that repeated one, or that are to be repeated after an error of the network.",
		}, []string{"kind"}),
		commit: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "belfry_store_commit_seconds", Help: "Time that the disk took to make a commit durable.",
			Buckets: []float64{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5},
		}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "belfry_build_info", Help: "1, with what was built.",
		ConstLabels: prometheus.Labels{"version": version, "commit": commit, "goversion": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(build, m.lateness, m.runTime, m.results, m.retries, m.commit,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Committed is the hook for [store.Options].
func (m *Metrics) Committed(took time.Duration) { m.commit.Observe(took.Seconds()) }

// Ran is the hook for [scheduler.Config].
func (m *Metrics) Ran(run store.Run, due time.Time) {
	m.results.WithLabelValues(run.Kind, string(run.Result)).Inc()
	if run.Attempt > 1 || run.Reason.Code == store.ReasonRetry {
		m.retries.WithLabelValues(run.Kind).Inc()
	}
	if due.IsZero() || run.Started.IsZero() {
		return
	}
	m.lateness.WithLabelValues(run.Kind).Observe(max(0, run.Started.Sub(due)).Seconds())
	m.runTime.WithLabelValues(run.Kind).Observe(max(0, run.Ended.Sub(run.Started)).Seconds())
}

// Watch adds what the file and the schedule know, and the metrics of the workers. It is called once.
func (m *Metrics) Watch(db *store.DB, s *scheduler.Scheduler, workers []prometheus.Collector) {
	for _, kind := range s.Kinds().Names() { // so that a first failure is an increase
		for _, result := range []store.Result{store.ResultDone, store.ResultFailed} {
			m.results.WithLabelValues(kind, string(result))
		}
		m.retries.WithLabelValues(kind)
	}
	gauge := func(name, help string, labels []string, read func(*store.Tx, func(float64, ...string)) error) {
		m.registry.MustRegister(worker.Gauge(db, name, help, labels, read))
	}
	gauge("belfry_jobs", "Jobs by kind and state.", []string{"kind", "state"}, jobs)
	gauge("belfry_job_next_run_timestamp_seconds", "When the next job is due; missing if none waits.", nil, nextRun)
	gauge("belfry_lane_running", "Runs under way in the lane of a connected account.", []string{"lane"}, func(tx *store.Tx, set func(float64, ...string)) error {
		running := make(map[string]float64)
		for _, r := range s.Status().Running {
			running[r.Lane]++
		}
		for identity := range tx.Identities.All() {
			set(running[identity.Lane()], identity.Lane())
		}
		return nil
	})
	gauge("belfry_store_file_bytes", "Size of the file.", nil, func(tx *store.Tx, set func(float64, ...string)) error {
		set(float64(tx.Size()))
		return nil
	})
	gauge("belfry_store_free_bytes", "Bytes of the file that hold nothing.", nil, func(tx *store.Tx, set func(float64, ...string)) error {
		set(float64(tx.Free()))
		return nil
	})
	gauge("belfry_backup_last_success_timestamp_seconds", "When the last backup was made; 0 if none was.", nil, func(tx *store.Tx, set func(float64, ...string)) error {
		at, err := tx.Settings.LastBackup()
		if at.IsZero() {
			at = time.Unix(0, 0)
		}
		set(float64(at.Unix()))
		return err
	})
	m.registry.MustRegister(workers...)
}

func jobs(tx *store.Tx, set func(float64, ...string)) error {
	for _, c := range tx.Jobs.Counts() {
		set(float64(c.N), c.Kind, string(c.State))
	}
	return nil
}

// nextRun costs one look-up for each lane.
func nextRun(tx *store.Tx, set func(float64, ...string)) error {
	var next time.Time
	for _, at := range tx.Jobs.Lanes() {
		if next.IsZero() || at.Before(next) {
			next = at
		}
	}
	if !next.IsZero() {
		set(float64(next.UnixNano()) / 1e9)
	}
	return nil
}

// Handler answers scrapes. What cannot be read is left out and logged.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, ErrorLog: m})
}

// Println is of [promhttp.Logger].
func (m *Metrics) Println(v ...any) { m.log.Error().Msgf("metrics: %v", v) }
