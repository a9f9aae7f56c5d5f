package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// closedFile makes a file with a few settings and returns its path.
func closedFile(t *testing.T, rows int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "belfry.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, db, func(tx *Tx) error {
		for i := range rows {
			if err := tx.Settings.Put(setting(fmt.Sprint(i))); err != nil {
				return err
			}
		}
		return nil
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestARestoredFileStartsPausedAndBelongsToTheService(t *testing.T) {
	db := newDB(t, Options{})
	mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(setting("kept")) })
	backup := filepath.Join(t.TempDir(), "backup.db")
	if err := db.Backup(backup); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if os.Getuid() == 0 {
		if err := os.Chown(dir, 1234, 1234); err != nil {
			t.Fatal(err)
		}
	}
	to := filepath.Join(dir, "belfry.db")
	problems, err := Restore(t.Context(), backup, to, Options{Verifier: verifier()})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	info, err := os.Stat(to)
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; os.Getuid() == 0 && owner != 1234 {
		t.Errorf("it belongs to user %d", owner)
	}
	restored, err := Open(to, Options{Verifier: verifier()})
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	mustVerify(t, restored)
	if !restored.clean {
		t.Error("it is verified once more at its first start")
	}
	if got := names(t, restored); len(got) != 3 || got[0] != "kept" || got[1] != Paused || got[2] != Restored {
		t.Errorf("settings %v", got)
	}
	_, err = Restore(t.Context(), backup, to, Options{Verifier: verifier()})
	if _, ok := errors.AsType[*FieldError](err); !ok {
		t.Errorf("a file that is there: %v", err)
	}
}

// A file that was damaged is moved away while systemd still starts the service every few seconds.
func TestARestoreReplacesNoFileThatHasAppearedMeanwhile(t *testing.T) {
	dir := t.TempDir()
	to := filepath.Join(dir, "belfry.db")
	appears := append(Verifier{"/bin/sh", "-c", `echo new > ` + to + `; exec "$0" "$@"`}, verifier()...)
	_, err := Restore(t.Context(), unpack(t, "schema1.db.gz"), to, Options{Verifier: appears, Key: testKey(1)})
	if _, exists := errors.AsType[*FieldError](err); !exists {
		t.Errorf("got %v", err)
	}
	if data, err := os.ReadFile(to); string(data) != "new\n" {
		t.Errorf("it was replaced: %v", err)
	}
	if left, _ := filepath.Glob(to + "*"); len(left) != 1 {
		t.Errorf("there are %v", left)
	}
}

func TestABadBackupIsNotRestored(t *testing.T) {
	backup := closedFile(t, 2000)
	data, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string][]byte{
		"cut short": data[:3*4096],
		"empty":     nil,
		"not ours":  []byte(strings.Repeat("hello ", 10_000)),
		"zeroed":    append(append([]byte{}, data[:8192]...), make([]byte, len(data)-8192)...),
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			from, to := filepath.Join(dir, "backup"), filepath.Join(dir, "new", "belfry.db")
			if err := os.WriteFile(from, bad, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Restore(t.Context(), from, to, Options{Verifier: verifier()}); err == nil {
				t.Error("it was restored")
			} else {
				t.Log(err)
			}
			if left, _ := filepath.Glob(to + "*"); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestCompactGivesSpaceBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	big := strings.Repeat("x", 1000)
	mustUpdate(t, db, func(tx *Tx) error {
		for i := range 5_000 {
			if err := tx.Settings.Put(&Setting{Name: fmt.Sprint(i), Value: big}); err != nil {
				return err
			}
		}
		return nil
	})
	mustUpdate(t, db, func(tx *Tx) error {
		for i := range 4_990 {
			if err := tx.Settings.Delete(uint64(i + 1)); err != nil {
				return err
			}
		}
		return nil
	})
	if _, _, err := Compact(t.Context(), path, Options{Verifier: verifier()}); !errors.Is(err, ErrInUse) {
		t.Errorf("while it is open: %v", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "belfry.db") // as to a larger disk
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	before, after, err := Compact(t.Context(), link, Options{Verifier: verifier()})
	if err != nil || after > before/10 {
		t.Fatalf("from %d to %d bytes, %v", before, after, err)
	}
	if to, err := os.Readlink(link); to != path {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if db, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mustVerify(t, db)
	next := setting("next")
	mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(next) })
	if got := names(t, db); len(got) != 11 || next.ID != 5_001 {
		t.Errorf("%d rows, the next id is %d", len(got), next.ID)
	}
}

func TestAnUncleanStopIsNoticedAndProvedFirst(t *testing.T) {
	path := closedFile(t, 2000)
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(setting("more")) })
	data, err := os.ReadFile(path) // as a power failure would leave it
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var notes []string
	opts := Options{Verifier: verifier(), Note: func(text string) { notes = append(notes, text) }}
	if db, err = Open(path, opts); err != nil {
		t.Fatal(err)
	}
	if db.clean || len(notes) != 1 {
		t.Errorf("closed cleanly: %v, notes: %q", db.clean, notes)
	}
	mustVerify(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(path, opts); err != nil || !db.clean {
		t.Fatal("after a clean stop it is verified again", err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	clear(data[2*4096:]) // all but the meta pages
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, opts); !errors.Is(err, ErrDamaged) {
		t.Errorf("a file of zeros: %v", err)
	}
	if left, err := os.ReadFile(path); err != nil || string(left) != string(data) {
		t.Error("the damaged file was changed")
	}
}
