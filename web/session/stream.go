package session

import (
	"errors"
	"io"
	"mime/multipart"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"
)

const (
	// csrfHeader carries the sign-in's token where the body is no form.
	csrfHeader = "X-CSRF-Token"
	// streamContext marks requests whose body is read while it arrives, and partsContext has its parts.
	streamContext = "belfry-stream"
	partsContext  = "belfry-parts"
	// Before the sign-in's token a form has no more than the button that sent it.
	maxBefore = 5
	maxField  = 200 // bytes
)

// StreamedForm is a multipart form that is read while it arrives.
type StreamedForm struct {
	Begun url.Values // the fields up to the sign-in's token
	Rest  *multipart.Reader
}

// Stream says that the body of a request may be large: [Sessions.Required] reads no more of a multipart form than up
// to the sign-in's token.
func Stream(c echo.Context) { c.Set(streamContext, true) }

// Streamed returns the form of a request that is read while it arrives, or nil for any other request.
func Streamed(c echo.Context) *StreamedForm {
	f, _ := c.Get(partsContext).(*StreamedForm)
	return f
}

// readToken reads a form up to the sign-in's token, which is empty if it does not come soon.
func readToken(c echo.Context) (string, error) {
	parts, err := c.Request().MultipartReader()
	if err != nil {
		return "", err
	}
	f := &StreamedForm{url.Values{}, parts}
	c.Set(partsContext, f)
	for range maxBefore {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(io.LimitReader(part, maxField))
		if err != nil {
			return "", err
		}
		f.Begun.Add(part.FormName(), string(text))
		if part.FormName() == csrfField {
			return string(text), nil
		}
	}
	return "", nil
}

// isStreamed reports whether a request is a multipart form that is read while it arrives.
func isStreamed(c echo.Context) bool {
	return c.Get(streamContext) != nil && strings.HasPrefix(c.Request().Header.Get(echo.HeaderContentType), echo.MIMEMultipartForm)
}
