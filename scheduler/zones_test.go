package scheduler

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"belfry/store"
)

// named is a trigger and, written by hand, which minutes of a clock it names.
type named struct {
	trigger store.Trigger
	names   func(shown minute) bool
	running bool // it runs in every hour
}

// minute is what a clock and a calendar show.
type minute struct {
	clock   int // hours and minutes, such as 1430
	day     int
	month   time.Month
	weekday time.Weekday
}

func shows(local time.Time) minute {
	_, month, day := local.Date()
	return minute{local.Hour()*100 + local.Minute(), day, month, local.Weekday()}
}

func namedTriggers() []named {
	at := func(clock ...int) func(minute) bool {
		return func(m minute) bool { return slices.Contains(clock, m.clock) }
	}
	return []named{
		{store.Trigger{Times: []string{"02:30", "09:00", "02:15"}}, at(215, 230, 900), false},
		{store.Trigger{Times: []string{"00:00"}}, at(0), false},
		{store.Trigger{Times: []string{"23:45", "00:30"}}, at(2345, 30), false},
		{store.Trigger{Times: []string{"01:30", "03:00"}, Weekdays: []int{7, 1}}, func(m minute) bool {
			return (m.weekday == time.Sunday || m.weekday == time.Monday) && (m.clock == 130 || m.clock == 300)
		}, false},
		{store.Trigger{Cron: "30 2 * * *"}, at(230), false},
		{store.Trigger{Cron: "*/30 0-4 * * *"}, func(m minute) bool { return m.clock%100%30 == 0 && m.clock < 500 }, false},
		{store.Trigger{Cron: "*/20 * * * *"}, func(m minute) bool { return m.clock%100%20 == 0 }, true},
		{store.Trigger{Cron: "15 * * * *"}, func(m minute) bool { return m.clock%100 == 15 }, true},
		{store.Trigger{Cron: "15 1,2,3 * * 0"}, func(m minute) bool {
			return m.weekday == time.Sunday && (m.clock == 115 || m.clock == 215 || m.clock == 315)
		}, false},
		{store.Trigger{Cron: "45 1 13 * 5"}, func(m minute) bool { // as in cron, either is enough
			return (m.day == 13 || m.weekday == time.Friday) && m.clock == 145
		}, false},
		{store.Trigger{Cron: "0 0 1 * *"}, func(m minute) bool { return m.day == 1 && m.clock == 0 }, false},
		{store.Trigger{Cron: "10 0 29 2 *"}, func(m minute) bool {
			return m.month == time.February && m.day == 29 && m.clock == 10
		}, false},
	}
}

// scan goes through all minutes and applies the rules as they are stated at [Next]: what the clock
// jumps over runs when it has jumped; what it shows again does not run again, unless the trigger
// runs in every hour.
func scan(all []named, zone *time.Location, from, to time.Time) [][]time.Time {
	times := make([][]time.Time, len(all))
	shown := time.Time{} // the latest that the clock has shown
	for t := from; t.Before(to); t = t.Add(time.Minute) {
		_, offset := t.In(zone).Zone()
		local := t.Add(time.Duration(offset) * time.Second)
		again := !local.After(shown)
		jumped := !shown.IsZero() && local.Sub(shown) > time.Minute
		now := shows(local)
		for i := range all {
			runs := all[i].names(now) && (!again || all[i].running)
			if jumped {
				for over := shown.Add(time.Minute); over.Before(local) && !runs; over = over.Add(time.Minute) {
					runs = all[i].names(shows(over))
				}
			}
			if runs {
				times[i] = append(times[i], t)
			}
		}
		if !again {
			shown = local
		} else if shown.Sub(local) > 4*time.Hour {
			shown = local // not a clock change but another day, on the other side of the date line
		}
	}
	return times
}

// In the short form it is every minute of two years.
func TestEveryMinuteOfTenYearsInManyZones(t *testing.T) {
	zones := map[string]int{ // and the year in which the ten begin
		"UTC": 2020, "Europe/Moscow": 2009, "Europe/Berlin": 2020, "Europe/London": 2020, "Europe/Dublin": 2020,
		"America/New_York": 2020, "America/St_Johns": 2020, "America/Caracas": 2010, "America/Sao_Paulo": 2012,
		"America/Santiago": 2020, "Australia/Sydney": 2020, "Australia/Lord_Howe": 2020, "Africa/Casablanca": 2018,
		"Africa/Cairo": 2018, "Asia/Tehran": 2016, "Asia/Kathmandu": 2020, "Asia/Gaza": 2018, "Pacific/Apia": 2010,
		"Pacific/Chatham": 2020, "Antarctica/Troll": 2020,
	}
	for name, year := range zones {
		if raceDetector && name[0] != 'A' { // there is one goroutine: the others are for the run without it
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			years := 10
			switch {
			case raceDetector:
				years = 1
			case !*long:
				years = 2
			}
			from := time.Date(year, 1, 1, 12, 0, 0, 0, time.UTC)
			to := from.AddDate(years, 0, 0)
			all, z := namedTriggers(), zone(t, name)
			for i, want := range scan(all, z, from, to) {
				trigger := all[i].trigger
				trigger.Zone = name
				checkZone(t, trigger, from, to, want)
			}
		})
	}
}

// checkZone compares each time, and on some stretches how many they are.
func checkZone(t *testing.T, trigger store.Trigger, from, to time.Time, want []time.Time) {
	w, z, err := compile(trigger)
	if err != nil {
		t.Fatal(err)
	}
	at := from.Add(-1)
	for _, expected := range want {
		if at = nextInZone(w, z, at); !at.Equal(expected) {
			t.Fatalf("%s: %v, want %v", described(trigger, "en"), at.In(z), expected.In(z))
		}
	}
	if at = nextInZone(w, z, at); !at.IsZero() && at.Before(to) {
		t.Fatalf("%s: %v, want no more", described(trigger, "en"), at.In(z))
	}
	random := rand.New(rand.NewPCG(1, uint64(len(want))))
	for range 20 {
		low, high := random.IntN(len(want)+1), random.IntN(len(want)+1)
		if low >= high {
			continue
		}
		start, end := want[low].Add(-1), want[high-1].Add(time.Duration(random.IntN(59))*time.Second)
		if n, err := missed(trigger, "", start, end); err != nil || n != high-low {
			t.Fatalf("%s: %d from %v to %v, %v, want %d", described(trigger, "en"), n, start.In(z), end.In(z), err, high-low)
		}
		behind := random.IntN(min(high-low, 300))
		if got, err := nthLast(trigger, "", start, end, behind); err != nil || !got.Equal(want[high-1-behind]) {
			t.Fatalf("%s: %d before the end is %v, %v, want %v", described(trigger, "en"), behind, got, err, want[high-1-behind])
		}
	}
}

// In each zone there is, around each change of its clock, the next time is later than the last, and
// the search ends.
func TestNextIsAlwaysLaterAroundEachChangeOfTheClock(t *testing.T) {
	for _, name := range []string{"America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia",
		"Asia/Pyongyang", "America/Havana", "Asia/Beirut", "Atlantic/Azores"} {
		z := zone(t, name)
		at := time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)
		for range 24 {
			_, end := at.In(z).ZoneBounds()
			if end.IsZero() {
				break
			}
			at = end
			for _, n := range namedTriggers() {
				n.trigger.Zone = name
				w, z, err := compile(n.trigger)
				if err != nil {
					t.Fatal(err)
				}
				for _, around := range []time.Duration{-2 * time.Hour, -1, 0, 1, time.Hour} {
					last := end.Add(around)
					for range 4 {
						next := nextInZone(w, z, last)
						if !next.After(last) {
							t.Fatalf("%s in %s: %v is followed by %v", described(n.trigger, "en"), name, last, next)
						}
						last = next
					}
				}
			}
		}
	}
}
