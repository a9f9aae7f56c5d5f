package store

import (
	"errors"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestUpdatesJoinTheCommitThatIsUnderWay puts updates beside one that is being worked on: they join it until as many
// share the commit as lately, and the rest is the next one's.
func TestUpdatesJoinTheCommitThatIsUnderWay(t *testing.T) {
	for _, c := range []struct{ together, others, commits int }{
		{together: 1, others: 3, commits: 2}, // nobody is waited for, and nobody joins
		{together: 4, others: 3, commits: 1},
		{together: 2, others: 3, commits: 1}, // those that wait at the moment join it at once
	} {
		db := newDB(t, Options{})
		before := db.Commits()
		db.mu.Lock()
		db.together, db.took, db.ended = c.together, 0, time.Now()
		db.mu.Unlock()
		var others sync.WaitGroup
		var once sync.Once
		mustUpdate(t, db, func(tx *Tx) error {
			once.Do(func() {
				for n := range c.others {
					others.Go(func() {
						if err := db.Update(func(tx *Tx) error { return tx.Settings.Put(setting(strconv.Itoa(n))) }); err != nil {
							t.Error(err)
						}
					})
				}
				for waiting := 0; waiting < c.others; runtime.Gosched() {
					db.mu.Lock()
					waiting = len(db.waiting)
					db.mu.Unlock()
				}
			})
			return tx.Settings.Put(setting("first"))
		})
		others.Wait()
		if n := int(db.Commits() - before); n != c.commits || len(names(t, db)) != 1+c.others {
			t.Errorf("%+v: %d commits, and the rows %v", c, n, names(t, db))
		}
	}
}

// TestWhoComesAfterAPauseWaitsForNobody makes a lone update after others have come together: it waits for them right
// afterwards, and not any more when that was a while ago.
func TestWhoComesAfterAPauseWaitsForNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t, Options{})
		for _, c := range []struct{ pause, waits time.Duration }{{0, maxGather}, {lately + 1, 0}} {
			db.mu.Lock()
			db.together, db.took, db.ended = 2, time.Second, time.Now()
			db.mu.Unlock()
			time.Sleep(c.pause)
			begun := time.Now()
			mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(setting(c.pause.String())) })
			if waited := time.Since(begun); waited != c.waits {
				t.Errorf("after %s it has waited %s, want %s", c.pause, waited, c.waits)
			}
		}
	})
}

// TestAFailureThatJoinsHoldsUpNobody has updates that fail after they wrote join a commit, each when the one before it is
// taken out: the commit ends with as many as came together lately.
func TestAFailureThatJoinsHoldsUpNobody(t *testing.T) {
	const together, most = 4, 50
	db := newDB(t, Options{})
	db.mu.Lock()
	db.together, db.took, db.ended = together, 0, time.Now()
	db.mu.Unlock()
	var fails sync.WaitGroup
	failed, before := 0, 0 // of the goroutine that commits
	var fail func()
	fail = func() {
		if failed++; failed > most {
			return
		}
		fails.Go(func() {
			var once sync.Once
			_ = db.Update(func(tx *Tx) error {
				once.Do(fail)
				return errors.Join(tx.Settings.Put(setting("failed")), errors.ErrUnsupported)
			})
		})
		for waiting := 0; waiting == 0; runtime.Gosched() {
			db.mu.Lock()
			waiting = len(db.waiting)
			db.mu.Unlock()
		}
	}
	var once sync.Once
	mustUpdate(t, db, func(tx *Tx) error {
		once.Do(fail)
		tx.After(func() { before = failed })
		return tx.Settings.Put(setting("first"))
	})
	fails.Wait()
	if before > together+1 {
		t.Errorf("%d others failed before the first was committed", before)
	}
}
