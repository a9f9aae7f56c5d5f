package posts

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

// attempt is a run: a post to publish, as it was before.
type attempt struct {
	*Worker
	post     store.Post
	identity store.Identity
	on       Network
	// unreached is how many attempts in a row, of any post of the lane, have found no connection.
	unreached int
	slot      int64 // that it has taken in the window; 0: there is none
}

// Begin decides in the claim's transaction whether the post is to be published now and, if so, says so in its
// record: from then on it counts as possibly out.
func (a attempt) Begin(tx *store.Tx, job store.Job) (scheduler.Worker, error) {
	post, err := tx.Posts.Get(job.Subject)
	if errors.Is(err, store.ErrNotFound) || (err == nil && post.Status.Final()) {
		return send.Ended{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("begin to publish post %d: %w", job.Subject, err)
	}
	if post.Held { // its job was started by hand, which is no approval
		return send.Ended{Again: worker.Later(post.ScheduledTime, tx.Now()), Reason: store.Reason{Code: store.ReasonPaused}, Write: pause(job)}, nil
	}
	if TooLate(post, tx.Now()) && !job.Requested {
		return send.Ended(skipped(job, tx.Now().Sub(post.ScheduledTime))), nil
	}
	identity, err := tx.Identities.Get(post.IdentityID)
	if errors.Is(err, store.ErrNotFound) {
		return send.Ended(failed(job, store.Reason{Code: store.ReasonIdentityGone})), nil
	}
	if err != nil {
		return nil, fmt.Errorf("begin to publish post %d: %w", job.Subject, err)
	}
	if why, may := send.MayAct(identity); !may {
		out := scheduler.Outcome{Write: change(job, func(_ *store.Tx, p *store.Post) { p.Reason = why })}
		return send.Ended(send.HoldIdentity(out, job, identity, why, tx.Now())), nil
	}
	if a.on, err = a.network(post.Platform); err != nil {
		return send.Ended(failed(job, store.Reason{Code: store.ReasonRefused, Detail: err.Error()})), nil
	}
	a.post, a.identity, a.unreached = post, identity, send.Unreached(tx, job.Lane)
	wait, err := a.takeSlot(tx, job)
	if err != nil {
		return nil, err
	}
	if wait != nil {
		return send.Ended(*wait), nil
	}
	post.Status, post.Unsettled, post.Slot, post.UpdatedAt = store.PostPublishing, true, 0, tx.Now()
	post.Attempts++
	return a, tx.Posts.Put(&post)
}

// Run publishes the post.
func (a attempt) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	deadline := a.cfg.Deadline
	if len(a.post.Media) > 0 {
		deadline *= mediaDeadline
	}
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	receipt, err := a.on.Publisher(a.post.IdentityID).Publish(ctx, platformPost(a.post))
	if err != nil {
		return a.answered(job, platform.AsError(err)), nil
	}
	return scheduler.Outcome{Write: change(job, func(tx *store.Tx, p *store.Post) {
		published(p)
		p.MessageIDs, p.Link, p.PublishedAt = receipt.MessageIDs, receipt.Link, tx.Now()
	})}, nil
}

// published ends the post as one that is out.
func published(p *store.Post) {
	p.Status, p.Reason, p.Unsettled, p.SentAgain, p.State = store.PostPublished, store.Reason{}, false, false, nil
}

// pause keeps the job of a run from being started again until its post is approved.
func pause(job store.Job) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		return worker.Change(tx.Jobs.Get, tx.Jobs.Put, job.ID, func(own *store.Job) { own.Requested, own.Paused = false, true })
	}
}

// TooLate reports whether a post is skipped that is not out by now, unless it is asked for by hand.
func TooLate(p store.Post, now time.Time) bool {
	return p.Lateness.Policy == store.LateSkip && now.Sub(p.ScheduledTime) > p.Lateness.Grace
}

func skipped(job store.Job, late time.Duration) scheduler.Outcome {
	why := store.Reason{Code: store.ReasonLate, Detail: late.Round(time.Second).String()}
	return scheduler.Outcome{Reason: why, Write: change(job, func(_ *store.Tx, p *store.Post) {
		if p.Status, p.Reason = store.PostSkipped, why; p.MayBeOut() {
			fail(p, why)
		}
	})}
}

// answered ends a run to which the network has answered with an error.
func (a attempt) answered(job store.Job, e *platform.Error) scheduler.Outcome {
	answer := send.To(e, a.db.Now(), send.Attempts{
		Failed: a.post.Failures, Most: a.cfg.Attempts, Backoff: a.cfg.Backoff, Unreached: a.unreached,
	})
	out := answer.Outcome()
	out.Err = e
	changed := change(job, func(_ *store.Tx, p *store.Post) {
		p.Unsettled = answer.Unknown || a.post.Unsettled // by this call, or by one before it
		p.Reason = answer.Reason
		if e.State != nil {
			p.State = e.State
			p.Unsettled = p.Unsettled && answer.Next != send.Upload
		}
		switch answer.Next {
		case send.Retry:
			p.Failures++
		case send.Upload: // the attempt goes on; others have their turn
			p.Attempts--
			p.Slot = a.slot
		case send.Refused, send.GiveUp, send.Unconfirmed:
			fail(p, answer.Reason)
		}
	})
	out.Write = changed
	if answer.Next == send.Reconnect || answer.Next == send.IdentityOut {
		out.Write = func(tx *store.Tx) error { return errors.Join(a.freeSlot(tx), changed(tx)) }
	}
	if answer.Next == send.IdentityOut {
		out = send.HoldIdentity(out, job, send.Stopped(a.identity, answer.Reason), answer.Reason, a.db.Now())
	}
	return out
}

// failed ends the post.
func failed(job store.Job, why store.Reason) scheduler.Outcome {
	return scheduler.Outcome{Failed: true, Reason: why,
		Write: change(job, func(_ *store.Tx, p *store.Post) { fail(p, why) })}
}

// fail ends the post as failed, or as unknown if some call may have had its effect.
func fail(p *store.Post, why store.Reason) {
	p.Status, p.Reason = store.PostFailed, why
	if p.MayBeOut() {
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
