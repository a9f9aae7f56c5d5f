package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newBackup returns the command that writes a verified copy of the file.
func newBackup() *cobra.Command {
	var options struct {
		Sealed     bool   `flag:"sealed" help:"Add the key of the logins, and encrypt the backup with BELFRY_BACKUP_PASSPHRASE."`
		Passphrase string `flag:"passphrase" env:"BELFRY_BACKUP_PASSPHRASE" help:"Encrypts a sealed backup. It is safer in the environment."`
	}
	c := newAPICommand("backup FILE", "Write a verified copy of the file to FILE, which must not exist.", func(ctx context.Context, l *local, args []string) error {
		return backup(ctx, l, args[0], options.Sealed, options.Passphrase)
	})
	bind(c.Flags(), &options)
	return c
}

// backup writes a verified copy: beside the file at first.
func backup(ctx context.Context, l *local, file string, sealed bool, passphrase string) error {
	if _, err := os.Lstat(file); err == nil {
		return store.Invalid("FILE", "invalid.exists", file)
	}
	if sealed && passphrase == "" {
		return store.Invalid("BELFRY_BACKUP_PASSPHRASE", "invalid.no_passphrase")
	}
	keyFile, err := l.file.keyPath()
	if err != nil {
		return err
	}
	key, err := l.file.key(false)
	if err != nil && sealed { // else it is not needed
		return err
	}
	if sealed && key == nil {
		return store.Invalid("BELFRY_KEY_FILE", "invalid.no_key_at", keyFile)
	}
	beside, err := backupBeside(ctx, l)
	if err != nil {
		return err
	}
	fits, err := store.KeyOpens(beside, key) // the service may have another one than this command
	if err == nil && sealed && !fits {
		err = store.Invalid("BELFRY_KEY_FILE", "invalid.other_key", keyFile)
	}
	if err != nil {
		return errors.Join(err, os.Remove(beside))
	}
	if sealed {
		if err := errors.Join(store.Seal(beside, file, passphrase, key), os.Remove(beside)); err != nil {
			return err
		}
		_, err = fmt.Fprintf(l.out, "%s: written, verified and sealed, with the key of its logins\n", file)
		return err
	}
	if err := store.Move(beside, file); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", file, err), os.Remove(beside))
	}
	where := "in " + keyFile
	if !fits {
		where = "that belfry serve has"
	}
	_, err = fmt.Fprintf(l.out, `%s: written and verified
Its logins are sealed with the key %s: keep a copy of that key elsewhere, too, or they have
to be logged in again. With --sealed the backup carries it, encrypted with BELFRY_BACKUP_PASSPHRASE.
`, file, where)
	return err
}
