package web

import (
	"math"
	"strconv"
	"time"
)

// moment is a time as the page shows it: exactly, in the configured zone, and in relation to now.
type moment struct{ ISO, Exact, Clock, Relative string }

// momentIf is [reader.moment] for a time that may be missing: nil then, for templates to leave out.
func (r reader) momentIf(t time.Time) *moment {
	if t.IsZero() {
		return nil
	}
	return r.moment(t)
}

// moment never returns nil; a time that is missing is a dash.
func (r reader) moment(t time.Time) *moment {
	if t.IsZero() {
		return &moment{Exact: "–", Clock: "–", Relative: "–"}
	}
	local := t.In(r.zone)
	return &moment{
		ISO: t.UTC().Format(time.RFC3339), Clock: local.Format("15:04"),
		Exact: r.day(t, r.words.Time.ShortDay) + ", " + local.Format("15:04"), Relative: r.relative(t),
	}
}

// day names the day of a time: today, tomorrow, yesterday, or as name says it, with the year where
// it is another one.
func (r reader) day(t time.Time, name func(time.Time) string) string {
	local, now := t.In(r.zone), r.now.In(r.zone)
	switch days := dayNumber(local) - dayNumber(now); {
	case days == 0:
		return r.words.Time.Today
	case days == 1:
		return r.words.Time.Tomorrow
	case days == -1:
		return r.words.Time.Yesterday
	case local.Year() != now.Year():
		return name(local) + " " + strconv.Itoa(local.Year())
	}
	return name(local)
}

// dayNumber counts the days of the calendar that a local time belongs to.
func dayNumber(t time.Time) int64 {
	year, month, day := t.Date()
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC).Unix() / (24 * 60 * 60)
}

// relative says how far away a time is.
func (r reader) relative(t time.Time) string {
	switch d := t.Sub(r.now); {
	case d > 45*time.Second:
		return r.words.Time.In(d)
	case d > 0:
		return r.words.Time.Moment
	case d > -45*time.Second:
		return r.words.Time.JustNow
	default:
		return r.words.Time.Ago(-d)
	}
}

// The units of [largest].
const (
	unitSecond = iota
	unitMinute
	unitHour
	unitDay
	unitMonth
	unitYear
)

// largest returns a length of time in the largest unit that leaves a number worth telling.
func largest(d time.Duration) (n, unit int) {
	round := func(size time.Duration) int { return int(math.Round(float64(d) / float64(size))) }
	const day = 24 * time.Hour
	switch {
	case d < 55*time.Second:
		return max(1, round(time.Second)), unitSecond
	case d < 59*time.Minute+30*time.Second:
		return max(1, round(time.Minute)), unitMinute
	case d < 36*time.Hour:
		return max(1, round(time.Hour)), unitHour
	case d < 60*day:
		return round(day), unitDay
	case d < 700*day:
		return round(30 * day), unitMonth
	}
	return round(365 * day), unitYear
}

// group writes a number with a mark between thousands.
func group(n int, mark string) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + mark + s[i:]
	}
	return s
}
