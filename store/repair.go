package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"
)

// asideBucket holds the damaged rows that were taken out of their tables, in a bucket for each table,
// as they were found.
const asideBucket = "aside"

// Repaired is what a repair has done.
type Repaired struct {
	Taken []Problem // rows that were set aside, or pages that were left out
	Made  []Problem // jobs that were missing and are there again
	Aside string    // where the damaged file is, if a new one had to be made of what could be read
}

// Repair mends a file that no process has open. Damaged rows are taken out of their tables, their bytes
// kept aside; all indexes are built anew from the rows that are left, and jobs that are missing made
// again. Where pages are damaged, what can be read is put into a new file, which starts paused, as a
// restored one does: what was sent may not be on record any more. The damaged file is kept.
func Repair(ctx context.Context, path string, opts Options) (r Repaired, err error) {
	problems, err := opts.Verifier.verifyPages(ctx, path)
	if err != nil {
		return r, fmt.Errorf("repair %s: %w", path, err)
	}
	if len(problems) > 0 {
		r.Taken, r.Aside, err = salvage(ctx, path, opts)
	} else {
		opts.Verifier = nil // its pages were verified just now
		r.Taken, r.Made, err = repairFile(path, opts)
	}
	if err != nil {
		return r, fmt.Errorf("repair %s: %w", path, err)
	}
	return r, nil
}

// repairFile repairs a file whose pages are good.
func repairFile(path string, opts Options) (taken, made []Problem, err error) {
	db, err := Open(path, opts)
	if err != nil {
		return nil, nil, err
	}
	db.trusted = true
	taken, made, err = db.repair()
	return taken, made, errors.Join(err, db.Close())
}

func (db *DB) repair() (taken []Problem, made []Problem, err error) {
	err = db.Update(func(tx *Tx) (err error) {
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
		if err := tx.Media.mend(); err != nil {
			return fmt.Errorf("make media agree with their chunks: %w", err)
		}
		tx.writes++
		made, err = tx.putMissingJobs(db.schema.all)
		return err
	})
	return taken, made, err
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
	t, rows := &table[T]{d, tx}, tx.bucket(d.bucket)
	var keys [][]byte
	cursor := rows.Cursor()
	for k, data := cursor.First(); k != nil; k, data = cursor.Next() {
		p := Problem{Table: d.name, Problem: "row key " + shown(k) + " is not an id"}
		if len(k) == idSize {
			p.ID = binary.BigEndian.Uint64(k)
			err := t.decode(p.ID, data, new(T))
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
