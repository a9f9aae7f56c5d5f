package instagram

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"belfry/platform"
	"belfry/platform/rest"
)

const (
	limitPause = time.Hour        // after the account has published enough for a day
	rushPause  = 15 * time.Minute // after too many calls
)

// another is the error after which the post gets another container.
func another(err error) *platform.Error {
	return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, State: []byte{}, Err: err}
}

// refused makes an error of an answer that is no success. That the token has ended is recorded.
func (s session) refused(a rest.Answer) error {
	e := sort(a)
	if e.Kind == platform.Login && s.identity != 0 {
		return errors.Join(e, s.network.cfg.Keys.LoggedOut(s.identity, s.login.stored, e.Error()))
	}
	return e
}

// sort makes an error of an answer that is no success, for a call that had no effect.
func sort(a rest.Answer) *platform.Error {
	var said struct {
		Error struct {
			Message   string
			User      string `json:"error_user_msg"`
			Code      int
			Subcode   int  `json:"error_subcode"`
			Transient bool `json:"is_transient"`
		}
	}
	_ = a.Decode(&said) // a gateway answers with anything
	words := said.Error.Message
	if said.Error.User != "" {
		words = said.Error.User
	}
	if words == "" {
		words = http.StatusText(a.Status)
	}
	e := sorted(said.Error.Code, said.Error.Subcode, errors.New(words))
	e.Code = fmt.Sprint(a.Status)
	if said.Error.Code != 0 {
		e.Code = fmt.Sprintf("%d/%d", said.Error.Code, said.Error.Subcode)
	}
	if e.Kind != platform.Refused {
		return e
	}
	switch {
	case a.Status == http.StatusTooManyRequests:
		e.Kind, e.Scope, e.Wait = platform.Wait, platform.ScopeIdentity, rushPause
	case said.Error.Transient, a.Status >= http.StatusInternalServerError:
		e.Kind = platform.Transient
	}
	return e
}

// sorted sorts an error by its code and subcode: what is not known is refused.
func sorted(code, subcode int, err error) *platform.Error {
	e := &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Err: err}
	switch subcode {
	case 2207003, 2207001, 2207027, 2207052: // fetching took too long, or its own mistake, or not ready, or not fetched
		e.Kind = platform.Transient
	case 2207020, 2207032, 2207053, 2207008: // the container has expired or is broken
		return another(err)
	case 2207042:
		e.Kind, e.Scope, e.Wait = platform.Wait, platform.ScopeIdentity, limitPause
	case 2207051, 2207050:
		e.Kind, e.Scope = platform.Stopped, platform.ScopeIdentity
	case 2207004, 2207009: // too large; its shape
		e.Field = "media"
	case 2207010:
		e.Field = "text"
	case 2207005, 2207023, 2207026, 2207028: // format, type, format of a video, number
	default:
		switch code {
		case 190:
			e.Kind, e.Scope = platform.Login, platform.ScopeIdentity
		case 10, 200: // it may not publish
			e.Kind, e.Scope = platform.Login, platform.ScopeIdentity
		case 4, 17, 32, 613:
			e.Kind, e.Scope, e.Wait = platform.Wait, platform.ScopeIdentity, rushPause
		case 1, 2:
			e.Kind = platform.Transient
		}
	}
	return e
}
