package store

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// spoil changes a byte of a row below the store; done twice, the row is good again.
func spoil(t *testing.T, db *DB, table string, id uint64) {
	t.Helper()
	err := db.bolt.Update(func(tx *bbolt.Tx) error {
		rows := tx.Bucket([]byte(table))
		row := bytes.Clone(rows.Get(rowKey(id)))
		row[len(row)-3] ^= 1
		return rows.Put(rowKey(id), row)
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDamageThatIsMetIsToldUntilItIsGone(t *testing.T) {
	db := newDB(t, Options{Verifier: verifier()})
	mustUpdate(t, db, func(tx *Tx) error {
		return errors.Join(tx.Settings.Put(setting("a")), tx.Settings.Put(setting("b")))
	})
	for _, id := range []uint64{1, 2} {
		if err := db.View(func(tx *Tx) error { _, err := tx.Settings.Get(id); return err }); err != nil {
			t.Fatal(err)
		}
		spoil(t, db, "settings", id) // what was read before is not answered from memory
	}
	if found := db.Damaged(); len(found) > 0 {
		t.Errorf("nobody has met it yet: %v", found)
	}
	for range 2 {
		for _, id := range []uint64{2, 1} {
			if err := db.View(func(tx *Tx) error { _, err := tx.Settings.Get(id); return err }); !IsCorrupt(err) {
				t.Fatal(err)
			}
		}
	}
	found := db.Damaged()
	if len(found) != 2 || found[0].ID != 1 || found[1].ID != 2 || !strings.Contains(found[0].Problem, "checksum") {
		t.Errorf("found %v", found)
	}
	spoil(t, db, "settings", 1)
	if found := db.Damaged(); len(found) != 1 || found[0].ID != 2 {
		t.Errorf("after one is good again: %v", found)
	}
	if _, _, err := db.repair(); err != nil {
		t.Fatal(err)
	}
	if found := db.Damaged(); len(found) > 0 {
		t.Errorf("after the other is set aside: %v", found)
	}
}

func TestADamagedRowKeepsNoOtherOneOutOfABackup(t *testing.T) {
	db := newDB(t, Options{Verifier: verifier()})
	mustUpdate(t, db, func(tx *Tx) error {
		return errors.Join(tx.Settings.Put(setting("a")), tx.Settings.Put(setting("b")))
	})
	spoil(t, db, "settings", 1)
	to := filepath.Join(t.TempDir(), "backup")
	if err := db.Backup(to); err != nil {
		t.Error(err)
	}
	if problems, err := Restore(t.Context(), to, filepath.Join(t.TempDir(), "belfry.db"), Options{Verifier: verifier()}); err != nil || len(problems) == 0 {
		t.Errorf("restored: %v, %v", problems, err)
	}
	if found := db.Damaged(); len(found) == 0 || found[0].ID != 1 {
		t.Errorf("the damage is not told: %v", found)
	}
	for in, bad := range map[string]Problem{"*-backup*": {Table: "settings", ID: 2}, "*": {Table: pagesTable}} { // the copy alone, and both
		db.opts.Verifier = Verifier{"sh", "-c", fmt.Sprintf(`case $0 in %s) echo '{"problems":[{"table":%q,"id":%d}]}';; *) echo '{}';; esac`, in, bad.Table, bad.ID)}
		if err := db.Backup(to + " of a bad copy"); err == nil {
			t.Errorf("a copy with %v is taken for good", bad)
		}
	}
	db.opts.Verifier = verifier()
	spoil(t, db, "settings", 1)
}

func TestWhatAVerificationFindsIsToldUntilTheNext(t *testing.T) {
	db := newDB(t, Options{Verifier: verifier()})
	mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(setting("a")) })
	spoil(t, db, "settings", 1)
	err := db.bolt.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("settings.name")).Put([]byte("nobody's 12345678"), nil)
	})
	if err != nil {
		t.Fatal(err)
	}
	problems, err := db.Verify()
	if err != nil || len(problems) < 2 {
		t.Fatal(problems, err)
	}
	if found := db.Damaged(); len(found) != len(problems) || found[0].ID != 1 {
		t.Errorf("the verification found %v, told is %v", problems, found)
	}
	if _, _, err := db.repair(); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, db)
	if found := db.Damaged(); len(found) > 0 {
		t.Errorf("after the repair and a verification: %v", found)
	}
}

func TestWhatIsPassedOverIsToldUntilItIsGone(t *testing.T) {
	db := newDB(t, Options{})
	mustUpdate(t, db, func(tx *Tx) error {
		for _, name := range []string{"a", "b", "c"} {
			if err := tx.Holds.Put(&Hold{Lane: name}); err != nil {
				return err
			}
		}
		tx.writes++
		return tx.Holds.bucket().Delete(rowKey(3)) // its entry stays
	})
	spoil(t, db, "holds", 1)
	for range 2 { // however often it is met
		err := db.View(func(tx *Tx) error {
			if read := collect(tx.Holds.scan("lane", nil, nil), 10); len(read) != 1 || read[0].Lane != "b" {
				t.Errorf("read were %v", read)
			}
			page, err := tx.Holds.page("lane", nil, Query{}, true)
			if len(page.Items) != 1 {
				t.Errorf("listed are %v", page.Items)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if found := db.Damaged(); len(found) != 2 || found[0].ID != 1 || found[1].ID != 3 || !strings.Contains(found[1].Problem, "index") {
		t.Errorf("told is %v", found)
	}
	if _, _, err := db.repair(); err != nil {
		t.Fatal(err)
	}
	if found := db.Damaged(); len(found) > 0 {
		t.Errorf("after the repair: %v", found)
	}
}
