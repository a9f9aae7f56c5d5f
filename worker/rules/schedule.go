package rules

import (
	"errors"
	"slices"
	"strings"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// Schedule is a schedule as its owner writes it. Which fields count depends on the type.
type Schedule struct {
	Times []string // of daily and weekly: times of day, 15:04
	Time  string   // instead of Times
	Days  []int    // of daily and weekly: 1 is Monday, 7 is Sunday
	Day   int      // instead of Days
	Every string   // of interval: such as 90m
	From  string   // of interval: when it runs first; empty means after the first interval
	Cron  string   // of cron
	Dates []string // of custom: RFC 3339, or local times without an offset
	Zone  string   // empty means the worker's
}

// Types are the types of a schedule.
func Types() []string { return []string{"daily", "weekly", "interval", "cron", "custom"} }

const (
	// minEvery is the shortest interval between two posts of a rule.
	minEvery = time.Minute
	maxDates = 500
)

// ScheduleOf returns the schedule of a rule.
func ScheduleOf(r store.Rule) Schedule {
	t := r.Trigger
	s := Schedule{Times: t.Times, Days: t.Weekdays, Cron: t.Cron, Zone: t.Zone}
	if t.Every > 0 {
		s.Every, s.From = t.Every.String(), t.From.Format(time.RFC3339)
	}
	zone, err := time.LoadLocation(t.Zone)
	for _, at := range t.Dates {
		if err == nil {
			at = at.In(zone)
		}
		s.Dates = append(s.Dates, at.Format(time.RFC3339))
	}
	return s
}

// trigger reads a schedule, at the given time. The errors are about its fields.
func (w *Worker) trigger(kind string, s Schedule, now time.Time) (t store.Trigger, err error) {
	zone := w.Zone()
	if s.Zone != "" {
		if zone, err = time.LoadLocation(s.Zone); err != nil || s.Zone == "Local" {
			return t, store.Invalid("schedule_config.zone", "invalid.zone", s.Zone)
		}
	}
	t.Zone = zone.String()
	if s.Time != "" {
		s.Times = append(s.Times, s.Time)
	}
	if s.Day != 0 {
		s.Days = append(s.Days, s.Day)
	}
	switch kind {
	case "daily", "weekly":
		if len(s.Times) == 0 {
			return t, store.Invalid("schedule_config.times", "invalid.times_missing")
		}
		if kind == "weekly" && len(s.Days) == 0 {
			return t, store.Invalid("schedule_config.days_of_week", "invalid.days_missing")
		}
		t.Times, t.Weekdays = s.Times, s.Days
	case "interval":
		if t.Every, err = time.ParseDuration(s.Every); err != nil {
			return t, store.Invalid("schedule_config.every", "invalid.duration", s.Every)
		}
		if t.Every < minEvery {
			return t, store.Invalid("schedule_config.every", "invalid.rule_every")
		}
		t.From = now.Add(t.Every).Truncate(time.Second)
		if s.From != "" {
			t.From, err = localTime("schedule_config.from", s.From, zone)
		}
	case "cron":
		if t.Cron = strings.TrimSpace(s.Cron); t.Cron == "" {
			return t, store.Invalid("schedule_config.cron_expression", "invalid.cron_missing")
		}
	case "custom":
		if len(s.Dates) == 0 || len(s.Dates) > maxDates {
			return t, store.Invalid("schedule_config.dates", "invalid.dates_number", maxDates)
		}
		t.Dates, err = dates(s.Dates, zone)
	default:
		return t, store.Invalid("schedule_type", "invalid.not_one_of", kind, strings.Join(Types(), ", "))
	}
	if err != nil {
		return t, err
	}
	return t, scheduleError(scheduler.Validate(t))
}

func dates(texts []string, zone *time.Location) (all []time.Time, err error) {
	for _, text := range texts {
		at, err := localTime("schedule_config.dates", text, zone)
		if err != nil {
			return nil, err
		}
		all = append(all, at)
	}
	slices.SortFunc(all, time.Time.Compare)
	return slices.CompactFunc(all, time.Time.Equal), nil
}

// scheduleError gives a refusal of a trigger the name of the field that its owner wrote.
func scheduleError(err error) error {
	wrong, ok := errors.AsType[*store.FieldError](err)
	if !ok {
		return err
	}
	name := strings.Replace(wrong.Field, "trigger.cron", "trigger.cron_expression", 1)
	return store.Invalid(strings.Replace(name, "trigger", "schedule_config", 1), wrong.Key, wrong.Args...)
}

// localTime reads a time with an offset or, without one, a local time in zone: the first one if the clock shows it
// twice. One that the clock jumps over is refused.
func localTime(field, text string, zone *time.Location) (time.Time, error) {
	if at, err := worker.ParseTime(text); err == nil {
		return at, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04"} {
		at, err := time.ParseInLocation(layout, text, zone)
		if err != nil {
			continue
		}
		if at.Format(layout) != text {
			return at, store.Invalid(field, "invalid.gap_time")
		}
		for _, shift := range []time.Duration{2 * time.Hour, time.Hour, 30 * time.Minute} {
			if earlier := at.Add(-shift); earlier.Format(layout) == text {
				return earlier.UTC(), nil
			}
		}
		return at.UTC(), nil
	}
	return time.Time{}, store.Invalid(field, "invalid.rule_time", text)
}

// Preview is [scheduler.Preview] for the schedule of a rule.
func Preview(t store.Trigger, name string, after time.Time, count int) ([]scheduler.Time, error) {
	times, err := scheduler.Preview(t, name, after, count)
	return times, scheduleError(err)
}
