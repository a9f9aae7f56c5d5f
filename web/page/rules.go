package page

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/identities"
	"belfry/worker/rules"
)

// previewTimes is how many of its next times a form or a page shows.
const previewTimes = 10

// Rules is the door to rules.
func Rules(w *rules.Worker) Door {
	return func(server *Server, g *echo.Group) {
		s := rulePages{server, w}
		server.ai = w
		s.entry(publish, "rules", "/rules")
		s.canMake("rule", "/rules/new")
		s.jobPages[rules.Kind] = func(j store.Job) string { return rulePath(j.Subject) }
		s.live(g, "/rules", s.rules)
		g.GET("/rules/new", func(c echo.Context) error { return s.showForm(c, http.StatusOK, emptyRule(), nil) })
		g.POST("/rules/new", func(c echo.Context) error { return s.save(c, nil) })
		g.POST("/rules/preview", func(c echo.Context) error {
			return s.answerForm(c, func(v view, f form) (templ.Component, error) { return s.preview(v, f), nil })
		})
		s.live(g, "/rules/:id", func(v view) (screen, error) { return s.rule(v, nil) })
		s.buttons(g, "/rules/:id", func(v view) (screen, error) { return s.rule(v, nil) }, map[string]button{
			"pause": {"rule-paused", s.act((*rules.Worker).Pause)}, "resume": {"rule-resumed", s.act((*rules.Worker).Resume)},
			"run": {"rule-run", s.act((*rules.Worker).RunNow)},
		})
		g.POST("/rules/:id/dry-run", s.dryRun)
		g.GET("/rules/:id/change", s.change)
		g.POST("/rules/:id/change", s.saveChange)
		s.step(g, step{
			path: "/rules/:id/remove", done: "rule-removed",
			ask: func(v view, id uint64) (question, error) {
				r, err := s.read(id)
				return question{
					nav: "/rules", ask: "rules.remove_ask", about: r.Name, means: v.T("rules.remove_means"), button: "rules.remove",
					danger: true, back: rulePath(id), then: "/rules",
				}, err
			},
			act: func(tx *store.Tx, id uint64, _ string) error { return s.worker.Remove(tx, id) },
		})
	}
}

type rulePages struct {
	*Server
	worker *rules.Worker
}

func rulePath(n uint64) string { return fmt.Sprintf("/rules/%d", n) }

func (s rulePages) read(id uint64) (r store.Rule, err error) {
	err = s.DB.View(func(tx *store.Tx) (err error) {
		r, err = tx.Rules.Get(id)
		return err
	})
	return r, err
}

func (s rulePages) act(do func(*rules.Worker, *store.Tx, uint64) (store.Rule, error)) func(context.Context, uint64) error {
	return func(_ context.Context, id uint64) error {
		return s.DB.Update(func(tx *store.Tx) error {
			_, err := do(s.worker, tx, id)
			return err
		})
	}
}

// rules is the list of rules.
func (s rulePages) rules(v view) (screen, error) {
	var rows []rules.Status
	var next, spent string
	err := s.DB.View(func(tx *store.Tx) error {
		var err error
		if spent, err = s.aiSpent(tx, v); err != nil {
			return err
		}
		list, err := tx.Rules.ByTime(store.Query{Limit: perPage, Cursor: v.query.Get("cursor")})
		if err != nil {
			return err
		}
		rows, next = make([]rules.Status, len(list.Items)), list.Next
		for i, r := range list.Items {
			if rows[i], err = rules.StatusOf(tx, r); err != nil {
				return err
			}
		}
		return nil
	})
	return screen{nav: "/rules", title: v.T("nav.rules"), body: v.rulesBody(), parts: []part{{"list", v.ruleList(rows, next, spent)}}}, err
}

// rule is one rule: how it stands, its next times, what it posted last. dry is what a dry run has shown, or nil.
func (s rulePages) rule(v view, dry templ.Component) (screen, error) {
	number, err := v.number()
	if err != nil {
		return screen{}, err
	}
	var status rules.Status
	var made store.Page[store.Post]
	var runs store.Page[store.Run]
	err = s.DB.View(func(tx *store.Tx) error {
		r, err := tx.Rules.Get(number)
		if err != nil {
			return err
		}
		if status, err = rules.StatusOf(tx, r); err != nil {
			return err
		}
		if made, err = tx.Posts.OfRule(number, store.Query{Limit: 10}); err != nil {
			return err
		}
		runs, err = tx.Runs.Of(r.JobName(), store.Query{Limit: shownRuns})
		return err
	})
	if err != nil {
		return screen{}, err
	}
	var times []scheduler.Time
	if status.Active {
		times, err = rules.Preview(status.Trigger, status.JobName(), v.Now, previewTimes)
	}
	return screen{
		nav: "/rules", title: status.Name, body: v.ruleBody(status, dry),
		parts: []part{{"facts", v.ruleFacts(status)}, {"times", v.ruleTimes(times, "")}, {"made", v.rulePosts(made.Items)}, {"history", v.runs(runs.Items)}},
	}, err
}

// ruleState is the class and the name of how a rule stands.
func (v view) ruleState(s rules.Status) (class, name string) {
	switch {
	case !s.Active:
		return "is-cancelled", v.T("rules.state.off")
	case s.Paused:
		return "job-paused", v.T("rules.state.paused")
	}
	return "is-scheduled", v.T("rules.state.active")
}

// dryRun shows what a rule would post now.
func (s rulePages) dryRun(c echo.Context) error {
	v := s.view(c)
	number, err := v.number()
	if err != nil {
		return err
	}
	allowTime(c)
	v.path = rulePath(number)
	all, why, err := s.worker.DryRun(c.Request().Context(), number)
	status := http.StatusOK
	if v.wrong = v.refusal(err); v.wrong != "" {
		status = http.StatusConflict
	} else if err != nil {
		return err
	}
	p, err := s.rule(v, v.ruleDryRun(all, why))
	if err != nil {
		return err
	}
	return s.showLive(c, status, v, p, liveBase+v.path)
}

func emptyRule() form {
	f := newForm(nil)
	f.values.Set("schedule_type", "daily")
	f.values.Set("times", "09:00")
	f.values.Set("source", "template")
	return f
}

// fillRule writes a rule into a form.
func (f form) fillRule(r store.Rule) {
	s, c := rules.ScheduleOf(r), r.Content
	for name, value := range map[string]string{
		"name": r.Name, "schedule_type": r.ScheduleType, "times": strings.Join(s.Times, ", "), "every": s.Every, "cron": s.Cron, "from": s.From,
		"dates": strings.Join(s.Dates, "\n"), "zone": s.Zone, "source": c.Source, "title": c.Title, "description": c.Description,
		"language": c.Language, "format": c.Format, "template": c.Template, "items": strings.Join(c.Items, "\n"), "order": c.Order, "feed_url": c.FeedURL, "pause_after": strconv.Itoa(c.PauseAfter),
	} {
		f.values.Set(name, value)
	}
	if c.PerRun > 0 {
		f.values.Set("per_run", strconv.Itoa(c.PerRun))
	}
	f.setMedia(c.Media)
	for _, day := range s.Days {
		f.values.Add("days", strconv.Itoa(day))
	}
	for _, account := range r.Accounts {
		f.values.Add("account", id(account))
	}
	if c.Approval {
		f.values.Set("approval", "on")
	}
}

// ruleSchedule reads the schedule of a form.
func (f form) ruleSchedule() (kind string, s rules.Schedule) {
	s = rules.Schedule{
		Times: timesOfDay(f.get("times")),
		Every: f.get("every"), From: f.get("from"), Cron: f.get("cron"), Dates: lines(f.get("dates")), Zone: f.get("zone"),
	}
	for _, day := range f.values["days"] {
		if n, err := strconv.Atoi(day); err == nil {
			s.Days = append(s.Days, n)
		}
	}
	return f.get("schedule_type"), s
}

// lines are the lines of a text that are not empty.
func lines(text string) (all []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			all = append(all, line)
		}
	}
	return all
}

// fillRequest changes a request to what the form says. What the form does not show stays.
func (f form) fillRequest(r *rules.Request) {
	r.Name, r.Active = f.get("name"), true
	r.ScheduleType, r.Schedule = f.ruleSchedule()
	c := &r.Content
	c.Source, c.Title, c.Description = f.get("source"), f.get("title"), f.get("description")
	c.Template, c.Items, c.Order = strings.ReplaceAll(f.values.Get("template"), "\r\n", "\n"), lines(f.get("items")), f.get("order")
	c.FeedURL, c.Approval = f.get("feed_url"), f.get("approval") == "on"
	c.Language, c.Format, c.Media = f.get("language"), f.get("format"), f.content().Media
	c.PerRun, _ = strconv.Atoi(f.get("per_run"))         // likewise
	c.PauseAfter, _ = strconv.Atoi(f.get("pause_after")) // what is no number is the default
	r.Accounts = nil
	for _, account := range f.values["account"] {
		if n, err := strconv.ParseUint(account, 10, 64); err == nil {
			r.Accounts = append(r.Accounts, n)
		}
	}
	if len(r.Accounts) > 0 {
		r.Platforms = nil
	}
}

// has reports whether the form has a value among those of a field.
func (f form) has(name, value string) bool {
	for _, v := range f.values[name] {
		if v == value {
			return true
		}
	}
	return false
}

// preview shows the next times of what the form says.
func (s rulePages) preview(v view, f form) templ.Component {
	t, err := s.worker.Trigger(f.ruleSchedule())
	var times []scheduler.Time
	if err == nil {
		times, err = rules.Preview(t, "", v.Now, previewTimes)
	}
	if err != nil {
		return v.ruleTimes(nil, v.refusal(err))
	}
	return v.ruleTimes(times, v.Say(scheduler.Describe(t)))
}

// showForm shows the form; r is the rule that is changed, or nil.
func (s rulePages) showForm(c echo.Context, status int, f form, r *store.Rule) error {
	logins, err := identities.List(s.DB)
	if err != nil {
		return err
	}
	v := s.view(c)
	if f.get("form") == "" {
		f.values.Set("form", rand.Text())
	}
	if f.get("zone") == "" {
		f.values.Set("zone", s.worker.Zone().String())
	}
	if len(f.wrong) > 0 && f.wrong[""] == "" {
		f.wrong[""] = v.T("rules.fix")
	}
	title := v.T("rules.new")
	if r != nil {
		title = v.T("rules.change")
	}
	return s.show(c, status, v, screen{nav: "/rules", title: title, form: "rule", body: v.ruleForm(f, r, title, logins, s.worker.HasAI(), s.preview(v, f))})
}

func (s rulePages) change(c echo.Context) error {
	r, err := s.ruleOf(c)
	if err != nil {
		return err
	}
	f := newForm(nil)
	f.fillRule(r)
	return s.showForm(c, http.StatusOK, f, &r)
}

// ruleOf returns the rule that the path names.
func (s rulePages) ruleOf(c echo.Context) (store.Rule, error) {
	number, err := s.view(c).number()
	if err != nil {
		return store.Rule{}, err
	}
	return s.read(number)
}

func (s rulePages) saveChange(c echo.Context) error {
	r, err := s.ruleOf(c)
	if err != nil {
		return err
	}
	return s.save(c, &r)
}

// save makes the rule of the form, or changes r if it is not nil.
func (s rulePages) save(c echo.Context, r *store.Rule) error {
	f, err := s.readMediaForm(c)
	if err != nil {
		return err
	}
	v := s.view(c)
	if f.wrong["media"] != "" {
		return s.showForm(c, http.StatusUnprocessableEntity, f, r)
	}
	if f.onlyShow() {
		return s.showForm(c, http.StatusOK, f, r)
	}
	saved, done := uint64(0), "rule-added"
	var draft rules.Draft
	if r == nil {
		var request rules.Request
		f.fillRequest(&request)
		if draft, err = s.worker.Prepare(c.Request().Context(), request); err == nil {
			saved, err = s.once(v, "rules", f.get("form"), func(tx *store.Tx) (uint64, error) {
				made, err := s.worker.Create(tx, draft)
				return made.ID, err
			})
		}
	} else {
		saved, done = r.ID, "rule-changed"
		if draft, err = s.worker.PrepareChange(c.Request().Context(), r.ID, f.fillRequest); err == nil {
			err = s.DB.Update(func(tx *store.Tx) error {
				_, err := s.worker.Change(tx, draft)
				return err
			})
		}
	}
	if err == nil {
		return did(c, rulePath(saved), done)
	}
	fields := make([]string, 0, maxFiles)
	for i := range maxFiles {
		fields = append(fields, fmt.Sprintf("content_config.media[%d]:media[%d]", i, i))
	}
	if !f.refuse(v, err, append(fields, "name", "schedule_config:schedule_type", "schedule_config.times:times", "schedule_config.days_of_week:times", "schedule_config.every:every",
		"schedule_config.from:every", "schedule_config.cron_expression:cron", "schedule_config.dates:dates", "schedule_config.zone:zone", "schedule_type",
		"content_config.source:source", "content_config.title:title", "content_config.description:description", "content_config.template:template",
		"content_config.items:items", "content_config.feed_url:feed_url", "content_config.pause_after:pause_after",
		"content_config.language:language", "content_config.format:format", "content_config.per_run:per_run", "content_config.media:media", "accounts", "platforms:accounts")...) {
		return err
	}
	return s.showForm(c, http.StatusUnprocessableEntity, f, r)
}
