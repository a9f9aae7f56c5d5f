package bookings

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
)

// localTime reads a time with an offset or, without one, a local time in zone. One that the clock skips or shows twice is
// refused, with both instants that it may mean.
func localTime(field, text string, zone *time.Location) (time.Time, error) {
	text = strings.TrimSpace(text)
	if at, err := worker.ParseTime(text); err == nil {
		return at, nil
	}
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", "2006-01-02 15:04"} {
		wall, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		// By the offsets before and after a change of the clock that may be near.
		first, second := wall.Add(-offset(wall.Add(-26*time.Hour), zone)), wall.Add(-offset(wall.Add(26*time.Hour), zone))
		if first.After(second) {
			first, second = second, first
		}
		shown := func(at time.Time) bool { return at.In(zone).Format(layout) == text }
		named := []any{text, zone.String(), first.In(zone).Format(time.RFC3339), second.In(zone).Format(time.RFC3339)}
		switch {
		case !first.Equal(second) && shown(first) && shown(second):
			return first, store.Invalid(field, "invalid.booking_twice", named...)
		case shown(first):
			return first, nil
		case shown(second):
			return second, nil
		}
		return first, store.Invalid(field, "invalid.booking_gap", named...)
	}
	return time.Time{}, store.Invalid(field, "invalid.rule_time", text)
}

func offset(at time.Time, zone *time.Location) time.Duration {
	_, seconds := at.In(zone).Zone()
	return time.Duration(seconds) * time.Second
}

// quietSpan returns the quiet hours that a time is in, by the clock of the zone, or false if it is in none.
func quietSpan(from, to string, zone *time.Location, at time.Time) (begin, end time.Time, in bool) {
	first, err := time.Parse("15:04", from)
	last, bad := time.Parse("15:04", to)
	if err != nil || bad != nil { // there are none
		return begin, end, false
	}
	local := at.In(zone)
	for _, day := range []int{local.Day() - 1, local.Day()} {
		ends := day
		if !first.Before(last) {
			ends++
		}
		begin = time.Date(local.Year(), local.Month(), day, first.Hour(), first.Minute(), 0, 0, zone)
		end = time.Date(local.Year(), local.Month(), ends, last.Hour(), last.Minute(), 0, 0, zone)
		if !at.Before(begin) && at.Before(end) {
			return begin.UTC(), end.UTC(), true
		}
	}
	return begin, end, false
}

// beforeQuiet is how long before the quiet hours a reminder goes that would fall into them.
const beforeQuiet = time.Minute

// outsideQuiet moves a reminder out of the quiet hours: to before they begin; if that is past, to their end; if that is
// not before the start, it is dropped.
func (s Settings) outsideQuiet(at, start, now time.Time, zone *time.Location) (time.Time, store.Reason) {
	begin, end, quiet := quietSpan(s.QuietFrom, s.QuietTo, zone, at)
	switch {
	case !quiet:
		return at, store.Reason{}
	case begin.Add(-beforeQuiet).After(now):
		return begin.Add(-beforeQuiet), store.Reason{}
	case end.Before(start):
		return end, store.Reason{}
	}
	return at, store.Reason{Code: store.ReasonQuiet}
}

// plan gives a booking its reminders, so long before the start, and its feedback question. After a move all of them are
// new; else those stay as they are that are not waiting any more, but for those whose time is still to come.
func (s Settings) plan(b *store.Booking, before []time.Duration, moved bool, now time.Time, zone *time.Location) {
	var all []store.BookingReminder
	for _, d := range before {
		r := store.BookingReminder{Before: d}
		r.Key = platform.NewKey()
		known := slices.IndexFunc(b.Reminders, func(r store.BookingReminder) bool { return r.Before == d })
		if known >= 0 && !moved {
			r = b.Reminders[known]
		}
		if !moved && r.State == store.MessageWaiting && !r.At.After(now) && b.Start.After(now.Add(time.Second)) {
			r.At = now.Add(time.Second) // it is due already, and waits for its bot: its job is written anew for it
		} else if r.State == "" || r.State == store.MessageWaiting || r.State == store.MessageDropped && r.At.After(now) {
			s.planReminder(&r, b.Start, now, zone)
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(x, y store.BookingReminder) int {
		return cmp.Or(x.At.Compare(y.At), cmp.Compare(y.Before, x.Before))
	})
	for i := range len(all) - 1 {
		if r := &all[i]; r.State == store.MessageWaiting && all[i+1].State == store.MessageWaiting && r.At.Equal(all[i+1].At) {
			r.State, r.Reason = store.MessageDropped, store.Reason{Code: store.ReasonLaterOne}
		}
	}
	b.Reminders = all
	f := &b.Feedback
	if moved {
		f.BookingMessage = store.BookingMessage{Key: platform.NewKey()}
	}
	f.At, f.State = b.End().Add(max(0, f.After)), store.MessageWaiting
	if _, end, quiet := quietSpan(s.QuietFrom, s.QuietTo, zone, f.At); quiet {
		f.At = end
	}
	if f.After < 0 { // nothing is asked; the booking is done at its end
		f.At, f.State = b.End(), store.MessageDropped
	}
}

// planReminder gives a reminder its time, or a reason why it is not sent.
func (s Settings) planReminder(r *store.BookingReminder, start, now time.Time, zone *time.Location) {
	r.At, r.State, r.Reason = start.Add(-r.Before), store.MessageWaiting, store.Reason{}
	if r.At.After(now) {
		r.At, r.Reason = s.outsideQuiet(r.At, start, now, zone)
	} else {
		r.Reason = store.Reason{Code: store.ReasonNoTime}
	}
	if !r.Reason.Zero() {
		r.State = store.MessageDropped
	}
}

// maxOverlaps is how many overlaps of a booking are named.
const maxOverlaps = 20

// Overlaps returns, for each of the bookings, the ids of those at the same time, the earliest first.
func Overlaps(tx *store.Tx, bookings []store.Booking) map[uint64][]uint64 {
	out := make(map[uint64][]uint64)
	if len(bookings) == 0 {
		return out
	}
	from, to := bookings[0].Start, bookings[0].End()
	for _, b := range bookings {
		from, to = worker.Earlier(from, b.Start), worker.Later(to, b.End())
	}
	taken := tx.Bookings.Taken(from.Add(-maxDuration), to)
	longest := time.Duration(0)
	for _, t := range taken {
		longest = max(longest, t.End.Sub(t.Start))
	}
	for _, b := range bookings {
		if b.Status == store.BookingCancelled {
			continue
		}
		first, _ := slices.BinarySearchFunc(taken, b.Start.Add(-longest), func(t store.BookingTime, at time.Time) int { return t.Start.Compare(at) })
		for _, t := range taken[first:] {
			if !t.Start.Before(b.End()) || len(out[b.ID]) == maxOverlaps {
				break
			}
			if t.ID != b.ID && t.End.After(b.Start) {
				out[b.ID] = append(out[b.ID], t.ID)
			}
		}
	}
	return out
}
