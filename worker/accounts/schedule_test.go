package accounts

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/i18n"
	"belfry/platform/profile"
	"belfry/store"
)

func TestAnIntervalHoldsAtOnce(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{}, "alice")
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.SetInterval(tx, 24*time.Hour)
			return err
		})
		b.start()
		if s := b.status(); s.Interval != 24*time.Hour || s.Job.Due.Before(time.Now()) {
			t.Errorf("the status is %+v", s)
		}
		set := func(every time.Duration) {
			b.Update(func(tx *store.Tx) error {
				_, err := b.worker.SetInterval(tx, every)
				return err
			})
		}
		set(3 * time.Minute)
		b.Pass(4 * time.Minute)
		if n := len(b.checks()); n < 1 || n > 2 {
			t.Errorf("%d checks within 4 minutes", n)
		}
		b.Pass(26 * time.Minute)
		if n := len(b.checks()); n < 10 || n > 11 {
			t.Errorf("%d checks within 30 minutes", n)
		}
		b.start()
		if s := b.status(); s.Interval != 3*time.Minute {
			t.Errorf("after a restart it is %v", s.Interval)
		}
		for _, wrong := range []time.Duration{0, time.Second, 8 * 24 * time.Hour} {
			err := b.DB.Update(func(tx *store.Tx) error {
				_, err := b.worker.SetInterval(tx, wrong)
				return err
			})
			if e, ok := errors.AsType[*store.FieldError](err); !ok || e.Field != "interval" {
				t.Errorf("%v: %v", wrong, err)
			}
		}
	})
}

func TestAnIntervalThatChangesDuringACheckDoesNotInterruptIt(t *testing.T) {
	for _, during := range []time.Duration{50 * time.Millisecond, 2 * time.Second} { // a question, and a pause
		inBubble(t, Config{}, func(b *bench) {
			b.watch(Request{}, names(20)...)
			b.start()
			b.Pass(time.Minute + during)
			b.Update(func(tx *store.Tx) error {
				_, err := b.worker.SetInterval(tx, 24*time.Hour)
				return err
			})
			b.Pass(time.Minute)
			if c := b.checks()[0]; c.Status != store.AccountCheckDone || c.Checked != 20 {
				t.Errorf("after two minutes the check is %+v", c)
			}
			if due := time.Until(b.status().Job.Due); due > 24*time.Hour || due < 0 {
				t.Errorf("the next is in %v", due)
			}
		})
	}
}

func TestACheckByHandIsRefusedDuringOne(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{}, names(20)...)
		b.start()
		b.Pass(30 * time.Second)
		now := func() error {
			return b.DB.Update(func(tx *store.Tx) error {
				_, err := b.worker.CheckNow(tx)
				return err
			})
		}
		if e, ok := errors.AsType[*store.ConflictError](now()); !ok || e.Key != "conflict.check_running" || e.Args[1] != 20 {
			t.Errorf("got %v", e)
		}
		s := b.status()
		if s.Running == nil || s.Running.Checked == 0 || s.Job.LastReason.Code != store.ReasonChecking || s.Job.LastReason.Of != 20 {
			t.Errorf("the status is %+v", s)
		}
		b.untilChecked(1)
		if err := now(); err != nil {
			t.Error(err)
		}
		b.Pass(5 * time.Second)
		if n := len(b.checks()); n != 2 {
			t.Errorf("%d checks", n)
		}
	})
}

// The bot commits what an action has written before it refuses.
func TestWhatRefusesHasWrittenNothing(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.Update(func(tx *store.Tx) error {
			return tx.AccountSites.Put(&store.AccountSite{Site: "first", Stops: 1, Since: tx.Now(), Until: tx.Now().Add(time.Hour)})
		})
		refuses := func(what, problem string, act func(*store.Tx) error) {
			t.Helper()
			changed, unwatch := b.DB.Watch("accounts", "account_sites", "account_checks", "settings", "jobs")
			defer unwatch()
			b.Update(func(tx *store.Tx) error {
				err := act(tx)
				_, field := errors.AsType[*store.FieldError](err)
				_, conflict := errors.AsType[*store.ConflictError](err)
				if !field && !conflict || !strings.Contains(strings.ToLower(i18n.For("en", time.UTC).Error(err)), problem) {
					t.Errorf("%s: %v", what, err)
				}
				return nil
			})
			select {
			case <-changed:
				t.Errorf("%s has written", what)
			default:
			}
		}
		now := func(tx *store.Tx) error {
			_, err := b.worker.CheckNow(tx)
			return err
		}
		refuses("a check of nobody", "no account is watched: add one", now)
		refuses("an interval", "between a minute and a week", func(tx *store.Tx) error {
			_, err := b.worker.SetInterval(tx, 0)
			return err
		})
		large := func(site string) []byte {
			text := string(forge(site))
			return []byte(text[:len(text)-2] + `, "__comment__": "` + strings.Repeat("x", 1200<<10) + `"}}`)
		}
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.ImportRules(tx, large("second"))
			return err
		})
		refuses("rules that are too many together", "imported before", func(tx *store.Tx) error {
			_, err := b.worker.ImportRules(tx, large("first"))
			return err
		})
		b.watch(Request{}, "alice")
		b.sites.set(true, DefaultSite, "alice")
		refuses("a list", "has no names", func(tx *store.Tx) error {
			_, err := b.worker.AddList(tx, "\n# nobody\n", Request{})
			return err
		})
		refuses("an account that is there", "is already watched", func(tx *store.Tx) error {
			_, err := b.worker.Add(tx, Request{Username: "alice"})
			return err
		})
		note := strings.Repeat("x", 501)
		refuses("a change", "longer", func(tx *store.Tx) error {
			_, err := b.worker.Change(tx, 1, Change{Note: &note})
			return err
		})
		b.start()
		b.Pass(50 * time.Millisecond)
		refuses("a check during one", "a check is", now)
		b.untilChecked(1)
		refuses("a check of those that are found", "all accounts are found", now)
	})
}

// What the file says was written when the clock was a year ahead.
func TestAClockThatIsSetBackKeepsNothingFromBeingCheckedOrSeen(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{}, names(20)...)
		ahead := time.Now().AddDate(1, 0, 0)
		b.Update(func(tx *store.Tx) error {
			past := store.AccountCheck{Status: store.AccountCheckDone, Began: ahead, Ended: ahead}
			return errors.Join(
				tx.AccountSites.Put(&store.AccountSite{Site: DefaultSite, Stops: 1, Since: ahead, Until: ahead.Add(time.Hour)}),
				tx.AccountChecks.Begin(&past), tx.AccountChecks.Begin(&past))
		})
		b.start()
		b.Pass(30 * time.Second)
		if s := b.status(); s.Running == nil || s.Running.Checked == 0 || len(s.Alone) > 0 {
			t.Errorf("the status is %+v", s)
		}
		b.untilChecked(1)
		if s := b.status(); s.Running != nil || s.Last == nil || s.Last.Total != 20 {
			t.Errorf("afterwards it is %+v", s)
		}
	})
}

// For some seconds the clock was a year ahead, while a site was asked and another was given up.
func TestAClockThatWasWrongDuringACheckKeepsNothingWaiting(t *testing.T) {
	inBubble(t, Config{Refusals: 2}, func(b *bench) {
		b.watch(Request{}, names(20)...)
		b.watch(Request{Site: "tiktok"}, names(20)...)
		b.watch(Request{Site: "github"}, "user1")
		b.start()
		b.Pass(10 * time.Second)
		b.Stop()
		b.sites.say("github", refused("no"))
		b.SetClock(365 * 24 * time.Hour)
		b.start()
		b.Pass(10 * time.Second)
		b.Stop()
		b.SetClock(0)
		b.sites.say("github", profile.Result{})
		asked := len(b.sites.questions())
		b.start()
		b.Pass(20 * time.Minute)
		for _, site := range []string{DefaultSite, "tiktok", "github"} {
			if !slices.ContainsFunc(b.sites.questions()[asked:], func(q question) bool { return q.site == site && strings.HasPrefix(q.name, "user") }) {
				t.Errorf("%s was not asked any more", site)
			}
		}
		checks := b.checks()
		if n := len(checks); n < 3 || n > 6 {
			t.Errorf("%d checks", n)
		}
		for _, c := range checks[:len(checks)-1] {
			if c.Status == store.AccountCheckRunning {
				t.Errorf("still under way is %+v", c)
			}
		}
	})
}

func TestNamesThatALoginLooksUpAreLookedUpSeldom(t *testing.T) {
	for _, n := range []int{1, 10} {
		inBubble(t, Config{}, func(b *bench) {
			b.worker.cfg.Identity = b.sites
			b.watch(Request{Site: "telegram"}, names(n)...)
			b.start()
			b.Pass(24 * time.Hour)
			asked := len(b.sites.questions())
			if asked < 96 || asked > 3*96+1 {
				t.Errorf("%d questions about %d names in a day", asked, n)
			}
			if why := b.status().Job.LastReason; n == 10 && !strings.HasPrefix(i18n.For("en", time.UTC).Say(why), "telegram: This site is checked less often; it is paused until 2000-01-0") {
				t.Errorf("the job says %+v", why)
			}
			b.Update(func(tx *store.Tx) error {
				_, err := b.worker.CheckNow(tx)
				return err
			})
			b.Pass(time.Minute)
			if len(b.sites.questions()) < asked+n {
				t.Error("a check by hand did not look them up")
			}
			b.watch(Request{}, "alice")
			checks := len(b.checks())
			b.untilChecked(checks + 1)
			if last := b.checks()[checks]; last.Total != 1 {
				t.Errorf("beside them another site was checked as %+v", last)
			}
		})
	}
}

func TestARestHasAnEnd(t *testing.T) {
	for accounts, want := range map[int]time.Duration{0: 0, 1: 24 * time.Hour, 7: 7 * 24 * time.Hour, 8: maxInterval, 110_000: maxInterval} {
		if got := restOf(profile.Rule{Rest: 24 * time.Hour}, accounts); got != want {
			t.Errorf("after %d accounts a site rests for %v", accounts, got)
		}
	}
	if got := restOf(profile.Rule{}, 110_000); got != 0 {
		t.Errorf("a site that wants no rest has %v", got)
	}
}
