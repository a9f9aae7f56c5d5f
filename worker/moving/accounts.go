package moving

import (
	"context"
	"errors"
	"strings"

	"belfry/store"
	"belfry/worker/accounts"
)

// account reads a row of accounts. One that is watched already gets the row's note, tag and chat.
func (w *Worker) account(_ context.Context, r *reader, was uint64) (func(*store.Tx) (uint64, error), error) {
	request := accounts.Request{
		Site: r.text("site", "platform"), Username: r.text("username"), Note: r.text("note"), Tag: r.text("tag"),
		OwnerChat: r.text("owner_chat"), KeepWatching: r.yes("keep_watching", false),
	}
	found := strings.ToLower(r.text("status", "state")) == "found"
	checked := r.time("checked_at")
	return func(tx *store.Tx) (uint64, error) {
		a, err := w.Accounts.Add(tx, request)
		_, watched := errors.AsType[*store.ConflictError](err)
		if watched {
			return a.ID, w.changeAccount(tx, a.ID, request)
		}
		if err != nil || !found || was != 0 {
			return a.ID, err
		}
		a.State, a.Outcome, a.CheckedAt, a.FoundAt, a.ChangedAt = store.AccountFound, store.OutcomeFound, checked, checked, checked
		return a.ID, tx.Accounts.Put(&a)
	}, nil
}

func (w *Worker) changeAccount(tx *store.Tx, id uint64, r accounts.Request) error {
	_, err := w.Accounts.Change(tx, id, accounts.Change{Note: &r.Note, Tag: &r.Tag, OwnerChat: &r.OwnerChat, KeepWatching: &r.KeepWatching})
	return err
}
