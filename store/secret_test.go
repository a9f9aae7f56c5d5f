package store

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

const botToken = "7001:AAH-the-secret-of-the-bot"

func authKey() []byte { return bytes.Repeat([]byte("auth key "), 28) }

func testKey(b byte) []byte { return bytes.Repeat([]byte{b}, KeySize) }

// noSecretIn proves that no file of a folder has a secret in clear.
func noSecretIn(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(filepath.Join(dir, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for what, secret := range map[string][]byte{"the bot's token": []byte(botToken), "the auth key": authKey(),
			"the auth key in base64": []byte(base64.StdEncoding.EncodeToString(authKey()))} {
			if bytes.Contains(data, secret) {
				t.Errorf("%s is in %s in clear", what, file.Name())
			}
		}
	}
}

// putLogin writes a login with its secrets.
func putLogin(t *testing.T, db *DB) {
	t.Helper()
	mustUpdate(t, db, func(tx *Tx) error {
		i := Identity{Name: "main", Platform: "telegram", Kind: IdentityBot, Secret: botToken}
		if err := tx.Identities.Put(&i); err != nil {
			return err
		}
		if i.Secret != botToken {
			t.Error("writing the row took its secret away")
		}
		return tx.Sessions.Put(&Session{IdentityID: i.ID, Data: authKey()})
	})
}

// secrets returns those of login 1 as a start with the key reads them, and what was noted.
func secrets(t *testing.T, path string, key []byte) (token string, session []byte, notes string) {
	t.Helper()
	db, err := Open(path, Options{Key: key, Note: func(s string) { notes += s + "\n" }})
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, db, func(tx *Tx) error {
		i, err1 := tx.Identities.Get(1)
		s, err2 := tx.Sessions.Of(1)
		token, session = i.Secret, s.Data
		if (token == "") == (i.Sealed == "") || (len(session) == 0) == (s.Sealed == "") {
			t.Errorf("sealed as %q and %q, open %q and %q", i.Sealed, s.Sealed, token, session)
		}
		return errors.Join(err1, err2, tx.Identities.Put(&i), tx.Sessions.Put(&s)) // as a change of the title does
	})
	mustVerify(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return token, session, notes
}

func TestSecretsAreSealedInTheFileAndOpenWithTheKeyAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	db, err := Open(path, Options{Key: testKey(1)})
	if err != nil {
		t.Fatal(err)
	}
	putLogin(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	noSecretIn(t, filepath.Dir(path))
	for _, key := range [][]byte{nil, testKey(2)} {
		if token, session, notes := secrets(t, path, key); token != "" || session != nil || !strings.Contains(notes, "1 logins") {
			t.Errorf("with another key: %q, %q, noted %q", token, session, notes)
		}
	}
	if token, session, notes := secrets(t, path, testKey(1)); token != botToken || !bytes.Equal(session, authKey()) || notes != "" {
		t.Errorf("with the key: %q, %q, noted %q", token, session, notes)
	}
}

func TestASecretIsNotWrittenWithoutAKey(t *testing.T) {
	db := newDB(t, Options{})
	err := db.Update(func(tx *Tx) error { return tx.Identities.Put(&Identity{Name: "main", Secret: botToken}) })
	if _, ok := errors.AsType[*FieldError](err); !ok {
		t.Errorf("got %v", err)
	}
}

func TestASecretThatWasMovedToAnotherLoginDoesNotOpen(t *testing.T) {
	db := newDB(t, Options{Key: testKey(1)})
	putLogin(t, db)
	mustUpdate(t, db, func(tx *Tx) error {
		return tx.Identities.Put(&Identity{Name: "other", Platform: "telegram", Secret: "2:another"})
	})
	mustUpdate(t, db, func(tx *Tx) error {
		rows := tx.bolt.Bucket([]byte("identities"))
		_, moved, _ := bytes.Cut(rows.Get(rowKey(1)), []byte(`"sealed":"`))
		var row Identity
		if err := decodeRow(2, rows.Get(rowKey(2)), &row); err != nil {
			return err
		}
		row.Sealed = string(moved[:bytes.IndexByte(moved, '"')])
		data, err := encodeRow(2, row)
		tx.writes++
		return errors.Join(err, rows.Put(rowKey(2), data))
	})
	mustUpdate(t, db, func(tx *Tx) error {
		i, err := tx.Identities.Get(2)
		if i.Secret != "" {
			t.Errorf("it opened as %q", i.Secret)
		}
		return err
	})
}

// older makes a file as schema 6 wrote it, with secrets in clear in its rows and in pages that were
// freed since, and with the copy that a migration before has left.
func older(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "belfry.db")
	db, err := Open(path, Options{Key: testKey(9)})
	if err != nil {
		t.Fatal(err)
	}
	putLogin(t, db)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	old, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		err := old.Update(func(tx *bbolt.Tx) error {
			identity, err1 := encodeRow(1, Identity{Name: "main", Platform: "telegram", Kind: IdentityBot, Secret: botToken})
			session, err2 := encodeRow(1, Session{IdentityID: 1, Data: authKey()})
			return errors.Join(err1, err2, tx.Bucket([]byte("identities")).Put(rowKey(1), identity),
				tx.Bucket([]byte("sessions")).Put(rowKey(1), session), setVersion(tx, 6))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(data, []byte(botToken)) {
		t.Fatal("the file of before has no secret in clear", err)
	}
	if err := os.WriteFile(path+".schema5", data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSecretsOfAnOlderFileAreSealedAndNothingIsLeftOfThem(t *testing.T) {
	path := older(t)
	if token, session, _ := secrets(t, path, testKey(1)); token != botToken || !bytes.Equal(session, authKey()) {
		t.Errorf("the logins were lost: %q, %q", token, session)
	}
	noSecretIn(t, filepath.Dir(path))
}

func TestAKillBetweenSealingAndClearingLeavesItToTheNextStart(t *testing.T) {
	path := older(t)
	db, err := Open(path, Options{Key: testKey(1), leavePlain: true}) // as if the program had ended there
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if token, _, _ := secrets(t, path, testKey(1)); token != botToken {
		t.Error("the login was lost")
	}
	noSecretIn(t, filepath.Dir(path))
}

func TestAnOlderFileWithSecretsWantsAKey(t *testing.T) {
	path := older(t)
	_, err := Open(path, Options{})
	if f, ok := errors.AsType[*FieldError](err); !ok || f.Field != "BELFRY_KEY_FILE" {
		t.Errorf("got %v", err)
	}
	if token, _, _ := secrets(t, path, testKey(1)); token != botToken {
		t.Error("the login was lost")
	}
}

func TestABackupGivesItsLoginsToWhomHasTheKeyOrThePassphrase(t *testing.T) {
	db := newDB(t, Options{Key: testKey(1)})
	putLogin(t, db)
	dir := t.TempDir()
	plain, sealed := filepath.Join(dir, "plain"), filepath.Join(dir, "sealed")
	if err := errors.Join(db.Backup(plain), db.BackupSealed(sealed, "correct horse")); err != nil {
		t.Fatal(err)
	}
	noSecretIn(t, dir)
	restored := func(from string) (token string, notes string) {
		t.Helper()
		to := filepath.Join(t.TempDir(), "belfry.db")
		opts := Options{Key: testKey(2), Passphrase: "correct horse", Note: func(s string) { notes += s }}
		if _, err := Restore(t.Context(), from, to, opts); err != nil {
			t.Fatal(err)
		}
		noSecretIn(t, filepath.Dir(to))
		token, _, _ = secrets(t, to, testKey(2))
		return token, notes
	}
	if token, notes := restored(plain); token != "" || !strings.Contains(notes, "key file") {
		t.Errorf("a plain copy on another machine: %q, noted %q", token, notes)
	}
	if token, notes := restored(sealed); token != botToken || notes != "" {
		t.Errorf("a sealed backup on another machine: %q, noted %q", token, notes)
	}
}

func TestSecretsOfSettingsAndWebhooksAreSealedAndComeAlongWithASealedBackup(t *testing.T) {
	db := newDB(t, Options{Key: testKey(1)})
	mustUpdate(t, db, func(tx *Tx) error {
		return errors.Join(tx.Settings.SetSecret("application", "too early"), tx.Settings.SetSecret("application", botToken),
			tx.OwnJobs.Put(&OwnJob{Trigger: Trigger{Every: time.Hour}, Action: Action{Type: ActionWebhook, Secret: botToken}}),
			tx.Jobs.Put(&Job{Name: "job_1", Kind: OwnJobKind, Subject: 1, Lane: "job_1", Trigger: Trigger{Every: time.Hour}, State: JobPaused}),
			tx.Watches.Put(&Watch{Action: WatchWebhook, Secret: botToken}))
	})
	dir := t.TempDir()
	sealed, to := filepath.Join(dir, "sealed"), filepath.Join(t.TempDir(), "belfry.db")
	if err := errors.Join(db.Backup(filepath.Join(dir, "plain")), db.BackupSealed(sealed, "correct horse")); err != nil {
		t.Fatal(err)
	}
	noSecretIn(t, dir)
	if _, err := Restore(t.Context(), sealed, to, Options{Key: testKey(2), Passphrase: "correct horse"}); err != nil {
		t.Fatal(err)
	}
	noSecretIn(t, filepath.Dir(to))
	for key, want := range map[byte]string{2: botToken, 3: ""} {
		var notes string
		db, err := Open(to, Options{Key: testKey(key), Note: func(s string) { notes += s }})
		if err != nil {
			t.Fatal(err)
		}
		mustUpdate(t, db, func(tx *Tx) error {
			secret, err1 := tx.Settings.Secret("application")
			job, err2 := tx.OwnJobs.Get(1)
			watch, err3 := tx.Watches.Get(1)
			if secret != want || job.Action.Secret != want || watch.Secret != want {
				t.Errorf("with key %d they are %q, %q and %q", key, secret, job.Action.Secret, watch.Secret)
			}
			return errors.Join(err1, err2, err3)
		})
		if told := strings.Contains(notes, "3 secrets of webhooks and settings"); told != (want == "") {
			t.Errorf("with key %d it is noted: %q", key, notes)
		}
		mustVerify(t, db)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
