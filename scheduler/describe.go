package scheduler

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/store"
)

// Describe says when a trigger runs, with its zone where that is not the reader's.
func Describe(t store.Trigger, reader *time.Location) store.Sentence {
	switch {
	case t.Once():
		return store.Say("schedule.once")
	case len(t.Dates) > 0:
		return store.Say("schedule.dates", len(t.Dates))
	case t.Every > 0:
		return store.Say("schedule.every", interval(t.Every))
	}
	said := store.Say("schedule.cron", t.Cron)
	if t.Cron == "" {
		said = timesOfDay(t)
	}
	if zone := cmp.Or(t.Zone, "UTC"); zone != reader.String() {
		city := strings.ReplaceAll(zone[strings.LastIndex(zone, "/")+1:], "_", " ")
		said = store.Say("schedule.zone", said, city)
	}
	return said
}

// timesOfDay says times of day, and the weekdays if they are not all.
func timesOfDay(t store.Trigger) store.Sentence {
	times := strings.Join(t.Times, ", ")
	var days store.Sentence
	sorted := slices.Compact(slices.Sorted(slices.Values(t.Weekdays)))
	if slices.Equal(sorted, []int{1, 2, 3, 4, 5}) {
		return store.Say("schedule.weekdays", times)
	}
	for _, day := range sorted {
		if day < 1 || day > 7 {
			continue
		}
		name := store.Say("time.short_weekday." + strconv.Itoa(day%7))
		if days.Key != "" {
			name = store.Say("schedule.list", days, name)
		}
		days = name
	}
	if len(sorted) == 0 || len(sorted) == 7 {
		return store.Say("schedule.daily", times)
	}
	return store.Say("schedule.weekly", days, times)
}

// interval says a duration in its largest whole unit.
func interval(d time.Duration) any {
	for _, unit := range []struct {
		size time.Duration
		name string
	}{{24 * time.Hour, "days"}, {time.Hour, "hours"}, {time.Minute, "minutes"}, {time.Second, "seconds"}} {
		if d%unit.size == 0 {
			return store.Say("schedule."+unit.name, int(d/unit.size))
		}
	}
	return d.String()
}
