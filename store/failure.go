package store

import (
	"errors"
	"syscall"

	bbolterrors "go.etcd.io/bbolt/errors"
)

// failure is a commit that failed.
type failure struct {
	err    error
	commit uint64 // the commits that were made before it
}

// Failing returns why the last commit failed; nil if it was made. As long as it fails, nothing can be
// written, even if everything can be read.
func (db *DB) Failing() error {
	if f := db.failure.Load(); f != nil && f.commit == db.commits.Load() {
		return f.err
	}
	return nil
}

// IsFull reports whether err says that there is no room for the file: its disk is full, or the share of
// the disk that its owner may use, or the file has its greatest size.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, bbolterrors.ErrMaxSizeReached)
}
