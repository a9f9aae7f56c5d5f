package page

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/jobs"
	"belfry/worker/notices"
	"belfry/worker/posts"
	"belfry/worker/tasks"
)

// Jobs is the door to the schedule.
func Jobs(w *jobs.Worker) Door {
	return func(server *Server, g *echo.Group) {
		s := schedulePages{server, w}
		s.entry(system, "jobs", "/jobs")
		s.canMake("job", "/jobs/new")
		s.live(g, "/jobs", s.jobs)
		s.live(g, "/jobs/why-not", s.whyNot)
		g.POST("/jobs/bulk", s.sent(s.bulk))
		s.mountOwn(g)
		s.live(g, "/jobs/:id", s.job)
		g.POST("/jobs/:id", s.actOnJob)
		g.POST("/everything", s.actOnEverything)
	}
}

type schedulePages struct {
	*Server
	worker *jobs.Worker
}

func jobPath(name string) string { return "/jobs/" + name }

// planned is a job with what it is about and why it waits.
type planned struct {
	store.Job
	post *store.Post // nil for a job of another kind, or about a post that is gone
	task *store.Task // likewise
	note *store.Notice
	own  *store.OwnJob
	// about says in a few words what it is about, where its kind does not say all.
	about string
	why   store.Reason
}

// plan reads what a job is about.
func (s *Server) plan(tx *store.Tx, j store.Job) (p planned, err error) {
	p.Job, p.about = j, s.Scheduler.Kinds().About(tx, j)
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
	case jobs.Kind:
		p.own, err = subject(tx.OwnJobs.Table, j.Subject)
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
	link, kind := jobPath(p.Name), v.kindName(p.Kind)
	if page, own := v.server.jobPages[p.Kind]; own {
		link = page(p.Job)
	}
	if p.own != nil {
		kind = v.T("job.action." + string(p.own.Action.Type))
	}
	if p.about != "" {
		return p.about, kind, link
	}
	if key := "job.name." + p.Name; v.Has(key) {
		return v.T("job.name." + p.Name), kind, link
	}
	if number, ok := strings.CutPrefix(p.Name, p.Kind+"_"); ok {
		kind += " " + number
	}
	return kind, "", link
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
	return v.Say(scheduler.Describe(j.Trigger, v.Zone))
}

// jobFilter is which jobs a list shows.
type jobFilter struct{ kind, state, tag string }

func (f jobFilter) path() string {
	return withQuery("/jobs", "kind", f.kind, "state", f.state, "tag", f.tag)
}

// jobs lists the schedule.
func (s schedulePages) jobs(v view) (screen, error) {
	f := jobFilter{v.query.Get("kind"), v.query.Get("state"), v.query.Get("tag")}
	var rows []planned
	var next, paused string
	var counts store.JobCounts
	err := s.DB.View(func(tx *store.Tx) (err error) {
		if paused, err = tx.Settings.Value(store.Paused); err != nil {
			return err
		}
		counts = tx.Jobs.Counts()
		list, err := tx.Jobs.List(store.JobQuery{Kind: f.kind, State: store.JobState(f.state), Tag: f.tag,
			Query: store.Query{Limit: perPage, Cursor: v.query.Get("cursor")}})
		if err != nil {
			return err
		}
		next = list.Next
		rows, err = each(tx, list.Items, s.plan)
		return err
	})
	return screen{
		nav: "/jobs", title: v.T("jobs.title"), body: v.jobsBody(v.kindOptions(s.Scheduler.Kinds().Names(), counts.ByKind()), f, paused != ""),
		parts: []part{{"tabs", v.jobTabs(f, counts)}, {"jobs", v.jobList(rows, f, next)}},
	}, err
}

// kindOptions are the kinds by which a list is filtered, with how many jobs there are.
func (v view) kindOptions(known []string, counts map[string]int) []option {
	kinds := []option{{Name: v.T("jobs.all_kinds")}}
	for kind := range counts {
		if !slices.Contains(known, kind) {
			known = append(known, kind)
		}
	}
	for _, kind := range known {
		kinds = append(kinds, option{kind, v.kindName(kind) + " · " + v.Number(counts[kind])})
	}
	slices.SortFunc(kinds[1:], func(a, b option) int { return cmp.Compare(a.Name, b.Name) })
	return kinds
}

// jobTabs are the states, with how many jobs are in each, and the list of what did not run.
func (v view) jobTabs(f jobFilter, counts store.JobCounts) (links templ.Component) {
	states := counts.ByState()
	all := []tab{{"all", v.T("jobs.tab_list"), jobFilter{f.kind, "", f.tag}.path(), v.Number(counts.Total()), f.state == ""}}
	for _, state := range []store.JobState{store.JobWaiting, store.JobRunning, store.JobPaused, store.JobSetAside} {
		to := jobFilter{f.kind, string(state), f.tag}
		all = append(all, tab{string(state), v.T("job.state." + string(state)), to.path(), v.Number(states[state]), f.state == string(state)})
	}
	return v.tabs(append(all, tab{key: "why-not", name: v.T("jobs.tab_why"), link: "/jobs/why-not", current: f.state == "why-not"}))
}

// whyNot lists the jobs that did not run when they could have.
func (s schedulePages) whyNot(v view) (screen, error) {
	var counts store.JobCounts
	var all []notRun
	err := s.DB.View(func(tx *store.Tx) error {
		counts = tx.Jobs.Counts()
		found, err := scheduler.WhyNot(tx)
		for _, n := range found {
			p := planned{Job: n.Job}
			if n.Job.ID != 0 {
				if p, err = s.plan(tx, n.Job); err != nil {
					return err
				}
			}
			all = append(all, notRun{n, p})
		}
		return err
	})
	return screen{nav: "/jobs", title: v.T("jobs.tab_why"), body: v.whyNotBody(),
		parts: []part{{"tabs", v.jobTabs(jobFilter{state: "why-not"}, counts)}, {"why-not", v.whyNotList(all)}}}, err
}

// notRun is a job that did not run, with what it is about.
type notRun struct {
	scheduler.NotRun
	about planned
}

// bulk takes an action on the jobs that were chosen. Before it deletes them it asks.
func (s schedulePages) bulk(c echo.Context, v view, f form) error {
	back := LocalPath(f.get("back"))
	act, names := jobs.Action(f.get("do")), f.values["job"]
	if act == jobs.Delete && f.get("sure") == "" && len(names) > 0 {
		return s.show(c, http.StatusOK, v, screen{nav: "/jobs", title: v.T("jobs.remove_ask"), body: v.bulkDelete(names, back)})
	}
	var refused []jobs.Refused
	err := s.DB.Update(func(tx *store.Tx) (err error) {
		if len(names) == 0 {
			return store.Invalid("", "jobs.bulk_none")
		}
		_, refused, err = s.worker.DoAll(tx, act, names)
		return err
	})
	if err == nil && len(refused) == 0 {
		return did(c, back, "jobs-done")
	}
	if v.wrong = v.refusal(err); v.wrong == "" && err != nil {
		return err
	}
	if len(refused) > 0 {
		v.wrong = v.T("jobs.bulk_refused", len(refused), cmp.Or(v.refusal(refused[0].Err), refused[0].Job))
	}
	shown, _ := url.Parse(back) // as it was filtered
	v.path, v.query = back, shown.Query()
	return s.showPage(c, http.StatusUnprocessableEntity, v, s.jobs)
}

// job is one job with its last runs.
func (s schedulePages) job(v view) (screen, error) {
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
			p, err = s.plan(tx, j)
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
	var times []scheduler.Time
	if p.own != nil && !p.Trigger.Once() {
		if times, err = v.nextTimes(p.Trigger, p.Name); err != nil {
			return screen{}, err
		}
	}
	dir, keep := s.worker.Backups()
	return screen{
		nav: "/jobs", title: v.id, body: v.jobBody(title, len(times) > 0),
		parts: []part{{"job", v.jobFacts(p, dir, keep)}, {"times", v.ruleTimes(times, "")}, {"job-runs", v.runs(runs.Items)}},
	}, nil
}

// actOnJob pauses, resumes or runs a job.
func (s schedulePages) actOnJob(c echo.Context) error {
	act := jobs.Action(c.FormValue("do"))
	done := map[jobs.Action]string{jobs.Pause: "paused", jobs.Resume: "resumed", jobs.Run: "run"}[act]
	if done == "" {
		return echo.ErrBadRequest
	}
	return s.do(c, c.FormValue("back"), done, func(tx *store.Tx) error { return failure(s.worker.Do(tx, act, c.Param("id"))) })
}

// actOnEverything pauses or resumes the whole schedule.
func (s schedulePages) actOnEverything(c echo.Context) error {
	switch c.FormValue("do") {
	case "pause":
		return s.do(c, "/jobs", "all-paused", func(tx *store.Tx) error { return scheduler.PauseAll(tx, scheduler.ByHand) })
	case "resume":
		return s.do(c, "/jobs", "all-resumed", scheduler.ResumeAll)
	}
	return echo.ErrBadRequest
}
