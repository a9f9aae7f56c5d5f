// Package article reads what the links of messages lead to: the text of a page without what stands around it.
//
// It promises that it reaches nothing but what is public and what the owner allows, that it asks a site's robots.txt
// first, for redirects too, and that an answer takes no more time and memory than its limits say, however it was
// compressed.
package article

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	readability "codeberg.org/readeck/go-readability/v2"
	"github.com/temoto/robotstxt"
	"golang.org/x/net/html/charset"

	"belfry/platform"
	"belfry/platform/fetch"
)

const (
	// Deadline is how long reading a page may take, its robots.txt included.
	Deadline     = 20 * time.Second
	maxPage      = 3 << 20 // bytes, decompressed
	maxRobots    = 500 << 10
	maxRedirects = 5
	maxElements  = 20_000 // of a page
	maxTags      = 3 * maxElements
	agent        = "Belfry"
	robotsAge    = time.Hour
	maxKept      = 8 << 20 // bytes of the robots.txt that are remembered
	maxPatterns  = 2000    // asterisks of a robots.txt, each of which takes as much memory as a hundred other bytes
)

// Article is what a page says.
type Article struct {
	Title string
	Text  string // without markup
}

// Client reads pages. Make it with [New].
type Client struct {
	http *http.Client

	mu     sync.Mutex
	robots map[string]rules // by scheme and host
	kept   int              // bytes that they were read from
}

// rules are the robots.txt of a site.
type rules struct {
	group *robotstxt.Group
	read  time.Time
}

// New returns a client that reaches what is public and what is allowed besides.
func New(private fetch.Allowed) *Client {
	c := &Client{robots: map[string]rules{}}
	c.http = &http.Client{
		Timeout: Deadline,
		Transport: private.Guard(&http.Transport{
			TLSHandshakeTimeout: 10 * time.Second, MaxIdleConns: 16, IdleConnTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		}),
		CheckRedirect: c.redirect,
	}
	return c
}

// redirect follows a redirect where the next address may be read too.
func (c *Client) redirect(next *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects {
		return failed(platform.Refused, "the link redirects more than %d times", maxRedirects)
	}
	if before[0].URL.Path == "/robots.txt" {
		return nil
	}
	return c.allowed(next.Context(), next.URL)
}

// Read reads the page at an address. Its errors are of type [*platform.Error]: Refused for what will not change.
func (c *Client) Read(ctx context.Context, address string) (Article, error) {
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	at, err := url.Parse(address)
	if err != nil || (at.Scheme != "http" && at.Scheme != "https") || at.Host == "" {
		return Article{}, failed(platform.Refused, "%q is not an http or https address", address)
	}
	if err := c.allowed(ctx, at); err != nil {
		return Article{}, err
	}
	response, err := c.get(ctx, at.String())
	if err != nil {
		return Article{}, err
	}
	defer response.Body.Close()
	if err := refused(response); err != nil {
		return Article{}, err
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if kind != "text/html" && kind != "application/xhtml+xml" && kind != "text/plain" {
		return Article{}, failed(platform.Refused, "the link leads to %s, not to a page", kind)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxPage+1))
	if err != nil {
		return Article{}, failed(platform.Transient, "the page did not come whole: %w", err)
	}
	if len(data) > maxPage {
		return Article{}, failed(platform.Refused, "the page is larger than %d MB", maxPage>>20)
	}
	return read(data, response, kind)
}

// repeated are the tags whose elements the parser opens anew in each paragraph that follows, if nothing closes them: a page
// of 20 KB becomes a million elements, of 3 MB more than any memory. They do not matter for the text.
var repeated = regexp.MustCompile(`(?i)<(/?)(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)([\s/>])`)

// read takes the text out of a page.
func read(data []byte, response *http.Response, kind string) (Article, error) {
	decoded, err := charset.NewReader(bytes.NewReader(data), response.Header.Get("Content-Type"))
	if err != nil {
		return Article{}, failed(platform.Refused, "the page cannot be decoded: %w", err)
	}
	source, err := io.ReadAll(decoded)
	if err != nil {
		return Article{}, failed(platform.Refused, "the page cannot be decoded: %w", err)
	}
	if kind == "text/plain" {
		return Article{Text: strings.TrimSpace(string(source))}, nil
	}
	if bytes.Count(source, []byte("<")) > maxTags {
		return Article{}, failed(platform.Refused, "the page has more than %d tags", maxTags)
	}
	parser := readability.NewParser()
	parser.MaxElemsToParse = maxElements
	found, err := parser.Parse(bytes.NewReader(repeated.ReplaceAll(source, []byte("<${1}span$2"))), response.Request.URL)
	if err != nil {
		return Article{}, failed(platform.Refused, "the page cannot be read: %w", err)
	}
	var text strings.Builder
	if found.Node != nil {
		if err := found.RenderText(&text); err != nil {
			return Article{}, failed(platform.Refused, "the page cannot be read: %w", err)
		}
	}
	return Article{Title: strings.TrimSpace(found.Title()), Text: strings.TrimSpace(text.String())}, nil
}

// get asks for an address.
func (c *Client) get(ctx context.Context, address string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, failed(platform.Refused, "the address cannot be read: %w", err)
	}
	request.Header.Set("User-Agent", agent)
	request.Header.Set("Accept", "text/html, application/xhtml+xml, text/plain;q=0.8")
	response, err := c.http.Do(request)
	if err != nil {
		if e, ok := errors.AsType[*platform.Error](err); ok { // it is private, or may not be read
			return nil, e
		}
		return nil, failed(platform.Transient, "the site did not answer: %w", platform.WithoutURL(err))
	}
	return response, nil
}

// refused sorts an answer that is no page.
func refused(response *http.Response) error {
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		return failed(platform.Transient, "the site answered %d", status)
	case status != http.StatusOK:
		return failed(platform.Refused, "the site answered %d", status)
	}
	return nil
}

// allowed asks a site's robots.txt. One that does not exist allows everything; where it cannot be read, the link is tried
// again later.
func (c *Client) allowed(ctx context.Context, at *url.URL) error {
	site := at.Scheme + "://" + at.Host
	c.mu.Lock()
	known, ok := c.robots[site]
	c.mu.Unlock()
	if !ok || time.Since(known.read) > robotsAge {
		group, size, err := c.readRobots(ctx, site)
		if err != nil {
			return err
		}
		known = rules{group, time.Now()}
		c.mu.Lock()
		if c.kept += size; c.kept > maxKept {
			clear(c.robots)
			c.kept = size
		}
		c.robots[site] = known
		c.mu.Unlock()
	}
	if !known.group.Test(at.RequestURI()) {
		return failed(platform.Refused, "the site's robots.txt does not allow it")
	}
	return nil
}

func (c *Client) readRobots(ctx context.Context, site string) (group *robotstxt.Group, size int, err error) {
	response, err := c.get(ctx, site+"/robots.txt")
	if err != nil {
		return nil, 0, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(io.LimitReader(response.Body, maxRobots))
	if err != nil {
		return nil, 0, failed(platform.Transient, "robots.txt did not come whole: %w", err)
	}
	if response.StatusCode >= http.StatusInternalServerError {
		return nil, 0, failed(platform.Transient, "robots.txt: the site answered %d", response.StatusCode)
	}
	if response.StatusCode == http.StatusOK && bytes.Count(data, []byte("*")) > maxPatterns {
		return nil, 0, failed(platform.Refused, "the site's robots.txt has more than %d asterisks", maxPatterns)
	}
	found, err := robotstxt.FromStatusAndBytes(response.StatusCode, data)
	if err != nil { // what cannot be read forbids nothing
		found, _ = robotstxt.FromStatusAndBytes(http.StatusNotFound, nil)
	}
	return found.FindGroup(agent), len(data) + 1<<10, nil
}

func failed(kind platform.Kind, format string, args ...any) *platform.Error {
	return &platform.Error{Kind: kind, Scope: platform.ScopeContent, Field: "url", Err: fmt.Errorf(format, args...)}
}
