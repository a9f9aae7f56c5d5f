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
	db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{})
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
		"kind":     {Platform: "telegram", Kind: "user", Token: token},
		"token":    {Platform: "telegram", Name: "a", Token: "my bot"},
		"name":     {Platform: "telegram", Name: "main", Token: token},
	} {
		err := db.Update(func(tx *store.Tx) error {
			_, err := Add(tx, r)
			return err
		})
		if f, ok := errors.AsType[*store.FieldError](err); !ok || f.Field != field || f.Cure == "" {
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
	update(t, db, func(tx *store.Tx) error { return Configure(tx, token, "@channel") })
	update(t, db, func(tx *store.Tx) error {
		_, err := tx.Sessions.Of(id)
		return err // the same token: still there
	})
	update(t, db, func(tx *store.Tx) error { return Configure(tx, token+"x", "") })
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
