package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A table is driven side by side with a map: whatever is put, changed, deleted or rolled back, both
// hold the same rows, the indexes find the same, and Verify has nothing to say.
func TestTableBehavesAsAMapWithIndexes(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(rt *rapid.T) {
		n++
		db, err := Open(filepath.Join(dir, fmt.Sprint(n)), Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer db.Close()
		model := map[uint64]Job{}
		base := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for range rapid.IntRange(1, 20).Draw(rt, "transactions") {
			next := map[uint64]Job{}
			for id, j := range model {
				next[id] = j
			}
			undo := rapid.Bool().Draw(rt, "undo")
			err := db.Update(func(tx *Tx) error {
				for range rapid.IntRange(1, 6).Draw(rt, "steps") {
					job := Job{
						Name:    fmt.Sprint("job", rapid.IntRange(0, 9).Draw(rt, "name")),
						Kind:    rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "kind"),
						Lane:    rapid.SampledFrom([]string{"x", "xy", "y"}).Draw(rt, "lane"),
						State:   rapid.SampledFrom([]JobState{JobWaiting, JobRunning, JobPaused}).Draw(rt, "state"),
						Trigger: Trigger{At: base},
						Due:     base.Add(time.Duration(rapid.IntRange(0, 50).Draw(rt, "due")) * time.Second),
					}
					ids := make([]uint64, 0, len(next))
					for id := range next {
						ids = append(ids, id)
					}
					slices.Sort(ids)
					if len(ids) > 0 && rapid.Bool().Draw(rt, "existing") {
						job.ID = rapid.SampledFrom(ids).Draw(rt, "id")
						if rapid.IntRange(0, 2).Draw(rt, "delete") == 0 {
							if err := tx.Jobs.Delete(job.ID); err != nil {
								return err
							}
							delete(next, job.ID)
							continue
						}
					}
					taken := false
					for id, other := range next {
						taken = taken || (other.Name == job.Name && id != job.ID)
					}
					err := tx.Jobs.Put(&job)
					if errors.Is(err, ErrExists) != taken {
						rt.Fatalf("put %s: %v, but taken is %v", job.Name, err, taken)
					}
					if err == nil {
						next[job.ID] = job
					}
				}
				if undo {
					return errors.New("undone on purpose")
				}
				return nil
			})
			if (err != nil) != undo {
				rt.Fatal(err)
			}
			if !undo {
				model = next
			}
			compare(rt, db, model)
		}
	})
}

func compare(rt *rapid.T, db *DB, model map[uint64]Job) {
	problems, err := db.Verify()
	if err != nil || len(problems) > 0 {
		rt.Fatal(problems, err)
	}
	err = db.View(func(tx *Tx) error {
		rows := collect(tx.Jobs.All(), 1000)
		if len(rows) != len(model) {
			rt.Fatalf("%d rows; the model has %d", len(rows), len(model))
		}
		for _, row := range rows {
			want := model[row.ID]
			if row.Name != want.Name || row.State != want.State || !row.Due.Equal(want.Due) {
				rt.Fatalf("row %+v, the model has %+v", row, want)
			}
			if found, err := tx.Jobs.ByName(row.Name); err != nil || found.ID != row.ID {
				rt.Fatalf("by name %s: %d, %v", row.Name, found.ID, err)
			}
		}
		counts := map[string]int{}
		for _, j := range model {
			counts[j.Kind+string(j.State)]++
		}
		for _, of := range tx.Jobs.Counts() {
			if of.N != counts[of.Kind+string(of.State)] {
				rt.Fatalf("counted %+v; the model has %v", of, counts)
			}
			list, err := tx.Jobs.List(JobQuery{Kind: of.Kind, State: of.State, Query: Query{Limit: 500}})
			if err != nil || len(list.Items) != of.N {
				rt.Fatalf("%d listed, %v; the model has %d", len(list.Items), err, of.N)
			}
		}
		if got := tx.Jobs.Counts().Total(); got != len(model) {
			rt.Fatalf("counted %d; the model has %d", got, len(model))
		}
		for _, lane := range []string{"x", "xy", "y"} {
			want := 0
			now := time.Date(2026, 1, 1, 0, 0, 25, 0, time.UTC)
			for _, j := range model {
				if j.State == JobWaiting && j.Lane == lane && !j.Due.After(now) {
					want++
				}
			}
			if due := collect(tx.Jobs.Due(lane, now), 1000); len(due) != want {
				rt.Fatalf("%d due in lane %s; the model has %d", len(due), lane, want)
			}
		}
		return nil
	})
	if err != nil {
		rt.Fatal(err)
	}
}
