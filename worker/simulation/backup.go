package simulation

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"belfry/store"
)

// backup is a copy of the file.
type backup struct {
	path     string
	at       time.Time // in the bubble's time
	restored []func()  // of the parts
}

// keepCopy copies the file as people do: plainly, while it is in use.
func keepCopy(w *World, _ *rand.Rand) {
	if w.Process() == nil {
		return
	}
	b := &backup{path: filepath.Join(w.dir, "copy.db"), at: time.Now()}
	if err := copyFile(w.path(), b.path); err != nil {
		w.Complain("backup: copy", "%v", err)
		return
	}
	for _, part := range w.parts {
		if part.Backup != nil {
			b.restored = append(b.restored, part.Backup())
		}
	}
	w.backup = b
	w.Note("the file is copied")
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	out, err := os.Create(to)
	if err != nil {
		return errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close(), in.Close())
}

// restore puts the last copy in the place of the file. What happened since is not in it; the networks have it.
// Later a person resumes everything.
func restore(w *World, r *rand.Rand) {
	b := w.backup
	if b == nil {
		return
	}
	w.end(false)
	if w.process != nil || b != w.backup {
		return
	}
	if err := os.Remove(w.path()); err != nil && !errors.Is(err, os.ErrNotExist) {
		w.Complain("backup: restore", "%v", err)
	}
	problems, err := store.Restore(context.Background(), b.path, w.path(), store.Options{Now: w.Now, Key: make([]byte, store.KeySize)})
	if err != nil || len(problems) > 0 {
		w.Complain("backup: restore", "%v, %v", err, problems)
		return
	}
	w.Note("the copy is restored that was made %v ago", time.Since(b.at))
	w.stats.Restores++
	for _, do := range b.restored {
		do()
	}
	w.Network.undo(b.at)
	w.Disturb("pause")
	w.boot()
	w.After(lasting(r, time.Minute, 24*time.Hour), w.resumeAll)
	for _, name := range w.LoginNames() { // the copy may say that one has ended
		w.After(25*time.Hour, func() { w.logIn(name) })
	}
}
