package store

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// fill puts n jobs into the file, in commits of 10,000.
func fill(tb testing.TB, db *DB, n int) {
	tb.Helper()
	begin := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	for first := 0; first < n; first += 10_000 {
		err := db.Update(func(tx *Tx) error {
			for i := first; i < min(first+10_000, n); i++ {
				due := begin.Add(time.Duration(i) * time.Second)
				err := tx.Jobs.Put(&Job{Name: fmt.Sprint("post_", i), Kind: "post", Subject: uint64(i),
					Lane: fmt.Sprint("telegram:id", i%10), Trigger: Trigger{At: due}, Due: due, State: JobWaiting})
				if err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
}

func TestAFileWithManyJobsOpensAtOnce(t *testing.T) {
	n, path := 20_000, filepath.Join(t.TempDir(), "belfry.db")
	if *long {
		n = 1_000_000
	}
	db, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, db, n)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if db, err = Open(path, Options{Verifier: verifier()}); err != nil {
		t.Fatal(err)
	}
	took := time.Since(begin)
	defer db.Close()
	var memory runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&memory)
	t.Logf("%d jobs: open in %s, heap %d MiB", n, took, memory.HeapAlloc>>20)
	if took > 200*time.Millisecond {
		t.Errorf("open took %s", took)
	}
	if memory.HeapAlloc > 32<<20 {
		t.Errorf("heap %d MiB", memory.HeapAlloc>>20)
	}
	if !db.clean {
		t.Error("a file that was closed was verified as if it had not been")
	}
}
