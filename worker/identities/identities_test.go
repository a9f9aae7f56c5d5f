package identities

import (
	"errors"
	"path/filepath"
	"testing"

	"belfry/store"
)

const token = "123456789:AAEabcdefghijklmnopqrstuvwxyz"

func newDB(t *testing.T) *store.DB {
	t.Helper()
	db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{Key: make([]byte, store.KeySize)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if problems, err := db.Verify(); err != nil || len(problems) > 0 {
			t.Errorf("verify: %v, %v", problems, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func update(t *testing.T, db *store.DB, fn func(*store.Tx) error) {
	t.Helper()
	if err := db.Update(fn); err != nil {
		t.Fatal(err)
	}
}

func TestAddRefusesByField(t *testing.T) {
	db := newDB(t)
	update(t, db, func(tx *store.Tx) error {
		_, err := Add(tx, Request{Platform: "telegram", Token: token})
		return err
	})
	for field, r := range map[string]Request{
		"platform": {Platform: "myspace", Token: token},
		"kind":     {Platform: "telegram", Kind: "cat", Token: token},
		"token":    {Platform: "telegram", Name: "a", Token: "my bot"},
		"name":     {Platform: "telegram", Name: "main", Token: token},
	} {
		err := db.Update(func(tx *store.Tx) error {
			_, err := Add(tx, r)
			return err
		})
		if f, ok := errors.AsType[*store.FieldError](err); !ok || f.Field != field {
			t.Errorf("%s: got %v", field, err)
		}
	}
}

func TestAnotherTokenForgetsWhatTheOldOneLearned(t *testing.T) {
	db := newDB(t)
	var id uint64
	update(t, db, func(tx *store.Tx) error {
		i, err := Add(tx, Request{Platform: "telegram", Token: token})
		id = i.ID
		return errors.Join(err, tx.Sessions.Put(&store.Session{IdentityID: id, Data: []byte("key")}),
			tx.Peers.Put(&store.Peer{IdentityID: id, Type: store.PeerChannel, PeerID: 1}))
	})
	update(t, db, func(tx *store.Tx) error {
		_, err := Configure(tx, Main, token, "@channel")
		return err
	})
	update(t, db, func(tx *store.Tx) error {
		_, err := tx.Sessions.Of(id)
		return err // the same token: still there
	})
	update(t, db, func(tx *store.Tx) error {
		_, err := Configure(tx, Main, token+"x", "")
		return err
	})
	update(t, db, func(tx *store.Tx) error {
		if _, err := tx.Sessions.Of(id); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("the session is still there: %v", err)
		}
		i, err := tx.Identities.Get(id)
		if i.State != store.IdentityNew || i.Target != "@channel" {
			t.Errorf("identity %+v", i)
		}
		return err
	})
}

func TestAnIdentityThatPostsWaitForStays(t *testing.T) {
	db := newDB(t)
	var id uint64
	update(t, db, func(tx *store.Tx) error {
		i, err := Add(tx, Request{Platform: "telegram", Token: token})
		id = i.ID
		return errors.Join(err, tx.Posts.Put(&store.Post{IdentityID: id, Status: store.PostScheduled}))
	})
	err := db.Update(func(tx *store.Tx) error { return Remove(tx, id) })
	if _, ok := errors.AsType[*store.ConflictError](err); !ok {
		t.Errorf("got %v", err)
	}
	update(t, db, func(tx *store.Tx) error {
		p, err := tx.Posts.Get(1)
		p.Status = store.PostPublished
		return errors.Join(err, tx.Posts.Put(&p))
	})
	update(t, db, func(tx *store.Tx) error { return Remove(tx, id) })
}

func TestOnlyARestrictedLoginIsResumed(t *testing.T) {
	db := newDB(t)
	var bot store.Identity
	update(t, db, func(tx *store.Tx) (err error) {
		bot, err = Add(tx, Request{Platform: "telegram", Token: token})
		return err
	})
	resume := func() error {
		return db.Update(func(tx *store.Tx) error {
			_, err := Resume(tx, bot.ID)
			return err
		})
	}
	if _, ok := errors.AsType[*store.ConflictError](resume()); !ok {
		t.Error("a login that is not restricted was resumed")
	}
	update(t, db, func(tx *store.Tx) error {
		bot.State, bot.Reason = store.IdentityStopped, store.Reason{Code: store.ReasonStopped}
		return tx.Identities.Put(&bot)
	})
	if err := resume(); err != nil {
		t.Fatal(err)
	}
	err := db.View(func(tx *store.Tx) (err error) {
		bot, err = tx.Identities.Get(bot.ID)
		return err
	})
	if err != nil || bot.State != store.IdentityNew || !bot.Reason.Zero() {
		t.Errorf("%+v, %v", bot, err)
	}
}

func TestASessionOfTheSettingsIsTakenOverOnce(t *testing.T) {
	db := newDB(t)
	adopt := func(session, mark string) {
		t.Helper()
		update(t, db, func(tx *store.Tx) error { return Adopt(tx, []byte(session), mark) })
	}
	session := func() (data string, i store.Identity) {
		t.Helper()
		err := db.View(func(tx *store.Tx) (err error) {
			if i, err = tx.Identities.ByName("telegram", User); err != nil {
				return err
			}
			row, err := tx.Sessions.Of(i.ID)
			data = string(row.Data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return data, i
	}
	adopt("first", "1")
	if data, i := session(); data != "first" || i.Kind != store.IdentityUser || i.State != store.IdentityNew {
		t.Errorf("%q, %+v", data, i)
	}
	update(t, db, func(tx *store.Tx) error { // somebody has logged it in anew since
		i, err := tx.Identities.ByName("telegram", User)
		if err != nil {
			return err
		}
		row, err := tx.Sessions.Of(i.ID)
		row.Data = []byte("newer")
		return errors.Join(err, tx.Sessions.Put(&row))
	})
	adopt("first", "1")
	if data, _ := session(); data != "newer" {
		t.Errorf("a session that was taken over before came back: %q", data)
	}
	adopt("second", "2")
	if data, _ := session(); data != "newer" {
		t.Errorf("another session took the place of the first: %q", data)
	}
	adopt("first", "1") // the setting is taken back
	err := db.View(func(tx *store.Tx) error {
		all := tx.Identities.Of("telegram")
		if len(all) != 2 || all[1].Name != "user2" || !all[1].Adopted {
			t.Fatalf("logins %+v", all)
		}
		second, err := tx.Sessions.Of(all[1].ID)
		if string(second.Data) != "second" {
			t.Errorf("the second session is %q", second.Data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
