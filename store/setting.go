package store

import (
	"errors"
	"fmt"
)

// Setting is a value that the program keeps under a name, such as the hash of the page's password.
type Setting struct {
	ID    uint64 `json:"-"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Settings is the table of settings.
type Settings struct{ Table[Setting] }

func settingTable() def[Setting] {
	return def[Setting]{
		name: "settings",
		id:   func(s *Setting) *uint64 { return &s.ID },
		indexes: []Index[Setting]{
			{Name: "name", Unique: true, Key: func(s *Setting) []byte { return key(nil).str(s.Name) }},
		},
	}
}

// Value returns the value under a name; it is empty if none was set.
func (t Settings) Value(name string) (string, error) {
	s, err := t.first("name", key(nil).str(name))
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return s.Value, err
}

// Set keeps the value under the name. A damaged row is let go for it.
func (t Settings) Set(name, value string) error {
	s, err := t.first("name", key(nil).str(name))
	if damaged, ok := errors.AsType[*CorruptError](err); ok {
		s, err = Setting{}, t.LetGo(damaged.ID)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return fmt.Errorf("setting %s: %w", name, err)
	}
	s.Name, s.Value = name, value
	return t.Put(&s)
}
