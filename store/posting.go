package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"iter"
	"math"
	"time"

	"go.etcd.io/bbolt"
)

// whenSize is the length of the time in a key of a term: seconds, so that the newest come first.
const whenSize = 4

func whenOf(t time.Time) (b [whenSize]byte) {
	binary.BigEndian.PutUint32(b[:], math.MaxUint32-uint32(min(max(t.Unix(), 0), math.MaxUint32)))
	return b
}

// Posting is a document among those that have a term. They are ordered by their times, the newest first, and within a
// second by their ids.
type Posting struct {
	When uint32 // the seconds from its time to the year 2106
	ID   uint64
}

// PostingAt comes before the documents of a second and of all before that.
func PostingAt(t time.Time) Posting {
	b := whenOf(t)
	return Posting{When: binary.BigEndian.Uint32(b[:])}
}

// Compare compares the order of two postings.
func (p Posting) Compare(q Posting) int {
	return cmp.Or(cmp.Compare(p.When, q.When), cmp.Compare(p.ID, q.ID))
}

// Next is the least posting behind p.
func (p Posting) Next() Posting { return Posting{p.When, p.ID + 1} }

// append appends what stands for p in a key.
func (p Posting) append(k []byte) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(k, p.When), p.ID)
}

// Postings goes through the documents that have a term. It reads no document.
type Postings struct {
	cursor *bbolt.Cursor
	prefix key
	left   []Posting // of the present chunk; the first is where it stands
	begun  bool
	Steps  int // chunks read so far
}

// Having goes through the documents that have a term.
func (t Documents) Having(term string) *Postings {
	return &Postings{cursor: t.indexNamed("terms").Cursor(), prefix: key(nil).str(term)}
}

// Seek moves forward to the first document that does not come before the given one. It reports false at the end.
func (p *Postings) Seek(to Posting) (Posting, bool) {
	if n := len(p.left); !p.begun || n > 0 && p.left[n-1].Compare(to) < 0 {
		p.begun = true
		p.Steps++
		k, data := p.cursor.Seek(to.append(bytes.Clone(p.prefix)))
		p.left = nil
		if bytes.HasPrefix(k, p.prefix) {
			p.left, _ = unpackPostings(data) // what is damaged has nothing; Verify tells of it
		}
	}
	i := 0
	for step := 8; i < len(p.left) && p.left[i].Compare(to) < 0; i++ { // most often it is near
		if next := i + step; next < len(p.left) && p.left[next].Compare(to) < 0 {
			i, step = next, 2*step
		}
	}
	if p.left = p.left[i:]; len(p.left) == 0 {
		return Posting{}, false
	}
	return p.left[0], true
}

// Beginning yields the documents with each term that begins and ends in a given way, in no order; one with several
// such terms comes several times.
func (t Documents) Beginning(prefix, suffix string) iter.Seq[Posting] {
	return func(yield func(Posting) bool) {
		cursor, end := t.indexNamed("terms").Cursor(), append([]byte(suffix), 0, 1)
		for k, data := cursor.Seek([]byte(prefix)); bytes.HasPrefix(k, []byte(prefix)); k, data = cursor.Next() {
			if !bytes.HasSuffix(k[:max(0, len(k)-postingSize)], end) {
				continue
			}
			all, _ := unpackPostings(data)
			for _, p := range all {
				if !yield(p) {
					return
				}
			}
		}
	}
}

// tally counts entries by the name that begins at a place of their keys; entries with one name follow each other only
// in part. It looks at limit entries at most.
func (t Documents) tally(index string, from, to key, at, limit int) map[string]int {
	counts, n := make(map[string]int), 0
	for entry := range t.entries(index, from, to) {
		if n++; n > limit {
			break
		}
		if name, _, found := bytes.Cut(entry[min(at, len(entry)):], []byte{0, 1}); found {
			counts[string(name)]++
		}
	}
	return counts
}

// maxTally bounds how many entries are counted for one answer.
const maxTally = 200_000

// CountTags counts the documents of a time by their tags.
func (t Documents) CountTags(since, until time.Time) map[string]int {
	return t.tally("tags", key(nil).time(since), key(nil).time(until), 8, maxTally)
}

// TagsOf counts the documents of a channel by their tags.
func (t Documents) TagsOf(channelID uint64) map[string]int {
	from := key(nil).uint(channelID)
	return t.tally("channel_tags", from, from.next(), 8, maxTally)
}

// RefsOf counts the documents of a channel by whom they refer to.
func (t Documents) RefsOf(channelID uint64) map[string]int {
	from := key(nil).uint(channelID)
	return t.tally("refs", from, from.next(), 8, maxTally)
}

// ReferrersTo counts the documents that refer to something, by their channels.
func (t Documents) ReferrersTo(ref string) map[uint64]int {
	counts, n, from := make(map[uint64]int), 0, key(nil).str(ref)
	for entry := range t.entries("referrers", from, from.next()) {
		if n++; n > maxTally {
			break
		}
		if len(entry) == len(from)+2*idSize {
			counts[binary.BigEndian.Uint64(entry[len(from):])]++
		}
	}
	return counts
}
