package store

import (
	"bytes"
	"time"

	"go.etcd.io/bbolt"
)

// Tx is a transaction. It and everything that iterates over it end with the function that it was
// given to; rows that were read are copies and stay good.
type Tx struct {
	tables // Tx.Posts, Tx.Jobs and so on

	bolt    *bbolt.Tx
	damage  *damage
	now     time.Time
	key     []byte          // seals secrets
	names   []string        // of the buckets, by number
	cursors []*bbolt.Cursor // for look-ups in them, made at first use

	writes   int             // changes made so far
	touched  tableSet        // tables that were changed
	lanes    map[string]bool // lanes in which something was changed, as in keys
	after    []func()        // called when it is on the disk
	assigned []*uint64       // ids given to new rows, taken back if the transaction is undone

	memory  *memory
	found   map[foundKey]found // rows that were found in tables with a cache, until one of them is written
	counted map[countKey]int   // what is to be added to counted indexes
}

// foundKey is a key of an index, by the number of its bucket.
type foundKey struct {
	bucket int
	key    string
}

// maxFound bounds how many of them a transaction keeps.
const maxFound = 1000

// found is the row with a key, or why there is none.
type found struct {
	row any
	err error
}

func (db *DB) newTx(btx *bbolt.Tx, m *memory) *Tx {
	tx := &Tx{bolt: btx, memory: m, damage: &db.damage, now: db.opts.Now(), key: db.opts.Key, names: db.schema.names,
		cursors: make([]*bbolt.Cursor, db.schema.buckets)}
	bindings := make([]binding, len(db.schema.bind))
	for i, bind := range db.schema.bind {
		bind(tx, &bindings[i])
	}
	return tx
}

// Now is the time of the transaction, in UTC.
func (tx *Tx) Now() time.Time { return tx.now.UTC() }

// bucket returns bucket number n.
func (tx *Tx) bucket(n int) *bbolt.Bucket { return tx.cursor(n).Bucket() }

// cursor returns the cursor for look-ups in bucket number n.
func (tx *Tx) cursor(n int) *bbolt.Cursor {
	if tx.cursors[n] == nil {
		tx.cursors[n] = tx.bolt.Bucket([]byte(tx.names[n])).Cursor()
	}
	return tx.cursors[n]
}

// delete removes the entry of bucket number n with the key k, if there is one.
func (tx *Tx) delete(n int, k []byte) error {
	cursor := tx.cursor(n)
	if entry, _ := cursor.Seek(k); !bytes.Equal(entry, k) {
		return nil
	}
	return cursor.Delete()
}

// After has fn called once, when the transaction is on the disk and before its caller goes on. If the transaction is
// undone, or its function has failed, fn is not called. It must be quick and not use the DB.
func (tx *Tx) After(fn func()) { tx.after = append(tx.after, fn) }

// undoIDs makes the rows that were inserted new again, so that a function that runs a second time
// inserts them instead of looking for rows that are gone.
func (tx *Tx) undoIDs() {
	for _, id := range tx.assigned {
		*id = 0
	}
	tx.assigned = nil
}

// Size returns the size of the file in bytes, as the transaction sees it.
func (tx *Tx) Size() int64 { return tx.bolt.Size() }

// Free returns how many bytes of the file are in pages that hold nothing, as of the last commit; 0 before the first one.
func (tx *Tx) Free() int64 {
	stats := tx.bolt.DB().Stats()
	return int64(stats.FreePageN+stats.PendingPageN) * int64(tx.bolt.DB().Info().PageSize)
}

// Release gives back the memory of the pages of the file that were read: after work on many rows, which would stay in
// memory.
func (db *DB) Release() error {
	return db.View(func(tx *Tx) error {
		tx.release()
		return nil
	})
}

// Writes returns how many changes the transaction has made so far. After an error that came before any of them, it can
// go on.
func (tx *Tx) Writes() int { return tx.writes }
