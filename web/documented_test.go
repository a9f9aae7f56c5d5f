package web

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"

	"belfry/web/api"
)

// documented passes requests on, and fails the test for each answer of the API that its document does not
// describe: an unknown route that is not refused, a status, a content type or a field.
type documented struct {
	testing.TB
	next http.RoundTripper
}

func (d documented) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := d.next.RoundTrip(r)
	if err != nil || r.Method == http.MethodHead || !strings.HasPrefix(r.URL.Path, api.Base+"/") {
		return response, err
	}
	body, err := io.ReadAll(response.Body)
	rest := response.Body
	response.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), rest), rest}
	if err != nil { // the rest says so
		return response, nil
	}
	if err := d.check(r, response, body); err != nil {
		d.Errorf("%s %s: the answer %d is not as the document has it: %v\n%.2000s", r.Method, r.URL.Path, response.StatusCode, err, body)
	}
	return response, nil
}

func (d documented) check(r *http.Request, response *http.Response, body []byte) error {
	router, err := d.router(r)
	if err != nil {
		return err
	}
	path := *r
	path.URL = &url.URL{Path: r.URL.Path, RawPath: r.URL.RawPath} // the document names no host
	route, parameters, err := router.FindRoute(&path)
	if err != nil {
		if response.StatusCode < 400 || response.Header.Get("Content-Type") != "application/problem+json" {
			return err
		}
		return nil // what is not there is refused
	}
	answer := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: r, PathParams: parameters, Route: route},
		Status:                 response.StatusCode, Header: response.Header,
		Options: &openapi3filter.Options{IncludeResponseStatus: true},
	}
	return openapi3filter.ValidateResponse(context.Background(), answer.SetBodyBytes(body))
}

// known are the documents that were read, by their digests. Most tests see the same one.
var known sync.Map

// router reads the document of the server that a request went to.
func (d documented) router(r *http.Request) (routers.Router, error) {
	ask, err := http.NewRequest(http.MethodGet, r.URL.Scheme+"://"+r.URL.Host+"/api/openapi.json", nil)
	if err != nil {
		return nil, err
	}
	response, err := d.next.RoundTrip(ask)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("read the document: %w", err)
	}
	read, _ := known.LoadOrStore(sha256.Sum256(text), sync.OnceValues(func() (routers.Router, error) {
		doc, err := openapi3.NewLoader().LoadFromData(text)
		if err != nil {
			return nil, err
		}
		return legacy.NewRouter(doc)
	}))
	return read.(func() (routers.Router, error))()
}

func TestAnswersThatTheDocumentDoesNotHaveAreFound(t *testing.T) {
	h := start(t)
	for name, c := range map[string]struct {
		path, kind, body string
		status           int
		fits             bool
	}{
		"as described":      {"/jobs", "application/json", `{"items":[],"next_cursor":""}`, 200, true},
		"a field too many":  {"/jobs", "application/json", `{"items":[],"next_cursor":"","total":1}`, 200, false},
		"one too few":       {"/jobs", "application/json", `{"items":[]}`, 200, false},
		"of another type":   {"/jobs", "application/json", `{"items":null,"next_cursor":""}`, 200, false},
		"no date":           {"/tokens/1", "application/json", `{"id":1,"name":"a","created_at":"today"}`, 200, false},
		"another status":    {"/jobs", "application/json", `{"items":[],"next_cursor":""}`, 201, false},
		"another value":     {"/alerts", "application/json", `{"items":[{"id":1,"kind":"x","about":"x","state":"open","what":"x","raised_at":"2027-01-01T00:00:00Z"}],"next_cursor":""}`, 200, false},
		"a text":            {"/jobs", "text/plain", "jobs", 200, false},
		"a problem":         {"/jobs/x", "application/problem+json", `{"type":"about:blank","title":"Not Found","status":404,"detail":"x"}`, 404, true},
		"another problem":   {"/jobs", "application/problem+json", `{"type":"about:blank","title":"Gone","status":410,"detail":"x"}`, 410, false},
		"an unknown route":  {"/nothing", "application/json", `{}`, 200, false},
		"one that is not":   {"/nothing", "application/problem+json", `{}`, 404, true},
		"a refusal as HTML": {"/nothing", "text/html", `<p>`, 404, false},
	} {
		r := h.request("GET", api.Base+c.path, "")
		response := &http.Response{StatusCode: c.status, Header: http.Header{"Content-Type": {c.kind}}}
		if err := h.client.Transport.(documented).check(r, response, []byte(c.body)); (err == nil) != c.fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}
