package accounts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/profile"
	"belfry/scheduler/schedulertest"
	"belfry/store"
)

// sites are sites in memory, on which the canaries exist, and whoever a test says.
type sites struct {
	mu     sync.Mutex
	exists map[string]bool // by site and name
	faults []profile.Result
	always *profile.Result
	says   map[string]profile.Result // what sites always say
	took   time.Duration
	asked  []question
}

type question struct {
	site, name string
	outcome    profile.Outcome
	at         time.Time
}

func newSites() *sites {
	s := &sites{exists: make(map[string]bool), says: make(map[string]profile.Result), took: 100 * time.Millisecond}
	for site, rule := range profile.Builtin() {
		for _, canary := range rule.Canaries {
			s.exists[site+" "+strings.ToLower(canary)] = true
		}
	}
	return s
}

func (s *sites) Probe(ctx context.Context, rule profile.Rule, username string) (profile.Result, error) {
	if !rule.Fits(username) {
		return profile.Result{}, &platform.Error{Kind: platform.Refused, Field: "username", Err: errors.New("no such name")}
	}
	if s.took > 0 {
		select {
		case <-time.After(s.took):
		case <-ctx.Done():
			return profile.Result{}, ctx.Err()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	r := profile.Result{Outcome: profile.Absent, Status: 404}
	if s.exists[rule.Site+" "+strings.ToLower(username)] {
		r = profile.Result{Outcome: profile.Found, Status: 200}
	}
	switch {
	case len(s.faults) > 0:
		r, s.faults = s.faults[0], s.faults[1:]
	case s.says[rule.Site].Outcome != "":
		r = s.says[rule.Site]
	case s.always != nil:
		r = *s.always
	}
	s.asked = append(s.asked, question{rule.Site, username, r.Outcome, time.Now()})
	return r, nil
}

// set says who exists.
func (s *sites) set(exists bool, site string, names ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range names {
		s.exists[site+" "+strings.ToLower(name)] = exists
	}
}

// say has a site always say the same; the zero result ends that.
func (s *sites) say(site string, r profile.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.says[site] = r
}

func (s *sites) fault(results ...profile.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, results...)
}

func (s *sites) alwaysSay(r *profile.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.always = r
}

func (s *sites) questions() []question {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

func refused(words string) profile.Result {
	return profile.Result{Outcome: profile.Refused, Status: 401, Detail: words}
}

// teller keeps in the store what it is asked to tell the admins and others.
type teller struct{}

func (teller) Tell(tx *store.Tx, n store.Notice, more ...string) error {
	for _, chat := range append([]string{"admin"}, more...) {
		if chat == "" {
			continue
		}
		n.ID, n.Key, n.Chat, n.CreatedAt = 0, platform.NewKey(), chat, tx.Now()
		if err := tx.Notices.Add(&n); err != nil {
			return err
		}
	}
	return nil
}

// told is what a chat was told, the oldest first.
func (b *bench) told(chat string) (texts []string) {
	b.T.Helper()
	b.View(func(tx *store.Tx) error {
		for n := range tx.Notices.All() {
			if n.Chat == chat {
				texts = append(texts, n.Text)
			}
		}
		return nil
	})
	return texts
}

// bench is a worker with its scheduler on a real store, in a synctest bubble.
type bench struct {
	*schedulertest.Bench
	sites  *sites
	worker *Worker
	forgot bool // a test has removed accounts that were checked
}

func inBubble(t *testing.T, cfg Config, test func(b *bench)) {
	t.Helper()
	schedulertest.InBubble(t, func(base *schedulertest.Bench) {
		b := &bench{Bench: base, sites: newSites()}
		b.worker = New(b.DB, b.sites, teller{}, cfg)
		test(b)
		b.Stop()
		b.prove()
	})
}

// start starts the worker on the store, as a new process would.
func (b *bench) start() {
	b.Stop()
	b.Start(b.worker.Module())
}

// names are n names from user1 on.
func names(n int) (all []string) {
	for i := range n {
		all = append(all, fmt.Sprint("user", i+1))
	}
	return all
}

// watch has accounts of Instagram watched.
func (b *bench) watch(r Request, names ...string) {
	b.T.Helper()
	b.Update(func(tx *store.Tx) error {
		for _, name := range names {
			r.Username = name
			if _, err := b.worker.Add(tx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

func (b *bench) account(name string) (a store.Account) {
	b.T.Helper()
	b.View(func(tx *store.Tx) (err error) {
		a, err = tx.Accounts.ByName(DefaultSite, name)
		return err
	})
	return a
}

func (b *bench) status() (s Status) {
	b.T.Helper()
	b.View(func(tx *store.Tx) (err error) {
		s, err = b.worker.Status(tx)
		return err
	})
	return s
}

func (b *bench) checks() (all []store.AccountCheck) {
	b.T.Helper()
	b.View(func(tx *store.Tx) error {
		all = tx.AccountChecks.Between(time.Time{}, time.Now().Add(time.Hour), 10_000)
		return nil
	})
	return all
}

// untilChecked lets time pass until n checks have ended, but not more than a day.
func (b *bench) untilChecked(n int) []store.AccountCheck {
	b.T.Helper()
	for range 24 * 60 * 6 {
		if all := b.checks(); len(all) >= n && all[n-1].Status != store.AccountCheckRunning {
			return all
		}
		b.Pass(10 * time.Second)
	}
	b.T.Fatalf("there were not %d checks within a day", n)
	return nil
}

// prove checks what must hold after any test: the counts add up with the history, nothing is believed
// that was not said twice and by a site that could be believed, and nobody was told anything twice.
func (b *bench) prove() {
	asked := b.sites.questions()
	checked := 0
	for _, c := range b.checks() {
		checked += c.Checked
		if c.Found+c.NotFound+c.Errors != c.Checked || c.Checked > c.Total {
			b.T.Errorf("check %d does not add up: %+v", c.ID, c)
		}
		if c.NotFound > 0 && !slices.ContainsFunc(asked, func(q question) bool {
			during := !q.at.Before(c.Began) && (c.Ended.IsZero() || !q.at.After(c.Ended))
			return during && q.outcome == profile.Found && !strings.HasPrefix(q.name, "user")
		}) {
			b.T.Errorf("check %d counts %d that were not found, and no canary was", c.ID, c.NotFound)
		}
		if c.Status == store.AccountCheckStopped && c.Reason.Zero() {
			b.T.Errorf("check %d was stopped for no reason", c.ID)
		}
	}
	b.View(func(tx *store.Tx) error {
		results := 0
		for r := range tx.AccountResults.All() {
			results += r.Times
			if !r.Changed {
				continue
			}
			a, err := tx.Accounts.Get(r.AccountID)
			if err != nil {
				return err
			}
			b.proveChange(a, r, asked)
		}
		if results != checked && !b.forgot {
			b.T.Errorf("the checks count %d accounts, and the history has %d results", checked, results)
		}
		finds := make(map[string]bool)
		for n := range tx.Notices.All() {
			find, _, _ := strings.Cut(n.Chat+n.Text, "\n")
			if n.Kind == noticeFound && finds[find] {
				b.T.Errorf("told twice: %+v", n)
			}
			finds[find] = true
		}
		return nil
	})
}

// proveChange checks that the site has said twice in a row what is believed since a result, and for
// an absence that it found a canary between.
func (b *bench) proveChange(a store.Account, r store.AccountResult, asked []question) {
	want := profile.Found
	if r.State == store.AccountNotFound {
		want = profile.Absent
	}
	said, canary := 0, false
	for _, q := range slices.Backward(asked) {
		if q.at.After(r.From) || q.site != a.Site {
			continue
		}
		if q.name == a.Username {
			if q.outcome != want {
				break
			}
			if said++; said == 2 {
				break
			}
		} else if said == 1 && q.outcome == profile.Found {
			canary = true
		}
	}
	if said < 2 {
		b.T.Errorf("%s is believed to be %s, and was %s only %d times", a.Username, r.State, want, said)
	}
	if want == profile.Absent && !canary {
		b.T.Errorf("%s is believed to be gone, and no canary was found", a.Username)
	}
}
