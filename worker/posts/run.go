package posts

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

const (
	// loginPause is how often a post looks whether its identity can act again, should nobody say so.
	loginPause = time.Minute
	// connectPause is how often a post looks whether there is a connection again.
	connectPause = 5 * time.Second
	// unknownPause is the pause before a call that was not answered is repeated for the first time.
	// The repetition is harmless, and its answer settles what happened.
	unknownPause = 2 * time.Second
)

// Run publishes the post of a job.
func (w *Worker) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	attempt, err := w.begin(job)
	if err != nil || attempt.ended != nil {
		return ended(attempt.ended), err
	}
	post := attempt.post
	network, err := w.network(post.Platform)
	if err != nil {
		return w.failed(job, store.Reason{Code: store.ReasonRefused, Detail: err.Error()}), nil
	}
	deadline := w.cfg.Deadline
	if len(post.Media) > 0 {
		deadline *= mediaDeadline
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	receipt, err := network.Publisher(post.IdentityID).Publish(ctx, platformPost(post))
	if err != nil {
		e := platform.AsError(err)
		out := settled(w.sort(job, attempt, e), job, e.Kind == platform.Unknown || post.Unsettled)
		out.Err = err
		return out, nil
	}
	return scheduler.Outcome{Write: change(job, func(tx *store.Tx, p *store.Post) {
		p.Status, p.Reason, p.Unsettled = store.PostPublished, store.Reason{}, false
		p.MessageIDs, p.Link, p.PublishedAt = receipt.MessageIDs, receipt.Link, tx.Now()
	})}, nil
}

// attempt is what a run begins with: a post to publish, as it was before, or the outcome if there
// is nothing to do.
type attempt struct {
	post     store.Post
	identity store.Identity
	ended    *scheduler.Outcome
}

func ended(out *scheduler.Outcome) scheduler.Outcome {
	if out == nil {
		return scheduler.Outcome{}
	}
	return *out
}

// begin decides whether the post is to be published now and, if so, says so in its record: from
// then on it counts as possibly out.
func (w *Worker) begin(job store.Job) (a attempt, err error) {
	err = w.update(func(tx *store.Tx) error {
		a = attempt{}
		post, err := tx.Posts.Get(job.Subject)
		if errors.Is(err, store.ErrNotFound) || (err == nil && post.Status.Final()) {
			a.ended = &scheduler.Outcome{}
			return nil
		}
		if err != nil {
			return err
		}
		if post.Held { // somebody has started its job, which is no approval
			a.ended = &scheduler.Outcome{Again: later(post.ScheduledTime, tx.Now()), Reason: store.Reason{Code: store.ReasonPaused}, Write: pause(job)}
			return nil
		}
		if TooLate(post, tx.Now()) && !job.Requested {
			a.ended = skipped(job, tx.Now().Sub(post.ScheduledTime))
			return nil
		}
		identity, err := tx.Identities.Get(post.IdentityID)
		if errors.Is(err, store.ErrNotFound) {
			out := w.failed(job, store.Reason{Code: store.ReasonIdentityGone})
			a.ended = &out
			return nil
		}
		if err != nil {
			return err
		}
		if identity.State == store.IdentityLogin || identity.State == store.IdentityStopped {
			out := w.waitForLogin(job, identity, cmp.Or(identity.Reason, store.Reason{Code: store.ReasonLogin}))
			a.ended = &out
			return nil
		}
		post.Status, post.UpdatedAt = store.PostPublishing, tx.Now()
		post.Attempts++
		a.post, a.identity = post, identity
		post.Unsettled = true
		return tx.Posts.Put(&post)
	})
	if err != nil {
		return a, fmt.Errorf("begin to publish post %d: %w", job.Subject, err)
	}
	return a, nil
}

// pause keeps the job of a run from being started again until its post is approved.
func pause(job store.Job) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		own, err := tx.Jobs.Get(job.ID)
		if err != nil {
			return err
		}
		own.Requested, own.Paused = false, true
		return tx.Jobs.Put(&own)
	}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// TooLate reports whether a post is skipped that is not out by now, unless it is asked for by hand.
func TooLate(p store.Post, now time.Time) bool {
	return p.Lateness.Policy == store.LateSkip && now.Sub(p.ScheduledTime) > p.Lateness.Grace
}

func skipped(job store.Job, late time.Duration) *scheduler.Outcome {
	why := store.Reason{Code: store.ReasonLate, Detail: late.Round(time.Second).String()}
	return &scheduler.Outcome{Reason: why, Write: change(job, func(_ *store.Tx, p *store.Post) {
		if p.Status, p.Reason = store.PostSkipped, why; p.Unsettled { // it may be out
			fail(p, why)
		}
	})}
}

// settled adds to an outcome whether some call may have had its effect: this one, or one before it.
func settled(out scheduler.Outcome, job store.Job, unsettled bool) scheduler.Outcome {
	write := out.Write
	out.Write = func(tx *store.Tx) error {
		err := change(job, func(_ *store.Tx, p *store.Post) { p.Unsettled = unsettled })(tx)
		return errors.Join(err, write(tx))
	}
	return out
}

// sort turns the network's error into what becomes of the post.
func (w *Worker) sort(job store.Job, a attempt, e *platform.Error) scheduler.Outcome {
	post, detail := a.post, e.Error()
	switch e.Kind {
	case platform.UnderWay:
		return w.uploading(job, e)
	case platform.Refused:
		return w.failed(job, store.Reason{Code: store.ReasonRefused, Detail: detail})
	case platform.Wait:
		return w.toWait(job, e)
	case platform.Login, platform.Stopped:
		return w.identityOut(job, a.identity, e)
	case platform.Transient:
		if e.Scope == platform.ScopeIdentity { // nothing was sent, and it is not the post's fault
			why := store.Reason{Code: store.ReasonNotConnected, Detail: detail}
			return w.again(job, connectPause, why, true)
		}
	}
	if post.Failures+1 >= w.cfg.Attempts {
		why := store.Reason{Code: store.ReasonGaveUp, N: post.Failures + 1, Of: w.cfg.Attempts, Detail: detail}
		return w.failed(job, why)
	}
	pause := scheduler.Retry{Backoff: w.cfg.Backoff, Jitter: jitter}.Delay(post.Failures + 1)
	if e.Kind == platform.Unknown && post.Failures == 0 {
		pause = max(unknownPause, e.Wait)
	}
	why := store.Reason{Code: store.ReasonRetry, N: post.Failures + 1, Of: w.cfg.Attempts, Detail: detail}
	return w.again(job, pause, why, false)
}

// again has the post tried again after a pause. A blameless try does not count against its limit.
func (w *Worker) again(job store.Job, pause time.Duration, why store.Reason, blameless bool) scheduler.Outcome {
	now := w.db.Now()
	return scheduler.Outcome{Again: now.Add(pause), Reason: why, Write: change(job, func(_ *store.Tx, p *store.Post) {
		p.Reason = why
		if !blameless {
			p.Failures++
		}
	})}
}

// toWait has the post, and if the network says so its whole lane, wait as long as it was told.
func (w *Worker) toWait(job store.Job, e *platform.Error) scheduler.Outcome {
	until := w.db.Now().Add(e.Wait + time.Second)
	why := store.Reason{Code: store.ReasonSlowmode, Until: until}
	out := scheduler.Outcome{Again: until}
	if e.Scope == platform.ScopeIdentity {
		why.Code = store.ReasonFlood
		out.Hold = until
	}
	out.Reason = why
	out.Write = change(job, func(_ *store.Tx, p *store.Post) { p.Reason = why })
	return out
}

// uploading has the post look again whether its media are at the network; others have their turn. The
// attempt goes on.
func (w *Worker) uploading(job store.Job, e *platform.Error) scheduler.Outcome {
	why := store.Reason{Code: store.ReasonUploading, Detail: e.Error()}
	return scheduler.Outcome{Again: w.db.Now().Add(e.Wait), Reason: why, Step: true, Write: change(job, func(_ *store.Tx, p *store.Post) {
		p.Reason = why
		p.Attempts--
	})}
}

// identityOut has the post wait after a call has shown that the identity cannot act. That a login has
// ended its adapter has recorded already; a restriction only shows in the calls.
func (w *Worker) identityOut(job store.Job, identity store.Identity, e *platform.Error) scheduler.Outcome {
	why := store.Reason{Code: store.ReasonLogin, Detail: e.Error()}
	if e.Kind == platform.Stopped {
		why.Code = store.ReasonStopped
		identity.State, identity.Reason = store.IdentityStopped, why
	}
	out := w.waitForLogin(job, identity, why)
	out.Failed = true
	return out
}

// waitForLogin has the post, and all others of the identity, wait without troubling the network until the
// identity can act again: then [store.Identities.Put] has the lane go on. The identity is written as it is
// given. If somebody has changed it since it was read, the next run looks at once.
func (w *Worker) waitForLogin(job store.Job, identity store.Identity, why store.Reason) scheduler.Outcome {
	write := change(job, func(_ *store.Tx, p *store.Post) { p.Reason = why })
	return scheduler.Outcome{Again: w.db.Now(), Reason: why, Write: func(tx *store.Tx) error {
		now, err := tx.Identities.Get(identity.ID)
		if errors.Is(err, store.ErrNotFound) || (err == nil && !now.UpdatedAt.Equal(identity.UpdatedAt)) {
			return write(tx)
		}
		if err == nil && now != identity {
			identity.UpdatedAt = tx.Now()
			err = tx.Identities.Put(&identity)
		}
		return errors.Join(err, write(tx), tx.Holds.Extend(job.Lane, tx.Now().Add(loginPause), why))
	}}
}

// failed ends the post.
func (w *Worker) failed(job store.Job, why store.Reason) scheduler.Outcome {
	return scheduler.Outcome{Failed: true, Reason: why,
		Write: change(job, func(_ *store.Tx, p *store.Post) { fail(p, why) })}
}

// fail ends the post as failed, or as unknown if some call may have had its effect.
func fail(p *store.Post, why store.Reason) {
	p.Status, p.Reason = store.PostFailed, why
	if p.Unsettled {
		p.Status, p.Reason = store.PostUnknown, store.Reason{Code: store.ReasonUnknown, Detail: why.Detail}
	}
}

// End is called when the scheduler gives a post's job up: its runs ended with the program, or with
// mistakes.
func (w *Worker) End(tx *store.Tx, job store.Job, why store.Reason) error {
	return change(job, func(_ *store.Tx, p *store.Post) { fail(p, why) })(tx)
}

// change writes a change to the job's post, unless it has ended meanwhile.
func change(job store.Job, fn func(*store.Tx, *store.Post)) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		post, err := tx.Posts.Get(job.Subject)
		if errors.Is(err, store.ErrNotFound) || (err == nil && post.Status.Final()) {
			return nil
		}
		if err != nil {
			return err
		}
		fn(tx, &post)
		post.UpdatedAt = tx.Now()
		return tx.Posts.Put(&post)
	}
}
