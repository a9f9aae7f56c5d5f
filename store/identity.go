package store

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Identity is a login that Belfry acts as.
type Identity struct {
	ID       uint64       `json:"id"`
	Name     string       `json:"name"`     // what the owner calls it; a part of its lane's name
	Platform string       `json:"platform"` // telegram, instagram or twitter
	Kind     IdentityKind `json:"kind"`
	Secret   string       `json:"secret,omitempty"` // what it logs in with, such as a bot's token; never shown, and sealed in the file
	Sealed   string       `json:"sealed,omitempty"` // not empty: the secret, sealed with another key
	Target   string       `json:"target,omitempty"` // where its posts go unless they say otherwise

	// Window is how many posts it may send, such as 30/1h; empty: as the settings say.
	Window string `json:"window,omitempty"`
	// Slots are the times of its queue: a post that is queued takes the next one at which its channel has none.
	Slots []Slot `json:"slots,omitempty"`
	// Expires is when what it logs in with ends unless it is refreshed; zero: never, or not known.
	Expires time.Time `json:"expires,omitzero"`

	State     IdentityState `json:"state"`
	Reason    Reason        `json:"reason,omitzero"`      // why it is in that state
	NetworkID int64         `json:"network_id,omitempty"` // its id on the network
	Username  string        `json:"username,omitempty"`
	Title     string        `json:"title,omitempty"`   // the name that readers see
	Adopted   bool          `json:"adopted,omitempty"` // its session came from the settings, and nobody knows yet whose it is

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Slot is times of day on days of the week.
type Slot struct {
	Times []string `json:"times"`          // 15:04
	Days  []int    `json:"days,omitempty"` // 1 is Monday, 7 is Sunday; empty means each day
	Zone  string   `json:"zone"`           // IANA name
}

// Trigger names the times of the slot.
func (s Slot) Trigger() Trigger { return Trigger{Times: s.Times, Weekdays: s.Days, Zone: s.Zone} }

// IdentityKind says what kind of login it is.
type IdentityKind string

// IdentityState says whether an identity can act.
type IdentityState string

// The kinds and states of an identity.
const (
	IdentityBot  IdentityKind = "bot"
	IdentityUser IdentityKind = "user"
	// IdentityProfile is an account of Instagram or X.
	IdentityProfile IdentityKind = "profile"

	IdentityNew     IdentityState = "new"     // has not logged in yet
	IdentityReady   IdentityState = "ready"   // logged in
	IdentityLogin   IdentityState = "login"   // has to be logged in again by a person
	IdentityStopped IdentityState = "stopped" // restricted by the network
)

// Lane is the lane of everything that acts as the identity.
func (i Identity) Lane() string { return i.Platform + ":" + i.Name }

// NamesLane is the lane under which it is kept how long the identity may look no names up. What it sends is not held
// by that.
func (i Identity) NamesLane() string { return "names:" + i.Lane() }

// Identities is the table of identities.
type Identities struct{ Table[Identity] }

func identityTable() def[Identity] {
	return def[Identity]{
		name:  "identities",
		id:    func(i *Identity) *uint64 { return &i.ID },
		valid: (*Identity).validate,
		secret: func(i *Identity) secret {
			return secret{[]byte(i.Secret), func(plain []byte) { i.Secret = string(plain) }, &i.Sealed}
		},
		cache: new(cache[Identity]),
		indexes: []Index[Identity]{
			{Name: "name", Unique: true, Key: func(i *Identity, k key) key { return k.str(i.Platform).str(i.Name) }},
		},
	}
}

func (i *Identity) validate() error {
	const first = "abcdefghijklmnopqrstuvwxyz0123456789"
	if i.Name == "" || len(i.Name) > 32 || strings.Trim(i.Name, first+"-_") != "" ||
		!strings.ContainsRune(first, rune(i.Name[0])) {
		return Invalid("name", "invalid.identity_name", i.Name)
	}
	return nil
}

// Out reports whether an identity cannot act any more, and returns the alert about it. One that waits for its
// first login, or was logged out by its owner, needs none.
func (i Identity) Out() (Alert, bool) {
	out := (i.State == IdentityLogin || i.State == IdentityStopped) && !i.Reason.Zero()
	return Alert{Kind: AlertLogin, About: fmt.Sprint("login_", i.ID), Subject: i.ID, Name: i.Name, Reason: i.Reason}, out
}

// Put writes an identity. That it cannot act any more raises an alert. If it can, the lanes that are held because it
// could not go on at once; so do posts that wait for a window that it has no more.
func (t Identities) Put(i *Identity) error {
	before, known := t.Get(i.ID)
	if err := t.Table.Put(i); err != nil {
		return err
	}
	if known == nil && before.Window != i.Window {
		if err := t.in().Posts.LookAgain(i.ID); err != nil {
			return err
		}
	}
	if a, out := i.Out(); out {
		return t.in().Alerts.Raise(a)
	}
	if i.State == IdentityLogin || i.State == IdentityStopped {
		return nil
	}
	return t.in().Holds.EndAwait(i.ID)
}

// Delete removes an identity. What waits for it goes on, and finds that it is gone.
func (t Identities) Delete(id uint64) error {
	i, err := t.Get(id)
	if err == nil {
		err = t.EndWaits(i)
	}
	if errors.Is(err, ErrNotFound) || IsCorrupt(err) {
		err = nil
	}
	return errors.Join(err, t.Table.Delete(id), t.in().Holds.EndAwait(id))
}

// EndWaits ends what a network has asked an account to wait for: another one takes its place, or may take its name.
func (t Identities) EndWaits(i Identity) error {
	lanes := []string{i.Lane(), i.ReadLane(), i.NamesLane(), bookingLane(i.ID), Notice{IdentityID: i.ID}.Lane()}
	for _, h := range slices.Collect(t.in().Holds.All()) {
		if lane, _, _ := strings.Cut(h.Lane, "/"); h.Login != 0 || !slices.Contains(lanes, lane) {
			continue
		}
		if err := t.in().Holds.Delete(h.ID); err != nil {
			return err
		}
	}
	return nil
}

// ByName returns the identity of a platform with the given name, or [ErrNotFound].
func (t Identities) ByName(platform, name string) (Identity, error) {
	return t.first("name", key(nil).str(platform).str(name))
}

// Of yields the identities of a platform in the order of their names.
func (t Identities) Of(platform string) []Identity {
	prefix := key(nil).str(platform)
	return collect(t.scan("name", prefix, prefix.next()), 1000)
}

// Count returns how many identities a platform has, those included that are damaged.
func (t Identities) Count(platform string) int {
	return t.count("name", key(nil).str(platform), 1000)
}
