package posts

import (
	"context"
	"testing"
	"time"

	"belfry/store"
)

func TestAPostThatIsGivenToAnotherAccountDoesNotWaitForTheWindowOfTheFirst(t *testing.T) {
	inWindow(t, "1/1h", func(b *bench, w *windowed) {
		var second uint64
		b.Update(func(tx *store.Tx) error {
			i := store.Identity{Platform: "telegram", Name: "second", Kind: store.IdentityBot, Target: "@channel", State: store.IdentityReady, Window: "off"}
			defer func() { second = i.ID }()
			return tx.Identities.Put(&i)
		})
		b.schedule(0, Request{Text: "first"})
		b.Pass(time.Minute)
		id := b.schedule(0, Request{Text: "second"}).ID
		b.Pass(time.Minute)
		if p := b.post(id); p.Reason.Code != store.ReasonWindow {
			t.Fatalf("%+v", p)
		}
		draft, err := b.worker.PrepareChange(context.Background(), id, Patch{IdentityID: &second})
		if err != nil {
			t.Fatal(err)
		}
		b.Update(func(tx *store.Tx) error { _, err := b.worker.Change(tx, id, draft); return err })
		b.Pass(time.Minute)
		if p := b.post(id); p.Status != store.PostPublished {
			b.View(func(tx *store.Tx) error {
				job, err := tx.Jobs.ByName(p.JobName())
				t.Errorf("a minute later it is %s as login %d, whose window is off; its job waits until %s: %s", p.Status, p.IdentityID, time.Until(job.Due), job.Reason.Code)
				return err
			})
		}
		w.at = nil
	})
}
