package store

import "slices"

// memory is what a transaction needs for the small parts of its rows. A write transaction leaves it to the next one:
// what it holds is of no use any more when the transaction has ended.
type memory struct {
	room arena[byte]     // for keys and rows as they are written
	keys arena[indexKey] // for lists of keys
	last []lastRow       // by the table's number
}

// What a transaction may leave to the next one.
const (
	maxRoom = 1 << 20  // bytes
	maxKeys = 16 << 10 // keys
)

func newMemory() *memory {
	return &memory{room: arena[byte]{most: maxRoom}, keys: arena[indexKey]{most: maxKeys}}
}

// reset makes all of it free.
func (m *memory) reset() {
	m.room.reset()
	m.keys.reset()
	clear(m.last)
}

// arena is memory of which parts are taken one after the other.
type arena[T any] struct {
	most  int // values in a piece that is larger than asked for; 0: none is
	piece []T // the last one that was made
	free  []T // what of it was not taken
}

// take returns an empty slice with room for n values at least. What was appended is given to [arena.taken].
func (a *arena[T]) take(n int) []T {
	if cap(a.free) < n {
		a.piece = make([]T, 0, max(n, min(2*cap(a.piece), a.most)))
		a.free = a.piece
	}
	return a.free
}

// taken takes note of what was appended to a slice of take, and leaves the rest behind it free.
func (a *arena[T]) taken(values []T) []T {
	if cap(values) == cap(a.free) { // else it was too little, and they are elsewhere
		a.free = values[len(values):]
	}
	return slices.Clip(values)
}

func (a *arena[T]) reset() { a.free = a.piece[:0] }

// lastRow is the row of a table that was read or written last in a write transaction.
type lastRow struct {
	id   uint64     // 0: none
	keys []indexKey // in the table's indexes, as they are in the file
}

func (m *memory) lastOf(table int) *lastRow {
	for table >= len(m.last) {
		m.last = append(m.last, lastRow{})
	}
	return &m.last[table]
}
