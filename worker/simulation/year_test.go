package simulation_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime/debug"
	"testing"
	"time"

	"belfry/worker/accounts/accountstest"
	"belfry/worker/adminbot/adminbottest"
	"belfry/worker/alerts/alertstest"
	"belfry/worker/bookings/bookingstest"
	"belfry/worker/channels/channelstest"
	"belfry/worker/identities/identitiestest"
	"belfry/worker/jobs/jobstest"
	"belfry/worker/moving"
	"belfry/worker/notices/noticestest"
	"belfry/worker/posts/poststest"
	"belfry/worker/rules/rulestest"
	"belfry/worker/simulation"
	"belfry/worker/tasks/taskstest"
)

var (
	seed  = flag.Uint64("seed", 0, "simulate this seed alone")
	seeds = flag.Int("seeds", 0, "simulate the seeds from 1 to this one")
	days  = flag.Int("days", 15, "how many days of each seed are simulated")
	limit = flag.Duration("shrink", 3*time.Minute, "how long a failing history is shrunk at most")
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(1000) // a history makes much garbage and keeps little
	os.Exit(m.Run())
}

// parts are what the simulated program consists of.
func parts() []simulation.Part {
	posts, tasks, notices := poststest.New(), taskstest.New(), noticestest.New()
	posts.Import = func(into *simulation.Process, row map[string]string) (taken bool, err error) {
		report, err := moving.New(into.DB, moving.Workers{Posts: posts.Worker}).Import(context.Background(), moving.Batch{
			Table: "scheduled_posts", Publish: true, Rows: []moving.Row{{Line: 1, Values: row}},
		})
		return err == nil && report.Made+report.Changed > 0, err
	}
	alerts, accounts := alertstest.New(notices), accountstest.New(notices)
	rules := rulestest.New(posts)
	bot := adminbottest.New(adminbottest.Parts{Posts: posts, Tasks: tasks, Accounts: accounts, Alerts: alerts, Notices: notices})
	return []simulation.Part{posts.Part(), rules.Part(), jobstest.New(posts).Part(), tasks.Part(), notices.Part(), alerts.Part(), accounts.Part(), bot.Part(), identitiestest.Part(), bookingstest.New(notices).Part(), channelstest.New(notices, alerts).Part()}
}

// TestYear plays months of the whole program's life, with people, networks and bad luck. The long form is
// -seeds=20 -days=365 -parallel 4.
func TestYear(t *testing.T) {
	played := []uint64{3, 6, rand.Uint64(), rand.Uint64()} // a leap day; the clocks of New York are changed
	if raceDetector {
		// races show in a few days as in many
		played, *days = played[:2], 2
	}
	if *seed != 0 {
		played = []uint64{*seed}
	}
	for n := range *seeds {
		t.Run(fmt.Sprint("seed=", n+1), func(t *testing.T) {
			t.Parallel()
			apart(t, n+1)
		})
	}
	if *seeds > 0 {
		return
	}
	for _, seed := range played {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			t.Parallel()
			replay := fmt.Sprintf("go test ./worker/simulation -run TestYear -seed=%d -days=%d", seed, *days)
			s := simulation.Run(t, seed, *days, parts, *limit, replay)
			t.Logf("%d days in %v, %.0f a minute; %d events, %d starts, %d crashes, %d orderly ends, %d restores; %d messages, %d judgements; %d KiB; faults %v",
				s.Days, s.Real, float64(s.Days)/s.Real.Minutes(), s.Events, s.Starts, s.Crashes, s.Ends, s.Restores, s.Messages, s.Judged, s.Size>>10, s.Faults)
		})
	}
}

// apart plays a seed in a process that uses one core: there a world is a third faster than on two, and its memory
// is its own.
func apart(t *testing.T, seed int) {
	play := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestYear$", "-test.v", "-test.timeout=0",
		fmt.Sprint("-seed=", seed), fmt.Sprint("-days=", *days), fmt.Sprint("-shrink=", *limit))
	play.Env = append(os.Environ(), "GOMAXPROCS=1")
	out, err := play.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
}
