package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"belfry/platform"
	"belfry/platform/webhook"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/send"
)

// attempt is a run: the job as its claim has left it.
type attempt struct {
	*Worker
	own       store.OwnJob
	identity  store.Identity
	unreached int
	refused   error // why what the claim was to do was not done; nil: it was, or the run does it
}

// Begin gives what the run is to send its key, unless an attempt before has.
func (w *Worker) Begin(tx *store.Tx, job store.Job) (scheduler.Worker, error) {
	a := attempt{Worker: w}
	own, err := tx.OwnJobs.Get(job.Subject)
	if errors.Is(err, store.ErrNotFound) {
		return send.Ended{Failed: true, SetAside: true, Reason: store.Reason{Code: store.ReasonError, Detail: err.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	if own.Key == 0 || !own.Occurrence.Equal(job.Occurrence) {
		own.Key, own.Occurrence, own.Begun, own.Failures, own.Taken = platform.NewKey(), job.Occurrence, tx.Now(), 0, false
	}
	if late := tx.Now().Sub(job.Occurrence); own.Lateness.Policy == store.LateSkip && late > own.Lateness.Grace && own.Failures+job.Broken == 0 && !job.Requested {
		a.own = own // it was in time first, and has waited for its login or a connection since
		why := store.Reason{Code: store.ReasonLate, Detail: late.Round(time.Second).String()}
		return send.Ended{Reason: why, Write: a.done}, nil
	}
	a.refused = w.take(tx, &own)
	if err := tx.OwnJobs.Put(&own); err != nil {
		return nil, err
	}
	if a.own = own; own.Action.Type != store.ActionMessage {
		return a, nil
	}
	a.unreached = send.Unreached(tx, job.Lane)
	a.identity, err = tx.Identities.Get(own.Action.IdentityID)
	if errors.Is(err, store.ErrNotFound) {
		return send.Ended(a.failed(store.Reason{Code: store.ReasonIdentityGone})), nil
	}
	if why, may := send.MayAct(a.identity); err == nil && !may {
		return send.Ended(send.HoldIdentity(scheduler.Outcome{}, job, a.identity, why, tx.Now())), nil
	}
	return a, err
}

// take takes an action that is a change of the file alone, in the transaction of the claim: so it is taken once, wherever
// the program ends. It writes nothing where it refuses.
func (w *Worker) take(tx *store.Tx, own *store.OwnJob) (err error) {
	if own.Taken {
		return nil
	}
	switch own.Action.Type {
	case store.ActionRule:
		_, err = w.with.Rules.RunNow(tx, own.Action.RuleID)
	case store.ActionAutocheck:
		_, err = w.with.Accounts.CheckNow(tx)
	default:
		return nil
	}
	if own.Taken = err == nil; err != nil {
		err = errors.New(w.Printer().Error(err))
	}
	return err
}

// Run is never called: Begin returns what runs.
func (w *Worker) Run(context.Context, store.Job) (scheduler.Outcome, error) {
	return scheduler.Outcome{}, errors.ErrUnsupported
}

// End forgets a job that has ended without a run of its own to say so.
func (w *Worker) End(tx *store.Tx, job store.Job, _ store.Reason) error {
	return gone(tx.OwnJobs.Delete(job.Subject))
}

// gone passes an error on, unless it is that a record is not there any more.
func gone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// Run takes the job's action.
func (a attempt) Run(ctx context.Context, job store.Job) (scheduler.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, limit(a.own))
	defer cancel()
	var err error
	switch act := a.own.Action; act.Type {
	case store.ActionMessage:
		_, err = a.with.Messages.Publisher(act.IdentityID).Publish(ctx, platform.Post{
			Key: a.own.Key, Target: act.Target, Text: act.Text, Format: platform.Format(cmp.Or(act.Format, string(platform.Plain))),
		})
	case store.ActionWebhook:
		err = a.call(ctx, job)
	case store.ActionRule, store.ActionAutocheck:
		err = a.refused
	case store.ActionBackup:
		err = a.backUp()
	default:
		err = fmt.Errorf("this version has no action %q", act.Type)
	}
	if err != nil {
		return a.answered(job, err), nil
	}
	return scheduler.Outcome{Write: func(tx *store.Tx) error {
		if a.own.Action.Type == store.ActionBackup {
			return errors.Join(tx.Settings.NoteBackup(), a.done(tx))
		}
		return a.done(tx)
	}}, nil
}

// done ends what the run was about: a job that runs once is gone, and any other sends something new next time.
func (a attempt) done(tx *store.Tx) error {
	if a.own.Trigger.Once() {
		return gone(tx.OwnJobs.Delete(a.own.ID))
	}
	return tx.OwnJobs.Change(a.own.ID, func(own *store.OwnJob) { own.Key, own.Failures = 0, 0 })
}

// failed ends a run that no attempt would make succeed. What runs once is kept with its key: if it is run again, what is
// out after all is recognised.
func (a attempt) failed(why store.Reason) scheduler.Outcome {
	out := scheduler.Outcome{Failed: true, Reason: why, SetAside: a.own.Trigger.Once()}
	out.Write = func(tx *store.Tx) error {
		return tx.OwnJobs.Change(a.own.ID, func(own *store.OwnJob) {
			if own.Failures = 0; !out.SetAside {
				own.Key = 0
			}
		})
	}
	return out
}

// answered ends a run that met an error.
func (a attempt) answered(job store.Job, err error) scheduler.Outcome {
	now := a.db.Now()
	e, known := errors.AsType[*platform.Error](err)
	if !known || a.own.Action.Type != store.ActionMessage { // each call of a program of the owner's counts
		e = counted(e, err)
	}
	answer := send.To(e, now, send.Attempts{
		Failed: a.own.Failures, Most: cmp.Or(a.own.Attempts, attempts), Backoff: cmp.Or(a.own.Backoff, backoff), Unreached: a.unreached,
	})
	if answer.Again.IsZero() && answer.Next != send.IdentityOut {
		out := a.failed(answer.Reason)
		out.Err = err
		return out
	}
	if soonest := now.Add(e.Wait); answer.Next == send.Retry && answer.Again.Before(soonest) {
		answer.Again = soonest
	}
	out := answer.Outcome()
	out.Err = err
	if answer.Next == send.Retry {
		out.Write = func(tx *store.Tx) error {
			return tx.OwnJobs.Change(a.own.ID, func(own *store.OwnJob) { own.Failures++ })
		}
	}
	if answer.Next == send.IdentityOut {
		out.Failed = false
		out = send.HoldIdentity(out, job, send.Stopped(a.identity, answer.Reason), answer.Reason, now)
	}
	return out
}

// counted is an error as one that counts against the attempts, unless it is a refusal.
func counted(e *platform.Error, err error) *platform.Error {
	if e == nil {
		return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Err: err}
	}
	all := *e
	if all.Scope = platform.ScopeContent; all.Kind == platform.Wait {
		all.Kind = platform.Transient
	}
	return &all
}

// event is what a webhook is told that has no payload of its own.
type event struct {
	Type string    `json:"type"`
	At   time.Time `json:"timestamp"`
	Data struct {
		Job        string    `json:"job"`
		Title      string    `json:"title"`
		Occurrence time.Time `json:"occurrence"`
	} `json:"data"`
}

// call calls the job's webhook; not unsigned if its secret is sealed with another key. Its body is the same in each attempt.
func (a attempt) call(ctx context.Context, job store.Job) error {
	if a.own.Action.Secret == "" && a.own.Sealed != "" {
		lost := store.Invalid("", "invalid.secret_lost")
		return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Err: errors.New(a.Printer().Error(lost))}
	}
	hook, err := webhook.New(a.own.Action.URL, webhook.With{Secret: a.own.Action.Secret, Transport: a.calls, Timeout: limit(a.own)})
	if err != nil {
		return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Err: err}
	}
	body := []byte(a.own.Action.Payload)
	if len(body) == 0 {
		e := event{Type: "job.run", At: a.own.Begun.UTC()}
		e.Data.Job, e.Data.Title, e.Data.Occurrence = job.Name, a.own.Title, job.Occurrence.UTC()
		if body, err = json.Marshal(e); err != nil {
			return err
		}
	}
	_, err = hook.Publish(ctx, platform.Post{Key: a.own.Key, Text: string(body)})
	return err
}

// host is the host of an address, by which calls are kept apart: a slow one delays no other.
func host(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}
