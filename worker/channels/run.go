package channels

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

// soon is the pause before what could not be read is asked for again in another way.
const soon = time.Second

// method is what a network lets an account call only so often: each has its own wait.
type method string

const (
	ofHistory    method = "history"
	ofMessages   method = "messages"
	ofDifference method = "difference"
	ofNames      method = "names"
)

// hold is the name of the hold of a method in the lane of an account's reads.
func (m method) hold(lane string) string { return lane + "/" + string(m) }

// reading is one run of a channel's job.
type reading struct {
	*Worker
	job      store.Job
	channel  store.Channel
	identity store.Identity
	held     map[method]store.Reason // those that may not be called yet
}

// found is what a read has brought. settle says where reading goes on.
type found struct {
	chat     platform.Chat
	messages []platform.Message
	deleted  []int
	why      string // messages that are new are told as this
	more     bool   // the next read follows at once
	settle   func(c *store.Channel, now time.Time)
}

// step is one read by a method.
type step struct {
	method method
	read   func(context.Context) (found, error)
}

// Run makes one read of a channel.
func (w *Worker) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	r := &reading{Worker: w, job: job, held: make(map[method]store.Reason)}
	err := w.db.View(func(tx *store.Tx) (err error) {
		if r.channel, err = tx.Channels.Get(job.Subject); err != nil || r.channel.Removed {
			return err
		}
		if r.identity, err = tx.Identities.Get(r.channel.IdentityID); errors.Is(err, store.ErrNotFound) {
			r.identity, err = store.Identity{}, nil
		}
		for _, m := range []method{ofHistory, ofMessages, ofDifference, ofNames} {
			if until, why := tx.Holds.Until(m.hold(r.identity.ReadLane())); until.After(tx.Now()) && until.Sub(tx.Now()) < maxFlood {
				r.held[m] = why
			}
		}
		return err
	})
	switch {
	case errors.Is(err, store.ErrNotFound):
		return scheduler.Outcome{Write: func(tx *store.Tx) error { return scheduler.Delete(tx, job.Name) }}, nil
	case err != nil:
		return scheduler.Outcome{}, fmt.Errorf("read channel %d: %w", job.Subject, err)
	case r.channel.Removed:
		return w.clean(r.channel), nil
	case r.identity.ID == 0:
		return r.failed(store.Reason{Code: store.ReasonIdentityGone}, errIdentityGone, refusedPause, nil), nil
	}
	if why, may := send.MayAct(r.identity); !may {
		return send.HoldIdentity(scheduler.Outcome{}, job, r.identity, why, w.db.Now()), nil
	}
	next, wait := r.choose()
	if next.read == nil {
		return scheduler.Outcome{Again: wait.Until, Reason: wait}, nil
	}
	f, err := next.read(ctx)
	if err != nil {
		return r.answer(next, err), nil
	}
	photos, err := r.photos(ctx, f.messages)
	if err != nil {
		return r.answer(next, err), nil
	}
	out := scheduler.Outcome{Write: func(tx *store.Tx) error { return r.write(tx, next, f, photos) }}
	if f.more {
		out.Again, out.Step = w.db.Now(), true
	}
	return out, nil
}

var errIdentityGone = errors.New("the account that reads the channel was removed")

// maxFlood bounds what a network may ask to wait.
const maxFlood = 7 * 24 * time.Hour

// choose returns the read that is next; without one, until when and why it has to wait. What may not be called at the
// moment is put off, and new messages are looked for in another way if there is one.
func (r *reading) choose() (step, store.Reason) {
	p := r.channel.Place
	free := func(m method) bool { _, held := r.held[m]; return !held }
	switch {
	case p.Unmet && !free(ofNames):
		return step{}, r.held[ofNames]
	case p.Unmet:
		return step{ofNames, r.meet}, store.Reason{}
	case p.Pts == 0 && !free(ofHistory):
		return step{}, r.held[ofHistory]
	case p.Pts == 0 && !p.Begun:
		return step{ofHistory, r.begin}, store.Reason{}
	case p.Pts == 0:
		return step{ofHistory, r.page}, store.Reason{}
	case p.Again > 0 && free(ofMessages) && (r.channel.Failures <= 1 || !free(ofDifference)): // else new messages come first
		return step{ofMessages, r.again}, store.Reason{}
	case p.Counts > 0 && free(ofMessages) && r.channel.Failures <= 1:
		return step{ofMessages, r.counts}, store.Reason{}
	case free(ofDifference):
		return step{ofDifference, r.difference}, store.Reason{}
	case free(ofHistory): // it shows new messages, too
		return step{ofHistory, r.after}, store.Reason{}
	}
	wait := r.held[ofDifference]
	if h := r.held[ofHistory]; h.Until.Before(wait.Until) {
		wait = h
	}
	return step{}, wait
}

// write commits what a read has brought, with where reading goes on. A channel that was removed meanwhile takes nothing.
func (r *reading) write(tx *store.Tx, next step, f found, photos map[int][]byte) error {
	c, err := tx.Channels.Get(r.channel.ID)
	if errors.Is(err, store.ErrNotFound) || err == nil && c.Removed {
		return nil
	}
	if err != nil {
		return err
	}
	for _, m := range f.messages {
		if err := put(tx, &c, m, f.why, photos[m.ID]); err != nil {
			return fmt.Errorf("write message %d of channel %d: %w", m.ID, c.ID, err)
		}
	}
	for _, id := range f.deleted {
		if err := remove(tx, c, id); err != nil {
			return fmt.Errorf("write that message %d of channel %d is deleted: %w", id, c.ID, err)
		}
	}
	f.settle(&c, tx.Now())
	if f.chat.ID == c.PeerID {
		c.Username, c.Title = f.chat.Username, f.chat.Title
	}
	if next.method != ofDifference {
		if c.Place.Page *= 2; c.Place.Page >= pageSize {
			c.Place.Page = 0
		}
	}
	c.LastParsedAt = tx.Now()
	c.Failures, c.FailedSince, c.LastError = 0, time.Time{}, store.Reason{}
	return tx.Channels.Put(&c)
}

// answer returns what follows from an error of the network.
func (r *reading) answer(s step, err error) scheduler.Outcome {
	e, now := platform.AsError(err), r.db.Now()
	lane := r.identity.ReadLane()
	var unreached int
	if e.Kind == platform.Transient && e.Scope == platform.ScopeIdentity {
		_ = r.db.View(func(tx *store.Tx) error { unreached = send.Unreached(tx, lane); return nil }) // else none
	}
	answer := send.To(e, now, send.Attempts{Most: 1, Unreached: unreached})
	switch {
	case answer.Next == send.WaitIdentity || answer.Next == send.WaitChat: // of this method; perhaps another one will do
		until := worker.Earlier(answer.Again, now.Add(maxFlood-time.Second)) // a longer one is not believed
		return scheduler.Outcome{Again: now, Reason: answer.Reason, Err: e, Write: func(tx *store.Tx) error {
			return tx.Holds.Extend(s.method.hold(lane), until, store.Reason{Code: store.ReasonFlood, Until: until})
		}}
	case answer.Next == send.IdentityOut:
		out := scheduler.Outcome{Failed: true, Err: e}
		return send.HoldIdentity(out, r.job, send.Stopped(r.identity, answer.Reason), answer.Reason, now)
	case answer.Next == send.Reconnect && !errors.Is(err, context.DeadlineExceeded):
		out := answer.Outcome()
		out.Err = e
		return out
	}
	why := store.Reason{Code: store.ReasonError, Detail: e.Error()}
	switch {
	case e.Code == platform.CodeUnmet && !r.channel.Place.Unmet: // such as with another session
		why.Code = store.ReasonRefused
		return r.failed(why, e, refusedPause, func(c *store.Channel) { c.Place.Unmet = true })
	case e.Kind == platform.Refused:
		why.Code = store.ReasonRefused
		return r.failed(why, e, refusedPause, nil)
	case e.Code == platform.CodeMalformed:
		return r.failed(why, e, longestPause, r.narrow(s))
	}
	return r.failed(why, e, longestPause, nil)
}

// failed ends a read that failed for a reason of the channel's own. It is made again after a pause that grows with each
// failure up to most, or soon if there is another way, which narrow notes.
func (r *reading) failed(why store.Reason, err error, most time.Duration, narrow func(*store.Channel)) scheduler.Outcome {
	failures := r.channel.Failures + 1
	if narrow != nil {
		failures = max(r.channel.Failures, 1)
	}
	pause := min(r.channel.Interval<<min(failures-1, 12), max(most, r.channel.Interval))
	pause = scheduler.Retry{Backoff: pause, Jitter: send.Jitter}.Delay(1)
	if narrow != nil {
		pause = soon
	}
	again := r.db.Now().Add(pause)
	return scheduler.Outcome{Again: again, Reason: why, Err: err, Write: func(tx *store.Tx) error {
		c, err := tx.Channels.Get(r.channel.ID)
		if errors.Is(err, store.ErrNotFound) || err == nil && c.Removed {
			return nil
		}
		if err != nil {
			return err
		}
		if narrow != nil {
			narrow(&c)
		}
		if c.Failures, c.LastError = failures, why; c.FailedSince.IsZero() {
			c.FailedSince = tx.Now()
		}
		return tx.Channels.Put(&c)
	}}
}

// narrow returns how to go on after an answer that could not be read: history in the place of the difference, and of
// history and known messages ever fewer at once, until it is known which one it is. nil: there is no other way.
func (r *reading) narrow(s step) func(*store.Channel) {
	if s.method == ofDifference {
		return readAgain
	}
	if size := r.size(); size > 1 {
		return func(c *store.Channel) { c.Place.Page = size / 2 }
	}
	return nil
}
