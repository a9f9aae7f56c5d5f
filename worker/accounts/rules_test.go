package accounts

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/platform/profile"
	"belfry/store"
)

func forge(site string) []byte {
	return fmt.Appendf(nil, `{"%s": {"url": "https://%[1]s.example/{}", "errorType": "status_code", "username_claimed": "admin"}}`, site)
}

func TestTheRulesAreThoseOfTheTransaction(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		has := func(tx *store.Tx, site string) bool {
			return slices.Contains(b.worker.Rules(tx).Sites(), site)
		}
		undone := errors.New("undone")
		err := b.DB.Update(func(tx *store.Tx) error {
			if _, err := b.worker.ImportRules(tx, forge("first")); err != nil {
				return err
			}
			if !has(tx, "first") {
				t.Error("what was imported is not there in its own transaction")
			}
			return undone
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}
		b.View(func(tx *store.Tx) error {
			if has(tx, "first") {
				t.Error("what was undone is there")
			}
			return nil
		})
		for _, site := range []string{"second", "third"} {
			b.Update(func(tx *store.Tx) error {
				_, err := b.worker.ImportRules(tx, forge(site))
				return err
			})
			b.View(func(tx *store.Tx) error {
				if !has(tx, site) {
					t.Errorf("%s is not there", site)
				}
				return nil
			})
		}
		for _, site := range []string{"second", "third"} {
			b.Update(func(tx *store.Tx) error { return b.worker.RemoveRules(tx, site) })
			b.View(func(tx *store.Tx) error {
				if has(tx, site) {
					t.Errorf("%s is there still", site)
				}
				return nil
			})
		}
	})
}

// Rules as another version has taken them.
func TestRulesThatCannotBeReadLeaveTheOtherSitesAlone(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.Update(func(tx *store.Tx) error {
			if err := tx.Settings.Set(settingRules, `{"forge": {"url": 7}, "other": {"word": 7}}`); err != nil {
				return err
			}
			return tx.Accounts.Put(&store.Account{Site: "forge", Username: "alice", State: store.AccountPending})
		})
		b.watch(Request{}, "bob")
		b.sites.set(true, DefaultSite, "bob")
		b.start()
		if c := b.untilChecked(1)[0]; c.Found != 1 || fmt.Sprint(c.Stopped) != "[forge]" || c.Reason.Code != store.ReasonNoRule {
			t.Errorf("the check was %+v", c)
		}
		b.Update(func(tx *store.Tx) error { return b.worker.RemoveRules(tx, "other") })
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.ImportRules(tx, forge("forge"))
			return err
		})
		b.sites.set(true, "forge", "admin", "alice")
		if c := b.untilChecked(2)[1]; c.Found != 1 || c.Status != store.AccountCheckDone {
			t.Errorf("with good rules it was %+v", c)
		}
	})
}

// The last refusal that makes a check give a site up is the answer to a question that the rule before has put.
func TestASiteIsAskedByNewRulesAfterAnAnswerToThoseBefore(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		load := func() {
			b.Update(func(tx *store.Tx) error {
				_, err := b.worker.ImportRules(tx, forge("forge"))
				return err
			})
		}
		load()
		b.watch(Request{Site: "forge"}, "alice")
		b.sites.set(true, "forge", "admin", "alice")
		b.sites.took = 10 * time.Second
		b.sites.say("forge", refused("401"))
		b.start()
		for len(b.sites.questions()) < 4 || b.status().Job.State != store.JobRunning {
			b.Pass(time.Second)
		}
		b.sites.fault(refused("401")) // is on its way
		b.sites.say("forge", profile.Result{})
		load()
		if c := b.untilChecked(1)[0]; c.Found != 1 || len(c.Stopped) > 0 {
			t.Errorf("the check was %+v", c)
		}
	})
}

func TestLargeRulesAreNotReadForEachAccount(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		text := string(forge("large"))
		text = text[:len(text)-2] + `, "__comment__": "` + strings.Repeat("x", 1<<20) + `"}}`
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.ImportRules(tx, []byte(text))
			return err
		})
		read := func() {
			b.View(func(tx *store.Tx) error {
				b.worker.Rules(tx)
				return nil
			})
		}
		read()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range 10 {
			read()
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%d bytes were taken to read rules ten times that are known", n)
		}
	})
}
