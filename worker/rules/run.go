package rules

import (
	"context"
	"errors"
	"slices"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/posts"
)

// made is what a run makes of a text: a content, and a post of it to each target.
type made struct {
	text   string
	drafts []posts.Draft
}

// Run carries a rule out: it makes the texts, and in the transaction that ends the run the contents and posts.
func (w *Worker) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	rule, err := worker.Read(w.db, func(tx *store.Tx) (store.Rule, error) { return tx.Rules.Get(job.Subject) })
	if err != nil {
		return scheduler.Outcome{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	t, err := w.write(ctx, rule)
	var all []made
	if err == nil {
		all, err = w.prepareAll(ctx, rule, t.all)
	}
	if err != nil {
		return w.failed(rule, job, unusable(t, len(all), err), err), nil
	}
	return scheduler.Outcome{Reason: t.why, Write: func(tx *store.Tx) error { return w.finish(tx, job, t, all) }}, nil
}

// unusable is what a rule remembers of its feed after an error: the item whose text a network has refused. It must not
// keep those behind it from being posted. Ready are the texts before it.
func unusable(t texts, ready int, err error) texts {
	wrong, ok := errors.AsType[*store.FieldError](err)
	if !ok || wrong.Field != "text" || 2*ready >= len(t.marks) {
		return texts{}
	}
	return texts{marks: t.marks[2*ready : 2*ready+2], present: t.present}
}

// prepareAll checks the posts of each text. Beside an error it returns those before it.
func (w *Worker) prepareAll(ctx context.Context, r store.Rule, texts []string) (all []made, err error) {
	to, err := w.targets(r)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		m := made{text: text}
		for _, t := range to {
			draft, err := w.posts.Prepare(ctx, w.request(r, t, text))
			if err != nil {
				return all, placed(err, t.field, "text")
			}
			m.drafts = append(m.drafts, draft)
		}
		all = append(all, m)
	}
	return all, nil
}

// finish writes the contents and posts of a run and what the rule has become.
func (w *Worker) finish(tx *store.Tx, job store.Job, t texts, all []made) error {
	rule, err := tx.Rules.Get(job.Subject)
	if err != nil {
		return err
	}
	rule.Texts = rule.TextsMade() + len(all)
	var made []store.Post
	for _, m := range all {
		content := store.Content{
			Title: rule.Content.Title, Text: m.text, Format: rule.Content.Format, Media: rule.Content.Media, CreatedAt: tx.Now(),
		}
		if content.Format == "" {
			content.Format = string(platform.Plain)
		}
		if err := tx.Contents.Put(&content); err != nil {
			return err
		}
		for _, draft := range m.drafts {
			post, err := w.posts.Schedule(tx, draft)
			if err != nil {
				return err
			}
			post.RuleID, post.ContentID = rule.ID, content.ID
			if err := tx.Posts.Put(&post); err != nil {
				return err
			}
			rule.PostsMade++
			made = append(made, post)
		}
	}
	if err := w.posts.TellHeld(tx, made...); err != nil {
		return err
	}
	if err := remember(tx, rule.ID, t.marks, t.present); err != nil {
		return err
	}
	if rule.Stopped { // what was run by hand shows that it works again
		err := worker.Change(tx.Jobs.Get, tx.Jobs.Put, job.ID, func(own *store.Job) {
			own.Paused = own.Paused && !own.Requested // unless somebody has paused it since
		})
		if err != nil {
			return err
		}
	}
	rule.Succeeded++
	rule.Position, rule.FailedInRow, rule.Stopped, rule.Reason = t.position, 0, false, t.why
	return w.settle(tx, rule, t.why.Code == store.ReasonListEnded)
}

// settle writes a rule at the end of an occurrence. One for which nothing is left to do has no job any more.
func (w *Worker) settle(tx *store.Tx, rule store.Rule, ended bool) error {
	rule.Executions++
	rule.Tries, rule.LastAt = 0, tx.Now()
	next, err := scheduler.Next(rule.Trigger, rule.JobName(), tx.Now())
	if err != nil {
		return err
	}
	if next.IsZero() && rule.Reason.Zero() {
		rule.Reason = store.Reason{Code: store.ReasonScheduleEnded}
	}
	if ended || next.IsZero() {
		rule.Active = false
		if err := recordPassed(tx, rule); err != nil {
			return err
		}
		if err := scheduler.Delete(tx, rule.JobName()); err != nil {
			return err
		}
	}
	return tx.Rules.Put(&rule)
}

// recordPassed puts on record the dates of a rule that passed while its last run was tried again: no other run follows in
// which the scheduler would.
func recordPassed(tx *store.Tx, rule store.Rule) error {
	job, err := tx.Jobs.ByName(rule.JobName())
	if err != nil {
		return err
	}
	dates := slices.DeleteFunc(slices.Clone(rule.Trigger.Dates), func(at time.Time) bool { return !at.After(job.Occurrence) || at.After(tx.Now()) })
	if len(dates) <= job.Missed { // the run has stood for those
		return nil
	}
	return tx.Runs.Add(&store.Run{
		Job: job.Name, Kind: job.Kind, Lane: job.Lane, Occurrence: dates[job.Missed].UTC(), Missed: len(dates) - job.Missed - 1,
		Ended: tx.Now(), Result: store.ResultSkipped, Reason: store.Reason{Code: store.ReasonOverlap},
	})
}

// failed ends a run that made nothing: it is tried again, or the occurrence has failed.
func (w *Worker) failed(r store.Rule, job store.Job, t texts, err error) scheduler.Outcome {
	why := store.Reason{Code: store.ReasonError, Detail: w.Printer().Error(err)}
	budget, spent := errors.AsType[errBudget](err)
	if spent {
		why = budget.Reason
	}
	wait, again := w.mayRepeat(r, err)
	if tries := r.Tries + 1; again && tries < attempts {
		why.Code, why.N, why.Of = store.ReasonRetry, tries, attempts
		pause := max(wait, scheduler.Retry{Backoff: backoff, Jitter: jitter}.Delay(tries))
		return scheduler.Outcome{Again: w.db.Now().Add(pause), Reason: why, Err: err, Write: func(tx *store.Tx) error {
			return worker.Change(tx.Rules.Get, tx.Rules.Put, job.Subject, func(rule *store.Rule) { rule.Tries, rule.Reason = tries, why })
		}}
	}
	return scheduler.Outcome{Failed: true, Reason: why, Err: err, Write: func(tx *store.Tx) error {
		rule, err := tx.Rules.Get(job.Subject)
		if err != nil {
			return err
		}
		if err := remember(tx, rule.ID, t.marks, t.present); err != nil {
			return err
		}
		rule.Failed++
		rule.Reason = why
		next, err := scheduler.Next(rule.Trigger, rule.JobName(), tx.Now())
		if err != nil {
			return err
		}
		last := next.IsZero() // no other time makes up for it, so people are told
		if !spent || last {   // a budget that is used up ends with the day
			rule.FailedInRow++
		}
		if (rule.FailedInRow >= rule.Content.PauseAfter || last) && !rule.Stopped {
			if err := stop(tx, &rule); err != nil {
				return err
			}
		}
		return w.settle(tx, rule, false)
	}}
}

// mayRepeat reports whether an error may be over soon, and how long to wait at least. The AI may write a text that a network
// takes, after one that it does not take.
func (w *Worker) mayRepeat(r store.Rule, err error) (wait time.Duration, again bool) {
	if wrong, ok := errors.AsType[*store.FieldError](err); ok && wrong.Field == "text" {
		return 0, r.Content.Source == "ai" || r.Content.Source == "" && w.HasAI()
	}
	e, ok := errors.AsType[*platform.Error](err)
	if !ok {
		return 0, errors.Is(err, context.DeadlineExceeded)
	}
	return e.Wait, e.Kind == platform.Wait || e.Kind == platform.Transient
}

// stop pauses a rule whose run fails, and raises the alert.
func stop(tx *store.Tx, rule *store.Rule) error {
	job, err := tx.Jobs.ByName(rule.JobName())
	if err != nil {
		return err
	}
	job.Paused = true // when the run has ended
	if err := tx.Jobs.Put(&job); err != nil {
		return err
	}
	why := rule.Reason
	rule.Stopped, rule.Reason = true, store.Reason{Code: store.ReasonFailures, Detail: why.Detail, N: rule.FailedInRow}
	return tx.Alerts.Raise(store.Alert{
		Kind: store.AlertRulePaused, About: rule.JobName(), Subject: rule.ID, Name: rule.Name, Reason: why, Count: int64(rule.FailedInRow),
	})
}

// Planned is a post as a dry run shows it.
type Planned struct {
	Platform   string
	IdentityID uint64 // 0: the platform's default
	Text       string
	Format     string
	Media      []store.Media
}

// DryRun returns what a rule would post now, and why it would post nothing or nothing more. It writes nothing but what
// is asked of the AI, which counts towards the day's budget.
func (w *Worker) DryRun(ctx context.Context, id uint64) (all []Planned, why store.Reason, err error) {
	var rule store.Rule
	err = w.db.View(func(tx *store.Tx) (err error) {
		if rule, err = tx.Rules.Get(id); err == nil && listEnded(rule) {
			err = store.Conflict("conflict.rule_list_ended", id)
		}
		return err
	})
	if err != nil {
		return nil, why, err
	}
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	t, err := w.write(ctx, rule)
	if err == nil {
		_, err = w.prepareAll(ctx, rule, t.all)
	}
	if err != nil {
		return nil, why, w.refusal(err)
	}
	to, err := w.targets(rule)
	for _, text := range t.all {
		for _, at := range to {
			r := w.request(rule, at, text)
			all = append(all, Planned{r.Platform, r.IdentityID, r.Text, r.Format, r.Media})
		}
	}
	return all, t.why, err
}
