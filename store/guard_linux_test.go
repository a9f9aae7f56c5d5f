package store

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// load changes rows at random until stop, from several goroutines, so that pages are freed and
// reused all the time.
func load(t *testing.T, db *DB, writers int) (stop func()) {
	t.Helper()
	filler := strings.Repeat("x", 600)
	rows := uint64(2000)
	if *long {
		rows = 8000
	}
	err := db.Update(func(tx *Tx) error {
		for i := range rows {
			if err := tx.Settings.Put(&Setting{Name: fmt.Sprint(i), Value: filler}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var ending atomic.Bool
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for !ending.Load() {
				err := db.Update(func(tx *Tx) error {
					s, err := tx.Settings.Get(1 + rand.Uint64N(rows))
					if err != nil {
						return err
					}
					s.Value = filler[:rand.IntN(len(filler))]
					return tx.Settings.Put(&s)
				})
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	return sync.OnceFunc(func() { ending.Store(true); wg.Wait() })
}

// run runs a program. GNU tar ends with 1 when the file changed meanwhile, which is expected.
func run(name string, args ...string) error {
	out, err := exec.Command(name, args...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && name == "tar" && exit.ExitCode() == 1 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w: %s", name, err, out)
	}
	return nil
}

// copiers are ways to make a plain copy.
func copiers() map[string]func(from, to string) error {
	return map[string]func(from, to string) error{
		"cp":     func(from, to string) error { return run("cp", from, to) },
		"tar":    archived("tar", "-cf"),
		"tar -S": archived("tar", "-S", "-cf"),
		"bsdtar": archived("bsdtar", "-cf"),
		"rsync":  func(from, to string) error { return run("rsync", "--inplace", from, to) },
		"a slow copier": func(from, to string) error {
			in, err := os.Open(from)
			if err != nil {
				return err
			}
			defer in.Close()
			out, err := os.Create(to)
			if err != nil {
				return err
			}
			pace := time.NewTicker(5 * time.Millisecond)
			defer pace.Stop()
			for err == nil {
				_, err = io.CopyN(out, in, 256<<10)
				<-pace.C
			}
			if err == io.EOF {
				err = nil
			}
			return errors.Join(err, out.Close())
		},
	}
}

// archived copies a file by way of an archive.
func archived(program string, create ...string) func(from, to string) error {
	return func(from, to string) error {
		dir, name := filepath.Split(from)
		if err := run(program, append(append([]string{"-C", dir}, create...), to+".tar", name)...); err != nil {
			return err
		}
		if err := os.Mkdir(to+".d", 0o700); err != nil {
			return err
		}
		if err := run(program, "-C", to+".d", "-xf", to+".tar"); err != nil {
			return err
		}
		return errors.Join(os.Rename(filepath.Join(to+".d", name), to), os.RemoveAll(to+".d"), os.Remove(to+".tar"))
	}
}

// copies makes n copies with a copier and returns how many are bad.
func copies(t *testing.T, db *DB, dir string, copier func(from, to string) error, n int) (bad int) {
	t.Helper()
	for i := range n {
		to := filepath.Join(dir, fmt.Sprint(i))
		if err := copier(db.Path(), to); err != nil {
			t.Fatal(err)
		}
		problems, err := verifier().Verify(t.Context(), to)
		if err != nil || len(problems) > 0 {
			bad++
		}
		if err := os.Remove(to); err != nil {
			t.Fatal(err)
		}
	}
	return bad
}

// guarded opens a new file with the guard, and skips the test where there are no leases.
func guarded(t *testing.T, opts Options) *DB {
	t.Helper()
	db := newDB(t, opts)
	ok, why := db.Copyable()
	need(t, ok, "file leases: "+why)
	return db
}

// counts says how many copies of each kind are made.
func counts() map[string]int {
	if *long {
		return map[string]int{"cp": 250, "tar": 100, "tar -S": 100, "bsdtar": 100, "rsync": 100, "a slow copier": 5}
	}
	if testing.Short() {
		return map[string]int{"cp": 2, "tar": 1, "tar -S": 1, "bsdtar": 1, "rsync": 1, "a slow copier": 1}
	}
	return map[string]int{"cp": 8, "tar": 4, "tar -S": 8, "bsdtar": 8, "rsync": 4, "a slow copier": 1}
}

func TestAPlainCopyOfTheLiveFileIsGood(t *testing.T) {
	for name, copier := range copiers() {
		t.Run(name, func(t *testing.T) {
			if name != "a slow copier" {
				needProgram(t, strings.Fields(name)[0])
			}
			db := guarded(t, Options{})
			stop := load(t, db, 4)
			defer stop()
			n, begin := counts()[name], time.Now()
			bad := copies(t, db, t.TempDir(), copier, n)
			rate := float64(db.Commits()) / time.Since(begin).Seconds()
			stop()
			size, err := db.Size()
			t.Logf("%d of %d copies bad under %.0f commits/s, the data takes %d MiB then", bad, n, rate, size>>20)
			if err != nil || bad > 0 {
				t.Errorf("%d of %d copies are bad, %v", bad, n, err)
			}
		})
	}
	t.Run("several at once", func(t *testing.T) {
		db := guarded(t, Options{})
		stop := load(t, db, 4)
		defer stop()
		var wg sync.WaitGroup
		for range 4 {
			dir := t.TempDir()
			wg.Go(func() {
				if bad := copies(t, db, dir, copiers()["cp"], max(2, counts()["cp"]/16)); bad > 0 {
					t.Errorf("%d copies are bad", bad)
				}
			})
		}
		wg.Wait()
	})
}

// commits changes many rows in n commits.
func commits(t *testing.T, db *DB, n int) {
	t.Helper()
	for i := range n {
		mustUpdate(t, db, func(tx *Tx) error {
			for id := range uint64(20) {
				s, err := tx.Settings.Get(1 + (uint64(i)*7+id*101)%2000)
				if err != nil {
					return err
				}
				s.Value = fmt.Sprint(i, strings.Repeat("y", i%50))
				if err := tx.Settings.Put(&s); err != nil {
					return err
				}
			}
			return nil
		})
	}
}

// slowCopy copies the file in two reads, the first one of first bytes as soon as when is reached,
// with many commits before the second, and returns what is wrong with the copy.
func slowCopy(t *testing.T, db *DB, when Stage, first int64) []Problem {
	t.Helper()
	load(t, db, 0)()
	commits(t, db, 20)
	var in *os.File
	var begun []byte
	begin := func() {
		var err error
		if in, err = os.Open(db.Path()); err != nil {
			t.Fatal(err)
		}
		begun = make([]byte, first)
		if _, err := io.ReadFull(in, begun); err != nil {
			t.Fatal(err)
		}
	}
	db.opts.Commit = func(s Stage) error {
		if s == when && in == nil {
			begin()
		}
		return nil
	}
	commits(t, db, 1)
	if in == nil {
		begin()
	}
	commits(t, db, 60)
	rest, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(to, append(begun, rest...), 0o600); err != nil {
		t.Fatal(err)
	}
	problems, err := verifier().Verify(t.Context(), to)
	if err != nil {
		problems = append(problems, Problem{Problem: err.Error()})
	}
	return problems
}

// A copier may open the file at any point of a commit, and take as long as it likes over any part.
func TestACopyMayTakeAsLongAsItLikes(t *testing.T) {
	for _, when := range []Stage{"between commits", BeforeCommit, AfterCommit} {
		for _, first := range []int64{2 * 4096, 20 * 4096} {
			t.Run(fmt.Sprint(when, ", ", first, " bytes at first"), func(t *testing.T) {
				if problems := slowCopy(t, guarded(t, Options{}), when, first); len(problems) > 0 {
					t.Error(problems)
				}
			})
		}
	}
}

// Without the guard the same copies are bad: so the test above can fail. Not each of them: where
// the new root happens to lie on the page of the old one, the copy is one of the newest state.
func TestAPlainCopyOfAnUnguardedFileIsBad(t *testing.T) {
	bad := 0
	for range 6 {
		db := newDB(t, Options{})
		db.guard.detach()
		if problems := slowCopy(t, db, "between commits", 20*4096); len(problems) > 0 {
			bad++
		}
	}
	if t.Logf("%d of 6 copies are bad", bad); bad == 0 {
		t.Error("all copies are good: the commits prove nothing")
	}
}

// And so are those that are made under load, sooner or later.
func TestSomePlainCopyOfAnUnguardedFileUnderLoadIsBad(t *testing.T) {
	if !*long {
		t.Skip("run with -long")
	}
	db := newDB(t, Options{})
	db.guard.detach()
	stop := load(t, db, 4)
	defer stop()
	for n := range 1000 {
		if copies(t, db, t.TempDir(), copiers()["a slow copier"], 1) == 1 {
			t.Logf("%d copies were good before the first bad one", n)
			return
		}
	}
	t.Error("all copies are good: the load proves nothing")
}

func TestACopierThatStaysForEverIsGivenUpAndSaid(t *testing.T) {
	var notes []string
	db := guarded(t, Options{CopyGrowth: 1 << 20, Note: func(text string) { notes = append(notes, text) }})
	load(t, db, 0)()
	if at, why := db.CopyGivenUp(); !at.IsZero() || why != nil {
		t.Errorf("given up at %s: %v", at, why)
	}
	before, err := db.Size()
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	commits(t, db, 300)
	if ok, why := db.Copyable(); ok || len(notes) != 1 {
		t.Errorf("copyable: %v, %q, notes %q", ok, why, notes)
	}
	size, err := db.Size()
	if err != nil || size > before+4<<20 {
		t.Errorf("the data takes %d bytes, after %d, %v", size, before, err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	again := time.NewTicker(presencePause)
	defer again.Stop()
	for ok := false; !ok; ok, _ = db.Copyable() {
		<-again.C
		commits(t, db, 1)
	}
	// That copy is bad all the same.
	if at, why := db.CopyGivenUp(); at.IsZero() || why == nil {
		t.Error("nobody can ask whether a copy was given up")
	}
}

func TestAStartWaitsForTheEndOfACopyThatWasBegunBefore(t *testing.T) {
	path := closedFile(t, 10)
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	db, err := Open(path, Options{Note: func(text string) {
		if notes = append(notes, text); len(notes) == 1 {
			if err := in.Close(); err != nil { // the copy ends while the start waits
				t.Error(err)
			}
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if ok, why := db.Copyable(); ok && len(notes) != 1 {
		t.Errorf("%s, notes %q", why, notes)
	}
}

// bbolt cannot map the file anew while there is a reader.
func TestNoReaderIsLeftWhenTheFileOutgrowsItsAddressSpace(t *testing.T) {
	db := guarded(t, Options{})
	load(t, db, 0)()
	db.guard.mapped = 1 << 20
	commits(t, db, 2)
	if ok, why := db.Copyable(); ok || len(db.guard.pins) != 0 {
		t.Errorf("copyable: %v, %q, with %d readers", ok, why, len(db.guard.pins))
	}
}

// A copier that looks for holes first leaves out what is written there afterwards.
func TestThereIsNoHoleWhereTheNextCommitsWrite(t *testing.T) {
	db := guarded(t, Options{})
	stop := load(t, db, 2)
	defer stop()
	large := Setting{Name: "more than the room", Value: strings.Repeat("x", 2*copyRoom)}
	for i := range 30 {
		if i%10 == 0 {
			mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(&large) })
		}
		f, err := os.Open(db.Path())
		if err != nil {
			t.Fatal(err)
		}
		hole, err := f.Seek(0, unix.SEEK_HOLE) // is the end of the file where there is none
		size, err2 := db.Size()
		if err := errors.Join(err, err2, f.Close()); err != nil {
			t.Fatal(err)
		}
		if hole < size+copyRoom/2 {
			t.Fatalf("the data takes %d bytes, and at %d is a hole", size, hole)
		}
		before := db.Commits()
		for db.Commits() < before+10 && !t.Failed() {
			runtime.Gosched()
		}
	}
}

func TestACopierIsGivenUpBeforeTheDiskIsFull(t *testing.T) {
	dir := t.TempDir()
	err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=100m")
	need(t, err == nil, "the right to mount a small filesystem")
	defer func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	}()
	db, err := Open(filepath.Join(dir, "belfry.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if ok, why := db.Copyable(); !ok {
		need(t, false, "file leases: "+why)
	}
	load(t, db, 0)()
	in, err := os.Open(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for range 30 { // each takes some 100 kB as long as nothing is reused
		commits(t, db, 50)
	}
	if at, why := db.CopyGivenUp(); at.IsZero() || why == nil {
		t.Error("the copier was not given up")
	}
	if free := freeSpace(db.guard.file); free < 30<<20 {
		t.Errorf("%d MiB are left", free>>20)
	}
}
