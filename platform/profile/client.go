package profile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"belfry/platform"
	"belfry/platform/fetch"
)

// Settings are how sites are asked over HTTP. The zero value is good.
type Settings struct {
	// Base replaces the scheme and the host of the address that is asked, by site: what
	// BELFRY_INSTAGRAM_WEB_URL says belongs to instagram.
	Base map[string]string
	// Private is what the other addresses of rules may lead to beside the public internet.
	Private fetch.Allowed
	// Proxy is the address of an http, https or socks5 proxy; empty means as the environment says.
	Proxy string
	// Timeout is of one question, from the beginning to the end of the answer; 0 means 20 s.
	Timeout time.Duration
	// UserAgent is what the client calls itself where a rule does not say; empty means a browser.
	UserAgent string
}

const (
	defaultTimeout   = 20 * time.Second
	defaultUserAgent = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"
	maxBody          = 1 << 20
)

// Client asks sites over HTTP. It follows nothing, keeps no cookies, and may be used by several
// goroutines.
type Client struct {
	settings Settings
	base     map[string]*url.URL
	guarded  *http.Client // for the addresses of rules
	open     *http.Client // for those of the settings
}

// NewClient returns a client. Its errors are of type [*platform.Error]: their Field is proxy or base, and
// what they say completes a sentence that begins with what the setting is called. An address is not
// repeated: it may hold a password.
func NewClient(settings Settings) (*Client, error) {
	settings.Timeout = cmp.Or(settings.Timeout, defaultTimeout)
	settings.UserAgent = cmp.Or(settings.UserAgent, defaultUserAgent)
	c := &Client{settings: settings, base: make(map[string]*url.URL)}
	proxy := http.ProxyFromEnvironment
	if settings.Proxy != "" {
		u, err := url.Parse(settings.Proxy)
		if err != nil || u.Host == "" || !slices.Contains([]string{"http", "https", "socks5", "socks5h"}, u.Scheme) {
			return nil, wrongSetting("proxy", "is not an address of a proxy: write it as http://user:password@host:3128 or socks5://host:1080")
		}
		proxy = http.ProxyURL(u)
	}
	for site, base := range settings.Base {
		u, err := url.Parse(base)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, wrongSetting("base", "is not an http or https address: write it as https://host")
		}
		c.base[strings.ToLower(site)] = u
	}
	open := &http.Transport{
		Proxy: proxy, ForceAttemptHTTP2: true, MaxIdleConns: 10, IdleConnTimeout: time.Minute,
		TLSHandshakeTimeout: settings.Timeout, ResponseHeaderTimeout: settings.Timeout, MaxResponseHeaderBytes: 64 << 10,
	}
	stay := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.open = &http.Client{Transport: open, CheckRedirect: stay}
	c.guarded = &http.Client{Transport: settings.Private.Guard(open.Clone()), CheckRedirect: stay}
	return c, nil
}

func wrongSetting(field, words string) error {
	return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: field, Err: errors.New(words)}
}

// Close closes the connections that wait to be used again.
func (c *Client) Close() {
	c.open.CloseIdleConnections()
	c.guarded.CloseIdleConnections()
}

// Probe asks a site whether a profile exists.
func (c *Client) Probe(ctx context.Context, rule Rule, username string) (Result, error) {
	if rule.Via != "" {
		return Result{}, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeIdentity,
			Err: fmt.Errorf("%s is asked through a login, not over HTTP", rule.Site)}
	}
	if !rule.Fits(username) {
		return Result{}, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: "username",
			Err: fmt.Errorf("%q is not a user name of %s", username, rule.Site)}
	}
	call, cancel := context.WithTimeout(ctx, c.settings.Timeout)
	defer cancel()
	request, err := c.request(call, rule, username)
	if err != nil {
		return Result{}, err
	}
	client := c.guarded
	if c.base[rule.Site] != nil {
		client = c.open
	}
	a, err := ask(client, request, username)
	private, refused := errors.AsType[*platform.Error](err)
	switch {
	case err == nil:
		return rule.judge(a), nil
	case refused:
		field := "url"
		if rule.ProbeURL != "" {
			field = "urlProbe"
		}
		return Result{}, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeIdentity, Err: fmt.Errorf("%s: %w", field, private)}
	case ctx.Err() != nil: // nobody waits for it any more
		return Result{}, fmt.Errorf("ask %s about %s: %w", rule.Site, username, ctx.Err())
	case call.Err() != nil || timedOut(err):
		return Result{Outcome: Refused, Status: a.status, Detail: fmt.Sprintf("no answer within %v", c.settings.Timeout)}, nil
	}
	return Result{Outcome: Refused, Status: a.status, Detail: "no answer: " + brief(platform.WithoutURL(err).Error())}, nil
}

// timedOut reports whether a part of the way had a time limit of its own that ran out first.
func timedOut(err error) bool {
	limited, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && limited.Timeout()
}

func (c *Client) request(ctx context.Context, rule Rule, username string) (*http.Request, error) {
	address := fill(cmp.Or(rule.ProbeURL, rule.URL), username, url.PathEscape)
	u, err := url.Parse(address)
	if err != nil {
		return nil, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: "username",
			Err: fmt.Errorf("the address for %q cannot be made: %w", username, err)}
	}
	if base := c.base[rule.Site]; base != nil {
		u.Scheme, u.Host, u.User = base.Scheme, base.Host, base.User
		u.Path = strings.TrimSuffix(base.Path, "/") + u.Path
		u.RawPath = ""
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", rule.Site, platform.WithoutURL(err))
	}
	request.Header.Set("User-Agent", c.settings.UserAgent)
	request.Header.Set("Accept-Language", "en-US,en;q=0.9")
	for name, value := range rule.Headers {
		request.Header.Set(name, fill(value, username, url.PathEscape))
	}
	return request, nil
}

func ask(client *http.Client, request *http.Request, username string) (answer, error) {
	a := answer{asked: request.URL, username: username}
	response, err := client.Do(request)
	if err != nil {
		return a, err
	}
	defer response.Body.Close()
	a.status, a.header = response.StatusCode, response.Header
	if a.body, err = io.ReadAll(io.LimitReader(response.Body, maxBody+1)); err != nil {
		return a, err
	}
	if len(a.body) > maxBody {
		a.body, a.cut = a.body[:maxBody], true
	}
	return a, nil
}
