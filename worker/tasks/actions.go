package tasks

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"belfry/i18n"
	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// Create writes the task, its deliveries and its job. The deliveries of a large one are written after it,
// in steps, while it is [store.TaskPreparing].
func (w *Worker) Create(tx *store.Tx, d Draft) (store.Task, error) {
	task := d.task
	task.ID, task.Status, task.Key, task.Total = 0, store.TaskPreparing, platform.NewKey(), len(d.targets)
	task.CreatedAt, task.UpdatedAt = tx.Now(), tx.Now()
	if d.dryRun {
		task.Check = store.CheckRunning
	}
	if err := errors.Join(tx.Media.Use(task.Media), tx.Tasks.Put(&task)); err != nil {
		return task, err
	}
	if err := reserve(tx, &task, d.targets); err != nil {
		return task, err
	}
	if err := goOn(tx, &task); err != nil || !d.hold {
		return task, err
	}
	_, err := scheduler.Pause(tx, task.JobName())
	return task, err
}

func putJob(tx *store.Tx, task store.Task, identity store.Identity, at time.Time) error {
	return scheduler.Put(tx, store.Job{
		Name: task.JobName(), Kind: Kind, Subject: task.ID, Lane: identity.Lane(), Trigger: store.Trigger{At: at},
	})
}

func putCheck(tx *store.Tx, task store.Task, identity store.Identity) error {
	return scheduler.Put(tx, store.Job{
		Name: task.CheckName(), Kind: CheckKind, Subject: task.ID, Lane: identity.Lane(), Trigger: store.Trigger{At: tx.Now()},
	})
}

// Pause keeps a task from going on. A message under way is not stopped.
func (w *Worker) Pause(tx *store.Tx, id uint64) (store.Task, error) {
	task, err := running(tx, id)
	if err != nil {
		return task, err
	}
	if _, err = scheduler.Pause(tx, task.JobName()); err != nil || task.Slot.IsZero() {
		return task, err
	}
	task.Slot = time.Time{}
	return task, errors.Join(tx.Tasks.Put(&task), giveBack(tx, task.IdentityID))
}

// Resume lets a task go on that was paused, or made to be held.
func (w *Worker) Resume(tx *store.Tx, id uint64) (store.Task, error) {
	task, err := running(tx, id)
	if err != nil {
		return task, err
	}
	job, err := scheduler.Resume(tx, task.JobName())
	if err != nil || !job.Due.After(tx.Now()) || !job.Due.Equal(job.Occurrence) || task.StartAt.After(tx.Now()) && task.StartedAt.IsZero() {
		return task, err
	}
	// It was to go on at once, or has begun, by a clock that was ahead.
	identity, err := tx.Identities.Get(task.IdentityID)
	if err != nil {
		return task, err
	}
	return task, putJob(tx, task, identity, tx.Now())
}

// running returns a task that has not ended.
func running(tx *store.Tx, id uint64) (store.Task, error) {
	task, err := tx.Tasks.Get(id)
	if err == nil && task.Status.Final() {
		err = store.Conflict("conflict.task_ended", id, i18n.M("task.status."+string(task.Status)+".name"))
	}
	return task, err
}

// Cancel ends a task before its next chat. What was sent stays on record.
func (w *Worker) Cancel(tx *store.Tx, id uint64) (store.Task, error) {
	task, err := running(tx, id)
	if task.Status == store.TaskCancelled {
		return task, nil
	}
	if err != nil {
		return task, err
	}
	if _, err := end(tx, &task, store.TaskCancelled, task.LastError); err != nil {
		return task, err
	}
	return task, deleteJobs(tx, task)
}

func deleteJobs(tx *store.Tx, task store.Task) error {
	return errors.Join(scheduler.Delete(tx, task.JobName()), scheduler.Delete(tx, task.CheckName()), scheduler.Delete(tx, task.PrepareName()))
}

// Retry has a task that has ended send to those chats again that did not get it: those that failed
// and those that refused. A cancelled task goes on with the chats that are left, too. Each chat
// keeps its key, so one that got it after all does not get it twice.
func (w *Worker) Retry(tx *store.Tx, id uint64) (store.Task, error) {
	task, err := tx.Tasks.Get(id)
	if err != nil {
		return task, err
	}
	_, err = tx.Identities.Get(task.IdentityID)
	if errors.Is(err, store.ErrNotFound) {
		return task, store.Conflict("conflict.task_login_gone", id)
	}
	if err != nil {
		return task, err
	}
	if task.Status == store.TaskPreparing {
		return task, nil // it comes to them by itself
	}
	if task.Status.Final() {
		task.Attempts, task.LastError, task.Refusal, task.Refusals = 0, store.Reason{}, "", 0
		task.StartAt, task.Slot, task.EndedAt = tx.Now(), time.Time{}, time.Time{}
	}
	if err := goOn(tx, &task); err != nil {
		return task, err
	}
	if task.Left() == 0 && task.Status != store.TaskPreparing {
		return task, store.Conflict("conflict.none_failed", id)
	}
	return task, nil
}

// count counts a delivery that has come into a status, or left it.
func count(task *store.Task, status store.DeliveryStatus, n int) {
	switch status {
	case store.DeliverySent:
		task.Sent += n
	case store.DeliveryFailed:
		task.Failed += n
	case store.DeliverySkipped:
		task.Skipped += n
	}
}

// DryRun has the chats of a task looked at again that are not settled. It does not stop the task.
func (w *Worker) DryRun(tx *store.Tx, id uint64) (store.Task, error) {
	task, err := running(tx, id)
	if err != nil {
		return task, err
	}
	identity, err := tx.Identities.Get(task.IdentityID)
	if err != nil {
		return task, err
	}
	task.Check, task.Checked, task.UpdatedAt = store.CheckRunning, 0, tx.Now()
	if err := tx.Tasks.Put(&task); err != nil || task.Status == store.TaskPreparing {
		return task, err
	}
	return task, putCheck(tx, task, identity)
}

// Preview sends the task's post to the account itself, at once.
func (w *Worker) Preview(ctx context.Context, id uint64) (platform.Receipt, error) {
	task, err := worker.Read(w.db, func(tx *store.Tx) (store.Task, error) { return tx.Tasks.Get(id) })
	if err != nil {
		return platform.Receipt{}, err
	}
	return w.toMe(ctx, task)
}

// PreviewOf sends the post of a request to the account itself, whether its other fields are right or
// not. What is wrong with the post is a [*store.FieldError].
func (w *Worker) PreviewOf(ctx context.Context, r Request) (platform.Receipt, error) {
	task, err := w.post(r)
	if err != nil {
		return platform.Receipt{}, err
	}
	return w.toMe(ctx, task)
}

func (w *Worker) toMe(ctx context.Context, task store.Task) (platform.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, w.deadline(task))
	defer cancel()
	post := platformPost(task, platform.NewKey(), Me)
	receipt, err := w.network.Publisher(task.IdentityID).Publish(ctx, post)
	for platform.AsError(err).Kind == platform.UnderWay && ctx.Err() == nil { // each call waits for the media for a while
		receipt, err = w.network.Publisher(task.IdentityID).Publish(ctx, post)
	}
	if err == nil {
		return receipt, nil
	}
	e := platform.AsError(err)
	if e.Kind == platform.Refused && e.Scope == platform.ScopeContent {
		return receipt, fieldError(e)
	}
	return receipt, store.Conflict("conflict.preview", store.Detail(e.Error()))
}

func (w *Worker) deadline(task store.Task) time.Duration {
	if len(task.Media) > 0 {
		return mediaDeadline * w.cfg.Deadline
	}
	return w.cfg.Deadline
}

// Measure counts the text of a request as the network does. A request that is not complete yet is
// no error.
func (w *Worker) Measure(r Request) (Measure, error) {
	media, err := worker.Read(w.db, func(tx *store.Tx) ([]store.Media, error) { return tx.Media.Fill(r.Media) })
	if err != nil {
		return Measure{}, err
	}
	task := store.Task{Text: r.Text, Format: cmp.Or(r.Format, string(platform.Plain)), Media: media}
	m, err := w.network.Check(platformPost(task, 0, ""))
	if err != nil {
		return m, fieldError(err)
	}
	return m, nil
}

// Measure is the length of a text as its network counts it, once the markup is parsed.
type Measure = platform.Measure

// SwitchChat switches a chat off, so that tasks skip it, or on.
func SwitchChat(tx *store.Tx, id uint64, off bool) (store.Chat, error) {
	chat, err := tx.Chats.Get(id)
	if err != nil {
		return chat, err
	}
	chat.Off, chat.UpdatedAt = off, tx.Now()
	return chat, tx.Chats.Put(&chat)
}

// ListChats has the account's list of chats read again.
func ListChats(tx *store.Tx, identityID uint64) error {
	identity, err := tx.Identities.Get(identityID)
	if err != nil {
		return err
	}
	if identity.Kind != store.IdentityUser {
		return store.Conflict("conflict.bot_no_chats")
	}
	return scheduler.Put(tx, store.Job{
		Name: fmt.Sprintf("chat_list_%d", identityID), Kind: ListKind, Subject: identityID,
		Lane: identity.Lane(), Trigger: store.Trigger{At: tx.Now()},
	})
}

// chatKey is the key of a task's post to a chat: the same whatever the chat was called, so that no
// chat gets the post twice.
func chatKey(task store.Task, chat platform.ChatRef) int64 {
	b := []byte("belfry/tasks/key/1")
	b = binary.BigEndian.AppendUint64(b, uint64(task.Key))
	b = append(b, chat.Type...)
	b = binary.BigEndian.AppendUint64(b, uint64(chat.ID))
	sum := sha256.Sum256(b)
	if key := int64(binary.BigEndian.Uint64(sum[:])); key != 0 {
		return key
	}
	return 1
}
