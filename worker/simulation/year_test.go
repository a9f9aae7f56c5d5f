package simulation_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime/debug"
	"testing"

	"belfry/worker/accounts/accountstest"
	"belfry/worker/alerts/alertstest"
	"belfry/worker/notices/noticestest"
	"belfry/worker/posts/poststest"
	"belfry/worker/simulation"
	"belfry/worker/tasks/taskstest"
)

var (
	long = flag.Bool("long", false, "simulate 365 days of 20 seeds")
	seed = flag.Uint64("seed", 0, "simulate this seed alone")
	days = flag.Int("days", 0, "how many days are simulated; 0: 15, and 365 with -long")
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // a history makes much garbage and keeps little
	os.Exit(m.Run())
}

// parts are what the simulated program consists of.
func parts() []simulation.Part {
	notices := noticestest.New()
	return []simulation.Part{
		poststest.New().Part(), taskstest.New().Part(), notices.Part(), alertstest.New(notices).Part(), accountstest.New(notices).Part(),
	}
}

// TestYear plays months of the whole program's life, with people, networks and bad luck.
func TestYear(t *testing.T) {
	seeds, each := []uint64{3, 6, rand.Uint64(), rand.Uint64()}, 15 // a leap day; the clocks of New York are changed
	if *long {
		seeds, each = nil, 365
		for n := range uint64(20) {
			seeds = append(seeds, n+1)
		}
	}
	if *seed != 0 {
		seeds = []uint64{*seed}
	}
	if *days != 0 {
		each = *days
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			replay := fmt.Sprintf("go test ./worker/simulation -run TestYear -seed=%d -days=%d", seed, each)
			s := simulation.Run(t, seed, each, parts, replay)
			t.Logf("%d days in %v, %.0f a minute; %d events, %d starts, %d crashes, %d orderly ends; %d messages, %d judgements; %d KiB; faults %v",
				s.Days, s.Real, float64(s.Days)/s.Real.Minutes(), s.Events, s.Starts, s.Crashes, s.Ends, s.Messages, s.Judged, s.Size>>10, s.Faults)
		})
	}
}
