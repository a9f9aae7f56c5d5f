package store

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

const (
	flipRows = 400
	// flipLimit is how long a flipped bit may keep the child busy.
	flipLimit = 5 * time.Second
)

// flipRow is what setting i holds.
func flipRow(i int) Setting {
	return Setting{Name: fmt.Sprint("setting ", i), Value: strings.Repeat(fmt.Sprint(i, " "), 10+i%40)}
}

// flipBits is the child: it flips one bit of the file after another, each by a number, and says what
// comes of it. A flip may end it; the parent goes on with the next number.
func flipBits(args []string) error {
	flags := flag.NewFlagSet("flip", flag.ContinueOnError)
	path := flags.String("path", "", "the file")
	first := flags.Int("first", 0, "the first number")
	last := flags.Int("last", 0, "the number after the last")
	if err := flags.Parse(args); err != nil {
		return err
	}
	debug.SetMaxStack(verifierStack)
	f, err := os.OpenFile(*path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	used, err := usedSize(*path)
	if err != nil {
		return err
	}
	flip := func(at, bit int) error {
		var b [1]byte
		if _, err := f.ReadAt(b[:], int64(at)); err != nil {
			return err
		}
		b[0] ^= 1 << bit
		_, err := f.WriteAt(b[:], int64(at))
		return err
	}
	for n := *first; n < *last; n++ {
		r := rand.New(rand.NewPCG(2, uint64(n)))
		at, bit := r.IntN(used), r.IntN(8)
		if err := flip(at, bit); err != nil {
			return err
		}
		fmt.Println("flipped", at, bit)
		limit := time.AfterFunc(flipLimit, func() { os.Exit(3) }) // as a Verifier does
		said, err := flipped(*path)
		limit.Stop()
		if err != nil {
			return fmt.Errorf("bit %d of byte %d: %w", bit, at, err)
		}
		if err := flip(at, bit); err != nil {
			return err
		}
		fmt.Println("end", n, said)
	}
	return nil
}

// usedSize is the part of the file that holds data.
func usedSize(path string) (int, error) {
	db, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	size, err := db.Size()
	return int(size), errors.Join(err, db.Close())
}

// flipped verifies and reads a file with a flipped bit. Its error says that a row is wrong or gone
// and nobody was told.
func flipped(path string) (said string, err error) {
	problems, err := verifyFile(path, false)
	if err != nil {
		return "refused", nil
	}
	told := map[uint64]bool{}
	for _, p := range problems {
		if p.Table == pagesTable {
			return "pages", nil
		}
		told[p.ID] = true
	}
	db, err := Open(path, Options{ReadOnly: true})
	if err != nil {
		return "", fmt.Errorf("verified with %d problems, but does not open: %w", len(problems), err)
	}
	err = db.View(func(tx *Tx) error {
		for i := range flipRows {
			row, err := tx.Settings.Get(uint64(i + 1))
			if want := flipRow(i); err == nil && (row.Name != want.Name || row.Value != want.Value) {
				return fmt.Errorf("setting %d is wrong", i+1)
			}
			if err != nil && !told[uint64(i+1)] {
				return fmt.Errorf("setting %d is lost, the problems are %v", i+1, problems)
			}
			if found, err := tx.Settings.Value(flipRow(i).Name); len(problems) == 0 && (err != nil || found == "") {
				return fmt.Errorf("setting %d is not found by its name: %w", i+1, err)
			}
		}
		return nil
	})
	said = "clean"
	if len(problems) > 0 {
		said = "rows"
	}
	return said, errors.Join(err, db.Close())
}

// Whatever bit is flipped: no row is ever read with another value, none is missing without being
// named, and a damaged row leaves the others alone.
func TestNoFlippedBitGoesUnnoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	mustUpdate(t, db, func(tx *Tx) error {
		for i := range flipRows {
			row := flipRow(i)
			if err := tx.Settings.Put(&row); err != nil {
				return err
			}
		}
		return nil
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	n := 150
	if *long {
		n = 10_000
	}
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[string]int{}
	for next := 0; next < n; {
		child := exec.Command(os.Args[0], "flip", "-path", path, "-first", fmt.Sprint(next), "-last", fmt.Sprint(n))
		var said strings.Builder
		child.Stderr = &said
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			words := strings.Fields(lines.Text())
			if words[0] == "end" {
				outcomes[words[2]]++
				next++
			}
		}
		if err := child.Wait(); err == nil {
			continue
		}
		if strings.Contains(said.String(), "bit ") {
			t.Fatal(said.String())
		}
		outcomes["ended the child"]++
		next++
		if err := os.WriteFile(path, good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d flips: %v", n, outcomes)
	if outcomes["rows"] == 0 {
		t.Error("no flip met a row: the test proves nothing")
	}
}
