package simulation

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Event is one thing that happens in a history: an action of a person or a piece of weather.
type Event struct {
	At   time.Duration // since the start
	What string        // the name of an [Action]
	Seed uint64        // of everything that is chosen when it happens
}

// History is what happens from outside in the time that is simulated. Each event has a seed of its own, so
// that leaving one out changes nothing about the others.
type History struct {
	Seed   uint64 // of what networks do to calls
	Days   int
	Events []Event // in the order of their times
}

// Action is something that may happen.
type Action struct {
	Name string
	// Rate is how often it happens on an ordinary day, by average.
	Rate float64
	// Weather is what happens at any hour, and on few days often; else it is done by people, who sleep at
	// night and have holidays and busy hours.
	Weather bool
	Do      func(w *World, r *rand.Rand)
}

// random returns the choices of a seed, for one purpose.
func random(seed uint64, purpose uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, purpose)) }

// Pick chooses one of several by their names, in such a way that leaving out another one changes nothing.
func Pick[T any](r *rand.Rand, all []T, name func(T) string) T {
	salt := r.Uint64()
	return slices.MinFunc(all, func(a, b T) int { return cmp.Compare(hash(salt, name(a)), hash(salt, name(b))) })
}

// hash is a number that depends on a seed and a text.
func hash(seed uint64, text string) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, text)
	return h.Sum64()
}

// hours says how much people do in each hour of the day.
var hours = [24]float64{.2, .1, .1, .1, .1, .2, .5, 1, 1.5, 3, 2, 1.5, 1.5, 1, 1, 1, 1.2, 1.5, 2.5, 2.5, 1.5, 1, .7, .4}

// Draw returns the history of a seed.
func Draw(seed uint64, days int, actions []Action) History {
	h := History{Seed: seed, Days: days}
	r := random(seed, 1)
	for day := range days {
		people, weather := 1.0, 0.3
		switch n := r.Float64(); {
		case n < .05: // a holiday
			people = .1
		case n < .15: // a busy day
			people = 3
		}
		if r.Float64() < .2 { // a bad day
			weather = 4
		}
		for _, a := range actions {
			mean := a.Rate * people
			if a.Weather {
				mean = a.Rate * weather
			}
			for range poisson(r, mean) {
				h.Events = append(h.Events, Event{At: time.Duration(day)*24*time.Hour + moment(r, a.Weather), What: a.Name, Seed: r.Uint64()})
			}
		}
	}
	slices.SortStableFunc(h.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	return h
}

// moment is a time of the day. People like whole minutes.
func moment(r *rand.Rand, weather bool) time.Duration {
	at := time.Duration(r.Int64N(int64(24 * time.Hour)))
	if weather {
		return at
	}
	sum := 0.0
	for _, n := range hours {
		sum += n
	}
	at %= time.Hour
	for n, hour := r.Float64()*sum, 0; ; hour++ {
		if n -= hours[hour]; n < 0 || hour == 23 {
			at += time.Duration(hour) * time.Hour
			break
		}
	}
	if r.IntN(4) == 0 {
		at = at.Truncate(time.Minute)
	}
	return at
}

func poisson(r *rand.Rand, mean float64) (n int) {
	for p := r.Float64(); p > math.Exp(-mean); p *= r.Float64() {
		n++
	}
	return n
}

// Source is the history as a literal of Go, for a test that keeps it.
func (h History) Source() string {
	var b strings.Builder
	fmt.Fprintf(&b, "simulation.History{Seed: %#x, Days: %d, Events: []simulation.Event{\n", h.Seed, h.Days)
	for _, e := range h.Events {
		fmt.Fprintf(&b, "\t{At: %d, What: %q, Seed: %#x}, // %s\n", e.At, e.What, e.Seed, stamp(e.At))
	}
	return b.String() + "}}"
}

// stamp is a time since the start as people read it: the day, which begins with 0, and the time of it.
func stamp(at time.Duration) string {
	day := at / (24 * time.Hour)
	return fmt.Sprintf("day %d %s", day, time.Time{}.Add(at-day*24*time.Hour).Format("15:04:05.000"))
}
