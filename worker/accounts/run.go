package accounts

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"belfry/platform/profile"
	"belfry/scheduler"
	"belfry/store"
)

// checker goes over the accounts, one step in each run.
type checker struct{ *Worker }

// Run takes the next step of the check that is under way, or begins one.
func (w checker) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	out, err := w.step(ctx, job)
	out.Step = true
	return out, err
}

func (w checker) step(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	var s step
	err := w.db.View(func(tx *store.Tx) (err error) {
		s, err = w.plan(tx)
		return err
	})
	if err != nil {
		return scheduler.Outcome{}, fmt.Errorf("find the next step of the check: %w", err)
	}
	s.job = job
	switch s.kind {
	case stepNothing:
		w.cfg.Log.Info().Int("pending", 0).Msg("no accounts to check")
		return scheduler.Outcome{Reason: s.why, Idle: s.refused}, nil
	case stepWait:
		return scheduler.Outcome{Again: s.wake, Reason: s.progress()}, nil
	case stepBegin:
		w.cfg.Log.Info().Int("pending", s.check.Total).Strs("sites", s.check.Sites).Msg("found pending accounts to check")
		return w.begin(s), nil
	case stepEnd:
		return w.end(s), nil
	case stepLeave:
		return w.again(s, 0, func(tx *store.Tx) error { return w.leave(tx, s) }), nil
	case stepGiveUp:
		return w.giveUp(s, s.why, 0), nil
	case stepCanary:
		return w.askCanary(ctx, s)
	}
	return w.askAccount(ctx, s)
}

// stepKind is what a run does.
type stepKind int

const (
	stepNothing stepKind = iota // there is nobody to check
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

// ahead returns when a stored wait ends; zero if that is now. One that is longer than most was written while the
// clock was wrong, and is void.
func ahead(now, until time.Time, most time.Duration) time.Time {
	if !until.After(now) || until.After(now.Add(most)) {
		return time.Time{}
	}
	return until
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
		if c.NextCheck.After(next) {
			next = c.NextCheck
		}
	}
	if next = ahead(tx.Now(), next, every); next.IsZero() {
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
				at = ahead(now, at, max(patience, w.cfg.MaxPause))
			}
			switch {
			case site == "" || at.Before(first):
				if site != "" && first.Before(s.wake) {
					s.wake = first
				}
				s.check, site, first = c, other, at
			case at.Before(s.wake):
				s.wake = at
			}
		}
	}
	s.check.NextCheck = next
	s.check.Turn(site)
	if first.After(now) {
		s.kind = stepWait
		if first.Before(s.wake) {
			s.wake = first
		}
	}
	return s
}

// leave notes that a check has come through a site.
func (w *Worker) leave(tx *store.Tx, s step) error {
	if s.check.Canary != "" { // it was asked
		row := siteRow(tx, s.site())
		row = store.AccountSite{ID: row.ID, Site: row.Site, Well: tx.Now()}
		if err := tx.AccountSites.Put(&row); err != nil {
			return err
		}
	}
	s.check.Leave()
	return tx.AccountChecks.Put(&s.check)
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

// planBegin finds whom a new check is about, beside the sites that are busy.
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

// begin writes a new check and tells that it has begun.
func (w *Worker) begin(s step) scheduler.Outcome {
	return w.again(s, 0, func(tx *store.Tx) error {
		fresh := s.check
		fresh.Began = tx.Now()
		every, err := w.Interval(tx)
		if err != nil {
			return err
		}
		fresh.NextCheck = tx.Now().Add(every)
		if err := tx.AccountChecks.Begin(&fresh); err != nil {
			return err
		}
		return w.tellCheck(tx, noticeStarted, fresh)
	})
}

// again has the next step taken after a pause, or before it where something else is to be done, with what this
// one has come to. A new interval that was set meanwhile does not keep the check waiting.
func (w *Worker) again(s step, pause time.Duration, write func(*store.Tx) error) scheduler.Outcome {
	now := w.db.Now()
	at := now.Add(pause)
	if s.wake.Before(at) {
		at = s.wake
	}
	if at.Before(now) {
		at = now
	}
	return scheduler.Outcome{
		Again: at, Reason: s.progress(),
		Write: func(tx *store.Tx) error {
			if err := write(tx); err != nil {
				return err
			}
			job, err := tx.Jobs.ByName(s.job.Name)
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			if err != nil || job.Trigger.Equal(s.job.Trigger) {
				return err
			}
			job.Due, job.Occurrence = at, s.job.Occurrence
			return tx.Jobs.Put(&job)
		},
	}
}

// afterAnswer is again after a question, whose write is called with the check as it goes on. The pause is at least
// as long as the site asks for, and if it is that which makes it so long, it is said.
func (w *Worker) afterAnswer(s step, r profile.Result, write func(*store.Tx, step) error) scheduler.Outcome {
	pause := w.pause(w.cfg.MinPause, w.cfg.MaxPause)
	wait := max(pause, min(r.RetryAfter, patience))
	s.check.Next = w.db.Now().Add(wait)
	out := w.again(s, wait, func(tx *store.Tx) error { return write(tx, s) })
	if wait > pause {
		out.Reason.Code, out.Reason.About = store.ReasonSiteWait, s.site()
		out.Reason.Until, out.Reason.Detail = s.check.Next, r.Detail
	}
	return out
}

// goOn writes the check as it goes on.
func goOn(tx *store.Tx, s step) error { return tx.AccountChecks.Put(&s.check) }

// askCanary asks for a profile that surely exists.
func (w *Worker) askCanary(ctx context.Context, s step) (scheduler.Outcome, error) {
	canary := s.rule.Canaries[s.check.Canaries%len(s.rule.Canaries)]
	r, _, err := w.ask(ctx, s.rule, canary)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	w.cfg.Log.Debug().Str("site", s.site()).Str("canary", canary).Str("outcome", string(r.Outcome)).Str("detail", r.Detail).Msg("asked for the canary")
	if r.Outcome == profile.Found {
		return w.afterAnswer(s, r, w.canaryFound), nil
	}
	s.check.Canaries++
	s.check.Refusals++
	if why := w.enough(s, r); !why.Zero() {
		return w.giveUp(s, why, r.RetryAfter), nil
	}
	return w.afterAnswer(s, r, goOn), nil
}

// canaryFound notes that the site can be believed. What it said before of an account that was never
// found, or has vanished already, is settled by that.
func (w *Worker) canaryFound(tx *store.Tx, s step) error {
	c := &s.check
	c.Canaries, c.Refusals = 0, 0
	if c.Canary == "" {
		c.Canary = store.CanaryMet
	}
	if !c.Suspect.Canary {
		return goOn(tx, s)
	}
	c.Canary, c.Suspect.Canary = store.CanaryTrusted, false
	if s.account.State == store.AccountFound { // it is asked for once more
		return goOn(tx, s)
	}
	suspect := c.Suspect
	c.Suspect = store.Suspect{}
	return w.settle(tx, s, verdict{outcome: suspect.Outcome, status: suspect.Status, detail: suspect.Detail})
}

// enough says why a site is not asked any further, if so.
func (w *Worker) enough(s step, r profile.Result) store.Reason {
	switch {
	case r.Outcome == profile.Absent && s.check.Canaries >= len(s.rule.Canaries):
		return store.Reason{Code: store.ReasonNoCanary}
	case s.check.Refusals >= w.cfg.Refusals, r.RetryAfter > patience:
		return store.Reason{Code: store.ReasonNoAnswers, N: s.check.Refusals, Detail: r.Detail}
	}
	return store.Reason{}
}

// askAccount asks for an account.
func (w *Worker) askAccount(ctx context.Context, s step) (scheduler.Outcome, error) {
	w.cfg.Log.Info().Str("site", s.site()).Str("username", s.account.Username).Bool("again", !s.check.Suspect.IsZero()).Msg("checking account")
	r, known, err := w.ask(ctx, s.rule, s.account.Username)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	v, settled := s.judge(r, known)
	if !settled {
		return w.afterAnswer(s, r, goOn), nil
	}
	w.cfg.Log.Info().Str("site", s.site()).Str("username", s.account.Username).Str("outcome", string(v.outcome)).
		Bool("changed", v.state != "").Str("detail", v.detail).Msg("account checked")
	if why := w.enough(s, r); r.Outcome == profile.Refused && !why.Zero() {
		return w.giveUpAfter(s, why, r.RetryAfter, &v), nil
	}
	out := w.afterAnswer(s, r, func(tx *store.Tx, s step) error { return w.settle(tx, s, v) })
	out.Reason.N++
	return out, nil
}
