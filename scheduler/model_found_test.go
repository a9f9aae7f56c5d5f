package scheduler

import (
	"testing"
	"time"
)

// What the model has found stays tested.
func TestWhatTheModelHasFound(t *testing.T) {
	for name, steps := range map[string][]step{
		"a run that was asked for and held is one of the missed ones that are each made up for": {
			{What: "hold", Lane: "one", For: time.Second},
			{What: "put", Job: "b", Lane: "one", Trigger: 3, Policy: 2},
			{What: "run now", Job: "b"},
			{What: "crash", For: 50 * time.Hour},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := play(t, steps); err != nil {
				t.Error(firstLine(err))
			}
		})
	}
}
