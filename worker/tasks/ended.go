package tasks

import (
	"cmp"
	"errors"
	"strconv"
	"time"

	"belfry/platform"
	"belfry/store"
)

// Ended is how a task has ended in another system, which does not say what each of its chats has got.
type Ended struct {
	Status       store.TaskStatus
	Reason       store.Reason
	Sent, Failed int
	CreatedAt    time.Time
}

// Record writes a task that has ended in another system. It has no deliveries: nothing is sent again to any of its chats.
// One that was not begun there keeps its chats, and can be retried.
func (w *Worker) Record(tx *store.Tx, d Draft, e Ended) (store.Task, error) {
	task := d.task
	task.Key, task.Status, task.LastError = platform.NewKey(), e.Status, e.Reason
	task.Sent, task.Failed, task.Total = e.Sent, e.Failed, max(len(d.targets), e.Sent+e.Failed)
	task.CreatedAt, task.UpdatedAt, task.EndedAt = cmp.Or(e.CreatedAt, tx.Now()), tx.Now(), tx.Now()
	put := tx.Tasks.Table.Put // what failed long ago raises no alert
	if e.Reason.Code == store.ReasonImportedLate {
		if err := put(&task); err != nil {
			return task, err
		}
		return task, errors.Join(reserve(tx, &task, d.targets), put(&task)) // whoever retries it has them made ready
	}
	task.Skipped = task.Total - e.Sent - e.Failed
	if task.Total > 0 {
		var err error
		if task.First, err = tx.Deliveries.Reserve(task.Total); err != nil {
			return task, err
		}
	}
	return task, put(&task)
}

// Remove deletes a task in whose place another one comes, with its deliveries. One that was begun is refused.
func (w *Worker) Remove(tx *store.Tx, id uint64) error {
	task, err := tx.Tasks.Get(id)
	if err != nil {
		return err
	}
	if task.Attempts > 0 {
		return store.Conflict("conflict.task_begun", id)
	}
	if err := deleteJobs(tx, task); err != nil {
		return err
	}
	for d := range tx.Deliveries.From(task.First) {
		if d.TaskID != id || d.ID >= task.First+uint64(task.Total) {
			break
		}
		if err := tx.Deliveries.Delete(d.ID); err != nil {
			return err
		}
	}
	return tx.Tasks.Delete(id)
}

// ChatState is what another system knows of a chat.
type ChatState struct {
	Off         bool
	Seen        int
	LastSuccess time.Time
	LastError   string
}

// SetChat writes what another system knows of a chat of the usual user account. target is the chat's id, in the notation
// of bots and Telethon.
func (w *Worker) SetChat(tx *store.Tx, target string, s ChatState) (store.Chat, error) {
	account, err := usualAccount(tx)
	if err != nil {
		return store.Chat{}, err
	}
	id, err := strconv.ParseInt(target, 10, 64)
	if err != nil || id == 0 {
		return store.Chat{}, store.Invalid("chat_id", "invalid.chat", target)
	}
	chat := platform.Chat{ChatRef: platform.ChatRef{Type: platform.ChatType(store.PeerUser), ID: id}, Title: target}
	switch {
	case id < -1_000_000_000_000:
		chat.Type, chat.ID = platform.ChatType(store.PeerChannel), -id-1_000_000_000_000
	case id < 0:
		chat.Type, chat.ID = platform.ChatType(store.PeerChat), -id
	}
	row, err := tx.Chats.ByPeer(account.ID, store.PeerType(chat.Type), chat.ID)
	if errors.Is(err, store.ErrNotFound) {
		row, err = meet(tx, account.ID, chat, false)
	}
	if err != nil {
		return row, err
	}
	row.Off, row.Seen, row.LastSuccess, row.UpdatedAt = s.Off, s.Seen, s.LastSuccess, tx.Now()
	row.LastError = store.Reason{}
	if s.LastError != "" {
		row.LastError = store.Reason{Code: store.ReasonError, Detail: store.Shorten(s.LastError, 300)}
	}
	return row, tx.Chats.Put(&row)
}
