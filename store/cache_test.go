package store

import (
	"errors"
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
	rapid.Check(t, func(t *rapid.T) {
		now := map[uint64]string{}
		for id, detail := range want {
			now[id] = detail
		}
		undone := errors.New("undone")
		kept := rapid.Bool().Draw(t, "kept")
		err := db.Update(func(tx *Tx) error {
			for range rapid.IntRange(1, 8).Draw(t, "steps") {
				id := rapid.SampledFrom(ids).Draw(t, "id")
				hold, err := tx.Holds.Get(id)
				if err != nil || hold.Reason.Detail != now[id] {
					t.Fatalf("hold %d is %+v, %v; expected %q", id, hold, err, now[id])
				}
				if rapid.Bool().Draw(t, "put") {
					hold.Reason.Detail = rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "detail")
					now[id] = hold.Reason.Detail
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
		if kept && err == nil {
			want = now
		} else if kept || !errors.Is(err, undone) {
			t.Fatal(err)
		}
	})
}
