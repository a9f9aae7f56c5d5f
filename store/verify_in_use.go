package store

import (
	"bytes"
	"context"
	"fmt"
	"runtime/debug"
	"time"
)

const (
	// inUseStep is how many rows or entries are verified in one transaction: so no page is kept for long.
	inUseStep = 200
	// inUseRest is how many times as long as a step took is the pause after it: a fiftieth of a core.
	inUseRest = 49
)

// VerifyInUse verifies what the file holds while it is in use, slowly and a little at a time: every row, every
// index, and that the rows which need a job have it. [DB.Damaged] tells of what it finds, too. Its error is
// that of ctx, or that the file cannot be read now.
func (db *DB) VerifyInUse(ctx context.Context) (problems []Problem, err error) {
	report := func(p Problem) { problems = append(problems, p) }
	for _, t := range db.schema.all {
		for part := range t.parts() {
			for from := []byte{}; from != nil && len(problems) < maxProblems; {
				begun := time.Now()
				if from, err = db.verifySome(t, part, from, report); err != nil {
					return problems, err
				}
				select {
				case <-ctx.Done():
					return problems, ctx.Err()
				case <-time.After(inUseRest * time.Since(begun)):
				}
			}
		}
	}
	db.verified(problems)
	return problems, nil
}

// verifySome verifies the next rows or entries of a part of a table.
func (db *DB) verifySome(t anyTable, part int, from []byte, report func(Problem)) (next []byte, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil { // the rest of the part cannot be reached
			report(Problem{Table: pagesTable, Problem: fmt.Sprintf("those of %s cannot be read: %v", t.tableName(), v)})
		}
	}()
	err = db.View(func(tx *Tx) error {
		defer tx.release()
		next = t.verifyPart(tx, part, from, report)
		return nil
	})
	return next, err
}

// parts is how many parts [def.verifyPart] has: the rows, and each index.
func (d *def[T]) parts() int { return 1 + len(d.indexes) }

func (d *def[T]) verifyPart(tx *Tx, part int, from []byte, report func(Problem)) (next []byte) {
	t, bucket := &table[T]{d, tx}, tx.bucket(d.bucket)
	if part > 0 {
		bucket = t.index(part - 1)
	}
	cursor, n := bucket.Cursor(), 0
	for k, data := cursor.Seek(from); k != nil; k, data = cursor.Next() {
		if n >= inUseStep {
			return bytes.Clone(k)
		}
		n++
		if part > 0 {
			n += t.verifyEntry(part-1, k, data, report)
		} else if row := t.verifyRow(k, data, nil, report); row != nil {
			if job, lacks := d.lacks(tx, row); lacks {
				report(lackingJob(d.name, *d.id(row), job))
			}
		}
	}
	return nil
}
