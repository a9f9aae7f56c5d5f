package platform

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Kind sorts what can go wrong by what has to be done about it.
type Kind string

// The kinds of error.
const (
	// Wait: the network names a time to wait. Scope says who waits.
	Wait Kind = "wait"
	// Transient: the call surely had no effect, and trying again later may work.
	Transient Kind = "transient"
	// UnderWay: the media are being uploaded or prepared, and nothing is out yet. The post is sent when it is
	// asked for again, after the wait that is named, and the media are there.
	UnderWay Kind = "under_way"
	// Refused: the network will not do it, now or later. Scope says whether the content, the chat or
	// what this chat thinks of the identity is the reason; without one the network did not say.
	Refused Kind = "refused"
	// Stopped: the network has restricted the identity; whatever it tries makes matters worse.
	Stopped Kind = "stopped"
	// Login: the identity is logged out and somebody has to log it in again.
	Login Kind = "login"
	// Unknown: the call may or may not have had its effect. A repetition with the same key is
	// safe where the network recognises keys, and nowhere else.
	Unknown Kind = "unknown"
	// Unconfirmed: as Unknown, and the network recognises no repetition: only a person may send it again.
	Unconfirmed Kind = "unconfirmed"
)

// Scope says what an error is about.
type Scope string

// The scopes of an error.
const (
	ScopeContent  Scope = "content"  // this text or these media
	ScopeChat     Scope = "chat"     // this chat, whatever the content
	ScopeIdentity Scope = "identity" // the login, whatever the chat
)

// Error is what an adapter returns.
type Error struct {
	Kind  Kind
	Scope Scope
	Code  string        // the network's own name for it, such as FLOOD_WAIT; empty if it has none
	Wait  time.Duration // with Kind Wait and UnderWay: how long, from now
	Field string        // the part of the post that it is about, such as text, target or media[2].url
	// MayBeOut says that a call before the one that was answered so may have had its effect.
	MayBeOut bool
	// State, unless it is nil, is what the next attempt finds in [Post.State], also in a later process. With
	// UnderWay it says besides that nothing of the post is out, whatever became of earlier attempts.
	State []byte
	Err   error // what happened, in words
}

func (e *Error) Error() string {
	if e.Code != "" {
		return fmt.Sprintf("%s: %v", e.Code, e.Err)
	}
	return e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// AsError returns err as an [*Error]; an error of any other type is Unknown, because nothing is
// known about what it left behind.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Kind: Unknown, Scope: ScopeIdentity, Err: err}
}

// WithoutURL takes the address, which may hold a secret, out of an error of net/http.
func WithoutURL(err error) error {
	if of, ok := errors.AsType[*url.Error](err); ok {
		return of.Err
	}
	return err
}
