// Command river measures the same burst with River, on PostgreSQL or on SQLite, with settings that favour
// it: jobs that are due before it starts, a thousand workers, a fetch each millisecond. A run ends when
// River reports its completion, which it writes in batches, after the fact. Prints figures as lines of JSON.
package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	_ "modernc.org/sqlite"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "river:", err)
		os.Exit(1)
	}
}

// run measures with as many jobs, so many seconds after they were put, in the PostgreSQL of that URL or in an SQLite file
// of that name.
func run(ctx context.Context, database, count, seconds string, out io.Writer) error {
	jobs, err := strconv.Atoi(count)
	if err != nil {
		return err
	}
	pause, err := time.ParseDuration(seconds + "s")
	if err != nil {
		return err
	}
	if strings.HasPrefix(database, "postgres") {
		pool, err := pgxpool.New(ctx, database)
		if err != nil {
			return err
		}
		defer pool.Close()
		return measure(ctx, riverpgxv5.New(pool), jobs, pause, out)
	}
	db, err := sql.Open("sqlite", "file:"+database+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_txlock=immediate")
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1) // as River asks for
	return errors.Join(measure(ctx, riversqlite.New(db), jobs, pause, out), db.Close())
}

// post is a job without work.
type post struct{}

func (post) Kind() string { return "post" }

// worker notes how long after the start each run began.
type worker struct {
	river.WorkerDefaults[post]
	mu      sync.Mutex
	started time.Time
	late    []time.Duration
}

func (w *worker) Work(context.Context, *river.Job[post]) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.late = append(w.late, time.Since(w.started))
	return nil
}

func measure[Tx any](ctx context.Context, driver riverdriver.Driver[Tx], jobs int, pause time.Duration, out io.Writer) error {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	// Down first: a database that was measured before is empty again.
	if _, err = migrator.Migrate(ctx, rivermigrate.DirectionDown, &rivermigrate.MigrateOpts{TargetVersion: -1}); err != nil {
		return err
	}
	if _, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return err
	}
	w := &worker{}
	workers := river.NewWorkers()
	river.AddWorker(workers, w)
	client, err := river.NewClient(driver, &river.Config{
		FetchCooldown:     time.Millisecond,
		FetchPollInterval: time.Millisecond,
		Logger:            slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Queues:            map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: 1000}},
		Workers:           workers,
	})
	if err != nil {
		return err
	}
	batch := make([]river.InsertManyParams, jobs)
	for i := range batch {
		batch[i] = river.InsertManyParams{Args: post{}}
	}
	// By another client: on SQLite, one that has queues and is not started must not insert.
	inserter, err := river.NewClient(driver, &river.Config{})
	if err != nil {
		return err
	}
	if _, err := inserter.InsertManyFast(ctx, batch); err != nil {
		return err
	}
	completed, cancel := client.SubscribeConfig(&river.SubscribeConfig{ChanSize: jobs, Kinds: []river.EventKind{river.EventKindJobCompleted}})
	defer cancel()
	<-time.After(pause)
	w.started = time.Now()
	if err := client.Start(ctx); err != nil {
		return err
	}
	for range jobs {
		<-completed
	}
	took := time.Since(w.started)
	if err := client.Stop(ctx); err != nil {
		return err
	}
	slices.Sort(w.late)
	if len(w.late) != jobs {
		return fmt.Errorf("%d runs of %d jobs", len(w.late), jobs)
	}
	type figure struct {
		Name  string  `json:"name"`
		Value float64 `json:"value"`
		Unit  string  `json:"unit"`
	}
	lines := json.NewEncoder(out)
	return errors.Join(
		lines.Encode(figure{"burst", float64(jobs) / took.Seconds(), "runs/s"}),
		lines.Encode(figure{"burst p99 lateness", w.late[jobs*99/100].Seconds() * 1000, "ms"}))
}
