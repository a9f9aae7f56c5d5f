package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
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

// A table or an index more is a step of the schema more: a file of before has no bucket for it.
func TestTheBucketsOfASchemaStay(t *testing.T) {
	db := newDB(t, Options{})
	name := fmt.Sprintf("testdata/schema%d.txt", len(db.migrations))
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("write the buckets of the new schema into it, a line each: %v", err)
	}
	if got := strings.Join(db.schema.names, "\n") + "\n"; got != string(want) {
		t.Errorf("the buckets are not those of %s: add a migration\n%s", name, got)
	}
}

// A file of schema 5 has notices, and does not know which of them their chats have missed.
func TestNoticesOfSchema5AreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := Notice{Chat: "100", Key: 1, Text: "hello"}
	mustUpdate(t, db, func(tx *Tx) error { return tx.Notices.Add(&n) })
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	old, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = old.Update(func(tx *bbolt.Tx) error {
		return errors.Join(tx.DeleteBucket([]byte("notices.missed")), setVersion(tx, 5))
	})
	if err := errors.Join(err, old.Close()); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, db, func(tx *Tx) error {
		got, err := tx.Notices.Next(n.Lane(), "100")
		if err != nil || got.Text != "hello" {
			t.Errorf("the notice is %+v, %v", got, err)
		}
		return errors.Join(err, tx.Notices.Miss(&got), tx.Notices.Put(&got))
	})
	mustUpdate(t, db, func(tx *Tx) error {
		_, err := tx.Notices.LastMissed("100")
		return err
	})
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

// The copy takes the room of the file once more, and is the way back: both versions name it.
func TestTheCopyFromBeforeAMigrationIsNamed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	steps := slices.Repeat([]migration{nothing}, sealedSince)
	db, err := open(path, Options{}, steps)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	var noted []string
	note := func(text string) { noted = append(noted, text) }
	if db, err = open(path, Options{Note: note}, append(slices.Clone(steps), nothing)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	copied := fmt.Sprint(path, ".schema", sealedSince)
	if said := strings.Join(noted, "\n"); !strings.Contains(said, copied) {
		t.Errorf("the new version says %q", said)
	}
	if _, err := open(path, Options{}, steps); err == nil || !strings.Contains(err.Error(), copied) {
		t.Errorf("the old version says %v", err)
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
