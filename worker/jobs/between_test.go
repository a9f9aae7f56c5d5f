package jobs

import (
	"context"
	"errors"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
)

func TestAMessageThatIsGivenToAnotherAccountDoesNotWaitForTheFirst(t *testing.T) {
	inBubble(t, func(b *bench) {
		var second uint64
		b.Update(func(tx *store.Tx) error {
			i := store.Identity{Platform: "telegram", Name: "second", Target: "@one", State: store.IdentityReady}
			defer func() { second = i.ID }()
			return tx.Identities.Put(&i)
		})
		b.network.fail = func() error {
			b.network.fail = nil
			return &platform.Error{Kind: platform.Wait, Scope: platform.ScopeIdentity, Wait: 20 * time.Hour, Err: errors.New("FLOOD_WAIT")}
		}
		made := b.add(Request{Trigger: Schedule{At: b.DB.Now().Add(time.Minute).Format(time.RFC3339)}})
		b.Pass(5 * time.Minute)
		d, err := b.jobs.PrepareChange(context.Background(), made.Name, func(r *Request) { r.Action.IdentityID = second })
		if err != nil {
			t.Fatal(err)
		}
		b.Update(func(tx *store.Tx) error { _, err := b.jobs.Change(tx, d); return err })
		b.Pass(10 * time.Minute)
		if len(b.network.order) != 1 {
			b.View(func(tx *store.Tx) error {
				job, err := tx.Jobs.ByName(made.Name)
				t.Errorf("ten minutes later it is not sent: lane %s, due in %s, %s", job.Lane, time.Until(job.Due), job.Reason.Code)
				return err
			})
		}
	})
}
