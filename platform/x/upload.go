package x

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"belfry/platform"
	"belfry/platform/rest"
)

// upload is a medium that X has.
type upload struct {
	ID    string `json:"id"`
	Ready bool   `json:"ready,omitempty"`
}

// partial is a medium of which X has so many segments.
type partial struct {
	ID   string `json:"id"`
	Sent int64  `json:"sent"`
}

const (
	chunk       = 4 << 20          // of all segments but the last
	uploadTime  = 30 * time.Second // after which no segment is begun, so that the last one has time, too
	maxPhoto    = 5 << 20
	maxGIF      = 15 << 20
	maxVideo    = 512 << 20
	mediaLives  = 23 * time.Hour // X keeps media that no post shows for 24
	checkPause  = 5 * time.Second
	processTime = time.Hour // that X has to process a medium
)

// processing is how far X is with a medium; empty: it is done.
type processing struct {
	Data struct {
		ID   string
		Info *struct {
			State      string
			CheckAfter int64 `json:"check_after_secs"`
			Error      struct{ Message, Name string }
		} `json:"processing_info"`
	}
}

// nextUpload uploads the first medium that X does not have, or some of it: the next attempt goes on there. An attempt
// that brings X no further has failed.
func (s *session) nextUpload(ctx context.Context, post platform.Post, st state) error {
	i := len(st.Media)
	field := fmt.Sprintf("media[%d]", i)
	c, err := s.network.open(ctx, post.Media[i])
	if err != nil {
		if e, ok := errors.AsType[*platform.Error](err); ok {
			e.Field = field
			return e
		}
		return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Field: field, Err: fmt.Errorf("%s: %w", field, err)}
	}
	defer c.Close()
	category, why := c.category(post.Media[i], len(post.Media))
	if why != "" {
		return refused(field, why)
	}
	resumed := st.Part != nil
	if !resumed {
		asked, err := json.Marshal(map[string]any{"media_type": c.mime, "total_bytes": c.size, "media_category": category})
		if err != nil {
			return fmt.Errorf("begin to upload: %w", err)
		}
		var begun processing
		if err := s.harmless(ctx, request{method: http.MethodPost, path: uploads + "initialize", mime: "application/json", body: asked}, &begun); err != nil {
			return err
		}
		st.Part = &partial{ID: begun.Data.ID}
		if i == 0 {
			st.Until = s.network.cfg.Now().Add(mediaLives)
		}
	}
	before := st.Part.Sent
	var done processing
	err = s.segments(ctx, c, st.Part)
	if err == nil {
		err = s.transfer(ctx, request{method: http.MethodPost, path: st.Part.path("finalize")}, &done)
	}
	e, sorted := errors.AsType[*platform.Error](err)
	switch {
	case err == nil:
		st.Media, st.Part = append(st.Media, upload{ID: st.Part.ID}), nil
		return s.processed(st, i, done)
	case !sorted:
		return err
	case e.Kind == platform.Transient && st.Part.Sent > before:
		return rest.UnderWay(st, 0, fmt.Sprintf("%.1f of %.1f MB are there", float64(min(st.Part.Sent*chunk, c.size))/(1<<20), float64(c.size)/(1<<20)))
	case e.Kind == platform.Refused && resumed: // X has forgotten it, or has more of it than is known here
		e.Kind, st.Part = platform.Transient, nil
	}
	return rest.Keep(e, st)
}

const uploads = "/2/media/upload/"

func (p partial) path(verb string) string { return uploads + url.PathEscape(p.ID) + "/" + verb }

// segments sends what X does not have, as long as there is time.
func (s *session) segments(ctx context.Context, c *content, part *partial) error {
	_, err := io.CopyN(io.Discard, c, min(part.Sent*chunk, c.size))
	begun := s.network.cfg.Now()
	for data := make([]byte, chunk); err == nil && part.Sent*chunk < c.size; part.Sent++ {
		if s.network.cfg.Now().Sub(begun) > uploadTime {
			return failed(errors.New("there is more time in the next attempt"))
		}
		data = data[:min(chunk, c.size-part.Sent*chunk)]
		if _, err = io.ReadFull(c, data); err != nil {
			break
		}
		if err := s.append(ctx, *part, data); err != nil {
			return err
		}
	}
	if err != nil { // it ends before its size, too
		return failed(fmt.Errorf("read the media: %w", platform.WithoutURL(err)))
	}
	return nil
}

// failed is the error of a medium after which the attempt has failed.
func failed(err error) *platform.Error {
	return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Err: err}
}

// transfer makes a call that may be repeated. One that was sent and not answered is no fault of the connection alone:
// a segment may be too large for it.
func (s *session) transfer(ctx context.Context, r request, to any) error {
	a, err := s.call(ctx, r)
	if e, ok := errors.AsType[*platform.Error](err); ok && e.Kind == platform.Unknown {
		e.Kind, e.Scope = platform.Transient, platform.ScopeContent
	}
	return rest.Harmless(a, err, to, func(a rest.Answer) error { return s.sort(a) })
}

func (s *session) append(ctx context.Context, part partial, data []byte) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err := form.WriteField("segment_index", strconv.FormatInt(part.Sent, 10))
	if err == nil {
		var to io.Writer
		if to, err = form.CreateFormFile("media", "media"); err == nil {
			_, err = to.Write(data)
		}
	}
	if err := errors.Join(err, form.Close()); err != nil {
		return fmt.Errorf("write a part: %w", err)
	}
	return s.transfer(ctx, request{method: http.MethodPost, path: part.path("append"), mime: form.FormDataContentType(), body: body.Bytes()}, nil)
}

// await asks whether X is done with a medium.
func (s *session) await(ctx context.Context, st state, i int) error {
	var at processing
	query := url.Values{"command": {"STATUS"}, "media_id": {st.Media[i].ID}}
	if err := s.get(ctx, "/2/media/upload", query, &at); err != nil {
		return err
	}
	return s.processed(st, i, at)
}

// processed goes on with a medium as X is done with it.
func (s *session) processed(st state, i int, at processing) error {
	info, now := at.Data.Info, s.network.cfg.Now()
	if st.Since.IsZero() {
		st.Since = now
	}
	switch {
	case info == nil || info.State == "succeeded":
		st.Media[i].Ready, st.Since = true, time.Time{}
		return rest.UnderWay(st, 0, fmt.Sprintf("%d media uploaded", i+1))
	case info.State == "failed":
		return refused(fmt.Sprintf("media[%d]", i), strings.TrimSpace("X cannot use it: "+info.Error.Name+" "+info.Error.Message))
	case now.Sub(st.Since) > processTime: // all of it is done again
		return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, State: []byte{}, Err: fmt.Errorf("the media were not ready after %s", processTime)}
	}
	return rest.UnderWay(st, max(time.Duration(info.CheckAfter)*time.Second, checkPause), "X is processing the media")
}

// content is a medium that has been opened.
type content struct {
	io.Reader
	io.Closer
	size int64
	mime string
}

// category is what X calls a medium of a post with so many, and why X does not take it; empty if it does.
func (c *content) category(m platform.Media, of int) (category, why string) {
	category, limit := "tweet_image", int64(maxPhoto)
	switch {
	case m.Kind == platform.Video:
		category, limit = "tweet_video", maxVideo
	case c.mime == "image/gif":
		category, limit = "tweet_gif", maxGIF
	case c.mime != "image/jpeg" && c.mime != "image/png" && c.mime != "image/webp":
		return "", fmt.Sprintf("X does not take %s: use JPEG, PNG, GIF, WebP or MP4", c.mime)
	}
	switch {
	case category == "tweet_gif" && of > 1:
		return "", "X shows a GIF alone: remove the other media"
	case c.size > limit:
		return "", fmt.Sprintf("the file has %.1f MB and X takes %d: use a smaller one", float64(c.size)/(1<<20), limit>>20)
	}
	return category, ""
}

// measure reads a medium whose size is not known.
func (c *content) measure() error {
	data, err := io.ReadAll(io.LimitReader(c.Reader, maxGIF+1))
	switch {
	case err != nil:
		return fmt.Errorf("fetch the media: %w", platform.WithoutURL(err))
	case len(data) > maxGIF:
		return refused("media", fmt.Sprintf("it has more than %d MB, and its site does not say how many: upload the file", maxGIF>>20))
	}
	c.Reader, c.size = bytes.NewReader(data), int64(len(data))
	return nil
}

// open opens a medium and finds out its size and type. An error that will not pass is a [*platform.Error].
func (n *Network) open(ctx context.Context, m platform.Media) (*content, error) {
	c := &content{}
	if m.URL != "" {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, m.URL, nil)
		if err != nil {
			return nil, fmt.Errorf("fetch the media: %w", platform.WithoutURL(err))
		}
		response, err := n.web.Do(r)
		if err != nil {
			return nil, fmt.Errorf("fetch the media: %w", platform.WithoutURL(err))
		}
		c.Reader, c.Closer, c.size = response.Body, response.Body, response.ContentLength
		if response.StatusCode != http.StatusOK {
			c.Close()
			return nil, fmt.Errorf("fetch the media: the answer was %s", response.Status)
		}
		if c.size < 0 { // the site does not say it
			if err := c.measure(); err != nil {
				c.Close()
				return nil, err
			}
		}
	} else if m.ID != 0 {
		f, err := n.cfg.Media(m.ID)
		if err != nil {
			return nil, err
		}
		c.Reader, c.Closer, c.size = f, f, f.Size
	} else {
		if n.root == nil {
			return nil, refused("media", "there is no media folder")
		}
		info, err := n.root.Stat(m.File) // before it is opened: opening a pipe would wait
		if err != nil || !info.Mode().IsRegular() {
			return nil, refused("media", fmt.Sprintf("there is no file %s in the media folder", m.File))
		}
		f, err := n.root.Open(m.File)
		if err != nil {
			return nil, fmt.Errorf("open %s: %w", m.File, err)
		}
		c.Reader, c.Closer, c.size = f, f, info.Size()
	}
	head := bufio.NewReader(c.Reader)
	start, err := head.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		c.Close()
		return nil, fmt.Errorf("read the media: %w", err)
	}
	c.Reader = head
	c.mime, _, _ = strings.Cut(http.DetectContentType(start), ";")
	if want := map[platform.MediaKind]string{platform.Photo: "image/", platform.Video: "video/"}[m.Kind]; !strings.HasPrefix(c.mime, want) {
		c.Close()
		return nil, refused("media", fmt.Sprintf("it is no %s but %s", m.Kind, c.mime))
	}
	return c, nil
}
