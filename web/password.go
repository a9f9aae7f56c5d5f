package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"strings"
	"unicode/utf8"

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

// checkPassword refuses passwords that are too easy to guess, or too long to hash.
func checkPassword(field, password string) error {
	switch {
	case utf8.RuneCountInString(password) < minPassword:
		return store.Invalid(field, "invalid.password_short", minPassword)
	case len(password) > maxPassword:
		return store.Invalid(field, "invalid.password_long", maxPassword)
	}
	return nil
}
