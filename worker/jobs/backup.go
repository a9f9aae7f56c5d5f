package jobs

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"
)

const (
	backupName  = "belfry-" // what the names of backups begin with
	backupEnd   = ".db"
	backupStamp = "20060102-150405"
)

// Backups is the folder of the backups, and how many of them are kept.
func (w *Worker) Backups() (dir string, keep int) {
	return cmp.Or(w.cfg.BackupDir, filepath.Join(filepath.Dir(w.db.Path()), "backups")), w.cfg.BackupKeep
}

// backUp copies the file, unless an attempt before has, and removes the oldest of more copies than are kept. The copy has
// been verified when it appears under its name. What others have put into the folder is not touched, and copies of a clock
// that was ahead do not count: they would take the place of this one.
func (a attempt) backUp() error {
	dir, keep := a.Backups()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("make the folder of backups: %w", err)
	}
	path := filepath.Join(dir, backupName+a.own.Begun.UTC().Format(backupStamp)+backupEnd)
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := a.db.Backup(path); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	all, err := filepath.Glob(filepath.Join(dir, backupName+"*"+backupEnd))
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(file string) bool {
		made, err := time.Parse(backupName+backupStamp+backupEnd, filepath.Base(file))
		return err != nil || made.After(a.own.Begun)
	})
	slices.Sort(all)
	for _, old := range all[:max(0, len(all)-keep)] {
		err = errors.Join(err, os.Remove(old))
	}
	return err
}
