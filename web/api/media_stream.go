package api

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

const (
	// maxParts bounds the parts of a request with files.
	maxParts = 100
	// stallTime is how long a body may arrive without progress.
	stallTime = 30 * time.Second
)

// Body is a file of a request while it arrives.
type Body = io.Reader

// ReadFiles hands each file of a request to take, in their order: those of the multipart field file, or the body,
// whose name is in Content-Disposition. They are not kept in memory. The request may take any time, as long as it
// goes on.
func ReadFiles(c echo.Context, take func(name, claimed string, from Body) error) error {
	r := c.Request()
	r.Body = Steady(c)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if kind != "multipart/form-data" {
		_, given, _ := mime.ParseMediaType(r.Header.Get("Content-Disposition"))
		if kind == "application/x-www-form-urlencoded" { // what programs say that do not know
			kind = ""
		}
		return take(given["filename"], kind, r.Body)
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return cutOff(err)
	}
	for range maxParts {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return cutOff(err)
		}
		if part.FormName() != "file" {
			continue
		}
		if err := take(part.FileName(), part.Header.Get("Content-Type"), part); err != nil {
			if errors.Is(err, io.ErrUnexpectedEOF) {
				return cutOff(err)
			}
			return err
		}
	}
	return store.Invalid("file", "invalid.media_missing")
}

// cutOff is the refusal of a body that does not arrive whole.
func cutOff(err error) error {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	return fieldProblem(http.StatusBadRequest, FieldProblem{"body", "is cut off or cannot be read", "send it again"})
}

// Steady returns the body of a request, which may take any time as long as it goes on.
func Steady(c echo.Context) io.ReadCloser {
	return &steady{ReadCloser: c.Request().Body, control: http.NewResponseController(c.Response())}
}

type steady struct {
	io.ReadCloser
	control *http.ResponseController
	renewed time.Time
}

func (s *steady) Read(p []byte) (int, error) {
	if now := time.Now(); now.Sub(s.renewed) > time.Second {
		s.renewed = now
		// Where the connection knows no deadline there is none that would have to be moved.
		_ = s.control.SetReadDeadline(now.Add(stallTime))
		_ = s.control.SetWriteDeadline(now.Add(longAnswer))
	}
	n, err := s.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fieldProblem(http.StatusRequestTimeout, FieldProblem{"body", "does not arrive", "send it again"})
	}
	return n, err
}

// MediaAnswer returns what answers with an uploaded file, or its thumbnail. Browsers show pictures and films, and run
// nothing of what is in a file.
func MediaAnswer(db *store.DB, id uint64, thumbnail bool) (func(echo.Context), error) {
	var f store.MediaFile
	var small []byte
	err := db.View(func(tx *store.Tx) (err error) {
		if f, err = tx.Media.Whole(id); err == nil && thumbnail {
			small, err = tx.Media.Thumbnail(id)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	file, err := db.OpenMedia(id)
	if err != nil {
		return nil, err
	}
	return func(c echo.Context) {
		h, from, tag := c.Response().Header(), io.ReadSeeker(file), hex.EncodeToString(f.SHA256)
		how := "attachment"
		if f.Kind != "document" {
			how = "inline"
		}
		h.Set("Content-Type", f.Type)
		if thumbnail {
			from, tag = bytes.NewReader(small), tag+"-small"
			h.Set("Content-Type", "image/jpeg")
		}
		if strings.HasPrefix(f.Type, "text/") && !thumbnail {
			h.Set("Content-Type", "text/plain; charset=utf-8")
		}
		h.Set("Content-Disposition", mime.FormatMediaType(how, map[string]string{"filename": f.Name}))
		h.Set("Content-Security-Policy", "sandbox; default-src 'none'; frame-ancestors 'none'")
		h.Set("Cache-Control", "private, max-age=86400")
		h.Set("ETag", fmt.Sprintf("%q", tag))
		AllowTime(c)
		http.ServeContent(c.Response(), c.Request(), "", f.CreatedAt, from)
	}, nil
}
