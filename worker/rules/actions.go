package rules

import (
	"errors"
	"slices"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// Create writes a new rule and its job.
func (w *Worker) Create(tx *store.Tx, d Draft) (store.Rule, error) {
	rule := d.rule
	rule.CreatedAt, rule.UpdatedAt = tx.Now(), tx.Now()
	if err := errors.Join(tx.Media.Use(rule.Content.Media), tx.Rules.Put(&rule)); err != nil {
		return rule, err
	}
	return rule, putJob(tx, rule)
}

// Change writes a changed rule; another schedule holds from this moment. It refuses while the rule is carried out, and
// if its owner has changed it since the change was prepared.
func (w *Worker) Change(tx *store.Tx, d Draft) (store.Rule, error) {
	rule, err := tx.Rules.Get(d.rule.ID)
	if err != nil {
		return rule, err
	}
	if err := scheduler.MayChange(tx, rule.JobName()); err != nil {
		return rule, err
	}
	if !rule.UpdatedAt.Equal(d.was) {
		return rule, store.Conflict("conflict.rule_changed", rule.ID)
	}
	was := rule.Content
	rule.Name, rule.Description, rule.ScheduleType, rule.Trigger = d.rule.Name, d.rule.Description, d.rule.ScheduleType, d.rule.Trigger
	rule.Content, rule.Platforms, rule.Accounts = d.rule.Content, d.rule.Platforms, d.rule.Accounts
	if d.rule.Active && !rule.Active {
		rule.Stopped, rule.FailedInRow, rule.Reason = false, 0, store.Reason{}
	}
	rule.Active, rule.Tries, rule.UpdatedAt = d.rule.Active, 0, tx.Now()
	if !slices.Equal(was.Items, rule.Content.Items) {
		rule.Position = goOn(was, rule.Content, rule.Position)
	}
	if rule.Active && listEnded(rule) {
		return rule, store.Conflict("conflict.rule_list_ended", rule.ID)
	}
	if err := errors.Join(tx.Media.Use(rule.Content.Media), tx.Rules.Put(&rule)); err != nil {
		return rule, err
	}
	return rule, putJob(tx, rule)
}

// goOn is the position at which a changed list goes on: behind the text posted last that it still has. An order that is
// shuffled begins anew.
func goOn(was, now store.RuleContent, position int) int {
	for i := position - 1; i >= max(0, position-len(was.Items)) && now.Order != "shuffle" && was.Order != "shuffle"; i-- {
		at := i % len(was.Items)
		if at < len(now.Items) && now.Items[at] == was.Items[at] { // the same text may be there more than once
			return at + 1
		}
		if at = slices.Index(now.Items, was.Items[at]); at >= 0 {
			return at + 1
		}
	}
	return 0
}

// listEnded reports whether each item of a list was posted that is gone through once.
func listEnded(r store.Rule) bool {
	return r.Content.Source == "list" && r.Content.Order == "once" && r.Position >= len(r.Content.Items)
}

// Ended reports whether nothing is left to do for a rule. Another that is not active was switched off by its owner.
func (w *Worker) Ended(r store.Rule) bool {
	next, err := scheduler.Next(r.Trigger, r.JobName(), w.db.Now())
	return listEnded(r) || err == nil && next.IsZero()
}

// putJob writes the job of a rule that is active, and removes that of one that is not.
func putJob(tx *store.Tx, rule store.Rule) error {
	if !rule.Active {
		return scheduler.Delete(tx, rule.JobName())
	}
	return scheduler.Put(tx, rule.Job())
}

// Remove deletes a rule with its job. Its posts stay.
func (w *Worker) Remove(tx *store.Tx, id uint64) error {
	rule, err := tx.Rules.Get(id)
	if err != nil {
		return err
	}
	if err := scheduler.MayChange(tx, rule.JobName()); err != nil {
		return err
	}
	if err := forget(tx, id); err != nil {
		return err
	}
	if err := scheduler.Delete(tx, rule.JobName()); err != nil {
		return err
	}
	return tx.Rules.Delete(id)
}

// forget removes what a rule remembers of its feed.
func forget(tx *store.Tx, id uint64) error {
	memory, err := tx.FeedMemories.Of(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return tx.FeedMemories.Delete(memory.ID)
}

// Pause keeps a rule from being carried out until it is resumed. A run under way is not disturbed.
func (w *Worker) Pause(tx *store.Tx, id uint64) (store.Rule, error) {
	rule, err := active(tx, id)
	if err != nil {
		return rule, err
	}
	_, err = scheduler.Pause(tx, rule.JobName())
	return rule, err
}

// Resume lets a rule go on that is paused or switched off. Failures count from zero again.
func (w *Worker) Resume(tx *store.Tx, id uint64) (store.Rule, error) {
	rule, err := tx.Rules.Get(id)
	if err != nil {
		return rule, err
	}
	if listEnded(rule) {
		return rule, store.Conflict("conflict.rule_list_ended", id)
	}
	if rule.Stopped || !rule.Active {
		rule.Active, rule.Stopped, rule.FailedInRow, rule.Reason = true, false, 0, store.Reason{}
		if err := tx.Rules.Put(&rule); err != nil {
			return rule, err
		}
	}
	if err := putJob(tx, rule); err != nil { // refused where no time is to come
		return rule, scheduleError(err)
	}
	_, err = scheduler.Resume(tx, rule.JobName())
	return rule, err
}

// RunNow carries a rule out at once, paused or not. Its schedule is not shifted.
func (w *Worker) RunNow(tx *store.Tx, id uint64) (store.Rule, error) {
	rule, err := active(tx, id)
	if err != nil {
		return rule, err
	}
	_, err = scheduler.RunNow(tx, rule.JobName())
	return rule, err
}

// active returns a rule that has a job, and refuses one that has none.
func active(tx *store.Tx, id uint64) (store.Rule, error) {
	rule, err := tx.Rules.Get(id)
	if err == nil && !rule.Active {
		err = store.Conflict("conflict.rule_off", id)
	}
	return rule, err
}

// Status is a rule with how its job stands.
type Status struct {
	store.Rule
	Job    store.Job    // zero if it has none
	Paused bool         // it is not carried out at its times
	Why    store.Reason // it waits, or made no posts
}

// StatusOf reads how a rule stands.
func StatusOf(tx *store.Tx, rule store.Rule) (s Status, err error) {
	s.Rule, s.Why = rule, rule.Reason
	job, err := tx.Jobs.ByName(rule.JobName())
	if errors.Is(err, store.ErrNotFound) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	s.Job, s.Paused = job, job.Paused || job.State == store.JobPaused
	if s.Why.Zero() {
		s.Why, err = scheduler.Why(tx, job)
	}
	return s, err
}

// History is what another system has counted of a rule.
type History struct {
	Executions, Succeeded, Failed int
	LastAt                        time.Time
}

// SetHistory gives a rule that was imported what its former system has counted.
func (w *Worker) SetHistory(tx *store.Tx, id uint64, h History) error {
	return worker.Change(tx.Rules.Get, tx.Rules.Put, id, func(rule *store.Rule) {
		rule.Executions, rule.Succeeded, rule.Failed, rule.LastAt = h.Executions, h.Succeeded, h.Failed, h.LastAt
	})
}
