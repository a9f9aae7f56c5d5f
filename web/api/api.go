// Package api is the JSON API. Each handler reads a request, calls an action of the worker that owns it, and
// says what came of it; it decides nothing itself. The operations of each worker are in one file, and describe
// themselves as OpenAPI. Every refusal is a [Problem], which names the cure.
package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
	"github.com/rs/zerolog"

	"belfry/store"
)

// longAnswer is how long an answer may take that waits for the network.
const longAnswer = 6 * time.Minute

// Base is where the API's paths begin.
const Base = "/api/v1"

// api registers operations in one echo and describes them as OpenAPI.
type api struct {
	huma.API
	log zerolog.Logger
}

// newAPI returns an API without operations. Each passes through check first.
func newAPI(e *echo.Echo, version string, log zerolog.Logger, check ...echo.MiddlewareFunc) *api {
	format := huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: strictJSON}
	config := huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info: &huma.Info{
				Title: "Belfry", Version: version,
				Description: "Posts on time. Times are RFC 3339; lists come in pages: next_cursor of one is cursor of the next.",
			},
			Components: &huma.Components{
				Schemas: huma.NewMapRegistry("#/components/schemas/", huma.DefaultSchemaNamer),
				SecuritySchemes: map[string]*huma.SecurityScheme{
					"bearer": {Type: "http", Scheme: "bearer", Description: "A token made with `belfry token`"},
				},
			},
			Security: []map[string][]string{{"bearer": {}}},
			Servers:  []*huma.Server{{URL: Base}},
		},
		Formats:                      map[string]huma.Format{"application/json": format, "json": format},
		DefaultFormat:                "application/json",
		RejectUnknownQueryParameters: true,
		Transformers:                 []huma.Transformer{transformProblem},
	}
	return &api{API: humaecho.NewWithGroup(e, e.Group(Base, check...), config), log: log}
}

// operation registers a handler. Its errors become problem documents here, and those that are
// Belfry's own fault are logged. change may alter its description.
func operation[I, O any](a *api, method, path, summary string, handler func(context.Context, *I) (*O, error), change ...func(*huma.Operation)) {
	op := huma.Operation{
		OperationID: operationID(method, path), Method: method, Path: path, Description: summary + ".",
		Tags: []string{strings.Split(path, "/")[1]}, Errors: refusals(method, path),
	}
	op.Summary, _, _ = strings.Cut(summary, ": ")
	if method == http.MethodPost {
		op.DefaultStatus = http.StatusOK
	}
	if _, creates := reflect.TypeFor[O]().FieldByName("Replayed"); creates {
		op.DefaultStatus = http.StatusCreated
	}
	for _, fn := range change {
		fn(&op)
	}
	huma.Register(a.API, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handler(ctx, in)
		if err == nil {
			return out, nil
		}
		p := ProblemOf(err)
		if p.Status >= http.StatusInternalServerError {
			a.log.Error().Err(err).Str("operation", op.OperationID).Msg("API request failed")
		}
		return nil, p
	})
}

// refusals are the statuses with which an operation may be refused. Huma adds 500.
func refusals(method, path string) []int {
	all := []int{
		http.StatusUnauthorized, http.StatusMisdirectedRequest, http.StatusUnprocessableEntity, http.StatusTooManyRequests,
		http.StatusServiceUnavailable,
	}
	if strings.Contains(path, "{") {
		all = append(all, http.StatusNotFound)
	}
	if method != http.MethodGet {
		all = append(all, http.StatusBadRequest, http.StatusForbidden, http.StatusConflict)
	}
	if method == http.MethodPost || method == http.MethodPatch {
		all = append(all, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	return all
}

// operationID makes get-scheduled-posts-id of GET /scheduled-posts/{id}.
func operationID(method, path string) string {
	return strings.ToLower(method) + strings.NewReplacer("/", "-", "{", "", "}", "").Replace(path)
}

// document returns the OpenAPI document of the operations registered so far. It changes their schemas, so it
// is called once, before the first request.
func (a *api) document() ([]byte, error) {
	schemas := a.OpenAPI().Components.Schemas
	if _, used := schemas.Map()["ErrorModel"]; used { // huma's own shape, which no answer has
		schemas.Map()["ErrorModel"] = huma.SchemaFromType(schemas, reflect.TypeFor[Problem]())
		delete(schemas.Map(), "ErrorDetail")
	}
	for _, path := range a.OpenAPI().Paths {
		if path.Post != nil && path.Post.RequestBody != nil {
			delete(path.Post.RequestBody.Content, "application/octet-stream") // which huma adds for a raw body
		}
	}
	doc, err := json.Marshal(a.OpenAPI())
	if err != nil {
		return nil, fmt.Errorf("describe the API: %w", err)
	}
	return doc, nil
}

// one is the input of an operation on one record.
type one struct {
	ID uint64 `path:"id" doc:"The record's id"`
}

// The limits of a long body, such as a list of 200,000 chats or a session file.
const (
	maxLongBody  = 8 << 20 // bytes
	longBodyTime = 30 * time.Second
)

// longBodies lets a request have up to 8 MB, and the time that this takes on a slow line.
func longBodies(op *huma.Operation) {
	op.MaxBodyBytes, op.BodyReadTimeout = maxLongBody, longBodyTime
}

// patient gives an answer the time that sending a large file takes.
func patient(op *huma.Operation) {
	op.Middlewares = append(op.Middlewares, func(ctx huma.Context, next func(huma.Context)) {
		AllowTime(humaecho.Unwrap(ctx))
		next(ctx)
	})
}

// AllowTime moves the end of an answer's time away.
func AllowTime(c echo.Context) {
	// Where the connection knows no deadline there is none that would have to be moved.
	_ = http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(longAnswer))
}

// number is an id that may be written as a number or as a string of digits, because callers paste
// ids into quotes.
type number uint64

// UnmarshalJSON reads both ways of writing. null is as good as left out, as in other fields.
func (n *number) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	id, err := strconv.ParseUint(string(bytes.Trim(data, `"`)), 10, 64)
	if err != nil {
		return &json.UnmarshalTypeError{Value: "number", Type: reflect.TypeFor[number]()} // it is given its field
	}
	*n = number(id)
	return nil
}

// Schema describes both ways of writing.
func (number) Schema(huma.Registry) *huma.Schema {
	zero := 0.0
	return &huma.Schema{OneOf: []*huma.Schema{
		{Type: huma.TypeInteger, Format: "int64", Minimum: &zero},
		{Type: huma.TypeString, Pattern: "^[0-9]{1,19}$"},
	}}
}

// Reason says why, as a code for programs and in words for people.
type Reason struct {
	Code   string    `json:"code" doc:"What programs can rely on" example:"flood_wait"`
	Text   string    `json:"text" doc:"The reason in plain words"`
	Detail string    `json:"detail,omitempty" doc:"The words of whoever gave the reason"`
	Until  time.Time `json:"until,omitzero" doc:"When the wait ends"`
	N      int       `json:"n,omitempty" doc:"Which attempt, or how many"`
	Of     int       `json:"of,omitempty" doc:"Of how many attempts"`
}

// reasonOf returns nil where there is no reason.
func (s *Server) reasonOf(r store.Reason) *Reason {
	if r.Zero() {
		return nil
	}
	return &Reason{
		Code: string(r.Code), Text: inEnglish().Say(r), Detail: r.Detail, Until: r.Until, N: r.N, Of: r.Of,
	}
}
