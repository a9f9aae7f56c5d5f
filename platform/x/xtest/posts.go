package xtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/platform/x"
)

// only refuses parameters that X does not know.
func only(r *http.Request, known ...string) (int, any, bool) {
	for name := range r.URL.Query() {
		if !slices.Contains(known, name) {
			status, body := problem(http.StatusBadRequest, "Invalid Request", fmt.Sprintf("The query parameter [%s] is not one of [%s]", name, strings.Join(known, ",")))
			return status, body, false
		}
	}
	return 0, nil, true
}

// read reads a body of JSON that has no unknown field.
func read(r *http.Request, to any) error {
	if r.Header.Get("Content-Type") != "application/json" {
		return fmt.Errorf("Content-Type is %q", r.Header.Get("Content-Type"))
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	return d.Decode(to)
}

func (s *Server) me(r *http.Request, u User) (int, any) {
	if status, body, ok := only(r, "user.fields"); !ok {
		return status, body
	}
	return http.StatusOK, map[string]any{"data": map[string]any{"id": text(u.ID), "name": u.Username, "username": u.Username}}
}

func (s *Server) create(r *http.Request, u User) (int, any) {
	var in struct {
		Text  string `json:"text"`
		Media *struct {
			MediaIDs []string `json:"media_ids"`
		} `json:"media"`
	}
	if err := read(r, &in); err != nil {
		return problem(http.StatusBadRequest, "Invalid Request", err.Error())
	}
	var ids []string
	if in.Media != nil {
		ids = in.Media.MediaIDs
	}
	switch {
	case in.Text == "" && len(ids) == 0:
		return problem(http.StatusBadRequest, "Invalid Request", "text is missing")
	case x.Weight(in.Text) > 280:
		return problem(http.StatusForbidden, "Forbidden", "Your Tweet text is too long.")
	case in.Media != nil && (len(ids) == 0 || len(ids) > 4):
		return problem(http.StatusBadRequest, "Invalid Request", "media.media_ids must have 1 to 4 entries")
	}
	for _, id := range ids {
		m := s.media[id]
		if m == nil || m.owner != u.ID || !m.final || m.checks > 0 {
			return problem(http.StatusBadRequest, "Invalid Request", "Your media IDs are invalid.")
		}
	}
	for _, p := range s.posts {
		if p.UserID == u.ID && p.Text == in.Text && len(p.MediaIDs) == 0 && len(ids) == 0 {
			return problem(http.StatusForbidden, "Forbidden", "You are not allowed to create a Tweet with duplicate content.")
		}
	}
	p := Post{ID: s.nextID(), UserID: u.ID, Text: in.Text, MediaIDs: ids, At: s.options.Now()}
	s.posts = append(s.posts, p)
	return http.StatusCreated, map[string]any{"data": map[string]any{"id": text(p.ID), "text": p.Text}}
}

var links = regexp.MustCompile(`https?://[^\s]*[^\s.,]`)

func (s *Server) timeline(r *http.Request, u User) (int, any) {
	if status, body, ok := only(r, "max_results", "start_time", "tweet.fields"); !ok {
		return status, body
	}
	if r.PathValue("id") != text(u.ID) {
		return problem(http.StatusForbidden, "Forbidden", "not your timeline")
	}
	var since time.Time
	if given := r.URL.Query().Get("start_time"); given != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, given); err != nil {
			return problem(http.StatusBadRequest, "Invalid Request", "start_time: "+err.Error())
		}
	}
	found := []map[string]any{}
	for _, p := range slices.Backward(s.posts) {
		if p.UserID == u.ID && !p.At.Before(since) {
			urls := []map[string]string{}
			link := func(to string) string {
				short := fmt.Sprintf("https://t.co/%d%03d", p.ID%1_000_000, len(urls))
				urls = append(urls, map[string]string{"url": short, "expanded_url": to})
				return short
			}
			shown := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(links.ReplaceAllStringFunc(p.Text, link))
			if len(p.MediaIDs) > 0 {
				shown += " " + link(fmt.Sprintf("https://x.com/%s/status/%d/photo/1", u.Username, p.ID))
			}
			found = append(found, map[string]any{"id": text(p.ID), "text": strings.TrimSpace(shown), "created_at": p.At.UTC().Format(time.RFC3339), "entities": map[string]any{"urls": urls}})
		}
	}
	return http.StatusOK, map[string]any{"data": found, "meta": map[string]any{"result_count": len(found)}}
}

func (s *Server) initialize(r *http.Request, u User) (int, any) {
	var in struct {
		Type     string `json:"media_type"`
		Bytes    int64  `json:"total_bytes"`
		Category string `json:"media_category"`
	}
	if err := read(r, &in); err != nil {
		return problem(http.StatusBadRequest, "Invalid Request", err.Error())
	}
	category := map[string]string{"image/jpeg": "tweet_image", "image/png": "tweet_image", "image/webp": "tweet_image", "image/gif": "tweet_gif", "video/mp4": "tweet_video"}[in.Type]
	if category == "" || category != in.Category || in.Bytes <= 0 {
		return problem(http.StatusBadRequest, "Invalid Request", fmt.Sprintf("media_type %q, media_category %q, total_bytes %d", in.Type, in.Category, in.Bytes))
	}
	id := text(s.nextID())
	m := &medium{owner: u.ID, total: in.Bytes, mime: in.Type}
	if category == "tweet_video" {
		m.checks = s.options.Processing
	}
	s.media[id] = m
	return http.StatusOK, map[string]any{"data": map[string]any{"id": id, "media_key": "3_" + id, "expires_after_secs": 86400}}
}

// own returns the user's medium that the request is about.
func (s *Server) own(id string, u User) *medium {
	if m := s.media[id]; m != nil && m.owner == u.ID {
		return m
	}
	return nil
}

func (s *Server) append(r *http.Request, u User) (int, any) {
	m := s.own(r.PathValue("id"), u)
	if m == nil || m.final {
		return problem(http.StatusNotFound, "Not Found", "no such upload")
	}
	if err := r.ParseMultipartForm(8 << 20); err != nil {
		return problem(http.StatusBadRequest, "Invalid Request", err.Error())
	}
	segment, err := strconv.Atoi(r.PostFormValue("segment_index"))
	file, _, missing := r.FormFile("media")
	if err != nil || missing != nil || segment != m.segments {
		return problem(http.StatusBadRequest, "Invalid Request", fmt.Sprintf("segment_index %d of %d, media: %v", segment, m.segments, missing))
	}
	data, err := io.ReadAll(file)
	if err != nil || len(data) == 0 || len(data) > 5<<20 {
		return problem(http.StatusBadRequest, "Invalid Request", "a segment has 1 byte to 5 MB")
	}
	m.data, m.segments = append(m.data, data...), m.segments+1
	return http.StatusNoContent, nil
}

func (s *Server) finalize(r *http.Request, u User) (int, any) {
	m := s.own(r.PathValue("id"), u)
	if m == nil || m.final || int64(len(m.data)) != m.total {
		return problem(http.StatusBadRequest, "Invalid Request", "not all bytes were uploaded")
	}
	m.final = true
	return http.StatusOK, m.shown(r.PathValue("id"), "pending")
}

func (s *Server) status(r *http.Request, u User) (int, any) {
	if status, body, ok := only(r, "command", "media_id"); !ok {
		return status, body
	}
	id := r.URL.Query().Get("media_id")
	m := s.own(id, u)
	if m == nil || !m.final || r.URL.Query().Get("command") != "STATUS" {
		return problem(http.StatusNotFound, "Not Found", "no such upload")
	}
	if m.checks > 0 {
		m.checks--
	}
	return http.StatusOK, m.shown(id, "in_progress")
}

func (m *medium) shown(id, state string) any {
	data := map[string]any{"id": id, "media_key": "3_" + id, "size": m.total, "expires_after_secs": 86400}
	if m.checks > 0 {
		data["processing_info"] = map[string]any{"state": state, "check_after_secs": 5}
	} else if m.mime == "video/mp4" {
		data["processing_info"] = map[string]any{"state": "succeeded", "progress_percent": 100}
	}
	return map[string]any{"data": data}
}
