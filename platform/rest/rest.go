// Package rest makes single calls to the HTTP APIs of networks, and tells a call that was surely not sent from
// one that may have had its effect.
package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"belfry/platform"
)

const (
	dialTimeout = 10 * time.Second
	maxAnswer   = 1 << 20
)

// NewClient returns a client that follows no redirects. It makes a connection for each call: on one that the
// server is just closing a call would be without an answer, and such a call cannot always be repeated.
func NewClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout: dialTimeout, DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Base checks the address of a network and returns it without a slash at its end. What the error says completes a
// sentence that begins with the name of the setting.
func Base(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("is not an http or https address: write it as https://host")
	}
	return strings.TrimSuffix(address, "/"), nil
}

// Answer is what a network has answered, whatever its status.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// OK reports whether the call has succeeded.
func (a Answer) OK() bool { return a.Status >= 200 && a.Status < 300 }

// Decode reads an answer of JSON.
func (a Answer) Decode(to any) error {
	if err := json.Unmarshal(a.Body, to); err != nil {
		return fmt.Errorf("the answer (%d) cannot be read: %w", a.Status, err)
	}
	return nil
}

// Seconds returns a number of a header; 0 if there is none.
func (a Answer) Seconds(header string) int64 {
	n, err := strconv.ParseInt(a.Header.Get(header), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// Do makes a call. Its error is a [*platform.Error]: Transient if nothing was sent, else Unknown.
func Do(client *http.Client, r *http.Request) (Answer, error) {
	var connected atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected.Store(true) }}
	response, err := client.Do(r.WithContext(httptrace.WithClientTrace(r.Context(), trace)))
	if err == nil {
		defer response.Body.Close()
		a := Answer{Status: response.StatusCode, Header: response.Header}
		if a.Body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer)); err == nil {
			return a, nil
		}
	}
	kind := platform.Transient
	if connected.Load() {
		kind = platform.Unknown
	}
	return Answer{}, &platform.Error{Kind: kind, Scope: platform.ScopeIdentity, Err: fmt.Errorf("no answer: %w", platform.WithoutURL(err))}
}

// Harmless reads the answer of [Do] to a call that may be repeated, unless to is nil: that there was no answer is no more
// than that. refused makes an error of an answer that is no success.
func Harmless(a Answer, err error, to any, refused func(Answer) error) error {
	if e, ok := errors.AsType[*platform.Error](err); ok && e.Kind == platform.Unknown {
		e.Kind = platform.Transient
	}
	switch {
	case err != nil:
		return err
	case !a.OK():
		return refused(a)
	case to == nil:
		return nil
	}
	if err := a.Decode(to); err != nil {
		return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Err: err}
	}
	return nil
}
