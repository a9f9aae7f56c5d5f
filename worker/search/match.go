package search

import (
	"math"
	"slices"

	"belfry/store"
)

// stream goes forward through documents.
type stream interface {
	// Seek moves to the first document that does not come before the given one, and reports false at the end.
	Seek(to store.Posting) (store.Posting, bool)
}

// union goes through the documents that any of its streams has.
type union []stream

func (u union) Seek(to store.Posting) (first store.Posting, found bool) {
	for _, s := range u {
		if p, ok := s.Seek(to); ok && (!found || p.Compare(first) < 0) {
			first, found = p, true
		}
	}
	return first, found
}

// list goes through documents that were gathered and sorted.
type list []store.Posting

func (l *list) Seek(to store.Posting) (store.Posting, bool) {
	at, _ := slices.BinarySearchFunc(*l, to, store.Posting.Compare)
	if *l = (*l)[at:]; len(*l) == 0 {
		return store.Posting{}, false
	}
	return (*l)[0], true
}

const (
	// maxSteps bounds the work of one search: what it has not found by then is found by the page that follows. A step is a
	// document of the index that is passed; reading a part of the index, or a document, counts for more.
	maxSteps  = 100_000
	chunkCost = 30
	readCost  = 500
	// maxBeginning bounds the documents that have a word with a given beginning.
	maxBeginning = 50_000
)

// matcher goes through the documents that match a query and filters, and have the words in a given way or a better one.
type matcher struct {
	tx       *store.Tx
	way      int
	gathered gathered
	opened   []*store.Postings
	all      []stream      // what the documents are in
	better   []stream      // words in a better way: what is in all of these was found before
	none     []stream      // what they are not in
	often    []stream      // words that they have several times
	phrases  []clause      // to be checked in the text
	steps    int           // beside those of opened
	until    store.Posting // the last one that may match
}

func (m *matcher) having(terms ...string) stream {
	u := make(union, len(terms))
	for i, term := range terms {
		p := m.tx.Documents.Having(term)
		m.opened, u[i] = append(m.opened, p), p
	}
	if len(u) == 1 {
		return u[0]
	}
	return u
}

// forms goes through the documents that have a word in a given way or a better one.
func (m *matcher) forms(c clause, way int) stream {
	return m.having(slices.Concat(c.forms[:way+1]...)...)
}

// gathered are the documents that have a word with a beginning.
type gathered map[string]list

// beginning goes through the documents that have a word with a beginning.
func (m *matcher) beginning(prefix string) (stream, error) {
	all, known := m.gathered[prefix]
	if !known {
		for p := range m.tx.Documents.Beginning(prefix, exact) {
			if all = append(all, p); len(all) > maxBeginning {
				return nil, store.Invalid("q", "invalid.search_common", prefix)
			}
		}
		slices.SortFunc(all, store.Posting.Compare)
		all = slices.Compact(all)
		m.gathered[prefix] = all
	}
	return &all, nil
}

// newMatcher opens a query with filters in a way.
func newMatcher(tx *store.Tx, q Query, f Filter, way int, known gathered) (*matcher, error) {
	m := &matcher{tx: tx, way: way, gathered: known, until: store.Posting{When: math.MaxUint32, ID: math.MaxUint64}}
	if !f.Since.IsZero() {
		m.until.When = store.PostingAt(f.Since).When
	}
	for _, c := range q.clauses {
		if err := m.add(c, way); err != nil {
			return nil, err
		}
	}
	for _, terms := range f.terms() {
		m.all = append(m.all, m.having(terms...))
	}
	return m, nil
}

func (m *matcher) add(c clause, way int) error {
	switch {
	case c.prefix != "":
		s, err := m.beginning(c.prefix)
		if c.not {
			m.none = append(m.none, s)
		} else {
			m.all = append(m.all, s)
		}
		return err
	case c.word() && c.not:
		m.none = append(m.none, m.forms(c, ways-1))
	case c.word():
		m.all = append(m.all, m.forms(c, way))
		m.often = append(m.often, m.having(stem(c.words[0])+often))
		if way > 0 {
			m.better = append(m.better, m.forms(c, way-1))
		}
	default:
		m.phrases = append(m.phrases, c)
		for _, w := range c.words {
			if !c.not {
				m.all = append(m.all, m.having(c.terms(w)...))
			}
		}
	}
	return nil
}

// spent is how much was done so far.
func (m *matcher) spent() int {
	n := m.steps
	for _, p := range m.opened {
		n += chunkCost * p.Steps
	}
	return n
}

// next returns the first match that does not come before from. Where enough was done, it is a place to go on from, and
// no match.
func (m *matcher) next(from store.Posting) (at store.Posting, match, more bool) {
	for at = from; ; at = at.Next() {
		for i := 0; i < len(m.all); i++ {
			m.steps++
			p, ok := m.all[i].Seek(at)
			if !ok || p.Compare(m.until) > 0 {
				return at, false, false
			}
			if p == at {
				continue
			}
			if at = p; i > 0 {
				i = -1 // do the others have that one?
			}
			if m.spent() > maxSteps {
				return at, false, true
			}
		}
		if good := m.good(at); good || m.spent() > maxSteps {
			return at, good, true
		}
	}
}

// good checks what streams alone do not show.
func (m *matcher) good(at store.Posting) bool {
	has := func(s stream) bool {
		m.steps++
		p, ok := s.Seek(at)
		return ok && p == at
	}
	if slices.ContainsFunc(m.none, has) {
		return false
	}
	if len(m.better) > 0 && !slices.ContainsFunc(m.better, func(s stream) bool { return !has(s) }) {
		return false
	}
	if len(m.phrases) == 0 {
		return true
	}
	m.steps += readCost
	d, err := m.tx.Documents.Get(at.ID)
	return err == nil && !slices.ContainsFunc(m.phrases, func(c clause) bool { return c.in(&d) == c.not })
}

// share is how many of the words a document has several times, from 0 to 1.
func (m *matcher) share(at store.Posting) float64 {
	n := 0
	for _, s := range m.often {
		if p, ok := s.Seek(at); ok && p == at {
			n++
		}
	}
	return float64(n) / float64(max(1, len(m.often)))
}
