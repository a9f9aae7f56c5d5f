package instagram

import (
	"context"
	"errors"
	"fmt"
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
	Children  []string  `json:"children,omitempty"` // the containers of an album's media
	Ready     int       `json:"ready,omitempty"`    // how many of them are filled
	Container string    `json:"container,omitempty"`
	Since     time.Time `json:"since,omitzero"` // when the last container was made
}

const (
	pictureTime = 10 * time.Minute // that Instagram has to fill a container
	filmTime    = time.Hour
)

// Publish goes on until there is something to keep or to wait for: a container was made, or Instagram is filling
// one; or the post is out.
func (p publisher) Publish(ctx context.Context, post platform.Post) (platform.Receipt, error) {
	l, err := p.network.login(p.identity)
	if err != nil {
		return platform.Receipt{}, err
	}
	s := session{p.network, p.identity, l}
	st, err := rest.State[state](post)
	if err != nil {
		return platform.Receipt{}, err
	}
	if st.Container == "" {
		return platform.Receipt{}, s.prepare(ctx, post, st)
	}
	status, err := s.filled(ctx, post, st, st.Container)
	if err != nil {
		return platform.Receipt{}, err
	}
	if status == "PUBLISHED" {
		return s.recent(ctx, post, st), nil
	}
	return s.publish(ctx, post, st)
}

// prepare makes the next container of a post.
func (s session) prepare(ctx context.Context, post platform.Post, st state) error {
	form := url.Values{}
	album := len(post.Media) > 1
	next := len(st.Children)
	switch {
	case album && next == len(post.Media):
		for ; st.Ready < len(st.Children); st.Ready++ {
			if _, err := s.filled(ctx, post, st, st.Children[st.Ready]); err != nil {
				return err
			}
		}
		form = url.Values{"media_type": {"CAROUSEL"}, "children": {strings.Join(st.Children, ",")}}
	default:
		m := post.Media[next]
		address, err := s.network.address(m)
		if err != nil {
			return err
		}
		switch {
		case m.Kind == platform.Photo:
			form.Set("image_url", address)
		case album:
			form.Set("media_type", "VIDEO")
			form.Set("video_url", address)
		default:
			form.Set("media_type", "REELS")
			form.Set("video_url", address)
		}
		if album {
			form.Set("is_carousel_item", "true")
		}
	}
	child := form.Has("is_carousel_item")
	if text := strings.TrimSpace(post.Text); text != "" && !child {
		form.Set("caption", text)
	}
	var made struct{ ID string }
	if err := s.harmless(ctx, http.MethodPost, version+"/"+s.login.UserID+"/media", form, &made); err != nil {
		if e := platform.AsError(err); e.Kind == platform.Refused && e.Field == "" && (child || !album) {
			e.Field = fmt.Sprintf("media[%d].url", next)
		}
		return err
	}
	st.Since = s.network.cfg.Now()
	if child {
		st.Children = append(st.Children, made.ID)
	} else {
		st.Container = made.ID
	}
	return rest.UnderWay(st, 0, fmt.Sprintf("container %s", made.ID))
}

var errorCode = regexp.MustCompile(`22070\d\d`)

// filled returns the state of a container that is FINISHED or PUBLISHED; else the error says what is to be done.
func (s session) filled(ctx context.Context, post platform.Post, st state, container string) (string, error) {
	var is struct {
		Code   string `json:"status_code"`
		Status string
	}
	if err := s.harmless(ctx, http.MethodGet, version+"/"+container, url.Values{"fields": {"status_code,status"}}, &is); err != nil {
		return "", err
	}
	limit := pictureTime
	for _, m := range post.Media {
		if m.Kind == platform.Video {
			limit = filmTime
		}
	}
	passed := max(0, s.network.cfg.Now().Sub(st.Since)) // or the clock was set back
	switch is.Code {
	case "FINISHED", "PUBLISHED":
		return is.Code, nil
	case "IN_PROGRESS":
		if passed <= limit {
			return "", rest.UnderWay(st, nextLook(passed), "the media are being prepared")
		}
		return "", another(fmt.Errorf("the media were not ready after %v", limit))
	case "EXPIRED":
		return "", another(errors.New("the container has expired"))
	}
	code, _ := strconv.Atoi(errorCode.FindString(is.Status)) // of an unknown error 0
	e := sorted(0, code, fmt.Errorf("the media could not be used: %s", is.Status))
	if e.Kind == platform.Transient { // the container stays as it is
		e.State = []byte{}
	}
	return "", e
}

// nextLook is the pause before a container is looked at again: 5, 15, 30 and 60 s after it was made, then each
// minute.
func nextLook(passed time.Duration) time.Duration {
	for _, at := range []time.Duration{5 * time.Second, 15 * time.Second, 30 * time.Second} {
		if passed < at {
			return at - passed
		}
	}
	return time.Minute - passed%time.Minute
}

// publish publishes a container that is filled.
func (s session) publish(ctx context.Context, post platform.Post, st state) (platform.Receipt, error) {
	a, err := s.call(ctx, http.MethodPost, version+"/"+s.login.UserID+"/media_publish", url.Values{"creation_id": {st.Container}})
	if err != nil {
		return platform.Receipt{}, err
	}
	var made struct{ ID string }
	switch {
	case a.OK() && a.Decode(&made) == nil && made.ID != "":
		return s.receipt(ctx, made.ID), nil
	case a.OK() || a.Status >= http.StatusInternalServerError:
		return platform.Receipt{}, &platform.Error{Kind: platform.Unknown, Scope: platform.ScopeIdentity, Code: strconv.Itoa(a.Status), Err: errors.New("no answer says whether it is published")}
	}
	err = s.refused(a)
	e := platform.AsError(err)
	if e.Kind == platform.Stopped || post.Unanswered { // it may be out all the same
		if status, err := s.filled(ctx, post, st, st.Container); err == nil && status == "PUBLISHED" {
			return s.recent(ctx, post, st), nil
		}
	}
	if post.Unanswered && e.State != nil { // with another container it might be out twice
		return platform.Receipt{}, &platform.Error{Kind: platform.Unconfirmed, Scope: platform.ScopeContent, Code: e.Code, Err: e.Err}
	}
	return platform.Receipt{}, err
}

// receipt is the receipt of a post that is out. Its link is what it may lack.
func (s session) receipt(ctx context.Context, id string) platform.Receipt {
	var is struct{ Permalink string }
	_ = s.harmless(ctx, http.MethodGet, version+"/"+id, url.Values{"fields": {"permalink"}}, &is) // it is out all the same
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return platform.Receipt{Link: is.Permalink}
	}
	return platform.Receipt{MessageIDs: []int64{number}, Link: is.Permalink}
}

// recent looks for a post that is out among the latest of the account; what is not found has no link.
func (s session) recent(ctx context.Context, post platform.Post, st state) platform.Receipt {
	var list struct {
		Data []struct{ ID, Caption, Timestamp string }
	}
	query := url.Values{"fields": {"id,caption,timestamp"}, "limit": {"25"}}
	if err := s.harmless(ctx, http.MethodGet, version+"/"+s.login.UserID+"/media", query, &list); err != nil {
		return platform.Receipt{}
	}
	for _, m := range list.Data {
		at, err := time.Parse("2006-01-02T15:04:05-0700", m.Timestamp)
		if err == nil && at.After(st.Since.Add(-time.Minute)) && m.Caption == strings.TrimSpace(post.Text) {
			return s.receipt(ctx, m.ID)
		}
	}
	return platform.Receipt{}
}

// session makes the calls of an identity.
type session struct {
	network  *Network
	identity uint64
	login    Login
}

func (s session) call(ctx context.Context, method, path string, params url.Values) (rest.Answer, error) {
	address, body := s.network.api+path, ""
	if method == http.MethodGet {
		address += "?" + params.Encode()
	} else {
		body = params.Encode()
	}
	r, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return rest.Answer{}, fmt.Errorf("call Instagram: %w", platform.WithoutURL(err))
	}
	r.Header.Set("User-Agent", "Belfry")
	r.Header.Set("Authorization", "Bearer "+s.login.Token)
	if body != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	return rest.Do(s.network.http, r)
}

// harmless makes a call that may be repeated, and reads its answer unless to is nil.
func (s session) harmless(ctx context.Context, method, path string, params url.Values, to any) error {
	a, err := s.call(ctx, method, path, params)
	return rest.Harmless(a, err, to, s.refused)
}
