package store

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// newDB opens a new file. When the test ends, the file must verify.
func newDB(t *testing.T, opts Options) *DB {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "belfry.db"), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		mustVerify(t, db)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func mustVerify(t *testing.T, db *DB) {
	t.Helper()
	problems, err := db.Verify()
	if err != nil {
		t.Error(err)
	}
	for _, p := range problems {
		t.Errorf("verify: %s", p)
	}
}

func mustUpdate(t *testing.T, db *DB, fn func(*Tx) error) {
	t.Helper()
	if err := db.Update(fn); err != nil {
		t.Fatal(err)
	}
}

func setting(name string) *Setting { return &Setting{Name: name, Value: "v"} }

func names(t *testing.T, db *DB) (names []string) {
	t.Helper()
	err := db.View(func(tx *Tx) error {
		for s := range tx.Settings.All() {
			names = append(names, s.Name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestFileIsReadableByItsOwnerAlone(t *testing.T) {
	db := newDB(t, Options{})
	info, err := os.Stat(db.Path())
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("mode %o, want 600", got)
	}
}

func TestUpdatesThatWaitTogetherShareACommit(t *testing.T) {
	db := newDB(t, Options{})
	const callers, each = 64, 20
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for j := range each {
				if err := db.Update(func(tx *Tx) error { return tx.Settings.Put(setting(fmt.Sprint(i, "/", j))) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if got := len(names(t, db)); got != callers*each {
		t.Errorf("%d rows, want %d", got, callers*each)
	}
	if got := db.Commits(); got > callers*each/2 {
		t.Errorf("%d commits for %d updates: they do not share", got, callers*each)
	}
}

// group commits the functions in one go, in their order, and returns their errors.
func group(db *DB, fns ...func(*Tx) error) []error {
	calls := make([]*call, len(fns))
	for i, fn := range fns {
		calls[i] = &call{fn: fn, done: make(chan struct{})}
	}
	db.turn <- struct{}{}
	db.commitGroup(calls)
	<-db.turn
	errs := make([]error, len(fns))
	for i, c := range calls {
		errs[i] = c.err
		if c.panic != nil {
			errs[i] = fmt.Errorf("panic: %v", c.panic.value)
		}
	}
	return errs
}

func TestAFailingUpdateUndoesItsOwnWritesAndNobodyElses(t *testing.T) {
	db := newDB(t, Options{})
	broken := errors.New("broken")
	first, last := setting("first"), setting("last")
	errs := group(db,
		func(tx *Tx) error { return tx.Settings.Put(first) },
		func(tx *Tx) error {
			if err := tx.Settings.Put(setting("bad")); err != nil {
				return err
			}
			return broken
		},
		func(tx *Tx) error {
			if err := tx.Settings.Put(setting("worse")); err != nil {
				return err
			}
			panic("worse")
		},
		func(*Tx) error { return broken }, // wrote nothing
		func(tx *Tx) error { return tx.Settings.Put(last) },
	)
	for i, want := range []bool{true, false, false, false, true} {
		if (errs[i] == nil) != want {
			t.Errorf("update %d: %v", i, errs[i])
		}
	}
	if got := strings.Join(names(t, db), " "); got != "first last" {
		t.Errorf("rows %q, want first and last", got)
	}
	if first.ID != 1 || last.ID != 2 {
		t.Errorf("ids %d and %d, want 1 and 2 although the transaction ran several times", first.ID, last.ID)
	}
	if db.Commits() != 1 {
		t.Errorf("%d commits, want 1", db.Commits())
	}
}

func TestAPanicReachesTheOneWhoseUpdateItWas(t *testing.T) {
	db := newDB(t, Options{})
	defer func() {
		if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "mine") {
			t.Errorf("recovered %v", v)
		}
		mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(setting("after")) })
	}()
	_ = db.Update(func(*Tx) error { panic("mine") })
}

func TestPutInsertsOnlyWithoutAnIDAndChangesOnlyWhatExists(t *testing.T) {
	db := newDB(t, Options{})
	mustUpdate(t, db, func(tx *Tx) error {
		if err := tx.Settings.Put(&Setting{ID: 7, Name: "x"}); !errors.Is(err, ErrNotFound) {
			t.Errorf("put of a chosen id: %v", err)
		}
		if err := tx.Settings.Put(setting("x")); err != nil {
			return err
		}
		if err := tx.Settings.Put(setting("x")); !errors.Is(err, ErrExists) {
			t.Errorf("put of a name that is taken: %v", err)
		}
		return tx.Settings.Put(&Setting{ID: 1, Name: "x", Value: "changed"})
	})
}

func TestATableMayBeChangedWhileItIsWalked(t *testing.T) {
	db := newDB(t, Options{})
	mustUpdate(t, db, func(tx *Tx) error {
		for i := range 100 {
			if err := tx.Settings.Put(setting(fmt.Sprintf("%03d", i))); err != nil {
				return err
			}
		}
		for s := range tx.Settings.All() {
			if err := tx.Settings.Delete(s.ID); err != nil {
				return err
			}
		}
		return nil
	})
	if left := names(t, db); len(left) != 0 {
		t.Errorf("%d rows were passed over", len(left))
	}
}

func TestPagesCoverAListOnceInBothDirections(t *testing.T) {
	db := newDB(t, Options{})
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	const rows = 23
	mustUpdate(t, db, func(tx *Tx) error {
		for i := range rows {
			p := &Post{Status: PostScheduled, ScheduledTime: base.Add(time.Duration(i/3) * time.Hour)}
			if i%4 == 0 {
				p.Status = PostPublished
			}
			if err := tx.Posts.Put(p); err != nil {
				return err
			}
			j := &Job{Name: p.JobName(), Kind: []string{"post", "rule", "poll"}[i%3], Lane: "l", State: JobWaiting,
				Trigger: Trigger{At: base}, Due: base.Add(time.Duration(i*7%rows) * time.Minute)}
			if err := tx.Jobs.Put(j); err != nil {
				return err
			}
		}
		return nil
	})
	count := func(t *testing.T, page func(tx *Tx, q Query) (n int, next string, err error)) (total int) {
		q := Query{Limit: 4}
		for {
			var next string
			err := db.View(func(tx *Tx) error {
				n, cursor, err := page(tx, q)
				total, next = total+n, cursor
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if next == "" {
				return total
			}
			q.Cursor = next
		}
	}
	t.Run("descending by time", func(t *testing.T) {
		last := base.Add(24 * time.Hour)
		got := count(t, func(tx *Tx, q Query) (int, string, error) {
			page, err := tx.Posts.ByTime("", q)
			for _, p := range page.Items {
				if p.ScheduledTime.After(last) {
					t.Errorf("%v follows %v", p.ScheduledTime, last)
				}
				last = p.ScheduledTime
			}
			return len(page.Items), page.Next, err
		})
		if got != rows {
			t.Errorf("%d rows, want %d", got, rows)
		}
	})
	t.Run("ascending with a status", func(t *testing.T) {
		got := count(t, func(tx *Tx, q Query) (int, string, error) {
			page, err := tx.Posts.Coming(PostScheduled, q)
			return len(page.Items), page.Next, err
		})
		if want := rows - (rows+3)/4; got != want {
			t.Errorf("%d rows, want %d", got, want)
		}
	})
	t.Run("all kinds merged by next run", func(t *testing.T) {
		var last time.Time
		got := count(t, func(tx *Tx, q Query) (int, string, error) {
			page, err := tx.Jobs.List(JobQuery{Query: q})
			for _, j := range page.Items {
				if j.Due.Before(last) {
					t.Errorf("%v follows %v", j.Due, last)
				}
				last = j.Due
			}
			return len(page.Items), page.Next, err
		})
		if got != rows {
			t.Errorf("%d jobs, want %d", got, rows)
		}
	})
	t.Run("a cursor that no list gave out is refused", func(t *testing.T) {
		err := db.View(func(tx *Tx) error {
			_, err := tx.Posts.Coming(PostScheduled, Query{Cursor: "nonsense!"})
			return err
		})
		if _, ok := errors.AsType[*FieldError](err); !ok {
			t.Errorf("got %v", err)
		}
	})
}

func TestLanesAreFoundWithoutReadingTheirJobs(t *testing.T) {
	db := newDB(t, Options{})
	base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	mustUpdate(t, db, func(tx *Tx) error {
		for i, lane := range []string{"b", "a", "a\x00b", "a", "ab"} {
			j := &Job{Name: fmt.Sprint(i), Kind: "k", Lane: lane, State: JobWaiting,
				Trigger: Trigger{At: base}, Due: base.Add(time.Duration(10-i) * time.Second)}
			if err := tx.Jobs.Put(j); err != nil {
				return err
			}
		}
		var got []string
		for lane, due := range tx.Jobs.Lanes() {
			got = append(got, fmt.Sprintf("%q+%d", lane, int(due.Sub(base).Seconds())))
		}
		if want := `"a"+7 "a\x00b"+8 "ab"+6 "b"+10`; strings.Join(got, " ") != want {
			t.Errorf("lanes %v, want %s", got, want)
		}
		due := collect(tx.Jobs.Due("a", base.Add(8*time.Second)), 10)
		if len(due) != 1 || due[0].Name != "3" {
			t.Errorf("due in lane a: %v", due)
		}
		return nil
	})
}

func TestAFileThatIsInUseIsRefusedInWords(t *testing.T) {
	if path := os.Getenv("STORE_TEST_OPEN"); path != "" {
		_, err := Open(path, Options{})
		fmt.Print(err)
		os.Exit(0)
	}
	db := newDB(t, Options{})
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "STORE_TEST_OPEN="+db.Path())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"in use by another process", fmt.Sprintf("process %d", os.Getpid())} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q does not say %q", out, want)
		}
	}
}

func TestDamagedRowsAreFoundAndTakeNobodyDown(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "belfry.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mustUpdate(t, db, func(tx *Tx) error {
		for i := range 3 {
			if err := tx.Settings.Put(setting(fmt.Sprint(i))); err != nil {
				return err
			}
		}
		rows := tx.bolt.Bucket([]byte("settings"))
		data := []byte(strings.Replace(string(rows.Get(rowKey(2))), `"v"`, `"w"`, 1))
		return rows.Put(rowKey(2), data)
	})
	problems, err := db.Verify()
	if err != nil || len(problems) == 0 || problems[0].Table != "settings" || problems[0].ID != 2 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	err = db.View(func(tx *Tx) error {
		if read := collect(tx.Settings.All(), 10); len(read) != 2 {
			t.Errorf("%d good rows were read, want 2", len(read))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}

	taken, _, err := db.repair()
	if err != nil || len(taken) != 1 || taken[0].ID != 2 {
		t.Errorf("repair: %v, %v", taken, err)
	}
	mustVerify(t, db)
	err = db.View(func(tx *Tx) error {
		if n := tx.Aside(); n != 1 {
			t.Errorf("%d rows are kept aside, want 1", n)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Set("1", "back") })
}

func TestVerifyFindsAnIndexThatLies(t *testing.T) {
	for name, lie := range map[string]func(b *bbolt.Bucket) error{
		"an entry too many": func(b *bbolt.Bucket) error { return b.Put(key("zz").uint(1), nil) },
		"an entry missing": func(b *bbolt.Bucket) error {
			k, _ := b.Cursor().First()
			return b.Delete(append([]byte(nil), k...))
		},
	} {
		t.Run(name, func(t *testing.T) {
			db, err := Open(filepath.Join(t.TempDir(), "belfry.db"), Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			mustUpdate(t, db, func(tx *Tx) error {
				if err := tx.Settings.Put(setting("a")); err != nil {
					return err
				}
				return lie(tx.bolt.Bucket([]byte("settings.name")))
			})
			if problems, err := db.Verify(); err != nil || len(problems) == 0 {
				t.Errorf("verify: %v, %v", problems, err)
			}
			if taken, _, err := db.repair(); err != nil || len(taken) > 0 {
				t.Errorf("repair: %v, %v", taken, err)
			}
			mustVerify(t, db)
		})
	}
}

func TestAFullFileRefusesWritesAndServesAgainWhenThereIsSpace(t *testing.T) {
	db := newDB(t, Options{MaxSize: 1 << 20})
	big := strings.Repeat("x", 100_000)
	var kept []string
	for i := 0; ; i++ {
		if i == 100 {
			t.Fatal("the limit never held")
		}
		name := fmt.Sprintf("%03d", i)
		err := db.Update(func(tx *Tx) error { return tx.Settings.Put(&Setting{Name: name, Value: big}) })
		if err != nil {
			if !errors.Is(err, ErrUnavailable) {
				t.Errorf("got %v", err)
			}
			break
		}
		kept = append(kept, name)
	}
	if got := strings.Join(names(t, db), " "); got != strings.Join(kept, " ") {
		t.Errorf("rows %s, confirmed were %s", got, strings.Join(kept, " "))
	}
	db.bolt.MaxSize = 0 // as when somebody makes room on the disk
	mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(setting("small")) })
}

func TestWatchersHearOfTheirTablesAndOfNoOthers(t *testing.T) {
	db := newDB(t, Options{})
	posts, cancel := db.Watch("posts")
	defer cancel()
	mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(setting("a")) })
	select {
	case <-posts:
		t.Error("heard of settings")
	default:
	}
	mustUpdate(t, db, func(tx *Tx) error { return tx.Posts.Put(&Post{Status: PostScheduled}) })
	select {
	case <-posts:
	default:
		t.Error("did not hear of posts")
	}
}

func TestHistoryIsBounded(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	db := newDB(t, Options{Now: func() time.Time { return now }})
	add := func() {
		mustUpdate(t, db, func(tx *Tx) error {
			for range 10 {
				if err := tx.Runs.Add(&Run{Job: "j", Ended: tx.Now(), Result: ResultDone}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	add()
	now = now.Add(maxRunAge)
	add()
	err := db.View(func(tx *Tx) error {
		page, err := tx.Runs.Of("j", Query{})
		if len(page.Items) != 10 || page.Items[0].ID != 20 {
			t.Errorf("%d runs are left", len(page.Items))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestBackupIsTheWholeFileAndIsVerified(t *testing.T) {
	db := newDB(t, Options{})
	mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(setting("a")) })
	path := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Backup(path); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(path); err == nil {
		t.Error("a backup was overwritten")
	}
	copied, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer copied.Close()
	if got := names(t, copied); len(got) != 1 {
		t.Errorf("rows %v", got)
	}
	mustVerify(t, copied)
}

func TestABackupThatFailsAndCopiesThatWereForNowLeaveNothingBeside(t *testing.T) {
	db := newDB(t, Options{})
	fresh, old := db.Path()+"-1"+ForNow, db.Path()+"-2"+ForNow
	if err := errors.Join(os.WriteFile(fresh, nil, 0o600), os.WriteFile(old, nil, 0o600), os.Chtimes(old, time.Time{}, time.Now().Add(-2*forNowAge))); err != nil {
		t.Fatal(err)
	}
	if err := db.Backup(filepath.Join(t.TempDir(), "no folder", "copy.db")); err == nil {
		t.Error("there is no such folder")
	}
	if left, err := filepath.Glob(db.Path() + "-*"); err != nil || len(left) != 1 || left[0] != fresh {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestADamagedHoldIsReplacedByTheNextWait(t *testing.T) {
	db := newDB(t, Options{})
	until := db.Now().Add(time.Hour)
	mustUpdate(t, db, func(tx *Tx) error {
		if err := tx.Holds.Extend("lane", until, Reason{Code: ReasonFlood}); err != nil {
			return err
		}
		rows := tx.Holds.bucket()
		row := bytes.Clone(rows.Get(rowKey(1)))
		row[len(row)/2] ^= 0x20
		return rows.Put(rowKey(1), row)
	})
	mustUpdate(t, db, func(tx *Tx) error {
		if held, _ := tx.Holds.Until("lane"); !held.IsZero() {
			t.Errorf("a damaged hold holds until %v", held)
		}
		return tx.Holds.Extend("lane", until, Reason{Code: ReasonFlood})
	})
	mustUpdate(t, db, func(tx *Tx) error {
		if held, _ := tx.Holds.Until("lane"); !held.Equal(until) {
			t.Errorf("the next one holds until %v", held)
		}
		return nil
	})
	if _, _, err := db.repair(); err != nil {
		t.Error(err)
	}
}
