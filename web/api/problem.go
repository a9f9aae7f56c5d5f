package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"belfry/i18n"
	"belfry/store"
	"belfry/web/session"
)

// Problem is a refusal as the API gives it: a problem document as in RFC 9457.
type Problem struct {
	Type   string         `json:"type" doc:"about:blank: the status says what kind of problem it is" example:"about:blank"`
	Title  string         `json:"title" doc:"The status in words" example:"Unprocessable Entity"`
	Status int            `json:"status" doc:"The HTTP status" example:"422"`
	Detail string         `json:"detail" doc:"What is wrong and what to do, in a sentence" example:"scheduled_time is in the past: choose a later time"`
	Errors []FieldProblem `json:"errors,omitempty" doc:"What is wrong, field by field" nullable:"false"`

	retryAfter time.Duration
}

// FieldProblem says what is wrong with one field and what to do.
type FieldProblem struct {
	Field   string `json:"field" doc:"The field, as in media[0].url, or the name of a header or parameter" example:"scheduled_time"`
	Problem string `json:"problem" doc:"Completes a sentence that begins with the field" example:"is in the past"`
	Cure    string `json:"cure,omitempty" doc:"What to do" example:"choose a later time"`
}

// retrySoon is when a request that met a passing fault of the store should be made again.
const retrySoon = 2 * time.Second

func NewProblem(status int, detail string) *Problem {
	return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: detail}
}

func fieldProblem(status int, fields ...FieldProblem) *Problem {
	p := NewProblem(status, "")
	p.Errors = fields
	sentences := make([]string, len(fields))
	for i, f := range fields {
		sentences[i] = f.Field + " " + f.Problem
		if f.Cure != "" {
			sentences[i] += ": " + f.Cure
		}
	}
	p.Detail = strings.Join(sentences, "; ")
	return p
}

// Error makes a problem an error that handlers can return.
func (p *Problem) Error() string { return p.Detail }

// GetStatus tells huma the status.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders tells huma when to try again.
func (p *Problem) GetHeaders() http.Header {
	h := http.Header{}
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.retryAfter+time.Second-1)/time.Second)))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="belfry"`)
	}
	return h
}

// ContentType tells huma that this is a problem document.
func (p *Problem) ContentType(string) string { return "application/problem+json" }

// ProblemOf turns whatever an action returned into the refusal that its caller is given. This is
// the one place where errors become statuses.
func ProblemOf(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if r, ok := errors.AsType[*session.Refusal](err); ok {
		p := fieldProblem(r.Status, FieldProblem{r.Field, r.Problem, r.Cure})
		p.retryAfter = r.RetryAfter
		return p
	}
	if r, ok := errors.AsType[i18n.Refusal](err); ok {
		return refused(r)
	}
	if store.IsCorrupt(err) {
		return NewProblem(http.StatusInternalServerError, err.Error()+": run `belfry check`, and restore a backup")
	}
	switch {
	case errors.Is(err, store.ErrNotFound):
		return NewProblem(http.StatusNotFound, err.Error()+": see the list for what there is")
	case errors.Is(err, store.ErrExists):
		return NewProblem(http.StatusConflict, err.Error()+": choose another name")
	case store.IsFull(err):
		p := NewProblem(http.StatusServiceUnavailable, "the disk of the database is full and nothing can be written: make room, "+
			"then repeat the request, with the same Idempotency-Key where there is one")
		p.retryAfter = retrySoon
		return p
	case errors.Is(err, store.ErrUnavailable):
		p := NewProblem(http.StatusServiceUnavailable, "the database cannot be used at the moment, and the change may have "+
			"been made or not: repeat the request, with the same Idempotency-Key where there is one")
		p.retryAfter = retrySoon
		return p
	}
	return NewProblem(http.StatusInternalServerError, "something went wrong in Belfry: see its log")
}

// inEnglish says what the API answers in words.
func inEnglish() i18n.Printer { return i18n.For(english, time.UTC) }

// refused is the refusal of an action: of a field, or by the state of a record.
func refused(r i18n.Refusal) *Problem {
	problem, cure := inEnglish().Parts(r)
	field, _, _ := r.Refusal()
	var p *Problem
	switch {
	case field != "":
		p = fieldProblem(http.StatusUnprocessableEntity, FieldProblem{field, problem, cure})
	case cure != "":
		p = NewProblem(http.StatusConflict, problem+": "+cure)
	default:
		p = NewProblem(http.StatusConflict, problem)
	}
	return p
}

// transformProblem makes huma's own refusals look like all others.
func transformProblem(_ huma.Context, _ string, body any) (any, error) {
	model, ok := body.(*huma.ErrorModel)
	if !ok {
		return body, nil
	}
	return fromHuma(model), nil
}

func fromHuma(model *huma.ErrorModel) *Problem {
	if len(model.Errors) == 0 {
		p := NewProblem(model.Status, model.Detail)
		switch model.Status {
		case http.StatusRequestEntityTooLarge:
			limit := "less"
			if bytes, ok := between(model.Detail, "request body is too large limit=", " bytes"); ok {
				limit = "less than " + bytes + " bytes"
			}
			return fieldProblem(model.Status, FieldProblem{"body", "is too large", "send " + limit})
		case http.StatusBadRequest:
			return fieldProblem(model.Status, FieldProblem{"body", "is missing or cannot be read", "send a JSON object"})
		}
		return p
	}
	fields := make([]FieldProblem, 0, len(model.Errors))
	for _, detail := range model.Errors {
		fields = append(fields, plainField(detail))
	}
	return fieldProblem(model.Status, fields...)
}

// plainField says in plain words what huma has found out about a field. The value is left out: it
// may be a secret.
func plainField(detail *huma.ErrorDetail) FieldProblem {
	location, field, _ := strings.Cut(detail.Location, ".")
	if field == "" {
		field = location
	}
	if location == "path" {
		return FieldProblem{field, "must be a number", "use an id that a list has shown"}
	}
	message := detail.Message
	if parts := strings.Split(message, "\x00"); len(parts) == 3 { // see strictJSON
		return FieldProblem{parts[0], parts[1], parts[2]}
	}
	switch name, ok := between(message, "expected required property ", " to be present"); {
	case ok:
		if field != "body" {
			name = field + "." + name
		}
		return FieldProblem{name, "is missing", "add it"}
	case message == "unexpected property":
		return FieldProblem{field, "is not known here", "check its spelling, or leave it out"}
	case message == "unknown query parameter":
		return FieldProblem{field, "is not known here", "check its spelling, or leave it out"}
	case strings.HasPrefix(message, "unknown content type"):
		return FieldProblem{"Content-Type", "is not understood", "send application/json"}
	case location == "body" && field == "body" && !strings.HasPrefix(message, "expected "):
		return FieldProblem{"body", "is not valid JSON: " + message, "send a JSON object"}
	}
	switch {
	case strings.HasPrefix(message, "invalid date/time"), message == "expected string to be RFC 3339 date-time":
		return FieldProblem{field, "is not a time with a zone", "write it as 2026-11-14T12:01:00Z or 2026-11-14T15:01:00+03:00"}
	case message == "invalid integer":
		return FieldProblem{field, "is not a whole number", "write it in digits"}
	case message == "invalid boolean":
		return FieldProblem{field, "is neither true nor false", "write one of them"}
	}
	if values, ok := between(message, `expected value to be one of "`, `"`); ok {
		return FieldProblem{field, "is none of the known values", "use one of " + values}
	}
	if what, ok := strings.CutPrefix(message, "expected "); ok {
		if strings.HasPrefix(what, "value to match") {
			return FieldProblem{field, "has the wrong type", "send a number"}
		}
		return FieldProblem{field, "is not as expected", "it must be: " + what}
	}
	return FieldProblem{field, "cannot be used: " + message, "see /api/openapi.json for what it may be"}
}

func between(s, before, after string) (string, bool) {
	s, ok := strings.CutPrefix(s, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, after)
}

// WriteProblem answers a request of the API outside huma's handlers.
func WriteProblem(c echo.Context, p *Problem) error {
	for name, values := range p.GetHeaders() {
		c.Response().Header()[name] = values
	}
	body, err := json.Marshal(p)
	if err != nil {
		return fmt.Errorf("encode a problem: %w", err)
	}
	return c.Blob(p.Status, p.ContentType(""), body)
}
