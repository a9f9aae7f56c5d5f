package web

import (
	"fmt"
	"regexp"
	"strings"

	"belfry/store"
	"belfry/web/api"
)

// sayField says a refusal of a field as a sentence in the reader's language.
func (r reader) sayField(e *store.FieldError) string {
	field, _, _ := strings.Cut(e.Field, ".")
	field, _, _ = strings.Cut(field, "[")
	name := r.words.Fields[field]
	if name == "" {
		name = e.Field
	}
	if objection, ok := strings.CutPrefix(e.Problem, "is not accepted: "); ok {
		return r.sentence(r.named(objection), r.translate(e.Cure))
	}
	if r.lang == russian { // a colon needs no agreement of gender
		return r.sentence(name+": "+r.translate(e.Problem), r.translate(e.Cure))
	}
	return r.sentence(name+" "+r.translate(e.Problem), r.translate(e.Cure))
}

// sayConflict says why an action is not possible now.
func (r reader) sayConflict(e *store.ConflictError) string {
	return r.sentence(r.named(e.Problem), r.translate(e.Cure))
}

// why says a reason.
func (r reader) why(because store.Reason) string {
	because.Detail = r.named(because.Detail)
	return because.Text(r.lang, r.zone)
}

// named says what a network has said: its words in the reader's language where they are known, and
// its own name for the error last, wherever that was.
func (r reader) named(objection string) string {
	if code, words, named := strings.Cut(objection, ": "); named && isCode(code) {
		return r.translate(words) + " (" + code + ")"
	}
	if i := strings.LastIndex(objection, " ("); i > 0 && strings.HasSuffix(objection, ")") {
		if code := objection[i+2 : len(objection)-1]; isCode(code) {
			return r.translate(objection[:i]) + " (" + code + ")"
		}
	}
	return r.translate(objection)
}

// isCode reports whether a word is a network's name for an error, such as SESSION_REVOKED.
func isCode(word string) bool {
	return word != "" && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == ""
}

// sentence puts together what is wrong and what to do.
func (r reader) sentence(problem, cure string) string {
	problem, cure = upperFirst(strings.TrimRight(problem, ".")), strings.TrimRight(cure, ".")
	switch {
	case cure == "":
		return problem + "."
	case r.lang == russian:
		return problem + ". " + upperFirst(cure) + "."
	}
	return problem + ": " + cure + "."
}

// say says any refusal.
func (r reader) say(p *api.Problem) string {
	if len(p.Errors) == 0 {
		problem, cure, _ := strings.Cut(p.Detail, ": ")
		return r.sentence(r.translate(problem), r.translate(cure))
	}
	sentences := make([]string, 0, len(p.Errors))
	for _, f := range p.Errors {
		sentences = append(sentences, r.sayField(&store.FieldError{Field: f.Field, Problem: f.Problem, Cure: f.Cure}))
	}
	return strings.Join(sentences, " ")
}

func upperFirst(s string) string {
	for _, first := range s {
		return strings.ToUpper(string(first)) + s[len(string(first)):]
	}
	return s
}

// translate says a sentence of the workers in the reader's language. The workers speak English and
// to programs too; a sentence that is not known here stays as it is.
func (r reader) translate(sentence string) string {
	if sentence == "" {
		return ""
	}
	for _, t := range translations() {
		said := t.en
		if r.lang == russian {
			said = t.ru
		}
		if said == "" || !t.mayBe(sentence) {
			continue
		}
		m := t.pattern().FindStringSubmatch(sentence)
		if m == nil {
			continue
		}
		for i, part := range m[1:] {
			part = r.named(part)
			said = strings.Replace(said, fmt.Sprintf("%%[%d]s", i+1), part, 1)
			said = strings.Replace(said, "%s", part, 1)
		}
		return said
	}
	return sentence
}

// translation is a sentence of the workers, in which %s stands for what differs, and what the page
// says instead, where %s is the next of these parts and %[2]s the second. An empty en means the same.
type translation struct{ said, en, ru string }

// mayBe reports whether it is worth while to compare a sentence thoroughly.
func (t translation) mayBe(sentence string) bool {
	parts := strings.Split(t.said, "%s")
	return strings.HasPrefix(sentence, parts[0]) && strings.HasSuffix(sentence, parts[len(parts)-1])
}

func (t translation) pattern() *regexp.Regexp {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(t.said), "%s", "(.+?)") + "$")
}
