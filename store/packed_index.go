package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/bbolt"
)

// An index in which many rows share a key is packed: its entries are in chunks, in order, each under the key of its last
// entry. So a row that is new, whose time makes it the first, changes no key.
const (
	postingSize = whenSize + idSize
	// maxChunk is how many entries a chunk has at most. One that has more is cut so that newChunk stay in the first part,
	// where the next ones come.
	maxChunk = 128
	newChunk = 16
)

var errChunk = errors.New("a chunk cannot be read")

// packPostings packs postings in their order, each as its distance from the one before.
func packPostings(all []Posting) []byte {
	data, before := make([]byte, 0, 4*len(all)+8), Posting{}
	for _, p := range all {
		data = binary.AppendUvarint(data, uint64(p.When-before.When))
		data = binary.AppendVarint(data, int64(p.ID-before.ID))
		before = p
	}
	return data
}

func unpackPostings(data []byte) ([]Posting, error) {
	all, p := make([]Posting, 0, len(data)/3+1), Posting{}
	for len(data) > 0 {
		when, n := binary.Uvarint(data)
		if n <= 0 {
			return nil, errChunk
		}
		id, m := binary.Varint(data[n:])
		if m <= 0 {
			return nil, errChunk
		}
		p = Posting{p.When + uint32(when), p.ID + uint64(id)}
		all, data = append(all, p), data[n+m:]
	}
	return all, nil
}

// chunk is a part of a packed index.
type chunk struct {
	bucket *bbolt.Bucket
	prefix key    // of all entries with the same key
	key    []byte // nil: it is not there
	all    []Posting
	own    Posting // what was looked for
}

// chunkOf returns the chunk in which the entry of a row with a key is, or belongs. One that cannot be read counts as
// empty, so that it keeps no other row out: Verify tells of the rows that are missing then, and repair puts them back.
func chunkOf(bucket *bbolt.Bucket, k key, id uint64) chunk {
	at := len(k) - whenSize
	c := chunk{bucket: bucket, prefix: k[:at], own: Posting{binary.BigEndian.Uint32(k[at:]), id}}
	cursor := bucket.Cursor()
	found, data := cursor.Seek(c.own.append(bytes.Clone(c.prefix)))
	if !bytes.HasPrefix(found, c.prefix) {
		if found == nil {
			found, data = cursor.Last()
		} else {
			found, data = cursor.Prev()
		}
	}
	if bytes.HasPrefix(found, c.prefix) {
		c.key = bytes.Clone(found)
		c.all, _ = unpackPostings(data)
	}
	return c
}

// put writes all entries of the chunk.
func (c chunk) put() error {
	var last []byte
	if n := len(c.all); n > 0 {
		last = c.all[n-1].append(bytes.Clone(c.prefix))
	}
	if c.key != nil && !bytes.Equal(c.key, last) {
		if err := c.bucket.Delete(c.key); err != nil {
			return err
		}
	}
	if len(c.all) > maxChunk {
		first := c.all[:newChunk]
		if err := c.bucket.Put(first[newChunk-1].append(bytes.Clone(c.prefix)), packPostings(first)); err != nil {
			return err
		}
		c.all = c.all[newChunk:]
	}
	if last == nil {
		return nil
	}
	return c.bucket.Put(last, packPostings(c.all))
}

// packedList puts a row into a packed index, or takes it out.
func packedList(bucket *bbolt.Bucket, k key, id uint64, in bool) error {
	c := chunkOf(bucket, k, id)
	at, has := slices.BinarySearchFunc(c.all, c.own, Posting.Compare)
	switch {
	case in == has:
		return nil
	case in:
		c.all = slices.Insert(c.all, at, c.own)
	default:
		c.all = slices.Delete(c.all, at, at+1)
	}
	return c.put()
}

// has reports whether an index has the entry of a row with a key.
func (t *table[T]) has(k indexKey, id uint64) bool {
	if t.def().indexes[k.index].Packed {
		c := chunkOf(t.index(k.index), k.key, id)
		_, has := slices.BinarySearchFunc(c.all, c.own, Posting.Compare)
		return has
	}
	entry := k.key.uint(id)
	return bytes.Equal(t.seek(k.index, entry), entry)
}

// unpacked returns the entries that stand for one in the file: itself, or those of its chunk.
func (t *table[T]) unpacked(i int, k, data []byte) ([][]byte, error) {
	if !t.def().indexes[i].Packed {
		return [][]byte{k}, nil
	}
	all, err := unpackPostings(data)
	if err != nil || len(k) < postingSize {
		return nil, fmt.Errorf("%s: %s: %w", t.indexName(i), shown(k), errChunk)
	}
	entries := make([][]byte, len(all))
	for n, p := range all {
		entries[n] = p.append(bytes.Clone(k[:len(k)-postingSize]))
	}
	return entries, nil
}
