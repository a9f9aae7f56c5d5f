package tasks

import (
	"errors"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
)

// change is what a step's end means for its delivery and its task: they are changed in place, and the
// delivery's status and the reason for it are returned.
type change func(tx *store.Tx, task *store.Task, d *store.Delivery) (store.DeliveryStatus, store.Reason, error)

// settle ends a step that has asked the network: the task comes again in its next turn.
func (w *Worker) settle(s *step, fn change) scheduler.Outcome { return w.settleAsked(s, true, fn) }

// settleAsked ends a step. If the chat was not asked, the task keeps its turn.
func (w *Worker) settleAsked(s *step, asked bool, fn change) scheduler.Outcome {
	return scheduler.Outcome{Again: w.db.Now(), Write: func(tx *store.Tx) error { return w.write(tx, s, asked, fn) }}
}

// write writes the end of a step. What was sent goes on record also if the task was ended meanwhile.
func (w *Worker) write(tx *store.Tx, s *step, asked bool, fn change) error {
	task, err := tx.Tasks.Get(s.task.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	d, err := tx.Deliveries.Get(s.delivery.ID)
	if err != nil {
		return err
	}
	if d.Status != store.DeliveryPending {
		return nil
	}
	if err := s.endCall(tx, task, asked); err != nil {
		return err
	}
	if !asked && !task.Status.Final() {
		task.Slot = tx.Now()
	}
	if d.Status, d.Reason, err = fn(tx, &task, &d); err != nil {
		return err
	}
	if d.Status != store.DeliveryPending {
		d.After = time.Time{}
	}
	if err := tx.Deliveries.Put(&d); err != nil {
		return err
	}
	w.note(tx, &task, d)
	task.UpdatedAt = tx.Now()
	return tx.Tasks.Put(&task)
}

// endCall notes when the step's call ended. If nothing was asked, the account's pace is what it was before.
func (s *step) endCall(tx *store.Tx, task store.Task, asked bool) error {
	pace, err := tx.Paces.Of(task.IdentityID)
	if err != nil {
		return err
	}
	switch {
	case asked:
		pace.Open, pace.Last, pace.Gap = 0, tx.Now(), task.MinPause
		if task.Status.Final() { // its pause does not bind the others any more
			pace.Gap = 0
		}
	case s.begun:
		pace.Open, pace.Last, pace.Gap = s.pace.Open, s.pace.Last, s.pace.Gap
	default:
		return nil
	}
	return tx.Paces.Put(&pace)
}

// changePace changes the pace of an account.
func changePace(tx *store.Tx, identityID uint64, fn func(*store.Pace)) error {
	return worker.Change(tx.Paces.Of, tx.Paces.Put, identityID, fn)
}

// note counts what became of a delivery and keeps its reason as the task's last error.
func (w *Worker) note(tx *store.Tx, task *store.Task, d store.Delivery) {
	count(task, d.Status, 1)
	if d.Status != store.DeliveryPending {
		tx.After(w.deliveries.WithLabelValues(string(d.Status)).Inc)
	}
	if d.Status != store.DeliverySent && !d.Reason.Zero() {
		task.LastError = d.Reason
	}
}

// lastTry says how the attempt ended that the delivery's step began. A step that failed before it
// began one is an attempt all the same; one before it whose end is not known stays unknown.
func lastTry(s *step, d *store.Delivery, now time.Time, outcome store.TryOutcome, why store.Reason, wait int) {
	if n := len(d.Tries); !s.begun || n == 0 {
		if n > 0 && d.Tries[n-1].Outcome == store.TryBegun {
			d.Tries[n-1].Outcome = store.TryUnknown
		}
		d.Add(store.Try{At: now})
	}
	t := &d.Tries[len(d.Tries)-1]
	t.Ended, t.Outcome, t.Reason, t.Wait = now, outcome, why, wait
}

// settleUnasked writes a delivery that the network was not asked about, and has the task go on at
// once, with the turn that it has.
func (w *Worker) settleUnasked(tx *store.Tx, s *step, d store.Delivery, status store.DeliveryStatus, why store.Reason) (scheduler.Outcome, error) {
	task, err := tx.Tasks.Get(s.task.ID)
	if err != nil {
		return scheduler.Outcome{}, err
	}
	d.Status, d.Reason = status, why
	if err := tx.Deliveries.Put(&d); err != nil {
		return scheduler.Outcome{}, err
	}
	w.note(tx, &task, d)
	task.Slot, task.UpdatedAt = tx.Now(), tx.Now()
	return scheduler.Outcome{Again: tx.Now()}, tx.Tasks.Put(&task)
}

// finish ends a task that has no chat left.
func (w *Worker) finish(tx *store.Tx, task store.Task) (scheduler.Outcome, error) {
	if task.Sent == 0 && task.Total > 0 {
		return end(tx, &task, store.TaskFailed, store.Reason{Code: store.ReasonNobody, Detail: task.LastError.Detail})
	}
	if task.Failed+task.Skipped == 0 { // what went wrong on the way is over
		task.LastError = store.Reason{}
	}
	out, err := end(tx, &task, store.TaskDone, task.LastError)
	if err == nil && w.ended != nil {
		err = w.ended(tx, task)
	}
	return out, err
}

// end ends a task, and the dry run of it that is under way.
func end(tx *store.Tx, task *store.Task, status store.TaskStatus, why store.Reason) (scheduler.Outcome, error) {
	task.Status, task.LastError, task.Slot = status, why, time.Time{}
	task.EndedAt, task.UpdatedAt = tx.Now(), tx.Now()
	if task.Check == store.CheckRunning {
		task.Check = ""
	}
	out := scheduler.Outcome{}
	if status == store.TaskFailed {
		out.Failed, out.Reason = true, why
	}
	return out, errors.Join(tx.Tasks.Put(task), giveBack(tx, task.IdentityID))
}

// meet returns the row of a chat, and makes or renews it. Whether it can be written to is only news
// if the network was asked.
func meet(tx *store.Tx, identityID uint64, chat platform.Chat, asked bool) (store.Chat, error) {
	row, err := tx.Chats.ByPeer(identityID, store.PeerType(chat.Type), chat.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return row, err
	}
	before := row
	row.IdentityID, row.Type, row.PeerID = identityID, store.PeerType(chat.Type), chat.ID
	row.Title, row.Username = chat.Title, chat.Username
	if asked {
		row.ReadOnly = !chat.Writable
	}
	if chat.Slowmode > 0 {
		row.Slowmode = int(chat.Slowmode / time.Second)
	}
	if row == before {
		return row, nil
	}
	if row.ID == 0 {
		row.CreatedAt = tx.Now()
	}
	row.UpdatedAt = tx.Now()
	return row, tx.Chats.Put(&row)
}

// changeChat changes a chat that is known.
func changeChat(tx *store.Tx, id uint64, fn func(*store.Chat)) error {
	if id == 0 {
		return nil
	}
	return worker.Change(tx.Chats.Get, tx.Chats.Put, id, func(c *store.Chat) {
		fn(c)
		c.UpdatedAt = tx.Now()
	})
}
