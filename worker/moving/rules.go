package moving

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"belfry/store"
	"belfry/worker/rules"
)

// scheduleConfig is a rule's schedule as the replaced system has it.
type scheduleConfig struct {
	Times    []string `json:"times"`
	Time     string   `json:"time"`
	Days     []int    `json:"days_of_week"`
	Day      int      `json:"day_of_week"`
	Every    string   `json:"every"`
	Hours    float64  `json:"interval_hours"`
	Minutes  float64  `json:"interval_minutes"`
	From     string   `json:"from"`
	Cron     string   `json:"cron_expression"`
	Dates    []string `json:"dates"`
	Zone     string   `json:"zone"`
	Timezone string   `json:"timezone"`
}

// rule reads a row of auto_posting_rules.
func (w *Worker) rule(ctx context.Context, r *reader, was uint64) (func(*store.Tx) (uint64, error), error) {
	var config scheduleConfig
	var content store.RuleContent
	r.object("schedule_config", &config)
	r.object("content_config", &content)
	if every := time.Duration(config.Hours*float64(time.Hour) + config.Minutes*float64(time.Minute)); config.Every == "" && every > 0 {
		config.Every = every.String()
	}
	request := rules.Request{
		Name: r.text("name"), Description: r.text("description"), ScheduleType: r.text("schedule_type"), Content: content,
		Schedule: rules.Schedule{
			Times: config.Times, Time: config.Time, Days: config.Days, Day: config.Day, Every: config.Every, From: config.From,
			Cron: config.Cron, Dates: config.Dates, Zone: cmp.Or(config.Zone, config.Timezone, r.batch.Zone.String()),
		},
		Platforms: r.list("platforms"), Active: r.yes("is_active", true),
	}
	paused := r.yes("is_paused", false)
	r.stops = paused || !request.Active
	err := w.db.View(func(tx *store.Tx) error {
		if was != 0 && r.stops == r.was.Stopped { // the row says what it has said before: what was done here since holds
			old, err := tx.Rules.Get(was)
			if err != nil {
				return err
			}
			if old.Active != request.Active && (old.Active || !w.Rules.Ended(old)) {
				request.Active = old.Active
				r.report.note("import.kept")
			}
		}
		for _, account := range r.list("accounts") {
			for _, platform := range request.Platforms {
				if id := r.identity(tx, platform, account); id != 0 {
					request.Accounts = append(request.Accounts, id)
				}
			}
		}
		return nil
	})
	if r.number("max_posts_per_day")+r.number("max_posts_per_week") > 0 {
		r.report.note("import.limits", request.Name)
	}
	history := rules.History{
		Executions: r.number("total_executions"), Succeeded: r.number("successful_executions"), Failed: r.number("failed_executions"),
		LastAt: r.time("last_execution_at"),
	}
	if err != nil || r.err != nil {
		return nil, err
	}
	var draft rules.Draft
	if was == 0 {
		draft, err = w.Rules.Prepare(ctx, request)
	} else {
		draft, err = w.Rules.PrepareChange(ctx, was, func(old *rules.Request) { *old = request })
	}
	return func(tx *store.Tx) (uint64, error) {
		if was != 0 {
			rule, err := w.Rules.Change(tx, draft)
			if err == nil && paused && rule.Active && !r.was.Stopped {
				_, err = w.Rules.Pause(tx, was)
			}
			return was, err
		}
		made, err := w.Rules.Create(tx, draft)
		if err == nil {
			err = w.Rules.SetHistory(tx, made.ID, history)
		}
		if err == nil && paused && made.Active {
			_, err = w.Rules.Pause(tx, made.ID)
		}
		if err != nil {
			err = fmt.Errorf("write the rule %q: %w", made.Name, err)
		}
		return made.ID, err
	}, err
}
