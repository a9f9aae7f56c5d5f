// Package i18n says messages to people in their language. A message is a key and what is filled in;
// its sentence is in the catalogues, the files of the folders en and ru, and is made where it is shown.
//
// A catalogue is JSON: objects make longer keys of shorter ones ("posts" with "title" in it is
// posts.title), a string is a message in the form of [fmt.Sprintf], and an object of the plural forms
// one, few, many and other, or of =0, =1 and so on, is a message whose form its first argument chooses.
package i18n

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/feature/plural"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"
)

// Languages are those in which messages can be said; the first is said where nobody has chosen.
var Languages = []string{"en", "ru"}

// Known reports whether messages can be said in lang.
func Known(lang string) bool { return slices.Contains(Languages, lang) }

// Sayer is what names its own message, such as a stored reason. If the catalogues do not have the key, the
// first argument is said as [Printer.Heard] says it if it is a text, and else the key.
type Sayer interface {
	Message() (key string, args []any)
}

// Message is a message that is said later.
type Message struct {
	Key  string
	Args []any
}

// M returns a message.
func M(key string, args ...any) Message { return Message{key, args} }

// Message makes a Message a [Sayer].
func (m Message) Message() (key string, args []any) { return m.Key, m.Args }

// Refusal is an error that a person can cure. The message of key has two parts, what is wrong and what to
// do about it, with " | " between them. field is empty if it is about no single field.
type Refusal interface {
	error
	Refusal() (field, key string, args []any)
}

// Printer says messages to a reader: in a language, with times in a zone.
type Printer struct {
	Lang string
	Zone *time.Location
	Now  time.Time // where relative times count from

	catalogue *catalogue
}

// For returns a printer in lang, or in the first language if it is not known, and with times in zone; nil means UTC.
func For(lang string, zone *time.Location) Printer {
	if !Known(lang) {
		lang = Languages[0]
	}
	return Printer{Lang: lang, Zone: cmp.Or(zone, time.UTC), catalogue: catalogues()[lang]}
}

// T says the message of a key. Numbers are written as the language has them, times and lengths of time as
// [Printer.Exact] and [Printer.Length] write them, and a [Sayer] or an error is said.
func (p Printer) T(key string, args ...any) string {
	said := make([]any, len(args))
	for i, arg := range args {
		switch arg := arg.(type) {
		case Sayer:
			said[i] = p.Say(arg)
		case error:
			said[i] = strings.TrimSuffix(p.Error(arg), ".")
		case interface{ Precise() time.Time }:
			said[i] = p.Exact(arg.Precise())
			if p.Now.IsZero() { // there is no today: the reader may be a program, or read it another day
				said[i] = arg.Precise().In(p.Zone).Format(p.T("time.precise"))
			}
		case time.Time:
			said[i] = p.Exact(arg)
		case time.Duration:
			said[i] = p.Length(arg)
		case uint64: // an id
			said[i] = fmt.Sprint(arg)
		default:
			said[i] = arg
		}
	}
	return p.catalogue.printer.Sprintf(key, said...)
}

// Say says what names its own message.
func (p Printer) Say(s Sayer) string {
	key, args := s.Message()
	if p.Has(key) {
		return p.T(key, args...)
	}
	if len(args) > 0 {
		if words, ok := args[0].(string); ok {
			return p.Heard(words)
		}
	}
	return key
}

// Has reports whether the catalogue has a key.
func (p Printer) Has(key string) bool { return p.catalogue.messages[key] != nil }

// Parts says the two parts of a refusal: what is wrong, and what to do about it.
func (p Printer) Parts(r Refusal) (problem, cure string) {
	_, key, args := r.Refusal()
	problem, cure, _ = strings.Cut(p.T(key, args...), " | ")
	return problem, cure
}

// Error says an error: a [Refusal] as a sentence with its cure, joined ones line by line, and any other as it is.
func (p Printer) Error(err error) string {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var lines []string
		for _, err := range joined.Unwrap() {
			lines = append(lines, p.Error(err))
		}
		return strings.Join(lines, "\n")
	}
	var r Refusal
	if !errors.As(err, &r) {
		return err.Error()
	}
	field, _, _ := r.Refusal()
	problem, cure := p.Parts(r)
	switch {
	case field != "" && cure == "":
		return p.T("refusal.field", p.Field(field), problem)
	case field != "":
		return p.T("refusal.field_cure", p.Field(field), problem, p.second(cure))
	case cure == "":
		return p.T("refusal.whole", UpperFirst(problem))
	}
	return p.T("refusal.whole_cure", UpperFirst(problem), p.second(cure))
}

// second begins what follows a full stop with a capital, in languages that put one there.
func (p Printer) second(cure string) string {
	if p.Lang == "ru" {
		return UpperFirst(cure)
	}
	return cure
}

// Field is what a field is called in a sentence; one that has no name of its own goes by its parent's.
func (p Printer) Field(field string) string {
	if key := "field." + strings.ReplaceAll(field, ".", "_"); p.Has(key) {
		return p.T(key)
	}
	name, _, _ := strings.Cut(field, ".")
	name, _, _ = strings.Cut(name, "[")
	if key := "field." + name; p.Has(key) {
		return p.T(key)
	}
	return field
}

// UpperFirst returns s with a capital at its beginning.
func UpperFirst(s string) string {
	first, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[size:]
}

// catalogue is the messages of one language.
type catalogue struct {
	messages map[string]map[string]string // by key: the forms, or the only one by ""
	printer  *message.Printer
}

//go:embed en/*.json ru/*.json
var files embed.FS

// catalogues reads the files, once. They are part of the program, so one that cannot be read is a mistake in it.
var catalogues = sync.OnceValue(func() map[string]*catalogue {
	all := make(map[string]*catalogue)
	for _, lang := range Languages {
		messages, err := read(lang)
		if err != nil {
			panic(err)
		}
		tag := language.MustParse(lang)
		builder := catalog.NewBuilder(catalog.Fallback(tag))
		for key, forms := range messages {
			if err := set(builder, tag, key, forms); err != nil {
				panic(fmt.Errorf("message %s of %s: %w", key, lang, err))
			}
		}
		all[lang] = &catalogue{messages, message.NewPrinter(tag, message.Catalog(builder))}
	}
	return all
})

// forms are those that a message may have, in the order in which they are tried.
var forms = []string{"=0", "=1", "one", "few", "many", "other"}

// set writes a message into the builder.
func set(builder *catalog.Builder, tag language.Tag, key string, said map[string]string) error {
	if text, only := said[""]; only {
		return builder.SetString(tag, key, text)
	}
	var cases []any
	for _, form := range forms {
		if text, ok := said[form]; ok {
			cases = append(cases, form, text)
		}
	}
	return builder.Set(tag, key, plural.Selectf(1, "%d", cases...))
}

// read reads the messages of a language by key: each by form, or the only one by "".
func read(lang string) (map[string]map[string]string, error) {
	names, err := fs.Glob(files, lang+"/*.json")
	if err != nil {
		return nil, err
	}
	all := make(map[string]map[string]string)
	for _, name := range names {
		data, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		var tree map[string]any
		if err := json.Unmarshal(data, &tree); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if err := flatten(all, "", tree); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return all, nil
}

// flatten gathers the messages of a tree.
func flatten(all map[string]map[string]string, prefix string, tree map[string]any) error {
	for name, value := range tree {
		key := strings.TrimPrefix(prefix+"."+name, ".")
		if all[key] != nil {
			return fmt.Errorf("%s is there twice", key)
		}
		switch value := value.(type) {
		case string:
			if slices.Contains(forms, name) {
				if all[prefix] == nil {
					all[prefix] = make(map[string]string)
				}
				all[prefix][name] = value
			} else {
				all[key] = map[string]string{"": value}
			}
		case map[string]any:
			if err := flatten(all, key, value); err != nil {
				return err
			}
		default:
			return fmt.Errorf("%s is neither a text nor an object", key)
		}
	}
	return nil
}
