package x

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/dghubble/oauth1"

	"belfry/platform"
	"belfry/platform/rest"
)

// session makes the calls of an identity.
type session struct {
	network  *Network
	identity uint64
	login    Login
}

func (n *Network) session(identityID uint64) (*session, error) {
	l, err := n.login(identityID)
	return &session{n, identityID, l}, err
}

// request is a call. Its body can be sent again.
type request struct {
	method, path, mime string
	query              url.Values
	body               []byte
}

// call makes a call and returns the answer, whatever its status. An access that has ended is refreshed, once.
func (s *session) call(ctx context.Context, r request) (rest.Answer, error) {
	if s.login.Refresh != "" && !s.network.cfg.Now().Before(s.login.Expires) {
		if err := s.network.refresh(ctx, s.identity, &s.login); err != nil {
			return rest.Answer{}, err
		}
	}
	a, err := s.send(ctx, r)
	if err == nil && a.Status == http.StatusUnauthorized && s.login.Refresh != "" {
		if err := s.network.refresh(ctx, s.identity, &s.login); err != nil {
			return a, err
		}
		a, err = s.send(ctx, r)
	}
	if err == nil && a.Status == http.StatusUnauthorized {
		return a, s.doubted(ctx, a)
	}
	return a, err
}

// doubted makes an error of a 401. X gives one now and then to good keys: they have ended if it refuses them a moment
// later, too.
func (s *session) doubted(ctx context.Context, a rest.Answer) error {
	e := s.sort(a)
	if s.identity == 0 { // its keys are tried out
		return e
	}
	select {
	case <-ctx.Done():
	case <-time.After(doubtPause):
	}
	again, err := s.send(ctx, request{method: http.MethodGet, path: "/2/users/me"})
	if err != nil || again.Status != http.StatusUnauthorized {
		e.Kind, e.Scope = platform.Transient, platform.ScopeContent
		return e
	}
	return errors.Join(e, s.network.cfg.Keys.LoggedOut(s.identity, s.login.stored, e.Error()))
}

func (s *session) send(ctx context.Context, r request) (rest.Answer, error) {
	address := s.network.api + r.path
	if len(r.query) > 0 {
		address += "?" + r.query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, r.method, address, bytes.NewReader(r.body))
	if err != nil {
		return rest.Answer{}, fmt.Errorf("call X: %w", err)
	}
	request.Header.Set("User-Agent", "Belfry")
	if r.mime != "" {
		request.Header.Set("Content-Type", r.mime)
	}
	client := s.network.http
	if l := s.login; l.ConsumerKey != "" {
		with := context.WithValue(ctx, oauth1.HTTPClient, client)
		client = oauth1.NewConfig(l.ConsumerKey, l.ConsumerSecret).Client(with, oauth1.NewToken(l.AccessToken, l.AccessSecret))
	} else if l.Access == "" {
		return rest.Answer{}, loggedOut(errors.New("it has not logged in yet"))
	} else {
		request.Header.Set("Authorization", "Bearer "+l.Access)
	}
	return rest.Do(client, request)
}

// get reads something.
func (s *session) get(ctx context.Context, path string, query url.Values, to any) error {
	return s.harmless(ctx, request{method: http.MethodGet, path: path, query: query}, to)
}

// harmless makes a call that may be repeated, and reads its answer unless to is nil.
func (s *session) harmless(ctx context.Context, r request, to any) error {
	a, err := s.call(ctx, r)
	return rest.Harmless(a, err, to, func(a rest.Answer) error { return s.sort(a) })
}

const (
	doubtPause = time.Second
	limitPause = 15 * time.Minute // where X does not say when its limit is over
	// What it says is bounded: a clock may be wrong.
	shortestLimit, longestLimit = time.Minute, 24 * time.Hour

	duplicate   = "duplicate"
	usageCapped = "usage-capped"
)

// sort makes an error of an answer that is no success, for a call that had no effect.
func (s *session) sort(a rest.Answer) *platform.Error {
	var said struct {
		Title, Detail, Type string
		Errors              []struct{ Message, Detail string }
	}
	_ = a.Decode(&said) // a gateway answers with anything
	words := strings.TrimSpace(said.Detail)
	for _, e := range said.Errors {
		words = strings.TrimSpace(words + " " + e.Detail + e.Message)
	}
	if words == "" {
		words = said.Title
	}
	if words == "" {
		words = http.StatusText(a.Status)
	}
	e := &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Code: fmt.Sprint(a.Status), Err: errors.New(words)}
	all := strings.ToLower(words + " " + said.Title + " " + said.Type)
	switch {
	case a.Status == http.StatusUnauthorized:
		e.Kind, e.Scope = platform.Login, platform.ScopeIdentity
	case strings.Contains(all, usageCapped): // until the next period is paid for
		e.Kind, e.Scope, e.Code = platform.Stopped, platform.ScopeIdentity, usageCapped
	case a.Status == http.StatusPaymentRequired: // until credits are bought
		e.Kind, e.Scope = platform.Stopped, platform.ScopeIdentity
	case a.Status == http.StatusTooManyRequests:
		e.Kind, e.Scope, e.Wait = platform.Wait, platform.ScopeIdentity, limitPause
		if reset := a.Seconds("x-rate-limit-reset"); reset > 0 {
			now, err := http.ParseTime(a.Header.Get("Date")) // by X's clock, as its reset
			if err != nil {
				now = s.network.cfg.Now()
			}
			e.Wait = min(max(time.Unix(reset, 0).Sub(now), shortestLimit), longestLimit)
		}
	case a.Status == http.StatusForbidden && strings.Contains(all, duplicate):
		e.Code = duplicate
	case a.Status == http.StatusForbidden && (strings.Contains(all, "suspended") || strings.Contains(all, "locked")):
		e.Kind, e.Scope = platform.Stopped, platform.ScopeIdentity
	case a.Status >= http.StatusInternalServerError:
		e.Kind = platform.Transient
	}
	return e
}
