package worker

import (
	"math/rand/v2"
	"time"
)

// Later returns the later of two times.
func Later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Earlier returns the earlier of two times.
func Earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// WaitEnd returns when a stored wait ends, and zero if it is over. One that lies further ahead than its own rule allows
// was written while the clock was wrong, and is void.
func WaitEnd(now, until time.Time, longest time.Duration) time.Time {
	if !until.After(now) || until.Sub(now) > longest {
		return time.Time{}
	}
	return until
}

// Pause returns a random pause between two, both included.
func Pause(from, to time.Duration) time.Duration {
	return from + time.Duration(rand.Int64N(int64(to-from)+1))
}
