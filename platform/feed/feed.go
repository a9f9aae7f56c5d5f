// Package feed reads RSS, Atom and JSON feeds at addresses that the users of Belfry name.
package feed

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html"

	"belfry/platform"
	"belfry/platform/fetch"
)

const (
	// Deadline is how long reading a feed may take.
	Deadline = 30 * time.Second
	maxFeed  = 8 << 20 // bytes
	maxItems = 4000    // of a feed, the newest ones
	// What an item says is cut to so many characters.
	maxTitle, maxSummary = 300, 600
)

// Item is an item of a feed.
type Item struct {
	Mark                 [8]byte // the same as long as the feed means the same item
	Place                [8]byte // the same, too, after the site has moved, or where its links change with each reading
	Title, Link, Summary string  // without markup
}

// Client reads feeds.
type Client struct{ http *http.Client }

// New returns a client that reaches what is public and what is allowed besides.
func New(private fetch.Allowed) *Client {
	return &Client{&http.Client{Timeout: Deadline, Transport: private.Guard(&http.Transport{
		TLSHandshakeTimeout: 10 * time.Second, MaxIdleConns: 4, IdleConnTimeout: 10 * time.Second,
	})}}
}

// Read returns the items of the feed at an address, the oldest first. Its errors are of type [*platform.Error].
func (c *Client) Read(ctx context.Context, address string) ([]Item, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, failed(platform.Refused, "the address of the feed cannot be read: %w", err)
	}
	request.Header.Set("Accept", "application/rss+xml, application/atom+xml, application/feed+json, application/xml, text/xml, */*;q=0.5")
	request.Header.Set("User-Agent", "Belfry")
	response, err := c.http.Do(request)
	if err != nil {
		if refused, ok := errors.AsType[*platform.Error](err); ok { // it is private
			return nil, refused
		}
		return nil, failed(platform.Transient, "the feed did not answer: %w", platform.WithoutURL(err))
	}
	defer response.Body.Close()
	switch status := response.StatusCode; {
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError:
		e := failed(platform.Transient, "the feed answered %d", status)
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
			e.Wait = time.Duration(min(max(seconds, 0), 3600)) * time.Second
		}
		return nil, e
	case status != http.StatusOK:
		return nil, failed(platform.Refused, "the feed answered %d: check its address", status)
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, maxFeed+1))
	if err != nil {
		return nil, failed(platform.Transient, "the feed did not come whole: %w", err)
	}
	if len(data) > maxFeed {
		return nil, failed(platform.Refused, "the feed is larger than %d MB", maxFeed>>20)
	}
	items, err := Parse(data)
	base := *response.Request.URL
	base.User, base.RawQuery = nil, "" // they may be secret, and links are published
	for i := range items {
		if u, err := url.Parse(items[i].Link); err == nil && items[i].Link != "" && !u.IsAbs() {
			items[i].Link = base.ResolveReference(u).String()
		}
	}
	return items, err
}

// Parse reads the items of a feed, the oldest first: by their times if all have one, and else in the opposite order
// of the feed. Their links are as the feed has them.
func Parse(data []byte) ([]Item, error) {
	parser := gofeed.NewParser()
	// To look for pictures in texts would make a tree of each, which may be far larger than the text.
	parser.RSSTranslator = &gofeed.DefaultRSSTranslator{DisableContentImageScan: true}
	read, err := parser.Parse(bytes.NewReader(data))
	if err != nil {
		return nil, failed(platform.Refused, "the address leads to no feed: %w", err)
	}
	found := read.Items
	slices.Reverse(found)
	if !slices.ContainsFunc(found, func(i *gofeed.Item) bool { return i.PublishedParsed == nil }) {
		slices.SortStableFunc(found, func(a, b *gofeed.Item) int { return a.PublishedParsed.Compare(*b.PublishedParsed) })
	}
	found = found[max(0, len(found)-maxItems):]
	items := make([]Item, 0, len(found))
	for _, i := range found {
		item := Item{Title: shorten(plain(i.Title), maxTitle), Link: strings.TrimSpace(i.Link), Summary: shorten(plain(cmp.Or(i.Description, i.Content)), maxSummary)}
		sum := sha256.Sum256([]byte(cmp.Or(i.GUID, item.Link, item.Title+"\n"+item.Summary)))
		copy(item.Mark[:], sum[:])
		sum = sha256.Sum256([]byte(place(item, i.PublishedParsed)))
		copy(item.Place[:], sum[:])
		items = append(items, item)
	}
	return items, nil
}

// place is what stays of an item when its site moves: its path there, its title and its time, or without a time its text.
func place(i Item, published *time.Time) string {
	path := i.Link
	if u, err := url.Parse(i.Link); err == nil {
		path = u.Path
	}
	if published != nil {
		i.Summary = published.UTC().Format(time.RFC3339)
	}
	return "place\n" + path + "\n" + i.Title + "\n" + i.Summary
}

// blocks are the elements that part words.
var blocks = strings.Fields("p br li div tr td th h1 h2 h3 h4 h5 h6 blockquote figcaption pre")

// plain is the text of what may be HTML.
func plain(text string) string {
	var out strings.Builder
	unseen := false // what follows is no text
	for z := html.NewTokenizer(strings.NewReader(text)); ; {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			return strings.Join(strings.Fields(out.String()), " ")
		case html.TextToken:
			if !unseen {
				out.WriteString(html.UnescapeString(string(z.Raw())))
			}
		default:
			name, _ := z.TagName()
			unseen = kind == html.StartTagToken && (string(name) == "style" || string(name) == "script")
			if slices.Contains(blocks, string(name)) {
				out.WriteByte(' ')
			}
		}
	}
}

func shorten(text string, limit int) string {
	if r := []rune(text); len(r) > limit {
		return strings.TrimSpace(string(r[:limit-1])) + "…"
	}
	return text
}

func failed(kind platform.Kind, format string, args ...any) *platform.Error {
	return &platform.Error{Kind: kind, Scope: platform.ScopeContent, Err: fmt.Errorf(format, args...)}
}
