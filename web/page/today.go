package page

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/web/session"
	"belfry/worker/posts"
	"belfry/worker/tasks"
)

// How much the first page shows.
const (
	comingRuns  = 12
	comingPages = 10 // of jobs, of which those are left out that are paused
	pastEntries = 8
	maxTrouble  = 3 // of each kind, by name
)

// Today is the first page.
func Today(s *Server, own *echo.Group) {
	s.entry(today, "next", "/")
	s.live(own, "/", s.today)
}

// overview is what the first page needs of the store, read in one short view.
type overview struct {
	identities []store.Identity
	first      *planned // the next post, and where there is none the next chat of a broadcast
	coming     []planned
	more       bool         // than what is coming
	posts      []store.Post // that have ended
	tasks      []store.Task // that have ended
	alone      []store.AccountSite
	noPassword bool
	paused     string                 // why everything is
	newAlerts  int                    // that nobody has acknowledged
	alerts     []aboutAlert           // those of them that are so at this moment, the latest first
	held       store.Page[store.Post] // that need approval
}

// today tells what happens next, what needs attention, and what just happened.
func (s *Server) today(v view) (screen, error) {
	wrong, err := s.wrong()
	if err != nil {
		return screen{}, err
	}
	var o overview
	err = s.DB.View(func(tx *store.Tx) error {
		return errors.Join(o.read(tx), s.readFirst(tx, &o), s.readComing(tx, &o), o.readEnded(tx), s.readAlerts(tx, &o, wrong))
	})
	days := v.plan(o)
	steps, _ := s.setup(v)
	return screen{nav: "/", title: v.T("next.title"), body: v.todayBody(), parts: []part{
		{"setup", steps}, {"hero", v.hero(o.first, len(o.held.Items) > 0, len(o.identities) == 0)}, {"attention", v.attention(v.troubles(o), o)},
		{"coming", v.coming(days, o.more)}, {"happened", v.happened(o.ended())},
	}}, err
}

func (o *overview) read(tx *store.Tx) (err error) {
	o.identities = slices.Collect(tx.Identities.All())
	if o.held, err = tx.Posts.Held(store.Query{Limit: maxHeld}); err != nil {
		return err
	}
	for site := range tx.AccountSites.All() {
		if site.LeftAlone(tx.Now()) && len(o.alone) < maxTrouble {
			o.alone = append(o.alone, site)
		}
	}
	if o.paused, err = tx.Settings.Value(store.Paused); err != nil {
		return err
	}
	chosen, err := session.HasPassword(tx)
	o.noPassword = !chosen
	return err
}

// readFirst reads what stands above the others, however many of them come before it.
func (s *Server) readFirst(tx *store.Tx, o *overview) error {
	for _, kind := range []string{posts.Kind, tasks.Kind} {
		jobs, err := tx.Jobs.List(store.JobQuery{Kind: kind, State: store.JobWaiting, Query: store.Query{Limit: comingRuns}})
		if err != nil {
			return err
		}
		for _, j := range jobs.Items {
			p, err := s.plan(tx, j)
			if err != nil {
				return err
			}
			if p.post != nil || p.task != nil {
				o.first = &p
				return nil
			}
		}
	}
	return nil
}

// readComing reads what runs next. Jobs that are paused keep their places among the others, long
// after their time: it looks past them, though not without end.
func (s *Server) readComing(tx *store.Tx, o *overview) error {
	query := store.Query{Limit: 4 * comingRuns}
	for range comingPages {
		jobs, err := tx.Jobs.List(store.JobQuery{Query: query})
		if err != nil {
			return err
		}
		for _, j := range jobs.Items {
			switch {
			case j.State == store.JobSetAside, j.State == store.JobPaused, s.Scheduler.Kinds()[j.Kind].Routine:
			case len(o.coming) == comingRuns:
				o.more = true
			default:
				p, err := s.plan(tx, j)
				if err != nil {
					return err
				}
				o.coming = append(o.coming, p)
			}
		}
		if query.Cursor = jobs.Next; query.Cursor == "" {
			return nil
		}
		if len(o.coming) == comingRuns {
			break
		}
	}
	o.more = true
	return nil
}

// readEnded reads the posts and broadcasts that have ended, the latest first of each status.
func (o *overview) readEnded(tx *store.Tx) error {
	for _, status := range []store.PostStatus{store.PostPublished, store.PostFailed, store.PostUnknown, store.PostSkipped} {
		ended, err := tx.Posts.ByTime(status, store.Query{Limit: pastEntries})
		if err != nil {
			return err
		}
		o.posts = append(o.posts, ended.Items...)
	}
	for _, status := range []store.TaskStatus{store.TaskDone, store.TaskFailed} {
		ended, err := tx.Tasks.ByTime(status, store.Query{Limit: pastEntries})
		if err != nil {
			return err
		}
		o.tasks = append(o.tasks, ended.Items...)
	}
	return nil
}

// readAlerts reads what the new alerts are about.
func (s *Server) readAlerts(tx *store.Tx, o *overview, wrong []store.Alert) error {
	slices.SortFunc(wrong, func(a, b store.Alert) int { return cmp.Or(b.RaisedAt.Compare(a.RaisedAt), cmp.Compare(b.ID, a.ID)) })
	of := make(map[store.AlertKind]int)
	for _, a := range wrong {
		if a.State() != store.AlertOpen {
			continue
		}
		o.newAlerts++
		if a.GoneAt.IsZero() && of[a.Kind] < maxTrouble {
			of[a.Kind]++
			about, err := s.aboutOf(tx, a)
			if err != nil {
				return err
			}
			o.alerts = append(o.alerts, about)
		}
	}
	return nil
}

// ended is a post or a broadcast that has ended.
type ended struct {
	post *store.Post
	task *store.Task
	at   time.Time
}

// ended are the latest that have ended.
func (o overview) ended() (all []ended) {
	for _, p := range o.posts {
		at := p.UpdatedAt
		if p.Status == store.PostPublished {
			at = p.PublishedAt
		}
		all = append(all, ended{post: &p, at: at})
	}
	for _, t := range o.tasks {
		all = append(all, ended{task: &t, at: t.EndedAt})
	}
	slices.SortStableFunc(all, func(a, b ended) int { return b.at.Compare(a.at) })
	return all[:min(len(all), pastEntries)]
}

// comingDay is the coming runs of one day.
type comingDay struct {
	name string
	runs []planned
}

// plan returns what comes by day.
func (v view) plan(o overview) (days []comingDay) {
	for i, c := range o.coming {
		if i == 0 && o.first != nil && c.ID == o.first.ID {
			continue // it stands above the list
		}
		at := c.Due
		if at.Before(v.Now) {
			at = v.Now
		}
		if name := v.Day(at); len(days) == 0 || days[len(days)-1].name != name {
			days = append(days, comingDay{name: name})
		}
		last := &days[len(days)-1]
		last.runs = append(last.runs, c)
	}
	return days
}

// at is when a job runs, or has begun to.
func (p planned) at() time.Time {
	if p.State == store.JobRunning {
		return p.Started
	}
	return p.Due
}

// away is how far away a job's time is.
func (v view) away(p planned) string {
	if p.State != store.JobRunning && !p.Due.After(v.Now) {
		return v.T("time.now")
	}
	return v.Relative(p.at())
}

// runReason is why a coming job waits, or that it runs.
func (v view) runReason(p planned) string {
	if p.State == store.JobRunning {
		return v.T("job.state.running")
	}
	return v.why(p.why)
}

// trouble is something that a person has to look at.
type trouble struct{ class, what, why, cure, link, linkText string }

// troubles are what a person has to look at, the gravest first.
func (v view) troubles(o overview) (all []trouble) {
	add := func(class, key, about, why, link, linkText string) {
		what := v.T("next." + key)
		if about != "" {
			what += ": " + about
		}
		all = append(all, trouble{class, what, why, v.T("next." + key + "_cure"), link, linkText})
	}
	switch status := v.server.Scheduler.Status(); {
	case v.server.Idle:
		add("mild", "idle", "", "", "", "")
	case status.Started.IsZero():
		add("grave", "stopped", "", "", "", "")
	case status.Problem != "":
		add("grave", "store_trouble", "", status.Problem, "", "")
	case status.Settling > 0:
		add("grave", "clock", "", "", "", "")
	}
	if o.paused != "" {
		add("grave", "paused", "", v.pausedBy(o.paused), "/jobs", v.T("next.set_aside_link"))
	}
	for _, a := range o.alerts {
		if a.Kind == store.AlertOverdue && v.server.Idle {
			continue
		}
		said := v.alert(a)
		link, text := v.alertLink(a)
		all = append(all, trouble{"grave", said.What, v.why(a.Reason), said.Cure, link, text})
	}
	for _, i := range o.identities {
		alerted := slices.ContainsFunc(o.alerts, func(a aboutAlert) bool { return a.Kind == store.AlertLogin && a.Subject == i.ID })
		c := v.server.connection(i.ID)
		if !alerted && i.State == store.IdentityReady && c.State != platform.Connected && c.Err != "" {
			add("mild", "not_connected", i.Name, v.Heard(c.Err), "/logins", v.T("next.logins_link"))
		}
	}
	for _, site := range o.alone {
		why := site.Reason
		why.Until = site.Until
		add("mild", "site_alone", siteName(site.Site), v.why(why), "/accounts", v.T("next.accounts_link"))
	}
	if o.noPassword {
		add("mild", "no_password", "", "", "/password", v.T("next.no_password_link"))
	}
	return all
}

// newAlertsText is how many alerts are new; empty if none is.
func (v view) newAlertsText(n int) string {
	switch {
	case n == 0:
		return ""
	case n > maxBadge:
		return v.T("next.unseen_more", maxBadge)
	}
	return v.T("next.unseen", n)
}

// pausedBy says who has paused everything.
func (v view) pausedBy(why string) string {
	if why == scheduler.ByHand {
		return v.T("next.paused_by_you")
	}
	return why
}
