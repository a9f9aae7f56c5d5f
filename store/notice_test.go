package store

import (
	"encoding/binary"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// damagedNotices opens a file with notices to some chats, in which something was changed from outside.
func damagedNotices(t *testing.T, change func(rows, open *bbolt.Bucket) error, chats ...string) *DB {
	t.Helper()
	path := filepath.Join(t.TempDir(), "belfry.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, db, func(tx *Tx) error {
		for _, chat := range chats {
			if err := tx.Notices.Add(&Notice{Chat: chat, Key: 1, Text: "text", CreatedAt: tx.Now()}); err != nil {
				return err
			}
		}
		sent, err := tx.Notices.Get(1)
		sent.SentAt = tx.Now()
		return errors.Join(err, tx.Notices.Put(&sent))
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	bolt, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = bolt.Update(func(tx *bbolt.Tx) error {
		return change(tx.Bucket([]byte("notices")), tx.Bucket([]byte("notices.open")))
	})
	if err := errors.Join(err, bolt.Close()); err != nil {
		t.Fatal(err)
	}
	if db, err = Open(path, Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func TestTheNextNoticeIsFoundBehindDamage(t *testing.T) {
	entry := func(id uint64) []byte { return key(nil).str("notices").str("a").uint(id) }
	for name, damage := range map[string]func(rows, open *bbolt.Bucket) error{
		"a row": func(rows, _ *bbolt.Bucket) error {
			k := binary.BigEndian.AppendUint64(nil, 2)
			row := append([]byte(nil), rows.Get(k)...)
			row[len(row)/2] ^= 0x20
			return rows.Put(k, row)
		},
		"a row that is gone": func(rows, _ *bbolt.Bucket) error {
			return rows.Delete(binary.BigEndian.AppendUint64(nil, 2))
		},
		"an entry for a notice that was sent": func(_, open *bbolt.Bucket) error {
			return errors.Join(open.Delete(entry(2)), open.Put(entry(1), nil))
		},
		"an entry for another chat's notice": func(_, open *bbolt.Bucket) error {
			return errors.Join(open.Delete(entry(2)), open.Put(entry(0), nil), open.Put(entry(3), nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			db := damagedNotices(t, damage, "a", "a", "b", "a")
			err := db.View(func(tx *Tx) error {
				n, err := tx.Notices.Next("notices", "a")
				if n.ID != 4 {
					t.Errorf("the next is %d", n.ID)
				}
				if _, err := tx.Notices.Next("notices", "nobody"); !errors.Is(err, ErrNotFound) {
					t.Errorf("to nobody: %v", err)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestAWaitIsOverWhenTheClockShowsLessThanBeforeIt(t *testing.T) {
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	n := Notice{FailedAt: at, NotBefore: at.Add(time.Hour)}
	for now, waits := range map[time.Duration]bool{-time.Second: false, 0: true, 59 * time.Minute: true, time.Hour: false} {
		if n.Waits(at.Add(now)) != waits {
			t.Errorf("%v after the attempt: %v", now, !waits)
		}
	}
	if (Notice{}).Waits(at) {
		t.Error("a notice that was not tried waits")
	}
}
