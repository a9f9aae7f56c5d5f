package page

import (
	"fmt"
	"net/http"
	"slices"
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
		g.POST("/rules/preview", s.answerForm(func(v view, f form) (templ.Component, error) { return s.preview(v, f), nil }))
		rule := func(v view) (screen, error) { return s.rule(v, nil) }
		s.live(g, "/rules/:id", rule)
		s.buttons(g, "/rules/:id", rule, map[string]button{
			"pause": {"rule-paused", act(server, w.Pause)}, "resume": {"rule-resumed", act(server, w.Resume)}, "run": {"rule-run", act(server, w.RunNow)},
		})
		g.POST("/rules/:id/dry-run", s.dryRun)
		g.GET("/rules/:id/change", of(server, getRule, s.change))
		g.POST("/rules/:id/change", of(server, getRule, s.save))
		s.step(g, step{
			path: "/rules/:id/remove", done: "rule-removed",
			ask: about(getRule, func(v view, r store.Rule) question {
				return question{
					nav: "/rules", ask: "rules.remove_ask", about: r.Name, means: v.T("rules.remove_means"), button: "rules.remove",
					danger: true, back: rulePath(r.ID), then: "/rules",
				}
			}),
			act: w.Remove,
		})
	}
}

type rulePages struct {
	*Server
	worker *rules.Worker
}

func rulePath(n uint64) string { return fmt.Sprintf("/rules/%d", n) }

func getRule(tx *store.Tx, id uint64) (store.Rule, error) { return tx.Rules.Get(id) }

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
		next = list.Next
		rows, err = each(tx, list.Items, rules.StatusOf)
		return err
	})
	return screen{nav: "/rules", title: v.T("nav.rules"), body: v.rulesBody(), parts: []part{{"list", v.ruleList(rows, next, spent)}}}, err
}

// rule is one rule: how it stands, its next times, what it posted last. dry is what a dry run has shown, or nil.
func (s rulePages) rule(v view, dry templ.Component) (screen, error) {
	var status rules.Status
	var made store.Page[store.Post]
	var runs store.Page[store.Run]
	err := s.DB.View(func(tx *store.Tx) error {
		r, err := tx.Rules.Get(v.number())
		if err != nil {
			return err
		}
		if status, err = rules.StatusOf(tx, r); err != nil {
			return err
		}
		if made, err = tx.Posts.OfRule(r.ID, store.Query{Limit: 10}); err != nil {
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
	allowTime(c)
	v.path = rulePath(v.number())
	all, why, err := s.worker.DryRun(c.Request().Context(), v.number())
	status := http.StatusOK
	if v.wrong = v.refusal(err); v.wrong != "" {
		status = http.StatusConflict
	} else if err != nil {
		return err
	}
	return s.showPage(c, status, v, func(v view) (screen, error) { return s.rule(v, v.ruleDryRun(all, why)) })
}

func emptyRule() form {
	f := newForm(nil)
	f.fill(map[string]string{"schedule_type": "daily", "times": "09:00", "source": "template"})
	return f
}

// fillRule writes a rule into a form.
func (f form) fillRule(r store.Rule) {
	s, c := rules.ScheduleOf(r), r.Content
	f.fill(map[string]string{
		"name": r.Name, "schedule_type": r.ScheduleType, "times": strings.Join(s.Times, ", "), "every": s.Every, "cron": s.Cron, "from": s.From,
		"dates": strings.Join(s.Dates, "\n"), "zone": s.Zone, "source": c.Source, "title": c.Title, "description": c.Description,
		"language": c.Language, "format": c.Format, "template": c.Template, "items": itemLines(c), "order": c.Order, "feed_url": c.FeedURL, "pause_after": strconv.Itoa(c.PauseAfter),
	})
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
	f.tick(map[string]bool{"approval": c.Approval})
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

// itemLines are the texts of a list as the form is filled with them.
func itemLines(c store.RuleContent) string {
	return strings.TrimSpace(strings.ReplaceAll(strings.Join(c.Items, "\n"), "\r\n", "\n"))
}

// otherItems reports whether the form has another list than it was filled with. A list that it has not, such as one
// with a space at the end of a text, stays as it is, and with it the place in the list.
func (f form) otherItems(c store.RuleContent) bool {
	return strings.TrimSpace(f.plain("items")) != itemLines(c)
}

// checkItems refuses another list where texts have several lines, which the form cannot tell apart.
func (f form) checkItems(c store.RuleContent) error {
	if f.otherItems(c) && slices.ContainsFunc(c.Items, func(item string) bool { return strings.ContainsAny(item, "\r\n") }) {
		return store.Invalid("content_config.items", "invalid.items_lines")
	}
	return nil
}

// fillRequest changes a request to what the form says. What the form does not show stays.
func (f form) fillRequest(r *rules.Request) {
	r.Name = f.get("name")
	r.ScheduleType, r.Schedule = f.ruleSchedule()
	c := &r.Content
	c.Source, c.Title, c.Description = f.get("source"), f.get("title"), f.get("description")
	c.Template, c.Order = f.plain("template"), f.get("order")
	if f.otherItems(*c) {
		c.Items = lines(f.get("items"))
	}
	c.FeedURL, c.Approval = f.get("feed_url"), f.on("approval")
	c.Language, c.Format, c.Media = f.get("language"), f.get("format"), f.content().Media
	c.PerRun, _ = strconv.Atoi(f.get("per_run"))         // likewise
	c.PauseAfter, _ = strconv.Atoi(f.get("pause_after")) // what is no number is the default
	var ticked []uint64
	for _, account := range f.values["account"] {
		if n, err := strconv.ParseUint(account, 10, 64); err == nil {
			ticked = append(ticked, n)
		}
	}
	if slices.Equal(slices.Sorted(slices.Values(ticked)), slices.Sorted(slices.Values(r.Accounts))) {
		return
	}
	if r.Accounts = ticked; len(ticked) > 0 {
		r.Platforms = nil
	}
}

// has reports whether the form has a value among those of a field.
func (f form) has(name, value string) bool {
	return slices.Contains(f.values[name], value)
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
	return v.ruleTimes(times, v.Say(scheduler.Describe(t, v.Zone)))
}

// showForm shows the form; r is the rule that is changed, or nil.
func (s rulePages) showForm(c echo.Context, status int, f form, r *store.Rule) error {
	logins, err := identities.List(s.DB)
	if err != nil {
		return err
	}
	v := s.view(c)
	if f.get("zone") == "" {
		f.values.Set("zone", s.worker.Zone().String())
	}
	f.prepare(v.T("rules.fix"))
	title := v.T("rules.new")
	if r != nil {
		title = v.T("rules.change")
	}
	return s.show(c, status, v, screen{nav: "/rules", title: title, form: "rule", body: v.ruleForm(f, r, title, logins, s.worker.HasAI(), s.preview(v, f))})
}

func (s rulePages) change(c echo.Context, r *store.Rule) error {
	f := newForm(nil)
	f.fillRule(*r)
	f.see(seenRule(rules.RequestOf(*r)))
	return s.showForm(c, http.StatusOK, f, r)
}

// seenRule is what the form shows of a rule.
func seenRule(r rules.Request) rules.Request {
	r.Active = false
	return r
}

// save makes the rule of the form, or changes r if it is not nil.
func (s rulePages) save(c echo.Context, r *store.Rule) error {
	f, err := s.readMediaForm(c)
	if err != nil {
		return err
	}
	v := s.view(c)
	if status := f.notSaved(); status != 0 {
		return s.showForm(c, status, f, r)
	}
	saved, done := uint64(0), "rule-added"
	var draft rules.Draft
	if r == nil {
		request := rules.Request{Active: true}
		f.fillRequest(&request)
		if draft, err = s.worker.Prepare(c.Request().Context(), request); err == nil {
			saved, err = s.once(v, "rules", f, func(tx *store.Tx) (uint64, error) {
				made, err := s.worker.Create(tx, draft)
				return made.ID, err
			})
		}
	} else {
		saved, done = r.ID, "rule-changed"
		var changed error
		fill := func(q *rules.Request) {
			changed = f.unchanged(seenRule(*q))
			f.fillRequest(q)
			q.Active = q.Active || s.worker.Ended(*r) // what has ended goes on with what it is given; what was switched off stays off
		}
		if err = f.checkItems(r.Content); err == nil {
			draft, err = s.worker.PrepareChange(c.Request().Context(), r.ID, fill)
		}
		if changed != nil {
			err = changed
		}
		if err == nil {
			err = s.DB.Update(func(tx *store.Tx) error { return failure(s.worker.Change(tx, draft)) })
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
