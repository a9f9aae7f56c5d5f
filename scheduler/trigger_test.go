package scheduler

import (
	"errors"
	"testing"
	"time"

	"belfry/i18n"
	"belfry/store"
)

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	z, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// times returns the n times that follow after, as the zone's clock shows them.
func times(t *testing.T, trigger store.Trigger, after time.Time, n int) (shown []string) {
	t.Helper()
	last := after
	for range n {
		next, err := Next(trigger, "job", last)
		if err != nil {
			t.Fatal(err)
		}
		if !next.After(last) {
			t.Fatalf("%v is followed by %v", last, next)
		}
		last = next
		shown = append(shown, next.In(zone(t, trigger.Zone)).Format("Jan 2 15:04 -0700"))
	}
	return shown
}

func TestLocalTimesWhenTheClockChanges(t *testing.T) {
	ny, lh := "America/New_York", "Australia/Lord_Howe"
	cases := []struct {
		name    string
		trigger store.Trigger
		after   time.Time
		want    []string
	}{
		{"a time that is jumped over runs when it has jumped",
			store.Trigger{Times: []string{"02:30"}, Zone: ny}, time.Date(2026, 3, 7, 12, 0, 0, 0, zone(t, ny)),
			[]string{"Mar 8 03:00 -0400", "Mar 9 02:30 -0400"}},
		{"a time that comes twice runs the first time",
			store.Trigger{Times: []string{"01:30"}, Zone: ny}, time.Date(2026, 10, 31, 12, 0, 0, 0, zone(t, ny)),
			[]string{"Nov 1 01:30 -0400", "Nov 2 01:30 -0500"}},
		{"a half-hour cron jumps with the clock",
			store.Trigger{Cron: "*/30 * * * *", Zone: ny}, time.Date(2026, 3, 8, 1, 0, 0, 0, zone(t, ny)),
			[]string{"Mar 8 01:30 -0500", "Mar 8 03:00 -0400", "Mar 8 03:30 -0400"}},
		{"a half-hour cron goes through both hours",
			store.Trigger{Cron: "*/30 * * * *", Zone: ny}, time.Date(2026, 11, 1, 0, 30, 0, 0, zone(t, ny)),
			[]string{"Nov 1 01:00 -0400", "Nov 1 01:30 -0400", "Nov 1 01:00 -0500", "Nov 1 01:30 -0500", "Nov 1 02:00 -0500"}},
		{"several times that are jumped over run once",
			store.Trigger{Cron: "*/10 2 * * *", Zone: ny}, time.Date(2026, 3, 8, 1, 0, 0, 0, zone(t, ny)),
			[]string{"Mar 8 03:00 -0400", "Mar 9 02:00 -0400"}},
		{"a half-hour jump",
			store.Trigger{Cron: "15 2 * * *", Zone: lh}, time.Date(2026, 10, 3, 12, 0, 0, 0, zone(t, lh)),
			[]string{"Oct 4 02:30 +1100", "Oct 5 02:15 +1100"}},
		{"a half hour that comes twice",
			store.Trigger{Times: []string{"01:45"}, Zone: lh}, time.Date(2026, 4, 4, 12, 0, 0, 0, zone(t, lh)),
			[]string{"Apr 5 01:45 +1100", "Apr 6 01:45 +1030"}},
		{"weekdays begin on Monday",
			store.Trigger{Times: []string{"12:05"}, Weekdays: []int{1, 7}, Zone: "Europe/Moscow"}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			[]string{"Jan 4 12:05 +0300", "Jan 5 12:05 +0300", "Jan 11 12:05 +0300"}},
		{"in cron 0 and 7 are Sunday",
			store.Trigger{Cron: "0 9 * * 7", Zone: "UTC"}, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
			[]string{"Jan 4 09:00 +0000", "Jan 11 09:00 +0000"}},
		{"seconds in front",
			store.Trigger{Cron: "30 0 9 * * *", Zone: "UTC"}, time.Date(2026, 1, 1, 9, 0, 29, 0, time.UTC),
			[]string{"Jan 1 09:00 +0000", "Jan 2 09:00 +0000"}},
		{"names", store.Trigger{Cron: "@daily", Zone: "UTC"}, time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC),
			[]string{"Jan 2 00:00 +0000"}},
		{"a leap day", store.Trigger{Cron: "0 0 29 2 *", Zone: "UTC"}, time.Date(2097, 1, 1, 0, 0, 0, 0, time.UTC),
			[]string{"Feb 29 00:00 +0000"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := times(t, c.trigger, c.after, len(c.want))
			for i := range c.want {
				if got[i] != c.want[i] {
					t.Errorf("time %d is %s, want %s (all: %v)", i, got[i], c.want[i], got)
				}
			}
		})
	}
}

func TestIntervalsKeepTheirPhaseAndAreSpread(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	phases := map[time.Duration]bool{}
	for _, name := range []string{"channel_1", "channel_2", "channel_3", "channel_4"} {
		next, err := Next(every(time.Hour), name, now)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := Next(every(time.Hour), name, next.Add(90*time.Minute))
		if again.Sub(next) != 2*time.Hour {
			t.Errorf("%s: %v is followed by %v", name, next, again)
		}
		phases[next.Sub(now)] = true
	}
	if len(phases) != 4 {
		t.Errorf("only %d phases for 4 jobs", len(phases))
	}
}

func TestTriggersThatCannotBeReadAreRefusedByField(t *testing.T) {
	for field, trigger := range map[string]store.Trigger{
		"trigger.every":           {Every: time.Millisecond},
		"trigger.zone":            {Cron: "@daily", Zone: "Mars/Olympus"},
		"trigger.times[1]":        {Times: []string{"12:00", "25:00"}},
		"trigger.days_of_week[0]": {Times: []string{"12:00"}, Weekdays: []int{0}},
	} {
		if f, ok := errors.AsType[*store.FieldError](Validate(trigger)); !ok || f.Field != field {
			t.Errorf("%s: got %v", field, Validate(trigger))
		}
	}
	for _, cron := range []string{"", "nonsense", "61 * * * *", "0 0 30 2 *", "TZ=UTC 0 0 * * *", "@every 5m", "* * * *"} {
		if cron == "" {
			continue
		}
		f, ok := errors.AsType[*store.FieldError](Validate(store.Trigger{Cron: cron}))
		if !ok || f.Field != "trigger.cron" {
			t.Errorf("%q: got %v", cron, f)
		}
	}
	for _, cron := range []string{"0 9 L * *", "0 9 15W * *", "0 9 * * 1#2", "0 9 * * 5#L"} {
		if f, ok := errors.AsType[*store.FieldError](Validate(store.Trigger{Cron: cron})); !ok || f.Key != "invalid.cron_unsupported" {
			t.Errorf("%q: got %v", cron, Validate(store.Trigger{Cron: cron}))
		}
	}
}

func TestDescribeNamesDaysAndZonesThatAreNotTheReaders(t *testing.T) {
	for want, trigger := range map[string]store.Trigger{
		"every 5 minutes":                  every(5 * time.Minute),
		"every hour":                       every(time.Hour),
		"Mon, Sun at 12:05, Moscow":        {Times: []string{"12:05"}, Weekdays: []int{7, 1}, Zone: "Europe/Moscow"},
		"every weekday at 10:00, New York": {Times: []string{"10:00"}, Weekdays: []int{5, 1, 2, 3, 4, 4}, Zone: "America/New_York"},
		"daily at 09:00, 18:00":            {Times: []string{"09:00", "18:00"}, Zone: "UTC"},
	} {
		if got := described(trigger, "en"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	moscow, err := time.LoadLocation("Europe/Moscow")
	if err != nil {
		t.Fatal(err)
	}
	for want, trigger := range map[string]store.Trigger{
		"daily at 09:00, UTC": {Times: []string{"09:00"}},
		"daily at 09:00":      {Times: []string{"09:00"}, Zone: "Europe/Moscow"},
	} {
		if got := i18n.For("en", moscow).Say(Describe(trigger, moscow)); got != want {
			t.Errorf("to a reader in Moscow %q, want %q", got, want)
		}
	}
	if got := described(every(5*time.Minute), "ru"); got != "раз в 5 минут" {
		t.Errorf("%q", got)
	}
}

func described(trigger store.Trigger, lang string) string {
	return i18n.For(lang, time.UTC).Say(Describe(trigger, time.UTC))
}
