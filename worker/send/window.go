package send

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Window is how many posts an identity may send in any time of a length. The zero value allows any number.
type Window []Limit

// Limit is so many in any time of that length.
type Limit struct {
	Most int
	Per  time.Duration
}

// afterWindow is added to the end of a window, so that a post is surely after it.
const afterWindow = time.Second

// UnmarshalText reads limits that are separated by commas, such as 25/1h,100/24h, or off.
func (w *Window) UnmarshalText(text []byte) error {
	*w = nil
	given := strings.TrimSpace(string(text))
	if given == "" || given == "off" {
		return nil
	}
	for _, word := range strings.Split(given, ",") {
		n, length, _ := strings.Cut(strings.TrimSpace(word), "/")
		most, err := strconv.Atoi(n)
		per, bad := time.ParseDuration(length)
		if err != nil || bad != nil || most < 1 || most > 1000 || per < time.Second || per > 31*24*time.Hour {
			*w = nil
			return fmt.Errorf("%q is not a rate: write at most 1000 posts and a time, such as 30/1h or 25/1h,100/24h, or off", given)
		}
		*w = append(*w, Limit{most, per})
	}
	return nil
}

// Slot returns when there is room for a post before which so many others wait, at the earliest now. The calls are
// when posts were begun, in Unix milliseconds, the earliest first.
func (w Window) Slot(calls []int64, now time.Time, before int) time.Time {
	calls = slices.Clone(calls)
	at := now
	for range before + 1 {
		for _, limit := range w {
			if len(calls) < limit.Most {
				continue
			}
			free := time.UnixMilli(calls[len(calls)-limit.Most]).Add(limit.Per + afterWindow)
			if free.After(at) {
				at = free
			}
		}
		calls = append(calls, at.UnixMilli())
	}
	return at
}

// Recent returns the calls that still count. One that lies ahead was made while the clock was wrong, at the latest
// now.
func (w Window) Recent(calls []int64, now time.Time) []int64 {
	var longest time.Duration
	for _, limit := range w {
		longest = max(longest, limit.Per)
	}
	since := now.Add(-longest - afterWindow).UnixMilli()
	calls = slices.DeleteFunc(calls, func(at int64) bool { return at < since })
	for i := range calls {
		calls[i] = min(calls[i], now.UnixMilli())
	}
	return calls
}
