package search

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The length of a snippet, and how much of it stands before the first word that is marked, in characters.
const (
	snippetLength = 240
	snippetBefore = 60
)

// marks says which words are marked in a snippet.
type marks struct {
	terms    map[string]bool
	prefixes []string
	letters  string // with which such words begin
}

func (q Query) marks() (m marks) {
	m.terms = make(map[string]bool)
	for _, c := range q.clauses {
		if c.not {
			continue
		}
		if c.prefix != "" {
			m.prefixes = append(m.prefixes, c.prefix)
		}
		for _, w := range c.words {
			for _, term := range c.terms(w) {
				m.terms[term] = true
			}
		}
		for _, w := range append(c.words, c.prefix) {
			if r, size := utf8.DecodeRuneInString(w); size > 0 {
				m.letters += string(r)
			}
		}
	}
	return m
}

func (m marks) has(w string) bool {
	first, _ := utf8.DecodeRuneInString(w)
	if !strings.ContainsRune(m.letters, first) { // no stem begins with another letter than its word
		return false
	}
	return slices.ContainsFunc(m.prefixes, func(p string) bool { return strings.HasPrefix(w, p) }) ||
		slices.ContainsFunc(termsOf(w, stem(w)), func(term string) bool { return m.terms[term] })
}

// snippet returns a piece of a text around the first word that is marked, as HTML.
func (m marks) snippet(text string) string {
	from, to := 0, 0
	for w := range words(text) {
		if m.has(w.folded) {
			from = back(text, w.from, snippetBefore)
			break
		}
	}
	to = ahead(text, from, snippetLength)
	var out strings.Builder
	if from > 0 {
		out.WriteString("…")
	}
	at, piece := 0, text[from:to]
	for w := range words(piece) {
		if m.has(w.folded) {
			out.WriteString(html.EscapeString(piece[at:w.from]) + "<mark>" + html.EscapeString(piece[w.from:w.to]) + "</mark>")
			at = w.to
		}
	}
	out.WriteString(html.EscapeString(piece[at:]))
	if to < len(text) {
		out.WriteString("…")
	}
	return out.String()
}

// back returns the beginning of a word that stands about n characters before a place, or the text's beginning.
func back(text string, at, n int) int {
	from := at
	for ; from > 0 && n > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	if from == 0 {
		return 0
	}
	if gap := strings.IndexFunc(text[from:at], unicode.IsSpace); gap >= 0 {
		_, size := utf8.DecodeRuneInString(text[from+gap:])
		return from + gap + size
	}
	return at
}

// ahead returns the end of a word that stands about n characters behind a place, or the text's end.
func ahead(text string, from, n int) int {
	to := from
	for ; to < len(text) && n > 0; n-- {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	if to < len(text) {
		if gap := strings.LastIndexFunc(text[from:to], unicode.IsSpace); gap > 0 {
			to = from + gap
		}
	}
	return to
}
