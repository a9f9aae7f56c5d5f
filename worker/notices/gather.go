package notices

import (
	"time"
	"unicode/utf16"

	"belfry/scheduler"
	"belfry/store"
)

const (
	// gatherAge is how long a notice has waited that is put together with others.
	gatherAge = 10 * time.Minute
	// maxGathered is how many notices are looked at for that.
	maxGathered = 1000
)

// gather puts those of a chat's notices together that have waited for long and are of the same kind as the
// oldest one, so that after an outage a chat gets a few messages and not hundreds. It is called in the
// transaction that ends the notice before: no call was made yet for any of them, so what the oldest one says
// may still change.
func (w *Worker) gather(tx *store.Tx, lane, chat string) error {
	var all []store.Notice
	units, looked := 0, 0
	for n := range tx.Notices.Queue(lane, chat) {
		if looked++; looked > maxGathered || n.Attempts > 0 || tx.Now().Sub(n.CreatedAt) < gatherAge {
			break
		}
		if len(all) > 0 && n.Kind != all[0].Kind {
			continue
		}
		n.Text = n.CreatedAt.In(w.Zone()).Format("02.01 15:04") + " " + n.Text
		units += len(utf16.Encode([]rune(n.Text))) + len("\n\n")
		if n.Chat == store.WebhookChat || n.File != "" || n.Query != 0 || units > maxText {
			break
		}
		all = append(all, n)
	}
	if len(all) < 2 {
		return nil
	}
	first := all[0]
	first.Buttons = nil // under many texts nobody knows what they are about
	for _, n := range all[1:] {
		first.Text += "\n\n" + n.Text
		if err := tx.Notices.Delete(n.ID); err != nil {
			return err
		}
		if err := scheduler.Delete(tx, n.JobName()); err != nil {
			return err
		}
	}
	return tx.Notices.Put(&first)
}
