package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"belfry/store"
)

type backupCommand struct {
	fileSetting
	File       string `arg:"" type:"path" help:"Where to write the copy; it must not exist yet."`
	Sealed     bool   `help:"Add the key that its logins need, and encrypt both with BELFRY_BACKUP_PASSPHRASE."`
	Passphrase string `env:"BELFRY_BACKUP_PASSPHRASE" help:"What a sealed backup is encrypted with; better in the environment."`
}

// Run writes a verified copy. The service may see another /tmp than the one who asks, so it writes
// the copy beside its file, and this command brings it to its place.
func (c *backupCommand) Run(ctx context.Context, o output) (err error) {
	if _, err := os.Lstat(c.File); err == nil {
		return store.Invalid("FILE", "invalid.exists", c.File)
	}
	if c.Sealed && c.Passphrase == "" {
		return store.Invalid("BELFRY_BACKUP_PASSPHRASE", "invalid.no_passphrase")
	}
	keyFile, err := c.keyPath()
	if err != nil {
		return err
	}
	key, err := c.key(false)
	if err != nil && c.Sealed { // else it is not needed
		return err
	}
	if c.Sealed && key == nil {
		return store.Invalid("BELFRY_KEY_FILE", "invalid.no_key_at", keyFile)
	}
	l, err := connect(ctx, c.fileSetting)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	beside := filepath.Join(filepath.Dir(c.DB), fmt.Sprintf("backup-%d.db", time.Now().UnixNano()))
	if err := l.call(ctx, http.MethodPost, "/backup", map[string]string{"file": beside}, nil); err != nil {
		return err
	}
	if c.Sealed {
		if err := errors.Join(store.Seal(beside, c.File, c.Passphrase, key), os.Remove(beside)); err != nil {
			return err
		}
		_, err = fmt.Fprintf(o.out, "%s: written, verified and sealed, with the key of its logins\n", c.File)
		return err
	}
	if err := move(beside, c.File); err != nil {
		return fmt.Errorf("the copy is good but stayed at %s: %w", beside, err)
	}
	_, err = fmt.Fprintf(o.out, `%s: written and verified
Its logins are sealed with the key in %s: keep a copy of that key elsewhere, too, or they have
to be logged in again. With --sealed the backup carries it, encrypted with BELFRY_BACKUP_PASSPHRASE.
`, c.File, keyFile)
	return err
}

// move brings a file to its place, where it appears whole or not at all, also on another
// filesystem.
func move(from, to string) error {
	if os.Rename(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	part := to + ".part"
	out, err := os.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	if err := os.Rename(part, to); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return os.Remove(from)
}
