package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/accounts"
	"belfry/worker/alerts"
	"belfry/worker/notices"
	"belfry/worker/posts"
	"belfry/worker/tasks"
)

// jobsPerPage is how many jobs a list shows.
const jobsPerPage = 25

// jobsPage lists the schedule.
type jobsPage struct {
	frame
	Kinds        []option
	Rows         []jobRow
	First, Later string
	Paused       bool // everything is
}

// jobRow is one job.
type jobRow struct {
	Name, Link, Title, Where, Schedule, Reason, Lane, Subject string
	When                                                      *moment
	State                                                     *chip // nil for one that just waits
	Last                                                      *lastRun
	RunLink, ApproveLink                                      string // where running or approving it is asked about first
	CanPause, CanResume, CanRun                               bool
	Held                                                      bool // its time is no promise
}

// lastRun is how the last run of a job ended.
type lastRun struct {
	Class, Name, Reason string
	When                *moment
}

func (s *Server) loadJobs(r reader) (page, error) {
	kind := r.query.Get("kind")
	var rows []planned
	var next, paused string
	err := s.db.View(func(tx *store.Tx) (err error) {
		rows = nil
		if paused, err = tx.Settings.Value(store.Paused); err != nil {
			return err
		}
		list, err := tx.Jobs.Upcoming(kind, store.Query{Limit: jobsPerPage, Cursor: r.query.Get("cursor")})
		if err != nil {
			return err
		}
		next = list.Next
		for _, j := range list.Items {
			p, err := plan(tx, j)
			if err != nil {
				return err
			}
			rows = append(rows, p)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p := &jobsPage{frame: s.frame(r, "jobs", r.words.Jobs.Title), Paused: paused != ""}
	p.Kinds = append(p.Kinds, option{"", r.words.Jobs.AllKinds, kind == ""})
	for _, known := range []string{"post", "rule", tasks.Kind, tasks.CheckKind, tasks.ListKind, "reminder", "feedback", "channel", accounts.Kind, notices.Kind, alerts.Kind, alerts.HeartbeatKind, "backup"} {
		if s.scheduler.Knows(known) || known == kind {
			p.Kinds = append(p.Kinds, option{known, r.words.JobKinds[known], known == kind})
		}
	}
	for _, row := range rows {
		p.Rows = append(p.Rows, r.jobRow(row))
	}
	here := withQuery("/jobs", "kind", kind)
	if r.query.Get("cursor") != "" {
		p.First = here
	}
	if next != "" {
		p.Later = withQuery(here, "cursor", next)
	}
	return p, nil
}

func (r reader) jobRow(p planned) jobRow {
	j := p.job
	title, where, subject := r.jobTitle(p)
	row := jobRow{
		Name: j.Name, Link: "/jobs/" + j.Name, Title: title, Where: where, Lane: j.Lane,
		Schedule: r.Say(scheduler.Describe(j.Trigger)), Reason: r.Say(p.why), When: r.momentIf(j.Due),
		CanPause:  j.State == store.JobWaiting || (j.State == store.JobRunning && !j.Paused && !j.Trigger.Once()),
		CanResume: j.State == store.JobPaused || j.State == store.JobSetAside || j.Paused,
		CanRun:    j.State != store.JobRunning && p.post == nil && j.Kind != tasks.Kind, // a held broadcast stays held
	}
	if p.post != nil && j.State != store.JobRunning {
		row.RunLink = subject + "/publish-now"
	}
	if j.Trigger.Once() {
		row.Schedule = "" // the time says it all
	}
	if subject != row.Link {
		row.Subject = subject
	}
	if j.State != store.JobWaiting {
		row.State = &chip{"job-" + string(j.State), r.words.JobStates[j.State]}
	}
	if j.State == store.JobPaused || (j.State == store.JobWaiting && p.why.Code == store.ReasonRequested) {
		row.Reason = "" // the state, or the time, says it all
	}
	if p.post != nil && p.post.AwaitsApproval() {
		row.hold(r, *p.post)
	}
	if !j.LastRun.IsZero() {
		row.Last = &lastRun{"was-" + string(j.LastResult), r.words.Results[j.LastResult], shorten(r.Say(j.LastReason), 160), r.moment(j.LastRun)}
	}
	return row
}

// hold offers to approve the post of a job, in place of resuming it.
func (row *jobRow) hold(r reader, p store.Post) {
	held := r.postChip(p)
	row.Held, row.State, row.Reason, row.CanResume = true, &held, r.postMeans(p), false
	if !posts.TooLate(p, r.now) {
		row.ApproveLink = postPath(p.ID) + "/approve"
	}
}

// jobPage is one job with its last runs.
type jobPage struct {
	frame
	Heading string
	Row     *jobRow // nil for a job that has done its work
	Runs    []pastRun
}

func (s *Server) loadJob(r reader) (page, error) {
	var found *planned
	var runs store.Page[store.Run]
	err := s.db.View(func(tx *store.Tx) error {
		found = nil
		var err error
		if runs, err = tx.Runs.Of(r.id, store.Query{Limit: shownRuns}); err != nil {
			return err
		}
		j, err := tx.Jobs.ByName(r.id)
		if err != nil {
			if len(runs.Items) > 0 {
				return nil
			}
			return err
		}
		p, err := plan(tx, j)
		found = &p
		return err
	})
	if err != nil {
		return nil, err
	}
	if found != nil && !found.job.LastRun.IsZero() && (len(runs.Items) == 0 || found.job.LastRun.After(runs.Items[0].Started)) {
		// A run that only begins the next step is not kept; of the last one the job knows.
		last := store.Run{Started: found.job.LastRun, Ended: found.job.LastRun, Result: found.job.LastResult, Reason: found.job.LastReason}
		runs.Items = append([]store.Run{last}, runs.Items...)
	}
	p := &jobPage{frame: s.frame(r, "jobs", r.id), Heading: r.id, Runs: r.pastRuns(runs.Items)}
	if found != nil {
		row := r.jobRow(*found)
		p.Row, p.Heading = &row, row.Title
	}
	return p, nil
}

// actOnJob pauses, resumes or runs a job.
func (s *Server) actOnJob(c echo.Context) error {
	name := c.Param("id")
	var act func(*store.Tx, string) (store.Job, error)
	var done string
	switch c.FormValue("do") {
	case "pause":
		act, done = scheduler.Pause, "paused"
	case "resume":
		act, done = approved(scheduler.Resume), "resumed"
	case "run":
		act, done = approved(scheduler.RunNow), "run"
	default:
		return echo.ErrBadRequest
	}
	err := s.db.Update(func(tx *store.Tx) error {
		_, err := act(tx, name)
		return err
	})
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, withQuery(localPath(c.FormValue("back")), "done", done))
}
