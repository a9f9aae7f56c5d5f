package api

import (
	"context"
	"net/http"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/posts"
)

// Job is a job as the API shows it.
type Job struct {
	ID         string    `json:"id" example:"post_17"`
	Kind       string    `json:"kind" example:"post"`
	Subject    uint64    `json:"subject,omitempty" doc:"The id of the record that the job is about"`
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
	Runs       []Run     `json:"runs,omitzero" doc:"With a single job: its last runs, the latest first" nullable:"false"`
}

// Trigger says when a job runs.
type Trigger struct {
	Text     string    `json:"text" doc:"The schedule in words" example:"every 5 minutes"`
	At       time.Time `json:"at,omitzero"`
	Every    string    `json:"every,omitempty" example:"5m0s"`
	Cron     string    `json:"cron,omitempty"`
	Times    []string  `json:"times,omitempty" nullable:"false"`
	Weekdays []int     `json:"weekdays,omitempty" doc:"1 is Monday, 7 is Sunday" nullable:"false"`
	Zone     string    `json:"zone,omitempty"`
}

// shownJob needs the transaction because a whole lane may be held.
func (s *Server) shownJob(tx *store.Tx, j store.Job) (Job, error) {
	why, err := scheduler.Why(tx, j)
	if err != nil {
		return Job{}, err
	}
	t := Trigger{
		Text: inEnglish().Say(scheduler.Describe(j.Trigger)), At: j.Trigger.At, Cron: j.Trigger.Cron,
		Times: j.Trigger.Times, Weekdays: j.Trigger.Weekdays, Zone: j.Trigger.Zone,
	}
	if j.Trigger.Every > 0 {
		t.Every = j.Trigger.Every.String()
	}
	return Job{
		ID: j.Name, Kind: j.Kind, Subject: j.Subject, Lane: j.Lane, State: string(j.State), NextRun: j.Due,
		Trigger: t, Lateness: shownLateness(j.Lateness), Requested: j.Requested && j.Reason.Code == store.ReasonRequested, Attempt: j.Attempt,
		Started: j.Started, Reason: s.reasonOf(why), LastRun: j.LastRun, LastResult: string(j.LastResult),
		LastReason: s.reasonOf(j.LastReason), Failures: j.Failures,
	}, nil
}

// Run is one execution of a job.
type Run struct {
	ID         uint64    `json:"id"`
	Occurrence time.Time `json:"occurrence,omitzero" doc:"The time in the schedule that it stands for"`
	Started    time.Time `json:"started,omitzero" doc:"Missing if it did not take place"`
	Ended      time.Time `json:"ended"`
	Attempt    int       `json:"attempt,omitempty"`
	Result     string    `json:"result" enum:"done,again,failed,skipped,interrupted"`
	Reason     *Reason   `json:"reason,omitempty"`
	Missed     int       `json:"missed,omitempty" doc:"Further occurrences that it stands for"`
	Next       time.Time `json:"next,omitzero"`
}

// shownRuns is how many runs are shown with a job.
const shownRuns = 20

// namedJob is the input of an operation on one job.
type namedJob struct {
	ID string `path:"id" doc:"The job's id" example:"post_17"`
}

type jobFilter struct {
	Paged
	Kind string `query:"kind" doc:"Only jobs of this kind" example:"post"`
}

// Jobs is the door to the schedule.
func Jobs(s *Server, a *api) {
	s.everythingAPI(a)
	operation(a, http.MethodGet, "/jobs", "List jobs by their next run, the earliest first", s.listJobs)
	operation(a, http.MethodGet, "/jobs/{id}", "Read a job and its last runs", s.readJob)
	operation(a, http.MethodPost, "/jobs/{id}/pause", "Pause a job", s.jobAction(scheduler.Pause))
	operation(a, http.MethodPost, "/jobs/{id}/resume", "Resume a paused job", s.jobAction(posts.Approved(scheduler.Resume)))
	operation(a, http.MethodPost, "/jobs/{id}/run", "Run a job now; its schedule is not shifted", s.jobAction(posts.Approved(scheduler.RunNow)))
}

func (s *Server) listJobs(_ context.Context, in *jobFilter) (*reply[List[Job]], error) {
	return listed(s, func(tx *store.Tx) (store.Page[store.Job], error) { return tx.Jobs.Upcoming(in.Kind, in.query()) }, s.shownJob)
}

func (s *Server) readJob(_ context.Context, in *namedJob) (*reply[Job], error) {
	return record(s.db.View, func(tx *store.Tx) (store.Job, error) { return tx.Jobs.ByName(in.ID) }, func(tx *store.Tx, j store.Job) (Job, error) {
		out, err := s.shownJob(tx, j)
		if err != nil {
			return out, err
		}
		out.Runs = []Run{}
		past, err := tx.Runs.Of(in.ID, store.Query{Limit: shownRuns})
		for _, r := range past.Items {
			out.Runs = append(out.Runs, Run{
				ID: r.ID, Occurrence: r.Occurrence, Started: r.Started, Ended: r.Ended, Attempt: r.Attempt,
				Result: string(r.Result), Reason: s.reasonOf(r.Reason), Missed: r.Missed, Next: r.Next,
			})
		}
		return out, err
	})
}

// jobAction makes an operation of an action on a job.
func (s *Server) jobAction(act func(*store.Tx, string) (store.Job, error)) func(context.Context, *namedJob) (*reply[Job], error) {
	return func(_ context.Context, in *namedJob) (*reply[Job], error) {
		return record(s.db.Update, func(tx *store.Tx) (store.Job, error) { return act(tx, in.ID) }, s.shownJob)
	}
}
