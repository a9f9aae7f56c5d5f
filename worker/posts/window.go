package posts

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

// mostBefore is how many posts are counted that wait before another one. What is behind more of them counts again
// when its turn seems to come.
const mostBefore = 300

// window returns how many posts an identity may send. One of its own wins.
func (w *Worker) window(identity store.Identity) (window send.Window) {
	if identity.Window != "" && window.UnmarshalText([]byte(identity.Window)) == nil {
		return window
	}
	switch identity.Platform {
	case "telegram":
		return w.cfg.TelegramWindow
	case "instagram":
		return w.cfg.InstagramWindow
	case "twitter":
		return w.cfg.XWindow
	}
	return nil
}

// takeSlot notes that a post is begun now. If the window of the identity is full, or the posts before this one
// fill it, it notes nothing and returns when it is this post's turn. A post that is under way has a slot, which is
// moved to now: what counts is the time of the call that publishes it.
func (a *attempt) takeSlot(tx *store.Tx, job store.Job) (wait *scheduler.Outcome, err error) {
	window := a.window(a.identity)
	if len(window) == 0 {
		return nil, nil
	}
	pace, err := tx.Paces.Of(a.identity.ID)
	if err != nil {
		return nil, fmt.Errorf("the posts of %s of late: %w", a.identity.Name, err)
	}
	now := tx.Now()
	others := without(pace.Posts, a.post.Slot)
	ahead := len(others) > 0 && others[len(others)-1] > now.UnixMilli()
	pace.Posts = window.Recent(others, now)
	before, last := 0, time.Time{}
	if a.post.Slot == 0 {
		if before, last, err = waitingBefore(tx, a.post); err != nil {
			return nil, err
		}
	}
	if at := worker.Later(window.Slot(pace.Posts, now, before), last); at.After(now) {
		if ahead { // what a wrong clock has written counts as now once, and not at each look
			if a.post.Slot != 0 {
				pace.Posts = append(pace.Posts, a.post.Slot)
			}
			if err := tx.Paces.Put(&pace); err != nil {
				return nil, err
			}
		}
		why := store.Reason{Code: store.ReasonWindow, Until: at}
		return &scheduler.Outcome{Again: at, Reason: why, Write: change(job, func(_ *store.Tx, p *store.Post) { p.Reason = why })}, nil
	}
	a.slot = now.UnixMilli()
	pace.Posts = append(pace.Posts, a.slot)
	slices.Sort(pace.Posts) // the clock may have been set back
	return nil, tx.Paces.Put(&pace)
}

// freeSlot takes back that a post was begun: nothing was sent.
func (a attempt) freeSlot(tx *store.Tx) error {
	pace, err := tx.Paces.Of(a.identity.ID)
	if a.slot == 0 || err != nil {
		return err
	}
	pace.Posts = without(pace.Posts, a.slot)
	return tx.Paces.Put(&pace)
}

// without returns the calls without one at that time.
func without(calls []int64, at int64) []int64 {
	if i := slices.Index(calls, at); i >= 0 {
		return slices.Delete(calls, i, i+1)
	}
	return calls
}

// waitingBefore returns how many posts of the identity are due, and were so before a post, and have not begun, and when the
// last of those is over that wait for the window, too: the order of posts holds.
func waitingBefore(tx *store.Tx, post store.Post) (n int, last time.Time, err error) {
	until := worker.Earlier(post.ScheduledTime, tx.Now()) // it may be published ahead of its time
	for other := range tx.Posts.Pending(post.IdentityID) {
		if n == mostBefore || other.ID == post.ID || other.ScheduledTime.After(until) {
			break
		}
		if other.Held || other.Slot != 0 {
			continue
		}
		job, err := tx.Jobs.ByName(other.JobName())
		if err != nil && !errors.Is(err, store.ErrNotFound) && !store.IsCorrupt(err) {
			return n, last, err
		}
		if err != nil || job.Paused || job.State != store.JobWaiting {
			continue
		}
		n++
		if other.Reason.Code == store.ReasonWindow {
			last = worker.Later(last, worker.Later(job.Due, tx.Now()).Add(time.Millisecond))
		}
	}
	return n, last, nil
}
