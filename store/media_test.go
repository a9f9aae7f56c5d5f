package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// someBytes are n bytes that differ from place to place.
func someBytes(n int) []byte {
	data := make([]byte, n)
	r := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return data
}

// keepMedia uploads a file and makes it ready.
func keepMedia(db *DB, data, thumbnail []byte) (f MediaFile, err error) {
	w, err := db.WriteMedia()
	if err != nil {
		return f, err
	}
	if _, err := w.Write(data); err != nil {
		return f, err
	}
	if err := w.Flush(); err != nil {
		return f, err
	}
	err = db.Update(func(tx *Tx) (err error) {
		f, err = tx.Media.Finish(MediaFile{ID: w.ID(), Name: "a.bin", Kind: "document", Type: "application/octet-stream", SHA256: w.Sum()}, thumbnail)
		return err
	})
	return f, err
}

func mustKeepMedia(t *testing.T, db *DB, data, thumbnail []byte) MediaFile {
	t.Helper()
	f, err := keepMedia(db, data, thumbnail)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// readMedia reads a whole file.
func readMedia(db *DB, id uint64) ([]byte, error) {
	r, err := db.OpenMedia(id)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// Files of all sizes are written in pieces of all sizes, read from all places, removed: what is read is what was
// written, and the file is in order after each step.
func TestMediaAreReadAsTheyWereWritten(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		db, err := Open(filepath.Join(dir, fmt.Sprint(n)), Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer db.Close()
		files := map[uint64][]byte{}
		for range rapid.IntRange(1, 4).Draw(rt, "files") {
			edge := rapid.SampledFrom([]int{0, chunkSize, mediaBatch, 2 * mediaBatch}).Draw(rt, "edge")
			data := someBytes(max(0, edge+rapid.IntRange(-2, 2).Draw(rt, "beside")))
			w, err := db.WriteMedia()
			if err != nil {
				rt.Fatal(err)
			}
			for rest := data; len(rest) > 0; {
				piece := min(len(rest), rapid.IntRange(1, mediaBatch).Draw(rt, "piece"))
				if _, err := w.Write(rest[:piece]); err != nil {
					rt.Fatal(err)
				}
				rest = rest[piece:]
			}
			err = errors.Join(w.Flush(), db.Update(func(tx *Tx) error {
				_, err := tx.Media.Finish(MediaFile{ID: w.ID()}, data[:min(len(data), 10)])
				return err
			}))
			if err != nil || w.Size() != int64(len(data)) {
				rt.Fatal(w.Size(), err)
			}
			files[w.ID()] = data
			if rapid.Bool().Draw(rt, "remove") {
				if err := db.RemoveMedia(w.ID()); err != nil {
					rt.Fatal(err)
				}
				delete(files, w.ID())
			}
			if problems, err := db.Verify(); err != nil || len(problems) > 0 {
				rt.Fatal(problems, err)
			}
		}
		for id, data := range files {
			r, err := db.OpenMedia(id)
			if err != nil {
				rt.Fatal(err)
			}
			at := rapid.IntRange(0, len(data)).Draw(rt, "at")
			if _, err := r.Seek(int64(at-len(data)), io.SeekEnd); err != nil {
				rt.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, data[at:]) {
				rt.Fatalf("%d bytes from %d of %d: %v", len(got), at, len(data), err)
			}
		}
		err = db.View(func(tx *Tx) error {
			if all := slices.Collect(tx.Media.All()); len(all) != len(files) {
				rt.Fatalf("%d files, and %d should be there", len(all), len(files))
			}
			return nil
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}

// The disk fails at each commit of an upload in turn, before it or when it is done: the file is in order, and
// what is left of the upload can be removed.
func TestAnUploadThatIsCutOffAtAnyCommitLeavesNoChunk(t *testing.T) {
	data, broken := someBytes(3*mediaBatch+5), errors.New("the disk is gone")
	for _, stage := range []Stage{BeforeCommit, AfterCommit} {
		for at := 1; ; at++ {
			path, commits := filepath.Join(t.TempDir(), "belfry.db"), 0
			db, err := Open(path, Options{Commit: func(s Stage) error {
				if s == stage {
					if commits++; commits >= at {
						return broken
					}
				}
				return nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			_, failed := keepMedia(db, data, someBytes(100))
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if db, err = Open(path, Options{}); err != nil {
				t.Fatal(err)
			}
			mustVerify(t, db)
			left := 0
			var ready, partial []MediaFile
			err = db.View(func(tx *Tx) error {
				ready, partial = slices.Collect(tx.Media.Ready()), slices.Collect(tx.Media.Partial())
				return nil
			})
			for _, f := range partial {
				err = errors.Join(err, db.RemoveMedia(f.ID))
			}
			for _, f := range ready {
				got, wrong := readMedia(db, f.ID)
				if err = errors.Join(err, wrong); !bytes.Equal(got, data) {
					t.Errorf("%s %d: a file that is ready lacks something", stage, at)
				}
			}
			err = errors.Join(err, db.View(func(tx *Tx) error {
				for range tx.mediaChunks.All() {
					left++
				}
				return nil
			}))
			if err != nil {
				t.Fatal(err)
			}
			if len(ready) == 0 && left > 0 {
				t.Errorf("%s %d: %d chunks are left of an upload that was cut off", stage, at, left)
			}
			mustVerify(t, db)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if failed == nil {
				if at < 5 {
					t.Errorf("the upload took %d commits", at-1)
				}
				break
			}
		}
	}
}

func TestVerifyMissesAChunkAndAFile(t *testing.T) {
	for name, spoil := range map[string]func(*Tx, MediaFile) error{
		"a chunk is gone":    func(tx *Tx, f MediaFile) error { return tx.mediaChunks.Delete(f.ID<<chunkBits | 2) },
		"the record is gone": func(tx *Tx, f MediaFile) error { return tx.Media.Delete(f.ID) },
		"a chunk is damaged": func(tx *Tx, f MediaFile) error {
			tx.writes++
			return tx.Media.chunks().Put(rowKey(f.ID<<chunkBits|2), make([]byte, chunkSize))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "belfry.db")
			db, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			lost, whole := mustKeepMedia(t, db, someBytes(3*chunkSize), nil), mustKeepMedia(t, db, someBytes(3*chunkSize), someBytes(5))
			mustUpdate(t, db, func(tx *Tx) error { return spoil(tx, lost) })
			if problems, err := db.Verify(); err != nil || len(problems) == 0 {
				t.Error("Verify finds nothing", err)
			}
			if problems, err := db.VerifyInUse(t.Context()); err != nil || len(problems) == 0 {
				t.Error("VerifyInUse finds nothing", err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := Repair(t.Context(), path, Options{}); err != nil {
				t.Fatal(err)
			}
			if db, err = Open(path, Options{}); err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			mustVerify(t, db)
			err = db.View(func(tx *Tx) error {
				if ready := slices.Collect(tx.Media.Ready()); len(ready) != 1 || ready[0].ID != whole.ID {
					t.Errorf("ready after the repair: %+v", ready)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestBackupAndCompactedFileHaveTheMedia(t *testing.T) {
	db := newDB(t, Options{})
	data := someBytes(2*mediaBatch + 1)
	f := mustKeepMedia(t, db, data, someBytes(9))
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := db.Backup(copied); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Compact(t.Context(), copied, Options{}); err != nil {
		t.Fatal(err)
	}
	other, err := Open(copied, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	mustVerify(t, other)
	if got, err := readMedia(other, f.ID); err != nil || !bytes.Equal(got, data) {
		t.Errorf("%d bytes: %v", len(got), err)
	}
}

func TestMediaThatAreUsedAreKnown(t *testing.T) {
	db := newDB(t, Options{})
	f, other, third := mustKeepMedia(t, db, someBytes(5), nil), mustKeepMedia(t, db, someBytes(6), nil), mustKeepMedia(t, db, someBytes(7), nil)
	mustUpdate(t, db, func(tx *Tx) error {
		media, err := tx.Media.Fill([]Media{{URL: "https://example.org/a.jpg", Kind: "photo"}, {ID: f.ID}})
		if err != nil || media[1].Kind != "document" || media[1].Name != "a.bin" {
			t.Errorf("%+v %v", media, err)
		}
		post, done := Post{Status: PostScheduled, Media: media}, Post{Status: PostPublished, Media: []Media{{ID: other.ID}}}
		job := jobOnce(tx, "post_1", "post", 1, 0, tx.Now(), false)
		rule := Rule{Name: "monthly", Content: RuleContent{Media: []Media{{ID: third.ID}}}}
		return errors.Join(tx.Media.Use(media), tx.Posts.Put(&post), tx.Posts.Put(&done), tx.Jobs.Put(&job), tx.Rules.Put(&rule))
	})
	err := db.View(func(tx *Tx) error {
		if users := tx.Media.Users(); len(users) != 2 || users[f.ID] != (MediaUser{"post", 1}) || users[third.ID] != (MediaUser{"rule", 1}) {
			t.Errorf("%+v", users)
		}
		_, err := tx.Media.Fill([]Media{{ID: f.ID}, {ID: 99}})
		if wrong, ok := errors.AsType[*FieldError](err); !ok || wrong.Field != "media[1].id" {
			t.Errorf("%v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
