package search

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"belfry/store"
)

// Filter narrows a search. What is empty narrows nothing.
type Filter struct {
	Channels []uint64 // of the [store.Channel]; one of them
	Since    time.Time
	Until    time.Time // excluded
	Tag      string
	Language string
	HasMedia bool
}

// terms are the terms of which a document must have one each.
func (f Filter) terms() (all [][]string) {
	if len(f.Channels) > 0 {
		var channels []string
		for _, id := range f.Channels {
			channels = append(channels, store.ChannelTerm(id))
		}
		all = append(all, channels)
	}
	if f.Tag != "" {
		all = append(all, []string{store.TagTerm(f.Tag)})
	}
	if f.Language != "" {
		all = append(all, []string{store.LanguageTerm(f.Language)})
	}
	if f.HasMedia {
		all = append(all, []string{store.MediaTerm})
	}
	return all
}

// Result is a message that was found.
type Result struct {
	store.Document
	Message store.Message
	Channel store.Channel
	Snippet string // HTML: the text is escaped, and the words that were searched for are in <mark>
	By      string // [ByWords], [ByMeaning] or [ByBoth]
	// Score is 3 and more for all words as they are written, 2 and more for their stems, 1 and more for their squeezed
	// stems, and else how near the meaning is.
	Score float64
}

// Link is the address of the message.
func (r Result) Link() string { return r.Channel.Link(r.Message.MessageID) }

const (
	// MaxResults bounds a page of results.
	MaxResults = 100
	// window is how many matches are ranked together: the newest, then those before them, and so on. Where their texts
	// have to be read, it is readWindow.
	window     = 200
	readWindow = 25
	// A message counts half as much for being new after halfLife, against the newest of its window; and that counts for
	// recency of what a match is worth within its way. The rest is for words that it has several times.
	halfLife = 14 * 24 * time.Hour
	recency  = 0.6
)

// place is where a page begins: in which way, in which window, and behind how many of it.
type place struct {
	way    int
	from   store.Posting
	offset int
}

func (p place) String() string {
	b := binary.BigEndian.AppendUint32([]byte{byte(p.way)}, p.from.When)
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint64(b, p.from.ID), uint16(p.offset)))
}

func readPlace(cursor string, f Filter) (p place, err error) {
	if cursor == "" {
		return f.begin(0), nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || len(b) != 15 || b[0] >= ways {
		return p, store.Invalid("cursor", "invalid.cursor")
	}
	from := store.Posting{When: binary.BigEndian.Uint32(b[1:]), ID: binary.BigEndian.Uint64(b[5:])}
	return place{int(b[0]), from, int(binary.BigEndian.Uint16(b[13:]))}, nil
}

func (f Filter) begin(way int) place {
	p := place{way: way}
	if !f.Until.IsZero() {
		p.from = store.PostingAt(f.Until.Add(-time.Nanosecond))
	}
	return p
}

// Find returns the messages that match a query: first those that have its words as they are written, then those that
// have their stems, then their squeezed stems; within each the newest, and those that have the words several times,
// first. A page may be short, and even empty, and yet be followed by another one. The errors are of type
// [*store.FieldError].
func Find(tx *store.Tx, q Query, f Filter, page store.Query) (out store.Page[Result], err error) {
	if q.Empty() && len(f.terms()) == 0 {
		return out, store.Invalid("q", "invalid.search_empty")
	}
	at, err := readPlace(page.Cursor, f)
	if err != nil {
		return out, err
	}
	limit := min(page.Limit, MaxResults)
	if limit <= 0 {
		limit = 20
	}
	marks, known, spent := q.marks(), make(gathered), 0
	for len(out.Items) < limit && spent <= maxSteps {
		m, err := newMatcher(tx, q, f, at.way, known)
		if err != nil {
			return out, err
		}
		matches, next, more := m.window(&at.from)
		spent += m.spent()
		for at.offset < len(matches) && len(out.Items) < limit {
			if r, err := show(tx, matches[at.offset], marks); err == nil {
				out.Items = append(out.Items, r)
			} else if !errors.Is(err, store.ErrNotFound) && !store.IsCorrupt(err) {
				return out, err
			}
			at.offset++
		}
		switch {
		case at.offset < len(matches):
		case more:
			at = place{way: at.way, from: next}
		case at.way == q.lastWay():
			return out, nil
		default:
			at = f.begin(at.way + 1)
		}
	}
	out.Next = at.String()
	return out, nil
}

// lastWay is the last way in which the query can find anything that the ways before have not found.
func (q Query) lastWay() int {
	if slices.ContainsFunc(q.clauses, func(c clause) bool { return c.word() && !c.not }) {
		return ways - 1
	}
	return asWritten
}

// match is a document that was found, and its rank.
type match struct {
	store.Posting
	score float64
}

// window returns the next matches in the order of their ranks, and where the next window begins. from becomes the first
// of them, so that what is new meanwhile does not move the others.
func (m *matcher) window(from *store.Posting) (all []match, next store.Posting, more bool) {
	next = *from
	size := window
	if len(m.phrases) > 0 {
		size = readWindow
	}
	for len(all) < size {
		at, good, goesOn := m.next(next)
		if !goesOn {
			return m.ranked(all), at, false
		}
		if next = at; !good {
			break
		}
		all = append(all, match{at, m.share(at)})
		next = at.Next()
	}
	if len(all) > 0 {
		*from = all[0].Posting
	}
	return m.ranked(all), next, true
}

// ranked sorts matches by their ranks. Until then, their scores are how many words they have several times.
func (m *matcher) ranked(all []match) []match {
	for i := range all {
		age := float64(all[i].When-all[0].When) * float64(time.Second) / float64(halfLife)
		all[i].score = float64(ways-m.way) + 0.99*(recency/(1+age)+(1-recency)*all[i].score)
	}
	slices.SortStableFunc(all, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	return all
}

// show reads what is shown of a match.
func show(tx *store.Tx, m match, marks marks) (r Result, err error) {
	if r.Document, err = tx.Documents.Get(m.ID); err != nil {
		return r, err
	}
	if r.Message, err = tx.Messages.Get(r.MessageID); err != nil {
		return r, err
	}
	if r.Channel, err = tx.Channels.Get(r.ChannelID); err != nil {
		return r, err
	}
	r.Snippet, r.Score, r.By = marks.snippet(r.Text), m.score, ByWords
	return r, nil
}
