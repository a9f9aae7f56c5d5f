package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"belfry/platform"
)

// Login reads what an identity logs in with, also as it is stored; what is what that is called. An identity without it
// has to log in.
func Login[T any](keys platform.Keys, identityID uint64, what string) (l T, secret []byte, err error) {
	secret, err = keys.Secret(identityID)
	if err == nil {
		err = json.Unmarshal(secret, &l)
	}
	if err != nil { // it was removed, or sealed with another key
		return l, nil, &platform.Error{Kind: platform.Login, Scope: platform.ScopeIdentity, Err: fmt.Errorf("its %s cannot be read: %w", what, err)}
	}
	return l, secret, nil
}

// SaveLogin replaces what an identity logs in with, and returns how it is stored.
func SaveLogin(keys platform.Keys, identityID uint64, what string, used []byte, l any) (secret []byte, err error) {
	secret, err = json.Marshal(l)
	if err == nil {
		err = keys.SetSecret(identityID, used, secret)
	}
	if err != nil {
		return used, fmt.Errorf("store the %s: %w", what, err)
	}
	return secret, nil
}

// State reads what earlier attempts at a post have left; zero before the first one.
func State[T any](p platform.Post) (st T, err error) {
	if len(p.State) > 0 {
		err = json.Unmarshal(p.State, &st)
	}
	if err != nil {
		return st, &platform.Error{Kind: platform.Unconfirmed, Err: fmt.Errorf("what was done cannot be read: %w", err)}
	}
	return st, nil
}

// UnderWay is the error that keeps the state of a post and goes on after a pause.
func UnderWay(state any, pause time.Duration, said string) error {
	return Keep(&platform.Error{Kind: platform.UnderWay, Scope: platform.ScopeContent, Wait: pause, Err: errors.New(said)}, state)
}

// Keep returns an error that keeps the state of a post.
func Keep(e *platform.Error, state any) error {
	kept, err := json.Marshal(state)
	if err != nil {
		return fmt.Errorf("keep the state: %w", err)
	}
	e.State = kept
	return e
}
