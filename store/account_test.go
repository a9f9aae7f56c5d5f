package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestAnAccountIsOnceOnItsSiteHoweverItIsWritten(t *testing.T) {
	db := newDB(t, Options{})
	mustUpdate(t, db, func(tx *Tx) error {
		a := Account{Site: "instagram", Username: "Alice", State: AccountPending}
		if err := tx.Accounts.Put(&a); err != nil {
			return err
		}
		if err := tx.Accounts.Put(&Account{Site: "instagram", Username: "aLICE", State: AccountPending}); !errors.Is(err, ErrExists) {
			t.Errorf("the same name again: %v", err)
		}
		if err := tx.Accounts.Put(&Account{Site: "github", Username: "alice", State: AccountPending}); err != nil {
			t.Errorf("the same name on another site: %v", err)
		}
		got, err := tx.Accounts.ByName("instagram", "ALICE")
		if err != nil || got.ID != a.ID {
			t.Errorf("found as %+v, %v", got, err)
		}
		return nil
	})
	mustVerify(t, db)
}

func TestOnlyAccountsThatAreWatchedAreNext(t *testing.T) {
	db := newDB(t, Options{})
	mustUpdate(t, db, func(tx *Tx) error {
		for i, a := range []Account{
			{Site: "instagram", State: AccountPending},
			{Site: "instagram", State: AccountFound},
			{Site: "instagram", State: AccountFound, KeepWatching: true},
			{Site: "github", State: AccountNotFound},
			{Site: "instagram", State: AccountPending},
		} {
			a.Username = fmt.Sprint("name", i+1)
			if err := tx.Accounts.Put(&a); err != nil {
				return err
			}
		}
		sites, last := tx.Accounts.Watched()
		if sites["instagram"] != 3 || sites["github"] != 1 || len(sites) != 2 || last != 5 {
			t.Errorf("watched are %v up to %d", sites, last)
		}
		var ids []uint64
		for after := uint64(0); ; {
			a, err := tx.Accounts.NextWatched("instagram", after, 4)
			if errors.Is(err, ErrNotFound) {
				break
			}
			if err != nil {
				return err
			}
			ids, after = append(ids, a.ID), a.ID
		}
		if fmt.Sprint(ids) != "[1 3]" {
			t.Errorf("in order %v", ids)
		}
		return nil
	})
}

func TestResultsThatSayTheSameAreOneRow(t *testing.T) {
	db := newDB(t, Options{})
	a := Account{Site: "instagram", Username: "alice", State: AccountPending}
	mustUpdate(t, db, func(tx *Tx) error { return tx.Accounts.Put(&a) })
	add := func(outcome AccountOutcome, changed bool) {
		mustUpdate(t, db, func(tx *Tx) error {
			err := tx.AccountResults.Add(&a, AccountResult{Outcome: outcome, State: a.State, Changed: changed, CheckID: 1})
			return errors.Join(err, tx.Accounts.Put(&a))
		})
	}
	for range 3 {
		add(OutcomeNotFound, false)
	}
	a.State = AccountFound
	add(OutcomeFound, true)
	mustUpdate(t, db, func(tx *Tx) error {
		page, err := tx.AccountResults.Of(a.ID, Query{})
		if err != nil {
			return err
		}
		if n := page.Items; len(n) != 2 || n[0].Outcome != OutcomeFound || !n[0].Changed || n[1].Times != 3 {
			t.Errorf("the history is %+v", n)
		}
		return tx.AccountResults.Forget(a.ID)
	})
	if err := db.View(func(tx *Tx) error {
		for range tx.AccountResults.All() {
			t.Error("a result is left")
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, db)
}

// An account of which nothing is new for years must not keep what is past from being forgotten.
func TestAResultIsNotExtendedForEver(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	db := newDB(t, Options{Now: func() time.Time { return now }})
	still, busy := Account{Site: "instagram", Username: "still", State: AccountPending}, Account{Site: "instagram", Username: "busy", State: AccountPending}
	mustUpdate(t, db, func(tx *Tx) error { return errors.Join(tx.Accounts.Put(&still), tx.Accounts.Put(&busy)) })
	for n := range 200 {
		mustUpdate(t, db, func(tx *Tx) error {
			err := errors.Join(
				tx.AccountResults.Add(&still, AccountResult{Outcome: OutcomeNotFound, State: still.State}),
				tx.AccountResults.Add(&busy, AccountResult{Outcome: OutcomeError, State: busy.State, Detail: fmt.Sprint("trouble ", n)}))
			return errors.Join(err, tx.Accounts.Put(&still), tx.Accounts.Put(&busy))
		})
		now = now.AddDate(0, 0, 4)
	}
	mustUpdate(t, db, func(tx *Tx) error {
		for r := range tx.AccountResults.All() {
			if age := now.Sub(r.To); age > maxResultAge+2*maxResultSpan {
				t.Errorf("after %v there is still %+v", age, r)
			}
		}
		return nil
	})
}

func TestAccountsAreFoundByAPartOfTheirNamesAndBySite(t *testing.T) {
	db := newDB(t, Options{})
	mustUpdate(t, db, func(tx *Tx) error {
		for i, name := range []string{"Anna.Writes", "hanna", "bob", "ANNABEL", "joanna"} {
			for _, site := range []string{"instagram", "x"} {
				a := Account{Site: site, Username: name, State: AccountStates()[i%2], Tag: []string{"", "press"}[i/3]}
				if err := tx.Accounts.Put(&a); err != nil {
					return err
				}
			}
		}
		return nil
	})
	for _, c := range []struct {
		filter AccountFilter
		want   string
	}{
		{AccountFilter{Name: "ANNA", Site: "x"}, "Anna.Writes ANNABEL hanna joanna"},
		{AccountFilter{Name: "anna", State: AccountPending}, "Anna.Writes Anna.Writes joanna joanna"},
		{AccountFilter{Name: "anna", State: AccountFound, Tag: "press"}, "ANNABEL ANNABEL"},
		{AccountFilter{Site: "instagram", Tag: "press"}, "ANNABEL joanna"},
		{AccountFilter{Site: "instagram"}, "Anna.Writes ANNABEL bob hanna joanna"},
		{AccountFilter{Name: "instagram"}, ""}, {AccountFilter{Site: "insta"}, ""}, {AccountFilter{Name: "x"}, ""},
	} {
		for _, limit := range []int{1, 2, 50} {
			var names []string
			for q := (Query{Limit: limit}); ; {
				var page Page[Account]
				err := db.View(func(tx *Tx) (err error) {
					page, err = tx.Accounts.List(c.filter, q)
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
				for _, a := range page.Items {
					names = append(names, a.Username)
				}
				if q.Cursor = page.Next; q.Cursor == "" {
					break
				}
			}
			if got := strings.Join(names, " "); got != c.want {
				t.Errorf("%+v, %d at a time: %q, not %q", c.filter, limit, got, c.want)
			}
		}
	}
}

// What a filter leaves out is not even read: of 100,000 accounts that takes half a second.
func TestAFilterReadsOnlyTheAccountsThatItFinds(t *testing.T) {
	db := newDB(t, Options{})
	names := []string{"anna", "bob", "carol"}
	mustUpdate(t, db, func(tx *Tx) error {
		for _, name := range names {
			if err := tx.Accounts.Put(&Account{Site: "instagram", Username: name, State: AccountPending, Tag: "press"}); err != nil {
				return err
			}
		}
		return nil
	})
	for id := range names {
		spoil(t, db, "accounts", uint64(id)+1) // a row that is read is told as damaged
		defer spoil(t, db, "accounts", uint64(id)+1)
	}
	list := func(f AccountFilter) {
		t.Helper()
		err := db.View(func(tx *Tx) error {
			_, err := tx.Accounts.List(f, Query{Limit: 50})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []AccountFilter{
		{Name: "nobody"}, {Site: "x"}, {Site: "x", Name: "anna"}, {State: AccountPending, Name: "nobody"}, {Tag: "press", Site: "x"},
		{State: AccountPending, Tag: "press", Name: "nobody"},
	} {
		if list(f); len(db.Damaged()) > 0 {
			t.Fatalf("%+v: read were %v", f, db.Damaged())
		}
	}
	if list(AccountFilter{Name: "ann"}); len(db.Damaged()) != 1 {
		t.Errorf("read were %v", db.Damaged())
	}
}
