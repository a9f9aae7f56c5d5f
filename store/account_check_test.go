package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

func TestACheckThatDoesNotAddUpIsRefused(t *testing.T) {
	db := newDB(t, Options{})
	err := db.Update(func(tx *Tx) error {
		return tx.AccountChecks.Begin(&AccountCheck{Status: AccountCheckRunning, Total: 2, Checked: 2, Found: 1})
	})
	if err == nil {
		t.Error("it was written")
	}
}

// damagedFirst returns a store into which fill has written, and in which the first row of a table is damaged.
func damagedFirst(t *testing.T, table string, fill func(*Tx) error) *DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "belfry.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, db, fill)
	err = db.bolt.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte(table)).Put(rowKey(1), []byte("no row at all"))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestADamagedSiteIsPassedOverAndWrittenAnew(t *testing.T) {
	db := damagedFirst(t, "account_sites", func(tx *Tx) error {
		return errors.Join(tx.AccountSites.Put(&AccountSite{Site: "instagram", Stops: 1}), tx.AccountSites.Put(&AccountSite{Site: "github", Stops: 2}))
	})
	mustUpdate(t, db, func(tx *Tx) error {
		if _, err := tx.AccountSites.BySite("instagram"); !IsCorrupt(err) {
			t.Errorf("the damaged one: %v", err)
		}
		var stops []int
		for site := range tx.AccountSites.All() {
			stops = append(stops, site.Stops)
		}
		if fmt.Sprint(stops) != "[2]" {
			t.Errorf("the others are %v", stops)
		}
		return tx.AccountSites.Put(&AccountSite{Site: "Instagram", Stops: 3})
	})
	mustUpdate(t, db, func(tx *Tx) error {
		site, err := tx.AccountSites.BySite("instagram")
		if site.Stops != 3 || site.ID != 1 {
			t.Errorf("written anew it is %+v", site)
		}
		return err
	})
	mustVerify(t, db)
}

func TestADamagedCheckDoesNotKeepAnotherFromRunning(t *testing.T) {
	db := damagedFirst(t, "account_checks", func(tx *Tx) error {
		return tx.AccountChecks.Begin(&AccountCheck{Status: AccountCheckRunning, Began: tx.Now()})
	})
	mustUpdate(t, db, func(tx *Tx) error {
		c := AccountCheck{Status: AccountCheckRunning, Began: tx.Now()}
		if err := tx.AccountChecks.Begin(&c); err != nil {
			return err
		}
		if running := collect(tx.AccountChecks.Running(), 10); len(running) != 1 || running[0].ID != c.ID {
			t.Errorf("running are %+v", running)
		}
		c.Status = AccountCheckDone
		return tx.AccountChecks.Put(&c)
	})
	if found := db.Damaged(); len(found) != 1 || found[0].Table != "account_checks" {
		t.Errorf("told is %v", found)
	}
}

func TestASiteIsNotLeftAloneForAStepOfTheClock(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	site := AccountSite{Since: at, Until: at.Add(time.Hour)}
	for now, alone := range map[time.Time]bool{
		at: true, at.Add(time.Hour - 1): true, at.Add(time.Hour): false, at.Add(-time.Second): false, at.AddDate(-1, 0, 0): false,
	} {
		if site.LeftAlone(now) != alone {
			t.Errorf("at %v it is left alone: %v", now, !alone)
		}
	}
	site = AccountSite{Well: at}
	for now, rests := range map[time.Time]bool{
		at: true, at.Add(time.Hour - 1): true, at.Add(time.Hour): false, at.Add(-time.Second): false, at.AddDate(-1, 0, 0): false,
	} {
		if site.RestsUntil(now, time.Hour).After(now) != rests {
			t.Errorf("at %v it rests: %v", now, !rests)
		}
	}
}
