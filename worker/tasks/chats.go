package tasks

import (
	"context"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

// lister reads the list of an account's chats.
type lister struct{ *Worker }

// Run asks for the list and writes it down.
func (w lister) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	chats, err := w.network.Chats(ctx, job.Subject)
	if err == nil {
		return scheduler.Outcome{Write: func(tx *store.Tx) error { return list(tx, job.Subject, chats) }}, nil
	}
	e := platform.AsError(err)
	switch e.Kind {
	case platform.Wait:
		until := w.db.Now().Add(e.Wait)
		return scheduler.Outcome{Again: until, Hold: until, Reason: store.Reason{Code: store.ReasonFlood, Until: until}}, nil
	case platform.Login, platform.Stopped: // it is listed when the account is logged in again
		return scheduler.Outcome{Failed: true, Reason: store.Reason{Code: store.ReasonLogin, Detail: e.Error()}}, nil
	}
	return scheduler.Outcome{}, err
}

func list(tx *store.Tx, identityID uint64, chats []platform.Chat) error {
	for _, chat := range chats {
		row, err := meet(tx, identityID, chat, true)
		if err != nil {
			return err
		}
		row.ListedAt = tx.Now()
		if err := tx.Chats.Put(&row); err != nil {
			return err
		}
	}
	return nil
}

// Seen counts messages of others that have come into an account's chats, since something was last
// sent there. Chats that are not known, or are damaged, are not counted.
func (w *Worker) Seen(identityID uint64, counts map[platform.ChatRef]int) error {
	return w.db.Update(func(tx *store.Tx) error {
		for ref, n := range counts {
			chat, err := tx.Chats.ByPeer(identityID, store.PeerType(ref.Type), ref.ID)
			if err != nil {
				continue
			}
			chat.Seen += n
			if err := tx.Chats.Put(&chat); err != nil {
				return err
			}
		}
		return nil
	})
}
