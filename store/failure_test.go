package store

import (
	"errors"
	"path/filepath"
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
