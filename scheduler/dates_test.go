package scheduler

import (
	"strings"
	"testing"
	"time"

	"belfry/store"
)

func TestDatesAndIntervalsWithABeginningNameTheirTimes(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2027, 3, 1, hour, 0, 0, 0, time.UTC) }
	dates := store.Trigger{Dates: []time.Time{at(1), at(5), at(9)}}
	from := store.Trigger{Every: 4 * time.Hour, From: at(1)}
	for _, trigger := range []store.Trigger{dates, from} {
		var got []string
		for after := at(-3); ; {
			next, err := Next(trigger, "a", after)
			if err != nil {
				t.Fatal(err)
			}
			if next.IsZero() || next.After(at(9)) {
				break
			}
			got, after = append(got, next.Format("15")), next
		}
		if strings.Join(got, " ") != "01 05 09" {
			t.Errorf("%+v names %q", trigger, got)
		}
		if n, err := missed(trigger, "a", at(1), at(9)); err != nil || n != 2 {
			t.Errorf("%+v: %d missed, %v", trigger, n, err)
		}
		for n, want := range []int{9, 5} {
			if last, err := nthLast(trigger, "a", at(1), at(10), n); err != nil || !last.Equal(at(want)) {
				t.Errorf("%+v: %v is the last but %d, %v", trigger, last, n, err)
			}
		}
	}
	if n, err := missed(dates, "a", at(9), at(20)); err != nil || n != 0 {
		t.Errorf("%d missed after the last date, %v", n, err)
	}
	if err := Validate(store.Trigger{Dates: []time.Time{at(5), at(1)}}); err == nil {
		t.Error("dates that are not in order were accepted")
	}
	if _, err := First(dates, "a", at(10)); err == nil {
		t.Error("dates that have all passed name a first time")
	}
}
