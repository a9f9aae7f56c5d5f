package session

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"
	"golang.org/x/crypto/argon2"

	"belfry/store"
)

// passwordSetting is the setting that holds the hash of the page's password.
const passwordSetting = "page.password"

// The cost of a password's hash: argon2id as OWASP recommends it for small servers.
const (
	argonMemory  = 19 << 10 // KiB
	argonTime    = 2
	argonThreads = 1
	argonKey     = 32 // bytes
	argonSalt    = 16 // bytes
	argonPrefix  = "$argon2id$v=19$m=19456,t=2,p=1$"

	// maxHashes bounds the hashes that are computed at once, and so their memory.
	maxHashes = 2
)

// The length of a password, in characters and in bytes.
const (
	minPassword = 8
	maxPassword = 1024
)

// doorkeeper hashes passwords and compares them, a few at a time. Make it with [newDoorkeeper].
type doorkeeper struct{ turns chan struct{} }

func newDoorkeeper() doorkeeper { return doorkeeper{make(chan struct{}, maxHashes)} }

// hash returns what is kept of a password.
func (d doorkeeper) hash(password string) string {
	salt := make([]byte, argonSalt)
	rand.Read(salt) // does not fail
	encode := base64.RawStdEncoding.EncodeToString
	return argonPrefix + encode(salt) + "$" + encode(d.key(password, salt))
}

// matches reports whether the password is the one that hash was made of. It takes as long if hash
// is empty or damaged.
func (d doorkeeper) matches(hash, password string) bool {
	encodedSalt, encodedKey, _ := strings.Cut(strings.TrimPrefix(hash, argonPrefix), "$")
	salt, err := base64.RawStdEncoding.DecodeString(encodedSalt)
	if err != nil || len(salt) != argonSalt {
		salt = make([]byte, argonSalt)
	}
	want, err := base64.RawStdEncoding.DecodeString(encodedKey)
	same := subtle.ConstantTimeCompare(d.key(password, salt), want) == 1
	return same && err == nil && strings.HasPrefix(hash, argonPrefix)
}

func (d doorkeeper) key(password string, salt []byte) []byte {
	d.turns <- struct{}{}
	defer func() { <-d.turns }()
	return argon2.IDKey([]byte(password), salt, argonTime, argonMemory, argonThreads, argonKey)
}

// validate refuses passwords that are too easy to guess, or too long to hash.
func validate(field, password string) error {
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return store.Invalid(field, "invalid.password_short", minPassword)
	case len(password) > maxPassword:
		return store.Invalid(field, "invalid.password_long", maxPassword)
	}
	return nil
}

// firstPassword sets the page's password unless one was chosen before.
func (s *Sessions) firstPassword(password string) error {
	chosen, err := s.HasPassword()
	if err != nil || chosen {
		return err
	}
	if err := validate("password", password); err != nil {
		return err
	}
	hash := s.doorkeeper.hash(password)
	err = s.db.Update(func(tx *store.Tx) error { return tx.Settings.Set(passwordSetting, hash) })
	if err != nil {
		return fmt.Errorf("set the page's password: %w", err)
	}
	return nil
}

// HasPassword reports whether the page has a password. Without one nobody can sign in but with a
// link from [Sessions.IssueLink].
func (s *Sessions) HasPassword() (chosen bool, err error) {
	err = s.db.View(func(tx *store.Tx) error {
		chosen, err = HasPassword(tx)
		return err
	})
	return chosen, err
}

// HasPassword is [Sessions.HasPassword] in a transaction.
func HasPassword(tx *store.Tx) (bool, error) {
	value, err := tx.Settings.Value(passwordSetting)
	return value != "", err
}

// CheckPassword reports whether a password is the page's. A wrong one makes the next try wait, which the answer's
// Retry-After says; while it waits, the password is not even looked at.
func (s *Sessions) CheckPassword(c echo.Context, password string) (right bool, wait time.Duration, err error) {
	var hash string
	err = s.db.View(func(tx *store.Tx) (err error) {
		hash, err = tx.Settings.Value(passwordSetting)
		return err
	})
	if err != nil {
		return false, 0, err
	}
	who := guesserOf(c, hash)
	wait, slow := s.guesses.try(who)
	if wait > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		return false, wait, nil
	}
	pause := time.NewTimer(slow)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-c.Request().Context().Done():
		return false, 0, c.Request().Context().Err()
	}
	if !s.doorkeeper.matches(hash, password) {
		return false, 0, nil
	}
	s.guesses.forgive(who)
	s.rememberBrowser(c, hash)
	return true, 0, nil
}

// SetPassword sets the page's password and ends all sign-ins but the request's. The error is a [store.FieldError]
// of the field password if that is too short or too long.
func (s *Sessions) SetPassword(c echo.Context, password string) error {
	if err := validate("password", password); err != nil {
		return err
	}
	own, _ := Of(c)
	hash := s.doorkeeper.hash(password)
	err := s.db.Update(func(tx *store.Tx) error {
		for other := range tx.SignIns.All() {
			if other.ID != own.ID {
				if err := tx.SignIns.Delete(other.ID); err != nil {
					return err
				}
			}
		}
		return tx.Settings.Set(passwordSetting, hash)
	})
	if err != nil {
		return fmt.Errorf("set the page's password: %w", err)
	}
	s.rememberBrowser(c, hash)
	return nil
}

// MustKnowPassword reports whether the old password is needed to choose a new one: not for the
// first one, and not for a while after signing in with a link.
func (s *Sessions) MustKnowPassword(signIn store.SignIn) (bool, error) {
	chosen, err := s.HasPassword()
	return chosen && !s.links.trusts(signIn.ID), err
}
