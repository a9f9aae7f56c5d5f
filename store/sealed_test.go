package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

func TestASealedBackupIsRestoredWithItsPassphraseAlone(t *testing.T) {
	db := newDB(t, Options{})
	mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(setting("kept")) })
	dir := t.TempDir()
	backup := filepath.Join(dir, "belfry.db.age")
	if err := db.BackupSealed(backup, "correct horse"); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("beside the backup are %v, %v", entries, err)
	}
	data, err := os.ReadFile(backup)
	if err != nil || bytes.Contains(data, []byte("kept")) {
		t.Errorf("the backup can be read by everybody, %v", err)
	}
	to := filepath.Join(t.TempDir(), "belfry.db")
	for _, wrong := range []string{"", "correct  horse"} {
		_, err := Restore(t.Context(), backup, to, Options{Verifier: verifier(), Passphrase: wrong})
		if e, ok := errors.AsType[*FieldError](err); !ok || e.Field != "passphrase" {
			t.Errorf("with %q: %v", wrong, err)
		}
	}
	if problems, err := Restore(t.Context(), backup, to, Options{Verifier: verifier(), Passphrase: "correct horse"}); err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	restored, err := Open(to, Options{Verifier: verifier()})
	if err != nil {
		t.Fatal(err)
	}
	defer restored.Close()
	err = restored.View(func(tx *Tx) error {
		value, err := tx.Settings.Value("kept")
		if value == "" {
			t.Error("what was in the file is not there")
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestASealedBackupThatIsDamagedOrCutOffIsNotRestored(t *testing.T) {
	db := newDB(t, Options{})
	backup := filepath.Join(t.TempDir(), "belfry.db.age")
	if err := db.BackupSealed(backup, "correct horse"); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(backup)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/2] ^= 1
	for name, data := range map[string][]byte{"flipped": flipped, "cut": whole[:len(whole)/2], "bare": whole[:30]} {
		from, to := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), "belfry.db")
		if err := os.WriteFile(from, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Restore(t.Context(), from, to, Options{Verifier: verifier(), Passphrase: "correct horse"}); err == nil {
			t.Errorf("%s: restored", name)
		}
		if entries, err := os.ReadDir(filepath.Dir(to)); err != nil || len(entries) != 0 {
			t.Errorf("%s: left are %v, %v", name, entries, err)
		}
	}
}
