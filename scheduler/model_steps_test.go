package scheduler

import (
	"errors"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"belfry/store"
)

// plan is what is known from outside of a job: what was asked for.
type plan struct {
	trigger store.Trigger
	paused  bool
	first   time.Time // of the trigger's times, the first that counts
	last    time.Time // the latest occurrence that the store has shown
	after   uint64    // the last record in the history when the plan was made
}

// quickDir is a directory in memory if there is one: these tests are about the order of commits, not
// about the disk.
func quickDir(t *testing.T) string {
	dir, err := os.MkdirTemp("/dev/shm", "belfry")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// happen lets a step happen.
func (w *world) happen(st step) {
	switch st.What {
	case "put", "change":
		w.put(st)
	case "pause", "resume", "run now":
		w.act(st)
	case "delete":
		w.ask(func(tx *store.Tx) error { return Delete(tx, st.Job) })
		delete(w.plans, st.Job)
	case "worker":
		w.mu.Lock()
		w.how[st.Job] = st.How
		w.mu.Unlock()
	case "pass":
		w.pass(min(st.For, 2*time.Hour)) // each tick of the loop costs; an outage may be longer
	case "crash", "stop":
		w.die(st.What == "crash")
		w.pass(st.For)
		w.boot()
	case "fail before", "fail after":
		w.mu.Lock()
		for range st.N {
			w.fail = append(w.fail, st.What == "fail after")
		}
		w.mu.Unlock()
	case "hold":
		w.ask(func(tx *store.Tx) error {
			return tx.Holds.Extend(st.Lane, tx.Now().Add(st.For), store.Reason{Code: store.ReasonFlood})
		})
	case "pause all":
		w.ask(func(tx *store.Tx) error { return tx.Settings.Set(settingPaused, "restored") })
	case "resume all":
		w.ask(func(tx *store.Tx) error { return tx.Settings.Set(settingPaused, "") })
	}
	w.pass(time.Millisecond)
}

// ask makes a change as a door would.
func (w *world) ask(fn func(*store.Tx) error) {
	var conflict *store.ConflictError
	if err := w.db.Update(fn); err != nil && !errors.As(err, &conflict) && !errors.Is(err, store.ErrNotFound) {
		w.note("asked for: %v", err)
	}
	synctest.Wait()
}

func (w *world) put(st step) {
	now := time.Now().UTC()
	triggers := []store.Trigger{
		{At: now.Add(5 * time.Second)}, {At: now.Add(time.Hour)}, {At: now.Add(-time.Minute)},
		{Every: 10 * time.Second}, {Every: time.Hour}, {Cron: "*/5 * * * *", Zone: "Europe/Lisbon"},
		{Times: []string{"09:00", "18:30"}, Zone: "America/New_York"},
	}
	policies := []store.Lateness{{}, {Policy: store.LateSkip, Grace: 30 * time.Second}, {Policy: store.LateEach}, {}}
	job := store.Job{Name: st.Job, Kind: "k", Lane: st.Lane, Trigger: triggers[st.Trigger], Lateness: policies[st.Policy]}
	p, known := w.plans[st.Job]
	if st.What == "put" && known {
		job.Trigger = p.trigger // registered again as it is
	}
	w.ask(func(tx *store.Tx) error {
		if _, err := tx.Jobs.ByName(st.Job); err != nil {
			known = false // it is done
		}
		first, err := First(job.Trigger, job.Name, tx.Now())
		if err != nil {
			return err
		}
		if !known || !p.trigger.Equal(job.Trigger) {
			fresh := &plan{trigger: job.Trigger, first: first, paused: known && p.paused}
			for run := range tx.Runs.Newest(0) {
				fresh.after = run.ID
				break
			}
			w.plans[st.Job] = fresh
		}
		return Put(tx, job)
	})
}

func (w *world) act(st step) {
	act := map[string]func(*store.Tx, string) (store.Job, error){"pause": Pause, "resume": Resume, "run now": RunNow}[st.What]
	w.ask(func(tx *store.Tx) error {
		_, err := act(tx, st.Job)
		if p := w.plans[st.Job]; p != nil && err == nil && st.What != "run now" {
			p.paused = st.What == "pause"
		}
		return err
	})
}
