// Package instagram publishes posts as professional accounts of Instagram through its Content Publishing API.
//
// A post becomes a container, which Instagram fills from the addresses of the media, and which can be published
// once. Its id is kept in [platform.Post.State] before it is published; after a call without an answer the container
// says whether it is out. So a post is never out twice.
package instagram

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"belfry/platform"
	"belfry/platform/fetch"
	"belfry/platform/rest"
)

// Platform is the name of this network in the store.
const Platform = "instagram"

const (
	version     = "/v23.0"
	maxCaption  = 2200
	maxHashtags = 30
	maxMedia    = 10
	maxPhoto    = 8 << 20 // bytes
)

// Config is what a [Network] needs to know.
type Config struct {
	URL  string // another host of the API; empty means Instagram's own
	Keys platform.Keys
	// Share returns the https address from which Instagram can fetch an uploaded file for a day, and the file, closed.
	// nil means that there is none: the server has no public address.
	Share func(id uint64) (address string, f platform.MediaFile, err error)
	Now   func() time.Time // the clock; nil means time.Now
}

// Network is Instagram. Its methods may be called from any goroutine.
type Network struct {
	cfg  Config
	api  string
	http *http.Client
}

// New returns a network. What an error says completes a sentence that begins with BELFRY_INSTAGRAM_URL.
func New(cfg Config) (*Network, error) {
	n := &Network{cfg: cfg, api: "https://graph.instagram.com", http: rest.NewClient()}
	if cfg.URL != "" {
		base, err := rest.Base(cfg.URL)
		if err != nil {
			return nil, err
		}
		n.api = base
	}
	if n.cfg.Now == nil {
		n.cfg.Now = time.Now
	}
	return n, nil
}

var hashtag = regexp.MustCompile(`#[\p{L}\p{N}_]`)

// Check finds what Instagram would not accept, and measures the caption.
func (n *Network) Check(p platform.Post) (platform.Measure, error) {
	m := platform.Measure{Length: utf8.RuneCountInString(p.Text), Limit: maxCaption}
	tags := len(hashtag.FindAllString(p.Text, -1))
	switch {
	case p.Format != platform.Plain && p.Format != "":
		return m, refused("format", "Instagram shows text as it is: use plain")
	case m.Length > m.Limit:
		return m, refused("text", fmt.Sprintf("it has %d characters: Instagram allows %d", m.Length, m.Limit))
	case tags > maxHashtags:
		return m, refused("text", fmt.Sprintf("it has %d hashtags: Instagram allows %d", tags, maxHashtags))
	case len(p.Media) == 0:
		return m, refused("media", "Instagram publishes no text alone: add a photo or a video")
	case len(p.Media) > maxMedia:
		return m, refused("media", fmt.Sprintf("Instagram shows %d at most: remove some", maxMedia))
	}
	for i, media := range p.Media {
		if _, err := n.address(media); err != nil {
			e := platform.AsError(err)
			e.Field = fmt.Sprintf("media[%d].%s", i, e.Field)
			return m, e
		}
	}
	return m, nil
}

// address returns where Instagram fetches a medium from. The Field of its error is of the medium.
func (n *Network) address(m platform.Media) (string, error) {
	if m.Kind == platform.Document {
		return "", refused("kind", "Instagram shows photos and videos only: choose photo or video")
	}
	if m.ID != 0 {
		return n.shared(m)
	}
	if m.URL == "" {
		return "", refused("file", "Instagram fetches media itself: give the public https address of the file")
	}
	u, err := url.Parse(m.URL)
	if err != nil || u.Scheme != "https" || u.Host == "" {
		return "", refused("url", fmt.Sprintf("%q is not an https address: Instagram fetches media from public https addresses only", m.URL))
	}
	if err := (fetch.Allowed{}).Check(u); err != nil || u.Hostname() == "localhost" {
		return "", refused("url", "Instagram cannot reach this address: give a public one")
	}
	ending := strings.ToLower(path.Ext(u.Path))
	if m.Kind == platform.Photo && slices.Contains([]string{".png", ".gif", ".webp", ".heic", ".bmp", ".tif", ".tiff", ".svg"}, ending) {
		return "", refused("url", "Instagram takes photos as JPEG only: convert it")
	}
	return m.URL, nil
}

// shared returns where Instagram fetches an uploaded file from.
func (n *Network) shared(m platform.Media) (string, error) {
	if n.cfg.Share == nil {
		return "", refused("id", "Instagram fetches media itself: set BELFRY_PUBLIC_URL to the https address of this server, or give the public address of the file")
	}
	address, f, err := n.cfg.Share(m.ID)
	switch {
	case err != nil:
		e := platform.AsError(err)
		e.Field = "id"
		return "", e
	case m.Kind == platform.Photo && f.Type != "image/jpeg":
		return "", refused("id", "Instagram takes photos as JPEG only: convert it")
	case m.Kind == platform.Photo && f.Size > maxPhoto:
		return "", refused("id", fmt.Sprintf("the file has %.1f MB and Instagram takes %d: use a smaller one", float64(f.Size)/(1<<20), maxPhoto>>20))
	case m.Kind == platform.Video && !strings.HasPrefix(f.Type, "video/"):
		return "", refused("id", fmt.Sprintf("it is no video but %s", f.Type))
	}
	return address, nil
}

// Styled returns the text, which has no markup on Instagram.
func (n *Network) Styled(_ platform.Format, text string) (platform.Styled, error) {
	return platform.Styled{Text: strings.TrimSpace(text)}, nil
}

// Reach has nothing to ask: an identity posts to its own profile, whatever the target.
func (n *Network) Reach(context.Context, uint64, string) error { return nil }

// Publisher returns what sends posts as the identity.
func (n *Network) Publisher(identityID uint64) platform.Publisher { return publisher{n, identityID} }

// Login is what an identity logs in with.
type Login struct {
	Token   string    `json:"token"`
	Expires time.Time `json:"expires,omitzero"` // zero: not known
	UserID  string    `json:"user_id,omitempty"`

	stored []byte // what the identity's secret is
}

func (n *Network) login(identityID uint64) (Login, error) {
	l, stored, err := rest.Login[Login](n.cfg.Keys, identityID, "token")
	l.stored = stored
	return l, err
}

const (
	// refreshAhead is how long before its end a token is refreshed for the first time; it lives 60 days.
	refreshAhead = 30 * 24 * time.Hour
	// refreshPause is between two refreshes: a token that is younger is not refreshed.
	refreshPause = 24 * time.Hour
)

// Probe asks Instagram whose token a secret has and whether it may publish, and returns the secret with the id of
// the account.
func (n *Network) Probe(ctx context.Context, secret []byte) (platform.Profile, []byte, error) {
	var l Login
	if err := json.Unmarshal(secret, &l); err != nil {
		return platform.Profile{}, nil, fmt.Errorf("read the token: %w", err)
	}
	profile, err := session{n, 0, l}.probe(ctx)
	if err != nil {
		return profile, nil, err
	}
	l.UserID = strconv.FormatInt(profile.ID, 10)
	secret, err = json.Marshal(l)
	return profile, secret, err
}

func (s session) probe(ctx context.Context) (platform.Profile, error) {
	var me struct {
		UserID   string `json:"user_id"`
		Username string `json:"username"`
	}
	if err := s.harmless(ctx, http.MethodGet, version+"/me", url.Values{"fields": {"user_id,username"}}, &me); err != nil {
		return platform.Profile{}, err
	}
	id, err := strconv.ParseInt(me.UserID, 10, 64)
	if err != nil {
		return platform.Profile{}, fmt.Errorf("the id of the account: %w", err)
	}
	limit := version + "/" + me.UserID + "/content_publishing_limit" // needs the right to publish
	if err := s.harmless(ctx, http.MethodGet, limit, url.Values{"fields": {"quota_usage"}}, nil); err != nil {
		return platform.Profile{}, err
	}
	return platform.Profile{ID: id, Username: me.Username}, nil
}

// Refresh replaces the token of an identity ahead of its end, and returns when to try again, also beside an error
// that does not end the login.
func (n *Network) Refresh(ctx context.Context, identityID uint64) (again time.Time, err error) {
	l, err := n.login(identityID)
	if err != nil {
		return time.Time{}, err
	}
	now := n.cfg.Now()
	if due := l.Expires.Add(-refreshAhead); now.Before(due) {
		return due, nil
	}
	var fresh struct {
		Token   string `json:"access_token"`
		Seconds int64  `json:"expires_in"`
	}
	s := session{n, identityID, l}
	query := url.Values{"grant_type": {"ig_refresh_token"}, "access_token": {l.Token}}
	if err := s.harmless(ctx, http.MethodGet, "/refresh_access_token", query, &fresh); err != nil {
		return now.Add(refreshPause), err
	}
	if fresh.Token == "" {
		return now.Add(refreshPause), errors.New("the answer has no token")
	}
	l.Token, l.Expires = fresh.Token, now.Add(time.Duration(fresh.Seconds)*time.Second)
	again = l.Expires.Add(-refreshAhead)
	if again.Before(now.Add(refreshPause)) {
		again = now.Add(refreshPause)
	}
	if _, err := rest.SaveLogin(n.cfg.Keys, identityID, "token", l.stored, l); err != nil {
		return now.Add(refreshPause), err // the stored token is good until its end
	}
	return again, nil
}

// Expires returns when a token ends that an adapter has stored; zero if that is not known.
func Expires(secret []byte) time.Time {
	var l Login
	_ = json.Unmarshal(secret, &l)
	return l.Expires
}

func refused(field, problem string) *platform.Error {
	return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: field, Err: errors.New(problem)}
}
