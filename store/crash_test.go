package store

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// workers is how many callers write at once in the child.
const workers = 4

// history is what a worker's updates make of its jobs. Update n of a worker is always the same, so
// its counter, which is written with it, says what its jobs must be.
type history struct {
	worker, done int
	jobs         map[string]Job
}

func newHistory(worker int) *history { return &history{worker: worker, jobs: map[string]Job{}} }

// change is a part of an update: a job that is put, or deleted if it has no kind.
func changes(worker, n int) []Job {
	r := rand.New(rand.NewPCG(uint64(worker), uint64(n)))
	jobs := make([]Job, 1+r.IntN(4))
	for i := range jobs {
		jobs[i].Name = fmt.Sprintf("%d_%d", worker, r.IntN(20))
		if r.IntN(4) == 0 {
			continue
		}
		due := time.Unix(r.Int64N(1e9), 0).UTC()
		jobs[i].Kind, jobs[i].Lane, jobs[i].State = "crash", fmt.Sprint("lane", r.IntN(3)), JobWaiting
		jobs[i].Trigger, jobs[i].Due = Trigger{At: due}, due
		jobs[i].Reason = Reason{Code: ReasonRetry, Detail: strings.Repeat("x", r.IntN(3000))}
	}
	return jobs
}

// advance carries out updates until n are done.
func (h *history) advance(n int) {
	for h.done < n {
		h.done++
		for _, job := range changes(h.worker, h.done) {
			if job.Kind == "" {
				delete(h.jobs, job.Name)
			} else {
				h.jobs[job.Name] = job
			}
		}
	}
}

// write carries out update n of a worker in the file.
func write(tx *Tx, worker, n int) error {
	for _, job := range changes(worker, n) {
		old, err := tx.Jobs.ByName(job.Name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
		switch {
		case job.Kind == "" && old.ID == 0:
		case job.Kind == "":
			err = tx.Jobs.Delete(old.ID)
		default:
			job.ID = old.ID
			err = tx.Jobs.Put(&job)
		}
		if err != nil && !errors.Is(err, ErrNotFound) {
			return err
		}
	}
	return tx.Settings.Set(fmt.Sprint(worker), fmt.Sprint(n))
}

// counter is the number of a worker's updates that are in the file.
func counter(tx *Tx, worker int) (n int, err error) {
	value, err := tx.Settings.Value(fmt.Sprint(worker))
	if err == nil && value != "" {
		_, err = fmt.Sscan(value, &n)
	}
	return n, err
}

// writeUntilKilled is the child: it carries out updates, and says which were confirmed, until it is
// killed, by itself at the given stage of a commit, or has done what it was asked to.
func writeUntilKilled(args []string) error {
	flags := flag.NewFlagSet("write", flag.ContinueOnError)
	path := flags.String("path", "", "the file")
	where := flags.String("stage", "", "where to end")
	when := flags.Int("commit", 0, "at which commit to end")
	count := flags.Int("count", 1<<30, "updates for each worker")
	if err := flags.Parse(args); err != nil {
		return err
	}
	db, err := Open(*path, Options{})
	if err != nil {
		return err
	}
	commits := 0
	db.opts.Commit = func(s Stage) error {
		if s == Stage(*where) {
			if commits++; commits == *when {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
		}
		return nil
	}
	fmt.Println("ready")
	failed := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { failed[w] = work(db, w, *count) })
	}
	wg.Wait()
	return errors.Join(errors.Join(failed...), db.Close())
}

// work goes on after an error: then the update may have been made or not.
func work(db *DB, worker, count int) error {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for done, n := 0, 0; done < count; {
		err := db.Update(func(tx *Tx) (err error) {
			if n, err = counter(tx, worker); err != nil {
				return err
			}
			n++
			return write(tx, worker, n)
		})
		switch {
		case err == nil:
			done++
			fmt.Println("done", worker, n)
		case errors.Is(err, ErrUnavailable):
			fmt.Println("failed", worker, strings.ReplaceAll(err.Error(), "\n", " "))
			<-again.C
		default:
			return err
		}
	}
	return nil
}

// outcome is what a child has said.
type outcome struct {
	confirmed [workers]int
	failures  []string
	resumed   bool // an update was confirmed after a failure
}

// runChild runs the child until it ends, or until it is killed, if after is not nil, when after has
// fired. prefix are the words of a command that runs it.
func runChild(t *testing.T, prefix []string, after func() <-chan time.Time, args ...string) outcome {
	t.Helper()
	words := append(append(prefix, os.Args[0], "write"), args...)
	child := exec.Command(words[0], words[1:]...)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var o outcome
	var killer sync.WaitGroup
	ended := make(chan struct{})
	for lines := bufio.NewScanner(out); lines.Scan(); {
		var worker, n int
		line := lines.Text()
		if line == "ready" && after != nil {
			fire := after()
			killer.Go(func() {
				select {
				case <-fire:
					_ = child.Process.Kill() // it may have ended
				case <-ended:
				}
			})
		}
		if strings.HasPrefix(line, "failed") {
			o.failures = append(o.failures, line)
		}
		if got, _ := fmt.Sscanf(line, "done %d %d", &worker, &n); got == 2 {
			o.confirmed[worker] = n
			o.resumed = len(o.failures) > 0
		}
	}
	close(ended)
	killer.Wait()
	err = child.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && !exit.Exited() {
		err = nil // killed, as it was to be
	}
	if err != nil && after == nil {
		t.Fatal(err)
	}
	return o
}

// reconcile opens the file after a crash and compares it with the model: all that was confirmed is
// there, and nothing was done by halves.
func reconcile(t *testing.T, path string, o outcome, model []*history) {
	t.Helper()
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mustVerify(t, db)
	err = db.View(func(tx *Tx) error {
		jobs := collect(tx.Jobs.All(), 10_000)
		want := 0
		for w, h := range model {
			n, err := counter(tx, w)
			if err != nil {
				return err
			}
			if n < o.confirmed[w] || n < h.done {
				t.Errorf("worker %d: update %d is in the file, %d was confirmed, %d was there before", w, n, o.confirmed[w], h.done)
				return nil
			}
			h.advance(n)
			want += len(h.jobs)
		}
		if len(jobs) != want {
			t.Errorf("%d jobs, the model has %d", len(jobs), want)
		}
		for _, job := range jobs {
			var w int
			if _, err := fmt.Sscanf(job.Name, "%d_", &w); err != nil {
				return err
			}
			h := model[w].jobs[job.Name]
			if job.Lane != h.Lane || !job.Due.Equal(h.Due) || job.Reason.Detail != h.Reason.Detail {
				t.Errorf("job %s is not as the model has it", job.Name)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func newModel() []*history {
	model := make([]*history, workers)
	for w := range model {
		model[w] = newHistory(w)
	}
	return model
}
