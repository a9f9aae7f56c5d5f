package identities

import (
	"errors"
	"testing"
	"time"

	"belfry/store"
)

func TestALoginThatTakesThePlaceOfAnotherDoesNotWaitForItsFlood(t *testing.T) {
	db := newDB(t)
	long := func(tx *store.Tx) time.Time { return tx.Now().Add(20 * time.Hour) }
	update(t, db, func(tx *store.Tx) error {
		i, err := Add(tx, Request{Platform: "telegram", Kind: "user"})
		if err != nil {
			return err
		}
		flood := store.Reason{Code: store.ReasonFlood, Until: long(tx)}
		return errors.Join(tx.Holds.Extend(i.Lane(), long(tx), flood), tx.Holds.Extend(i.ReadLane()+"/history", long(tx), flood), Remove(tx, i.ID))
	})
	update(t, db, func(tx *store.Tx) error {
		i, err := Add(tx, Request{Platform: "telegram", Kind: "user"})
		for _, lane := range []string{i.Lane(), i.ReadLane() + "/history"} {
			if until, why := tx.Holds.Until(lane); until.After(tx.Now()) {
				t.Errorf("a new account %q waits for %s in %s: %s", i.Name, until.Sub(tx.Now()), lane, why.Code)
			}
		}
		return err
	})
}

func TestAnotherBotDoesNotWaitForTheFloodOfTheOneBefore(t *testing.T) {
	db := newDB(t)
	update(t, db, func(tx *store.Tx) error {
		i, err := Add(tx, Request{Platform: "telegram", Token: token})
		if err != nil {
			return err
		}
		until := tx.Now().Add(5 * time.Hour)
		err = tx.Holds.Extend(i.Lane(), until, store.Reason{Code: store.ReasonFlood, Until: until})
		other := "987654321:AAEabcdefghijklmnopqrstuvwxyz"
		if _, changed := Change(tx, i.ID, Patch{Token: &other}); changed != nil {
			return changed
		}
		if until, why := tx.Holds.Until(i.Lane()); until.After(tx.Now()) {
			t.Errorf("another bot waits for %s: %s", until.Sub(tx.Now()), why.Code)
		}
		return err
	})
}

// A bot whose token was renewed, or is given again because another key has sealed it, is the same bot: who has written
// to it may be written to, and what it has to wait for it still has to.
func TestTheSameBotWithANewTokenKnowsItsClients(t *testing.T) {
	db := newDB(t)
	var i store.Identity
	update(t, db, func(tx *store.Tx) (err error) {
		if i, err = Add(tx, Request{Platform: "telegram", Token: token}); err != nil {
			return err
		}
		i.NetworkID = 123456789
		return errors.Join(tx.Identities.Put(&i), tx.Holds.Extend(i.Lane(), tx.Now().Add(time.Hour), store.Reason{Code: store.ReasonFlood}),
			tx.Peers.Put(&store.Peer{IdentityID: i.ID, Type: store.PeerUser, PeerID: 4001, AccessHash: 7, Username: "anna", Wrote: true}))
	})
	for _, c := range []struct {
		token string
		same  bool
	}{{"123456789:AAErenewedrenewedrenewedrenewed", true}, {"987654321:AAEanotheranotheranotheranother", false}} {
		update(t, db, func(tx *store.Tx) error {
			_, err := Configure(tx, Main, c.token, "")
			_, lost := tx.Peers.ByPeer(i.ID, store.PeerUser, 4001)
			until, _ := tx.Holds.Until(i.Lane())
			if (lost == nil) != c.same || until.After(tx.Now()) != c.same {
				t.Errorf("%s: the client: %v; it waits until %v", c.token, lost, until)
			}
			return err
		})
	}
}
