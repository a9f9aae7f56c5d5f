package store

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"

	"go.etcd.io/bbolt"
)

// An index entry is the row's key followed by its id, with no value.
const idSize = 8

// entryID is the id of an entry; of one that is damaged and too short, 0, which no row has.
func entryID(entry []byte) uint64 {
	if len(entry) < idSize {
		return 0
	}
	return binary.BigEndian.Uint64(entry[len(entry)-idSize:])
}

func entryKey(entry []byte) []byte { return entry[:max(0, len(entry)-idSize)] }

func (t *table[T]) indexName(i int) string { return t.def().name + "." + t.def().indexes[i].Name }

func (t *table[T]) index(i int) *bbolt.Bucket {
	return t.tx.bucket(t.def().bucket + 1 + i)
}

// seek returns the first entry of an index whose key is not less than k; nil if there is none. It is good until
// something is written.
func (t *table[T]) seek(i int, k key) (entry []byte) {
	entry, _ = t.tx.cursor(t.def().bucket + 1 + i).Seek(k)
	return entry
}

// indexNamed returns the bucket of a declared index.
func (t *table[T]) indexNamed(name string) *bbolt.Bucket { return t.index(t.indexNumber(name)) }

// indexNumber returns the number of a declared index. An unknown name is a mistake in this package.
func (t *table[T]) indexNumber(name string) int {
	for i := range t.def().indexes {
		if t.def().indexes[i].Name == name {
			return i
		}
	}
	panic("store: table " + t.def().name + " has no index " + name)
}

// entries yields the entries of an index from from, included, to to, excluded; nil means without
// end. The index may be changed meanwhile; an entry is good until the next step.
func (t *table[T]) entries(name string, from, to []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		bucket := t.indexNamed(name)
		cursor := bucket.Cursor()
		for k, _ := cursor.Seek(from); k != nil && (to == nil || bytes.Compare(k, to) < 0); {
			writes, last := t.tx.writes, k
			if t.tx.bolt.Writable() {
				last = bytes.Clone(k)
			}
			if !yield(k) {
				return
			}
			if t.tx.writes == writes {
				k, _ = cursor.Next()
				continue
			}
			cursor = bucket.Cursor()
			if k, _ = cursor.Seek(last); bytes.Equal(k, last) {
				k, _ = cursor.Next()
			}
		}
	}
}

// scan yields the rows of an index from from, included, to to, excluded, in the index's order.
func (t *table[T]) scan(name string, from, to []byte) iter.Seq[T] {
	return func(yield func(T) bool) {
		for entry := range t.entries(name, from, to) {
			if row, err := t.named(name, entry); err == nil && !yield(row) {
				return
			}
		}
	}
}

// named returns the row that an entry of an index names. Its error is always a [*CorruptError], also if there
// is none: then the index is damaged, or the row is gone.
func (t *table[T]) named(index string, entry []byte) (row T, err error) {
	id := entryID(entry)
	if row, err = t.Get(id); errors.Is(err, ErrNotFound) {
		err = errors.New("an index names it, but it is not there")
		t.tx.damage.add(t.def().name, id, fault{text: err.Error(), index: t.def().name + "." + index, entry: bytes.Clone(entry)})
		err = &CorruptError{Table: t.def().name, ID: id, Err: err}
	}
	return row, err
}

// first returns the row with the given key, or [ErrNotFound].
func (t *table[T]) first(name string, k key) (T, error) {
	if t.def().cache == nil {
		return t.find(name, k)
	}
	bucket := t.def().bucket + 1 + t.indexNumber(name)
	if known, has := t.tx.found[foundKey{bucket, string(k)}]; has {
		return known.row.(T), known.err
	}
	row, err := t.find(name, k)
	if len(t.tx.found) >= maxFound || t.tx.found == nil {
		t.tx.found = make(map[foundKey]found)
	}
	t.tx.found[foundKey{bucket, string(k)}] = found{row, err}
	return row, err
}

func (t *table[T]) find(name string, k key) (row T, err error) {
	if entry := t.seek(t.indexNumber(name), k); bytes.HasPrefix(entry, k) {
		return t.named(name, entry)
	}
	return row, &missingError{table: t.def().name, index: name}
}

// countKey is a key of the counted index with a bucket number.
type countKey struct {
	bucket int
	key    string
}

// addCount adds n to how many rows have a key in a counted index. It is written when the transaction ends: many
// rows change the same few numbers.
func (t *table[T]) addCount(i int, k key, n int) {
	if t.tx.counted == nil {
		t.tx.counted = make(map[countKey]int)
	}
	t.tx.counted[countKey{t.def().bucket + 1 + i, string(k)}] += n
}

// writeCounts writes what was added to counted indexes.
func (tx *Tx) writeCounts() error {
	for k, added := range tx.counted {
		bucket := tx.bucket(k.bucket)
		n := countOf(bucket.Get([]byte(k.key))) + added
		var err error
		if n > 0 {
			err = bucket.Put([]byte(k.key), key(nil).uint(uint64(n)))
		} else {
			err = bucket.Delete([]byte(k.key))
		}
		if err != nil {
			return fmt.Errorf("write a count: %w", err)
		}
	}
	clear(tx.counted)
	return nil
}

// countOf reads a number of rows; of one that is damaged or missing, 0.
func countOf(value []byte) int {
	if len(value) != 8 {
		return 0
	}
	return int(binary.BigEndian.Uint64(value))
}

// counts yields the keys of a counted index and how many rows have each.
func (t *table[T]) counts(name string) iter.Seq2[key, int] {
	return func(yield func(key, int) bool) {
		if t.tx.writeCounts() != nil { // the commit says why
			return
		}
		cursor := t.indexNamed(name).Cursor()
		for k, n := cursor.First(); k != nil && yield(k, countOf(n)); {
			k, n = cursor.Next()
		}
	}
}

// collect returns at most limit rows of seq.
func collect[T any](seq iter.Seq[T], limit int) (rows []T) {
	for row := range seq {
		if len(rows) == limit {
			break
		}
		rows = append(rows, row)
	}
	return rows
}

// count returns how many entries of an index begin with prefix, and counts no further than limit.
func (t *table[T]) count(name string, prefix key, limit int) (n int) {
	for range t.entries(name, prefix, prefix.next()) {
		if n == limit {
			break
		}
		n++
	}
	return n
}

// Page is a part of a list.
type Page[T any] struct {
	Items []T
	Next  string // the cursor of the page that follows; empty at the end
}

// Query selects a part of a list.
type Query struct {
	Limit  int    // rows wanted; 0 means 50, and more than 500 is 500
	Cursor string // where the page before ended, as [Page] said
}

// ErrCursor is the field error for a cursor that no list has given out.
func errCursor() error {
	return Invalid("cursor", "invalid.cursor")
}

func (q Query) limit() int {
	switch {
	case q.Limit <= 0:
		return 50
	case q.Limit > 500:
		return 500
	}
	return q.Limit
}

// page returns the rows of an index whose key begins with prefix, from the cursor on. Its error is always a
// [*FieldError] about the cursor.
func (t *table[T]) page(name string, prefix key, q Query, descending bool) (Page[T], error) {
	var page Page[T]
	cursor := t.indexNamed(name).Cursor()
	after, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil || (len(after) > 0 && (len(after) <= idSize || !bytes.HasPrefix(after, prefix))) {
		return page, errCursor()
	}
	k := start(cursor, prefix, after, descending)
	for ; k != nil && bytes.HasPrefix(k, prefix); k = step(cursor, descending) {
		row, err := t.named(name, k)
		if err != nil {
			continue
		}
		if len(page.Items) == q.limit() {
			page.Next = base64.RawURLEncoding.EncodeToString(after)
			break
		}
		page.Items, after = append(page.Items, row), bytes.Clone(k)
	}
	return page, nil
}

// start puts the cursor on the first entry of a page.
func start(cursor *bbolt.Cursor, prefix key, after []byte, descending bool) []byte {
	from := []byte(prefix)
	if len(after) > 0 {
		from = after
	} else if descending {
		from = prefix.next()
	}
	if descending && from == nil { // nothing can follow the prefix
		k, _ := cursor.Last()
		return k
	}
	k, _ := cursor.Seek(from)
	switch {
	case descending && k == nil:
		k, _ = cursor.Last()
	case descending: // Seek has gone to the entry itself or past it
		k, _ = cursor.Prev()
	case bytes.Equal(k, after):
		k, _ = cursor.Next()
	}
	return k
}

func step(cursor *bbolt.Cursor, descending bool) []byte {
	var k []byte
	if descending {
		k, _ = cursor.Prev()
	} else {
		k, _ = cursor.Next()
	}
	return k
}
