package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// pageSize is that of the files that these tests make.
var pageSize = os.Getpagesize()

// spoiled writes a copy of a file, changed by spoil, and returns its path.
func spoiled(t *testing.T, data []byte, spoil func([]byte) []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "belfry.db")
	if err := os.WriteFile(path, spoil(bytes.Clone(data)), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// manyPages is a file with a tree of pages, and where its pages that are in use are.
func manyPages(t *testing.T) (data []byte, used []uint64) {
	t.Helper()
	if testing.Short() {
		t.Skip("each of many files is verified by a process of its own, one after the other")
	}
	data, err := os.ReadFile(closedFile(t, 3000))
	if err != nil {
		t.Fatal(err)
	}
	all, err := metas(bytes.NewReader(data))
	if err != nil || len(all) == 0 {
		t.Fatal(err)
	}
	w := &walk{file: bytes.NewReader(data), size: int64(len(data)), meta: all[0], seen: make([]bool, all[0].pages),
		report: func(p Problem) { t.Error(p) }}
	free := all[0].freelist
	w.meta.freelist = noFreelist
	if err := w.all(); err != nil {
		t.Fatal(err)
	}
	for id, is := range w.seen {
		if is && uint64(id) != free {
			used = append(used, uint64(id))
		}
	}
	if len(used) < 30 {
		t.Fatalf("only %d pages are in use", len(used))
	}
	return data, used
}

// whatIsWrong verifies a file and returns what was found, in one line.
func whatIsWrong(t *testing.T, path string) string {
	t.Helper()
	begun := time.Now()
	problems, err := verifier().Verify(t.Context(), path)
	if took := time.Since(begun); took > 45*time.Second { // the limit that ends the child is longer
		t.Errorf("it took %s", took)
	}
	return fmt.Sprint(problems, err)
}

func TestAFileThatIsCutShortIsSaidToBe(t *testing.T) {
	data, used := manyPages(t)
	for i := range 20 {
		size := (int(used[len(used)-1]) + 1) * pageSize * i / 20
		said := whatIsWrong(t, spoiled(t, data, func(d []byte) []byte { return d[:size] }))
		if want := map[bool]string{true: "page 0 and page 1", false: "cut short: it has"}[size == 0]; !strings.Contains(said, want) {
			t.Errorf("%d of %d bytes: %s", size, len(data), said)
		}
	}
}

func TestADamagedPageIsNamed(t *testing.T) {
	data, used := manyPages(t)
	for name, spoil := range map[string]func(page []byte){
		"its number of pages that follow":      func(p []byte) { p[15] ^= 0x40 },
		"its number of pages, by a few":        func(p []byte) { p[12] ^= 2 },
		"its kind":                             func(p []byte) { p[8] ^= 4 },
		"its own number":                       func(p []byte) { p[2] ^= 1 },
		"its number of elements":               func(p []byte) { p[11] ^= 0x80 },
		"where its first element's key lies":   func(p []byte) { p[pageHeader+3+4*int(p[8]-1)] ^= 0x80 },
		"all of it":                            func(p []byte) { clear(p) },
		"all of it, by what is no page at all": func(p []byte) { copy(p, bytes.Repeat([]byte("hello "), len(p)/6)) },
	} {
		t.Run(name, func(t *testing.T) {
			for i := 0; i < len(used); i += 1 + len(used)/8 {
				id := used[i]
				said := whatIsWrong(t, spoiled(t, data, func(d []byte) []byte {
					spoil(d[int(id)*pageSize : int(id+1)*pageSize])
					return d
				}))
				if !strings.Contains(said, fmt.Sprintf("page %d ", id)) && !(name == "its number of pages, by a few" && strings.Contains(said, "page ")) {
					t.Errorf("page %d: %s", id, said)
				}
			}
		})
	}
}

func TestAFreePageThatIsInUseIsNamed(t *testing.T) {
	data, used := manyPages(t)
	all, err := metas(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	said := whatIsWrong(t, spoiled(t, data, func(d []byte) []byte {
		page := d[int(all[0].freelist)*pageSize:]
		binary.NativeEndian.PutUint16(page[10:], 1)
		binary.NativeEndian.PutUint64(page[pageHeader:], used[7])
		return d
	}))
	if !strings.Contains(said, fmt.Sprintf("page %d is said to be free", used[7])) {
		t.Error(said)
	}
}

func TestRepairSalvagesWhatCanBeReadIntoANewFile(t *testing.T) {
	data, used := manyPages(t)
	all, err := metas(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var lost []int
	for i := 0; i < len(used); i += 1 + len(used)/12 {
		id := used[i]
		if id == all[0].root { // without which nothing is found
			continue
		}
		bad := spoiled(t, data, func(d []byte) []byte { clear(d[int(id)*pageSize : int(id+1)*pageSize]); return d })
		before, err := os.ReadFile(bad)
		if err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(t.TempDir(), "belfry.db")
		if err := os.Symlink(bad, link); err != nil {
			t.Fatal(err)
		}
		done, err := Repair(t.Context(), link, Options{Verifier: verifier()})
		if err != nil {
			t.Fatalf("page %d: %v", id, err)
		}
		if said := fmt.Sprint(done.Taken); !strings.Contains(said, fmt.Sprintf("page %d ", id)) || done.Aside == "" {
			t.Errorf("page %d: %s, set aside as %q", id, said, done.Aside)
		}
		if after, err := os.ReadFile(done.Aside); err != nil || !bytes.Equal(after, before) {
			t.Errorf("page %d: the damaged file was not kept: %v", id, err)
		}
		if said := whatIsWrong(t, bad); said != "[] <nil>" {
			t.Errorf("page %d: the new file: %s", id, said)
		}
		db, err := Open(bad, Options{})
		if err != nil {
			t.Fatal(err)
		}
		next, kept := setting("next"), len(names(t, db))
		mustUpdate(t, db, func(tx *Tx) error { return tx.Settings.Put(next) })
		err = db.View(func(tx *Tx) error {
			why, err := tx.Settings.Value(Paused)
			if why == "" {
				t.Errorf("page %d: it does not start paused", id)
			}
			return err
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
		lost = append(lost, 3000-kept)
		if left, _ := filepath.Glob(bad + ".salvaged*"); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
	// A leaf holds some 60 rows, or none but entries of an index; a page above leaves takes them with it.
	slices.Sort(lost)
	if t.Logf("rows lost with a page each: %v of 3000", lost); len(lost) == 0 || lost[len(lost)/2] > 200 {
		t.Errorf("most of what can be read was lost: %v", lost)
	}
}

func TestAFileOfWhichNothingCanBeReadIsLeftAlone(t *testing.T) {
	data, _ := manyPages(t)
	bad := spoiled(t, data, func(d []byte) []byte { clear(d[2*pageSize:]); return d })
	if _, err := Repair(t.Context(), bad, Options{Verifier: verifier()}); err == nil || !strings.Contains(err.Error(), "restore a backup") {
		t.Error(err)
	}
	if left, _ := filepath.Glob(bad + "*"); len(left) != 1 {
		t.Errorf("there are %v", left)
	}
}

func TestAFileInUseIsNotRepaired(t *testing.T) {
	db := newDB(t, Options{})
	if _, err := Repair(t.Context(), db.Path(), Options{Verifier: verifier()}); !errors.Is(err, ErrInUse) {
		t.Error(err)
	}
}
