// Command benchmark measures the schedule of this machine: what one burst, a steady load, many
// callers, a start and an idle minute cost, each run durable. run.sh runs it beside its peer.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"belfry/scheduler"
	"belfry/store"
)

// figure is one measurement.
type figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit"`
}

// bench is what the measurements need.
type bench struct {
	dir    string        // where the files are, on the disk that is measured
	jobs   int           // of a burst
	others int           // that are in the file and not due
	limit  int           // of runs at once in a burst
	pause  time.Duration // before they are due
}

func main() {
	var b bench
	flag.StringVar(&b.dir, "dir", ".", "directory for the files")
	flag.IntVar(&b.jobs, "jobs", 10_000, "jobs of a burst")
	flag.IntVar(&b.others, "others", 1_000_000, "jobs that are in the file and not due")
	flag.IntVar(&b.limit, "limit", 1024, "runs at once in a burst")
	flag.DurationVar(&b.pause, "pause", 3*time.Second, "how long the jobs of a burst lie before they are due")
	only := flag.String("only", "", "measure only these, separated by commas")
	file := flag.String("file", "", "of the measurements that run in a process of their own")
	table := flag.String("table", "", "print the table of the runs whose figures are in this directory")
	before := flag.String("before", "before", "with -table: the version that stands beside this one")
	profile := flag.String("cpuprofile", "", "write a profile of the processor's time to this file")
	flag.Parse()
	defer profileTo(*profile)()
	all := []struct {
		name    string
		measure func(context.Context) ([]figure, error)
		times   int // what takes a moment is measured several times; the table shows the median
	}{
		{"burst", b.burst, 5}, {"one lane", b.oneLane, 3}, {"steady", b.steady, 1}, {"twenty lanes", b.twentyLanes, 1}, {"stall", b.stall, 3},
		{"busy", b.busy, 1}, {"lanes", b.lanes, 1}, {"broadcast", b.broadcast, 1}, {"put", b.put, 5},
		{"crowd", b.crowd, 1}, {"crowded burst", b.crowdedBurst, 5}, {"start", b.start, 3}, {"idle", b.idle, 1},
	}
	ctx := context.Background()
	out := json.NewEncoder(os.Stdout)
	var err error
	switch {
	case *table != "":
		err = printTable(os.Stdout, *table, *before)
	case *only == "start process":
		err = startProcess(ctx, *file, out)
	case *only == "idle process":
		err = idleProcess(ctx, *file, out)
	default:
		for _, one := range all {
			if *only != "" && !slices.Contains(strings.Split(*only, ","), one.name) {
				continue
			}
			for range one.times {
				syscall.Sync() // what was written before is not this one's burden
				var figures []figure
				if figures, err = one.measure(ctx); err != nil {
					break
				}
				for _, f := range figures {
					err = errors.Join(err, out.Encode(f))
				}
			}
			if err != nil {
				err = fmt.Errorf("%s: %w", one.name, err)
				break
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		os.Exit(1)
	}
}

// profileTo begins a profile, if one is asked for, and returns what ends it.
func profileTo(path string) (end func()) {
	if path == "" {
		return func() {}
	}
	file, err := os.Create(path)
	if err == nil {
		err = pprof.StartCPUProfile(file)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "benchmark:", err)
		return func() {}
	}
	return func() {
		pprof.StopCPUProfile()
		_ = file.Close()
	}
}

// open makes an empty file of that name, or opens the one that is kept for several measurements.
func (b bench) open(name string, keep bool) (*store.DB, error) {
	path := filepath.Join(b.dir, name)
	if !keep {
		if err := os.RemoveAll(path); err != nil {
			return nil, err
		}
	}
	return store.Open(path, store.Options{})
}

// running is a scheduler at work.
type running struct {
	*scheduler.Scheduler
	stop func() error
}

// run starts a scheduler whose lanes have room for limit runs.
func run(ctx context.Context, db *store.DB, limit int, work worker, more ...scheduler.Kinds) running {
	ctx, cancel := context.WithCancel(ctx)
	kinds := scheduler.Kinds{"empty": {Worker: work}}
	for _, of := range more {
		maps.Copy(kinds, of)
	}
	s := scheduler.New(db, scheduler.Config{
		Kinds:     kinds,
		LaneLimit: func(string) int { return limit },
		Log:       zerolog.New(os.Stderr).Level(zerolog.WarnLevel),
	})
	done := make(chan error, 1)
	go func() { done <- s.Run(ctx) }()
	return running{s, func() error {
		cancel()
		return <-done
	}}
}

// worker is the work: none.
type worker func(job store.Job)

func (w worker) Run(_ context.Context, job store.Job) (scheduler.Outcome, error) {
	w(job)
	return scheduler.Outcome{}, nil
}

// process runs a measurement in a process of its own and returns its figures.
func process(ctx context.Context, name, file string) ([]figure, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self, "-only", name, "-file", file)
	cmd.Env = append(os.Environ(), fmt.Sprintf("BENCHMARK_BEGAN=%d", time.Now().UnixNano()))
	cmd.Stderr = os.Stderr
	text, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var figures []figure
	for decoder := json.NewDecoder(bytes.NewReader(text)); decoder.More(); {
		var f figure
		if err := decoder.Decode(&f); err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}
