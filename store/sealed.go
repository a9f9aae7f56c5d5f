package store

import (
	"bufio"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"filippo.io/age"
)

const (
	// sealedIntro is how a sealed file begins.
	sealedIntro = "age-encryption.org/v1\n"
	// workFactor is how much work a guess at the passphrase is: 2^16 rounds take 64 MiB of memory (and
	// took 0.24 s where that was measured). age's own choice, 2^18, takes 256 MiB, which small servers do
	// not have.
	workFactor = 16
)

// keyIntro begins the line before the file in a sealed backup that carries the key of the file's secrets.
const keyIntro = "belfry.key "

// BackupSealed is [DB.Backup] with the key that seals the file's secrets, encrypted with a passphrase in
// the format of age (age-encryption.org): age -d | tail -n +2 opens it, too. A copy of the file alone is
// beside path meanwhile.
func (db *DB) BackupSealed(path, passphrase string) (err error) {
	open := path + ".open"
	if err := db.Backup(open); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(open)) }()
	return Seal(open, path, passphrase, db.opts.Key)
}

// Seal is what [DB.BackupSealed] does to a backup and, unless it is empty, its key.
func Seal(from, to, passphrase string, key []byte) error {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return fmt.Errorf("seal the backup: %w", err)
	}
	recipient.SetWorkFactor(workFactor)
	return writeWhole(to, func(out io.Writer) error {
		in, err := os.Open(from)
		if err != nil {
			return err
		}
		defer in.Close()
		sealed, err := age.Encrypt(out, recipient)
		if err != nil {
			return fmt.Errorf("seal the backup: %w", err)
		}
		if len(key) > 0 {
			if _, err := fmt.Fprintf(sealed, "%s%x\n", keyIntro, key); err != nil {
				return fmt.Errorf("seal the backup: %w", err)
			}
		}
		if _, err := io.Copy(sealed, in); err != nil {
			return fmt.Errorf("seal the backup: %w", err)
		}
		return sealed.Close()
	})
}

// IsSealed reports whether a file is encrypted in the format of age.
func IsSealed(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	intro, err := bufio.NewReader(f).Peek(len(sealedIntro))
	if errors.Is(err, io.EOF) {
		return false, nil
	}
	return string(intro) == sealedIntro, err
}

// Unseal writes the file that a sealed backup holds to another path, and returns the key that the backup
// carries, if it does. The error is a [*FieldError] if the passphrase is not the right one.
func Unseal(from, to, passphrase string) (key []byte, err error) {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return nil, Invalid("passphrase", "invalid.passphrase_empty")
	}
	in, err := os.Open(from)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	plain, err := age.Decrypt(bufio.NewReader(in), identity)
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong {
		return nil, Invalid("passphrase", "invalid.passphrase_wrong")
	}
	if err != nil {
		return nil, fmt.Errorf("open the sealed backup %s: %w", from, err)
	}
	file := bufio.NewReader(plain)
	if intro, err := file.Peek(len(keyIntro)); err == nil && string(intro) == keyIntro {
		line, err := file.ReadString('\n')
		if err == nil {
			key, err = hex.DecodeString(strings.TrimSpace(line[len(keyIntro):]))
		}
		if err != nil {
			return nil, fmt.Errorf("open the sealed backup %s: its key is damaged: %w", from, err)
		}
	}
	return key, writeWhole(to, func(out io.Writer) error {
		if _, err := io.Copy(out, file); err != nil {
			return fmt.Errorf("open the sealed backup %s: it is damaged or cut off: %w", from, err)
		}
		return nil
	})
}

// writeWhole writes a file, which appears at its path whole or not at all.
func writeWhole(path string, write func(io.Writer) error) error {
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Sync(), f.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	return rename(part, path)
}
