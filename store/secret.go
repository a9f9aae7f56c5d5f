package store

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.etcd.io/bbolt"
	"golang.org/x/crypto/chacha20poly1305"
)

// KeySize is the size in bytes of the key that seals secrets.
const KeySize = chacha20poly1305.KeySize

// noKey is the error for a secret that cannot be written, because the file was opened without a key.
func noKey() error {
	return Invalid("BELFRY_KEY_FILE", "invalid.no_key")
}

// secret is where a row has what is sealed in the file: in clear, with what sets it, and sealed. Of a row
// that was read one of the two is there: what is still sealed was sealed with another key.
type secret struct {
	plain  []byte
	set    func([]byte)
	sealed *string
}

// encode is encodeRow with the secret sealed. The row stays as it is. A secret that could not be opened
// is kept, unless there is a new one.
func (t *table[T]) encode(id uint64, row *T) ([]byte, error) {
	if t.def().secret == nil {
		data, err := appendRow(t.tx.memory.room.take(rowRoom), id, row)
		return t.tx.memory.room.taken(data), err
	}
	sealed := *row
	if s := t.def().secret(&sealed); len(s.plain) > 0 {
		if len(t.tx.key) == 0 {
			return nil, noKey()
		}
		aead, err := chacha20poly1305.NewX(t.tx.key)
		if err != nil {
			return nil, err
		}
		nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(s.plain)+aead.Overhead())
		rand.Read(nonce)
		*s.sealed = base64.RawStdEncoding.EncodeToString(aead.Seal(nonce, nonce, s.plain, t.place(id)))
		s.set(nil)
	}
	return encodeRow(id, &sealed)
}

// open opens the secret of a row that was read, if the key is the one that it was sealed with.
func (t *table[T]) open(id uint64, row *T) {
	if t.def().secret == nil || len(t.tx.key) == 0 {
		return
	}
	s := t.def().secret(row)
	box, err := base64.RawStdEncoding.DecodeString(*s.sealed)
	if err != nil || len(box) < chacha20poly1305.NonceSizeX {
		return
	}
	aead, err := chacha20poly1305.NewX(t.tx.key)
	if err != nil {
		return
	}
	plain, err := aead.Open(nil, box[:aead.NonceSize()], box[aead.NonceSize():], t.place(id))
	if err == nil {
		s.set(plain)
		*s.sealed = ""
	}
}

// place is the additional data of a secret, so that one that is moved to another row is not opened.
func (t *table[T]) place(id uint64) []byte { return append([]byte(t.def().name+"\x00"), rowKey(id)...) }

// seal writes every row that has a secret anew, sealed with the key.
func (tx *Tx) seal(schema *schema, key []byte) error {
	for _, t := range schema.all {
		if err := t.seal(tx, key); err != nil {
			return err
		}
	}
	return nil
}

func (d *def[T]) seal(tx *Tx, key []byte) error {
	if d.secret == nil {
		return nil
	}
	t, before := &table[T]{d, tx}, tx.key
	rows := slices.Collect(t.All())
	tx.key = key
	defer func() { tx.key = before }()
	for i := range rows {
		if len(d.secret(&rows[i]).plain) == 0 {
			continue
		}
		if err := t.Put(&rows[i]); err != nil {
			return fmt.Errorf("seal the secret: %w", err)
		}
	}
	return nil
}

func (d *def[T]) locked(tx *Tx) (n int) {
	if d.secret == nil {
		return 0
	}
	for row := range (&table[T]{d, tx}).All() {
		if *d.secret(&row).sealed != "" {
			n++
		}
	}
	return n
}

// KeyOpens reports whether a key opens all secrets of a file that nobody has open.
func KeyOpens(path string, key []byte) (ok bool, err error) {
	db, err := Open(path, Options{ReadOnly: true, Key: key})
	if err != nil {
		return false, err
	}
	logins, others, err := db.locked()
	return logins+others == 0, errors.Join(err, db.Close())
}

// locked counts the logins and the other secrets that the key does not open.
func (db *DB) locked() (of, others int, err error) {
	logins := make(map[uint64]bool)
	err = db.View(func(tx *Tx) error {
		for i := range tx.Identities.All() {
			if i.Sealed != "" {
				logins[i.ID] = true
			}
		}
		for s := range tx.Sessions.All() {
			if s.Sealed != "" {
				logins[s.IdentityID] = true
			}
		}
		for _, t := range db.schema.all {
			if name := t.tableName(); name != "identities" && name != "sessions" {
				others += t.locked(tx)
			}
		}
		return nil
	})
	return len(logins), others, err
}

// noteSealed tells of logins and other secrets that the key does not open.
func (db *DB) noteSealed() error {
	logins, others, err := db.locked()
	if err == nil && logins > 0 {
		db.opts.note(fmt.Sprintf("%d logins of %s are sealed with another key and cannot connect: put the key file of the system "+
			"that the file is from in the place of this one's, or log them in again", logins, db.path))
	}
	if err == nil && others > 0 {
		db.opts.note(fmt.Sprintf("%d secrets of webhooks and settings of %s are sealed with another key and cannot be used: put the key file "+
			"of the system that the file is from in the place of this one's, or create them again", others, db.path))
	}
	return err
}

// Before schema 7 secrets were in the file in clear, and its unused pages may still hold them. The mark
// plainKey says so, until the file was written anew.
const (
	sealedSince = 7
	plainKey    = "plain"
)

func markPlain(tx *bbolt.Tx) ([]string, error) {
	return nil, tx.Bucket([]byte(metaBucket)).Put([]byte(plainKey), []byte{1})
}

// holdsPlain reports whether unused pages may hold secrets in clear.
func (db *DB) holdsPlain() (plain bool, err error) {
	err = db.bolt.View(func(tx *bbolt.Tx) error {
		plain = tx.Bucket([]byte(metaBucket)).Get([]byte(plainKey)) != nil
		return nil
	})
	return plain, err
}

// scrub removes the copies that older versions have left beside the file, and writes the file, which
// must be closed, anew: both hold secrets in clear.
func (db *DB) scrub() error {
	copies, err := filepath.Glob(db.path + ".schema[1-6]")
	if err != nil {
		return err
	}
	for _, path := range copies {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	return rewrite(context.Background(), db.path, db.opts.Verifier.verifyPages)
}
