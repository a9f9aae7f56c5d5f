package i18n

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Number is a number as the language writes it.
func (p Printer) Number(n int) string { return p.catalogue.printer.Sprint(n) }

// Day is a time's day in the reader's zone: today, tomorrow, yesterday, or such as "Tuesday 24 November",
// with the year where it is another one.
func (p Printer) Day(t time.Time) string { return p.day(t, "time.day", "time.weekday.") }

// Exact is a time in the reader's zone, such as "Tue 24 Nov, 15:04"; a dash if it is zero.
func (p Printer) Exact(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return p.day(t, "time.short_day", "time.short_weekday.") + ", " + p.Clock(t)
}

// Clock is a time of day in the reader's zone, such as "15:04".
func (p Printer) Clock(t time.Time) string { return t.In(p.Zone).Format("15:04") }

func (p Printer) day(t time.Time, layout, weekday string) string {
	local, now := t.In(p.Zone), p.Now.In(p.Zone)
	switch dayNumber(local) - dayNumber(now) {
	case 0:
		return p.T("time.today")
	case 1:
		return p.T("time.tomorrow")
	case -1:
		return p.T("time.yesterday")
	}
	name := p.T(layout, p.T(weekday+strconv.Itoa(int(local.Weekday()))), local.Day(), p.T(layout+"_month."+strconv.Itoa(int(local.Month()))))
	if local.Year() != now.Year() {
		name += " " + strconv.Itoa(local.Year())
	}
	return name
}

// dayNumber counts the days of the calendar that a local time belongs to.
func dayNumber(t time.Time) int64 {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
}

// StartOfDay is when a day begins in a zone. Where the clock goes forward at midnight, that is later, and [time.Date] may
// name an hour of the day before.
func StartOfDay(year int, month time.Month, day int, zone *time.Location) time.Time {
	at := time.Date(year, month, day, 0, 0, 0, 0, zone)
	if dayNumber(at) < dayNumber(time.Date(year, month, day, 0, 0, 0, 0, time.UTC)) {
		_, at = at.ZoneBounds()
	}
	return at
}

// Relative is how far away a time is, such as "in 3 hours".
func (p Printer) Relative(t time.Time) string {
	switch d := t.Sub(p.Now); {
	case t.IsZero():
		return "–"
	case d > 45*time.Second:
		return p.T("time.in", d)
	case d > 0:
		return p.T("time.moment")
	case d > -45*time.Second:
		return p.T("time.just_now")
	default:
		return p.T("time.ago", -d)
	}
}

// ExactLength is a length of time without rounding, such as "1 hour 30 minutes": what somebody has set.
func (p Printer) ExactLength(d time.Duration) string {
	var said []string
	for _, unit := range []struct {
		key  string
		size time.Duration
	}{{"time.days", 24 * time.Hour}, {"time.hours", time.Hour}, {"time.minutes", time.Minute}, {"time.seconds", time.Second}} {
		if n := d / unit.size; n > 0 {
			said = append(said, p.T(unit.key, int(n)))
		}
		d %= unit.size
	}
	return strings.Join(said, " ")
}

// Length is a length of time in the largest unit that leaves a number worth telling, such as "3 hours".
func (p Printer) Length(d time.Duration) string {
	round := func(size time.Duration) int { return int(math.Round(float64(d) / float64(size))) }
	const day = 24 * time.Hour
	switch {
	case d < 55*time.Second:
		return p.T("time.seconds", max(1, round(time.Second)))
	case d < 59*time.Minute+30*time.Second:
		return p.T("time.minutes", max(1, round(time.Minute)))
	case d < 2*day: // "tomorrow" is never "in 2 days"
		return p.T("time.hours", round(time.Hour))
	case d < 60*day:
		return p.T("time.days", round(day))
	case d < 700*day:
		return p.T("time.months", round(30*day))
	}
	return p.T("time.years", round(365*day))
}
