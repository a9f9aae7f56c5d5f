package store

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// audited returns the actions of the entries that a filter finds, the latest first.
func audited(t *testing.T, db *DB, f AuditFilter, q Query) (actions []string, next string) {
	t.Helper()
	err := db.View(func(tx *Tx) error {
		page, err := tx.Audit.Find(f, q)
		for _, e := range page.Items {
			actions = append(actions, e.Action)
		}
		next = page.Next
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return actions, next
}

func TestTheAuditIsFilteredInPages(t *testing.T) {
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	db := newDB(t, Options{Now: func() time.Time { return now }})
	for i, e := range []AuditEntry{
		{Actor: "page", Door: DoorPage, Action: "posts.create"},
		{Actor: "curator", Door: DoorAPI, Action: "posts.delete"},
		{Actor: "curator", Door: DoorAPI, Action: "postscript"},
		{Actor: "42", Door: DoorBot, Action: "posts.cancel"},
	} {
		now = now.Add(time.Hour)
		mustUpdate(t, db, func(tx *Tx) error { return tx.Audit.Add(e) })
		if i == 1 {
			now = now.Add(24 * time.Hour)
		}
	}
	begin := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		filter AuditFilter
		want   string
	}{
		{AuditFilter{}, "[posts.cancel postscript posts.delete posts.create]"},
		{AuditFilter{Action: "posts"}, "[posts.cancel posts.delete posts.create]"},
		{AuditFilter{Action: "posts.cancel"}, "[posts.cancel]"},
		{AuditFilter{Actor: "curator", Door: "api"}, "[postscript posts.delete]"},
		{AuditFilter{Since: begin.Add(2 * time.Hour)}, "[posts.cancel postscript posts.delete]"},
		{AuditFilter{Until: begin.Add(2 * time.Hour)}, "[posts.create]"},
		{AuditFilter{Actor: "nobody"}, "[]"},
	} {
		if got, _ := audited(t, db, c.filter, Query{}); fmt.Sprint(got) != c.want {
			t.Errorf("%+v: %v, want %s", c.filter, got, c.want)
		}
	}
	first, next := audited(t, db, AuditFilter{}, Query{Limit: 3})
	second, end := audited(t, db, AuditFilter{}, Query{Limit: 3, Cursor: next})
	if len(first) != 3 || fmt.Sprint(second) != "[posts.create]" || end != "" {
		t.Errorf("pages %v and %v, then %q", first, second, end)
	}
}

func TestTheAuditIsBoundedByAgeAndNumber(t *testing.T) {
	if testing.Short() {
		t.Skip("100,000 entries")
	}
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	db := newDB(t, Options{Now: func() time.Time { return now }})
	add := func(n int) {
		mustUpdate(t, db, func(tx *Tx) error {
			for range n {
				if err := tx.Audit.Add(AuditEntry{Actor: "page", Door: DoorPage, Action: "posts.create", Result: AuditDone}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	count := func() (n int) {
		err := db.View(func(tx *Tx) error {
			for range tx.Audit.All() {
				n++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	add(100)
	now = now.Add(366 * 24 * time.Hour)
	add(64)
	if n := count(); n != 64 {
		t.Errorf("%d entries are left, 64 of them from this year", n)
	}
	add(maxAudit)
	if n := count(); n > 100_000 {
		t.Errorf("%d entries are kept", n)
	}
	pages := 1
	found, next := audited(t, db, AuditFilter{Actor: "nobody"}, Query{})
	for ; len(found) == 0 && next != ""; pages++ {
		if found, next = audited(t, db, AuditFilter{Actor: "nobody"}, Query{Cursor: next}); len(found) > 0 {
			t.Errorf("found %v", found)
		}
	}
	if pages != 5 {
		t.Errorf("a filter that finds nothing was answered in %d pages", pages)
	}
	mustVerify(t, db)
}

func TestWhatFollowsACommitIsCalledOnceAndOnlyThen(t *testing.T) {
	db := newDB(t, Options{})
	done, undone := 0, 0
	mustUpdate(t, db, func(tx *Tx) error {
		tx.After(func() { done++ })
		return tx.Settings.Set("a", "b")
	})
	refused := errors.New("refused")
	for name, fn := range map[string]func(*Tx) error{
		"before it wrote": func(*Tx) error { return refused },
		"after it wrote":  func(tx *Tx) error { return errors.Join(tx.Settings.Set("a", "c"), refused) },
	} {
		err := db.Update(func(tx *Tx) error {
			tx.After(func() { undone++ })
			return fn(tx)
		})
		if !errors.Is(err, refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if done != 1 || undone != 0 {
		t.Errorf("after a commit it was called %d times, after none %d times", done, undone)
	}
}
