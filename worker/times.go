package worker

import (
	"errors"
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

// ParseTime reads a time with an offset, as RFC 3339 has it.
func ParseTime(text string) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, text)
	if _, offset := at.Zone(); err == nil && max(offset, -offset) >= 24*60*60 { // time.Parse takes +24:00 too
		err = errors.New("the offset is a day or more")
	}
	return at.UTC(), err
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
