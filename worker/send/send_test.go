package send

import (
	"errors"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
)

func TestWhatFollowsFromEachKindOfError(t *testing.T) {
	now := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	second := Attempts{Failed: 1, Most: 3, Backoff: time.Minute, Unreached: 1}
	for what, c := range map[string]struct {
		e        platform.Error
		attempts Attempts
		next     Next
		code     store.ReasonCode
		from, to time.Duration // of the pause; both 0: it is not tried again
		hold     bool
	}{
		"a flood wait":            {platform.Error{Kind: platform.Wait, Scope: platform.ScopeIdentity, Wait: time.Minute}, second, WaitIdentity, store.ReasonFlood, 61 * time.Second, 61 * time.Second, true},
		"slow mode":               {platform.Error{Kind: platform.Wait, Scope: platform.ScopeChat, Wait: time.Minute}, second, WaitChat, store.ReasonSlowmode, 61 * time.Second, 61 * time.Second, false},
		"a name to look up":       {platform.Error{Kind: platform.Wait, Scope: platform.ScopeChat, Field: "target", Wait: time.Minute}, second, WaitChat, store.ReasonFlood, 61 * time.Second, 61 * time.Second, false},
		"an upload":               {platform.Error{Kind: platform.UnderWay, Wait: time.Second}, second, Upload, store.ReasonUploading, time.Second, time.Second, false},
		"no connection":           {platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity}, Attempts{Failed: 2, Most: 3}, Reconnect, store.ReasonNotConnected, 5 * time.Second, 5 * time.Second, true},
		"no connection for long":  {platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity}, Attempts{Most: 3, Unreached: 5}, Reconnect, store.ReasonNotConnected, 30 * time.Second, 30 * time.Second, true},
		"an outage":               {platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity}, Attempts{Most: 3, Unreached: 200}, Reconnect, store.ReasonNotConnected, 2 * time.Minute, 2 * time.Minute, true},
		"a refusal":               {platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat}, second, Refused, store.ReasonRefused, 0, 0, false},
		"a login that has ended":  {platform.Error{Kind: platform.Login}, second, IdentityOut, store.ReasonLogin, 0, 0, false},
		"a restriction":           {platform.Error{Kind: platform.Stopped}, second, IdentityOut, store.ReasonStopped, 0, 0, false},
		"a failure":               {platform.Error{Kind: platform.Transient, Scope: platform.ScopeChat}, second, Retry, store.ReasonRetry, 96 * time.Second, 144 * time.Second, false},
		"the last failure":        {platform.Error{Kind: platform.Transient, Scope: platform.ScopeChat}, Attempts{Failed: 2, Most: 3}, GiveUp, store.ReasonGaveUp, 0, 0, false},
		"no answer":               {platform.Error{Kind: platform.Unknown}, Attempts{Most: 3, Backoff: time.Minute}, Retry, store.ReasonRetry, UnknownPause, UnknownPause, false},
		"no answer again":         {platform.Error{Kind: platform.Unknown}, second, Retry, store.ReasonRetry, 96 * time.Second, 144 * time.Second, false},
		"no answer, and no key":   {platform.Error{Kind: platform.Unconfirmed}, Attempts{Most: 3}, Unconfirmed, store.ReasonUnknown, 0, 0, false},
		"no answer, and no other": {platform.Error{Kind: platform.Unknown}, Attempts{Failed: 2, Most: 3}, GiveUp, store.ReasonGaveUp, 0, 0, false},
	} {
		c.e.Err = errors.New("words")
		a := To(&c.e, now, c.attempts)
		if a.Next != c.next || a.Reason.Code != c.code || a.Unknown != (c.e.Kind == platform.Unknown || c.e.Kind == platform.Unconfirmed) {
			t.Errorf("%s: %+v", what, a)
		}
		if a.Again.IsZero() != (c.to == 0) || c.to > 0 && (a.Again.Before(now.Add(c.from)) || a.Again.After(now.Add(c.to))) {
			t.Errorf("%s: again at %v", what, a.Again)
		}
		out, again := a.Outcome(), a.Again
		if a.Next == Reconnect {
			again = now
		}
		if out.Failed != (c.to == 0) || !out.Again.Equal(again) || out.Hold.IsZero() == c.hold || out.Reason != a.Reason {
			t.Errorf("%s: %+v", what, out)
		}
	}
}
