package bookings

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"belfry/store"
)

// The day is long for a test: go test -short leaves it out.
func TestTenThousandBookingsAreRemindedOnceEach(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	inBubble(t, func(b *bench) {
		const n = 10_000
		b.Update(func(tx *store.Tx) error {
			all := make([]Request, n)
			for i := range all {
				if err := b.met(tx, int64(10_000+i), fmt.Sprint("client", i)); err != nil {
					return err
				}
				all[i] = Request{Client: strconv.Itoa(10_000 + i), Service: "Haircut", Start: in(36*time.Hour + time.Duration(i)*8*time.Second)}
			}
			_, err := b.w.CreateAll(tx, all)
			return err
		})
		for range 66 {
			b.Pass(time.Hour)
		}
		got := map[string]int{}
		for _, p := range b.posts {
			got[p.Target+p.Text[:4]]++
		}
		if len(b.posts) != 4*n || len(got) != 2*n || len(b.keys) != 4*n {
			t.Errorf("%d messages of %d keys to %d clients", len(b.posts), len(b.keys), len(got)/2)
		}
		for to, times := range got {
			if want := map[string]int{"Remi": 3, "How ": 1}[to[len(to)-4:]]; times != want {
				t.Fatalf("%s: %d messages, not %d", to, times, want)
			}
		}
	})
}
