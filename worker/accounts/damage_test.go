package accounts

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"belfry/scheduler/schedulertest"
	"belfry/store"
)

// A site that was given up before, a check in the middle of it, and alice, who has been seen once.
func TestADamagedRowDoesNotEndTheChecks(t *testing.T) {
	for _, table := range []string{"account_sites", "account_checks", "accounts", "settings"} {
		t.Run(table, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "belfry.db")
			open := func() (*store.DB, *Worker) {
				db, err := store.Open(path, store.Options{})
				if err != nil {
					t.Fatal(err)
				}
				net := newSites()
				net.took = 0
				net.set(true, DefaultSite, "alice", "bob")
				net.set(true, "github", "carol")
				w := New(db, net, teller{}, Config{Log: zerolog.Nop()})
				w.pause = func(_, _ time.Duration) time.Duration { return 0 }
				return db, w
			}
			db, w := open()
			err := db.Update(func(tx *store.Tx) error {
				for _, r := range []Request{{Username: "alice"}, {Username: "bob"}, {Username: "carol", Site: "github"}} {
					if _, err := w.Add(tx, r); err != nil {
						return err
					}
				}
				past := tx.Now().Add(-2 * time.Hour)
				return errors.Join(
					w.SetQuiet(tx, true),
					tx.AccountSites.Put(&store.AccountSite{Site: DefaultSite, Stops: 1, Since: past, Until: past.Add(time.Hour)}),
					tx.AccountChecks.Begin(&store.AccountCheck{Status: store.AccountCheckRunning, Began: tx.Now(), Sites: []string{DefaultSite, "github"},
						Total: 3, Last: 3, SitePlace: store.SitePlace{Canary: store.CanaryMet, Suspect: store.Suspect{AccountID: 1, Outcome: store.OutcomeFound}}}))
			})
			if err := errors.Join(err, db.Close()); err != nil {
				t.Fatal(err)
			}
			schedulertest.Damage(t, path, table, 1)

			db, w = open()
			defer db.Close()
			for _, do := range []func(*store.Tx) error{
				func(tx *store.Tx) error {
					_, err := w.Status(tx)
					return err
				},
				func(tx *store.Tx) error {
					_, err := w.SetInterval(tx, 10*time.Minute)
					return err
				},
				func(tx *store.Tx) error {
					list, err := w.AddList(tx, "alice\nbob", Request{})
					if len(list.Lines) != 2 || list.Lines[1].Result != LineDuplicate || (list.Invalid == 1) != (table == "accounts") {
						t.Errorf("the list came to %+v", list)
					}
					return err
				},
				func(tx *store.Tx) error {
					_, err := w.CheckNow(tx)
					if _, busy := errors.AsType[*store.ConflictError](err); busy && table != "account_checks" {
						return nil
					}
					return err
				},
			} {
				if err := db.Update(do); err != nil {
					t.Error(err)
				}
			}
			c := runUntilChecked(t, db, w)
			want := 3
			if table == "accounts" {
				want = 2
			}
			if c.Status != store.AccountCheckDone || c.Found != want {
				t.Errorf("the check was %+v", c)
			}
			told := fmt.Sprint(db.Damaged())
			if n := strings.Count(told, table+" 1: "); n != 1 && table != "account_sites" { // which is written anew
				t.Errorf("the damage is told %d times: %s", n, told)
			}
		})
	}
}

// The site is given up while what is known of it is damaged.
func TestWhatIsDamagedOfASiteIsWrittenAnew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	db, err := store.Open(path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *store.Tx) error { return tx.AccountSites.Put(&store.AccountSite{Site: DefaultSite, Stops: 7}) })
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	schedulertest.Damage(t, path, "account_sites", 1)
	if db, err = store.Open(path, store.Options{}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	net := newSites()
	net.took = 0
	no := refused("no")
	net.alwaysSay(&no)
	w := New(db, net, teller{}, Config{Log: zerolog.Nop()})
	w.pause = func(_, _ time.Duration) time.Duration { return 0 }
	err = db.Update(func(tx *store.Tx) error {
		_, err := w.Add(tx, Request{Username: "alice"})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if c := runUntilChecked(t, db, w); c.Status != store.AccountCheckStopped {
		t.Errorf("the check was %+v", c)
	}
	err = db.View(func(tx *store.Tx) error {
		s, err := w.Status(tx)
		if len(s.Alone) != 1 || s.Alone[0].Stops != 1 {
			t.Errorf("left alone are %+v", s.Alone)
		}
		return err
	})
	problems, err2 := db.Verify()
	if err := errors.Join(err, err2); err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
}
