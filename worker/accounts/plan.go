package accounts

import (
	"errors"
	"maps"
	"math"
	"slices"
	"time"

	"belfry/platform/profile"
	"belfry/store"
	"belfry/worker"
)

// stepKind is what a run does.
type stepKind int

const (
	stepNothing stepKind = iota // there is no account to check
	stepWait                    // no site may be asked yet
	stepBegin                   // a check begins
	stepCanary                  // a profile is asked for that surely exists
	stepAccount                 // an account is asked for
	stepLeave                   // a check has come through a site
	stepGiveUp                  // a site cannot be asked at all
	stepEnd                     // a check ends
)

// sideBySide is how many sites a check asks in turns. The others follow.
const sideBySide = 50

// step is what a run is about.
type step struct {
	kind    stepKind
	job     store.Job
	check   store.AccountCheck // as it is to be written, once the step's outcome is in it
	rule    profile.Rule
	rules   string // the mark of those that it is by
	account store.Account
	wake    time.Time // when something else is to be done
	others  bool      // checks are under way beside this one
	refused bool      // a site that is watched has not answered since it was given up
	why     store.Reason
}

// site is the site that is being checked.
func (s *step) site() string { return s.check.Sites[0] }

func (s *step) progress() store.Reason {
	return store.Reason{Code: store.ReasonChecking, N: s.check.Checked, Of: s.check.Total}
}

// plan finds the next step. Each interval a check begins, over the sites that no other is at: a site with many
// accounts keeps no other from being looked at.
func (w *Worker) plan(tx *store.Tx) (s step, err error) {
	checks := slices.Collect(tx.AccountChecks.Running())
	every, err := w.Interval(tx)
	if err != nil {
		return s, err
	}
	busy := make(map[string]bool)
	var next time.Time
	for _, c := range checks {
		for _, site := range c.Sites {
			busy[site] = true
		}
		next = worker.Later(next, c.NextCheck)
	}
	if next = worker.WaitEnd(tx.Now(), next, every); next.IsZero() {
		if s, err = w.planBegin(tx, busy); err != nil || s.kind == stepBegin {
			return s, err
		}
		next = tx.Now().Add(every)
	}
	if len(checks) == 0 {
		s.refused = anyRefused(tx)
		return s, nil
	}
	s = w.turn(checks, next, tx.Now())
	switch s.kind {
	case stepWait:
		return s, nil
	case stepEnd:
		s.refused = anyRefused(tx)
		return s, nil
	}
	rules := w.Rules(tx)
	s.rules = setting(tx, settingRulesMark)
	s.account, err = w.nextAccount(tx, &s.check)
	if errors.Is(err, store.ErrNotFound) {
		s.kind = stepLeave
		return s, nil
	}
	if err != nil {
		return s, err
	}
	var known bool
	if s.rule, known = rules[s.site()]; !known || w.prober(s.rule) == nil {
		s.kind, s.why = stepGiveUp, store.Reason{Code: store.ReasonNoRule}
		if known {
			s.why = store.Reason{Code: store.ReasonNotConnected, Detail: "no login asks this site"}
		}
		return s, nil
	}
	if s.kind = stepAccount; s.check.Canary == "" || s.check.Suspect.Canary {
		s.kind = stepCanary
	}
	return s, nil
}

// turn finds the site that may be asked first, or a check that has come to its end.
func (w *Worker) turn(checks []store.AccountCheck, next, now time.Time) (s step) {
	s = step{wake: next, others: len(checks) > 1}
	var first time.Time
	var site string
	for _, c := range checks {
		if len(c.Sites) == 0 {
			return step{kind: stepEnd, check: c, others: s.others}
		}
		for _, other := range c.Sites[:min(len(c.Sites), sideBySide)] {
			at := c.Place(other).Next
			if at.After(now) {
				at = worker.WaitEnd(now, at, max(patience, w.cfg.MaxPause))
			}
			switch {
			case site == "" || at.Before(first):
				if site != "" {
					s.wake = worker.Earlier(s.wake, first)
				}
				s.check, site, first = c, other, at
			default:
				s.wake = worker.Earlier(s.wake, at)
			}
		}
	}
	s.check.NextCheck = next
	s.check.Turn(site)
	if first.After(now) {
		s.kind, s.wake = stepWait, worker.Earlier(s.wake, first)
	}
	return s
}

// anyRefused reports whether a site on which accounts are watched has not answered since it was given up.
func anyRefused(tx *store.Tx) bool {
	for site := range tx.AccountSites.All() {
		if site.Stops == 0 {
			continue
		}
		if _, err := tx.Accounts.NextWatched(site.Site, 0, math.MaxUint64); err == nil {
			return true
		}
	}
	return false
}

// nextAccount is the account that a check comes to next on its first site: the suspect, if it is
// still watched, or the one after the last that was done.
func (w *Worker) nextAccount(tx *store.Tx, c *store.AccountCheck) (store.Account, error) {
	if !c.Suspect.IsZero() {
		a, err := tx.Accounts.Get(c.Suspect.AccountID)
		if err == nil && a.Watched() {
			return a, nil
		}
		if store.IsCorrupt(err) {
			c.Cursor = max(c.Cursor, c.Suspect.AccountID)
		}
		c.Suspect = store.Suspect{}
	}
	return tx.Accounts.NextWatched(c.Sites[0], c.Cursor, c.Last)
}

// planBegin finds the accounts of a new check, beside the sites that are busy.
func (w *Worker) planBegin(tx *store.Tx, busy map[string]bool) (s step, err error) {
	rules := w.Rules(tx)
	watched, last := tx.Accounts.Watched()
	for _, site := range slices.Sorted(maps.Keys(watched)) {
		if busy[site] {
			continue
		}
		row := siteRow(tx, site)
		if row.LeftAlone(tx.Now()) {
			s.why = store.Reason{Code: store.ReasonBackingOff, About: site, Until: row.Until}
			continue
		}
		if until := row.RestsUntil(tx.Now(), restOf(rules[site], watched[site])); until.After(tx.Now()) {
			if s.why.Zero() {
				s.why = store.Reason{Code: store.ReasonResting, About: site, Until: until}
			}
			continue
		}
		s.check.Sites = append(s.check.Sites, site)
		s.check.Total += watched[site]
	}
	if len(s.check.Sites) == 0 {
		return s, nil
	}
	s.kind, s.why = stepBegin, store.Reason{}
	s.check.Status, s.check.Last, s.check.Began, s.check.Of = store.AccountCheckRunning, last, tx.Now(), len(s.check.Sites)
	return s, nil
}

// restOf is how long a site is left in peace after a check of so many accounts.
func restOf(rule profile.Rule, accounts int) time.Duration {
	if rule.Rest > 0 && accounts > int(maxInterval/rule.Rest) {
		return maxInterval
	}
	return rule.Rest * time.Duration(accounts)
}
