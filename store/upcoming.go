package store

import (
	"bytes"
	"encoding/base64"
	"slices"

	"go.etcd.io/bbolt"
)

// merged returns the jobs of all kinds in the order of their next run. The index is by kind, so it
// walks one cursor for each kind side by side: kinds are few, and an index more would be paid for
// by each run.
func (t Jobs) merged(q Query) (Page[Job], error) {
	var page Page[Job]
	after, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil || (len(after) != 0 && len(after) != 8+idSize) {
		return page, errCursor()
	}
	heads := t.kindHeads(after)
	for {
		first := -1
		for i, head := range heads {
			if head.tail != nil && (first < 0 || bytes.Compare(head.tail, heads[first].tail) < 0) {
				first = i
			}
		}
		if first < 0 {
			return page, nil
		}
		if len(page.Items) == q.limit() {
			page.Next = base64.RawURLEncoding.EncodeToString(after)
			return page, nil
		}
		after = bytes.Clone(heads[first].tail)
		if job, err := t.named("kind", append(slices.Clip(heads[first].prefix), after...)); err == nil {
			page.Items = append(page.Items, job)
		}
		heads[first].advance()
	}
}

// kindHead walks the entries of one kind.
type kindHead struct {
	cursor *bbolt.Cursor
	prefix key
	tail   []byte // time and id of the entry that it stands on; nil at the end
}

// kindHeads returns a head for each kind, on its first entry after the given time and id.
func (t Jobs) kindHeads(after []byte) []*kindHead {
	var heads []*kindHead
	bucket := t.indexNamed("kind")
	kinds := bucket.Cursor()
	for k, _ := kinds.First(); k != nil; {
		if len(k) < 8+idSize { // damaged
			k, _ = kinds.Next()
			continue
		}
		head := &kindHead{cursor: bucket.Cursor(), prefix: bytes.Clone(k[:len(k)-8-idSize])}
		from := append(slices.Clip(head.prefix), after...)
		entry, _ := head.cursor.Seek(from)
		if len(after) > 0 && bytes.Equal(entry, from) {
			entry, _ = head.cursor.Next()
		}
		head.stand(entry)
		heads = append(heads, head)

		next := head.prefix.next()
		if next == nil {
			break
		}
		k, _ = kinds.Seek(next)
	}
	return heads
}

func (h *kindHead) stand(entry []byte) {
	h.tail = nil
	if len(entry) == len(h.prefix)+8+idSize && bytes.HasPrefix(entry, h.prefix) {
		h.tail = entry[len(h.prefix):]
	}
}

func (h *kindHead) advance() {
	entry, _ := h.cursor.Next()
	h.stand(entry)
}
