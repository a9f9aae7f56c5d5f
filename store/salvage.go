package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// salvage puts what can be read of a file with damaged pages into a new file, repairs that, and gives it
// the name of the old one, which stays under another.
func salvage(ctx context.Context, path string, opts Options) (lost []Problem, aside string, err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil { // a link stays one
		return nil, "", err
	}
	fresh := path + ".salvaged"
	old, err := lock(path, syscall.LOCK_EX) // and nobody else can use it until the new one is there
	if err != nil {
		return nil, "", err
	}
	defer func() { err = errors.Join(err, old.Close(), removeIfThere(fresh)) }()
	if err := removeIfThere(fresh); err != nil {
		return nil, "", err
	}
	if lost, err = salvageInto(old, fresh); err != nil {
		return nil, "", err
	}
	taken, _, err := repairFile(fresh, Options{Now: opts.Now, Key: opts.Key, isCopy: true})
	if err != nil {
		return nil, "", err
	}
	if err := pause(fresh, path, opts.Key, opts.note, opts); err != nil {
		return nil, "", err
	}
	problems, err := opts.Verifier.Verify(ctx, fresh)
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("what was salvaged has %d problems, the first: %s", len(problems), problems[0])
	}
	if err != nil {
		return nil, "", err
	}
	aside = path + time.Now().UTC().Format(".damaged-20060102-150405")
	if err := errors.Join(giveToOwner(fresh, path), os.Link(path, aside)); err != nil {
		return nil, "", err
	}
	return append(lost, taken...), aside, rename(fresh, path)
}

// salvageInto makes a file of the rows that can be read, with all buckets, and indexes that are empty.
func salvageInto(old *os.File, fresh string) (lost []Problem, err error) {
	bolt, _, _, err := openBolt(fresh, Options{})
	if err != nil {
		return nil, err
	}
	report := func(p Problem) { lost = append(lost, p) }
	err = bolt.Update(func(tx *bbolt.Tx) error {
		if err := copyReadable(old, tx, report); err != nil {
			return err
		}
		if err := (&DB{schema: newSchema()}).ensureBuckets(tx); err != nil {
			return err
		}
		if _, err := version(tx); err != nil {
			return setVersion(tx, len(migrations()))
		}
		return nil
	})
	return lost, errors.Join(err, bolt.Close())
}

// copyReadable copies all buckets but the indexes: of the last commit or, if its first page is lost, of
// the one before it.
func copyReadable(old *os.File, tx *bbolt.Tx, report func(Problem)) error {
	all, err := metas(old)
	if err != nil {
		return err
	}
	for _, m := range all {
		w, err := newWalk(old, m, report)
		if err != nil {
			return err
		}
		found := false
		err = w.tree(m.root, nil, nil, func(e entry) (visitor, error) {
			if !e.bucket || strings.Contains(string(e.key), ".") {
				return ignored, nil
			}
			found = true
			bucket, err := tx.CreateBucketIfNotExists(e.key)
			return copyInto(bucket, e, string(e.key) == asideBucket), err
		})
		if err != nil || found {
			return err
		}
	}
	return errors.New("nothing of it can be read: restore a backup")
}

func ignored(entry) (visitor, error) { return ignored, nil }

// copyInto returns what puts the entries of a bucket into another; those that are buckets only where
// there may be some.
func copyInto(bucket *bbolt.Bucket, from entry, nested bool) visitor {
	sequence := binary.NativeEndian.Uint64(from.value[8:])
	return func(e entry) (visitor, error) {
		switch {
		case e.bucket && !nested:
			return ignored, nil
		case e.bucket:
			inside, err := bucket.CreateBucketIfNotExists(e.key)
			return copyInto(inside, e, false), err
		case len(e.key) == idSize:
			sequence = max(sequence, binary.BigEndian.Uint64(e.key))
		}
		return nil, errors.Join(bucket.SetSequence(sequence), bucket.Put(e.key, e.value))
	}
}
