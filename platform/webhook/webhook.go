// Package webhook tells a program of the owner's over HTTP: with a POST that carries JSON, or a GET
// that says no more than that Belfry is alive. A POST has the headers of the Standard Webhooks specification.
package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"belfry/platform"
	"belfry/platform/fetch"
)

// Hook is an address that is called. It may be used by several goroutines.
type Hook struct {
	address string
	key     []byte // signs; empty: nothing is signed
	timeout time.Duration
	http    *http.Client
}

// Timeout is how long a call may take unless a hook says otherwise.
const Timeout = 15 * time.Second

const (
	restTimeout = time.Second // for what an answer has behind its status
	defaultWait = time.Minute // where an answer asks to wait and does not say how long
	maxWait     = time.Hour
)

// With is how a hook is called. The zero value is good.
type With struct {
	Secret    string            // signs each call, see [NewSecret]; empty: none is signed
	Transport http.RoundTripper // nil: one of its own, for an address of the settings
	Timeout   time.Duration     // 0 means [Timeout]
}

// New returns a hook for an http or https address. The address may hold a secret: no error repeats it.
func New(address string, with With) (*Hook, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("is not an http or https address: write it as https://host/path")
	}
	h := &Hook{address: address, timeout: cmp.Or(with.Timeout, Timeout)}
	if with.Secret != "" {
		if h.key, err = signingKey(with.Secret); err != nil {
			return nil, err
		}
	}
	if with.Transport == nil {
		with.Transport = transport(1)
	}
	h.http = &http.Client{
		Transport:     with.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return h, nil
}

// Guarded is the transport of hooks whose addresses the users of Belfry name: it reaches nothing but the public internet
// and what is allowed.
func Guarded(allowed fetch.Allowed) http.RoundTripper { return allowed.Guard(transport(20)) }

func transport(idle int) *http.Transport {
	return &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: Timeout}).DialContext,
		ForceAttemptHTTP2: true, MaxIdleConns: idle, MaxIdleConnsPerHost: 1, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: Timeout, MaxResponseHeaderBytes: 64 << 10,
	}
}

// Publish posts p.Text, which is JSON. The header Webhook-Id is the same for each attempt, so that who
// is told can recognise a repetition.
func (h *Hook) Publish(ctx context.Context, p platform.Post) (platform.Receipt, error) {
	header := http.Header{"Content-Type": {"application/json"}}
	h.sign(header, strconv.FormatUint(uint64(p.Key), 16), p.Text, time.Now())
	return platform.Receipt{}, h.call(ctx, http.MethodPost, strings.NewReader(p.Text), header)
}

// Call calls the address and wants no more than that somebody is there.
func (h *Hook) Call(ctx context.Context) error {
	return h.call(ctx, http.MethodGet, nil, http.Header{})
}

func (h *Hook) call(ctx context.Context, method string, body io.Reader, header http.Header) error {
	ctx, cancel := context.WithTimeout(ctx, h.timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, h.address, body)
	if err != nil {
		return failed(platform.Refused, errors.New("the address cannot be called"))
	}
	header.Set("User-Agent", "Belfry")
	request.Header = header
	response, err := h.http.Do(request)
	if refused, ok := errors.AsType[*platform.Error](err); ok { // by the guard
		return refused
	}
	if err != nil {
		return failed(platform.Unknown, fmt.Errorf("no answer: %w", platform.WithoutURL(err)))
	}
	defer response.Body.Close()
	defer time.AfterFunc(restTimeout, cancel).Stop()
	// The status says it all. If the rest is short and whole, the connection can be used again.
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 64<<10))
	return judge(response)
}

// judge sorts an answer.
func judge(r *http.Response) error {
	said := fmt.Errorf("the answer was %s", r.Status)
	switch code := r.StatusCode; {
	case code >= 200 && code < 300:
		return nil
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable && r.Header.Get("Retry-After") != "":
		e := failed(platform.Wait, said)
		e.Wait = defaultWait
		if seconds, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil && seconds > 0 {
			e.Wait = time.Duration(min(seconds, int(maxWait/time.Second))) * time.Second
		}
		return e
	case code >= 300 && code < 400:
		return failed(platform.Refused, fmt.Errorf("%w, which leads elsewhere: set the address that it leads to", said))
	case code == http.StatusRequestTimeout, code == http.StatusTooEarly, code >= 500:
		return failed(platform.Transient, said)
	}
	return failed(platform.Refused, said)
}

func failed(kind platform.Kind, err error) *platform.Error {
	return &platform.Error{Kind: kind, Scope: platform.ScopeIdentity, Err: err}
}
