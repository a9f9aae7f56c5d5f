package store

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Account is a profile that is watched: somebody's name on a site.
type Account struct {
	ID           uint64 `json:"id"`
	Site         string `json:"site"`     // which rule describes it, such as instagram
	Username     string `json:"username"` // without @; upper and lower case are the same name
	Note         string `json:"note,omitempty"`
	Tag          string `json:"tag,omitempty"`
	OwnerChat    string `json:"owner_chat,omitempty"` // who is told beside the admins
	KeepWatching bool   `json:"keep_watching,omitempty"`

	// State is what is believed, and Outcome what the last check of the account came to: one that
	// failed changes nothing that is believed.
	State     AccountState   `json:"state"`
	Outcome   AccountOutcome `json:"outcome,omitempty"`
	Detail    string         `json:"detail,omitempty"`   // the words for the last outcome
	Failures  int            `json:"failures,omitempty"` // checks that failed in a row
	Latest    uint64         `json:"latest,omitempty"`   // its latest result
	CheckedAt time.Time      `json:"checked_at,omitzero"`
	FoundAt   time.Time      `json:"found_at,omitzero"`   // when it was found for the first time
	ChangedAt time.Time      `json:"changed_at,omitzero"` // when its state last changed
	CreatedAt time.Time      `json:"created_at"`
	UpdatedAt time.Time      `json:"updated_at"`
}

// AccountState is what is believed of an account.
type AccountState string

// The states of an account.
const (
	AccountPending  AccountState = "pending"   // has never been found, and is looked for
	AccountFound    AccountState = "found"     // exists
	AccountNotFound AccountState = "not_found" // existed, and has vanished
)

// AccountStates are all states, in the order in which an account may pass through them.
func AccountStates() []AccountState {
	return []AccountState{AccountPending, AccountFound, AccountNotFound}
}

// AccountOutcome is what one check of an account came to.
type AccountOutcome string

// The outcomes of a check.
const (
	OutcomeFound    AccountOutcome = "found"
	OutcomeNotFound AccountOutcome = "not_found"
	OutcomeError    AccountOutcome = "error" // the site would not say
)

// Watched reports whether the account is looked at in the next check.
func (a Account) Watched() bool { return a.State != AccountFound || a.KeepWatching }

// Accounts is the table of accounts.
type Accounts struct{ Table[Account] }

func accountTable() def[Account] {
	return def[Account]{
		name:  "accounts",
		id:    func(a *Account) *uint64 { return &a.ID },
		valid: (*Account).validate,
		indexes: []Index[Account]{
			{Name: "name", Unique: true, Key: func(a *Account, k key) key { return accountKey(a.Site, a.Username) }},
			{Name: "state", Key: func(a *Account, k key) key { return k.str(string(a.State)) }},
			{Name: "counts", Counted: true, Key: func(a *Account, k key) key { return k.str(string(a.State)) }},
			{Name: "tag", Key: func(a *Account, k key) key {
				if a.Tag == "" {
					return nil
				}
				return k.str(a.Tag).str(string(a.State))
			}},
			{Name: "watched", Key: func(a *Account, k key) key {
				if !a.Watched() {
					return nil
				}
				return k.str(a.Site)
			}},
		},
	}
}

func accountKey(site, username string) key {
	return key(nil).str(site).str(strings.ToLower(username))
}

func (a *Account) validate() error {
	switch {
	case a.Site == "":
		return Invalid("site", "invalid.empty")
	case a.Username == "" || strings.HasPrefix(a.Username, "@"):
		return Invalid("username", "invalid.username")
	case !slices.Contains(AccountStates(), a.State):
		return fmt.Errorf("account %d: no state is called %q", a.ID, a.State)
	}
	return nil
}

// ByName returns the account with a name on a site, however it is written, or [ErrNotFound].
func (t Accounts) ByName(site, username string) (Account, error) {
	return t.first("name", accountKey(site, username))
}

// AccountFilter narrows a list of accounts. What is empty narrows nothing.
type AccountFilter struct {
	State AccountState
	Tag   string
	Site  string
	Name  string // a part of the name, in upper or lower case
}

// List returns accounts in the order in which they were added, those with a tag by state first; or,
// if neither narrows the list, in the order of site and name. Which have the site and the name is read from
// an index, without reading the accounts.
func (t Accounts) List(f AccountFilter, q Query) (page Page[Account], err error) {
	index, prefix := "name", key(nil)
	switch {
	case f.Tag != "" && f.State != "":
		index, prefix = "tag", prefix.str(f.Tag).str(string(f.State))
	case f.Tag != "":
		index, prefix = "tag", prefix.str(f.Tag)
	case f.State != "":
		index, prefix = "state", prefix.str(string(f.State))
	case f.Site != "":
		prefix = prefix.str(f.Site)
	}
	if f.Name == "" && (f.Site == "" || index == "name") {
		return t.page(index, prefix, q, false)
	}
	after, err := base64.RawURLEncoding.DecodeString(q.Cursor)
	if err != nil || len(after) > 0 && !bytes.HasPrefix(after, prefix) {
		return page, errCursor()
	}
	named := t.withName(f)
	from := prefix
	if len(after) > 0 {
		from = append(after, 0)
	}
	for entry := range t.entries(index, from, prefix.next()) {
		if !named[entryID(entry)] {
			continue
		}
		a, err := t.named(index, entry)
		if err != nil {
			continue
		}
		if len(page.Items) == q.limit() {
			page.Next = base64.RawURLEncoding.EncodeToString(after)
			break
		}
		page.Items, after = append(page.Items, a), bytes.Clone(entry)
	}
	return page, nil
}

// withName returns the ids of the accounts that have the site and the name of a filter.
func (t Accounts) withName(f AccountFilter) map[uint64]bool {
	ids, prefix, name := make(map[uint64]bool), key(nil), []byte(strings.ToLower(f.Name))
	if f.Site != "" {
		prefix = prefix.str(f.Site)
	}
	for entry := range t.entries("name", prefix, prefix.next()) {
		has := entryKey(entry)[len(prefix):]
		if f.Site == "" {
			_, has, _ = bytes.Cut(has, []byte{0, 1})
		}
		if bytes.Contains(has, name) {
			ids[entryID(entry)] = true
		}
	}
	return ids
}

// Count returns how many accounts are in a state, and counts no further than limit.
func (t Accounts) Count(state AccountState, limit int) int {
	return t.count("state", key(nil).str(string(state)), limit)
}

// Watched returns how many accounts of each site are looked at in the next check, without reading
// them, and the highest id among them.
func (t Accounts) Watched() (sites map[string]int, last uint64) {
	sites = make(map[string]int)
	for entry := range t.entries("watched", nil, nil) {
		k := entryKey(entry)
		if len(k) < 2 { // damaged
			continue
		}
		sites[strings.ReplaceAll(string(k[:len(k)-2]), "\x00\xff", "\x00")]++
		last = max(last, entryID(entry))
	}
	return sites, last
}

// AnyWatched reports whether there is an account that is looked at in the next check.
func (t Accounts) AnyWatched() bool {
	for range t.entries("watched", nil, nil) {
		return true
	}
	return false
}

// NextWatched returns the first account of a site that is looked at in checks and whose id is more
// than after and not more than last, or [ErrNotFound].
func (t Accounts) NextWatched(site string, after, last uint64) (Account, error) {
	prefix := key(nil).str(site)
	for entry := range t.entries("watched", slices.Clip(prefix).uint(after+1), prefix.next()) {
		if entryID(entry) > last {
			break
		}
		if a, err := t.named("watched", entry); err == nil {
			return a, nil
		}
	}
	return Account{}, fmt.Errorf("an account of %s to look at: %w", site, ErrNotFound)
}

// AccountResult is what checks of an account came to, as long as they came to the same, and for a month
// at most.
type AccountResult struct {
	ID        uint64         `json:"id"`
	AccountID uint64         `json:"account_id"`
	Outcome   AccountOutcome `json:"outcome"`
	State     AccountState   `json:"state"`             // what was believed then
	Changed   bool           `json:"changed,omitempty"` // the first of them changed what was believed
	Status    int            `json:"status,omitempty"`  // of the site's answer, if it had one
	Detail    string         `json:"detail,omitempty"`
	From      time.Time      `json:"from"`
	To        time.Time      `json:"to"`
	Times     int            `json:"times"` // how many checks
	CheckID   uint64         `json:"check_id"`
}

// AccountResults is the history of the accounts.
type AccountResults struct{ Table[AccountResult] }

// The history keeps this much, and is trimmed as that of the jobs is. A result spans no longer than
// this: one that went on for ever would keep those after it from being forgotten by their age.
const (
	maxResults    = 200_000
	maxResultAge  = 365 * 24 * time.Hour
	maxResultSpan = 30 * 24 * time.Hour
)

func accountResultTable() def[AccountResult] {
	return def[AccountResult]{
		name: "account_results",
		id:   func(r *AccountResult) *uint64 { return &r.ID },
		indexes: []Index[AccountResult]{
			{Name: "account", Key: func(r *AccountResult, k key) key { return k.uint(r.AccountID) }},
		},
	}
}

// Add adds a result to an account's history: to its latest one, if that came to the same. It notes
// in the account which one is the latest; the caller puts the account.
func (t AccountResults) Add(a *Account, r AccountResult) error {
	r.AccountID, r.From, r.To, r.Times = a.ID, t.in().Now(), t.in().Now(), 1
	if a.Latest != 0 && !r.Changed {
		if last, err := t.Get(a.Latest); err == nil && r.From.Sub(last.From) < maxResultSpan && last.Outcome == r.Outcome && last.State == r.State && last.Status == r.Status && last.Detail == r.Detail {
			last.To, last.CheckID = r.To, r.CheckID
			last.Times++
			return t.Put(&last)
		}
	}
	if err := t.Put(&r); err != nil {
		return err
	}
	a.Latest = r.ID
	return trim(t.Table, r.ID, maxResults, func(past *AccountResult) bool { return t.in().Now().Sub(past.To) >= maxResultAge })
}

// Of returns the history of an account, the latest first.
func (t AccountResults) Of(accountID uint64, q Query) (Page[AccountResult], error) {
	return t.page("account", key(nil).uint(accountID), q, true)
}

// Forget deletes the history of an account.
func (t AccountResults) Forget(accountID uint64) error {
	prefix := key(nil).uint(accountID)
	for entry := range t.entries("account", prefix, prefix.next()) {
		if err := t.Delete(entryID(entry)); err != nil && !IsCorrupt(err) {
			return err
		}
	}
	return nil
}
