package send

import (
	"testing"
	"time"
)

func TestAWindowIsRead(t *testing.T) {
	for text, limits := range map[string]int{"off": 0, "": 0, "30/1h": 1, "25/1h, 100/24h": 2} {
		var w Window
		if err := w.UnmarshalText([]byte(text)); err != nil || len(w) != limits {
			t.Errorf("%q: %v, %v", text, w, err)
		}
	}
	for _, text := range []string{"30", "0/1h", "30/0s", "x/1h", "30/1h,", "1001/1h", "1/900h"} {
		var w Window
		if err := w.UnmarshalText([]byte(text)); err == nil || w != nil {
			t.Errorf("%q: %v", text, w)
		}
	}
}

func TestASlotIsTheNextThatNoLimitRefuses(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	ago := func(minutes ...int) (calls []int64) {
		for _, m := range minutes {
			calls = append(calls, now.Add(-time.Duration(m)*time.Minute).UnixMilli())
		}
		return calls
	}
	w := Window{{2, time.Hour}, {3, 24 * time.Hour}}
	for _, c := range []struct {
		calls  []int64
		before int
		want   time.Duration
	}{
		{nil, 0, 0},
		{nil, 1, 0},
		{nil, 2, time.Hour + afterWindow},
		{ago(90, 10), 0, 0},
		{ago(50, 10), 0, 10*time.Minute + afterWindow},
		{ago(300, 90, 70), 0, 19*time.Hour + afterWindow},
		{nil, 3, 24*time.Hour + afterWindow},
	} {
		if got := w.Slot(c.calls, now, c.before).Sub(now); got != c.want {
			t.Errorf("%v, %d before: %v, not %v", c.calls, c.before, got, c.want)
		}
	}
	if got := w.Recent(ago(60*25, 60*23), now); len(got) != 1 {
		t.Error(got)
	}
	if at := w.Slot(w.Recent(ago(-60*24*300, -60*24*301), now), now, 0).Sub(now); at != time.Hour+afterWindow {
		t.Errorf("after calls by a clock that was wrong: %v", at)
	}
}
