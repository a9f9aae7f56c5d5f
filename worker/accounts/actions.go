package accounts

import (
	"cmp"
	"errors"
	"regexp"
	"strings"
	"unicode/utf8"

	"belfry/platform/profile"
	"belfry/store"
)

// DefaultSite is the site of an account whose site nobody names.
const DefaultSite = "instagram"

// Request is an account as somebody asks for it to be watched.
type Request struct {
	Site         string // empty: instagram
	Username     string // with or without @, or the address of the profile
	Note         string
	Tag          string
	OwnerChat    string // who is told beside the admins: @name or an id
	KeepWatching bool   // also when it is found
}

// Change is what is to be changed of an account; nil leaves a part as it is.
type Change struct {
	Note         *string
	Tag          *string
	OwnerChat    *string
	KeepWatching *bool
}

const (
	maxNote = 500 // characters
	maxTag  = 50
)

// chatForm is what names a chat: a name, or an id in the notation of bots.
var chatForm = regexp.MustCompile(`^(@[A-Za-z][A-Za-z0-9_]{3,31}|-?[1-9][0-9]{0,18})$`)

// Add has an account watched from the next check on. The error is a [*store.FieldError], or a
// [*store.ConflictError] if it is already watched.
func (w *Worker) Add(tx *store.Tx, r Request) (store.Account, error) {
	rules := w.Rules(tx)
	a, err := read(rules, r)
	if err != nil {
		return a, err
	}
	known, err := add(tx, &a)
	if err == nil && known {
		return a, store.Conflict("conflict.watched", a.Username, a.Site, a.ID)
	}
	if err != nil {
		return a, err
	}
	_, err = w.put(tx)
	return a, err
}

// read checks a request and makes an account of it.
func read(rules profile.Rules, r Request) (store.Account, error) {
	site := siteOf(r)
	rule, ok := rules[site]
	if !ok {
		return store.Account{}, store.Invalid("site", "invalid.site", site, strings.Join(rules.Sites(), ", "))
	}
	a := store.Account{Site: site, Username: rule.Name(r.Username), State: store.AccountPending, KeepWatching: r.KeepWatching,
		Note: strings.TrimSpace(r.Note), Tag: strings.TrimSpace(r.Tag), OwnerChat: strings.TrimSpace(r.OwnerChat)}
	if !rule.Fits(a.Username) {
		return a, store.Invalid("username", "invalid.not_username", short(r.Username), site)
	}
	return a, checkTexts(a)
}

// siteOf is the site that a request is about.
func siteOf(r Request) string {
	return strings.ToLower(strings.TrimSpace(cmp.Or(r.Site, DefaultSite)))
}

func checkTexts(a store.Account) error {
	for _, part := range []struct{ field, text string }{{"note", a.Note}, {"tag", a.Tag}} {
		if !isText(part.text) {
			return store.Invalid(part.field, "invalid.not_utf8")
		}
	}
	switch {
	case utf8.RuneCountInString(a.Note) > maxNote:
		return store.Invalid("note", "invalid.too_long", 500)
	case utf8.RuneCountInString(a.Tag) > maxTag:
		return store.Invalid("tag", "invalid.too_long", 50)
	case a.OwnerChat != "" && !chatForm.MatchString(a.OwnerChat):
		return store.Invalid("owner_chat", "invalid.owner_chat", short(a.OwnerChat))
	}
	return nil
}

// isText reports whether a text is UTF-8. UTF-16 may look as if it were, and has characters of 0.
func isText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// add writes an account, or reads the one with its name if it is known.
func add(tx *store.Tx, a *store.Account) (known bool, err error) {
	old, err := tx.Accounts.ByName(a.Site, a.Username)
	if err == nil {
		*a = old
		return true, nil
	}
	if !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	a.CreatedAt, a.UpdatedAt = tx.Now(), tx.Now()
	return false, tx.Accounts.Put(a)
}

// Change changes what people say of an account.
func (w *Worker) Change(tx *store.Tx, id uint64, c Change) (store.Account, error) {
	a, err := tx.Accounts.Get(id)
	if err != nil {
		return a, err
	}
	for _, part := range []struct {
		to   *string
		from *string
	}{{&a.Note, c.Note}, {&a.Tag, c.Tag}, {&a.OwnerChat, c.OwnerChat}} {
		if part.from != nil {
			*part.to = strings.TrimSpace(*part.from)
		}
	}
	if c.KeepWatching != nil {
		a.KeepWatching = *c.KeepWatching
	}
	if err := checkTexts(a); err != nil {
		return a, err
	}
	a.UpdatedAt = tx.Now()
	return a, tx.Accounts.Put(&a)
}

// Remove forgets an account and its history. A check that is under way goes on without it.
func (w *Worker) Remove(tx *store.Tx, id uint64) error {
	if err := tx.Accounts.Delete(id); err != nil {
		return err
	}
	return tx.AccountResults.Forget(id)
}

// short keeps foreign words short.
func short(text string) string { return store.Shorten(text, 60) }
