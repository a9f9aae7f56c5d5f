package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"
)

// The free pages are written into the file when it is closed, and with the first commit after that
// they are gone from it: so a file that has them was closed by us, can be opened without reading
// all of it, and need not be verified. One that was in use when the program or the machine stopped,
// or was copied while it was in use, has none.
func closedCleanly(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	all, err := metas(f) // a file that is too short to be ours has none, which bbolt says in its own words
	return len(all) > 0 && all[0].freelist != noFreelist, errors.Join(err, f.Close())
}

// prove decides whether a file may be trusted. One that was not closed has its pages verified
// first: bad pages can end the process, and writing to them makes it worse. Rows and indexes, which
// take ten times as long, can do no harm and are left to [DB.VerifyInUse].
func (db *DB) prove() (err error) {
	info, err := os.Stat(db.path)
	if err != nil {
		return fmt.Errorf("open %s: %w", db.path, err)
	}
	if info.Size() == 0 {
		return fmt.Errorf("%s is %w, it is empty: stop belfry, move it away and restore a backup", db.path, ErrDamaged)
	}
	if db.clean, err = closedCleanly(db.path); err != nil {
		return fmt.Errorf("open %s: %w", db.path, err)
	}
	db.trusted = db.clean
	if db.clean || db.opts.ReadOnly || len(db.opts.Verifier) == 0 {
		return nil
	}
	if locked(db.path) { // it is open, and not damaged for that
		return inUse(db.path)
	}
	db.opts.note(fmt.Sprintf("%s was not closed before: its pages are verified first (%d MiB, for at most %s)",
		db.path, info.Size()>>20, verifyLimit(info.Size())))
	problems, err := db.opts.Verifier.verifyPages(context.Background(), db.path)
	if err != nil {
		return err
	}
	if len(problems) > 0 {
		return damaged(db.path, problems)
	}
	db.trusted = true
	return nil
}

// damaged is the error for a file that is not fit for use.
func damaged(path string, problems []Problem) error {
	return fmt.Errorf("%s is %w (%d problems, the first: %s): it was left as it is; stop belfry, move it away and restore a backup",
		path, ErrDamaged, len(problems), problems[0])
}

// closeCleanly writes the free pages into the file. The caller holds the turn and handle.
func (db *DB) closeCleanly() {
	if !db.trusted || db.clean {
		return
	}
	db.guard.before()
	if err := syncFreePages(db.bolt); err != nil { // nothing is lost: the next start takes longer
		db.opts.note(fmt.Sprintf("close %s: %v", db.path, err))
	}
}

func syncFreePages(bolt *bbolt.DB) error {
	bolt.NoFreelistSync = false
	return bolt.Update(func(*bbolt.Tx) error { return nil })
}
