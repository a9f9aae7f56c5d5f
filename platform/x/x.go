// Package x publishes posts on X (twitter) through its API version 2.
//
// An identity logs in with the four keys of OAuth 1.0a, which do not end, or by OAuth 2 with PKCE, whose access
// ends after two hours and is refreshed.
//
// X recognises no repetition of a call. So that a post is never out twice, what its creation needs is made before
// and kept in [platform.Post.State], with the time since when it may have been created; a creation whose answer is
// not known is looked for in the identity's timeline and never repeated.
package x

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"belfry/platform"
	"belfry/platform/fetch"
	"belfry/platform/rest"
)

// Platform is the name of this network in the store.
const Platform = "twitter"

const maxPhotos = 4

// Config is what a [Network] needs to know.
type Config struct {
	// URL stands for all hosts of X; empty means X's own.
	URL string
	// Redirect is where X leads an owner back to who has let Belfry in; X knows it by the application's settings.
	Redirect string
	// MediaDir is the folder below which the media files of posts are.
	MediaDir string
	Media    platform.OpenMedia // opens the uploaded ones
	// Private is where media may be fetched from beside the public internet.
	Private fetch.Allowed
	Keys    platform.Keys
	Now     func() time.Time // the clock; nil means time.Now
}

// Network is X. Its methods may be called from any goroutine, but an identity has one call of [Network.Refresh] or
// Publish at a time: both may replace its tokens.
type Network struct {
	cfg  Config
	api  string // where the API is
	site string // where people are
	http *http.Client
	web  *http.Client // fetches media
	root *os.Root     // nil without a media folder
	// unsaved are logins that the store has not taken, by the refresh token that each has replaced.
	unsaved sync.Map
}

// New returns a network. What an error says completes a sentence that begins with BELFRY_X_URL.
func New(cfg Config) (*Network, error) {
	n := &Network{cfg: cfg, api: "https://api.x.com", site: "https://x.com", http: rest.NewClient()}
	if cfg.URL != "" {
		base, err := rest.Base(cfg.URL)
		if err != nil {
			return nil, err
		}
		n.api, n.site = base, base
	}
	if n.cfg.Now == nil {
		n.cfg.Now = time.Now
	}
	n.web = &http.Client{Transport: cfg.Private.Guard(&http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true})}
	if cfg.MediaDir != "" {
		root, err := os.OpenRoot(cfg.MediaDir)
		if err != nil {
			return nil, fmt.Errorf("open the media folder: %w", err)
		}
		n.root = root
	}
	return n, nil
}

// Check finds what X would not accept, and measures the text.
func (n *Network) Check(p platform.Post) (platform.Measure, error) {
	m := platform.Measure{Length: Weight(p.Text), Limit: maxWeight}
	if p.Format != platform.Plain && p.Format != "" {
		return m, refused("format", "X shows text as it is: use plain")
	}
	if m.Length > m.Limit {
		return m, refused("text", fmt.Sprintf("it has %d characters as X counts: %d are allowed", m.Length, m.Limit))
	}
	if strings.TrimSpace(p.Text) == "" && len(p.Media) == 0 {
		return m, refused("text", "there is no text and no media: write a text or add media")
	}
	for i, media := range p.Media {
		field := fmt.Sprintf("media[%d]", i)
		switch {
		case media.Kind == platform.Document:
			return m, refused(field+".kind", "X shows photos and videos only: choose photo or video")
		case i >= maxPhotos:
			return m, refused("media", fmt.Sprintf("X shows %d photos at most: remove some", maxPhotos))
		case media.Kind == platform.Video && len(p.Media) > 1:
			return m, refused(field, "X shows a video alone: remove the other media")
		}
		if err := n.checkSource(field, media, len(p.Media)); err != nil {
			return m, err
		}
	}
	return m, nil
}

// checkSource checks what is known of one of so many media.
func (n *Network) checkSource(field string, m platform.Media, of int) error {
	if m.URL != "" {
		u, err := url.Parse(m.URL)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return refused(field+".url", fmt.Sprintf("%q is not an http or https address", m.URL))
		}
		if err := n.cfg.Private.Check(u); err != nil {
			return refused(field+".url", err.Error())
		}
		return nil
	}
	c, err := n.open(context.Background(), m)
	if err == nil {
		if err = c.Close(); err == nil {
			if _, why := c.category(m, of); why != "" {
				err = errors.New(why)
			}
		}
	}
	switch {
	case err != nil && m.ID != 0:
		return refused(field+".id", err.Error())
	case err != nil:
		return refused(field+".file", err.Error())
	}
	return nil
}

// Styled returns the text, which has no markup on X.
func (n *Network) Styled(_ platform.Format, text string) (platform.Styled, error) {
	return platform.Styled{Text: strings.TrimSpace(text)}, nil
}

// Reach has nothing to ask: an identity posts to its own timeline, whatever the target.
func (n *Network) Reach(context.Context, uint64, string) error { return nil }

// Publisher returns what sends posts as the identity.
func (n *Network) Publisher(identityID uint64) platform.Publisher { return publisher{n, identityID} }

func refused(field, problem string) *platform.Error {
	return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: field, Err: errors.New(problem)}
}
