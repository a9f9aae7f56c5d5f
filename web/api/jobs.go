package api

import (
	"context"
	"net/http"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/jobs"
)

// Job is a job as the API shows it.
type Job struct {
	ID         string    `json:"id" example:"post_17"`
	Kind       string    `json:"kind" example:"post"`
	Subject    uint64    `json:"subject,omitempty" doc:"The id of the record that the job is about"`
	About      string    `json:"about,omitempty" doc:"What the job is about: a post's text, a channel's name, a booking's service and client" example:"Haircut – @nina"`
	Lane       string    `json:"lane" doc:"What limits how many run at once" example:"telegram:main"`
	State      string    `json:"state" doc:"waiting, running, paused or set_aside" enum:"waiting,running,paused,set_aside"`
	NextRun    time.Time `json:"next_run,omitzero" doc:"When it runs next"`
	Trigger    Trigger   `json:"trigger"`
	Lateness   Lateness  `json:"lateness"`
	Requested  bool      `json:"requested,omitempty" doc:"A person asked for the next run, which has not begun yet"`
	Attempt    int       `json:"attempt,omitempty" doc:"Runs begun for this occurrence"`
	Started    time.Time `json:"started,omitzero" doc:"When the run under way began"`
	Reason     *Reason   `json:"reason,omitempty" doc:"Why it waits, or does not run"`
	LastRun    time.Time `json:"last_run,omitzero"`
	LastResult string    `json:"last_result,omitempty" doc:"done, again, failed, skipped or interrupted" enum:"done,again,failed,skipped,interrupted"`
	LastReason *Reason   `json:"last_reason,omitempty"`
	Failures   int       `json:"failures,omitempty" doc:"Runs that failed in a row"`
	Title      string    `json:"title,omitempty" doc:"Of an own job, as the following fields"`
	Action     *Action   `json:"action,omitempty"`
	Attempts   int       `json:"max_attempts,omitempty" doc:"Attempts of a run that fails"`
	Backoff    string    `json:"backoff,omitempty" doc:"The pause after the first failure; it grows with each" example:"1m0s"`
	Timeout    string    `json:"timeout,omitempty" doc:"Of one attempt" example:"30s"`
	Tags       []string  `json:"tags,omitempty" nullable:"false" doc:"For filtering"`
	Runs       []Run     `json:"runs,omitzero" doc:"With a single job: its last runs, the latest first" nullable:"false"`
}

// Trigger says when a job runs.
type Trigger struct {
	Text  string    `json:"text" doc:"The schedule in words" example:"every 5 minutes"`
	At    time.Time `json:"at,omitzero"`
	Every string    `json:"every,omitempty" example:"5m0s"`
	From  time.Time `json:"from,omitzero" doc:"With every: when it runs first"`
	Cron  string    `json:"cron,omitempty"`
	Times []string  `json:"times,omitempty" nullable:"false"`
	Days  []int     `json:"days_of_week,omitempty" doc:"1 is Monday, 7 is Sunday" nullable:"false"`
	Zone  string    `json:"zone,omitempty"`
}

// shownJob needs the transaction because a whole lane may be held.
func (s *Server) shownJob(tx *store.Tx, j store.Job) (Job, error) {
	why, err := scheduler.Why(tx, j)
	if err != nil {
		return Job{}, err
	}
	t := Trigger{
		Text: inEnglish().Say(scheduler.Describe(j.Trigger, time.UTC)), At: j.Trigger.At, From: j.Trigger.From, Cron: j.Trigger.Cron,
		Times: j.Trigger.Times, Days: j.Trigger.Weekdays, Zone: j.Trigger.Zone,
	}
	if j.Trigger.Every > 0 {
		t.Every = j.Trigger.Every.String()
	}
	shown := Job{
		ID: j.Name, Kind: j.Kind, Subject: j.Subject, About: s.cfg.Kinds.About(tx, j), Lane: j.Lane, State: string(j.State), NextRun: j.Due,
		Trigger: t, Lateness: shownLateness(j.Lateness), Requested: j.Requested && j.Reason.Code == store.ReasonRequested, Attempt: j.Attempt,
		Started: j.Started, Reason: s.reasonOf(why), LastRun: j.LastRun, LastResult: string(j.LastResult),
		LastReason: s.reasonOf(j.LastReason), Failures: j.Failures, Tags: j.Tags,
	}
	if own, err := tx.OwnJobs.OfJob(j); err == nil { // without it the job says how it stands
		shown.own(own)
	}
	return shown, nil
}

// Run is one execution of a job.
type Run struct {
	ID         uint64    `json:"id"`
	Occurrence time.Time `json:"occurrence,omitzero" doc:"The time in the schedule that it stands for"`
	Started    time.Time `json:"started,omitzero" doc:"Missing if it did not take place"`
	Ended      time.Time `json:"ended"`
	Seconds    float64   `json:"seconds,omitempty" doc:"How long it took"`
	Attempt    int       `json:"attempt,omitempty"`
	Result     string    `json:"result" enum:"done,again,failed,skipped,interrupted"`
	Reason     *Reason   `json:"reason,omitempty"`
	Missed     int       `json:"missed,omitempty" doc:"Further occurrences that it stands for"`
	Next       time.Time `json:"next,omitzero"`
}

// shownRuns is how many runs are shown with a job.
const shownRuns = 20

// NamedJob is the input of an operation on one job.
type NamedJob struct {
	ID string `path:"id" doc:"The job's id" example:"post_17"`
}

type jobFilter struct {
	Paged
	Kind  string `query:"kind" doc:"Only jobs of this kind" example:"post"`
	State string `query:"state" enum:"waiting,running,paused,set_aside" doc:"Only jobs in this state"`
	Tag   string `query:"tag" doc:"Only jobs with this tag. A page may have few items, or none, and a next_cursor: then the search goes on there"`
	Sort  string `query:"sort" enum:"next_run" doc:"The order: by the next run, the earliest first"`
}

// Jobs is the door to the schedule.
func Jobs(w *jobs.Worker) Door {
	return func(server *Server, a *api) {
		s := jobDoor{server, w}
		s.everythingAPI(a)
		operation(a, http.MethodPost, "/jobs", "Make a job: it sends a message, calls a webhook, runs a rule, checks accounts or makes a backup", s.createJob)
		operation(a, http.MethodGet, "/jobs", "List jobs by their next run, the earliest first", s.listJobs)
		operation(a, http.MethodGet, "/jobs/counts", "Count jobs by kind and state", s.countJobs)
		operation(a, http.MethodGet, "/jobs/why-not", "List the jobs that did not run when they could have, with the reasons", s.whyNot)
		operation(a, http.MethodPost, "/jobs/preview", "Preview the times of a trigger that is not saved", s.previewTrigger)
		operation(a, http.MethodPost, "/jobs/bulk", "Pause, resume, run or delete several jobs", s.bulk)
		operation(a, http.MethodGet, "/jobs/{id}", "Read a job and its last runs", s.readJob)
		operation(a, http.MethodPatch, "/jobs/{id}", "Change an own job", s.changeJob)
		operation(a, http.MethodDelete, "/jobs/{id}", "Delete an own job, or cancel the post of a post's job; the history stays", s.removeJob)
		operation(a, http.MethodGet, "/jobs/{id}/runs", "List the runs of a job, the latest first, also of one that has ended", s.listRuns)
		operation(a, http.MethodPost, "/jobs/{id}/reschedule", "Give an own job another trigger", s.reschedule)
		operation(a, http.MethodPost, "/jobs/{id}/pause", "Pause a job", s.jobAction(jobs.Pause))
		operation(a, http.MethodPost, "/jobs/{id}/resume", "Resume a paused job", s.jobAction(jobs.Resume))
		operation(a, http.MethodPost, "/jobs/{id}/run", "Run a job now; its schedule is not shifted", s.jobAction(jobs.Run))
	}
}

type jobDoor struct {
	*Server
	jobs *jobs.Worker
}

func (s jobDoor) listJobs(_ context.Context, in *jobFilter) (*reply[List[Job]], error) {
	q := store.JobQuery{Kind: in.Kind, State: store.JobState(in.State), Tag: in.Tag, Query: in.query()}
	return listed(s.Server, func(tx *store.Tx) (store.Page[store.Job], error) { return tx.Jobs.List(q) }, s.shownJob)
}

func (s jobDoor) readJob(_ context.Context, in *NamedJob) (*reply[Job], error) {
	return record(s.db.View, func(tx *store.Tx) (store.Job, error) { return tx.Jobs.ByName(in.ID) }, func(tx *store.Tx, j store.Job) (Job, error) {
		out, err := s.shownJob(tx, j)
		if err != nil {
			return out, err
		}
		past, err := tx.Runs.Of(in.ID, store.Query{Limit: shownRuns})
		out.Runs = make([]Run, len(past.Items))
		for i, r := range past.Items {
			out.Runs[i] = s.shownRun(r)
		}
		return out, err
	})
}

func (s *Server) shownRun(r store.Run) Run {
	shown := Run{
		ID: r.ID, Occurrence: r.Occurrence, Started: r.Started, Ended: r.Ended, Attempt: r.Attempt,
		Result: string(r.Result), Reason: s.reasonOf(r.Reason), Missed: r.Missed, Next: r.Next,
	}
	if !r.Started.IsZero() {
		shown.Seconds = r.Ended.Sub(r.Started).Seconds()
	}
	return shown
}

type jobRuns struct {
	NamedJob
	Paged
}

// listRuns also shows the runs of a job that is gone, as long as there are any.
func (s jobDoor) listRuns(_ context.Context, in *jobRuns) (*reply[List[Run]], error) {
	return listed(s.Server, func(tx *store.Tx) (store.Page[store.Run], error) {
		page, err := tx.Runs.Of(in.ID, in.query())
		if err == nil && len(page.Items) == 0 {
			_, err = tx.Jobs.ByName(in.ID)
		}
		return page, err
	}, plain(s.shownRun))
}

// jobAction makes an operation of an action on a job.
func (s jobDoor) jobAction(act jobs.Action) func(context.Context, *NamedJob) (*reply[Job], error) {
	return func(_ context.Context, in *NamedJob) (*reply[Job], error) {
		return record(s.db.Update, func(tx *store.Tx) (store.Job, error) { return s.jobs.Do(tx, act, in.ID) }, s.shownJob)
	}
}

func (s jobDoor) removeJob(_ context.Context, in *NamedJob) (*struct{}, error) {
	return nil, s.db.Update(func(tx *store.Tx) error { return s.jobs.Remove(tx, in.ID) })
}
