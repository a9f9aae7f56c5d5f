package store

import (
	"bytes"
	"sync/atomic"
)

// cache keeps rows of a table, each beside the bytes that it was decoded from: one that is read again is not decoded
// again as long as its bytes are the same. So it need not be told of changes, rollbacks or other files. It does not
// grow: rows whose ids have the same remainder take each other's place.
type cache[T any] [1024]atomic.Pointer[cached[T]]

type cached[T any] struct {
	id   uint64
	data []byte
	row  T
}

// decode is decodeRow.
func (c *cache[T]) decode(id uint64, data []byte) (row T, err error) {
	place := &c[id%uint64(len(c))]
	if known := place.Load(); known != nil && known.id == id && bytes.Equal(known.data, data) {
		return known.row, nil
	}
	read := &cached[T]{id: id, data: bytes.Clone(data)}
	if err := decodeRow(id, data, &read.row); err != nil {
		return row, err
	}
	place.Store(read)
	return read.row, nil
}
