// Package store owns belfry.db, the one file in which everything lives that must survive.
//
// Rows are records of a Go type in a [Table], found by id or through declared indexes. They are
// read and written only inside a transaction: [DB.View] and [DB.Update] hand a [Tx] to a function,
// and what the function does happens as a whole or not at all. Updates that wait for the disk at
// the same time share one commit. When Update returns nil, the change is on the disk.
//
// The package needs a local filesystem that supports mmap and flock, and exclusive use of the
// file: a second process is refused with [ErrInUse].
package store

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

var (
	// ErrNotFound is wrapped by the error for a row that does not exist.
	ErrNotFound = errors.New("not found")
	// ErrExists is wrapped by the error for a row whose unique key is taken.
	ErrExists = errors.New("already exists")
	// ErrInUse is wrapped by the error for a file that another process holds.
	ErrInUse = errors.New("in use by another process")
	// ErrNewer is wrapped by the error for a file that a later version of the program wrote.
	ErrNewer = errors.New("written by a newer version")
	// ErrDamaged is wrapped by the error for a file whose pages are not as they must be.
	ErrDamaged = errors.New("damaged")
	// ErrUnavailable is wrapped by the errors of a file that cannot be used at the moment, after a
	// commit failed and until the file could be opened again.
	ErrUnavailable = errors.New("store unavailable")
)

// Options are the settings of a [DB]. The zero value is ready for use.
type Options struct {
	// Now is the wall clock; nil means time.Now.
	Now func() time.Time
	// ReadOnly opens an existing file without changing it. Update fails.
	ReadOnly bool
	// MaxSize is the size in bytes that the file may grow to; 0 means no limit.
	MaxSize int
	// CopyGrowth is the number of bytes that the file may grow by while somebody has it open to copy
	// it, before their copy is given up; 0 means 256 MiB, or the size of the file if that is more. It is
	// never more than what is left free.
	CopyGrowth int64
	// Key seals the secrets of logins, in [KeySize] bytes. Without it, or with another one than they were
	// sealed with, they read as empty and stay sealed, and new ones are refused with a [*FieldError].
	Key []byte
	// Passphrase opens a sealed backup that is restored.
	Passphrase string
	// Verifier verifies files outside of this process; without one it is done here.
	Verifier Verifier
	// Note is told, in a sentence for the log, what the owner should know and no error says. It is
	// called from any goroutine and must not use the DB.
	Note func(string)
	// Committed is called after each commit with the time that the disk took; nil is not. It must be quick and not use
	// the DB.
	Committed func(time.Duration)
	// Commit is called in tests before and after each commit; nil is not. An error fails the commit as one of
	// the disk does: nothing was written before it, and everything after it.
	Commit func(Stage) error

	anyVersion bool // open for its pages alone, whatever is in them
	isCopy     bool // do not copy it once more before a migration
	leavePlain bool // unused pages could not be cleared of secrets
}

func (o Options) note(text string) {
	if o.Note != nil {
		o.Note(text)
	}
}

// DB is an open file. Its methods may be called from any goroutine, but a transaction must not be
// begun inside another: bbolt has one writer, and a reader inside a writer can wait for ever.
type DB struct {
	path       string
	opts       Options
	schema     *schema
	migrations []migration

	handle     sync.RWMutex // held for reading by each transaction, for writing while the file is reopened
	wanted     atomic.Int32 // how many wait to write it
	bolt       *bbolt.DB
	file       *os.File // bbolt's own descriptor
	closed     bool
	broken     error     // the commit that failed, until the file could be opened again
	reopenedAt time.Time // the last attempt to open it again
	clean      bool      // the file is as Close leaves it
	trusted    bool      // its pages are known to be good

	turn     chan struct{} // held by the goroutine that commits
	guard    *guard        // used by the holder of turn
	memory   *memory       // of the write transactions, of which there is one at a time
	took     time.Duration // by the last commit; the holder of turn's
	ended    time.Time     // when that was
	mu       sync.Mutex
	waiting  []*call       // updates for the next commit
	together int           // updates that came together lately: as many as a commit did, a quarter less with each that follows
	enough   chan struct{} // closed when the quorum of them waits; nil if no commit waits for it

	backups     sync.Mutex // held by the one that is being written
	damage      damage
	failure     atomic.Pointer[failure] // the last commit that failed
	watchers    watchers
	laneChanges laneChanges
	commits     atomic.Uint64
}

// Path returns the path that the file was opened with.
func (db *DB) Path() string { return db.path }

// Commits returns the number of commits since the file was opened.
func (db *DB) Commits() uint64 { return db.commits.Load() }

// Now is the time by the store's clock, in UTC, for what happens between two transactions.
func (db *DB) Now() time.Time { return db.opts.Now().UTC() }

// Size returns the size of the file in bytes.
func (db *DB) Size() (size int64, err error) {
	err = db.View(func(tx *Tx) error {
		size = tx.Size()
		return nil
	})
	return size, err
}

// View runs fn in a read transaction, which sees the file as the last commit left it. A
// transaction that stays open keeps old pages from being reused: read, return, then render or
// send.
func (db *DB) View(fn func(*Tx) error) error {
	db.handle.RLock()
	defer db.handle.RUnlock()
	if err := db.usable(); err != nil {
		return err
	}
	return db.bolt.View(func(btx *bbolt.Tx) error {
		return fn(db.newTx(btx, new(memory)))
	})
}

// MaybeUpdate is [DB.Update] for an fn that most often writes nothing: it is run in a read transaction first, which
// waits for no other, and once more in a write transaction if it has to write.
func (db *DB) MaybeUpdate(fn func(*Tx) error) error {
	err := db.View(fn)
	if errors.Is(err, bolterrors.ErrTxNotWritable) {
		return db.Update(fn)
	}
	return err
}

// takeHandle locks handle for writing. A copy that is being made is given up for it: all others would have to wait until
// it is whole.
func (db *DB) takeHandle() {
	db.wanted.Add(1)
	db.handle.Lock()
	db.wanted.Add(-1)
}

// usable reports why the file cannot be used, if it cannot. The caller holds handle.
func (db *DB) usable() error {
	switch {
	case db.closed:
		return fmt.Errorf("%s: %w: closed", db.path, ErrUnavailable)
	case db.broken != nil:
		return fmt.Errorf("%s: %w: %w", db.path, ErrUnavailable, db.broken)
	}
	return nil
}

// Close waits for the transactions under way and closes the file. It may be called again.
func (db *DB) Close() error {
	db.turn <- struct{}{}
	defer func() { <-db.turn }()
	db.takeHandle()
	defer db.handle.Unlock()
	if db.closed {
		return nil
	}
	db.closed = true
	db.watchers.close()
	if db.bolt == nil {
		return nil
	}
	db.closeCleanly()
	db.guard.detach()
	if err := db.bolt.Close(); err != nil {
		return fmt.Errorf("close %s: %w", db.path, err)
	}
	return nil
}
