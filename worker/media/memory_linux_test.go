package media

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"belfry/scheduler"
	"belfry/store"
)

var long = flag.Bool("long", false, "run the long forms of the tests")

// The test binary is also the process whose memory is measured.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "upload" {
		if err := uploadBeside(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == "killed" {
		if err := uploadKilled(os.Args[2], os.Args[3], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const mostMemory = 100 << 10 // KB

// A file of 64 MB is uploaded and read again in a process that runs jobs, ten each second. How late these were is
// printed: what else the machine does decides that, too.
func TestALargeUploadTakesLittleMemory(t *testing.T) {
	if !*long {
		t.Skip("measures what other tests disturb: -long")
	}
	out, err := exec.Command(os.Args[0], "upload", t.TempDir()+"/belfry.db").CombinedOutput()
	if err != nil {
		t.Fatal(err, string(out))
	}
	var memory int
	for line := range strings.Lines(string(out)) {
		fmt.Sscanf(line, "VmHWM: %d kB", &memory)
	}
	t.Logf("%s", out)
	if memory == 0 || memory > mostMemory {
		t.Errorf("the process had %d KB", memory)
	}
}

// late notes how late jobs run.
type late struct{ worst chan time.Duration }

func (l late) Run(_ context.Context, job store.Job) (scheduler.Outcome, error) {
	worst := <-l.worst
	l.worst <- max(worst, time.Since(job.Occurrence))
	return scheduler.Outcome{}, nil
}

// uploadBeside uploads and reads a file while jobs run, and says what memory that took and how late they were.
func uploadBeside(path string) error {
	db, err := store.Open(path, store.Options{})
	if err != nil {
		return err
	}
	w, l := New(db, Config{}), late{make(chan time.Duration, 1)}
	kinds := w.Module().Kinds
	kinds["late"] = scheduler.Kind{Worker: l}
	const jobs, apart = 200, 100 * time.Millisecond
	begin := time.Now().Add(time.Second)
	err = db.Update(func(tx *store.Tx) error {
		for i := range jobs {
			job := store.Job{Name: fmt.Sprint("late_", i), Kind: "late", Lane: "late", Trigger: store.Trigger{At: begin.Add(time.Duration(i) * apart)}}
			if err := scheduler.Put(tx, job); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ran := make(chan error, 1)
	l.worst <- 0
	go func() { ran <- scheduler.New(db, scheduler.Config{Kinds: kinds}).Run(ctx) }()
	time.Sleep(time.Until(begin.Add(4 * time.Second))) // the usual lateness
	usual := <-l.worst
	l.worst <- 0
	began := time.Now()
	const size = 64 << 20
	f, err := w.Add(ctx, "film.mp4", "video/mp4", io.MultiReader(strings.NewReader("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp41"), io.LimitReader(noise{rand.NewChaCha8([32]byte{})}, size-32)))
	if err != nil {
		return err
	}
	took := time.Since(began)
	r, err := db.OpenMedia(f.ID)
	if err != nil {
		return err
	}
	status, _ := os.ReadFile("/proc/self/status")
	_, written, _ := strings.Cut(string(status), "VmHWM:")
	written, _, _ = strings.Cut(written, "\n")
	fmt.Println("after it was written:", strings.TrimSpace(written))
	n, err := io.Copy(io.Discard, r)
	worst := <-l.worst
	fmt.Printf("%d bytes were written in %s and read in %s; worst delay %s, usually %s\n", n, took.Round(time.Millisecond), (time.Since(began) - took).Round(time.Millisecond),
		worst.Round(100*time.Microsecond), usual.Round(100*time.Microsecond))
	l.worst <- 0
	cancel()
	status, wrong := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if strings.HasPrefix(line, "VmHWM") || strings.HasPrefix(line, "Rss") {
			fmt.Print(line)
		}
	}
	return errors.Join(err, wrong, <-ran, db.Close())
}

type noise struct{ *rand.ChaCha8 }
