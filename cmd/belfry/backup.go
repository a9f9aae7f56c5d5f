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
	File string `arg:"" type:"path" help:"Where to write the copy; it must not exist yet."`
}

// Run writes a verified copy. The service may see another /tmp than the one who asks, so it writes
// the copy beside its file, and this command brings it to its place.
func (c *backupCommand) Run(ctx context.Context, o output) (err error) {
	if _, err := os.Lstat(c.File); err == nil {
		return &store.FieldError{Field: "FILE", Problem: c.File + " exists", Cure: "choose another name, or remove it"}
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
	if err := move(beside, c.File); err != nil {
		return fmt.Errorf("the copy is good but stayed at %s: %w", beside, err)
	}
	_, err = fmt.Fprintf(o.out, "%s: written and verified\n", c.File)
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
