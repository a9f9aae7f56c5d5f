package telegram

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // photos are measured before they are sent
	_ "image/jpeg"
	_ "image/png"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/gotd/td/tg"

	"belfry/platform"
	"belfry/platform/fetch"
)

// Telegram's limits. Lengths are in UTF-16 units, sizes in bytes.
const (
	textLimit    = 4096
	captionLimit = 1024
	entityLimit  = 100
	albumLimit   = 10

	photoLimit = 10 << 20
	fileLimit  = 4000 * partSize

	photoSides = 10000 // width and height of a photo together, in pixels
	photoRatio = 20    // of its longer side to its shorter
)

// checkMedia refuses media that can be seen to be wrong without opening them.
func (n *Network) checkMedia(media []platform.Media) error {
	if len(media) > albumLimit {
		return refusedContent("media", fmt.Errorf("an album has up to %d items, not %d", albumLimit, len(media)))
	}
	for i, m := range media {
		field := func(name string) string { return fmt.Sprintf("media[%d].%s", i, name) }
		switch m.Kind {
		case platform.Photo, platform.Video, platform.Document:
		default:
			return refusedContent(field("kind"), fmt.Errorf("%q is not one of photo, video and document", m.Kind))
		}
		if (m.Kind == platform.Document) != (media[0].Kind == platform.Document) {
			return refusedContent(field("kind"), errors.New("photos and videos go together, documents only with documents: make two posts"))
		}
		named := 0
		for _, is := range []bool{m.ID != 0, m.File != "", m.URL != ""} {
			if is {
				named++
			}
		}
		if named != 1 {
			return refusedContent(field("file"), errors.New("name one of an uploaded file, a file of the media folder and a URL"))
		}
		if m.URL == "" {
			continue
		}
		u, err := url.Parse(m.URL)
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
			return refusedContent(field("url"), fmt.Errorf("%q is not an http or https address", m.URL))
		}
		if err := n.cfg.Private.Check(u); err != nil {
			return refusedContent(field("url"), err)
		}
	}
	return nil
}

// fieldOf names the field that says where attachment number i is.
func fieldOf(i int, m platform.Media) string {
	switch {
	case m.URL != "":
		return fmt.Sprintf("media[%d].url", i)
	case m.ID != 0:
		return fmt.Sprintf("media[%d].id", i)
	}
	return fmt.Sprintf("media[%d].file", i)
}

// checkFile refuses a file that is not there or that Telegram will not take.
func (n *Network) checkFile(m platform.Media) error {
	f, err := n.open(context.Background(), m)
	if err != nil {
		return err
	}
	defer f.Close()
	if m.Kind != platform.Photo {
		return nil
	}
	size, _, err := image.DecodeConfig(f)
	if err != nil {
		return nil //nolint:nilerr // a format that only Telegram can judge
	}
	if size.Width+size.Height > photoSides || max(size.Width, size.Height) > photoRatio*min(size.Width, size.Height) {
		return fmt.Errorf("the photo has %d × %d pixels: width and height together may be %d, and one at most %d times the other; send it as a document",
			size.Width, size.Height, photoSides, photoRatio)
	}
	return nil
}

// content is an attachment that has been opened. Whoever opened it closes it.
type content struct {
	io.Reader
	io.Closer
	source io.Reader // beneath Reader
	size   int64     // bytes; -1 if only reading tells
	name   string
	mime   string
}

// open opens an attachment and finds out what it is. An error that will not pass is a
// [*platform.Error].
func (n *Network) open(ctx context.Context, m platform.Media) (c *content, err error) {
	switch {
	case m.URL != "":
		c, err = n.fetch(ctx, m)
	case m.ID != 0:
		c, err = n.openUploaded(m)
	default:
		c, err = n.openFile(m)
	}
	if err != nil {
		return nil, err
	}
	head := bufio.NewReader(c.Reader)
	c.source, c.Reader = c.Reader, head
	start, err := head.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		c.Close()
		return nil, fmt.Errorf("read %s: %w", c.name, err)
	}
	if err := c.identify(m.Kind, start); err != nil {
		c.Close()
		return nil, refusedContent("media", err)
	}
	return c, nil
}

// identify finds the content's type by its first bytes, and by its name where they say nothing.
func (c *content) identify(kind platform.MediaKind, start []byte) error {
	if len(start) == 0 {
		return errors.New("the file is empty")
	}
	seen, _, _ := strings.Cut(http.DetectContentType(start), ";")
	named, _, _ := strings.Cut(mime.TypeByExtension(path.Ext(c.name)), ";")
	switch kind {
	case platform.Photo:
		if !strings.HasPrefix(seen, "image/") {
			return fmt.Errorf("this is no photo but %s: use JPEG or PNG", seen)
		}
		c.mime = seen
	case platform.Video:
		if strings.HasPrefix(seen, "text/") || strings.HasPrefix(seen, "image/") {
			return fmt.Errorf("this is no video but %s: use MP4", seen)
		}
		c.mime = "video/mp4"
		for _, t := range []string{named, seen} {
			if strings.HasPrefix(t, "video/") {
				c.mime = t
			}
		}
	default:
		c.mime = cmp.Or(named, seen)
	}
	return nil
}

// openUploaded opens a file that was uploaded.
func (n *Network) openUploaded(m platform.Media) (*content, error) {
	if n.cfg.Media == nil {
		return nil, refusedContent("media", errors.New("no uploaded files are kept here: give a URL"))
	}
	f, err := n.cfg.Media(m.ID)
	if err != nil {
		return nil, err
	}
	if err := checkSize(m.Kind, f.Size); err != nil {
		f.Close()
		return nil, err
	}
	return &content{Reader: f.ReadCloser, Closer: f, size: f.Size, name: cmp.Or(m.Name, f.Name)}, nil
}

// openFile opens a file below the media folder.
func (n *Network) openFile(m platform.Media) (*content, error) {
	if n.root == nil {
		return nil, refusedContent("media", errors.New("no media folder is set up on this server: give a URL"))
	}
	info, err := n.root.Stat(m.File) // before it is opened: opening a pipe would wait
	if errors.Is(err, fs.ErrNotExist) {
		return nil, refusedContent("media", fmt.Errorf("the media folder has no file %s: put it there, or give a URL", m.File))
	}
	if wrong, ok := errors.AsType[*fs.PathError](err); ok {
		err = wrong.Err // the rest names the call of the system
	}
	if err != nil {
		return nil, refusedContent("media", fmt.Errorf("%s in the media folder cannot be used: %w", m.File, err))
	}
	if !info.Mode().IsRegular() {
		return nil, refusedContent("media", fmt.Errorf("%s is not a file", m.File))
	}
	if err := checkSize(m.Kind, info.Size()); err != nil {
		return nil, err
	}
	f, err := n.root.Open(m.File)
	if err != nil {
		return nil, fmt.Errorf("open the file: %w", err)
	}
	return &content{Reader: f, Closer: f, size: info.Size(), name: cmp.Or(m.Name, path.Base(m.File))}, nil
}

// fetch asks for the content behind a URL.
func (n *Network) fetch(ctx context.Context, m platform.Media) (*content, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.URL, nil)
	if err != nil {
		return nil, fmt.Errorf("fetch: %w", err)
	}
	req.Header.Set("User-Agent", "Belfry/"+cmp.Or(n.cfg.Version, "1"))
	res, err := n.web.Do(req)
	if err != nil {
		return nil, notFetched(err)
	}
	if res.StatusCode != http.StatusOK {
		res.Body.Close()
		err := fmt.Errorf("the server of %s answers %s", m.URL, res.Status)
		if res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests || res.StatusCode == http.StatusRequestTimeout {
			return nil, notFetched(err)
		}
		return nil, refusedContent("media", err)
	}
	if err := checkSize(m.Kind, res.ContentLength); err != nil {
		res.Body.Close()
		return nil, err
	}
	name := path.Base(res.Request.URL.Path)
	if name == "/" || name == "." {
		name = string(m.Kind)
	}
	return &content{Reader: fetched{res.Body}, Closer: res.Body, size: res.ContentLength, name: cmp.Or(m.Name, name)}, nil
}

// notFetched blames the content, and not the connection to Telegram, for what its own server failed at.
func notFetched(err error) error {
	if e, ok := errors.AsType[*platform.Error](err); ok { // it may not be fetched at all
		return e
	}
	return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Field: "media", Err: fmt.Errorf("fetch: %w", err)}
}

// fetched is the body of an answer, whose end before its time is the fault of the content's server.
type fetched struct{ io.Reader }

func (f fetched) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF): // not to be taken for the end of the last part
		err = notFetched(errors.New("its server ended the connection early"))
	case err != nil && !errors.Is(err, io.EOF):
		err = notFetched(err)
	}
	return n, err
}

// Fetchable asks for the media of a post that are somewhere else, and does not read them to the end. The
// error is a [*platform.Error] about the one that cannot be had.
func (n *Network) Fetchable(ctx context.Context, p platform.Post) error {
	for i, m := range p.Media {
		if m.URL == "" {
			continue
		}
		c, err := n.open(ctx, m)
		if err != nil {
			e := *platform.AsError(err)
			e.Field = fmt.Sprintf("media[%d].url", i)
			return &e
		}
		c.Close()
	}
	return nil
}

// webClient bounds the phases of a fetch in which nothing arrives; the whole is bounded by the
// caller's context.
func webClient(private fetch.Allowed) *http.Client {
	return &http.Client{Transport: private.Guard(&http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		TLSHandshakeTimeout:   15 * time.Second,
		ResponseHeaderTimeout: 30 * time.Second,
		IdleConnTimeout:       time.Minute,
		ForceAttemptHTTP2:     true,
	})}
}

func sizeLimit(kind platform.MediaKind) int64 {
	if kind == platform.Photo {
		return photoLimit
	}
	return fileLimit
}

func checkSize(kind platform.MediaKind, size int64) error {
	if limit := sizeLimit(kind); size > limit {
		return refusedContent("media", fmt.Errorf("the %s has %d MB and %d are allowed", kind, size>>20, limit>>20))
	}
	return nil
}

// inputMedia describes an uploaded file in the way that its kind is shown.
func inputMedia(kind platform.MediaKind, c *content, file tg.InputFileClass) tg.InputMediaClass {
	if kind == platform.Photo {
		return &tg.InputMediaUploadedPhoto{File: file}
	}
	media := &tg.InputMediaUploadedDocument{
		File: file, MimeType: c.mime,
		Attributes: []tg.DocumentAttributeClass{&tg.DocumentAttributeFilename{FileName: c.name}},
	}
	if kind == platform.Video {
		media.Attributes = append(media.Attributes, videoAttribute(c.source))
	} else {
		media.ForceFile = true
	}
	return media
}
