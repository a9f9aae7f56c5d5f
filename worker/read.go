package worker

import (
	"encoding/json"
	"errors"
	"fmt"

	"belfry/store"
)

// Read returns what read reads in a transaction of its own.
func Read[T any](db *store.DB, read func(tx *store.Tx) (T, error)) (value T, err error) {
	err = db.View(func(tx *store.Tx) (err error) {
		value, err = read(tx)
		return err
	})
	return value, err
}

// Setting reads a setting of JSON into to, which stays as it is where none was set.
func Setting(tx *store.Tx, name string, to any) error {
	text, err := tx.Settings.Value(name)
	if err != nil || text == "" {
		return err
	}
	if err := json.Unmarshal([]byte(text), to); err != nil {
		return fmt.Errorf("setting %s: %w", name, err)
	}
	return nil
}

// SetSetting stores a setting as JSON.
func SetSetting(tx *store.Tx, name string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("setting %s: %w", name, err)
	}
	return tx.Settings.Set(name, string(text))
}

// Change writes what fn makes of a row. One that is gone stays so.
func Change[T any](get func(uint64) (T, error), put func(*T) error, id uint64, fn func(*T)) error {
	row, err := get(id)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	fn(&row)
	return put(&row)
}
