package scheduler

import (
	"slices"
	"time"

	"belfry/store"
)

// countedYears is how far occurrences are counted; what lies behind is as good as many.
const countedYears = 20

// missed counts the times that a repeating trigger names after from, up to and including to. Its
// cost grows with the days between, not with the occurrences.
func missed(t store.Trigger, name string, from, to time.Time) (int, error) {
	if t.Once() || !from.Before(to) {
		return 0, nil
	}
	if len(t.Dates) > 0 {
		return len(datesWithin(t, from, to)), nil
	}
	if t.Every != 0 {
		first := nextInterval(t, name, from)
		if first.After(to) {
			return 0, nil
		}
		return int(to.Sub(first)/t.Every) + 1, nil
	}
	w, zone, err := compile(t)
	if err != nil {
		return 0, err
	}
	if limit := from.AddDate(countedYears, 0, 0); to.After(limit) {
		to = limit
	}
	return countInZone(w, zone, from, to), nil
}

// countInZone steps through the days on which the zone's clock is changed, and counts the others
// at once.
func countInZone(w wall, zone *time.Location, from, to time.Time) (n int) {
	for {
		at := nextInZone(w, zone, from)
		if at.IsZero() || at.After(to) {
			return n
		}
		n++
		from = at
		if w.perDay == 1 {
			continue
		}
		year, month, day := at.In(zone).Date()
		midnight, next := time.Date(year, month, day, 0, 0, 0, 0, zone), time.Date(year, month, day+1, 0, 0, 0, 0, zone)
		begin, end := midnight.ZoneBounds()
		whole := next.Sub(midnight) == 24*time.Hour && midnight.Sub(begin) > 24*time.Hour && (end.IsZero() || end.After(next))
		if !whole || next.After(to) || !nextInZone(w, zone, midnight.Add(-1)).Equal(at) {
			continue
		}
		n += w.perDay - 1
		from = next.Add(-1)
	}
}

// nthLast is the occurrence after from that is followed by n others up to and including to. There
// must be more than n.
func nthLast(t store.Trigger, name string, from, to time.Time, n int) (time.Time, error) {
	if len(t.Dates) > 0 {
		passed := datesWithin(t, from, to)
		return passed[len(passed)-1-n].UTC(), nil
	}
	if t.Every != 0 {
		first := nextInterval(t, name, from)
		behind := int64(to.Sub(first) / t.Every)
		return first.Add(time.Duration(behind-int64(n)) * t.Every), nil
	}
	w, zone, err := compile(t)
	if err != nil {
		return time.Time{}, err
	}
	if limit := from.AddDate(countedYears, 0, 0); to.After(limit) {
		to = limit
	}
	// More than n occurrences come after low, and no more than n after high. Occurrences are at whole
	// seconds.
	low, high := to, to
	for back := time.Hour; low.After(from); back *= 4 {
		if low = to.Add(-back); low.Before(from) {
			low = from
		}
		if countInZone(w, zone, low, to) > n {
			break
		}
		high = low
	}
	for high.Sub(low) >= time.Second {
		middle := low.Add(high.Sub(low) / 2)
		if countInZone(w, zone, middle, to) > n {
			low = middle
		} else {
			high = middle
		}
	}
	return nextInZone(w, zone, low), nil
}

// datesWithin returns the dates of a trigger after from, up to and including to.
func datesWithin(t store.Trigger, from, to time.Time) []time.Time {
	begin := slices.IndexFunc(t.Dates, func(at time.Time) bool { return at.After(from) })
	end := slices.IndexFunc(t.Dates, func(at time.Time) bool { return at.After(to) })
	if end < 0 {
		end = len(t.Dates)
	}
	if begin < 0 || begin > end {
		return nil
	}
	return t.Dates[begin:end]
}
