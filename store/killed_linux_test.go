package store

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestKilledAroundACommitNothingConfirmedIsLost(t *testing.T) {
	path, model := filepath.Join(t.TempDir(), "belfry.db"), newModel()
	last := 3
	if *long {
		last = 40
	}
	for _, s := range []Stage{BeforeCommit, AfterCommit} {
		for commit := 1; commit <= last; commit++ {
			o := runChild(t, nil, nil, "-path", path, "-stage", string(s), "-commit", fmt.Sprint(commit))
			reconcile(t, path, o, model)
		}
	}
	if model[0].done == 0 {
		t.Error("nothing was written")
	}
}

func TestKilledAtAnyMomentNothingConfirmedIsLost(t *testing.T) {
	path, model := filepath.Join(t.TempDir(), "belfry.db"), newModel()
	kills := 15
	if *long {
		kills = 1000
	}
	for range kills {
		after := func() <-chan time.Time { return time.After(time.Duration(rand.IntN(60_000)) * time.Microsecond) }
		reconcile(t, path, runChild(t, nil, after, "-path", path), model)
		if t.Failed() {
			return
		}
	}
	updates := 0
	for _, h := range model {
		updates += h.done
	}
	t.Logf("%d kills, %d updates", kills, updates)
}

// The system calls of a commit are where a crash matters most: each write of pages and meta in turn
// is the last one.
func TestKilledAtAnyWriteNothingConfirmedIsLost(t *testing.T) {
	needTracer(t)
	path, model := filepath.Join(t.TempDir(), "belfry.db"), newModel()
	step, last := 7, 30
	if *long {
		step, last = 1, 127
	}
	for n := 1; n <= last; n += step {
		o := runChild(t, tracer("pwrite64:signal=SIGKILL:when="+fmt.Sprint(n)), nil, "-path", path, "-count", "100")
		reconcile(t, path, o, model)
	}
}

func TestWhatAKilledBackupLeavesIsRemoved(t *testing.T) {
	for name, again := range map[string]func(db *DB) error{
		"by the next start":  func(*DB) error { return nil },
		"by the next backup": func(db *DB) error { return db.Backup(db.Path() + ".another") },
	} {
		t.Run(name, func(t *testing.T) {
			path := closedFile(t, 10)
			db, err := Open(path, Options{}) // before there is anything to remove
			if err != nil {
				t.Fatal(err)
			}
			if name == "by the next start" {
				if err := db.Close(); err != nil {
					t.Fatal(err)
				}
			}
			from := closedFile(t, 10)
			child := exec.Command(os.Args[0], "backup", from)
			child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			if err := child.Start(); err != nil {
				t.Fatal(err)
			}
			look := time.NewTicker(10 * time.Millisecond)
			defer look.Stop()
			for left := ""; left == ""; <-look.C {
				if _, err := os.Stat(from + "-backup" + unverified); err == nil {
					left = from
				}
			}
			if err := syscall.Kill(-child.Process.Pid, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			_ = child.Wait() // it was killed
			if name == "by the next start" {
				if db, err = Open(from, Options{}); err != nil {
					t.Fatal(err)
				}
			} else if err := os.Rename(from+"-backup"+unverified, path+"-backup"+unverified); err != nil {
				t.Fatal(err)
			}
			if err := errors.Join(again(db), db.Close()); err != nil {
				t.Fatal(err)
			}
			for _, of := range []string{from, path} {
				if left, _ := filepath.Glob(of + "*" + unverified + "*"); len(left) > 0 {
					t.Errorf("left behind: %v", left)
				}
			}
		})
	}
}

// The transaction that is copied keeps all pages, so a copy to a disk that stands still would fill the other.
func TestACopyToADiskThatStandsStillIsGivenUp(t *testing.T) {
	db := newDB(t, Options{CopyGrowth: 4 << 20})
	load(t, db, 0)()
	to := filepath.Join(t.TempDir(), "copy")
	if err := syscall.Mkfifo(to+".new", 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- db.snapshot(to) }()
	slow, err := os.Open(to + ".new")
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if _, err := io.ReadFull(slow, make([]byte, 4096)); err != nil {
		t.Fatal(err)
	}
	for range 8 { // each takes some 100 kB as long as nothing is reused
		commits(t, db, 20)
	}
	if _, err := io.Copy(io.Discard, slow); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil || !strings.Contains(err.Error(), "has grown by") {
		t.Errorf("the copy was not given up: %v", err)
	}
}
