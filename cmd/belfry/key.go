package main

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"belfry/store"
)

const (
	keyName     = "belfry.key"
	installedIn = "/etc/belfry" // where install.sh puts settings and key
)

// keyPath is where the key lies that seals the logins in the file, or is made. It is never beside the file: whoever copies the one must not get the other with it.
func (f fileSetting) keyPath() (string, error) {
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); dir != "" {
		if path := filepath.Join(dir, keyName); exists(path) {
			return path, nil
		}
	}
	path := f.KeyFile
	if path == "" {
		path = filepath.Join(installedIn, keyName)
		if in, err := os.Open(path); err == nil {
			return path, in.Close()
		}
		config, err := os.UserConfigDir()
		if err != nil {
			return "", store.Invalid("BELFRY_KEY_FILE", "invalid.no_home")
		}
		path = filepath.Join(config, "belfry", keyName)
	}
	if filepath.Dir(path) == filepath.Dir(f.DB) {
		return "", store.Invalid("BELFRY_KEY_FILE", "invalid.key_beside", filepath.Join(installedIn, keyName))
	}
	return path, nil
}

// key returns the key that seals the logins in the file. If there is none it is made, or nil.
func (f fileSetting) key(make bool) ([]byte, error) {
	path, err := f.keyPath()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && !make {
		return nil, nil
	}
	if errors.Is(err, os.ErrNotExist) {
		if text, err = makeKey(path); err != nil {
			return nil, store.Invalid("BELFRY_KEY_FILE", "invalid.key_not_made", path, err)
		}
	}
	if err != nil {
		return nil, store.Invalid("BELFRY_KEY_FILE", "invalid.key_unusable", err)
	}
	key, err := hex.DecodeString(string(bytes.TrimSpace(text)))
	if err != nil || len(key) != store.KeySize {
		return nil, store.Invalid("BELFRY_KEY_FILE", "invalid.not_key", path, 2*store.KeySize)
	}
	return key, nil
}

// makeKey writes a new key, which appears whole or not at all, and never in the place of another.
func makeKey(path string) ([]byte, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	key := make([]byte, store.KeySize)
	rand.Read(key)
	part, err := os.CreateTemp(filepath.Dir(path), keyName+"-*") // 0600
	if err != nil {
		return nil, err
	}
	defer os.Remove(part.Name())
	_, err = fmt.Fprintf(part, "%x\n", key)
	if err := errors.Join(err, part.Sync(), part.Close()); err != nil {
		return nil, err
	}
	if err := os.Link(part.Name(), path); err != nil && !errors.Is(err, os.ErrExist) {
		return nil, err
	}
	return os.ReadFile(path)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
