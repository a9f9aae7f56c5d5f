package search

import (
	"slices"
	"strings"
	"unicode/utf8"

	"belfry/store"
)

const (
	maxQuery    = 500 // bytes
	maxClauses  = 20
	leastPrefix = 2 // letters
)

// Query is what is searched for: all of its clauses must be so. Make it with [Parse].
type Query struct{ clauses []clause }

// clause is a word, several words in a row, or the beginning of a word.
type clause struct {
	not    bool
	loose  bool           // the words in a row are there in any of their forms: веб-дизайнер, веб-дизайнера
	words  []string       // folded
	prefix string         // folded; then there are no words
	forms  [ways][]string // of one word: the terms under which it is found
}

// word reports whether a clause is one word, which is found in all its forms.
func (c clause) word() bool { return len(c.words) == 1 }

// Parse reads a query: words, "several words in a row", the beginning of a word with * behind it, and - before what must
// not be there. The error is a [*store.FieldError] about q.
func Parse(text string) (q Query, err error) {
	if len(text) > maxQuery {
		return q, store.Invalid("q", "invalid.search_long", maxQuery)
	}
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		var c clause
		var token string
		text, c.not = strings.CutPrefix(text, "-")
		quoted := strings.IndexAny(text, `"«“„`) == 0
		if quoted {
			_, size := utf8.DecodeRuneInString(text)
			token, text = cut(text[size:], `"»”“`)
		} else {
			token, text = cut(text, " \t\r\n")
		}
		for w := range words(token) {
			c.words = append(c.words, w.folded)
		}
		if len(c.words) == 0 {
			continue
		}
		if !quoted && len(c.words) == 1 && strings.HasSuffix(token, "*") {
			c.prefix, c.words = c.words[0], nil
			if utf8.RuneCountInString(c.prefix) < leastPrefix {
				return q, store.Invalid("q", "invalid.search_prefix", leastPrefix)
			}
		}
		if c.word() {
			c.forms = lookups(c.words[0])
		}
		c.loose = !quoted && len(c.words) > 1
		q.clauses = append(q.clauses, c)
	}
	if len(q.clauses) > maxClauses {
		return q, store.Invalid("q", "invalid.search_clauses", maxClauses)
	}
	if len(q.clauses) > 0 && !slices.ContainsFunc(q.clauses, func(c clause) bool { return !c.not }) {
		return q, store.Invalid("q", "invalid.search_only_not")
	}
	return q, nil
}

// cut cuts a text at the first of some characters.
func cut(text, at string) (before, after string) {
	i := strings.IndexAny(text, at)
	if i < 0 {
		return text, ""
	}
	_, size := utf8.DecodeRuneInString(text[i:])
	return text[:i], text[i+size:]
}

// Empty reports whether the query has no words.
func (q Query) Empty() bool { return len(q.clauses) == 0 }

// Matches reports whether a document matches the query, without the index. An empty query matches none.
func (q Query) Matches(d *store.Document) bool {
	if q.Empty() {
		return false
	}
	for _, c := range q.clauses {
		if c.in(d) == c.not {
			return false
		}
	}
	return true
}

func (c clause) in(d *store.Document) bool {
	switch {
	case c.prefix != "":
		at, _ := slices.BinarySearch(d.Terms, c.prefix)
		for ; at < len(d.Terms) && strings.HasPrefix(d.Terms[at], c.prefix); at++ {
			if strings.HasSuffix(d.Terms[at], exact) {
				return true
			}
		}
		return false
	case c.word():
		return slices.ContainsFunc(c.terms(c.words[0]), d.Has)
	}
	for _, w := range c.words {
		if !slices.ContainsFunc(c.terms(w), d.Has) {
			return false
		}
	}
	if c.loose {
		return containsRow(thirds(d.Text), thirds(strings.Join(c.words, " ")))
	}
	return inRow(d.Text, c.words)
}

// terms are those of which a message has one for each word.
func (c clause) terms(w string) []string {
	forms := c.forms
	switch {
	case c.loose:
		forms = lookups(w)
	case !c.word():
		return []string{w + exact}
	}
	return slices.Concat(forms[:]...)
}

// inRow reports whether words follow each other in a text.
func inRow(text string, phrase []string) bool {
	var last []string
	for w := range words(text) {
		if last = append(last, w.folded); len(last) > len(phrase) {
			last = last[1:]
		}
		if slices.Equal(last, phrase) {
			return true
		}
	}
	return false
}
