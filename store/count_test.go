package store

import (
	"fmt"
	"testing"
)

func TestRowsAreCountedByWhatTheyAre(t *testing.T) {
	db := newDB(t, Options{})
	counted := func() (all []Count) {
		if err := db.View(func(tx *Tx) error { all = tx.Posts.Counts(); return nil }); err != nil {
			t.Fatal(err)
		}
		return all
	}
	mustUpdate(t, db, func(tx *Tx) error {
		for i := range 5 {
			p := Post{Platform: "telegram", Status: PostScheduled}
			if i == 0 {
				p.Platform = "twitter"
			}
			if err := tx.Posts.Put(&p); err != nil {
				return err
			}
		}
		p, err := tx.Posts.Get(2)
		if err != nil {
			return err
		}
		p.Status = PostPublished
		return tx.Posts.Put(&p)
	})
	if got := fmt.Sprint(counted()); got != "[{[telegram published] 1} {[telegram scheduled] 3} {[twitter scheduled] 1}]" {
		t.Errorf("counted %s", got)
	}
	mustUpdate(t, db, func(tx *Tx) error { return tx.Posts.Delete(2) })
	if got := fmt.Sprint(counted()); got != "[{[telegram scheduled] 3} {[twitter scheduled] 1}]" {
		t.Errorf("after one was deleted, counted %s", got)
	}
	mustVerify(t, db)
}
