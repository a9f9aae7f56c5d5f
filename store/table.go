package store

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"slices"

	"go.etcd.io/bbolt"
)

// def declares a table: what its rows are called, where their id is, when they are valid, and by
// which keys they are found.
type def[T any] struct {
	name   string
	id     func(*T) *uint64
	valid  func(*T) error  // nil: any row is valid
	secret func(*T) secret // nil: it has none
	// job returns the job without which nothing would come of a row; without a name if it needs none.
	job func(*Tx, *T) Job
	// whole says what a row lacks that belongs to it in other tables; empty if nothing. nil: nothing belongs to it.
	whole   func(*T, *Tx) string
	indexes []Index[T]
	// cache is there where the same few rows are read again and again. Nobody changes what such a row points to.
	cache *cache[T]

	number int // position in the schema
	bucket int // number of the bucket with the rows; the indexes follow
}

// Index declares a way to find rows of type T in the order of a key.
type Index[T any] struct {
	Name   string
	Unique bool
	// Key appends the key of a row to one that is empty, or returns nil for a row that is not in the index. It must be
	// a function of the row alone.
	Key func(*T, key) key
	// Keys, if not nil, stands in the place of Key where a row is found by several keys. It returns them in
	// ascending order, each once; room behind a key for its id spares a copy.
	Keys func(*T) []key
	// Packed says that many rows share a key, which ends with a time as [whenOf] writes it.
	Packed bool
	// Counted says that the index holds no entries but how many rows have each key; see [Table.counts].
	Counted bool
	// Changed, if not nil, is told each key that is put or deleted.
	Changed func(tx *Tx, k key)
}

// indexKey is a key of a row in the index with a number.
type indexKey struct {
	index int
	key   key
}

func (k indexKey) compare(other indexKey) int {
	return cmp.Or(cmp.Compare(k.index, other.index), bytes.Compare(k.key, other.key))
}

// Table is the rows of one type in a transaction. It is an interface because a package that sees a generic type compiles
// all of its methods: each package with a [Tx] in it would compile those of every table.
type Table[T any] interface {
	// Get returns the row with the given id. Its error wraps [ErrNotFound] for a row that does not exist and is a
	// [*CorruptError] for one that is damaged.
	Get(id uint64) (T, error)
	// Read is Get into row, for those that are large and read often.
	Read(id uint64, row *T) error
	// Put writes the row. One with id 0 is new and is given its id; any other must exist. The error wraps [ErrNotFound],
	// or [ErrExists] where another row has the same unique key, or is a [*FieldError]; the transaction can go on after it.
	Put(row *T) error
	// PutAt writes a row under the id that it has. The error wraps [ErrExists] if there is one with that id, or with one
	// of its unique keys.
	PutAt(row *T) error
	// Delete removes the row. The error wraps [ErrNotFound] if there is none.
	Delete(id uint64) error
	// LetGo takes a damaged row out of the indexes, so that it does not stand in the way of one with the same keys. The
	// row stays as it is, and [DB.Verify] tells of it.
	LetGo(id uint64) error
	// ID is the id of a row.
	ID(row T) uint64
	// All yields the rows in the order of their ids. A damaged row is passed over, as in all that yields or lists rows, so
	// that it does not hide the others; [DB.Damaged] tells of it, and of one whose id is damaged [DB.Verify]. The table
	// may be changed while it is walked.
	All() iter.Seq[T]
	// From is All for the rows whose id is at least id.
	From(id uint64) iter.Seq[T]
	// Newest yields the rows in the descending order of their ids, beginning below id; 0 means at the end. The table must
	// not be changed meanwhile.
	Newest(below uint64) iter.Seq[T]
	// Counts returns how many rows there are of each sort, by the table's counted index "counts", which must be declared.
	// It costs as much as there are sorts, however many rows.
	Counts() []Count

	in() *Tx
	bucket() *bbolt.Bucket
	keep(id uint64, row *T)
	wrote()
	has(k indexKey, id uint64) bool
	indexNumber(name string) int
	indexNamed(name string) *bbolt.Bucket
	seek(index int, k key) (entry []byte)
	entries(name string, from, to []byte) iter.Seq[[]byte]
	scan(name string, from, to []byte) iter.Seq[T]
	named(index string, entry []byte) (T, error)
	first(name string, k key) (T, error)
	counts(name string) iter.Seq2[key, int]
	count(name string, prefix key, limit int) int
	page(name string, prefix key, q Query, descending bool) (Page[T], error)
}

// table is every [Table].
type table[T any] binding

// binding is a [table] without its type, so that a transaction has the memory of all of them at once.
type binding struct {
	decl any // *def[T]
	tx   *Tx
}

func (t *table[T]) def() *def[T] { return t.decl.(*def[T]) }

func (t *table[T]) in() *Tx { return t.tx }

// bucket returns the bucket with the rows.
func (t *table[T]) bucket() *bbolt.Bucket { return t.tx.bucket(t.def().bucket) }

func (t *table[T]) Get(id uint64) (row T, err error) {
	err = t.Read(id, &row)
	return row, err
}

func (t *table[T]) Read(id uint64, row *T) error {
	*row = *new(T)
	k := rowKey(id)
	found, data := t.tx.cursor(t.def().bucket).Seek(k)
	if !bytes.Equal(found, k) {
		return &missingError{table: t.def().name, id: id}
	}
	return t.decode(id, data, row)
}

func (t *table[T]) decode(id uint64, data []byte, row *T) (err error) {
	if t.def().cache != nil {
		*row, err = t.def().cache.decode(id, data)
	} else {
		err = decodeRow(id, data, row)
	}
	if err != nil {
		t.tx.damage.add(t.def().name, id, fault{text: err.Error()})
		return &CorruptError{Table: t.def().name, ID: id, Err: err}
	}
	*t.def().id(row) = id
	t.open(id, row)
	if t.tx.bolt.Writable() {
		t.keep(id, row)
	}
	return nil
}

// keyRoom is what most keys take.
const keyRoom = 32

// keys returns the keys of a row in the table's indexes, in ascending order.
func (t *table[T]) keys(row *T) []indexKey {
	all := t.tx.memory.keys.take(len(t.def().indexes))
	room := key(t.tx.memory.room.take(keyRoom * len(t.def().indexes))) // of all of them, each with its id behind it
	for i := range t.def().indexes {
		if t.def().indexes[i].Keys != nil {
			for _, k := range t.def().indexes[i].Keys(row) {
				all = append(all, indexKey{i, k})
			}
		} else if k := t.def().indexes[i].Key(row, room); len(k) > 0 {
			used := min(len(k)+idSize, cap(room))
			all, room = append(all, indexKey{i, k[:len(k):min(len(k)+idSize, cap(k))]}), room[used:used]
		}
	}
	t.tx.memory.room.free = room
	return t.tx.memory.keys.taken(all)
}

// keep remembers the keys of a row as those that it has in the file.
func (t *table[T]) keep(id uint64, row *T) { *t.last() = lastRow{id, t.keys(row)} }

func (t *table[T]) last() *lastRow { return t.tx.memory.lastOf(t.def().number) }

// oldKeys returns the keys that a row has in the file. A row that is written is most often the one that was read
// last, and is not decoded once more.
func (t *table[T]) oldKeys(id uint64) ([]indexKey, error) {
	if last := t.last(); last.id == id {
		return last.keys, nil
	}
	row, err := t.Get(id)
	if err != nil {
		return nil, err
	}
	return t.keys(&row), nil
}

// rowFill is how full pages are written to which rows are added: that is always at the end. Where rows grow, bbolt's
// own half remains.
const rowFill = 0.95

func (t *table[T]) Put(row *T) error {
	if t.def().valid != nil {
		if err := t.def().valid(row); err != nil {
			return err
		}
	}
	rows, id := t.bucket(), t.def().id(row)
	var from []indexKey
	if *id != 0 {
		var err error
		if from, err = t.oldKeys(*id); err != nil {
			return fmt.Errorf("put: %w", err)
		}
	}
	to := t.keys(row)
	if err := t.unique(*id, from, to); err != nil {
		return err
	}
	t.wrote()
	if *id == 0 {
		next, err := rows.NextSequence()
		if err != nil {
			return fmt.Errorf("%s: next id: %w", t.def().name, err)
		}
		*id = next
		t.tx.assigned = append(t.tx.assigned, id)
		rows.FillPercent = rowFill
	}
	data, err := t.encode(*id, row)
	if err != nil {
		return fmt.Errorf("%s %d: %w", t.def().name, *id, err)
	}
	if err := rows.Put(rowKey(*id), data); err != nil {
		return fmt.Errorf("%s %d: %w", t.def().name, *id, err)
	}
	return t.reindex(*id, from, to)
}

func (t *table[T]) ID(row T) uint64 { return *t.def().id(&row) }

func (t *table[T]) PutAt(row *T) error {
	rows, id := t.bucket(), *t.def().id(row)
	if rows.Get(rowKey(id)) != nil {
		return fmt.Errorf("%s %d: %w", t.def().name, id, ErrExists)
	}
	last := rows.Sequence()
	err := rows.SetSequence(id - 1)
	if err == nil {
		*t.def().id(row) = 0
		err = t.Put(row)
	}
	return errors.Join(err, rows.SetSequence(max(last, id)))
}

func (t *table[T]) Delete(id uint64) error {
	from, err := t.oldKeys(id)
	if err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	t.wrote()
	if err := t.tx.delete(t.def().bucket, rowKey(id)); err != nil {
		return fmt.Errorf("%s %d: %w", t.def().name, id, err)
	}
	return t.reindex(id, from, nil)
}

// wrote marks the table as changed.
func (t *table[T]) wrote() {
	t.tx.writes++
	t.tx.touched |= 1 << t.def().number
	if t.def().cache != nil {
		clear(t.tx.found)
	}
}

// unique checks that no other row has one of the unique keys that a row is to have.
func (t *table[T]) unique(id uint64, old, now []indexKey) error {
	for _, k := range now {
		index := &t.def().indexes[k.index]
		if !index.Unique {
			continue
		}
		if _, has := slices.BinarySearchFunc(old, k, indexKey.compare); has {
			continue
		}
		entry := t.seek(k.index, k.key)
		if bytes.HasPrefix(entry, k.key) && entryID(entry) != id {
			return fmt.Errorf("%s with this %s: %w", t.def().name, index.Name, ErrExists)
		}
	}
	return nil
}

// reindex moves the row's index entries from its old keys to the new ones. now is nil for a row that is not
// there any more. What both have is not touched.
func (t *table[T]) reindex(id uint64, old, now []indexKey) error {
	if now != nil {
		*t.last() = lastRow{id, now}
	} else {
		*t.last() = lastRow{}
	}
	for len(old) > 0 || len(now) > 0 {
		order := -1 // the old key comes first
		if len(old) == 0 {
			order = 1
		} else if len(now) > 0 {
			order = old[0].compare(now[0])
		}
		if order < 0 {
			if err := t.list(id, old[0], false); err != nil {
				return err
			}
		} else if order > 0 {
			if err := t.list(id, now[0], true); err != nil {
				return err
			}
		}
		if order <= 0 {
			old = old[1:]
		}
		if order >= 0 {
			now = now[1:]
		}
	}
	return nil
}

// list puts a row into an index, or takes it out.
func (t *table[T]) list(id uint64, k indexKey, in bool) (err error) {
	index, bucket := &t.def().indexes[k.index], t.index(k.index)
	if index.Changed != nil {
		index.Changed(t.tx, k.key)
	}
	switch {
	case index.Counted && in:
		t.addCount(k.index, k.key, 1)
	case index.Counted:
		t.addCount(k.index, k.key, -1)
	case index.Packed:
		err = packedList(bucket, k.key, id, in)
	case in:
		err = bucket.Put(k.key.uint(id), nil)
	default:
		err = t.tx.delete(t.def().bucket+1+k.index, k.key.uint(id))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t.indexName(k.index), err)
	}
	return nil
}

func (t *table[T]) All() iter.Seq[T] { return t.From(1) }

func (t *table[T]) From(id uint64) iter.Seq[T] {
	return func(yield func(T) bool) {
		cursor := t.bucket().Cursor()
		var row T
		for k, data := cursor.Seek(rowKey(id)); k != nil; {
			if len(k) != idSize { // damaged
				k, data = cursor.Next()
				continue
			}
			id, writes := binary.BigEndian.Uint64(k), t.tx.writes
			row = *new(T)
			if t.decode(id, data, &row) == nil && !yield(row) {
				return
			}
			if t.tx.writes == writes {
				k, data = cursor.Next()
			} else { // a cursor does not survive changes
				cursor = t.bucket().Cursor()
				k, data = cursor.Seek(rowKey(id + 1))
			}
		}
	}
}

func (t *table[T]) Newest(below uint64) iter.Seq[T] {
	return func(yield func(T) bool) {
		cursor := t.bucket().Cursor()
		var k, data []byte
		if below == 0 {
			k, data = cursor.Last()
		} else if k, _ = cursor.Seek(rowKey(below)); k == nil {
			k, data = cursor.Last()
		} else {
			k, data = cursor.Prev()
		}
		for ; k != nil; k, data = cursor.Prev() {
			if len(k) != idSize { // damaged
				continue
			}
			var row T
			if t.decode(binary.BigEndian.Uint64(k), data, &row) == nil && !yield(row) {
				return
			}
		}
	}
}

func (t *table[T]) LetGo(id uint64) error {
	if _, err := t.Get(id); err == nil {
		return fmt.Errorf("%s %d is not damaged", t.def().name, id)
	}
	for i := range t.def().indexes {
		if t.def().indexes[i].Counted { // it is not known what the row was: it counts as that until a repair
			continue
		}
		var gone [][]byte
		cursor := t.index(i).Cursor()
		for k, data := cursor.First(); k != nil; k, data = cursor.Next() {
			entries, err := t.unpacked(i, k, data)
			if err != nil {
				return err
			}
			for _, entry := range entries {
				if entryID(entry) == id {
					gone = append(gone, bytes.Clone(entryKey(entry)))
				}
			}
		}
		for _, k := range gone {
			t.wrote()
			if err := t.list(id, indexKey{i, k}, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// IsCorrupt reports whether err says that a row is damaged.
func IsCorrupt(err error) bool {
	_, ok := errors.AsType[*CorruptError](err)
	return ok
}
