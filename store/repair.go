package store

import (
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// asideBucket holds the damaged rows that were taken out of their tables, in a bucket for each table,
// as they were found.
const asideBucket = "aside"

// Repair takes damaged rows out of their tables, keeps their bytes aside, and builds all indexes anew
// from the rows that are left. It returns what it took out. Pages that are damaged it cannot repair.
func (db *DB) Repair() (taken []Problem, err error) {
	err = db.Update(func(tx *Tx) error {
		taken = nil
		for _, t := range db.schema.all {
			these, err := t.setAside(tx)
			if err != nil {
				return fmt.Errorf("set damaged rows of %s aside: %w", t.tableName(), err)
			}
			taken = append(taken, these...)
			if err := t.rebuild(tx); err != nil {
				return fmt.Errorf("build the indexes of %s: %w", t.tableName(), err)
			}
		}
		tx.writes++
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("repair %s: %w", db.path, err)
	}
	return taken, nil
}

// Aside returns how many damaged rows are kept aside.
func (tx *Tx) Aside() (n int) {
	all := tx.bolt.Bucket([]byte(asideBucket))
	if all == nil {
		return 0
	}
	cursor := all.Cursor()
	for name, _ := cursor.First(); name != nil; name, _ = cursor.Next() {
		n += all.Bucket(name).Stats().KeyN
	}
	return n
}

func (d *def[T]) setAside(tx *Tx) (taken []Problem, err error) {
	t, rows := Table[T]{d, tx}, tx.bucket(d.bucket, d.name)
	var keys [][]byte
	cursor := rows.Cursor()
	for k, data := cursor.First(); k != nil; k, data = cursor.Next() {
		p := Problem{Table: d.name, Problem: "row key " + shown(k) + " is not an id"}
		if len(k) == idSize {
			p.ID = binary.BigEndian.Uint64(k)
			_, err := t.decode(p.ID, data)
			if err == nil {
				continue
			}
			p.Problem = err.Error()
		}
		keys, taken = append(keys, append([]byte(nil), k...)), append(taken, p)
	}
	if len(keys) == 0 {
		return nil, nil
	}
	all, err := tx.bolt.CreateBucketIfNotExists([]byte(asideBucket))
	if err != nil {
		return nil, err
	}
	aside, err := all.CreateBucketIfNotExists([]byte(d.name))
	if err != nil {
		return nil, err
	}
	t.wrote()
	for _, k := range keys {
		if err := errors.Join(keep(aside, k, rows.Get(k)), rows.Delete(k)); err != nil {
			return nil, err
		}
	}
	return taken, nil
}

// keep puts a damaged row under its key. One that is too long for bbolt to take is kept under the
// part that it takes.
func keep(aside *bbolt.Bucket, k, data []byte) error {
	return aside.Put(k[:min(len(k), bbolt.MaxKeySize)], append([]byte(nil), data...))
}
