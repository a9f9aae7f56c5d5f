package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// system is one of those that are measured side by side. A run of all of them is a directory with a file of
// figures for each.
type system struct{ name, head string }

func systems(before string) []system {
	return []system{
		{"belfry", "Belfry"},
		{"before", before},
		{"apscheduler", "APScheduler + PostgreSQL"},
		{"river-postgresql", "River + PostgreSQL"},
		{"river-sqlite", "River + SQLite"},
	}
}

// row is a line of the table: what was measured, and what each run of it is to reach.
type row struct {
	what    string
	name    string // of the figure
	target  string
	reached func(value float64) bool
}

func atLeast(n float64) func(float64) bool { return func(v float64) bool { return v >= n } }
func under(n float64) func(float64) bool   { return func(v float64) bool { return v < n } }

func rows() []row {
	return []row{
		{"10,000 one-shots due at the same instant, claim and end each committed", "burst", "10,000 runs/s", atLeast(10_000)},
		{"their p99 lateness", "burst p99 lateness", "1,000 ms", under(1000)},
		{"times River on PostgreSQL", "times River", "2", atLeast(2)},
		{"times APScheduler on PostgreSQL", "times APScheduler", "40", atLeast(40)},
		{"the same with 1,000,000 other jobs in the file", "crowded burst", "", nil},
		{"part of the figure without them", "part of the burst", "0.75", atLeast(0.75)},
		{"2,000 in a lane that runs one at a time", "one lane", "", nil},
		{"steady 1,000 due/s for 60 s, p99 lateness", "steady p99 lateness", "10 ms", under(10)},
		{"pages written for each run of them", "steady pages written for a run", "", nil},
		{"part of those before", "part of the pages", "0.5", under(0.5)},
		{"commits for each run of them", "steady commits for a run", "", nil},
		{"steady 5,000 due/s over 20 lanes for 30 s, p99 lateness", "twenty lanes p99 lateness", "50 ms", under(50)},
		{"1,000 due/s after all commits were held up for 2 s: until the backlog is gone", "backlog after a stall", "200 ms", under(200)},
		{"20 due/s while others hash on all processors and write in a burst each half second, the latest", "busy processors, worst lateness", "150 ms", under(150)},
		{"the longest update there that came alone after a burst", "busy processors, worst lone update", "150 ms", under(150)},
		{"4 due/s beside a lane of four that has 1,000 due/s, the latest", "worst lateness beside a busy lane", "20 ms", under(20)},
		{"p99 lateness of that busy lane", "busy lane p99 lateness", "20 ms", under(20)},
		{"processor time of a job among 2,000 lanes that have nothing due", "cost among 2,000 idle lanes", "1.2 times", under(1.2)},
		{"the same among 2,000 lanes that are held", "cost among 2,000 held lanes", "1.2 times", under(1.2)},
		{"100 due/s while a broadcast to 200,000 chats is made and prepared, p99 lateness", "broadcast p99 lateness", "50 ms", under(50)},
		{"the latest of them", "broadcast worst lateness", "50 ms", under(50)},
		{"until the request for the broadcast is durable, and may be answered", "broadcast made", "", nil},
		{"jobs put by 64 concurrent callers, each confirmed durable", "put by 64 callers", "20,000/s", atLeast(20_000)},
		{"jobs put by one caller, each confirmed durable", "put", "", nil},
		{"start with 1,000,000 jobs until the first run", "start until the first run", "300 ms", under(300)},
		{"Go heap then", "heap at the first run", "64 MB", under(64)},
		{"nothing due for a minute, with 1,000,000 jobs", "idle", "0.1 % of a core", under(0.1)},
		{"`belfry serve` with one Telegram login connected, nothing due: resident memory", "resident memory of serve", "48 MB", under(48)},
		{"and its processor time in a minute", "idle of serve", "0.1 % of a core", under(0.1)},
	}
}

// printTable writes the table of the runs in the directory in Markdown.
func printTable(w io.Writer, dir, before string) error {
	runs, units, err := readRuns(dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "Measured on %s with docs/benchmark/run.sh on %s; the median where it was measured several times", time.Now().UTC().Format("2006-01-02"), machine())
	if len(runs) > 1 {
		fmt.Fprintf(w, ", and the range of %d runs", len(runs))
	}
	fmt.Fprint(w, ". River writes that runs have ended in batches, after the fact.\n\n|")
	measured := slices.DeleteFunc(systems(before), func(s system) bool {
		return !slices.ContainsFunc(rows(), func(r row) bool { return len(valuesOf(runs, s.name, r.name)) > 0 })
	})
	for _, system := range measured {
		fmt.Fprint(w, " | "+system.head)
	}
	fmt.Fprintf(w, " | target | |\n|---|%s--:|---|\n", strings.Repeat("--:|", len(measured)))
	for _, r := range rows() {
		cells, empty := []string{r.what}, true
		for _, system := range measured {
			values := valuesOf(runs, system.name, r.name)
			cells = append(cells, spread(values, units[r.name]))
			empty = empty && len(values) == 0
		}
		if !empty {
			cells = append(cells, r.target, r.verdict(valuesOf(runs, "belfry", r.name)))
			fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
		}
	}
	return nil
}

// valuesOf returns what the runs measured of one figure.
func valuesOf(runs []figures, system, name string) (values []float64) {
	for _, run := range runs {
		if value, ok := run[[2]string{system, name}]; ok {
			values = append(values, value)
		}
	}
	return values
}

func (r row) verdict(values []float64) string {
	if r.reached == nil || len(values) == 0 {
		return ""
	}
	reached := 0
	for _, value := range values {
		if r.reached(value) {
			reached++
		}
	}
	switch reached {
	case len(values):
		return "reached"
	case 0:
		return "missed"
	}
	return fmt.Sprintf("reached in %d of %d", reached, len(values))
}

// spread is the median of the values, with the least and the greatest where there are several.
func spread(values []float64, unit string) string {
	switch len(values) {
	case 0:
		return "-"
	case 1:
		return strings.TrimSpace(amount(values[0]) + " " + unit)
	}
	middle := median(values)
	return strings.TrimSpace(fmt.Sprintf("%s (%s–%s) %s", amount(middle), amount(values[0]), amount(values[len(values)-1]), unit))
}

func amount(v float64) string {
	switch {
	case v >= 1000:
		return fmt.Sprintf("%d,%03d", int(v)/1000, int(v)%1000)
	case v >= 10:
		return fmt.Sprintf("%.0f", v)
	case v >= 1:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// readRuns reads what was measured, run by run; of several values of one figure in a run it takes the median.
func readRuns(dir string) (runs []figures, units map[string]string, err error) {
	units = map[string]string{"times APScheduler": "×", "times River": "×"}
	for n := 1; ; n++ {
		r := make(figures)
		for _, system := range systems("") {
			text, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(n), system.name+".json"))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return nil, nil, err
			}
			all := make(map[string][]float64)
			for decoder := json.NewDecoder(bytes.NewReader(text)); decoder.More(); {
				var f figure
				if err := decoder.Decode(&f); err != nil {
					return nil, nil, fmt.Errorf("%s of run %d: %w", system.name, n, err)
				}
				all[f.Name], units[f.Name] = append(all[f.Name], f.Value), f.Unit
			}
			for name, values := range all {
				r.set(system.name, name, median(values))
			}
		}
		if len(r) == 0 {
			return runs, units, nil
		}
		r.divide("times APScheduler", "burst", "apscheduler", "burst")
		r.divide("times River", "burst", "river-postgresql", "burst")
		r.divide("part of the burst", "crowded burst", "belfry", "burst")
		r.divide("part of the pages", "steady pages written for a run", "before", "steady pages written for a run")
		runs = append(runs, r)
	}
}

// figures are the values of a run, by system and name.
type figures map[[2]string]float64

func (r figures) set(system, name string, value float64) { r[[2]string{system, name}] = value }

// divide makes a figure of ours of two others, where both were measured.
func (r figures) divide(name, ours, system, by string) {
	value, measured := r[[2]string{"belfry", ours}]
	if other := r[[2]string{system, by}]; measured && other > 0 {
		r.set("belfry", name, value/other)
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

// machine says how large this one is.
func machine() string {
	model, memory := "", ""
	for _, line := range lines("/proc/cpuinfo") {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			model = strings.TrimSpace(value)
		}
	}
	for _, line := range lines("/proc/meminfo") {
		var kilobytes int
		if _, err := fmt.Sscanf(line, "MemTotal: %d kB", &kilobytes); err == nil {
			memory = fmt.Sprintf(", %d GB of memory", kilobytes>>20)
		}
	}
	return fmt.Sprintf("%d cores (%s)%s, %s", runtime.NumCPU(), model, memory, runtime.Version())
}

func lines(path string) []string {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return strings.Split(string(text), "\n")
}
