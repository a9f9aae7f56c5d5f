package store

import (
	"errors"
	"fmt"
	"time"
)

// Setting is a value that the program keeps under a name, such as the hash of the page's password. It has a Value or
// a Secret.
type Setting struct {
	ID     uint64 `json:"-"`
	Name   string `json:"name"`
	Value  string `json:"value"`
	Secret string `json:"-"`                // sealed in the file
	Sealed string `json:"sealed,omitempty"` // not empty: the secret, sealed with another key
}

// Settings is the table of settings.
type Settings struct{ Table[Setting] }

func settingTable() def[Setting] {
	return def[Setting]{
		name: "settings",
		id:   func(s *Setting) *uint64 { return &s.ID },
		secret: func(s *Setting) secret {
			return secret{[]byte(s.Secret), func(plain []byte) { s.Secret = string(plain) }, &s.Sealed}
		},
		cache: new(cache[Setting]),
		indexes: []Index[Setting]{
			{Name: "name", Unique: true, Key: func(s *Setting, k key) key { return k.str(s.Name) }},
		},
	}
}

// Value returns the value under a name; it is empty if none was set. What keeps everything from starting counts as set if
// it is damaged, until a person resumes everything.
func (t Settings) Value(name string) (string, error) {
	s, err := t.first("name", key(nil).str(name))
	switch {
	case errors.Is(err, ErrNotFound):
		return "", nil
	case IsCorrupt(err) && (name == Paused || name == Restored):
		return "the row that says whether everything is paused is damaged", nil
	}
	return s.Value, err
}

// settingBackup is when the last backup was made.
const settingBackup = "last_backup"

// LastBackup returns when the last backup was made; zero if none was.
func (t Settings) LastBackup() (at time.Time, err error) {
	value, err := t.Value(settingBackup)
	if err != nil || value == "" {
		return at, err
	}
	return time.Parse(time.RFC3339, value)
}

// NoteBackup notes that a backup was made.
func (t Settings) NoteBackup() error {
	return t.Set(settingBackup, t.in().Now().Format(time.RFC3339))
}

// Secret returns the secret under a name; it is empty if none was set, or another key has sealed it.
func (t Settings) Secret(name string) (string, error) {
	s, err := t.first("name", key(nil).str(name))
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return s.Secret, err
}

// Set keeps the value under the name. A damaged row is let go for it.
func (t Settings) Set(name, value string) error {
	return t.set(name, func(s *Setting) { s.Value = value })
}

// SetSecret keeps the secret under the name, sealed. An empty one removes what was there.
func (t Settings) SetSecret(name, secret string) error {
	return t.set(name, func(s *Setting) { s.Secret, s.Sealed = secret, "" })
}

func (t Settings) set(name string, to func(*Setting)) error {
	s, err := t.first("name", key(nil).str(name))
	if damaged, ok := errors.AsType[*CorruptError](err); ok {
		s, err = Setting{}, t.LetGo(damaged.ID)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("setting %s: %w", name, err)
	}
	s.Name = name
	to(&s)
	return t.Put(&s)
}
