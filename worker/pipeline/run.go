package pipeline

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"golang.org/x/sync/errgroup"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

const (
	// runTime bounds the work on one batch.
	runTime = 4 * time.Minute
	// backoff is the pause after an item has failed once; each further one is twice as long, up to longestBackoff.
	backoff        = 30 * time.Second
	longestBackoff = time.Hour
	// accountPause is the pause after the AI has refused the account: an owner has to set its key right, or pay.
	accountPause = 10 * time.Minute
)

// runner carries out the stage whose job runs: one batch in each run.
type runner struct{ *Worker }

// outcome is what became of an item of a batch.
type outcome struct {
	store.Handled
	result Result
	gone   bool // the message does not exist any more
}

// Run handles the next batch of a stage.
func (w runner) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	stage, err := w.stage(job.Name[len(jobName("")):])
	if err != nil {
		return scheduler.Outcome{}, err
	}
	var batch store.Batch
	messages := map[uint64]store.Message{}
	err = w.db.View(func(tx *store.Tx) (err error) {
		if batch, err = tx.Streams.Fetch(stage.Name, stage.Batch); err != nil {
			return err
		}
		for _, item := range batch.Items {
			m, err := tx.Messages.Get(item.Event.Message)
			if errors.Is(err, store.ErrNotFound) || store.IsCorrupt(err) {
				continue
			}
			if err != nil {
				return err
			}
			messages[m.ID] = m
		}
		return nil
	})
	if err != nil {
		return scheduler.Outcome{}, err
	}
	now := w.db.Now()
	if held := batch.Group.Held(now); !held.IsZero() {
		return scheduler.Outcome{Again: held, Reason: batch.Group.LastError, Step: true}, nil
	}
	out := scheduler.Outcome{Again: earliest(batch.Next, now.Add(idle)), Step: true}
	if batch.Empty() {
		return out, nil
	}
	handled := w.work(ctx, stage, batch, messages)
	if ctx.Err() != nil { // what was cut short by the end of the program is done again
		return scheduler.Outcome{}, context.Cause(ctx)
	}
	for _, h := range handled {
		out.Again = earliest(h.Due, out.Again)
	}
	hold, why := heldUntil(handled)
	if !hold.IsZero() {
		out.Again, out.Reason = hold, why
	}
	out.Write = func(tx *store.Tx) error {
		if err := w.record(tx, stage, batch, handled); err != nil {
			return err
		}
		if hold.IsZero() {
			return nil
		}
		return tx.Streams.Hold(stage.Name, hold, why)
	}
	return out, nil
}

// work handles the items of a batch, several at once.
func (w runner) work(ctx context.Context, stage Stage, batch store.Batch, messages map[uint64]store.Message) []outcome {
	ctx, cancel := context.WithTimeout(ctx, runTime)
	defer cancel()
	if stage.Together != nil {
		stage.Work = stage.Together(ctx, messages)
	}
	handled := make([]outcome, len(batch.Items))
	var group errgroup.Group
	group.SetLimit(max(1, stage.Parallel))
	for i, item := range batch.Items {
		m, found := messages[item.Event.Message]
		if !found {
			handled[i] = outcome{Handled: store.Handled{State: store.StageSkipped}, gone: true}
			continue
		}
		group.Go(func() error {
			handled[i] = w.handle(ctx, stage, item, m)
			return nil
		})
	}
	_ = group.Wait()
	return handled
}

// handle has a stage work on one message.
func (w runner) handle(ctx context.Context, stage Stage, item store.StreamItem, m store.Message) (o outcome) {
	if stage.Off {
		return outcome{Handled: store.Handled{State: store.StageSkipped, Reason: store.Reason{Code: store.ReasonOff}}}
	}
	ctx, cancel := context.WithTimeout(ctx, stage.Deadline)
	defer cancel()
	result, err := call(ctx, stage, item.Event, m)
	now := w.db.Now()
	switch {
	case err != nil:
		return outcome{Handled: w.failed(stage, item, err)}
	case !result.Again.IsZero():
		o.Handled = store.Handled{State: store.StageRetrying, Due: result.Again, Reason: result.Why, Free: true}
	case result.Write == nil:
		o.Handled = store.Handled{State: store.StageSkipped, Reason: result.Why}
	default:
		o.Handled = store.Handled{State: store.StageDone, Reason: result.Why}
	}
	if o.Due.Sub(now) > longestBackoff {
		o.Due = now.Add(longestBackoff)
	}
	o.result = result
	return o
}

// call calls a stage and turns a panic into an error.
func call(ctx context.Context, stage Stage, e store.Event, m store.Message) (r Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
		}
	}()
	return stage.Work(ctx, e, m)
}

// failed says what follows from an error: the item is tried again, or parked. Where the AI asks to wait, or refuses the
// account, the attempt does not count.
func (w runner) failed(stage Stage, item store.StreamItem, err error) store.Handled {
	h := store.Handled{State: store.StageRetrying, Reason: store.Reason{Code: store.ReasonError, Detail: store.Shorten(err.Error(), 500)}}
	now := w.db.Now()
	e, outside := errors.AsType[*platform.Error](err)
	if outside && e.Kind == platform.Refused && e.Scope == platform.ScopeIdentity {
		e = &platform.Error{Kind: platform.Wait, Wait: accountPause}
	}
	tries := item.Attempts + 1
	switch {
	case outside && e.Kind == platform.Wait:
		h.Free, h.Reason.Code, h.Due = true, store.ReasonWaits, now.Add(min(max(e.Wait, time.Second), longestBackoff))
	case outside && e.Kind == platform.Refused, tries >= stage.Attempts:
		h.State = store.StageParked
	default:
		h.Reason.N, h.Reason.Of = tries, stage.Attempts
		h.Due = now.Add(min(backoff<<min(tries-1, 10), longestBackoff))
	}
	return h
}

// heldUntil is until when a stage waits, because what it asks wants that; zero if it does not.
func heldUntil(handled []outcome) (until time.Time, why store.Reason) {
	for _, h := range handled {
		if h.Reason.Code == store.ReasonWaits && h.Due.After(until) {
			until, why = h.Due, h.Reason
		}
	}
	return until, why
}

// record writes what became of a batch: the messages with their passports, the events that follow, and how far the
// stage has come.
func (w runner) record(tx *store.Tx, stage Stage, batch store.Batch, handled []outcome) error {
	states := make([]store.Handled, len(handled))
	for i, h := range handled {
		states[i] = h.Handled
		if h.gone {
			continue
		}
		m, err := tx.Messages.Get(batch.Items[i].Event.Message)
		if errors.Is(err, store.ErrNotFound) {
			states[i] = store.Handled{State: store.StageSkipped}
			continue
		}
		if err != nil {
			return err
		}
		if states[i], err = pass(tx, stage, batch.Items[i], h, &m); err != nil {
			return fmt.Errorf("message %d: %w", m.ID, err)
		}
	}
	return tx.Streams.Commit(batch, states)
}

// pass writes what a stage learned of one message, and returns what became of that: where a damaged row is in the way it
// is parked, and keeps no other message waiting.
func pass(tx *store.Tx, stage Stage, item store.StreamItem, h outcome, m *store.Message) (store.Handled, error) {
	if h.State == store.StageDone {
		if err := h.result.Write(tx, m); store.IsCorrupt(err) {
			h.State, h.Reason = store.StageParked, store.Reason{Code: store.ReasonError, Detail: err.Error()}
		} else if err != nil {
			return h.Handled, err
		}
	}
	attempts := item.Attempts
	if h.State == store.StageRetrying || h.State == store.StageParked {
		attempts++
	}
	if m.Stages == nil {
		m.Stages = map[string]store.StageState{}
	}
	m.Stages[stage.Name] = store.StageState{State: h.State, At: tx.Now(), Attempts: attempts, Reason: h.Reason}
	if err := tx.Messages.Put(m); err != nil {
		return h.Handled, err
	}
	if stage.To == "" || h.State == store.StageRetrying || stage.OnlyDone && h.State != store.StageDone {
		return h.Handled, nil
	}
	return h.Handled, tx.Streams.Append(stage.To, item.Event.Why, m.ID)
}
