package web

import (
	"errors"
	"net/url"
	"strings"

	"belfry/i18n"
)

// form is what a person typed and what is wrong with it.
type form struct {
	values url.Values
	wrong  map[string]string // by field, in the reader's language
}

func newForm(values url.Values) form {
	if values == nil {
		values = url.Values{}
	}
	return form{values: values, wrong: make(map[string]string)}
}

func (f form) get(name string) string { return strings.TrimSpace(f.values.Get(name)) }

// onlyShow reports whether a form was not sent to be saved, but for another row or another language.
func (f form) onlyShow() bool { return f.get("do") == "add-media" || f.get("lang") != "" }

// refuse notes a refusal beside the field that it is about. It returns false for an error that is
// no refusal of the input.
func (f form) refuse(r reader, err error, fields ...string) bool {
	refusal, ok := errors.AsType[i18n.Refusal](err)
	if !ok {
		return false
	}
	name, _, _ := refusal.Refusal()
	at := ""
	for _, known := range fields {
		if name == known || strings.HasPrefix(name, known+".") {
			at = known
		}
	}
	f.wrong[at] = r.Error(refusal)
	return true
}

// input is one field of a form, for the templates "input", "select" and "checkbox".
type input struct {
	ID, Name, Label, Type, Value, Hint, Error string
	Placeholder, Autocomplete                 string
	Required                                  bool
	Rows                                      int // of a text that may have several lines; 0: it has one
	Options                                   []option
}

type option struct {
	Value, Name string
	Selected    bool
}

// DescribedBy names the elements that explain the field.
func (i input) DescribedBy() string {
	var ids []string
	if i.Hint != "" {
		ids = append(ids, i.ID+"-hint")
	}
	if i.Error != "" {
		ids = append(ids, i.ID+"-error")
	}
	return strings.Join(ids, " ")
}

func (f form) text(name, label, hint string) input {
	return input{ID: name, Name: name, Label: label, Type: "text", Hint: hint, Value: f.get(name), Error: f.wrong[name], Autocomplete: "off"}
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
	chosen := f.get(name)
	for i := range options {
		options[i].Selected = options[i].Value == chosen
	}
	return input{ID: name, Name: name, Label: label, Hint: hint, Error: f.wrong[name], Value: chosen, Options: options}
}

func (f form) checkbox(name, label string) input {
	return input{ID: name, Name: name, Label: label, Value: f.get(name)}
}
