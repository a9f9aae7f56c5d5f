package scheduler

import (
	"testing"
	"time"

	"belfry/store"
)

func TestAPreviewSaysWhatClockChangesDo(t *testing.T) {
	spring, autumn := time.Date(2027, 3, 27, 12, 0, 0, 0, time.UTC), time.Date(2027, 10, 30, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		trigger store.Trigger
		after   time.Time
		local   string
		note    string
	}{
		"a time that is jumped over": {store.Trigger{Times: []string{"02:30"}}, spring, "2027-03-28T03:00:00+02:00", "schedule.jumped"},
		"the same as a cron":         {store.Trigger{Cron: "30 2 * * *"}, spring, "2027-03-28T03:00:00+02:00", "schedule.jumped"},
		"a time after the jump":      {store.Trigger{Times: []string{"03:00"}}, spring, "2027-03-28T03:00:00+02:00", ""},
		"a time that comes twice":    {store.Trigger{Times: []string{"02:30"}}, autumn, "2027-10-31T02:30:00+02:00", "schedule.twice"},
		"the same on weekdays":       {store.Trigger{Times: []string{"02:30"}, Weekdays: []int{7}}, autumn, "2027-10-31T02:30:00+02:00", "schedule.twice"},
		"the hour before":            {store.Trigger{Times: []string{"01:59"}}, autumn, "2027-10-31T01:59:00+02:00", ""},
		"the hour after":             {store.Trigger{Times: []string{"03:00"}}, autumn, "2027-10-31T03:00:00+01:00", ""},
		"each hour":                  {store.Trigger{Cron: "0 * * * *"}, time.Date(2027, 10, 30, 23, 59, 0, 0, time.UTC), "2027-10-31T02:00:00+02:00", "schedule.both"},
	} {
		t.Run(name, func(t *testing.T) {
			c.trigger.Zone = "Europe/Berlin"
			times, err := Preview(c.trigger, "", c.after, 2)
			if err != nil || len(times) != 2 {
				t.Fatalf("%v, %v", times, err)
			}
			if got := times[0].Local.Format(time.RFC3339); got != c.local || times[0].Note.Key != c.note {
				t.Errorf("%s with note %q, want %s with %q", got, times[0].Note.Key, c.local, c.note)
			}
		})
	}
}
