package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// Paused is the name of the setting that, while it is not empty, keeps the scheduler from starting
// anything. It holds the reason, in words.
const Paused = "paused"

// Restored is the name of the setting that, while it is not empty, keeps everything from connecting to
// the networks. Only a restored file has it, until everything is resumed: the system that the backup was
// made of may still run, and one login must not be used by two.
const Restored = "restored"

// Restore makes the file at to, which must not exist, from the backup, the sealed backup or the plain
// copy at from. The copy is verified before it appears under its name. It starts paused and
// connects nothing, see [Restored]. It belongs to whom the directory belongs. Its secrets are sealed with opts.Key, if
// they can be opened with it or with the key that the sealed backup carries. Rows and indexes that are
// damaged do not stop it; they are returned.
func Restore(ctx context.Context, from, to string, opts Options) ([]Problem, error) {
	problems, err := restore(ctx, from, to, opts)
	if err != nil {
		return problems, fmt.Errorf("restore %s to %s: %w", from, to, err)
	}
	return problems, nil
}

func restore(ctx context.Context, from, to string, opts Options) (problems []Problem, err error) {
	if err := notThere(to); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return nil, err
	}
	temporary := to + ".restored"
	defer func() {
		if err != nil {
			err = errors.Join(err, removeIfThere(temporary))
		}
	}()
	sealed, err := IsSealed(from)
	if err != nil {
		return nil, err
	}
	key := opts.Key // of the backup
	if sealed {
		var own []byte
		if own, err = Unseal(from, temporary, opts.Passphrase); len(own) > 0 {
			key = own
		}
	} else {
		err = copyFile(from, temporary)
	}
	if err != nil {
		return nil, err
	}
	problems, err = opts.Verifier.verifyPages(ctx, temporary)
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("the backup is %w (%s): try another one", ErrDamaged, problems[0])
	}
	if err != nil {
		return problems, err
	}
	note := func(text string) { opts.note(strings.ReplaceAll(text, temporary, to)) }
	if err := pause(temporary, from, key, note, opts); err != nil {
		return nil, err
	}
	if problems, err = opts.Verifier.Verify(ctx, temporary); err != nil {
		return nil, err
	}
	if err := giveToOwner(temporary, filepath.Dir(to)); err != nil {
		return problems, err
	}
	if err := notThere(to); err != nil { // a service that systemd starts again and again has made a new one
		return problems, err
	}
	return problems, rename(temporary, to)
}

func notThere(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return Invalid("file", "invalid.exists_already", path)
	}
	return nil
}

// pause opens the copy, which brings it up to date, has its secrets sealed with the key of this system,
// and closes it cleanly.
func pause(path, from string, key []byte, note func(string), opts Options) error {
	db, err := Open(path, Options{Now: opts.Now, Key: key, Note: note, isCopy: true})
	if err != nil {
		return err
	}
	db.trusted = true
	err = db.Update(func(tx *Tx) error {
		why := "restored from " + from + " at " + tx.Now().Format(time.RFC3339)
		return errors.Join(tx.Settings.Set(Paused, why), tx.Settings.Set(Restored, why), tx.seal(db.schema, opts.Key))
	})
	return errors.Join(err, db.Close())
}

// Compact writes the file anew, without the space that nothing uses, and puts it in its place. No
// process may have it open. It returns the bytes before and after.
func Compact(ctx context.Context, path string, opts Options) (before, after int64, err error) {
	fail := func(err error) (int64, int64, error) { return 0, 0, fmt.Errorf("compact %s: %w", path, err) }
	info, err := os.Stat(path)
	if err != nil {
		return fail(err)
	}
	if problems, err := opts.Verifier.Verify(ctx, path); err != nil {
		return fail(err)
	} else if len(problems) > 0 {
		return fail(damaged(path, problems))
	}
	if err := rewrite(ctx, path, opts.Verifier.Verify); err != nil {
		return fail(err)
	}
	compacted, err := os.Stat(path)
	if err != nil {
		return fail(err)
	}
	return info.Size(), compacted.Size(), nil
}

// rewrite puts a file that is not open in the place of itself, without the pages that nothing uses. The
// new one is verified first.
func rewrite(ctx context.Context, path string, verify func(context.Context, string) ([]Problem, error)) error {
	path, err := filepath.EvalSymlinks(path) // a link stays one
	if err != nil {
		return err
	}
	old, _, _, err := openBolt(path, Options{}) // and nobody else can, until the new file is there
	if err != nil {
		return err
	}
	temporary := path + ".compacted"
	err = compactInto(old, temporary)
	if err == nil {
		var problems []Problem
		if problems, err = verify(ctx, temporary); err == nil && len(problems) > 0 {
			err = damaged(path, problems)
		}
	}
	if err == nil {
		err = errors.Join(giveToOwner(temporary, path), rename(temporary, path))
	}
	if err := errors.Join(err, old.Close()); err != nil {
		return errors.Join(err, removeIfThere(temporary))
	}
	return nil
}

func compactInto(old *bbolt.DB, path string) error {
	if err := removeIfThere(path); err != nil {
		return err
	}
	compacted, _, _, err := openBolt(path, Options{})
	if err != nil {
		return err
	}
	compacted.AllocSize = 1 << 20
	err = bbolt.Compact(compacted, old, compactStep)
	if err == nil {
		err = compacted.Update(func(tx *bbolt.Tx) error { return tx.Bucket([]byte(metaBucket)).Delete([]byte(plainKey)) })
	}
	if err == nil {
		err = syncFreePages(compacted)
	}
	return errors.Join(err, compacted.Close())
}

// compactStep is the number of bytes that are copied in one commit.
const compactStep = 16 << 20

// copyFile copies a file, which may be on another filesystem, and syncs the copy.
func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close(), in.Close())
}

// giveToOwner gives the file to whom another file belongs, where they differ: root restores, and
// the service must be able to read.
func giveToOwner(path, like string) error {
	have, err := os.Stat(path)
	if err != nil {
		return err
	}
	want, err := os.Stat(like)
	if err != nil {
		return err
	}
	is, ok := have.Sys().(*syscall.Stat_t)
	should, fine := want.Sys().(*syscall.Stat_t)
	if !ok || !fine || (is.Uid == should.Uid && is.Gid == should.Gid) {
		return nil
	}
	return os.Chown(path, int(should.Uid), int(should.Gid))
}

func removeIfThere(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
