package x

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"belfry/platform"
	"belfry/platform/rest"
)

type publisher struct {
	network  *Network
	identity uint64
}

// state is what attempts leave for later ones.
type state struct {
	Media []upload `json:"media,omitempty"`
	// Part is the next of the media, of which X has the first segments.
	Part *partial `json:"part,omitempty"`
	// Until is when X forgets the first of the media.
	Until time.Time `json:"until,omitzero"`
	// Since is since when X is processing one of the media; zero: it is not.
	Since time.Time `json:"since,omitzero"`
	// Begun is since when the post may have been created; zero: it was not.
	Begun time.Time `json:"begun,omitzero"`
}

// Publish goes one step further: a medium or a part of it is uploaded, X is asked whether it is done with one, the time of the
// creation is kept, the post is created.
func (p publisher) Publish(ctx context.Context, post platform.Post) (platform.Receipt, error) {
	s, err := p.network.session(p.identity)
	if err != nil {
		return platform.Receipt{}, err
	}
	st, err := rest.State[state](post)
	if err != nil {
		return platform.Receipt{}, err
	}
	now := p.network.cfg.Now()
	if post.Unanswered && !st.Begun.IsZero() {
		return s.lookUp(ctx, post, st.Begun)
	}
	if !st.Until.IsZero() && now.After(st.Until) {
		st = state{}
	}
	if len(st.Media) < len(post.Media) {
		return platform.Receipt{}, s.nextUpload(ctx, post, st)
	}
	for i := range st.Media {
		if !st.Media[i].Ready {
			return platform.Receipt{}, s.await(ctx, st, i)
		}
	}
	if st.Begun.IsZero() {
		st.Begun = now
		return platform.Receipt{}, rest.UnderWay(st, 0, "ready to be created")
	}
	return s.create(ctx, post, st)
}

func (s *session) create(ctx context.Context, post platform.Post, st state) (platform.Receipt, error) {
	body := map[string]any{}
	if text := strings.TrimSpace(post.Text); text != "" {
		body["text"] = text
	}
	if len(st.Media) > 0 {
		ids := make([]string, len(st.Media))
		for i, m := range st.Media {
			ids[i] = m.ID
		}
		body["media"] = map[string]any{"media_ids": ids}
	}
	data, err := json.Marshal(body)
	if err != nil {
		return platform.Receipt{}, fmt.Errorf("write the post: %w", err)
	}
	a, err := s.call(ctx, request{method: http.MethodPost, path: "/2/tweets", mime: "application/json", body: data})
	if err != nil {
		return platform.Receipt{}, err
	}
	var made struct{ Data struct{ ID string } }
	switch {
	case a.OK() && a.Decode(&made) == nil && made.Data.ID != "":
		return receipt(made.Data.ID), nil
	case a.OK() || a.Status >= http.StatusInternalServerError: // it may be created
		return platform.Receipt{}, &platform.Error{Kind: platform.Unknown, Scope: platform.ScopeIdentity, Code: strconv.Itoa(a.Status), Err: errors.New("no answer says whether it is published")}
	}
	e := s.sort(a)
	if e.Code == duplicate && post.SentAgain {
		found, err := s.find(ctx, post, time.Time{})
		if err != nil { // it is out all the same
			return platform.Receipt{}, nil //nolint:nilerr // the link is all that is missing
		}
		return found, nil
	}
	return platform.Receipt{}, e
}

// clocksDiffer is how far our clock may be ahead of X's. X refuses the same words as a duplicate within that time.
const clocksDiffer = time.Hour

var errNotFound = errors.New("it is not in the timeline")

// lookUp settles a creation without an answer, as far as the timeline does.
func (s *session) lookUp(ctx context.Context, post platform.Post, begun time.Time) (platform.Receipt, error) {
	found, err := s.find(ctx, post, begun)
	e, known := errors.AsType[*platform.Error](err)
	switch {
	case err == nil:
		return found, nil
	case known && (e.Kind == platform.Transient && e.Scope == platform.ScopeIdentity || e.Kind == platform.Login || e.Kind == platform.Wait):
		return platform.Receipt{}, err // it is asked again
	}
	return platform.Receipt{}, &platform.Error{Kind: platform.Unconfirmed, Scope: platform.ScopeIdentity, Err: fmt.Errorf("no answer says whether it is published: %w", err)}
}

// find looks for the post among the latest of the identity, since a time unless that is zero. One without words and links
// cannot be told from others.
func (s *session) find(ctx context.Context, post platform.Post, since time.Time) (platform.Receipt, error) {
	query := url.Values{"max_results": {"100"}, "tweet.fields": {"created_at,entities"}}
	if !since.IsZero() {
		query.Set("start_time", since.Add(-clocksDiffer).UTC().Format(time.RFC3339))
	}
	var timeline struct{ Data []shown }
	if err := s.get(ctx, fmt.Sprintf("/2/users/%d/tweets", s.login.UserID), query, &timeline); err != nil {
		return platform.Receipt{}, err
	}
	for _, t := range timeline.Data {
		if said := words(post.Text); said != "" && words(t.text()) == said {
			return receipt(t.ID), nil
		}
	}
	return platform.Receipt{}, errNotFound
}

// shown is a post as the timeline has it: X writes links anew, and adds one to the media.
type shown struct {
	ID, Text string
	Entities struct {
		URLs []struct {
			URL      string
			Expanded string `json:"expanded_url"`
		}
	}
}

// text is what the post said when it was created. A link that X does not resolve stays as it is.
func (t shown) text() string {
	text := html.UnescapeString(t.Text)
	for _, u := range t.Entities.URLs {
		if strings.Contains(u.Expanded, "/status/"+t.ID+"/") { // to its media
			u.Expanded = " "
		}
		if u.URL != "" && u.Expanded != "" {
			text = strings.ReplaceAll(text, u.URL, u.Expanded)
		}
	}
	return text
}

var scheme = regexp.MustCompile(`(?i)https?://`)

// words is a text with single spaces, and its links without what X may add to them.
func words(text string) string {
	all := strings.Fields(scheme.ReplaceAllString(text, ""))
	for i := range all {
		all[i] = strings.TrimSuffix(all[i], "/")
	}
	return strings.Join(all, " ")
}

func receipt(id string) platform.Receipt {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return platform.Receipt{}
	}
	return platform.Receipt{MessageIDs: []int64{number}, Link: "https://x.com/i/status/" + id}
}
