package store

import (
	"errors"
	"syscall"
	"time"

	bbolterrors "go.etcd.io/bbolt/errors"
)

// failure is a commit that failed.
type failure struct {
	err    error
	commit uint64 // the commits that were made before it
	at     time.Time
	times  int // in a row, this one included
}

// rest is how long after the failure no other commit is tried: not at all after the first in a row, then twice as long
// after each.
func (f *failure) rest() time.Duration {
	if f.times < 2 {
		return 0
	}
	return min(reopenAfter<<min(f.times-2, 4), maxRest)
}

// failing returns the last commit if it failed, else nil.
func (db *DB) failing() *failure {
	if f := db.failure.Load(); f != nil && f.commit == db.commits.Load() {
		return f
	}
	return nil
}

// Failing returns why the last commit failed; nil if it was made. As long as it fails, nothing can be
// written, even if everything can be read.
func (db *DB) Failing() error {
	if f := db.failing(); f != nil {
		return f.err
	}
	return nil
}

// IsFull reports whether err says that there is no room for the file: its disk is full, or the share of
// the disk that its owner may use, or the file has its greatest size.
func IsFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, bbolterrors.ErrMaxSizeReached)
}
