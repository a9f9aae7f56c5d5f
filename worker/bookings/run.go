package bookings

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/send"
)

// sender is a run: a message to the client of a booking.
type sender struct {
	*Worker
	asks bool // it is the feedback question, and no reminder

	message   store.BookingMessage
	post      platform.Post
	client    int64
	identity  store.Identity
	unreached int // attempts in a row, of any message of the bot, that have found no connection
	drops     map[int64]store.Reason
}

// Begin decides in the claim's transaction which message is to be sent now: of several reminders that are due the last one.
func (s sender) Begin(tx *store.Tx, job store.Job) (scheduler.Worker, error) {
	if job.Subject == 0 {
		return digest{s.Worker}, nil
	}
	b, err := tx.Bookings.Get(job.Subject)
	if errors.Is(err, store.ErrNotFound) {
		return send.Ended{Write: func(tx *store.Tx) error { return scheduler.Delete(tx, job.Name) }}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("begin to write to the client of booking %d: %w", job.Subject, err)
	}
	s.drops = make(map[int64]store.Reason)
	m := s.due(b, tx.Now(), job.Requested)
	if m == nil {
		return send.Ended{Write: s.change(job, nil)}, nil
	}
	s.message = *m
	until, why, err := s.quiet(tx, b, job)
	if err != nil {
		return nil, err
	}
	known, reachable := peer(tx, b)
	switch {
	case !until.IsZero():
		return send.Ended{Again: until, WallClock: true, Reason: why, Write: s.change(job, func(m *store.BookingMessage) { m.Reason = why })}, nil
	case !why.Zero():
		return s.drop(job, why), nil
	case !reachable:
		return s.drop(job, store.Reason{Code: store.ReasonNoChat}), nil
	}
	if s.identity, err = tx.Identities.Get(b.IdentityID); err != nil { // one that bookings need is not removed
		return nil, fmt.Errorf("begin to write to the client of booking %d: %w", job.Subject, err)
	}
	if why, may := send.MayAct(s.identity); !may {
		out := scheduler.Outcome{Write: s.change(job, func(m *store.BookingMessage) { m.Reason = why })}
		return send.Ended(send.HoldIdentity(out, job, s.identity, why, tx.Now())), nil
	}
	settings, err := s.Settings(tx)
	if err != nil {
		return nil, err
	}
	s.client, s.unreached = known.PeerID, send.Unreached(tx, job.Lane)
	s.post = platform.Post{Key: m.Key, Target: strconv.FormatInt(known.PeerID, 10), Format: platform.Plain, NoLinkPreview: true}
	say := s.printer(b)
	if s.asks {
		s.post.Text, s.post.Buttons = fill(say, settings.template(say, KindFeedback), b), feedbackButtons(b)
	} else {
		s.post.Text, s.post.Buttons = fill(say, settings.template(say, KindReminder), b), reminderButtons(say, b)
	}
	return s, nil
}

// due returns the message to send now, and notes those before it that are not sent. A run that was asked for sends the
// next one.
func (s sender) due(b store.Booking, now time.Time, asked bool) (m *store.BookingMessage) {
	if s.asks {
		if b.Status.Final() || b.Feedback.State != store.MessageWaiting {
			return nil
		}
		return &b.Feedback.BookingMessage
	}
	for i := range b.Reminders {
		r := &b.Reminders[i].BookingMessage
		switch {
		case r.State != store.MessageWaiting || b.Status.Final():
		case !b.Start.After(now):
			s.drops[r.Key] = store.Reason{Code: store.ReasonStarted}
		case !r.At.After(now) || asked && m == nil:
			if m != nil {
				s.drops[m.Key] = store.Reason{Code: store.ReasonLaterOne}
			}
			m = r
		}
	}
	return m
}

// quiet returns until when a message waits because of quiet hours, or why it is dropped. What a person has asked for is
// sent at any time.
func (s sender) quiet(tx *store.Tx, b store.Booking, job store.Job) (until time.Time, why store.Reason, err error) {
	settings, err := s.Settings(tx)
	if err != nil || job.Requested {
		return until, why, err
	}
	_, end, in := quietSpan(settings.QuietFrom, settings.QuietTo, s.printer(b).Zone, tx.Now())
	switch {
	case !in:
		return until, why, nil
	case s.asks || end.Before(b.Start):
		return end, store.Reason{Code: store.ReasonQuiet, Until: end}, nil
	}
	return until, store.Reason{Code: store.ReasonQuiet}, nil
}

// drop ends the message without sending it.
func (s sender) drop(job store.Job, why store.Reason) send.Ended {
	return send.Ended{Reason: why, Write: s.change(job, func(m *store.BookingMessage) { m.State, m.Reason = store.MessageDropped, why })}
}

// Run sends the message.
func (s sender) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	receipt, err := s.as(s.identity.ID).Publish(ctx, s.post)
	if err != nil {
		return s.answered(job, platform.AsError(err)), nil
	}
	return scheduler.Outcome{Write: s.change(job, func(m *store.BookingMessage) {
		m.State, m.Reason, m.SentAt = store.MessageSent, store.Reason{}, s.db.Now()
		if len(receipt.MessageIDs) > 0 {
			m.MessageID = receipt.MessageIDs[0]
		}
	})}, nil
}

// answered ends a run to which the network has answered with an error.
func (s sender) answered(job store.Job, e *platform.Error) scheduler.Outcome {
	answer := send.To(e, s.db.Now(), send.Attempts{Failed: s.message.Failures, Most: attempts, Backoff: backoff, Unreached: s.unreached})
	out := answer.Outcome()
	out.Err = e
	changed := s.change(job, func(m *store.BookingMessage) {
		m.Reason = answer.Reason
		switch answer.Next {
		case send.Retry:
			m.Failures++
		case send.Refused, send.GiveUp:
			m.State = store.MessageFailed
		}
	})
	out.Write = changed
	switch answer.Next {
	case send.IdentityOut:
		return send.HoldIdentity(out, job, send.Stopped(s.identity, answer.Reason), answer.Reason, s.db.Now())
	case send.Refused, send.GiveUp:
		out.Write = func(tx *store.Tx) error { return errors.Join(changed(tx), failed(tx, job, answer.Reason)) }
	}
	return out
}

// failed raises the alert about a message that a client does not get.
func failed(tx *store.Tx, job store.Job, why store.Reason) error {
	b, err := tx.Bookings.Get(job.Subject)
	if err != nil {
		return err
	}
	return tx.Alerts.Raise(store.Alert{Kind: store.AlertBooking, About: job.Name, Subject: b.ID, Name: b.Client + ", " + b.Service, Reason: why})
}

// change writes what has become of the message, if the booking still has it, and of those that are not sent. When none is
// left, the job ends, and after the question the booking is done.
func (s sender) change(job store.Job, fn func(*store.BookingMessage)) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		b, err := tx.Bookings.Get(job.Subject)
		if err != nil {
			return err
		}
		waiting := false
		for i := range b.Reminders {
			m := &b.Reminders[i].BookingMessage
			if why, dropped := s.drops[m.Key]; dropped && m.State == store.MessageWaiting {
				m.State, m.Reason = store.MessageDropped, why
			}
			if fn != nil && m.Key == s.message.Key {
				fn(m)
			}
			waiting = waiting || m.State == store.MessageWaiting
		}
		if f := &b.Feedback.BookingMessage; fn != nil && f.Key == s.message.Key {
			fn(f)
		}
		if s.client != 0 {
			b.ClientID = s.client
		}
		b.UpdatedAt = tx.Now()
		if s.asks && b.Feedback.State != store.MessageWaiting && !b.Status.Final() {
			b.Status = store.BookingDone
			return end(tx, &b, store.Reason{Code: store.ReasonStarted})
		}
		if err := tx.Bookings.Put(&b); err != nil || s.asks || waiting {
			return err
		}
		return scheduler.Delete(tx, b.ReminderName())
	}
}

// End is called when the scheduler gives the job of a question up.
func (s sender) End(tx *store.Tx, job store.Job, why store.Reason) error {
	b, err := tx.Bookings.Get(job.Subject)
	if err != nil || b.Status.Final() {
		return err
	}
	if b.Feedback.State == store.MessageWaiting {
		b.Feedback.State, b.Feedback.Reason = store.MessageFailed, why
	}
	b.Status = store.BookingDone
	return errors.Join(end(tx, &b, why), failed(tx, job, why))
}
