package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"sync/atomic"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

const (
	metaBucket = "meta"
	versionKey = "schema"
)

// alertsAndNotices brings the indexes by which alerts find failures, and notices that hold their text.
// Those before held only its facts; the few that were still to be sent are not.
func alertsAndNotices(tx *bbolt.Tx) ([]string, error) {
	for _, name := range []string{"notices", "notices.open"} {
		if err := tx.DeleteBucket([]byte(name)); err != nil && !errors.Is(err, bbolterrors.ErrBucketNotFound) {
			return nil, err
		}
	}
	return []string{"jobs", "posts", "tasks"}, nil
}

func version(tx *bbolt.Tx) (int, error) {
	meta := tx.Bucket([]byte(metaBucket))
	if meta == nil {
		return 0, errors.New("is not a Belfry file")
	}
	data := meta.Get([]byte(versionKey))
	if len(data) != 8 {
		return 0, errors.New("has no schema version")
	}
	return int(binary.BigEndian.Uint64(data)), nil
}

func setVersion(tx *bbolt.Tx, v int) error {
	return tx.Bucket([]byte(metaBucket)).Put([]byte(versionKey), binary.BigEndian.AppendUint64(nil, uint64(v)))
}

// migrate brings the file up to date in one transaction, after copying it.
func (db *DB) migrate() error {
	if db.opts.anyVersion {
		return nil
	}
	var have int
	err := db.bolt.View(func(tx *bbolt.Tx) (err error) {
		have, err = version(tx)
		return err
	})
	switch want := len(db.migrations); {
	case err != nil:
		return fmt.Errorf("%s %w", db.path, err)
	case have > want:
		before := "the copy from before"
		if _, err := os.Stat(db.before(want)); err == nil {
			before = db.before(want)
		}
		return fmt.Errorf("%s was %w of Belfry (schema %d, this one knows %d): install that version again, or restore %s",
			db.path, ErrNewer, have, want, before)
	case have == want:
		return nil
	case db.opts.ReadOnly:
		return fmt.Errorf("%s is from an older version of Belfry (schema %d of %d): start belfry once to bring it up to date",
			db.path, have, want)
	}
	copied := db.before(have)
	if !db.opts.isCopy {
		if err := db.copyTo(copied); err != nil {
			return fmt.Errorf("copy %s before migrating it: %w", db.path, err)
		}
	}
	db.clean = false
	db.guard.before()
	err = db.bolt.Update(func(btx *bbolt.Tx) error { return db.upgrade(btx, have) })
	if err != nil {
		return fmt.Errorf("migrate %s (unchanged; there is a copy at %s): %w", db.path, copied, err)
	}
	if !db.opts.isCopy && have >= sealedSince { // an older one is removed: it holds secrets in clear
		db.opts.note(fmt.Sprintf("%s was brought up to date (schema %d, before %d); the file from before is kept as %s, until you delete it",
			db.path, len(db.migrations), have, copied))
	}
	return nil
}

// before is where the copy of the file is that was made before it was migrated from a schema.
func (db *DB) before(schema int) string { return fmt.Sprintf("%s.schema%d", db.path, schema) }

func (db *DB) upgrade(btx *bbolt.Tx, have int) error {
	stale := make(map[string]bool)
	for i, step := range db.migrations[have:] {
		names, err := step(btx)
		if err != nil {
			return fmt.Errorf("step %d: %w", have+i+1, err)
		}
		for _, name := range names {
			stale[name] = true
		}
	}
	if err := db.ensureBuckets(btx); err != nil {
		return err
	}
	tx := db.newTx(btx, newMemory())
	for _, t := range db.schema.all {
		if !stale[t.tableName()] {
			continue
		}
		if err := t.rebuild(tx); err != nil {
			return fmt.Errorf("indexes of %s: %w", t.tableName(), err)
		}
	}
	if have < sealedSince && len(db.migrations) >= sealedSince {
		if err := tx.seal(db.schema, tx.key); err != nil {
			return err
		}
	}
	return errors.Join(tx.writeCounts(), setVersion(btx, len(db.migrations)))
}

// rebuild builds the indexes of the table from its rows.
func (d *def[T]) rebuild(tx *Tx) error {
	t := &table[T]{d, tx}
	for i := range d.indexes {
		name := []byte(t.indexName(i))
		if err := tx.bolt.DeleteBucket(name); err != nil {
			return err
		}
		bucket, err := tx.bolt.CreateBucket(name)
		if err != nil {
			return err
		}
		tx.cursors[d.bucket+1+i] = bucket.Cursor()
		maps.DeleteFunc(tx.counted, func(k countKey, _ int) bool { return k.bucket == d.bucket+1+i })
	}
	for row := range t.All() {
		if err := t.reindex(*d.id(&row), nil, t.keys(&row)); err != nil {
			return err
		}
	}
	return nil
}

// copyTo writes the file as the last commit left it to another path, where it appears whole or not
// at all.
func (db *DB) copyTo(path string) error {
	temporary := path + ".new"
	f, err := os.OpenFile(temporary, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	live, err := db.file.Stat()
	if err == nil {
		err = db.bolt.View(func(tx *bbolt.Tx) error {
			w := &copyWriter{to: f, live: db.file, wanted: &db.wanted, limit: db.opts.CopyGrowth, begun: live.Size()}
			_, err := tx.WriteTo(w)
			return cmp.Or(w.failed, err) // bbolt does not wrap it
		})
	}
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return rename(temporary, path)
}

// copyWriter writes a copy of the live file. The transaction that is copied keeps all its pages, so the
// file grows with every commit; when it has grown too much, the copy is given up.
type copyWriter struct {
	to, live     *os.File
	wanted       *atomic.Int32 // how many wait for the copy to be given up
	limit, begun int64
	failed       error
}

func (w *copyWriter) Write(p []byte) (n int, err error) {
	defer func() { w.failed = err }()
	if w.wanted.Load() > 0 {
		return 0, fmt.Errorf("%w: it is closed or opened anew, so the copy was given up", ErrUnavailable)
	}
	info, err := w.live.Stat()
	if err != nil {
		return 0, err
	}
	if grown := info.Size() - w.begun; grown > growthLimit(w.live, w.limit, w.begun) {
		return 0, fmt.Errorf("the file has grown by %d MiB meanwhile: copy it to a faster disk, or while less is going on", grown>>20)
	}
	return w.to.Write(p)
}
