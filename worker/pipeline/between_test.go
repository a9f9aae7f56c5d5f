package pipeline

import (
	"errors"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/ai"
	"belfry/store"
)

func TestWhatIsParkedGoesWithItsMessage(t *testing.T) {
	inBubble(t, Config{Vision: true}, func(b *bench) {
		b.asked = func([]ai.Message) (string, error) {
			return "", &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Err: errors.New("not this picture")}
		}
		ids := b.arrive(store.Message{Text: "весна", Media: &store.MessageMedia{Kind: "photo"}})
		b.Pass(10 * time.Minute)
		if s := b.status("vision"); s.Parked != 1 {
			t.Fatalf("%+v", s)
		}
		b.Update(func(tx *store.Tx) error { return tx.Messages.Remove(ids[0]) }) // its channel is removed, or it is too old
		b.Pass(48 * time.Hour)
		if s := b.status("vision"); s.Parked != 0 || s.Lost() != 0 {
			t.Errorf("two days after its message is gone: parked %d, lost %d", s.Parked, s.Lost())
		}
		b.View(func(tx *store.Tx) error {
			for _, a := range b.w.wrong(tx) {
				t.Errorf("an alert stands: %s %s %d", a.Kind, a.About, a.Count)
			}
			return nil
		})
	})
}
