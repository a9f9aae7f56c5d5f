package page

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"belfry/store"
)

// form is what a person typed and what is wrong with it.
type form struct {
	values url.Values
	wrong  map[string]string // by field, in the reader's language; by "" what is about no field
}

func newForm(values url.Values) form {
	if values == nil {
		values = url.Values{}
	}
	return form{values: values, wrong: make(map[string]string)}
}

// readForm returns what a request has sent.
func readForm(c echo.Context) (form, error) {
	values, err := c.FormParams()
	return newForm(values), err
}

// sent is the handler of a form that was sent.
func (s *Server) sent(do func(c echo.Context, v view, f form) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		f, err := readForm(c)
		if err != nil {
			return err
		}
		return do(c, s.view(c), f)
	}
}

// answerForm is the handler that answers with a part of a page for what a form says now.
func (s *Server) answerForm(part func(view, form) (templ.Component, error)) echo.HandlerFunc {
	return s.sent(func(c echo.Context, v view, f form) error {
		shown, err := part(v, f)
		if err != nil {
			return err
		}
		return s.render(c, http.StatusOK, shown)
	})
}

// fill writes values into the form.
func (f form) fill(values map[string]string) {
	for name, value := range values {
		f.values.Set(name, value)
	}
}

// tick writes into the form which of its checkboxes are ticked.
func (f form) tick(boxes map[string]bool) {
	for name, on := range boxes {
		if on {
			f.values.Set(name, "on")
		}
	}
}

// prepare makes a form ready to be shown, with the key by which it is sent once. fix is what it says as a whole where
// only fields are wrong.
func (f form) prepare(fix string) {
	if f.get("form") == "" {
		f.values.Set("form", rand.Text())
	}
	if len(f.wrong) > 0 && f.wrong[""] == "" {
		f.wrong[""] = fix
	}
}

// on reports whether a checkbox is ticked.
func (f form) on(name string) bool { return f.get(name) == "on" }

// number is an id of the form; 0 where there is none.
func (f form) number(name string) uint64 {
	n, _ := strconv.ParseUint(f.get(name), 10, 64)
	return n
}

// plain is a text of the form without the line breaks of browsers.
func (f form) plain(name string) string { return strings.ReplaceAll(f.values.Get(name), "\r\n", "\n") }

func (f form) get(name string) string { return strings.TrimSpace(f.values.Get(name)) }

// onlyShow reports whether a form was not sent to be saved, but for another row or another language.
func (f form) onlyShow() bool {
	return f.get("do") == "add-media" || strings.HasPrefix(f.get("do"), "media-") || f.get("lang") != ""
}

// notSaved is the status with which a form is shown again that is not to be saved, because a file of it was refused or
// it was sent only to be shown; 0 if it is to be saved.
func (f form) notSaved() int {
	switch {
	case f.wrong["media"] != "":
		return http.StatusUnprocessableEntity
	case f.onlyShow():
		return http.StatusOK
	}
	return 0
}

// refuse notes a refusal beside the field that it is about, as far as the form has it: fields are the form's
// fields, or "field of the refusal:field of the form". It returns false for an error that is no refusal.
func (f form) refuse(v view, err error, fields ...string) bool {
	said := v.refusal(err)
	if said == "" {
		return false
	}
	about, place := fieldOf(err), ""
	for _, field := range fields {
		theirs, ours, other := strings.Cut(field, ":")
		if !other {
			ours = theirs
		}
		if about == theirs || strings.HasPrefix(about, theirs+".") || strings.HasPrefix(about, theirs+"[") {
			place = ours
		}
	}
	f.wrong[place] = said
	if changed, ok := errors.AsType[changedError](err); ok {
		f.values.Set("seen", changed.now) // it was said: saved again, the form replaces the other change
	}
	return true
}

// see notes what a form is filled with.
func (f form) see(record any) { f.values.Set("seen", seen(record)) }

// unchanged refuses to save a form over something else than it was filled with.
func (f form) unchanged(record any) error {
	if was, now := f.get("seen"), seen(record); was != "" && was != now {
		return changedError{store.Conflict("conflict.form_changed"), now}
	}
	return nil
}

// seen names what a record says.
func seen(record any) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%#v", record))
	return hex.EncodeToString(sum[:8])
}

// changedError is the refusal to save a form over what came after it was opened. It names what there is now.
type changedError struct {
	*store.ConflictError
	now string
}

// input is one field of a form.
type input struct {
	ID, Name, Label, Type, Value, Hint, Error string
	Placeholder, Autocomplete                 string
	Verbatim                                  bool // a text of names or code, in which nothing is corrected
	Rows                                      int  // of a text that may have several lines; 0: it has one
	Options                                   []option
}

type option struct{ Value, Name string }

// describedBy names the elements that explain the field.
func (i input) describedBy() string {
	var ids []string
	if i.Hint != "" {
		ids = append(ids, i.ID+"-hint")
	}
	if i.Error != "" {
		ids = append(ids, i.ID+"-error")
	}
	return strings.Join(ids, " ")
}

// of gives a field a type, such as time.
func (i input) of(kind string) input {
	i.Type = kind
	return i
}

func (f form) text(name, label, hint string) input {
	return input{ID: name, Name: name, Label: label, Type: "text", Hint: hint, Value: f.get(name), Error: f.wrong[name], Autocomplete: "off"}
}

// lines is a text that may have several lines.
func (f form) lines(name string, rows int, label, hint string) input {
	field := f.text(name, label, hint)
	field.Rows = rows
	return field
}

// password never shows what was typed before.
func (f form) password(name, label, hint, autocomplete string) input {
	return input{ID: name, Name: name, Label: label, Type: "password", Hint: hint, Error: f.wrong[name], Autocomplete: autocomplete}
}

// secret is shown while it is typed, and never again.
func (f form) secret(name, label, hint, autocomplete string) input {
	field := f.password(name, label, hint, autocomplete)
	field.Type = "text"
	return field
}

func (f form) choice(name, label, hint string, options []option) input {
	return input{ID: name, Name: name, Label: label, Hint: hint, Error: f.wrong[name], Value: f.get(name), Options: options}
}

func (f form) checkbox(name, label string) input {
	return input{ID: name, Name: name, Label: label, Value: f.get(name)}
}

// like is the field with an example of what it may hold.
func (i input) like(example string) input {
	i.Placeholder = example
	return i
}
