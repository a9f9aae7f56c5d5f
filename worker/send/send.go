// Package send turns what a network answers into what follows from it, in the same way for everything that is
// sent: whether and when it is tried again, who waits meanwhile, and why. What becomes of its record is the
// worker's.
package send

import (
	"cmp"
	"errors"
	"reflect"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

const (
	// UnknownPause is the pause before a call that was not answered is repeated for the first time. The
	// repetition is harmless, and its answer settles what happened.
	UnknownPause = 2 * time.Second
	// connectPause is the first pause before the connection is tried again. With each attempt in vain it is longer by as
	// much, up to longestConnectPause after 25 minutes: each attempt is two commits and a run of the history, of which an
	// outage of days would leave nothing else.
	connectPause        = 5 * time.Second
	longestConnectPause = 2 * time.Minute
	// inRow is how soon after such a pause an attempt counts as the next one in a row.
	inRow = time.Minute
	// loginPause is how often an identity that cannot act is looked at, besides at once after each change of it: the
	// settings may name another one by then.
	loginPause = 5 * time.Minute
	// Jitter varies the pauses.
	Jitter = 0.2
)

// Next says what follows from an error.
type Next string

// What may follow from an error.
const (
	Retry        Next = "retry"         // a failure of what was sent; it is tried again after a pause
	GiveUp       Next = "give_up"       // the same, and it was the last attempt
	Refused      Next = "refused"       // no attempt would succeed
	Unconfirmed  Next = "unconfirmed"   // it may be out, and may not be tried again
	WaitChat     Next = "wait_chat"     // the chat takes nothing before a time
	WaitIdentity Next = "wait_identity" // the identity may send nothing before a time
	Reconnect    Next = "reconnect"     // there is no connection; nothing was sent
	Upload       Next = "upload"        // the media are being uploaded; nothing was sent, and the attempt goes on
	IdentityOut  Next = "identity_out"  // the identity is logged out or restricted
)

// Attempts says how often something was tried, and how often it may be.
type Attempts struct {
	Failed    int           // before this attempt
	Most      int           // failures that it may have
	Backoff   time.Duration // the pause after the first failure; after the second it is twice that, and so on
	Unreached int           // attempts in a row without a connection, before this one
}

// Answer is what follows from an error of a network.
type Answer struct {
	Next   Next
	Reason store.Reason
	Again  time.Time // when it is tried again; zero after Refused, GiveUp, Unconfirmed and IdentityOut
	now    time.Time // when the error came
	// Unknown says that the call may have had its effect.
	Unknown bool
}

// To returns what follows from an error, at the given time.
func To(e *platform.Error, now time.Time, a Attempts) Answer {
	answer := Answer{now: now, Reason: store.Reason{Detail: e.Error()}, Unknown: e.MayBeOut || e.Kind == platform.Unknown || e.Kind == platform.Unconfirmed}
	in := func(next Next, pause time.Duration) Answer {
		answer.Next, answer.Again = next, now.Add(pause)
		return answer
	}
	switch {
	case e.Kind == platform.Refused:
		answer.Next, answer.Reason.Code = Refused, store.ReasonRefused
		return answer
	case e.Kind == platform.Unconfirmed:
		answer.Next, answer.Reason.Code = Unconfirmed, store.ReasonUnknown
		return answer
	case e.Kind == platform.Login || e.Kind == platform.Stopped:
		answer.Next, answer.Reason.Code = IdentityOut, store.ReasonLogin
		if e.Kind == platform.Stopped {
			answer.Reason.Code = store.ReasonStopped
		}
		return answer
	case e.Kind == platform.Wait:
		answer = in(WaitIdentity, e.Wait+time.Second)
		answer.Reason = store.Reason{Code: store.ReasonFlood, Until: answer.Again}
		if e.Scope == platform.ScopeChat {
			answer.Next = WaitChat
			if e.Field == "" {
				answer.Reason.Code = store.ReasonSlowmode
			}
		}
		return answer
	case e.Kind == platform.UnderWay:
		answer.Reason.Code = store.ReasonUploading
		return in(Upload, e.Wait)
	case e.Kind == platform.Transient && e.Scope == platform.ScopeIdentity:
		answer.Reason.Code, answer.Reason.N = store.ReasonNotConnected, a.Unreached+1
		return in(Reconnect, min(connectPause*time.Duration(a.Unreached+1), longestConnectPause))
	}
	failed := a.Failed + 1
	answer.Reason.N, answer.Reason.Of = failed, a.Most
	if failed >= a.Most {
		answer.Next, answer.Reason.Code = GiveUp, store.ReasonGaveUp
		return answer
	}
	pause := scheduler.Retry{Backoff: a.Backoff, Jitter: Jitter}.Delay(failed)
	if answer.Unknown && failed == 1 {
		pause = max(UnknownPause, e.Wait)
	}
	answer.Reason.Code = store.ReasonRetry
	return in(Retry, pause)
}

// Outcome returns how a run ends with the answer. What it writes is added by the worker.
func (a Answer) Outcome() scheduler.Outcome {
	out := scheduler.Outcome{Again: a.Again, Reason: a.Reason, Step: a.Next == Upload, Failed: a.Again.IsZero()}
	if a.Next == WaitIdentity || a.Next == Reconnect { // it is the same for all that the identity sends
		out.Hold = a.Again
	}
	if a.Next == Reconnect { // [store.Holds.End] may end the hold before
		out.Again = a.now
	}
	return out
}

// Unreached returns how many attempts of a lane in a row have found no connection, which the hold after the last
// one says: however many jobs the lane has, they are tried less and less often together.
func Unreached(tx *store.Tx, lane string) int {
	until, why := tx.Holds.Until(lane)
	if why.Code != store.ReasonNotConnected || tx.Now().Sub(until) > inRow {
		return 0
	}
	return why.N
}

// MayAct reports whether an identity can act, and if not, why.
func MayAct(identity store.Identity) (why store.Reason, may bool) {
	if identity.State != store.IdentityLogin && identity.State != store.IdentityStopped {
		return store.Reason{}, true
	}
	return cmp.Or(identity.Reason, store.Reason{Code: store.ReasonLogin}), false
}

// Stopped returns an identity as a network's error leaves it. That a login has ended its adapter records; that
// it is restricted only shows in the calls.
func Stopped(identity store.Identity, why store.Reason) store.Identity {
	if why.Code == store.ReasonStopped {
		identity.State, identity.Reason = store.IdentityStopped, why
	}
	return identity
}

// HoldIdentity adds to an outcome that everything of an identity waits, without asking the network, until the
// identity can act again: then [store.Identities.Put] ends the hold. The identity is written as it is given.
// If it was changed since it was read, the next run looks at once.
func HoldIdentity(out scheduler.Outcome, job store.Job, identity store.Identity, why store.Reason, now time.Time) scheduler.Outcome {
	write := out.Write
	out.Again, out.Reason = now, why
	out.Write = func(tx *store.Tx) error {
		if write != nil {
			if err := write(tx); err != nil {
				return err
			}
		}
		stored, err := tx.Identities.Get(identity.ID)
		if errors.Is(err, store.ErrNotFound) || (err == nil && !stored.UpdatedAt.Equal(identity.UpdatedAt)) {
			return nil
		}
		if err == nil && !reflect.DeepEqual(stored, identity) {
			changed := identity
			changed.UpdatedAt = tx.Now()
			err = tx.Identities.Put(&changed)
		}
		return errors.Join(err, tx.Holds.Await(identity.ID, job.Lane, tx.Now().Add(loginPause), why))
	}
	return out
}

// Conflict is what people are told of a network's error that nothing they entered is the cause of. That it helps to try
// again in a moment is said only where the network did not answer.
func Conflict(err error) error {
	e := platform.AsError(err)
	if e.Kind == platform.Transient || e.Kind == platform.Unknown {
		return store.Conflict("conflict.network", store.Detail(e.Error()))
	}
	return store.Conflict("conflict.network_says", store.Detail(e.Error()))
}

// Media returns media as a network takes them.
func Media(stored []store.Media) []platform.Media {
	media := make([]platform.Media, len(stored))
	for i, m := range stored {
		media[i] = platform.Media{Kind: platform.MediaKind(m.Kind), ID: m.ID, File: m.File, URL: m.URL, Name: m.Name}
	}
	return media
}
