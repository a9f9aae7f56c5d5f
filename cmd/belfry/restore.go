package main

import (
	"context"
	"errors"
	"fmt"

	"belfry/store"
)

type restoreCommand struct {
	fileSetting
	File       string `arg:"" type:"existingfile" help:"The backup: what belfry backup wrote, a plain copy of the file, or what the admin bot sent."`
	Passphrase string `env:"BELFRY_BACKUP_PASSPHRASE" help:"What the backup is encrypted with, if it is; better in the environment."`
}

// Run puts a backup in the place of the file.
func (c *restoreCommand) Run(ctx context.Context, o output) error {
	key, err := c.key(true)
	if err != nil {
		return err
	}
	problems, err := store.Restore(ctx, c.File, c.DB, store.Options{Key: key, Verifier: verifier(), Passphrase: c.Passphrase,
		Note: func(note string) { fmt.Fprintln(o.out, note) }})
	for _, p := range problems {
		fmt.Fprintln(o.out, p)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(o.out, `%s: restored and verified; nothing runs yet.
A login must not be used by two systems: make sure that the old one is off. Then start belfry, and
let everything go on with: belfry jobs resume --all
`, c.DB)
	if len(problems) > 0 {
		return fmt.Errorf("%d rows or indexes of the backup are damaged, the others are there", len(problems))
	}
	return nil
}

type compactCommand struct{ fileSetting }

// Run gives back the space that the file does not use.
func (c *compactCommand) Run(ctx context.Context, o output) error {
	before, after, err := store.Compact(ctx, c.DB, store.Options{Verifier: verifier()})
	if errors.Is(err, store.ErrInUse) {
		return fmt.Errorf("%w (stop the service, run this, and start it again)", err)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(o.out, "%s: %.1f MiB, before %.1f MiB\n", c.DB, mebibytes(after), mebibytes(before))
	return err
}

func mebibytes(bytes int64) float64 { return float64(bytes) / (1 << 20) }
