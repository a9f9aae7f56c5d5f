package scheduler

import (
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"belfry/store"
)

// minEvery is the shortest interval: anything shorter is a loop, not a schedule.
const minEvery = time.Second

// Validate checks that a trigger can be read and names at least one time. Errors are of type
// [*store.FieldError] with a field such as trigger.cron.
func Validate(t store.Trigger) error {
	switch {
	case t.Once():
		return nil
	case len(t.Dates) > 0:
		if !slices.IsSortedFunc(t.Dates, time.Time.Compare) {
			return store.Invalid("trigger.dates", "invalid.dates_order")
		}
		return nil
	case t.Every != 0:
		if t.Every < minEvery {
			return store.Invalid("trigger.every", "invalid.under_a_second")
		}
		return nil
	}
	_, _, err := compile(t)
	return err
}

// First is the first time that a trigger names from now on: a time that has passed only where the
// trigger names no other.
func First(t store.Trigger, name string, now time.Time) (time.Time, error) {
	if t.Once() {
		return t.At.UTC(), nil
	}
	first, err := Next(t, name, now)
	if err == nil && first.IsZero() {
		err = store.Invalid("trigger", "invalid.no_time_to_come")
	}
	return first, err
}

// Next is the first time after the given one that a repeating trigger names, or zero if there is
// none. It is a function of the trigger, the job's name and the time alone.
//
// An interval runs on elapsed time from its beginning on. Without one it runs at a phase that comes from the job's
// name, so that jobs with the same interval are spread and keep their places across restarts. Cron and times of day are
// local time in the trigger's zone: a time that the clock jumps over in spring runs when it has
// jumped; a time that comes twice in autumn runs the first time. A cron expression that runs in
// every hour goes through both hours instead.
func Next(t store.Trigger, name string, after time.Time) (time.Time, error) {
	if t.Once() {
		return time.Time{}, nil
	}
	if len(t.Dates) > 0 {
		for _, at := range t.Dates {
			if at.After(after) {
				return at.UTC(), nil
			}
		}
		return time.Time{}, nil
	}
	if t.Every != 0 {
		return nextInterval(t, name, after), nil
	}
	w, zone, err := compile(t)
	if err != nil {
		return time.Time{}, err
	}
	return nextInZone(w, zone, after), nil
}

func nextInterval(t store.Trigger, name string, after time.Time) time.Time {
	if t.From.After(after) {
		return t.From.UTC()
	}
	every, h := t.Every, fnv.New64a()
	h.Write([]byte(name))
	phase := int64(h.Sum64() % uint64(every))
	if !t.From.IsZero() {
		phase = t.From.UnixNano()
	}
	since := after.UnixNano() - phase
	periods := since / int64(every)
	if since < 0 && since%int64(every) != 0 {
		periods--
	}
	return time.Unix(0, phase+(periods+1)*int64(every)).UTC()
}

// wall is a schedule on a clock without a zone: its times are in UTC and mean local time.
type wall struct {
	next    func(time.Time) time.Time // the first time strictly after; zero if there is none
	running bool                      // it runs in every hour, so that an hour that comes twice counts twice
	perDay  int                       // how many times it names on a day on which it names any
}

// compile reads a cron expression or times of day.
func compile(t store.Trigger) (wall, *time.Location, error) {
	zone, err := time.LoadLocation(t.Zone)
	if err != nil || t.Zone == "Local" {
		return wall{}, nil, store.Invalid("trigger.zone", "invalid.zone", t.Zone)
	}
	if t.Cron != "" {
		w, err := parseCron(t.Cron)
		return w, zone, err
	}
	w, err := parseTimes(t.Times, t.Weekdays)
	return w, zone, err
}

// parseTimes reads times of day on weekdays.
func parseTimes(times []string, weekdays []int) (wall, error) {
	var seconds []int
	for i, text := range times {
		at, err := time.Parse("15:04:05", text)
		if err != nil {
			at, err = time.Parse("15:04", text)
		}
		if err != nil {
			return wall{}, store.Invalid(fmt.Sprintf("trigger.times[%d]", i), "invalid.time_of_day", text)
		}
		seconds = append(seconds, at.Hour()*3600+at.Minute()*60+at.Second())
	}
	slices.Sort(seconds)
	seconds = slices.Compact(seconds)
	var days [8]bool // by weekday, 1 is Monday
	for i, day := range weekdays {
		if day < 1 || day > 7 {
			return wall{}, store.Invalid(fmt.Sprintf("trigger.days_of_week[%d]", i), "invalid.weekday", day)
		}
		days[day] = true
	}
	return wall{perDay: len(seconds), next: func(after time.Time) time.Time {
		day := after.Truncate(24 * time.Hour)
		for range 8 {
			weekday := (int(day.Weekday())+6)%7 + 1
			for _, s := range seconds {
				at := day.Add(time.Duration(s) * time.Second)
				if at.After(after) && (len(weekdays) == 0 || days[weekday]) {
					return at
				}
			}
			day = day.Add(24 * time.Hour)
		}
		return time.Time{}
	}}, nil
}
