package identities

import (
	"slices"
	"time"

	"belfry/store"
)

// Connection is the state of an identity's connection to its network.
type Connection struct {
	Identity  string // the identity's name
	Platform  string
	Connected bool
	Since     time.Time // when it came to be connected, or not; zero if it never was
	Problem   string    // why it is not connected, in the network's words; empty if it is
}

// ConnectionOf returns what the adapter says about an identity, and false if it says nothing.
func ConnectionOf(all []Connection, i store.Identity) (Connection, bool) {
	for _, c := range all {
		if c.Platform == i.Platform && c.Identity == i.Name {
			return c, true
		}
	}
	return Connection{}, false
}

// List returns the identities in the order in which they were added.
func List(db *store.DB) (rows []store.Identity, err error) {
	err = db.View(func(tx *store.Tx) error {
		rows = slices.Collect(tx.Identities.All())
		return nil
	})
	return rows, err
}

// Users returns the identities that are user accounts.
func Users(db *store.DB) (users []store.Identity, err error) {
	all, err := List(db)
	for _, i := range all {
		if i.Kind == store.IdentityUser {
			users = append(users, i)
		}
	}
	return users, err
}
