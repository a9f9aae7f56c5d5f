package channels

import (
	"context"
	"testing"
	"time"

	"belfry/scheduler"
	"belfry/store"
)

func TestAChannelThatIsPausedAmongTheJobsIsRemovedAllTheSame(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.network.Add(100, "news").Post(text("one"))
		id := b.add("news")
		b.Pass(time.Minute)
		b.Update(func(tx *store.Tx) error { // what the page of the jobs, the API and the command do
			_, err := scheduler.Pause(tx, b.channel(id).JobName())
			return err
		})
		b.Update(func(tx *store.Tx) error { return b.channels.Remove(tx, id) })
		b.Pass(24 * time.Hour)
		b.View(func(tx *store.Tx) error {
			if c, err := tx.Channels.Get(id); err == nil {
				job, _ := tx.Jobs.ByName(c.JobName())
				t.Errorf("a day later the channel is there: removed %v, its job is %s, messages: %d", c.Removed, job.State, len(b.messages(id)))
			}
			return nil
		})
		d, err := b.channels.Prepare(context.Background(), Request{Channel: "@news"})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.DB.Update(func(tx *store.Tx) error { _, err := b.channels.Create(tx, d); return err }); err != nil {
			t.Errorf("it cannot be added again: %v", err)
		}
	})
}
