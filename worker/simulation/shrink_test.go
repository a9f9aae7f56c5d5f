package simulation_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"belfry/store"
	"belfry/worker"
	"belfry/worker/simulation"
)

// guests is a part in which something is wrong as soon as a guest comes while the door is open.
func guests() []simulation.Part {
	open := false
	return []simulation.Part{{
		Name:   "guests",
		Logins: []store.Identity{{Platform: "telegram", Name: "door", Kind: store.IdentityBot, State: store.IdentityReady}},
		Actions: []simulation.Action{
			{Name: "open", Rate: 1, Do: func(w *simulation.World, _ *rand.Rand) { open = true; w.Note("open") }},
			{Name: "guest", Rate: 5, Do: func(w *simulation.World, r *rand.Rand) {
				w.Note("guest %d", r.IntN(100))
				if open {
					w.Complain("guests: door", "somebody came in")
				}
			}},
		},
		Start: func(*simulation.Process) worker.Module { return worker.Module{} },
	}}
}

func TestAFailureIsShrunkToWhatItNeeds(t *testing.T) {
	h := simulation.Draw(3, 3, guests()[0].Actions)
	result := simulation.Play(t, h, guests)
	if result.Wrong == nil {
		t.Fatal("nothing was wrong")
	}
	small, again := simulation.Shrink(t, h, result, guests, time.Minute)
	if len(small.Events) != 2 || small.Events[0].What != "open" || small.Events[1].What != "guest" {
		t.Errorf("%d of %d events are left:\n%s", len(small.Events), len(h.Events), small.Source())
	}
	if again.Wrong.Judge != "guests: door" || !strings.Contains(again.Timeline(), "WRONG: guests: door") {
		t.Errorf("the timeline is\n%s", again.Timeline())
	}
	if replayed := simulation.Play(t, small, guests); replayed.Timeline() != again.Timeline() {
		t.Errorf("replayed:\n%s\nbefore:\n%s", replayed.Timeline(), again.Timeline())
	}
}

func TestLeavingAnEventOutChangesNothingAboutTheOthers(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e", "f"}
	same := func(name string) string { return name }
	for seed := range uint64(50) {
		choose := func(of []string) string { return simulation.Pick(rand.New(rand.NewPCG(seed, 1)), of, same) }
		chosen := choose(all)
		for i, other := range all {
			if other != chosen && choose(append(append([]string{}, all[:i]...), all[i+1:]...)) != chosen {
				t.Errorf("seed %d: without %s, %s is not chosen any more", seed, other, chosen)
			}
		}
	}
}
