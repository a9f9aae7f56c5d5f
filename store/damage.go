package store

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"sync"
)

// maxDamaged bounds how many damaged rows are remembered.
const maxDamaged = 100

// damage is what was found damaged since the file was opened.
type damage struct {
	mu    sync.Mutex
	rows  map[Problem]fault // by table and id
	found []Problem         // by the last [DB.Verify], beside damaged rows
}

// fault is what is wrong with a row, or with the entry of an index that names one that is not there.
type fault struct {
	text  string
	index string // of the entry; empty if it is the row
	entry []byte
}

// add remembers a row that could not be read.
func (d *damage) add(table string, id uint64, what fault) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rows == nil {
		d.rows = make(map[Problem]fault)
	}
	if len(d.rows) < maxDamaged {
		d.rows[Problem{Table: table, ID: id}] = what
	}
}

// Damaged returns what is damaged: one problem for each row that could not be read since the file was
// opened, or that an index named and was not there, and whatever else the last [DB.Verify] has found. A row that can be read again, or was
// deleted, is not among them any more. It costs little.
func (db *DB) Damaged() []Problem {
	db.damage.mu.Lock()
	rows := make([]Problem, 0, len(db.damage.rows))
	for row := range db.damage.rows {
		rows = append(rows, row)
	}
	db.damage.mu.Unlock()
	good := db.readable(rows)

	db.damage.mu.Lock()
	defer db.damage.mu.Unlock()
	var all []Problem
	for i, row := range rows {
		if good[i] {
			delete(db.damage.rows, row)
			continue
		}
		row.Problem = db.damage.rows[rows[i]].text
		all = append(all, row)
	}
	slices.SortFunc(all, func(a, b Problem) int { return cmp.Or(cmp.Compare(a.Table, b.Table), cmp.Compare(a.ID, b.ID)) })
	return append(all, db.damage.found...)
}

// verified takes over what [DB.Verify] has found.
func (db *DB) verified(problems []Problem) {
	good := db.readable(problems) // which remembers those that are not
	db.damage.mu.Lock()
	defer db.damage.mu.Unlock()
	db.damage.found = nil
	for i, p := range problems {
		if (p.ID == 0 || good[i]) && len(db.damage.found) < maxDamaged {
			db.damage.found = append(db.damage.found, p)
		}
	}
}

// readable reports of each problem's row whether it is sound, or not there.
func (db *DB) readable(rows []Problem) []bool {
	good := make([]bool, len(rows))
	if len(rows) == 0 {
		return good
	}
	// Where the file cannot be used at the moment, nothing is known to be good.
	_ = db.View(func(tx *Tx) error {
		for i, row := range rows {
			for _, t := range db.schema.all {
				if t.tableName() == row.Table {
					err := t.read(tx, row.ID)
					good[i] = err == nil || errors.Is(err, ErrNotFound) && !db.damage.named(tx, row)
				}
			}
		}
		return nil
	})
	return good
}

// named reports whether the entry of an index still names a row that was not there.
func (d *damage) named(tx *Tx, row Problem) bool {
	d.mu.Lock()
	what := d.rows[Problem{Table: row.Table, ID: row.ID}]
	d.mu.Unlock()
	if what.index == "" {
		return false
	}
	found, _ := tx.bolt.Bucket([]byte(what.index)).Cursor().Seek(what.entry)
	return bytes.Equal(found, what.entry)
}

func (d *def[T]) read(tx *Tx, id uint64) error {
	_, err := (&table[T]{d, tx}).Get(id)
	return err
}
