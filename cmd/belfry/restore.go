package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newRestore returns the command that puts a backup in the place of the file.
func newRestore() *cobra.Command {
	var options struct {
		Passphrase string `flag:"passphrase" env:"BELFRY_BACKUP_PASSPHRASE" help:"Decrypts a sealed backup. It is safer in the environment."`
	}
	c := newFileCommand("restore FILE", "Restore a backup: of belfry backup, of the admin bot, or a plain copy. It starts paused.", func(c *cobra.Command, f fileSetting, args []string) error {
		if _, err := os.Stat(args[0]); err != nil {
			return store.Invalid("FILE", "invalid.backup_unreadable", err)
		}
		if running, err := serves(f.socket()); err != nil || running {
			return cmp.Or(err, errors.New("the service of this file runs, and would go on with the file that was there: stop the service first"))
		}
		keyFile, err := f.keyPath()
		if err != nil {
			return err
		}
		made := !exists(keyFile)
		if made && f.KeyFile == "" && os.Geteuid() == 0 { // a service has another home
			return fmt.Errorf("there is no key yet, and the service would not find one in %s: run install.sh first, or name the key file with --key-file", filepath.Dir(keyFile))
		}
		key, err := f.key(true)
		if err != nil {
			return err
		}
		out := c.OutOrStdout()
		problems, err := store.Restore(c.Context(), args[0], f.DB, store.Options{Key: key, Verifier: verifier(), Passphrase: options.Passphrase,
			Note: func(note string) { fmt.Fprintln(out, note) }})
		for _, p := range problems {
			fmt.Fprintln(out, p)
		}
		if err == nil {
			err = audit(f.DB, key, "restore")
		}
		if err != nil {
			return err
		}
		if made {
			keyFile += ", which was made just now: keep a copy of it elsewhere"
		}
		fmt.Fprintf(out, `%s: restored and verified; nothing runs yet.
The key of this system is in %s.
Its password, sign-ins and API tokens are those of the backup: revoke again what has been revoked since.
Two systems must not use the same login: make sure that the old one is off. Then start belfry, and
resume everything with: belfry jobs resume --all
`, f.DB, keyFile)
		if len(problems) > 0 {
			return fmt.Errorf("%d rows or indexes of the backup are damaged, the others are there", len(problems))
		}
		return nil
	})
	bind(c.Flags(), &options)
	return c
}

// newCompact returns the command that gives back the space that the file does not use.
func newCompact() *cobra.Command {
	return newFileCommand("compact", "Give back the space that the file does not use, while the service is stopped.", func(c *cobra.Command, f fileSetting, _ []string) error {
		key, err := f.key(false)
		if err != nil {
			return err
		}
		before, after, err := store.Compact(c.Context(), f.DB, store.Options{Verifier: verifier()})
		if errors.Is(err, store.ErrInUse) {
			return fmt.Errorf("%w (stop the service, run this, and start it again)", err)
		}
		if err == nil {
			err = audit(f.DB, key, "compact")
		}
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s: %.1f MiB, before %.1f MiB\n", f.DB, mebibytes(after), mebibytes(before))
		return err
	})
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
