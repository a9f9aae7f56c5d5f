package store

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestADiskThatFailsAgainAndAgainIsLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full, tried := false, 0
		db, err := Open(filepath.Join(t.TempDir(), "belfry.db"), Options{Commit: func(s Stage) error {
			if !full || s != BeforeCommit {
				return nil
			}
			tried++
			return syscall.ENOSPC
		}})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		put := func() error {
			return db.Update(func(tx *Tx) error { return tx.Settings.Set("name", "value") })
		}
		for range 2 { // the second time, what was before counts no more
			full, tried = true, 0
			begun := time.Now()
			for time.Since(begun) < time.Minute {
				if err := put(); !errors.Is(err, ErrUnavailable) || !IsFull(err) || !IsFull(db.Failing()) {
					t.Fatalf("on a full disk: %v, failing: %v", err, db.Failing())
				}
				if err := db.View(func(*Tx) error { return nil }); err != nil {
					t.Fatalf("it cannot be read: %v", err)
				}
				if since := time.Since(begun); since == 0 && tried != 1 || since == 100*time.Millisecond && tried != 2 {
					t.Errorf("%d were tried after %v", tried, since)
				}
				time.Sleep(100 * time.Millisecond)
			}
			if tried < 8 || tried > 10 {
				t.Errorf("%d commits were tried in a minute", tried)
			}
			full = false
			time.Sleep(maxRest)
			if err := put(); err != nil || db.Failing() != nil {
				t.Errorf("when there was room again: %v, failing: %v", err, db.Failing())
			}
		}
	})
}

func TestACopyHoldsUpNeitherTheEndNorAFailedCommit(t *testing.T) {
	for _, test := range []struct {
		name string
		do   func(db *DB, fail *atomic.Bool)
	}{
		{"close", func(db *DB, _ *atomic.Bool) { _ = db.Close() }},
		{"failed commit", func(db *DB, fail *atomic.Bool) {
			fail.Store(true)
			_ = db.Update(func(tx *Tx) error { return tx.Settings.Set("a", "b") })
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var fail atomic.Bool
			db, err := Open(filepath.Join(t.TempDir(), "belfry.db"), Options{Commit: func(s Stage) error {
				if fail.Load() && s == BeforeCommit {
					return syscall.ENOSPC
				}
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			const size = 4 << 20
			if err := db.Update(func(tx *Tx) error { return tx.Settings.Set("large", strings.Repeat("x", size)) }); err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(t.TempDir(), "copy")
			if err := syscall.Mkfifo(to+".new", 0o600); err != nil {
				t.Fatal(err)
			}
			copied := make(chan error, 1)
			go func() { copied <- db.snapshot(to) }()
			slow, err := os.Open(to + ".new")
			if err != nil {
				t.Fatal(err)
			}
			defer slow.Close()
			if _, err := io.ReadFull(slow, make([]byte, 1<<20)); err != nil { // the copy has begun, and waits for its reader
				t.Fatal(err)
			}
			done := make(chan struct{})
			go func() { test.do(db, &fail); close(done) }()
			for db.wanted.Load() == 0 {
				runtime.Gosched()
			}
			if n, err := io.Copy(io.Discard, slow); err != nil || n >= size/2 {
				t.Errorf("%d bytes more were copied meanwhile, %v", n, err)
			}
			if err := <-copied; !errors.Is(err, ErrUnavailable) {
				t.Errorf("the copy: %v", err)
			}
			<-done
		})
	}
}
