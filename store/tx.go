package store

import (
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
	buckets []*bbolt.Bucket // by bucket number, opened at first use

	writes   int             // changes made so far
	touched  tableSet        // tables that were changed
	lanes    map[string]bool // lanes in which something was changed, as in keys
	assigned []*uint64       // ids given to new rows, taken back if the transaction is undone

	kept map[keptRow][]key // the index keys, as they are in the file, of rows that were read or written
}

// keptRow is a row of a table by the table's number.
type keptRow struct {
	table int
	id    uint64
}

// maxKept bounds the memory that a transaction takes for the keys of its rows.
const maxKept = 10_000

func (tx *Tx) keep(table int, id uint64, keys []key) {
	if tx.kept == nil || len(tx.kept) >= maxKept {
		tx.kept = make(map[keptRow][]key)
	}
	tx.kept[keptRow{table, id}] = keys
}

func (db *DB) newTx(btx *bbolt.Tx) *Tx {
	tx := &Tx{bolt: btx, damage: &db.damage, now: db.opts.Now(), key: db.opts.Key, buckets: make([]*bbolt.Bucket, db.schema.buckets)}
	for _, bind := range db.schema.bind {
		bind(tx)
	}
	return tx
}

// Now is the time of the transaction, in UTC.
func (tx *Tx) Now() time.Time { return tx.now.UTC() }

// bucket returns bucket number n, which is called name.
func (tx *Tx) bucket(n int, name string) *bbolt.Bucket {
	if tx.buckets[n] == nil {
		tx.buckets[n] = tx.bolt.Bucket([]byte(name))
	}
	return tx.buckets[n]
}

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
