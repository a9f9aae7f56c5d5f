package api

import (
	"context"
	"encoding/json"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/jobs"
)

// Action is what an own job does. Which fields count depends on type.
type Action struct {
	Type       string          `json:"type" doc:"message, webhook, rule, autocheck or backup" example:"webhook"`
	IdentityID number          `json:"identity_id,omitempty" doc:"Of message: who sends it; Telegram's default one if left out"`
	Target     string          `json:"target,omitempty" doc:"Of message: the chat; where the identity posts if left out"`
	Text       string          `json:"text,omitempty" doc:"Of message"`
	Format     format          `json:"format,omitempty" doc:"Of message: html, markdown or plain (default)"`
	URL        string          `json:"url,omitempty" doc:"Of webhook: called with POST; a 2xx is success, redirects are not followed"`
	Secret     string          `json:"secret,omitempty" doc:"Of webhook: signs each call as Standard Webhooks has it; made if left out, and shown once, in the answer that makes it"`
	Payload    json.RawMessage `json:"payload,omitempty" doc:"Of webhook: the JSON that is sent; the job and its time if left out"`
	RuleID     number          `json:"id,omitempty" doc:"Of rule: which one"`
}

func (a Action) stored() store.Action {
	return store.Action{
		Type: store.ActionType(a.Type), IdentityID: uint64(a.IdentityID), Target: a.Target, Text: a.Text, Format: string(a.Format),
		URL: a.URL, Secret: a.Secret, Payload: a.Payload, RuleID: uint64(a.RuleID),
	}
}

// own shows what the owner has said of a job. The secret is not shown.
func (j *Job) own(own store.OwnJob) {
	a := own.Action
	j.Title, j.Attempts = own.Title, own.Attempts
	j.Action = &Action{
		Type: string(a.Type), IdentityID: number(a.IdentityID), Target: a.Target, Text: a.Text, Format: format(a.Format),
		URL: a.URL, Payload: a.Payload, RuleID: number(a.RuleID),
	}
	if own.Backoff > 0 {
		j.Backoff = own.Backoff.String()
	}
	if own.Timeout > 0 {
		j.Timeout = own.Timeout.String()
	}
}

// NewTrigger is when a job is to run: exactly one of at, every, cron and times.
type NewTrigger struct {
	At    when     `json:"at,omitempty" doc:"Once: RFC 3339 with a zone" example:"2027-03-01T12:00:00+03:00"`
	Every string   `json:"every,omitempty" doc:"At an interval" example:"90m"`
	From  when     `json:"from,omitempty" doc:"With every: when it runs first; after the first interval if left out"`
	Cron  string   `json:"cron,omitempty" doc:"Minute, hour, day of month, month, day of week" example:"30 9 * * 1-5"`
	Times []string `json:"times,omitempty" nullable:"false" doc:"Times of day" example:"[\"09:00\",\"18:30\"]"`
	Days  []int    `json:"days_of_week,omitempty" nullable:"false" doc:"With times: 1 is Monday, 7 is Sunday; all if left out"`
	Zone  string   `json:"zone,omitempty" doc:"Of cron and times; the server's if left out" example:"Europe/Moscow"`
}

func (t NewTrigger) schedule() jobs.Schedule {
	return jobs.Schedule{At: string(t.At), Every: t.Every, From: string(t.From), Cron: t.Cron, Times: t.Times, Days: t.Days, Zone: t.Zone}
}

// newJob is the request for a job.
type newJob struct {
	Title    string     `json:"title" doc:"What its owner calls it"`
	Trigger  NewTrigger `json:"trigger"`
	Action   Action     `json:"action"`
	Lateness *Lateness  `json:"lateness,omitempty" doc:"What happens to a run whose time has passed, such as after an outage"`
	Attempts int        `json:"max_attempts,omitempty" doc:"Attempts of a run that fails; 3 if left out"`
	Backoff  string     `json:"backoff,omitempty" doc:"The pause after the first failure; it grows with each; 1m if left out" example:"1m"`
	Timeout  string     `json:"timeout,omitempty" doc:"Of one attempt; as the action needs if left out" example:"30s"`
	Tags     []string   `json:"tags,omitempty" nullable:"false" doc:"For filtering"`
}

// jobPatch is a change to a job; what is left out stays. Trigger and action are replaced as a whole, but for the secret.
type jobPatch struct {
	Title    *string     `json:"title,omitempty"`
	Trigger  *NewTrigger `json:"trigger,omitempty"`
	Action   *Action     `json:"action,omitempty" doc:"Replaces the one before as a whole; without a secret, a webhook keeps its own"`
	Lateness *Lateness   `json:"lateness,omitempty"`
	Attempts *int        `json:"max_attempts,omitempty"`
	Backoff  *string     `json:"backoff,omitempty"`
	Timeout  *string     `json:"timeout,omitempty"`
	Tags     *[]string   `json:"tags,omitempty"`
}

// apply returns what changes a request as the patch says.
func (p jobPatch) apply() (func(*jobs.Request), error) {
	late, err := p.Lateness.stored()
	if err != nil {
		return nil, err
	}
	var pauses [2]time.Duration
	for i, given := range []struct {
		field string
		text  *string
	}{{"backoff", p.Backoff}, {"timeout", p.Timeout}} {
		if given.text == nil || *given.text == "" {
			continue
		}
		if pauses[i], err = time.ParseDuration(*given.text); err != nil {
			return nil, store.Invalid(given.field, "invalid.duration", *given.text)
		}
	}
	return func(r *jobs.Request) {
		set(&r.Title, p.Title)
		set(&r.Attempts, p.Attempts)
		set(&r.Tags, p.Tags)
		if p.Trigger != nil {
			r.Trigger = p.Trigger.schedule()
		}
		if p.Action != nil {
			secret := r.Action.Secret
			if r.Action = p.Action.stored(); r.Action.Secret == "" {
				r.Action.Secret = secret
			}
		}
		if p.Lateness != nil {
			r.Lateness = late
		}
		if p.Backoff != nil {
			r.Backoff = pauses[0]
		}
		if p.Timeout != nil {
			r.Timeout = pauses[1]
		}
	}, nil
}

// createJob answers with the secret of a webhook. The answer that is kept for a repetition has none: nothing shows it again.
func (s jobDoor) createJob(ctx context.Context, in *creation[newJob]) (*created[Job], error) {
	var draft jobs.Draft
	out, err := once(ctx, s.Server, "jobs", in, func() (func(*store.Tx) (Job, error), error) {
		b := in.Body
		fill, err := jobPatch{&b.Title, &b.Trigger, &b.Action, b.Lateness, &b.Attempts, &b.Backoff, &b.Timeout, &b.Tags}.apply()
		if err != nil {
			return nil, err
		}
		var r jobs.Request
		fill(&r)
		if draft, err = s.jobs.Prepare(ctx, r); err != nil {
			return nil, err
		}
		return func(tx *store.Tx) (Job, error) {
			made, err := s.jobs.Create(tx, draft)
			if err != nil {
				return Job{}, err
			}
			return s.shownJob(tx, made)
		}, nil
	})
	if err == nil && out.Replayed == "" && out.Body.Action != nil {
		out.Body.Action.Secret = draft.Secret()
	}
	return out, err
}

type jobChange struct {
	NamedJob
	Body jobPatch
}

func (s jobDoor) changeJob(ctx context.Context, in *jobChange) (*reply[Job], error) {
	change, err := in.Body.apply()
	if err != nil {
		return nil, err
	}
	return s.change(ctx, in.ID, change)
}

func (s jobDoor) change(ctx context.Context, name string, change func(*jobs.Request)) (*reply[Job], error) {
	draft, err := s.jobs.PrepareChange(ctx, name, change)
	if err != nil {
		return nil, err
	}
	return record(s.db.Update, func(tx *store.Tx) (store.Job, error) { return s.jobs.Change(tx, draft) }, s.shownJob)
}

type jobReschedule struct {
	NamedJob
	Body struct {
		Trigger NewTrigger `json:"trigger"`
	}
}

func (s jobDoor) reschedule(ctx context.Context, in *jobReschedule) (*reply[Job], error) {
	return s.change(ctx, in.ID, func(r *jobs.Request) { r.Trigger = in.Body.Trigger.schedule() })
}

type triggerPreview struct {
	Body struct {
		Trigger NewTrigger `json:"trigger"`
		Count   int        `json:"count,omitempty" minimum:"1" maximum:"100" default:"10" doc:"How many times at most"`
		After   when       `json:"after,omitempty" doc:"Times after this one; now if left out"`
	}
}

func (s jobDoor) previewTrigger(_ context.Context, in *triggerPreview) (*reply[Preview], error) {
	t, err := s.jobs.Trigger(in.Body.Trigger.schedule())
	if err != nil {
		return nil, err
	}
	after := s.db.Now()
	if in.Body.After != "" {
		if after, err = time.Parse(time.RFC3339, string(in.Body.After)); err != nil {
			return nil, store.Invalid("after", "invalid.time", string(in.Body.After))
		}
	}
	times, err := scheduler.Preview(t, "", after, in.Body.Count)
	if err != nil {
		return nil, err
	}
	return answer(shownPreview(t, times)), nil
}

// JobCounts is how many jobs there are.
type JobCounts struct {
	Total   int            `json:"total"`
	Active  int            `json:"active" doc:"Those that wait or run"`
	ByKind  map[string]int `json:"by_kind"`
	ByState map[string]int `json:"by_state"`
	NextRun time.Time      `json:"next_run,omitzero" doc:"Of the job that runs next"`
}

func (s jobDoor) countJobs(context.Context, *struct{}) (*reply[JobCounts], error) {
	return within(s.db.View, func(tx *store.Tx) (JobCounts, error) {
		counts := tx.Jobs.Counts()
		out := JobCounts{Total: counts.Total(), Active: counts.Active(), ByKind: counts.ByKind(), ByState: make(map[string]int)}
		for state, n := range counts.ByState() {
			out.ByState[string(state)] = n
		}
		next, err := tx.Jobs.List(store.JobQuery{State: store.JobWaiting, Query: store.Query{Limit: 1}})
		for _, job := range next.Items {
			out.NextRun = job.Due
		}
		return out, err
	})
}

// NotRun is a job that did not run when it could have.
type NotRun struct {
	Job   string    `json:"job" example:"post_17"`
	Kind  string    `json:"kind" example:"post"`
	Code  string    `json:"code" doc:"paused, lane, window, quiet, flood, late, approval, set_aside, login or connection"`
	Text  string    `json:"text" doc:"The reason in plain words"`
	Since time.Time `json:"since,omitzero" doc:"When it could have run"`
	Until time.Time `json:"until,omitzero" doc:"When the wait ends, if that is known"`
}

func (s jobDoor) whyNot(context.Context, *struct{}) (*reply[List[NotRun]], error) {
	return within(s.db.View, func(tx *store.Tx) (List[NotRun], error) {
		all, err := scheduler.WhyNot(tx)
		out := List[NotRun]{Items: []NotRun{}}
		for _, n := range all {
			out.Items = append(out.Items, NotRun{n.Job.Name, n.Job.Kind, n.Code, inEnglish().Say(n.Reason), n.Since, n.Until})
		}
		return out, err
	})
}

type bulkJobs struct {
	Body struct {
		Action string   `json:"action" enum:"pause,resume,run,delete"`
		IDs    []string `json:"ids" minItems:"1" maxItems:"500" nullable:"false" example:"[\"job_7\",\"post_17\"]"`
	}
}

// BulkRefused is a job that was left as it is.
type BulkRefused struct {
	Job    string `json:"job"`
	Detail string `json:"detail" doc:"Why"`
}

// BulkDone is what an action on several jobs has led to.
type BulkDone struct {
	Done    int           `json:"done" doc:"Jobs on which the action was taken"`
	Refused []BulkRefused `json:"refused" nullable:"false"`
}

func (s jobDoor) bulk(_ context.Context, in *bulkJobs) (*reply[BulkDone], error) {
	return within(s.db.Update, func(tx *store.Tx) (BulkDone, error) {
		done, refused, err := s.jobs.DoAll(tx, jobs.Action(in.Body.Action), in.Body.IDs)
		out := BulkDone{Done: done, Refused: []BulkRefused{}}
		for _, r := range refused {
			out.Refused = append(out.Refused, BulkRefused{r.Job, ProblemOf(r.Err).Detail})
		}
		return out, err
	})
}
