package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

const (
	// checkPage is how many chats one run of a dry run looks at without asking the network.
	checkPage = 200
	// checkPause is the pause after a question: asking for names too fast is answered with waits of
	// hours.
	checkPause = 3 * time.Second
	// loginPause is the pause after the network has refused the account as such.
	loginPause = time.Minute
	// checkAttempts is how often in a row a dry run may fail to ask before it is given up.
	checkAttempts = 10
	checkBackoff  = 30 * time.Second
)

// checker is the dry run: it finds out which chats of a task can be reached, and sends nothing.
type checker struct{ *Worker }

// found is what a dry run has found out about a delivery.
type found struct {
	delivery store.Delivery
	chat     platform.Chat
	asked    bool // the network was
	err      error
	again    bool // it is asked again
}

// Run looks at the next chats, up to the first for which the network had to be asked.
func (w checker) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	out, err := w.step(ctx, job)
	out.Step = true
	return out, err
}

func (w checker) step(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	task, page, out, err := w.beginCheck(job)
	if err != nil || len(page) == 0 {
		return out, err
	}
	var all []found
	asked := false
	for _, d := range page {
		f := found{delivery: d}
		if d.Status == store.DeliveryPending {
			f.chat, f.asked, f.err = w.network.Resolve(ctx, task.IdentityID, d.Target)
			asked = f.asked
		}
		if e, ok := errors.AsType[*platform.Error](f.err); ok && e.Kind != platform.Refused {
			return w.interrupted(job, task, all, f, e)
		}
		if all = append(all, f); asked {
			break
		}
	}
	out = scheduler.Outcome{Again: w.db.Now(), Write: w.found(task, all)}
	if asked {
		out.Again = w.db.Now().Add(checkPause)
		out.Reason = store.Reason{Code: store.ReasonPacing, Until: out.Again}
	}
	return out, nil
}

// End is called when the scheduler gives a dry run up: it can be asked for again.
func (w checker) End(tx *store.Tx, job store.Job, why store.Reason) error {
	return changeTask(job.Subject, func(t *store.Task) {
		if t.Check == store.CheckRunning {
			t.Check, t.LastError = "", why
		}
	})(tx)
}

// beginCheck returns the deliveries that come next. If there are none, the dry run is done.
func (w checker) beginCheck(job store.Job) (task store.Task, page []store.Delivery, out scheduler.Outcome, err error) {
	err = w.db.View(func(tx *store.Tx) error {
		task, err = tx.Tasks.Get(job.Subject)
		if errors.Is(err, store.ErrNotFound) || (err == nil && (task.Status.Final() || task.Check != store.CheckRunning)) {
			return nil
		}
		if err != nil {
			return err
		}
		identity, err := tx.Identities.Get(task.IdentityID)
		if err != nil {
			return err
		}
		if why, may := send.MayAct(identity); !may {
			out = send.HoldIdentity(out, job, identity, why, tx.Now())
			return nil
		}
		for d := range tx.Deliveries.From(max(task.First, task.Checked+1)) {
			if d.ID >= task.First+uint64(task.Total) || len(page) == checkPage {
				break
			}
			page = append(page, d)
		}
		if len(page) == 0 {
			out.Write = changeTask(task.ID, func(t *store.Task) {
				if t.Checked == task.Checked { // else it was asked for anew
					t.Check = store.CheckDone
				}
			})
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("begin the dry run of task %d: %w", job.Subject, err)
	}
	return task, page, out, err
}

// interrupted keeps what was found and goes on when the network can be asked again. A chat of which it
// says nothing but that stops nobody but itself: it is told as such at last.
func (w checker) interrupted(job store.Job, task store.Task, all []found, f found, e *platform.Error) (scheduler.Outcome, error) {
	out := scheduler.Outcome{Err: e}
	switch e.Kind {
	case platform.Wait:
		out.Again = w.db.Now().Add(e.Wait + time.Second)
		out.Reason = store.Reason{Code: store.ReasonFlood, Until: out.Again} // looking names up has to wait; sending has not
		f.again = f.delivery.Unreachable.Code != store.ReasonFlood           // it is the first time
		all = append(all, f)
	case platform.Login, platform.Stopped:
		out.Again = w.db.Now()
		out.Hold, out.Reason = out.Again.Add(loginPause), store.Reason{Code: store.ReasonLogin, Detail: e.Error()}
	default:
		switch {
		case len(all) > 0:
			out.Again = w.db.Now()
		case e.Scope == platform.ScopeIdentity || job.Attempt-job.Broken < chatFailures:
			return out, e // the scheduler counts it, and gives the dry run up in the end
		default:
			all = append(all, f)
			out.Again = w.db.Now().Add(checkPause)
		}
	}
	out.Write = w.found(task, all)
	return out, nil
}

// found writes what a run has found out.
func (w checker) found(task store.Task, all []found) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		for _, f := range all {
			d, err := tx.Deliveries.Get(f.delivery.ID)
			if err != nil {
				return err
			}
			if d.Status != store.DeliveryPending {
				continue
			}
			d.Reach, d.Unreachable = "yes", store.Reason{}
			if f.again {
				d.Reach, d.Unreachable = "", store.Reason{Code: store.ReasonFlood}
			} else if f.err != nil {
				d.Reach, d.Unreachable = "no", unanswered(f.err)
			} else if d.Unreachable, err = obstacle(tx, &d, task.IdentityID, f); err != nil {
				return err
			} else if !d.Unreachable.Zero() {
				d.Reach = "no"
			}
			if err := tx.Deliveries.Put(&d); err != nil {
				return err
			}
		}
		if n := len(all); n > 0 && all[n-1].again {
			all = all[:n-1]
		}
		if len(all) == 0 {
			return nil
		}
		return changeTask(task.ID, func(t *store.Task) {
			if t.Checked == task.Checked { // else it was asked for anew
				t.Checked = all[len(all)-1].delivery.ID
			}
		})(tx)
	}
}

// unanswered says why a chat counts as one that cannot be reached.
func unanswered(err error) store.Reason {
	e := platform.AsError(err)
	why := store.Reason{Code: store.ReasonError, Detail: e.Error()}
	switch e.Kind {
	case platform.Refused:
		why.Code = store.ReasonRefused
	case platform.Wait:
		why.Code = store.ReasonFlood
	}
	return why
}

// obstacle notes which chat a delivery goes to, and says why it will not be made, if so.
func obstacle(tx *store.Tx, d *store.Delivery, identityID uint64, f found) (store.Reason, error) {
	row, err := meet(tx, identityID, f.chat, f.asked)
	if err != nil {
		return store.Reason{}, err
	}
	d.ChatID, d.Title = row.ID, row.Title
	if row.ReadOnly {
		return store.Reason{Code: store.ReasonReadOnly}, nil
	}
	return unwanted(tx, *d, row)
}

func changeTask(id uint64, fn func(*store.Task)) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		return worker.Change(tx.Tasks.Get, tx.Tasks.Put, id, func(t *store.Task) {
			fn(t)
			t.UpdatedAt = tx.Now()
		})
	}
}
