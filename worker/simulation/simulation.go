// Package simulation plays months of Belfry's life in seconds: the real store on a real file, the real
// scheduler and the real workers, in the time of a synctest bubble. Above them are people who act, networks in
// memory, and weather: crashes, a disk that fails, a clock that is set, networks that are gone or answer late
// or never. Judges look at what the networks got and at what the file says.
//
// The package knows no worker. Each worker brings a [Part] in a package beside it, such as
// worker/posts/poststest. Nothing of this is linked into the program.
//
// A seed draws the same history each time, and each call of a network meets the same fate. Not determined
// is the jitter of retries, and the order in which runs of several lanes reach a commit at the same moment:
// so a crash "at the third commit" may meet another run. A failure that depends on that may need several
// replays.
package simulation

import (
	"fmt"
	"testing"
	"time"

	"belfry/store"
	"belfry/worker"
)

// Part is what a worker brings into the simulation. It belongs to one [World].
type Part struct {
	Name    string
	Logins  []store.Identity // that it acts as; logins of the same name are one
	Actions []Action
	// Start makes the worker of a process that begins. It is called in the order of the parts.
	Start func(p *Process) worker.Module
	// Hourly and Daily look for what is wrong while the process runs and the file can be read. Daily is also
	// called at the end.
	Hourly, Daily func(w *World, tx *store.Tx)
	// Backup keeps what the part expects of the file when it is copied, and returns what makes it expect that
	// again when the copy is restored. It may be nil.
	Backup func() (restored func())
}

// Result is how a history went.
type Result struct {
	Wrong *Complaint // the first; nil if nothing was wrong
	Lines []Line     // what happened
	Stats Stats
}

// Stats counts what was simulated.
type Stats struct {
	Days, Events, Crashes, Ends, Starts, Restores int
	Faults                                        map[string]int // by kind
	Messages, Judged                              int            // of the networks' ledgers; judgements on single records and messages
	Size                                          int64          // of the file at the end, in bytes
	Real                                          time.Duration
}

// Complaint is something that must not be.
type Complaint struct {
	Judge string        // who complains, such as "posts: at most once"
	Text  string        // about what, with the record's id
	At    time.Duration // since the start
}

func (c Complaint) String() string { return fmt.Sprintf("%s: %s: %s", stamp(c.At), c.Judge, c.Text) }

// Line is one line of the timeline.
type Line struct {
	At    time.Duration // since the start
	Clock time.Time     // what the clock showed
	Text  string
}

func (l Line) String() string {
	return fmt.Sprintf("%s  clock %s  %s", stamp(l.At), l.Clock.UTC().Format("2006-01-02 15:04:05"), l.Text)
}

// Run draws the history of a seed, plays it, and fails the test with the shrunk history if something is
// wrong. It is shrunk for some real time at most. replay is the command that plays the same seed again.
func Run(t *testing.T, seed uint64, days int, parts func() []Part, limit time.Duration, replay string) Stats {
	t.Helper()
	h := Draw(seed, days, Actions(parts()))
	result := Play(t, h, parts)
	if result.Wrong == nil {
		return result.Stats
	}
	t.Errorf("seed %d: %s\nreplay: %s", seed, result.Wrong, replay)
	small, result := Shrink(t, h, result, parts, limit)
	t.Errorf("shrunk to %d of %d events:\n%s\nas a test:\n%s", len(small.Events), len(h.Events), result.Timeline(), small.Source())
	return result.Stats
}

// Actions are all that may happen with the parts, and the weather.
func Actions(parts []Part) []Action {
	all := append(weather(), people()...)
	for _, p := range parts {
		all = append(all, p.Actions...)
	}
	return all
}
