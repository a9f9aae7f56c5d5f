package scheduler

import (
	"time"

	"belfry/store"
)

// Time is a time that a trigger names.
type Time struct {
	At    time.Time
	Local time.Time      // in the trigger's zone
	Note  store.Sentence // what a change of the clock does; empty if nothing
}

// Preview returns the next times of a trigger after the given one: at most count, fewer if there are no more. name is
// that of the job, which an interval without a beginning depends on.
func Preview(t store.Trigger, name string, after time.Time, count int) (times []Time, err error) {
	if err := Validate(t); err != nil {
		return nil, err
	}
	if t.Once() {
		return []Time{{At: t.At.UTC(), Local: t.At.UTC()}}, nil
	}
	zone, err := time.LoadLocation(t.Zone)
	if err != nil {
		return nil, store.Invalid("trigger.zone", "invalid.zone", t.Zone)
	}
	for range count {
		at, err := Next(t, name, after)
		if err != nil || at.IsZero() {
			return times, err
		}
		times = append(times, Time{at, at.In(zone), note(t, at.In(zone))})
		after = at
	}
	return times, nil
}

// note says what a change of the clock does to a time of day, or of a cron expression.
func note(t store.Trigger, local time.Time) (none store.Sentence) {
	if t.Every != 0 || len(t.Dates) > 0 {
		return none
	}
	w, _, err := compile(t)
	if err != nil {
		return none
	}
	_, offset := local.Zone()
	shown := local.UTC().Add(time.Duration(offset) * time.Second) // as w has it
	if !w.next(shown.Add(-1)).Equal(shown) {
		return store.Say("schedule.jumped")
	}
	_, end := local.ZoneBounds()
	if end.IsZero() {
		return none
	}
	_, next := end.Zone()
	if again := local.Add(time.Duration(offset-next) * time.Second); next < offset && !again.Before(end) {
		if w.running {
			return store.Say("schedule.both")
		}
		return store.Say("schedule.twice")
	}
	return none
}
