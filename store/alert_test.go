package store

import (
	"bytes"
	"path/filepath"
	"testing"
	"time"
)

func TestADamagedAlertIsLetGo(t *testing.T) {
	db, err := Open(filepath.Join(t.TempDir(), "belfry.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	add := func(kind AlertKind) Alert {
		a := Alert{Kind: kind, About: "this", RaisedAt: time.Now()}
		mustUpdate(t, db, func(tx *Tx) error { return tx.Alerts.Add(&a) })
		return a
	}
	damaged := add(AlertDisk)
	open := func(want bool) {
		t.Helper()
		err := db.View(func(tx *Tx) error {
			if open := tx.Alerts.Open(); open != want {
				t.Errorf("open: %t", open)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	open(true)
	mustUpdate(t, db, func(tx *Tx) error {
		if err := tx.Alerts.LetGo(damaged.ID); err == nil {
			t.Error("one that is not damaged was let go")
		}
		rows := tx.bolt.Bucket([]byte("alerts"))
		row := bytes.Clone(rows.Get(rowKey(damaged.ID)))
		row[len(row)/2] ^= 0x20
		tx.writes++
		return rows.Put(rowKey(damaged.ID), row)
	})
	open(false)
	add(AlertQueue)
	open(true)
	mustUpdate(t, db, func(tx *Tx) error { return tx.Alerts.LetGo(damaged.ID) })
	add(AlertDisk)
	standing := 0
	mustUpdate(t, db, func(tx *Tx) error {
		standing = len(collect(tx.Alerts.AllStanding(), 10))
		return nil
	})
	if standing != 2 {
		t.Errorf("%d alerts stand", standing)
	}
	problems, err := db.Verify()
	if err != nil || len(problems) != 1 || problems[0].Table != "alerts" || problems[0].ID != damaged.ID {
		t.Errorf("verify: %v, %v", problems, err)
	}
}
