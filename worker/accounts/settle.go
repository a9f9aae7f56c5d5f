package accounts

import (
	"errors"
	"time"

	"belfry/i18n"
	"belfry/platform/profile"
	"belfry/scheduler"
	"belfry/store"
)

// verdict is what a check came to for an account.
type verdict struct {
	outcome store.AccountOutcome
	state   store.AccountState // what is believed from now on; empty: what was believed before
	status  int
	detail  string
}

// judge says what an answer means, with what the check has learned before. settled is false if more
// has to be asked first; then the check's suspect says what. known is false for a name that the site
// cannot have, which says nothing about the site.
func (s *step) judge(r profile.Result, known bool) (v verdict, settled bool) {
	c, a := &s.check, s.account
	suspect := c.Suspect
	c.Suspect = store.Suspect{}
	v = verdict{status: r.Status, detail: r.Detail}
	switch {
	case r.Outcome == profile.Found:
		c.Refusals = 0
		v.outcome = store.OutcomeFound
		switch {
		case a.State == store.AccountFound:
			return v, true
		case suspect.Outcome == store.OutcomeFound:
			v.state = store.AccountFound
			return v, true
		}
	case r.Outcome == profile.Absent:
		c.Refusals = 0
		v.outcome = store.OutcomeNotFound
		switch {
		case suspect.Outcome == store.OutcomeFound:
			v.outcome, v.detail = store.OutcomeError, "the site said first that it exists, and then that it does not"
			return v, true
		case a.State == store.AccountFound && suspect.Outcome == store.OutcomeNotFound:
			v.state = store.AccountNotFound
			return v, true
		case a.State != store.AccountFound && c.Canary == store.CanaryTrusted:
			return v, true
		}
	default:
		if known {
			c.Refusals++
		}
		v.outcome = store.OutcomeError
		return v, true
	}
	c.Suspect = store.Suspect{AccountID: a.ID, Outcome: v.outcome, Status: r.Status, Detail: r.Detail, Canary: v.outcome == store.OutcomeNotFound}
	return verdict{}, false
}

// settle writes what a check came to for an account, counts it and tells it.
func (w *Worker) settle(tx *store.Tx, s step, v verdict) error {
	c := &s.check
	c.Cursor = s.account.ID
	a, err := tx.Accounts.Get(s.account.ID)
	if errors.Is(err, store.ErrNotFound) { // removed meanwhile
		return goOn(tx, s)
	}
	if err != nil {
		return err
	}
	c.Checked++
	c.Total = max(c.Total, c.Checked)
	a.Outcome, a.Detail, a.CheckedAt = v.outcome, v.detail, tx.Now()
	switch v.outcome {
	case store.OutcomeFound:
		c.Found++
		a.Failures = 0
	case store.OutcomeNotFound:
		c.NotFound++
		a.Failures = 0
	case store.OutcomeError:
		c.Errors++
		a.Failures++
	}
	changed := v.state != "" && v.state != a.State
	if changed {
		if err := w.changed(tx, s, &a, v.state); err != nil {
			return err
		}
		c.Changes++
	}
	result := store.AccountResult{Outcome: v.outcome, State: a.State, Changed: changed, Status: v.status, Detail: v.detail, CheckID: c.ID}
	if err := tx.AccountResults.Add(&a, result); err != nil {
		return err
	}
	if err := tx.Accounts.Put(&a); err != nil {
		return err
	}
	return goOn(tx, s)
}

// changed writes what is believed of an account from now on, and tells it.
func (w *Worker) changed(tx *store.Tx, s step, a *store.Account, to store.AccountState) error {
	kind := noticeFound
	switch {
	case to == store.AccountNotFound:
		kind = noticeVanished
	case a.State == store.AccountNotFound:
		kind = noticeReturned
	}
	a.State, a.ChangedAt = to, tx.Now()
	if to == store.AccountFound && a.FoundAt.IsZero() {
		a.FoundAt = tx.Now()
	}
	return w.tellAccount(tx, kind, *a, s.rule.Profile(a.Username))
}

// giveUp ends a check's work on a site, after the verdict on an account if there is one: it is left alone for a while, the
// longer the more checks in a row have given it up.
func (w *Worker) giveUp(s step, why store.Reason, wait time.Duration, v *verdict) scheduler.Outcome {
	site := s.site()
	w.cfg.Log.Warn().Str("site", site).Str("why", i18n.For("en", time.UTC).Say(why)).Int("checked", s.check.Checked).Int("total", s.check.Total).
		Msg("check gives the site up")
	return w.again(s, 0, func(tx *store.Tx) error {
		after := s
		if setting(tx, settingRulesMark) != s.rules { // the answer was to a question by those before: it is put anew
			after.check.Canaries, after.check.Refusals = 0, 0
			return goOn(tx, after)
		}
		if v != nil {
			if err := w.settle(tx, s, *v); err != nil {
				return err
			}
			var err error
			if after.check, err = tx.AccountChecks.Get(s.check.ID); err != nil {
				return err
			}
		}
		row := siteRow(tx, site)
		row.Stops++
		row.Since, row.Until, row.Reason = tx.Now(), tx.Now().Add(max(w.backoff(row.Stops), wait)), why
		if err := tx.AccountSites.Put(&row); err != nil {
			return err
		}
		until := why
		until.Until = row.Until
		after.check.Leave()
		after.check.GiveUp(site, until)
		return goOn(tx, after)
	})
}

// backoff is how long a site is left alone that was given up for the nth time in a row.
func (w *Worker) backoff(n int) time.Duration {
	pause := min(w.cfg.Backoff<<min(n-1, 10), w.cfg.MaxBackoff)
	return scheduler.Retry{Backoff: pause, Jitter: jitter}.Delay(1)
}

// end ends a check and tells what it came to.
func (w *Worker) end(s step) scheduler.Outcome {
	c := s.check
	c.Status = store.AccountCheckDone
	out := scheduler.Outcome{Idle: s.refused}
	if s.others {
		out.Again = w.db.Now()
	}
	if len(c.Stopped) > 0 {
		c.Status = store.AccountCheckStopped
		out.Failed, out.Reason = true, c.Reason
	}
	w.cfg.Log.Info().Uint64("check", c.ID).Str("status", string(c.Status)).Int("checked", c.Checked).Int("found", c.Found).
		Int("not_found", c.NotFound).Int("errors", c.Errors).Int("total", c.Total).Dur("took", w.db.Now().Sub(c.Began)).Msg("check completed")
	out.Write = func(tx *store.Tx) error {
		done := c
		done.Ended = tx.Now()
		if err := tx.AccountChecks.Put(&done); err != nil {
			return err
		}
		kind := noticeFinished
		if done.Status == store.AccountCheckStopped {
			kind = noticeStopped
		}
		return w.tellCheck(tx, kind, done)
	}
	return out
}
