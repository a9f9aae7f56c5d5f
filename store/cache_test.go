package store

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is put, rolled back and read in whatever order: a read answers what the transaction holds, also of rows that
// share a place in the cache.
func TestARowThatIsReadAgainIsWhatTheFileHolds(t *testing.T) {
	db := newDB(t, Options{})
	var places cache[Hold]
	ids := []uint64{1, 2, 1 + uint64(len(places)), 2 + uint64(len(places))}
	mustUpdate(t, db, func(tx *Tx) error {
		for _, id := range ids {
			if err := tx.Holds.PutAt(&Hold{ID: id, Lane: string(rune('a' + id%26))}); err != nil {
				return err
			}
		}
		return nil
	})
	want := map[uint64]string{1: "", 2: "", ids[2]: "", ids[3]: ""}
	type step struct {
		ID     uint64
		Detail *string // what is put; nil: the row is only read
	}
	// All is drawn before the transaction: what rapid stops a run with should not go through the store.
	steps := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) step {
		s := step{ID: rapid.SampledFrom(ids).Draw(t, "id")}
		if rapid.Bool().Draw(t, "put") {
			s.Detail = new(rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "detail"))
		}
		return s
	}), 1, 8)
	rapid.Check(t, func(t *rapid.T) {
		kept, steps := rapid.Bool().Draw(t, "kept"), steps.Draw(t, "steps")
		now, undone := maps.Clone(want), errors.New("undone")
		err := db.Update(func(tx *Tx) error {
			for _, s := range steps {
				hold, err := tx.Holds.Get(s.ID)
				if err != nil || hold.Reason.Detail != now[s.ID] {
					return fmt.Errorf("hold %d is %+v, %v; expected %q", s.ID, hold, err, now[s.ID])
				}
				if s.Detail != nil {
					hold.Reason.Detail, now[s.ID] = *s.Detail, *s.Detail
					if err := tx.Holds.Put(&hold); err != nil {
						return err
					}
				}
			}
			if !kept {
				return undone
			}
			return nil
		})
		switch {
		case kept && err == nil:
			want = now
		case kept || !errors.Is(err, undone):
			t.Fatal(err)
		}
	})
}
