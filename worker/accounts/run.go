package accounts

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
		return scheduler.Outcome{Reason: s.why}, nil
	case stepBegin:
		w.cfg.Log.Info().Int("pending", s.check.Total).Strs("sites", s.check.Sites).Msg("found pending accounts to check")
		return w.begin(s), nil
	case stepEnd:
		return w.end(s), nil
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
	stepBegin                   // a check begins
	stepCanary                  // a profile is asked for that surely exists
	stepAccount                 // an account is asked for
	stepGiveUp                  // a site cannot be asked at all
	stepEnd                     // the check ends
)

// step is what a run is about.
type step struct {
	kind    stepKind
	job     store.Job
	check   store.AccountCheck // as it is to be written, once the step's outcome is in it
	rule    profile.Rule
	account store.Account
	well    []string // sites that the check has come through
	why     store.Reason
}

// site is the site that is being checked.
func (s *step) site() string { return s.check.Sites[0] }

// next goes on to the next site.
func (s *step) next() {
	c := &s.check
	c.Sites, c.Cursor, c.Canary, c.Canaries, c.Refusals, c.Suspect = slices.Clone(c.Sites[1:]), 0, "", 0, 0, store.Suspect{}
}

// plan finds the next step.
func (w *Worker) plan(tx *store.Tx) (s step, err error) {
	if s.check, err = w.running(tx); errors.Is(err, store.ErrNotFound) {
		return w.planBegin(tx)
	}
	if err != nil {
		return s, err
	}
	rules, err := w.Rules(tx)
	if err != nil {
		return s, err
	}
	for len(s.check.Sites) > 0 {
		s.account, err = w.nextAccount(tx, &s.check)
		if errors.Is(err, store.ErrNotFound) {
			if s.check.Canary != "" {
				s.well = append(s.well, s.site())
			}
			s.next()
			continue
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
	s.kind = stepEnd
	return s, nil
}

// nextAccount is the account that a check comes to next on its first site: the suspect, if it is
// still watched, or the one after the last that was done.
func (w *Worker) nextAccount(tx *store.Tx, c *store.AccountCheck) (store.Account, error) {
	if !c.Suspect.IsZero() {
		a, err := tx.Accounts.Get(c.Suspect.AccountID)
		if err == nil && a.Watched() {
			return a, nil
		}
		switch {
		case w.passOver(err):
			c.Cursor = max(c.Cursor, c.Suspect.AccountID)
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return a, err
		}
		c.Suspect = store.Suspect{}
	}
	return tx.Accounts.NextWatched(c.Sites[0], c.Cursor, c.Last)
}

// planBegin finds whom a new check is about.
func (w *Worker) planBegin(tx *store.Tx) (s step, err error) {
	rules, err := w.Rules(tx)
	if err != nil {
		return s, err
	}
	watched, last := tx.Accounts.Watched()
	for _, site := range slices.Sorted(maps.Keys(watched)) {
		row, err := w.site(tx, site)
		if err != nil {
			return s, err
		}
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
		if err := tx.AccountChecks.Begin(&fresh); err != nil {
			return err
		}
		return w.tellCheck(tx, noticeStarted, fresh)
	})
}

// again has the next step taken after a pause, with what this one has come to. A new interval that
// was set meanwhile does not keep the check waiting.
func (w *Worker) again(s step, pause time.Duration, write func(*store.Tx) error) scheduler.Outcome {
	at := w.db.Now().Add(pause)
	return scheduler.Outcome{
		Again: at, Reason: store.Reason{Code: store.ReasonChecking, N: s.check.Checked, Of: s.check.Total},
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
			job.Due = at
			return tx.Jobs.Put(&job)
		},
	}
}

// afterAnswer is again after a question. The pause is at least as long as the site asks for, and if it is
// that which makes it so long, it is said.
func (w *Worker) afterAnswer(s step, r profile.Result, write func(*store.Tx) error) scheduler.Outcome {
	pause := w.pause(w.cfg.MinPause, w.cfg.MaxPause)
	out := w.again(s, max(pause, r.RetryAfter), write)
	if r.RetryAfter > pause {
		out.Reason.Code, out.Reason.About = store.ReasonSiteWait, s.site()
		out.Reason.Until, out.Reason.Detail = out.Again, r.Detail
	}
	return out
}

// askCanary asks for a profile that surely exists.
func (w *Worker) askCanary(ctx context.Context, s step) (scheduler.Outcome, error) {
	canary := s.rule.Canaries[s.check.Canaries%len(s.rule.Canaries)]
	r, _, err := w.ask(ctx, s.rule, canary)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	w.cfg.Log.Debug().Str("site", s.site()).Str("canary", canary).Str("outcome", string(r.Outcome)).Str("detail", r.Detail).Msg("asked for the canary")
	if r.Outcome == profile.Found {
		return w.afterAnswer(s, r, func(tx *store.Tx) error { return w.canaryFound(tx, s) }), nil
	}
	s.check.Canaries++
	s.check.Refusals++
	if why := w.enough(s, r); !why.Zero() {
		return w.giveUp(s, why, r.RetryAfter), nil
	}
	return w.afterAnswer(s, r, func(tx *store.Tx) error { return w.putStep(tx, s, s.check) }), nil
}

// canaryFound notes that the site can be believed. What it said before of an account that was never
// found, or has vanished already, is settled by that.
func (w *Worker) canaryFound(tx *store.Tx, s step) error {
	c := s.check
	c.Canaries, c.Refusals = 0, 0
	if c.Canary == "" {
		c.Canary = store.CanaryMet
	}
	if !c.Suspect.Canary {
		return w.putStep(tx, s, c)
	}
	c.Canary, c.Suspect.Canary = store.CanaryTrusted, false
	if s.account.State == store.AccountFound { // it is asked for once more
		return w.putStep(tx, s, c)
	}
	suspect := c.Suspect
	c.Suspect = store.Suspect{}
	return w.settle(tx, s, c, verdict{outcome: suspect.Outcome, status: suspect.Status, detail: suspect.Detail})
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
		return w.afterAnswer(s, r, func(tx *store.Tx) error { return w.putStep(tx, s, s.check) }), nil
	}
	w.cfg.Log.Info().Str("site", s.site()).Str("username", s.account.Username).Str("outcome", string(v.outcome)).
		Bool("changed", v.state != "").Str("detail", v.detail).Msg("account checked")
	if why := w.enough(s, r); r.Outcome == profile.Refused && !why.Zero() {
		return w.giveUpAfter(s, why, r.RetryAfter, &v), nil
	}
	out := w.afterAnswer(s, r, func(tx *store.Tx) error { return w.settle(tx, s, s.check, v) })
	out.Reason.N++
	return out, nil
}
