package simulation

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// Shrink leaves events out of a history as long as the same judge complains, and returns what is left with how
// it went. It gives up after some real time.
func Shrink(t *testing.T, h History, result Result, parts func() []Part, limit time.Duration) (History, Result) {
	t.Helper()
	end := time.Now().Add(limit)
	try := func(events []Event) bool {
		if time.Now().After(end) {
			return false
		}
		trial := History{Seed: h.Seed, Days: h.Days, Events: events}
		if r := Play(t, trial, parts); r.Wrong != nil && r.Wrong.Judge == result.Wrong.Judge {
			h, result = trial, r
			h.cut(result)
			return true
		}
		return false
	}
	h.cut(result)
	for keep := len(h.Events)/32 + 1; keep < len(h.Events); keep *= 2 { // often only the last days matter, and they are played fast
		if try(earlier(h.Events[len(h.Events)-keep:])) {
			break
		}
	}
	for size := (len(h.Events) + 1) / 2; size > 0; size /= 2 {
		for again := true; again; {
			again = false
			for from := max(0, len(h.Events)-size); ; from -= size { // the last ones first: each play is as long as its history
				from = max(0, from)
				to := min(from+size, len(h.Events))
				if from < to && try(slices.Concat(h.Events[:from], h.Events[to:])) {
					again = size == 1
				}
				if from == 0 {
					break
				}
			}
		}
		try(earlier(h.Events))
	}
	return h, result
}

// cut leaves out what comes after the complaint.
func (h *History) cut(result Result) {
	h.Days = min(h.Days, int(result.Wrong.At/(24*time.Hour))+1)
	h.Events = slices.DeleteFunc(slices.Clone(h.Events), func(e Event) bool { return e.At > result.Wrong.At })
}

// earlier leaves out days without events.
func earlier(events []Event) []Event {
	const day = 24 * time.Hour
	out := slices.Clone(events)
	var last, off time.Duration
	for i := range out {
		if gap := out[i].At - last; gap > day {
			off += gap / day * day
		}
		last = out[i].At
		out[i].At -= off
	}
	return out
}

// Timeline is what happened, a line for each thing.
func (r Result) Timeline() string {
	var b strings.Builder
	for _, l := range r.Lines {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}
