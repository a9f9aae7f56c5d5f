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

const (
	chunk      = 1 << 20
	maxPhoto   = 5 << 20
	maxVideo   = 512 << 20
	mediaLives = 23 * time.Hour // X keeps media that no post shows for 24
	checkPause = 5 * time.Second
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

// nextUpload uploads the first medium that X does not have. If it is cut off it is done again: what X has of it
// is in no post.
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
	var begun processing
	category, limit := "tweet_image", int64(maxPhoto)
	switch {
	case post.Media[i].Kind == platform.Video:
		category, limit = "tweet_video", maxVideo
	case c.mime == "image/gif":
		category, limit = "tweet_gif", 3*maxPhoto
	}
	if c.size > limit {
		return refused(field, fmt.Sprintf("has %d MB: X takes %d", c.size>>20, limit>>20))
	}
	asked, err := json.Marshal(map[string]any{"media_type": c.mime, "total_bytes": c.size, "media_category": category})
	if err != nil {
		return fmt.Errorf("begin to upload: %w", err)
	}
	const path = "/2/media/upload/"
	if err := s.harmless(ctx, request{method: http.MethodPost, path: path + "initialize", mime: "application/json", body: asked}, &begun); err != nil {
		return err
	}
	own := path + url.PathEscape(begun.Data.ID)
	part := make([]byte, chunk)
	for segment := 0; ; segment++ {
		n, err := io.ReadFull(c, part)
		if n > 0 {
			if err := s.append(ctx, own+"/append", segment, part[:n]); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			break
		}
		if err != nil {
			return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Field: field, Err: fmt.Errorf("read %s: %w", field, platform.WithoutURL(err))}
		}
	}
	var done processing
	if err := s.harmless(ctx, request{method: http.MethodPost, path: own + "/finalize"}, &done); err != nil {
		return err
	}
	if i == 0 {
		st.Until = s.network.cfg.Now().Add(mediaLives)
	}
	st.Media = append(st.Media, upload{ID: begun.Data.ID})
	return st.processed(i, done)
}

func (s *session) append(ctx context.Context, path string, segment int, data []byte) error {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	err := form.WriteField("segment_index", strconv.Itoa(segment))
	if err == nil {
		var to io.Writer
		if to, err = form.CreateFormFile("media", "media"); err == nil {
			_, err = to.Write(data)
		}
	}
	if err := errors.Join(err, form.Close()); err != nil {
		return fmt.Errorf("write a part: %w", err)
	}
	return s.harmless(ctx, request{method: http.MethodPost, path: path, mime: form.FormDataContentType(), body: body.Bytes()}, nil)
}

// await asks whether X is done with a medium.
func (s *session) await(ctx context.Context, st state, i int) error {
	var at processing
	query := url.Values{"command": {"STATUS"}, "media_id": {st.Media[i].ID}}
	if err := s.get(ctx, "/2/media/upload", query, &at); err != nil {
		return err
	}
	return st.processed(i, at)
}

// processed goes on with a medium as X is done with it.
func (st state) processed(i int, at processing) error {
	info := at.Data.Info
	switch {
	case info == nil || info.State == "succeeded":
		st.Media[i].Ready = true
		return rest.UnderWay(st, 0, fmt.Sprintf("%d media uploaded", i+1))
	case info.State == "failed":
		return refused(fmt.Sprintf("media[%d]", i), strings.TrimSpace("X cannot use it: "+info.Error.Name+" "+info.Error.Message))
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
		if response.StatusCode != http.StatusOK || c.size < 0 {
			c.Close()
			return nil, fmt.Errorf("fetch the media: the answer was %s with %d bytes", response.Status, c.size)
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
