package scheduler

import (
	"math/bits"
	"strings"
	"time"

	cron "github.com/netresearch/go-cron"

	"belfry/store"
)

// searchYears is how far ahead a cron expression must name a time: 29 February may be 8 years away.
const searchYears = 9

// parseCron reads a cron expression of five fields, of six with seconds in front, or a name such as
// @daily. Days of the week are cron's: 0 and 7 are Sunday. If both the day of the month and the day
// of the week are given, either is enough, as in cron.
func parseCron(text string) (wall, error) {
	refuse := func(key string, args ...any) (wall, error) {
		return wall{}, store.Invalid("trigger.cron", key, args...)
	}
	if strings.Contains(text, "TZ=") {
		return refuse("invalid.cron_zone")
	}
	if strings.HasPrefix(text, "@every") {
		return refuse("invalid.cron_every")
	}
	parser, err := cron.TryNewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month |
		cron.Dow | cron.Descriptor | cron.DowOrDom)
	if err != nil {
		return wall{}, err
	}
	schedule, err := parser.WithMaxSearchYears(searchYears).Parse(text)
	if err != nil && strings.Contains(err.Error(), " option") { // such as L for the last day: an owner has no such option
		return refuse("invalid.cron_unsupported", text)
	}
	if err != nil {
		return refuse("invalid.cron_unreadable", err)
	}
	spec, ok := schedule.(*cron.SpecSchedule)
	if !ok {
		return refuse("invalid.cron_unsupported", text)
	}
	// The expression is followed on a clock that never jumps; nextInZone does the jumps.
	spec.Location = time.UTC
	spec.MaxSearchYears = searchYears
	if spec.Next(time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return refuse("invalid.cron_day")
	}
	clock := clockFields{spec.Hour & (1<<24 - 1), spec.Minute & (1<<60 - 1), spec.Second & (1<<60 - 1)}
	return wall{
		next:    clock.on(spec),
		running: bits.OnesCount64(clock.hours) == 24,
		perDay:  bits.OnesCount64(clock.hours) * bits.OnesCount64(clock.minutes) * bits.OnesCount64(clock.seconds),
	}, nil
}

// clockFields are the times of day that a cron expression names, a bit for each value of a field.
type clockFields struct{ hours, minutes, seconds uint64 }

// on returns the search for the next time on the days of an expression. The library finds the days;
// it would find the times of a day too, but second by second.
func (c clockFields) on(spec *cron.SpecSchedule) func(time.Time) time.Time {
	days := *spec
	days.Hour, days.Minute, days.Second = 1, 1, 1
	return func(after time.Time) time.Time {
		midnight := after.UTC().Truncate(24 * time.Hour)
		day := days.Next(midnight.Add(-1))
		if day.Equal(midnight) {
			if since, ok := c.from(after.Sub(midnight).Truncate(time.Second) + time.Second); ok {
				return midnight.Add(since)
			}
			day = days.Next(midnight)
		}
		if day.IsZero() {
			return day
		}
		since, _ := c.from(0)
		return day.Add(since)
	}
}

// from returns the first time of day that is not before since, if there is one.
func (c clockFields) from(since time.Duration) (time.Duration, bool) {
	atLeast := func(field uint64, n int) int { return bits.TrailingZeros64(field &^ (1<<n - 1)) }
	h, m, s := int(since/time.Hour), int(since/time.Minute%60), int(since/time.Second%60)
	firstMinute, firstSecond := atLeast(c.minutes, 0), atLeast(c.seconds, 0)
	hour, minute, second := atLeast(c.hours, h), firstMinute, firstSecond
	if hour == h {
		if minute = atLeast(c.minutes, m); minute == m {
			if second = atLeast(c.seconds, s); second > 59 {
				minute, second = atLeast(c.minutes, m+1), firstSecond
			}
		}
		if minute > 59 {
			hour, minute, second = atLeast(c.hours, h+1), firstMinute, firstSecond
		}
	}
	at := time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute + time.Duration(second)*time.Second
	return at, hour < 24
}

// nextInZone is the first instant after the given one at which the zone's clock shows a time of w.
//
// It goes through the zone's periods of constant offset. Within one, local time is UTC plus the
// offset. At the border of two, either local times are jumped over, and one that w names there
// falls on the border itself; or local times come again, and are left out unless w is running.
func nextInZone(w wall, zone *time.Location, after time.Time) time.Time {
	local := func(t time.Time) time.Time { // what the zone's clock shows, as a time in UTC
		_, offset := t.In(zone).Zone()
		return t.UTC().Add(time.Duration(offset) * time.Second)
	}
	t, from := after, local(after)
	var at, searched time.Time // nothing is named after searched and before at
	for limit := after.AddDate(searchYears+1, 0, 0); t.Before(limit); {
		begin, end := t.In(zone).ZoneBounds()
		if !begin.IsZero() && !w.running {
			if shown := local(begin.Add(-1)).Add(1); from.Before(shown) {
				from = shown.Add(-1) // what comes before was shown already
			}
		}
		if from.Before(searched) || !from.Before(at) {
			at, searched = w.next(from), from
		}
		if at.IsZero() {
			return time.Time{}
		}
		instant := t.Add(at.Sub(local(t)))
		if end.IsZero() || instant.Before(end) {
			return instant.UTC()
		}
		if at.Before(local(end)) && !at.Before(local(end.Add(-1)).Add(1)) {
			return end.UTC() // the clock jumps over it
		}
		t, from = end, local(end).Add(-1)
	}
	return time.Time{}
}
