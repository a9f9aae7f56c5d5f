package page

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/notices"
	"belfry/worker/posts"
	"belfry/worker/rules"
	"belfry/worker/tasks"
)

// Jobs is the door to the schedule.
func Jobs(s *Server, g *echo.Group) {
	s.entry(system, "jobs", "/jobs")
	s.live(g, "/jobs", s.jobs)
	s.live(g, "/jobs/:id", s.job)
	g.POST("/jobs/:id", s.actOnJob)
	g.POST("/everything", s.actOnEverything)
}

func jobPath(name string) string { return "/jobs/" + name }

// planned is a job with what it is about and why it waits.
type planned struct {
	store.Job
	post *store.Post // nil for a job of another kind, or about a post that is gone
	task *store.Task // likewise
	note *store.Notice
	rule *store.Rule
	why  store.Reason
}

// plan reads what a job is about.
func plan(tx *store.Tx, j store.Job) (p planned, err error) {
	p.Job = j
	if p.why, err = scheduler.Why(tx, j); err != nil {
		return p, err
	}
	switch j.Kind {
	case posts.Kind:
		p.post, err = subject(tx.Posts.Table, j.Subject)
	case tasks.Kind, tasks.CheckKind:
		p.task, err = subject(tx.Tasks.Table, j.Subject)
	case notices.Kind:
		p.note, err = subject(tx.Notices.Table, j.Subject)
	case rules.Kind:
		p.rule, err = subject(tx.Rules.Table, j.Subject)
	}
	return p, err
}

// subject returns nil for a record that is gone or damaged: it must not hide the others.
func subject[T any](table store.Table[T], id uint64) (*T, error) {
	row, err := table.Get(id)
	if store.IsCorrupt(err) || errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	return &row, err
}

// held reports whether it is a job of a post that needs approval: its time is no promise.
func (p planned) held() bool { return p.post != nil && p.post.AwaitsApproval() }

func (p planned) canPause() bool {
	return p.State == store.JobWaiting || (p.State == store.JobRunning && !p.Paused && !p.Trigger.Once())
}

func (p planned) canResume() bool {
	return !p.held() && (p.State == store.JobPaused || p.State == store.JobSetAside || p.Paused)
}

// canRun reports whether a button runs the job. That of a post is asked about first, and a broadcast has its own.
func (p planned) canRun() bool {
	return p.State != store.JobRunning && p.post == nil && p.Kind != tasks.Kind
}

// kindName is what a kind of job is called.
func (v view) kindName(kind string) string {
	if key := "job.kind." + kind; v.Has(key) {
		return v.T("job.kind." + kind)
	}
	return kind
}

// jobTitle says in words what a job is, where it goes, and where to read more.
func (v view) jobTitle(p planned) (title, where, link string) {
	switch {
	case p.post != nil:
		return v.postTitle(*p.post), p.post.Target, postPath(p.post.ID)
	case p.task != nil:
		where = v.kindName(p.Kind)
		if p.Kind == tasks.Kind {
			where += ", " + v.T("tasks.of", p.task.Total-p.task.Left(), p.task.Total)
		}
		return v.postTitle(taskPost(*p.task)), where, "/tasks/" + id(p.task.ID)
	case p.note != nil && p.note.Chat == store.WebhookChat: // its text is JSON
		return v.T("jobs.webhook"), "", jobPath(p.Name)
	case p.note != nil:
		first, _, _ := strings.Cut(p.note.Text, "\n")
		return first, v.kindName(p.Kind) + " " + p.note.Chat, jobPath(p.Name)
	}
	if p.rule != nil {
		return p.rule.Name, v.kindName(p.Kind), rulePath(p.rule.ID)
	}
	title = v.kindName(p.Kind)
	if number, ok := strings.CutPrefix(p.Name, p.Kind+"_"); ok {
		title += " " + number
	}
	if page, own := v.server.jobPages[p.Kind]; own {
		return title, "", page(p.Job)
	}
	return title, "", jobPath(p.Name)
}

// jobReason is why a job waits; empty where its state, or its time, says it all.
func (v view) jobReason(p planned) string {
	switch {
	case p.held():
		return v.postMeans(*p.post)
	case p.State == store.JobPaused, p.State == store.JobWaiting && p.why.Code == store.ReasonRequested:
		return ""
	}
	return v.why(p.why)
}

// schedule says when a job runs; empty for one that runs once, of which its time says it all.
func (v view) schedule(j store.Job) string {
	if j.Trigger.Once() {
		return ""
	}
	return v.Say(scheduler.Describe(j.Trigger))
}

// jobs lists the schedule.
func (s *Server) jobs(v view) (screen, error) {
	kind := v.query.Get("kind")
	var rows []planned
	var next, paused string
	err := s.DB.View(func(tx *store.Tx) (err error) {
		if paused, err = tx.Settings.Value(store.Paused); err != nil {
			return err
		}
		list, err := tx.Jobs.Upcoming(kind, store.Query{Limit: perPage, Cursor: v.query.Get("cursor")})
		next = list.Next
		for _, j := range list.Items {
			p, err := plan(tx, j)
			if err != nil {
				return err
			}
			rows = append(rows, p)
		}
		return err
	})
	if err != nil {
		return screen{}, err
	}
	kinds := []option{{Name: v.T("jobs.all_kinds")}}
	for _, known := range s.Scheduler.Kinds() {
		kinds = append(kinds, option{known, v.kindName(known)})
	}
	slices.SortFunc(kinds[1:], func(a, b option) int { return cmp.Compare(a.Name, b.Name) })
	return screen{
		nav: "/jobs", title: v.T("jobs.title"), body: v.jobsBody(kinds, kind, paused != ""),
		parts: []part{{"jobs", v.jobList(rows, kind, next)}},
	}, nil
}

// job is one job with its last runs.
func (s *Server) job(v view) (screen, error) {
	var p planned // without a name for a job that has done its work
	var runs store.Page[store.Run]
	err := s.DB.View(func(tx *store.Tx) (err error) {
		if runs, err = tx.Runs.Of(v.id, store.Query{Limit: shownRuns}); err != nil {
			return err
		}
		j, err := tx.Jobs.ByName(v.id)
		if errors.Is(err, store.ErrNotFound) && len(runs.Items) > 0 {
			return nil
		}
		if err == nil {
			p, err = plan(tx, j)
		}
		return err
	})
	if err != nil {
		return screen{}, err
	}
	title := v.id
	if p.Name != "" {
		title, _, _ = v.jobTitle(p)
	}
	if !p.LastRun.IsZero() && (len(runs.Items) == 0 || p.LastRun.After(runs.Items[0].Started)) {
		// A run that only begins the next step is not kept; of the last one the job knows.
		last := store.Run{Started: p.LastRun, Ended: p.LastRun, Result: p.LastResult, Reason: p.LastReason}
		runs.Items = append([]store.Run{last}, runs.Items...)
	}
	return screen{
		nav: "/jobs", title: v.id, body: v.jobBody(title),
		parts: []part{{"job", v.jobFacts(p)}, {"job-runs", v.runs(runs.Items)}},
	}, nil
}

// actOnJob pauses, resumes or runs a job.
func (s *Server) actOnJob(c echo.Context) error {
	act, done, start := scheduler.Pause, "paused", false
	switch c.FormValue("do") {
	case "pause":
	case "resume":
		act, done, start = scheduler.Resume, "resumed", true
	case "run":
		act, done, start = scheduler.RunNow, "run", true
	default:
		return echo.ErrBadRequest
	}
	err := s.DB.Update(func(tx *store.Tx) error {
		if start {
			if err := posts.MayStart(tx, c.Param("id")); err != nil {
				return err
			}
		}
		_, err := act(tx, c.Param("id"))
		return err
	})
	if err != nil {
		return err
	}
	return did(c, c.FormValue("back"), done)
}

// actOnEverything pauses or resumes the whole schedule.
func (s *Server) actOnEverything(c echo.Context) error {
	act, done := scheduler.ResumeAll, "all-resumed"
	switch c.FormValue("do") {
	case "pause":
		act, done = func(tx *store.Tx) error { return scheduler.PauseAll(tx, scheduler.ByHand) }, "all-paused"
	case "resume":
	default:
		return echo.ErrBadRequest
	}
	if err := s.DB.Update(act); err != nil {
		return err
	}
	return did(c, "/jobs", done)
}
