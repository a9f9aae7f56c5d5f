package simulation

import (
	"cmp"
	"container/heap"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"belfry/store"
)

const (
	// restart is how long systemd waits before it starts a program again that ended.
	restart = 5 * time.Second
	// verifyDaily is for how many days the file is verified each day, which takes long once it is large; then it is
	// once in as many, and at the end.
	verifyDaily = 30
	// The bounds of what may grow.
	maxGoroutines = 2000
	maxFile       = 512 << 20
	maxHeap       = 1 << 30 // of all worlds of the process together
)

// World is one history that is played. But for what says otherwise, its methods are called by the goroutine
// that plays it, in which events and judges take their turns.
type World struct {
	Seed    uint64
	Network *Network
	Logins  map[string]uint64 // ids by name, as soon as the first process has begun

	t       *testing.T
	parts   []Part
	actions map[string]func(*World, *rand.Rand)
	dir     string
	start   time.Time
	process *Process // nil while none runs
	zombies sync.WaitGroup
	queue   queue
	seq     int
	clock   clock
	disk    disk
	spells  []*Spell
	backup  *backup // the last one; nil if there is none

	mu    sync.Mutex // of what follows: networks and commits use it too
	calm  map[string]time.Time
	lines []Line
	wrong *Complaint
	stats Stats
}

// item is something that is to happen.
type item struct {
	at  time.Time
	seq int
	do  func()
}

// queue is a heap of what is to happen, the next first.
type queue []item

func (q queue) Len() int      { return len(q) }
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q queue) Less(i, j int) bool {
	return cmp.Or(q[i].at.Compare(q[j].at), cmp.Compare(q[i].seq, q[j].seq)) < 0
}
func (q *queue) Push(it any) { *q = append(*q, it.(item)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	it := (*q)[last]
	(*q)[last], *q = item{}, (*q)[:last]
	return it
}

// Play plays a history until something is wrong or it ends.
func Play(t *testing.T, h History, parts func() []Part) (result Result) {
	t.Helper()
	real := time.Now()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, h, parts())
		defer func() { _ = os.RemoveAll(w.dir) }()
		w.play(h)
		w.stats.Messages = w.Network.Len()
		result = Result{w.wrong, w.lines, w.stats}
	})
	result.Stats.Real = time.Since(real)
	return result
}

func newWorld(t *testing.T, h History, parts []Part) *World {
	dir, err := os.MkdirTemp("/dev/shm", "belfry")
	if err != nil {
		dir = t.TempDir()
	}
	w := &World{Seed: h.Seed, Logins: map[string]uint64{}, t: t, parts: parts, dir: dir, start: time.Now(),
		actions: map[string]func(*World, *rand.Rand){}, calm: map[string]time.Time{}}
	w.stats.Faults = map[string]int{}
	w.Network = newNetwork(w)
	w.clock.start(w.start, h.Seed)
	for _, a := range Actions(parts) {
		w.actions[a.Name] = a.Do
	}
	return w
}

func (w *World) play(h History) {
	for _, e := range h.Events {
		do := w.actions[e.What]
		if do == nil {
			w.t.Fatalf("no action is called %q", e.What)
		}
		w.After(e.At, func() {
			w.stats.Events++
			do(w, random(e.Seed, 2))
		})
	}
	for hour := 1; hour <= h.Days*24; hour++ {
		w.After(time.Duration(hour)*time.Hour+time.Second, func() { w.judge(hour%24 == 0) })
	}
	end := w.start.Add(time.Duration(h.Days)*24*time.Hour + 2*time.Second)
	w.boot()
	for w.Wrong() == nil && len(w.queue) > 0 && !w.queue[0].at.After(end) {
		if !w.pass(w.queue[0].at) {
			w.bury()
			continue
		}
		heap.Pop(&w.queue).(item).do()
	}
	w.stats.Days = int(w.Elapsed() / (24 * time.Hour))
	w.end(true)
	w.zombies.Wait()
}

// pass lets time pass, and reports whether the process is as it was: if it died meanwhile, it returns at once.
func (w *World) pass(until time.Time) bool {
	synctest.Wait()
	var died <-chan struct{}
	if w.process != nil {
		died = w.process.died
	}
	select { // what is there already comes first
	case <-died:
		return false
	default:
	}
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-died:
		return false
	case <-timer.C:
		synctest.Wait()
		return true
	}
}

// After has something done by the goroutine that plays, some time from now.
func (w *World) After(d time.Duration, do func()) {
	w.seq++
	heap.Push(&w.queue, item{time.Now().Add(d), w.seq, do})
}

// Process returns the process that runs, or nil.
func (w *World) Process() *Process {
	if w.process == nil || w.process.Dead() {
		return nil
	}
	return w.process
}

// Elapsed is the time since the start. It may be called from any goroutine.
func (w *World) Elapsed() time.Duration { return time.Since(w.start) }

// Note adds a line to the timeline. It may be called from any goroutine.
func (w *World) Note(format string, args ...any) {
	line := Line{w.Elapsed(), w.Now(), fmt.Sprintf(format, args...)}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

// Complain says that something is wrong. Only the first complaint counts. It may be called from any goroutine.
func (w *World) Complain(judge, format string, args ...any) {
	c := &Complaint{judge, fmt.Sprintf(format, args...), w.Elapsed()}
	w.mu.Lock()
	first := w.wrong == nil
	if first {
		w.wrong = c
	}
	w.mu.Unlock()
	if first {
		w.Note("WRONG: %s: %s", c.Judge, c.Text)
	}
}

// Wrong returns the first complaint.
func (w *World) Wrong() *Complaint {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrong
}

// Judged counts judgements. It may be called from any goroutine.
func (w *World) Judged(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Judged += n
}

// count counts a fault.
func (w *World) count(kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stats.Faults[kind]++
}

// judge has the judges look.
func (w *World) judge(day bool) {
	p := w.Process()
	if p == nil {
		return
	}
	err := p.DB.View(func(tx *store.Tx) error {
		w.fair(tx)
		for _, part := range w.parts {
			if part.Hourly != nil {
				part.Hourly(w, tx)
			}
			if day && part.Daily != nil {
				part.Daily(w, tx)
			}
		}
		w.stats.Size = tx.Size()
		return nil
	})
	if err != nil || !day {
		return // the disk has failed: it is not readable before the file was opened again
	}
	if days := int(w.Elapsed() / (24 * time.Hour)); days <= verifyDaily || days%verifyDaily == 0 {
		problems, err := p.DB.Verify()
		if err == nil && len(problems) > 0 {
			w.Complain("store: verify", "%v", problems)
		}
	}
	if n := runtime.NumGoroutine(); n > maxGoroutines {
		w.Complain("process: goroutines", "%d", n)
	}
	if heap := liveHeap(); heap > maxHeap {
		w.Complain("process: heap", "%d MiB", heap>>20)
	}
	if w.stats.Size > maxFile {
		w.Complain("store: size", "%d MiB", w.stats.Size>>20)
	}
}

// liveHeap is how many bytes the last garbage collection has left.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// logins makes the logins of the parts, in the first process.
func (w *World) logins(tx *store.Tx) error {
	for _, part := range w.parts {
		for _, login := range part.Logins {
			known, err := tx.Identities.ByName(login.Platform, login.Name)
			if err == nil {
				w.Logins[login.Name] = known.ID
				continue
			}
			login.CreatedAt, login.UpdatedAt = tx.Now(), tx.Now()
			if err := tx.Identities.Put(&login); err != nil {
				return err
			}
			w.Logins[login.Name] = login.ID
		}
	}
	return nil
}

// LoginNames are the names of the logins in their order.
func (w *World) LoginNames() []string { return slices.Sorted(maps.Keys(w.Logins)) }

func (w *World) path() string { return filepath.Join(w.dir, "belfry.db") }
