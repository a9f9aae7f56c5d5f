package store

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Problem is something in the file that is not as it must be.
type Problem struct {
	Table   string `json:"table"`
	ID      uint64 `json:"id,omitempty"` // of the row; 0 if it is about no single one
	Problem string `json:"problem"`
}

func (p Problem) String() string {
	if p.ID == 0 {
		return p.Table + ": " + p.Problem
	}
	return fmt.Sprintf("%s %d: %s", p.Table, p.ID, p.Problem)
}

// Verify reads the whole file and returns what is wrong with it: pages that bbolt finds fault with,
// rows that are damaged, and indexes that do not say exactly what the rows say. It works on the
// file as one commit left it. With a [Verifier], it is a copy that is verified, while others go on.
func (db *DB) Verify() (problems []Problem, err error) { return db.verifyAt(db.path + ".verify") }

// verifyAt is [DB.Verify], with the copy at a path.
func (db *DB) verifyAt(temporary string) (problems []Problem, err error) {
	defer func() {
		if err == nil {
			db.verified(problems)
		}
	}()
	if len(db.opts.Verifier) == 0 || db.opts.ReadOnly {
		return db.verify()
	}
	if err := db.snapshot(temporary); err != nil {
		return nil, fmt.Errorf("verify %s: %w", db.path, err)
	}
	problems, err = db.opts.Verifier.Verify(context.Background(), temporary)
	return problems, errors.Join(err, os.Remove(temporary))
}

// verify works in this process.
func (db *DB) verify() (problems []Problem, err error) {
	err = db.View(func(tx *Tx) error {
		report := func(p Problem) { problems = append(problems, p) }
		if err := db.pages(tx, report); err != nil || len(problems) > 0 { // what bad pages hold is not worth telling
			return err
		}
		for _, t := range db.schema.all {
			t.verify(tx, report)
		}
		return nil
	})
	return problems, err
}

// snapshot writes the file as the last commit left it to another path.
func (db *DB) snapshot(path string) error {
	db.handle.RLock()
	defer db.handle.RUnlock()
	if err := db.usable(); err != nil {
		return err
	}
	return db.copyTo(path)
}

// pages proves the pages that a transaction sees.
func (db *DB) pages(tx *Tx, report func(Problem)) error {
	size := int64(tx.bolt.DB().Info().PageSize)
	w, err := newWalk(db.file, meta{
		pageSize: size, pages: uint64(tx.Size() / size), root: uint64(tx.bolt.Cursor().Bucket().Root()), freelist: noFreelist,
	}, report)
	if err != nil {
		return err
	}
	return w.all()
}

// verify proves each index against the rows: each row's entries are there, and there are no more
// entries than that. So nothing has to be remembered, however large the table.
func (d *def[T]) verify(tx *Tx, report func(Problem)) {
	t := &table[T]{d, tx}
	rows := tx.bucket(d.bucket)
	want := make([]map[string]int, len(d.indexes))
	for i := range want {
		want[i] = make(map[string]int)
	}
	damaged := 0
	cursor := rows.Cursor()
	for k, data := cursor.First(); k != nil; k, data = cursor.Next() {
		if t.verifyRow(k, data, want, report) == nil {
			damaged++
		}
	}
	for i := range d.indexes {
		t.verifyCount(i, want[i], damaged, report)
	}
}

// verifyRow proves a row and its entries, which it counts in want: under no key or, for a counted index, under its
// own. It returns nil for a row that is damaged.
func (t *table[T]) verifyRow(k, data []byte, want []map[string]int, report func(Problem)) *T {
	d := t.def()
	if len(k) != idSize {
		report(Problem{Table: d.name, Problem: fmt.Sprintf("row key %s is not an id", shown(k))})
		return nil
	}
	id := binary.BigEndian.Uint64(k)
	if id > t.bucket().Sequence() {
		report(Problem{Table: d.name, ID: id, Problem: "has an id that was never given out"})
	}
	row := new(T)
	if err := t.decode(id, data, row); err != nil {
		report(Problem{Table: d.name, ID: id, Problem: err.Error()})
		return nil
	}
	for _, k := range t.keys(row) {
		counted := ""
		if d.indexes[k.index].Counted {
			counted = string(k.key)
		}
		if want != nil {
			want[k.index][counted]++
		}
		if counted == "" && !t.has(k, id) {
			report(Problem{Table: d.name, ID: id, Problem: "is missing from index " + d.indexes[k.index].Name})
		}
	}
	if d.whole != nil {
		if lacking := d.whole(row, t.tx); lacking != "" {
			report(Problem{Table: d.name, ID: id, Problem: lacking})
		}
	}
	return row
}

func (t *table[T]) verifyCount(i int, want map[string]int, damaged int, report func(Problem)) {
	n, index := 0, &t.def().indexes[i]
	if index.Counted {
		t.verifyCounts(i, want, damaged, report)
		return
	}
	cursor := t.index(i).Cursor()
	var last []byte
	for k, data := cursor.First(); k != nil; k, data = cursor.Next() {
		if len(k) < idSize {
			n++
			report(Problem{Table: t.def().name, Problem: fmt.Sprintf("index %s has the entry %s", index.Name, shown(k))})
			continue
		}
		entries, err := t.unpacked(i, k, data)
		if err != nil {
			report(Problem{Table: t.def().name, Problem: err.Error()})
		}
		n += len(entries)
		if index.Unique && last != nil && string(entryKey(k)) == string(last) {
			report(Problem{Table: t.def().name, ID: entryID(k), Problem: "shares its unique " + index.Name})
		}
		last = entryKey(k)
	}
	if n != want[""] {
		report(Problem{Table: t.def().name, Problem: fmt.Sprintf("index %s has %d entries, the rows ask for %d", index.Name, n, want[""])})
		cursor := t.index(i).Cursor()
		for k, data := cursor.First(); k != nil; k, data = cursor.Next() {
			t.verifyEntry(i, k, data, report)
		}
	}
}

// verifyCounts proves that a counted index says how many rows have each key. A damaged row counts as what it was.
func (t *table[T]) verifyCounts(i int, want map[string]int, damaged int, report func(Problem)) {
	name := t.def().indexes[i].Name
	for k, n := range t.counts(name) {
		if extra := n - want[string(k)]; extra > 0 && extra <= damaged {
			damaged -= extra
		} else if extra != 0 {
			report(Problem{Table: t.def().name, Problem: fmt.Sprintf("index %s counts %d rows for %s, there are %d", name, n, shown(k), want[string(k)])})
		}
		delete(want, string(k))
	}
	for k, n := range want {
		report(Problem{Table: t.def().name, Problem: fmt.Sprintf("index %s counts no row for %s, there are %d", name, shown([]byte(k)), n)})
	}
}

// verifyEntry names the row that an entry of the file stands for, or each of them, if the table has it not. It returns
// how many more than one there are.
func (t *table[T]) verifyEntry(i int, k, data []byte, report func(Problem)) int {
	if t.def().indexes[i].Counted {
		return 0
	}
	entries, err := t.unpacked(i, k, data)
	if err != nil {
		report(Problem{Table: t.def().name, Problem: err.Error()})
	}
	for _, entry := range entries {
		t.verifyKey(i, entry, report)
	}
	return len(entries) - 1
}

func (t *table[T]) verifyKey(i int, k []byte, report func(Problem)) {
	if len(k) < idSize {
		return
	}
	id := entryID(k)
	row, err := t.Get(id)
	is := indexKey{i, entryKey(k)}
	switch {
	case errors.Is(err, ErrNotFound):
		report(Problem{Table: t.def().name, ID: id, Problem: "is gone, but in index " + t.def().indexes[i].Name})
	case err == nil && !slices.ContainsFunc(t.keys(&row), func(k indexKey) bool { return k.compare(is) == 0 }):
		report(Problem{Table: t.def().name, ID: id, Problem: "is in index " + t.def().indexes[i].Name + " under a key that it has not"})
	}
}

// shown is a key for people: a damaged one can be as long as the file.
func shown(key []byte) string {
	if len(key) > 32 {
		return fmt.Sprintf("%x… (%d bytes)", key[:32], len(key))
	}
	return fmt.Sprintf("%x", key)
}

// unverified is how the name of a backup ends until it has been verified.
const unverified = ".belfry-unverified"

// ForNow is how the name of a copy beside the file ends that its maker takes away again. One that was left there is
// removed after [forNowAge]: at the start, and by the next backup.
const ForNow = ".belfry-for-now"

const forNowAge = time.Hour

// removeUnverified removes what backups that were killed, or found to be bad, have left in a folder, and what was for now.
func removeUnverified(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		name := strings.TrimSuffix(e.Name(), ".new")
		info, gone := e.Info()
		if strings.HasSuffix(name, unverified) || strings.HasSuffix(name, ForNow) && gone == nil && time.Since(info.ModTime()) > forNowAge {
			err = errors.Join(err, removeIfThere(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// Backup writes a copy of the file as the last commit left it. It is written and verified beside the file, and then moved
// to path, which must not exist yet: a disk that is slow or hangs there holds up nothing here. What is damaged in the
// file is so in its copy, and is told by [DB.Damaged]; a copy with more than that is refused.
func (db *DB) Backup(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return Invalid("file", "invalid.exists", path)
	}
	db.backups.Lock() // those that others leave behind are of no use to anybody
	defer db.backups.Unlock()
	if err := removeUnverified(filepath.Dir(db.path)); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	beside := db.path + "-backup" + unverified
	if err := db.snapshot(beside); err != nil {
		return fmt.Errorf("back up to %s: %w", path, err)
	}
	problems, err := db.opts.Verifier.Verify(context.Background(), beside)
	if err == nil && len(problems) > 0 {
		problems, err = db.notHere(problems)
	}
	if err == nil && len(problems) > 0 {
		err = fmt.Errorf("%d problems, the first: %s", len(problems), problems[0])
	}
	if err != nil {
		return fmt.Errorf("back up to %s: the copy is bad and was left at %s: %w", path, beside, err)
	}
	if err := Move(beside, path); err != nil {
		return fmt.Errorf("back up to %s: %w", path, errors.Join(err, removeIfThere(beside)))
	}
	return nil
}

// notHere returns those problems of a copy that the file itself has not, and those of pages: nothing can be read of them.
func (db *DB) notHere(copied []Problem) ([]Problem, error) {
	here, err := db.verifyAt(db.path + "-here" + unverified)
	return slices.DeleteFunc(copied, func(p Problem) bool {
		return p.Table != pagesTable && slices.ContainsFunc(here, func(h Problem) bool { return h.Table == p.Table && h.ID == p.ID })
	}), err
}

// Move brings a file to its place, where it appears whole or not at all, also on another filesystem.
func Move(from, to string) error {
	if rename(from, to) == nil {
		return nil
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := writeWhole(to, func(out io.Writer) error { _, err := io.Copy(out, in); return err }); err != nil {
		return err
	}
	return os.Remove(from)
}
