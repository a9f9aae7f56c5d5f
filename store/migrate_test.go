package store

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

func nothing(*bbolt.Tx) ([]string, error) { return nil, nil }

func TestMigrationCopiesTheFileFirstAndRebuildsIndexes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	db, err := open(path, Options{}, []migration{nothing})
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(setting("a")) })
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	rename := func(tx *bbolt.Tx) ([]string, error) {
		rows := tx.Bucket([]byte("settings"))
		row, err := encodeRow(1, Setting{Name: "b", Value: "v"})
		if err != nil {
			return nil, err
		}
		return []string{"settings"}, rows.Put(rowKey(1), row)
	}
	db, err = open(path, Options{}, []migration{nothing, rename, nothing})
	if err != nil {
		t.Fatal(err)
	}
	mustVerify(t, db)
	if got := names(t, db); len(got) != 1 || got[0] != "b" {
		t.Errorf("rows %v after the migration", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}

	before, err := open(path+".schema1", Options{}, []migration{nothing})
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	if got := names(t, before); len(got) != 1 || got[0] != "a" {
		t.Errorf("rows %v in the copy", got)
	}
}

func TestAMigrationThatFailsLeavesTheFileAsItWas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	db, err := open(path, Options{}, []migration{nothing})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	bad := errors.New("bad step")
	_, err = open(path, Options{}, []migration{nothing, func(tx *bbolt.Tx) ([]string, error) {
		return nil, errors.Join(tx.DeleteBucket([]byte("posts")), bad)
	}})
	if !errors.Is(err, bad) || !strings.Contains(err.Error(), path+".schema1") {
		t.Errorf("got %v", err)
	}
	db, err = open(path, Options{}, []migration{nothing})
	if err != nil {
		t.Fatal(err)
	}
	mustVerify(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAFileOfANewerVersionIsRefusedAndNotChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	db, err := open(path, Options{}, []migration{nothing, nothing})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := open(path, Options{}, []migration{nothing}); !errors.Is(err, ErrNewer) {
		t.Errorf("got %v", err)
	}
	if after, _ := os.ReadFile(path); string(after) != string(before) {
		t.Error("the file was changed")
	}
}

func TestAForeignFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	foreign, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := foreign.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, Options{}); err == nil || !strings.Contains(err.Error(), "not a Belfry file") {
		t.Errorf("got %v", err)
	}
}
