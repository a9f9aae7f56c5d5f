package schedulertest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"go.etcd.io/bbolt"
)

// Damage changes a byte of a row, so that its checksum is wrong, in a file that nobody has open. The
// entries of its indexes stay as they are.
func Damage(t *testing.T, path, table string, id uint64) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		rows, key := tx.Bucket([]byte(table)), binary.BigEndian.AppendUint64(nil, id)
		if rows == nil || rows.Get(key) == nil {
			return fmt.Errorf("the file has no row %d of %s", id, table)
		}
		row := bytes.Clone(rows.Get(key))
		row[len(row)-3] ^= 1
		return rows.Put(key, row)
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
