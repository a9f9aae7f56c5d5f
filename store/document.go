package store

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// Document is a message as it is searched: its text, and the terms under which it is found.
type Document struct {
	ID        uint64
	MessageID uint64 // of the [Message]
	ChannelID uint64 // of the [Channel]
	Date      time.Time
	Tags      []string
	Language  string
	HasMedia  bool
	Text      string   // of which snippets are cut
	Terms     []string // by the text, sorted, each once; what they are is up to whoever makes them
	Refs      []string // whom it forwards, links or mentions, sorted, each once
}

// fields implements [packed]: terms are most of a document, and share their beginnings.
func (d *Document) fields(p *packing) {
	p.uint(&d.MessageID)
	p.uint(&d.ChannelID)
	p.time(&d.Date)
	packList(p, &d.Tags, packString)
	packString(p, &d.Language)
	p.bool(&d.HasMedia)
	packString(p, &d.Text)
	packSorted(p, &d.Terms)
	packList(p, &d.Refs, packString)
}

// packSorted packs texts in ascending order, each as how many bytes it shares with the one before, and the rest.
func packSorted(p *packing, list *[]string) {
	before := ""
	packList(p, list, func(p *packing, s *string) {
		var shared uint64
		rest := *s
		if !p.reading {
			for int(shared) < min(len(before), len(rest)) && before[shared] == rest[shared] {
				shared++
			}
			rest = rest[shared:]
		}
		p.uint(&shared)
		packString(p, &rest)
		if p.reading && shared > uint64(len(before)) {
			p.err = errCutOff
			return
		}
		if p.reading {
			*s = before[:shared] + rest
		}
		before = *s
	})
}

// The terms by which documents are filtered. No word begins as they do.
const termFilter = "\x00"

// ChannelTerm is the term of a channel's documents.
func ChannelTerm(channelID uint64) string { return string(key(termFilter + "c").uint(channelID)) }

// TagTerm is the term of the documents with a tag.
func TagTerm(tag string) string { return termFilter + "t" + tag }

// LanguageTerm is the term of the documents in a language.
func LanguageTerm(language string) string { return termFilter + "l" + language }

// MediaTerm is the term of the documents with media.
const MediaTerm = termFilter + "m"

// terms are all terms of the document, sorted: those of its text, and those by which it is filtered.
func (d *Document) terms() []string {
	all := make([]string, 0, len(d.Tags)+3+len(d.Terms))
	all = append(all, ChannelTerm(d.ChannelID))
	if d.Language != "" {
		all = append(all, LanguageTerm(d.Language))
	}
	if d.HasMedia {
		all = append(all, MediaTerm)
	}
	for _, tag := range d.Tags {
		all = append(all, TagTerm(tag))
	}
	return append(all, d.Terms...) // in order: the tags are
}

// Has reports whether the document has a term.
func (d *Document) Has(term string) bool {
	if strings.HasPrefix(term, termFilter) {
		return slices.Contains(d.terms(), term)
	}
	_, has := slices.BinarySearch(d.Terms, term)
	return has
}

// Documents is the table of documents.
type Documents struct{ Table[Document] }

func documentTable() def[Document] {
	return def[Document]{
		name: "documents",
		id:   func(d *Document) *uint64 { return &d.ID },
		valid: func(d *Document) error {
			for _, list := range []*[]string{&d.Tags, &d.Terms, &d.Refs} {
				slices.Sort(*list)
				*list = slices.Compact(*list)
			}
			return nil
		},
		indexes: []Index[Document]{
			{Name: "message", Unique: true, Key: func(d *Document, k key) key { return k.uint(d.MessageID) }},
			{Name: "terms", Packed: true, Keys: termKeys},
			{Name: "tags", Keys: func(d *Document) (keys []key) {
				for _, tag := range d.Tags {
					keys = append(keys, key(nil).time(d.Date).str(tag))
				}
				return keys
			}},
			{Name: "channel_tags", Keys: func(d *Document) (keys []key) {
				for _, tag := range d.Tags {
					keys = append(keys, key(nil).uint(d.ChannelID).str(tag))
				}
				return keys
			}},
			{Name: "refs", Keys: func(d *Document) (keys []key) {
				for _, ref := range d.Refs {
					keys = append(keys, key(nil).uint(d.ChannelID).str(ref))
				}
				return keys
			}},
			{Name: "referrers", Keys: func(d *Document) (keys []key) {
				for _, ref := range d.Refs {
					keys = append(keys, key(nil).str(ref).uint(d.ChannelID))
				}
				return keys
			}},
		},
	}
}

// termKeys are the keys of a document's terms.
func termKeys(d *Document) []key {
	terms, when := d.terms(), whenOf(d.Date)
	keys := make([]key, len(terms))
	for i, term := range terms {
		keys[i] = append(key(nil).str(term), when[:]...)
	}
	return keys
}

// Save writes the document of a message in the place of the one before.
func (t Documents) Save(d *Document) error {
	before, err := t.OfMessage(d.MessageID)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	d.ID = before.ID
	return t.Put(d)
}

// OfMessage returns the document of a message, or [ErrNotFound].
func (t Documents) OfMessage(messageID uint64) (Document, error) {
	return t.first("message", key(nil).uint(messageID))
}

// Drop takes a message out of the index, if it is there, with its vector. A damaged document is found no more as it is.
func (t Documents) Drop(messageID uint64) error {
	d, err := t.OfMessage(messageID)
	if errors.Is(err, ErrNotFound) || IsCorrupt(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if v, err := t.in().Vectors.Of(d.ID); err == nil {
		if err := t.in().Vectors.Delete(v.ID); err != nil {
			return err
		}
	}
	return t.Delete(d.ID)
}
