package accounts

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"belfry/platform/profile"
	"belfry/store"
)

// Whatever a site answers and however often the program is started: see [bench.prove].
func TestChecksKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		inBubble(t, Config{Refusals: 3, Backoff: time.Minute, MaxBackoff: 5 * time.Minute}, func(b *bench) { promises(r, b) })
		if t.Failed() {
			r.FailNow()
		}
	})
}

func promises(r *rapid.T, b *bench) {
	all := names(rapid.IntRange(1, 8).Draw(r, "accounts"))
	for _, name := range all {
		b.watch(Request{KeepWatching: rapid.Bool().Draw(r, "keep")}, name)
		b.sites.set(rapid.Bool().Draw(r, "exists"), DefaultSite, name)
	}
	b.start()
	for range rapid.IntRange(1, 25).Draw(r, "steps") {
		switch rapid.IntRange(0, 7).Draw(r, "step") {
		case 0:
			b.sites.fault(refused("no"))
		case 1:
			b.sites.fault(profile.Result{Outcome: profile.Absent})
		case 2:
			b.sites.fault(profile.Result{Outcome: profile.Found})
		case 3:
			name := rapid.SampledFrom(all).Draw(r, "name")
			b.sites.set(rapid.Bool().Draw(r, "exists"), DefaultSite, name)
		case 4:
			b.start()
		case 5:
			b.Stop()
			b.Pass(time.Duration(rapid.IntRange(0, 400_000).Draw(r, "down")) * time.Millisecond)
			b.start()
		case 6, 7:
			b.Pass(time.Duration(rapid.IntRange(0, 400_000).Draw(r, "pass")) * time.Millisecond)
		}
	}
	b.sites.mu.Lock()
	b.sites.faults = nil
	b.sites.mu.Unlock()
	b.Pass(20 * time.Minute)
	for _, name := range all { // the truth comes out
		a := b.account(name)
		exists := b.sites.exists[DefaultSite+" "+name]
		if exists && a.State != store.AccountFound || !exists && a.State == store.AccountFound && a.KeepWatching {
			b.T.Errorf("%s exists: %v, and is believed to be %s (%s)", name, exists, a.State, a.Detail)
		}
	}
}

func TestTheOverheadOfAnAccountIsSmall(t *testing.T) {
	n := 10_000 // with a real clock and no pauses
	if testing.Short() {
		n = 500
	}
	db, err := store.Open(t.TempDir()+"/belfry.db", store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	sites := newSites()
	sites.took = 0
	w := New(db, sites, teller{}, Config{})
	w.pause = func(_, _ time.Duration) time.Duration { return 0 }
	err = db.Update(func(tx *store.Tx) error {
		list, err := w.AddList(tx, strings.Join(names(n), "\n"), Request{})
		if err == nil && list.Added != n {
			t.Errorf("added %d", list.Added)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	check := runUntilChecked(t, db, w)
	took := time.Since(began)
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	t.Logf("%d accounts in %v: %v an account, %d commits, %d KB on the heap after it", check.Checked, took.Round(time.Millisecond),
		(took / time.Duration(n)).Round(time.Microsecond), db.Commits(), memory.HeapAlloc>>10)
	if check.Checked != n || check.NotFound != n {
		t.Errorf("the check was %+v", check)
	}
}
