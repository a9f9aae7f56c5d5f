package moving

import (
	"context"
	"errors"
	"strings"
	"time"

	"belfry/store"
	"belfry/worker/tasks"
)

// task reads a row of userbot_tasks. Of one that was begun nobody knows which chats have it, so nothing of it is sent.
func (w *Worker) task(_ context.Context, r *reader, was uint64) (func(*store.Tx) (uint64, error), error) {
	request := tasks.Request{Targets: r.list("target_chat_ids")}
	err := w.db.View(func(tx *store.Tx) (err error) {
		request.ContentID, request.Text, err = r.content(tx)
		return err
	})
	ended := tasks.Ended{Sent: r.number("sent_count"), Failed: r.number("error_count"), CreatedAt: r.time("created_at")}
	due, lastError := r.time("run_at"), store.Shorten(r.text("last_error"), 300)
	switch status := strings.ToLower(r.text("status")); status {
	case "pending", "":
		switch {
		case ended.Sent > 0 || r.number("attempts") > 0: // it failed on its way and was to be taken up again
			ended.Status, ended.Reason = store.TaskFailed, store.Reason{Code: store.ReasonUnknown, Detail: lastError}
		case due.Before(r.now) && !r.batch.Publish:
			ended.Status, ended.Reason = store.TaskCancelled, store.Reason{Code: store.ReasonImportedLate}
		case !due.IsZero():
			request.StartAt = due.Format(time.RFC3339Nano)
		}
	case "processing":
		ended.Status, ended.Reason = store.TaskFailed, store.Reason{Code: store.ReasonUnknown, Detail: lastError}
	case "done":
		ended.Status = store.TaskDone
	case "failed", "error":
		ended.Status = store.TaskFailed
	case "cancelled", "canceled":
		ended.Status = store.TaskCancelled
	default:
		r.wrong("status", "invalid.not_one_of", status, "pending, processing, done, failed, cancelled")
	}
	if ended.Reason.Zero() && lastError != "" {
		ended.Reason = store.Reason{Code: store.ReasonError, Detail: lastError}
	}
	if err != nil || r.err != nil {
		return nil, err
	}
	late := ended.Reason.Code == store.ReasonImportedLate
	r.stops = ended.Status != "" && !late
	draft, err := w.Tasks.Prepare(request)
	return func(tx *store.Tx) (uint64, error) {
		var job store.Job
		if was != 0 {
			old, err := tx.Tasks.Get(was)
			if err != nil {
				return 0, err
			}
			if old.Status == store.TaskCancelled && old.LastError.Code != store.ReasonImportedLate && !r.was.Stopped && !r.stops { // here, since
				r.report.note("import.kept")
				return was, nil
			}
			if job, err = tx.Jobs.ByName(old.JobName()); err != nil && !errors.Is(err, store.ErrNotFound) {
				return 0, err
			}
			if err := w.Tasks.Remove(tx, was); err != nil {
				return 0, err
			}
		}
		if ended.Status != "" {
			task, err := w.Tasks.Record(tx, draft, ended)
			return task.ID, err
		}
		task, err := w.Tasks.Create(tx, draft)
		if err == nil && job.State == store.JobPaused {
			task, err = w.Tasks.Pause(tx, task.ID)
		}
		return task.ID, err
	}, err
}

// chat reads a row of chats.
func (w *Worker) chat(_ context.Context, r *reader, _ uint64) (func(*store.Tx) (uint64, error), error) {
	state := tasks.ChatState{
		Off: r.yes("disabled", false), Seen: r.number("user_messages_since_last_post"),
		LastSuccess: r.time("last_success_post_at"), LastError: r.text("last_error"),
	}
	target := r.text("chat_id")
	return func(tx *store.Tx) (uint64, error) {
		chat, err := w.Tasks.SetChat(tx, target, state)
		return chat.ID, err
	}, nil
}
