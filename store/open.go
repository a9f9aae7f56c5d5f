package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// Open opens the file at path, and makes it if it does not exist. A file that an older version
// wrote is copied beside itself and brought up to date; one from a newer version is refused.
func Open(path string, opts Options) (*DB, error) {
	return open(path, opts, migrations())
}

func open(path string, opts Options, steps []migration) (*DB, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open: %w", err)
	}
	db := &DB{path: path, opts: opts, schema: newSchema(), migrations: steps,
		guard: newGuard(opts), turn: make(chan struct{}, 1), memory: newMemory()}
	if !opts.ReadOnly {
		if err := db.create(); err != nil {
			return nil, err
		}
	}
	if err := db.prove(); err != nil {
		return nil, err
	}
	if err := db.openFile(oldCopyWait); err != nil {
		return nil, err
	}
	if !opts.ReadOnly && !opts.isCopy {
		if err := errors.Join(removeUnverified(filepath.Dir(path)), removeIfThere(path+".verify"), removeIfThere(path+".verify.new")); err != nil {
			opts.note("remove what was left of a copy: " + err.Error())
		}
	}
	if err := db.migrate(); err != nil {
		db.guard.detach()
		return nil, errors.Join(err, db.bolt.Close())
	}
	if opts.ReadOnly || opts.anyVersion {
		return db, nil
	}
	if plain, err := db.holdsPlain(); err != nil {
		return nil, errors.Join(err, db.Close())
	} else if plain && !opts.leavePlain {
		db.guard.detach()
		if err := errors.Join(db.bolt.Close(), db.scrub()); err != nil {
			opts.leavePlain = true
			opts.note(fmt.Sprintf("unused space of %s may hold logins in clear, and is cleared at the next start: %v", path, err))
		}
		return open(path, opts, steps)
	}
	if err := db.noteSealed(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// openFile opens the file for use and begins to guard it. Whoever else has had it open since
// before is given time until wait has passed. The caller of any but the first holds handle for
// writing.
func (db *DB) openFile(wait time.Duration) error {
	bolt, file, mapped, err := openBolt(db.path, db.opts)
	if err != nil {
		return err
	}
	if !db.opts.ReadOnly {
		db.guard.attach(bolt, file, mapped, wait)
	}
	db.bolt, db.file = bolt, file
	return nil
}

// openBolt opens a file with bbolt. It returns bbolt's own descriptor too, and how many bytes of
// address space are reserved for the file.
func openBolt(path string, opts Options) (bolt *bbolt.DB, file *os.File, mapped int64, err error) {
	if info, err := os.Stat(path); err == nil {
		mapped = info.Size()
	}
	mapped = addressSpace(mapped)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if v := recover(); v != nil {
			err = errors.Join(damaged(path, []Problem{{Table: pagesTable, Problem: fmt.Sprint(v)}}), file.Close())
		}
	}()
	bolt, err = bbolt.Open(path, 0o600, &bbolt.Options{
		Timeout:         time.Second,
		ReadOnly:        opts.ReadOnly,
		FreelistType:    bbolt.FreelistMapType,
		NoFreelistSync:  true,
		InitialMmapSize: int(mapped),
		MaxSize:         opts.MaxSize,
		OpenFile: func(name string, flag int, mode os.FileMode) (f *os.File, err error) {
			file, err = os.OpenFile(name, flag, mode)
			return file, err
		},
	})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, nil, 0, inUse(path)
	}
	if err != nil {
		return nil, nil, 0, fmt.Errorf("open %s: %w", path, err)
	}
	// While we waited for its lock, the file may have been compacted and another one have its name.
	if is, err := file.Stat(); err == nil {
		if named, err := os.Stat(path); err != nil || !os.SameFile(is, named) {
			return nil, nil, 0, errors.Join(fmt.Errorf("open %s: it was replaced meanwhile: try again", path), bolt.Close())
		}
	}
	return bolt, file, mapped, nil
}

// addressSpace is how many bytes are reserved for a file of the given size. It costs nothing, and
// where a file outgrows it, bbolt maps it anew and must wait for all readers.
func addressSpace(size int64) int64 {
	if strings.HasSuffix(runtime.GOARCH, "64") || runtime.GOARCH == "s390x" {
		return max(8<<30, 4*size)
	}
	return max(256<<20, size+size/4)
}

// create makes an empty file where there is none. It appears under its name only when it is
// complete and on the disk.
func (db *DB) create() error {
	if _, err := os.Stat(db.path); err == nil || !errors.Is(err, os.ErrNotExist) {
		return err
	}
	temporary := db.path + ".new"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("create %s: %w", db.path, err)
	}
	bolt, _, _, err := openBolt(temporary, db.opts)
	if err != nil {
		return err
	}
	bolt.NoFreelistSync = false // it is closed cleanly
	err = bolt.Update(func(tx *bbolt.Tx) error {
		if err := db.ensureBuckets(tx); err != nil {
			return err
		}
		return setVersion(tx, len(db.migrations))
	})
	if err := errors.Join(err, bolt.Close()); err != nil {
		return fmt.Errorf("create %s: %w", db.path, err)
	}
	return rename(temporary, db.path)
}

// rename gives a file its name in a way that survives a power failure.
func rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// ensureBuckets makes the buckets that are missing.
func (db *DB) ensureBuckets(tx *bbolt.Tx) error {
	for _, name := range append([]string{metaBucket}, db.schema.names...) {
		if _, err := tx.CreateBucketIfNotExists([]byte(name)); err != nil {
			return fmt.Errorf("bucket %s: %w", name, err)
		}
	}
	return nil
}

// locked reports whether another process has the file open, and keeps it for another second.
func locked(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false // opening it will say why
	}
	defer file.Close() // lets the lock go
	for end := time.Now().Add(time.Second); ; time.Sleep(50 * time.Millisecond) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(end) {
			return errors.Is(err, syscall.EWOULDBLOCK)
		}
	}
}

func inUse(path string) error {
	return fmt.Errorf("%s is %w%s: stop it first, or let it do the work", path, ErrInUse, holder(path))
}

// holder says which process has the file locked, as " (process 123, belfry serve)". It is empty
// where the system does not tell.
func holder(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	locks, err := os.ReadFile("/proc/locks")
	if err != nil {
		return ""
	}
	inode := fmt.Sprintf(":%d", stat.Ino)
	for line := range strings.Lines(string(locks)) {
		// 1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF
		fields := strings.Fields(line)
		if len(fields) < 6 || !strings.HasSuffix(fields[5], inode) || fields[1] == "LEASE" {
			continue
		}
		pid := fields[4]
		command, err := os.ReadFile("/proc/" + pid + "/cmdline")
		if err != nil || len(command) == 0 {
			return fmt.Sprintf(" (process %s)", pid)
		}
		words := strings.Split(strings.TrimRight(string(command), "\x00"), "\x00")
		return fmt.Sprintf(" (process %s, %s)", pid, strings.Join(words[:min(len(words), 3)], " "))
	}
	return ""
}
