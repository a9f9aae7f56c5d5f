package store

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

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

// BackupSealed is [DB.Backup], encrypted with a passphrase in the format of age (age-encryption.org):
// age -d opens it, too. A copy that is not sealed is beside path meanwhile.
func (db *DB) BackupSealed(path, passphrase string) (err error) {
	recipient, err := age.NewScryptRecipient(passphrase)
	if err != nil {
		return fmt.Errorf("seal the backup: %w", err)
	}
	recipient.SetWorkFactor(workFactor)
	open := path + ".open"
	if err := db.Backup(open); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(open)) }()
	return writeWhole(path, func(out io.Writer) error {
		in, err := os.Open(open)
		if err != nil {
			return err
		}
		defer in.Close()
		sealed, err := age.Encrypt(out, recipient)
		if err != nil {
			return fmt.Errorf("seal the backup: %w", err)
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

// Unseal writes what a sealed file holds to another path. The error is a
// [*FieldError] if the passphrase is not the right one.
func Unseal(from, to, passphrase string) error {
	identity, err := age.NewScryptIdentity(passphrase)
	if err != nil {
		return &FieldError{Field: "passphrase", Problem: "is empty", Cure: "set BELFRY_BACKUP_PASSPHRASE to the one that the backup was sealed with"}
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	plain, err := age.Decrypt(bufio.NewReader(in), identity)
	if _, wrong := errors.AsType[*age.NoIdentityMatchError](err); wrong {
		return &FieldError{Field: "passphrase", Problem: "is not the one that the backup was sealed with",
			Cure: "set BELFRY_BACKUP_PASSPHRASE to that one"}
	}
	if err != nil {
		return fmt.Errorf("open the sealed backup %s: %w", from, err)
	}
	return writeWhole(to, func(out io.Writer) error {
		if _, err := io.Copy(out, plain); err != nil {
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
