package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"belfry/store"
)

// crowd makes the file with many jobs that are not due, for the measurements that follow.
func (b bench) crowd(context.Context) ([]figure, error) {
	db, err := b.open("crowd.db", false)
	if err != nil {
		return nil, err
	}
	begin, far := time.Now(), time.Now().Add(365*24*time.Hour)
	err = put(db, b.others, "other", "others", func(i int) time.Time { return far.Add(time.Duration(i) * time.Second) })
	size, sizeErr := db.Size()
	return []figure{
		{"put in batches", float64(b.others) / time.Since(begin).Seconds(), "jobs/s"},
		{"file with the crowd", float64(size) / 1e6, "MB"},
	}, errors.Join(err, sizeErr, db.Close())
}

// crowdedBurst is burst in the file with the crowd.
func (b bench) crowdedBurst(ctx context.Context) ([]figure, error) {
	db, err := b.open("crowd.db", true)
	if err != nil {
		return nil, err
	}
	figures, err := b.burstIn(ctx, db, "crowded burst", b.limit)
	return figures, errors.Join(err, db.Close())
}

// start measures a new process from its beginning to the first run.
func (b bench) start(ctx context.Context) ([]figure, error) {
	db, err := b.open("crowd.db", true)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprint("first_", time.Now().UnixNano())
	err = put(db, 1, name, "burst", func(int) time.Time { return time.Now() })
	if err := errors.Join(err, db.Close()); err != nil {
		return nil, err
	}
	return process(ctx, "start process", filepath.Join(b.dir, "crowd.db"))
}

func startProcess(ctx context.Context, file string, out *json.Encoder) error {
	began, err := strconv.ParseInt(os.Getenv("BENCHMARK_BEGAN"), 10, 64)
	if err != nil {
		return fmt.Errorf("BENCHMARK_BEGAN: %w", err)
	}
	db, err := store.Open(file, store.Options{})
	if err != nil {
		return err
	}
	opened := time.Since(time.Unix(0, began))
	first := make(chan time.Duration, 1)
	s := run(ctx, db, 1, func(store.Job) { first <- time.Since(time.Unix(0, began)) })
	took := <-first
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return errors.Join(
		out.Encode(figure{"start until the file is open", opened.Seconds() * 1000, "ms"}),
		out.Encode(figure{"start until the first run", took.Seconds() * 1000, "ms"}),
		out.Encode(figure{"heap at the first run", float64(m.HeapInuse) / 1e6, "MB"}),
		s.stop(), db.Close())
}

// idle measures a minute in which nothing is due.
func (b bench) idle(ctx context.Context) ([]figure, error) {
	return process(ctx, "idle process", filepath.Join(b.dir, "crowd.db"))
}

func idleProcess(ctx context.Context, file string, out *json.Encoder) error {
	db, err := store.Open(file, store.Options{})
	if err != nil {
		return err
	}
	s := run(ctx, db, 1, func(store.Job) {})
	<-time.After(3 * time.Second)
	before := used()
	const idle = time.Minute
	<-time.After(idle)
	cpu := used() - before
	return errors.Join(out.Encode(figure{"idle", 100 * cpu.Seconds() / idle.Seconds(), "% of a core"}), s.stop(), db.Close())
}

// used is the CPU time of this process.
func used() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
