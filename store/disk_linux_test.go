package store

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// tracer is the command that runs a program with a fault in its system calls.
func tracer(fault string) []string {
	call, _, _ := strings.Cut(fault, ":")
	return []string{"strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=" + call, "-e", "inject=" + fault}
}

func needTracer(t *testing.T) {
	t.Helper()
	needProgram(t, "strace")
	err := exec.Command("strace", "-o", "/dev/null", "true").Run()
	need(t, err == nil, "the right to trace processes")
}

// A commit that failed may have been carried out. The child goes on by what it finds in the file,
// and what it was told is done must be there.
func TestAfterAnErrorOfTheDiskServiceResumes(t *testing.T) {
	needTracer(t)
	faults := []string{"fdatasync:error=EIO:when=6", "fdatasync:error=EIO:when=7", "pwrite64:error=ENOSPC:when=30"}
	if *long {
		for n := 4; n < 24; n++ {
			faults = append(faults, fmt.Sprint("fdatasync:error=EIO:when=", n), fmt.Sprint("pwrite64:error=EIO:when=", 5*n),
				fmt.Sprint("pwrite64:error=ENOSPC:when=", 5*n+1))
		}
	}
	for _, fault := range faults {
		t.Run(fault, func(t *testing.T) {
			path, model := filepath.Join(t.TempDir(), "belfry.db"), newModel()
			reconcile(t, path, outcome{}, model) // makes the file, so that the fault meets the child's own commits
			o := runChild(t, tracer(fault), nil, "-path", path, "-count", "60")
			if len(o.failures) == 0 || !o.resumed {
				t.Errorf("failures %q, resumed: %v", o.failures, o.resumed)
			}
			reconcile(t, path, o, model)
		})
	}
}

func TestAFullDiskRefusesWritesAndServesAgainWhenThereIsSpace(t *testing.T) {
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=8m")
	need(t, err == nil, "the right to mount a small filesystem")
	defer func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	path := filepath.Join(dir, "belfry.db")
	db, err := Open(path, Options{Verifier: verifier()})
	if err != nil {
		t.Fatal(err)
	}
	filler := filepath.Join(dir, "filler")
	if err := os.WriteFile(filler, make([]byte, 5<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", 100_000)
	var confirmed []string
	put := func(i int) error {
		name := fmt.Sprintf("%03d", i)
		err := db.Update(func(tx *Tx) error { return tx.Settings.Put(&Setting{Name: name, Value: big}) })
		if err == nil {
			confirmed = append(confirmed, name)
		}
		return err
	}
	i := 0
	for ; ; i++ {
		if err = put(i); err != nil {
			break
		}
	}
	if !errors.Is(err, ErrUnavailable) || !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("on a full disk: %v", err)
	}
	if !IsFull(err) || !IsFull(db.Failing()) {
		t.Errorf("that the disk is full is not said: %v, failing: %v", err, db.Failing())
	}
	if got := names(t, db); strings.Join(got, " ") != strings.Join(confirmed, " ") {
		t.Errorf("%d rows can be read, %d were confirmed", len(got), len(confirmed))
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for limit := time.After(time.Minute); err != nil; i++ {
		select {
		case <-again.C:
			err = put(i)
		case <-limit:
			t.Fatal("no service after there was space:", err)
		}
	}
	if err := db.Failing(); err != nil {
		t.Errorf("it still fails after a commit was made: %v", err)
	}
	if err := os.WriteFile(filler, make([]byte, 8<<20), 0o600); !IsFull(err) {
		t.Fatal(err)
	}
	if err := db.Backup(filepath.Join(dir, "backup.db")); !IsFull(err) {
		t.Errorf("a backup without a byte of room: %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(path, Options{Verifier: verifier()}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := names(t, db); strings.Join(got, " ") != strings.Join(confirmed, " ") {
		t.Errorf("%d rows after reopening, %d were confirmed", len(got), len(confirmed))
	}
}

func TestABackupGoesToAnotherDisk(t *testing.T) {
	db := newDB(t, Options{})
	dir, err := os.MkdirTemp("/dev/shm", "belfry")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := db.Backup(filepath.Join(dir, "copy.db")); err != nil {
		t.Fatal(err)
	}
	there, err := filepath.Glob(filepath.Join(dir, "*"))
	left, bad := filepath.Glob(db.Path() + "-*")
	if err := errors.Join(err, bad); err != nil || len(there) != 1 || len(left) > 0 {
		t.Errorf("there are %v, and %v stayed beside the file: %v", there, left, err)
	}
	if problems, err := db.opts.Verifier.Verify(t.Context(), there[0]); err != nil || len(problems) > 0 {
		t.Errorf("the backup is bad: %v, %v", problems, err)
	}
}
