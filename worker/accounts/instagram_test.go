package accounts

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"belfry/i18n"
	"belfry/platform/profile"
	"belfry/platform/profile/profiletest"
	"belfry/scheduler"
	"belfry/store"
)

// The whole way: the schedule, the worker, the client, a socket, and a site with every mood.
func TestAllMoodsOfInstagram(t *testing.T) {
	site := profiletest.NewServer()
	defer site.Close()
	client, err := profile.NewClient(profile.Settings{Base: map[string]string{"instagram": site.URL}, Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w := New(db, client, teller{}, Config{Refusals: 100})
	w.pause = func(_, _ time.Duration) time.Duration { return 0 }

	moods := map[string]profiletest.Behaviour{
		"found": profiletest.Exists, "gone": profiletest.Gone, "null": profiletest.NullUser, "other": profiletest.Other,
		"wait": profiletest.Wait, "forbidden": profiletest.Forbidden, "loginpage": profiletest.LoginPage,
		"loginmove": profiletest.LoginMove, "checkpoint": profiletest.Checkpoint, "broken": profiletest.Broken,
		"slow": profiletest.Slow, "hangup": profiletest.Hangup, "fault": profiletest.Fault,
	}
	err = db.Update(func(tx *store.Tx) error {
		for name, mood := range moods {
			site.Set(mood, name)
			if _, err := w.Add(tx, Request{Username: name}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	check := runUntilChecked(t, db, w)
	if check.Found != 1 || check.NotFound != 2 || check.Errors != len(moods)-3 {
		t.Errorf("the check was %+v", check)
	}
	err = db.View(func(tx *store.Tx) error {
		for name := range moods {
			a, err := tx.Accounts.ByName(DefaultSite, name)
			if err != nil {
				return err
			}
			want := store.OutcomeError
			switch name {
			case "found":
				want = store.OutcomeFound
			case "gone", "null":
				want = store.OutcomeNotFound
			}
			if a.Outcome != want || (a.State == store.AccountFound) != (name == "found") || want == store.OutcomeError && a.Detail == "" {
				t.Errorf("%s is %+v", name, a)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, rude := range site.Rude() {
		t.Error("the client was rude: " + rude)
	}
	if n := site.Asked("found"); n != 2 {
		t.Errorf("the one that exists was asked for %d times", n)
	}
}

// A site that asks for a pause is given it.
func TestRetryAfterIsObeyed(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.watch(Request{}, names(2)...)
		b.sites.fault(profile.Result{Outcome: profile.Found}, profile.Result{Outcome: profile.Refused, Detail: "too many requests", RetryAfter: 90 * time.Second})
		b.start()
		b.Pass(30 * time.Second)
		b.View(func(tx *store.Tx) error {
			why, err := scheduler.Why(tx, b.status().Job)
			if why.Code != store.ReasonSiteWait || why.N != 1 || why.Of != 2 || !why.Until.Equal(b.status().Job.Due) {
				t.Errorf("it waits for %+v", why)
			}
			for lang, want := range map[string]string{
				"en": "instagram: The site asked to wait (1 of 2 accounts are done) until 2000-01-01 00:01:3x: too many requests",
				"ru": "instagram: Сайт просит подождать (проверено 1 из 2) до 01.01.2000 00:01:3x: too many requests",
			} {
				said := i18n.For(lang, time.UTC).Say(why)
				if i := strings.Index(said, "00:01:3") + len("00:01:3"); said[:i]+"x"+said[i+1:] != want {
					t.Errorf("it says %q", said)
				}
			}
			return err
		})
		b.untilChecked(1)
		if why := b.status().Job.LastReason; !why.Zero() {
			t.Errorf("afterwards it says %+v", why)
		}
		asked := b.sites.questions()
		if pause := asked[2].at.Sub(asked[1].at); pause < 90*time.Second {
			t.Errorf("the site asked for 90 s, and was asked again after %v", pause)
		}
		b.sites.fault(profile.Result{Outcome: profile.Found}, profile.Result{Outcome: profile.Refused, Detail: "too many requests", RetryAfter: 3 * time.Hour})
		if c := b.untilChecked(2)[1]; c.Status != store.AccountCheckStopped || c.Checked != 1 || !strings.Contains(c.Reason.Detail, "too many") {
			t.Errorf("the check was %+v", c)
		}
		if until := time.Until(b.status().Alone[0].Until); until < 2*time.Hour+50*time.Minute {
			t.Errorf("the site is left alone for %v", until)
		}
	})
}

// runUntilChecked runs a scheduler until the first check has ended.
func runUntilChecked(t *testing.T, db *store.DB, w *Worker) (check store.AccountCheck) {
	t.Helper()
	changed, unwatch := db.Watch("account_checks")
	defer unwatch()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sched := scheduler.New(db, scheduler.Config{Log: zerolog.Nop(), Kinds: w.Module().Kinds})
	done := make(chan error, 1)
	go func() { done <- sched.Run(ctx) }()
	for range changed {
		var page store.Page[store.AccountCheck]
		err := db.View(func(tx *store.Tx) (err error) {
			page, err = tx.AccountChecks.ByTime(store.Query{Limit: 1})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(page.Items) > 0 && page.Items[0].Status != store.AccountCheckRunning {
			check = page.Items[0]
			break
		}
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	return check
}
