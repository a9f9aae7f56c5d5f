package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// row is a line of the table: what was measured, what it is to reach, and how.
type row struct {
	what   string
	name   string // of the figure
	target string
	met    func(ours, peer map[string]float64) bool
}

func rows() []row {
	atLeast := func(name string, n float64) func(ours, _ map[string]float64) bool {
		return func(ours, _ map[string]float64) bool { return ours[name] >= n }
	}
	under := func(name string, n float64) func(ours, _ map[string]float64) bool {
		return func(ours, _ map[string]float64) bool { return ours[name] < n }
	}
	return []row{
		{"10,000 one-shots due at the same instant, claim and end each committed", "burst", "10,000 runs/s", atLeast("burst", 10_000)},
		{"times the peer", "burst ratio", "50", func(ours, peer map[string]float64) bool { return ours["burst"] >= 50*peer["burst"] }},
		{"their p99 lateness", "burst p99 lateness", "1,000 ms", under("burst p99 lateness", 1000)},
		{"the same with 1,000,000 other jobs in the file", "crowded burst", "within 25 % of it", func(ours, _ map[string]float64) bool {
			return ours["crowded burst"] >= 0.75*ours["burst"]
		}},
		{"2,000 in a lane that runs one at a time", "one lane", "", nil},
		{"steady 1,000 due/s for 60 s, p99 lateness", "steady p99 lateness", "20 ms", under("steady p99 lateness", 20)},
		{"4 due/s beside a lane of four that has 1,000 due/s, the latest", "worst lateness beside a busy lane", "20 ms", under("worst lateness beside a busy lane", 20)},
		{"p99 lateness of that busy lane", "busy lane p99 lateness", "20 ms", under("busy lane p99 lateness", 20)},
		{"processor time of a job among 2,000 lanes that have nothing due", "cost among 2,000 idle lanes", "1.2 times", under("cost among 2,000 idle lanes", 1.2)},
		{"the same among 2,000 lanes that are held", "cost among 2,000 held lanes", "1.2 times", under("cost among 2,000 held lanes", 1.2)},
		{"100 due/s while a broadcast to 200,000 chats is made and prepared, p99 lateness", "broadcast p99 lateness", "50 ms", under("broadcast p99 lateness", 50)},
		{"the latest of them", "broadcast worst lateness", "50 ms", under("broadcast worst lateness", 50)},
		{"until the request for the broadcast is durable, and may be answered", "broadcast made", "", nil},
		{"jobs put by 64 concurrent callers, each confirmed durable", "put by 64 callers", "20,000/s", atLeast("put by 64 callers", 20_000)},
		{"jobs put by one caller, each confirmed durable", "put", "", nil},
		{"start with 1,000,000 jobs until the first run", "start until the first run", "300 ms", under("start until the first run", 300)},
		{"Go heap then", "heap at the first run", "64 MB", under("heap at the first run", 64)},
		{"nothing due for a minute, with 1,000,000 jobs", "idle", "0.1 % of a core", under("idle", 0.1)},
		{"`belfry serve` with one Telegram login connected, nothing due: resident memory", "resident memory of serve", "48 MB",
			under("resident memory of serve", 48)},
		{"and its processor time in a minute", "idle of serve", "0.1 % of a core", under("idle of serve", 0.1)},
	}
}

// printTable writes the table in Markdown.
func printTable(w io.Writer, oursFile, peerFile string) error {
	ours, units, err := readFigures(oursFile)
	peer, peerUnits, peerErr := readFigures(peerFile)
	if err := errors.Join(err, peerErr); err != nil {
		return err
	}
	if peer["burst"] > 0 {
		ours["burst ratio"] = ours["burst"] / peer["burst"]
	}
	fmt.Fprintf(w, "Measured on %s with docs/benchmark/run.sh on %s; the median where it was measured several times.\n\n", time.Now().UTC().Format("2006-01-02"), machine())
	fmt.Fprintf(w, "| | Belfry | APScheduler + PostgreSQL | Belfry is | target | |\n|---|--:|--:|--:|--:|---|\n")
	for _, r := range rows() {
		value, measured := ours[r.name]
		other, compared := peer[r.name]
		if !measured && !compared {
			continue
		}
		cells := []string{r.what, "", "", "", r.target, ""}
		if measured {
			cells[1] = amount(value) + " " + units[r.name]
		}
		if compared {
			cells[2] = amount(other) + " " + peerUnits[r.name]
		}
		if measured && compared && value > 0 && other > 0 {
			cells[3] = fmt.Sprintf("%.0f ×", max(value/other, other/value))
		}
		if r.met != nil {
			if cells[5] = "missed"; r.met(ours, peer) {
				cells[5] = "reached"
			}
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
	return nil
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

// readFigures reads what was measured; of several values of one figure it takes the median.
func readFigures(path string) (values map[string]float64, units map[string]string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	all := make(map[string][]float64)
	values, units = make(map[string]float64), make(map[string]string)
	for decoder := json.NewDecoder(file); decoder.More(); {
		var f figure
		if err := decoder.Decode(&f); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path, err)
		}
		all[f.Name], units[f.Name] = append(all[f.Name], f.Value), f.Unit
	}
	for name, measured := range all {
		slices.Sort(measured)
		values[name] = measured[len(measured)/2]
	}
	return values, units, nil
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
