package accounts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belfry/platform/profile"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
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
	s, err := worker.Read(w.db, w.plan)
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
		return w.giveUp(s, s.why, 0, nil), nil
	case stepCanary:
		return w.askCanary(ctx, s)
	}
	return w.askAccount(ctx, s)
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
	at := worker.Later(worker.Earlier(now.Add(pause), s.wake), now)
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
		return w.giveUp(s, why, r.RetryAfter, nil), nil
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
		return w.giveUp(s, why, r.RetryAfter, &v), nil
	}
	out := w.afterAnswer(s, r, func(tx *store.Tx, s step) error { return w.settle(tx, s, v) })
	out.Reason.N++
	return out, nil
}
