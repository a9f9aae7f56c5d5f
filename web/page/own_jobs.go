package page

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/jobs"
)

// mountOwn mounts the form of the owner's own jobs.
func (s schedulePages) mountOwn(g *echo.Group) {
	g.GET("/jobs/new", func(c echo.Context) error { return s.showForm(c, http.StatusOK, s.emptyJob(s.view(c)), "") })
	g.POST("/jobs/new", func(c echo.Context) error { return s.save(c, "") })
	g.POST("/jobs/preview", s.answerForm(func(v view, f form) (templ.Component, error) { return s.preview(v, f), nil }))
	g.GET("/jobs/:id/change", s.change)
	g.POST("/jobs/:id/change", func(c echo.Context) error { return s.save(c, c.Param("id")) })
	g.GET("/jobs/:id/remove", func(c echo.Context) error {
		v := s.view(c)
		return s.show(c, http.StatusOK, v, screen{nav: "/jobs", title: v.T("jobs.remove_ask"), body: v.bulkDelete([]string{v.id}, "/jobs")})
	})
}

func (s schedulePages) emptyJob(v view) form {
	f := newForm(nil)
	f.fill(map[string]string{
		"type": "times", "times": "09:00", "at": v.in(v.Now.Add(suggestAhead).Truncate(time.Hour)),
		"action": string(store.ActionMessage), "late": string(store.LateOnce),
	})
	return f
}

// fillJob writes a job into a form. A secret is not shown again.
func (f form) fillJob(v view, r jobs.Request) {
	a, kind := r.Action, "times"
	switch {
	case r.Trigger.At != "":
		kind = "at"
	case r.Trigger.Every != "":
		kind = "every"
	case r.Trigger.Cron != "":
		kind = "cron"
	}
	if at, err := time.Parse(time.RFC3339, r.Trigger.At); err == nil {
		f.values.Set("at", v.in(at))
	}
	length := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}
	f.fill(map[string]string{
		"title": r.Title, "type": kind, "times": strings.Join(r.Trigger.Times, ", "), "every": r.Trigger.Every, "from": r.Trigger.From,
		"cron": r.Trigger.Cron, "zone": r.Trigger.Zone, "action": string(a.Type), "identity_id": id(a.IdentityID), "target": a.Target,
		"text": a.Text, "format": a.Format, "url": a.URL, "payload": string(a.Payload), "rule": id(a.RuleID),
		"tags": strings.Join(r.Tags, ", "), "backoff": length(r.Backoff), "timeout": length(r.Timeout),
		"late": string(r.Lateness.Policy), "grace": length(r.Lateness.Grace),
	})
	if r.Attempts > 0 {
		f.values.Set("max_attempts", strconv.Itoa(r.Attempts))
	}
	for _, day := range r.Trigger.Days {
		f.values.Add("days", strconv.Itoa(day))
	}
}

// jobSchedule reads the schedule of a form.
func (f form) jobSchedule(v view) (s jobs.Schedule, err error) {
	switch f.get("type") {
	case "at":
		at, err := v.formTime(f.get("at"))
		s.At = at.Format(time.RFC3339)
		return s, err
	case "every":
		s.Every, s.From = f.get("every"), f.get("from")
	case "cron":
		s.Cron, s.Zone = f.get("cron"), f.get("zone")
	default:
		_, of := f.ruleSchedule()
		s.Times, s.Days, s.Zone = of.Times, of.Days, f.get("zone")
	}
	return s, nil
}

// jobRequest returns what changes a request to what the form says.
func (f form) jobRequest(v view) (func(*jobs.Request), error) {
	when, err := f.jobSchedule(v)
	if err != nil {
		return nil, err
	}
	late := store.Lateness{Policy: store.LatenessPolicy(f.get("late"))}
	var pause, limit time.Duration
	for _, part := range []struct {
		field string
		to    *time.Duration
	}{{"backoff", &pause}, {"timeout", &limit}, {"grace", &late.Grace}} {
		if text := f.get(part.field); text != "" {
			if *part.to, err = time.ParseDuration(text); err != nil {
				return nil, store.Invalid(part.field, "invalid.duration", text)
			}
		}
	}
	tries, err := strconv.Atoi(f.get("max_attempts"))
	if err != nil && f.get("max_attempts") != "" {
		return nil, store.Invalid("max_attempts", "invalid.job_not_number", f.get("max_attempts"))
	}
	act := store.Action{
		Type: store.ActionType(f.get("action")), Target: f.get("target"), Text: f.plain("text"),
		Format: f.get("format"), URL: f.get("url"), Secret: f.get("secret"), Payload: []byte(f.get("payload")),
		IdentityID: f.number("identity_id"), RuleID: f.number("rule"), // 0 is the default one; no rule
	}
	return func(r *jobs.Request) {
		if was, err := time.Parse(time.RFC3339, r.Trigger.At); err == nil && when.At != "" && f.get("at") == v.in(was) {
			when.At = r.Trigger.At // a time that was left as it is keeps its seconds, and its hour where the clock shows it twice
		}
		if act.Secret == "" {
			act.Secret = r.Action.Secret
		}
		*r = jobs.Request{
			Title: f.get("title"), Trigger: when, Action: act, Lateness: late, Attempts: tries, Backoff: pause, Timeout: limit,
			Tags: strings.FieldsFunc(f.get("tags"), func(c rune) bool { return strings.ContainsRune(",; #", c) }),
		}
	}, nil
}

// preview shows the next times of what the form says.
func (s schedulePages) preview(v view, f form) templ.Component {
	when, err := f.jobSchedule(v)
	var t store.Trigger
	if err == nil {
		t, err = s.worker.Trigger(when)
	}
	var times []scheduler.Time
	if err == nil {
		times, err = v.nextTimes(t, "")
	}
	if err != nil {
		return v.ruleTimes(nil, v.refusal(err))
	}
	return v.ruleTimes(times, v.Say(scheduler.Describe(t, v.Zone)))
}

// nextTimes are the next times of a trigger: in its zone or, where it has none, the reader's.
func (v view) nextTimes(t store.Trigger, name string) ([]scheduler.Time, error) {
	times, err := scheduler.Preview(t, name, v.Now, previewTimes)
	for i := range times {
		if t.Zone == "" {
			times[i].Local = times[i].At.In(v.Zone)
		}
	}
	return times, err
}

// showForm shows the form; name is the job that is changed, or empty.
func (s schedulePages) showForm(c echo.Context, status int, f form, name string) error {
	v := s.view(c)
	var logins []store.Identity
	var recipes store.Page[store.Rule]
	err := s.DB.View(func(tx *store.Tx) (err error) {
		logins = tx.Identities.Of("telegram")
		recipes, err = tx.Rules.ByTime(store.Query{Limit: 500})
		return err
	})
	if err != nil {
		return err
	}
	if f.get("zone") == "" {
		f.values.Set("zone", s.worker.Zone().String())
	}
	f.prepare(v.T("jobs.fix"))
	title := v.T("jobs.new")
	if name != "" {
		title = v.T("jobs.change")
	}
	from := append([]option{{"", v.T("jobs.default_identity")}}, v.loginOptions(logins)...)
	rules := []option{}
	for _, r := range recipes.Items {
		rules = append(rules, option{id(r.ID), r.Name})
	}
	return s.show(c, status, v, screen{nav: "/jobs", title: title, form: "job-form", body: v.jobForm(f, name, title, from, rules, s.preview(v, f))})
}

func (s schedulePages) change(c echo.Context) error {
	v, f := s.view(c), newForm(nil)
	err := s.DB.View(func(tx *store.Tx) error {
		own, err := s.worker.Own(tx, v.id)
		f.fillJob(v, jobs.RequestOf(own))
		f.see(jobs.RequestOf(own))
		return err
	})
	if err != nil {
		return err
	}
	return s.showForm(c, http.StatusOK, f, v.id)
}

// save makes the job of the form, or changes the one that is named. A webhook's secret is shown when it is made.
func (s schedulePages) save(c echo.Context, name string) error {
	f, err := readForm(c)
	if err != nil {
		return err
	}
	v := s.view(c)
	if f.onlyShow() {
		return s.showForm(c, http.StatusOK, f, name)
	}
	secret, done := "", "job-added"
	change, err := f.jobRequest(v)
	if err == nil && name == "" {
		name, secret, err = s.create(c.Request().Context(), v, f, change)
	} else if err == nil {
		done = "job-changed"
		var draft jobs.Draft
		var changed error
		draft, err = s.worker.PrepareChange(c.Request().Context(), name, func(r *jobs.Request) {
			changed = f.unchanged(*r)
			change(r)
		})
		if changed != nil {
			err = changed
		}
		if err == nil {
			err = s.DB.Update(func(tx *store.Tx) error { return failure(s.worker.Change(tx, draft)) })
		}
	}
	switch {
	case err == nil && secret != "":
		return s.show(c, http.StatusOK, v, screen{nav: "/jobs", title: v.T("jobs.secret"), body: v.jobSecret(secret, name)})
	case err == nil:
		return did(c, jobPath(name), done)
	case !f.refuse(v, err, "title", "trigger:"+f.get("type"), "trigger.at:at", "trigger.every:every", "trigger.from:every", "trigger.cron:cron",
		"trigger.times:times", "trigger.days_of_week:times", "trigger.zone:zone", "scheduled_time:at", "action.type:action", "action.identity_id:identity_id",
		"action.target:target", "action.text:text", "action.format:format", "action.url:url", "action.secret:secret", "action.payload:payload",
		"action.id:rule", "lateness.grace:grace", "grace", "lateness.policy:late", "max_attempts", "backoff", "timeout", "tags"):
		return err
	}
	return s.showForm(c, http.StatusUnprocessableEntity, f, name)
}

// create makes a job once for each form. The secret is empty where there is none, or it was shown before.
func (s schedulePages) create(ctx context.Context, v view, f form, fill func(*jobs.Request)) (name, secret string, err error) {
	var r jobs.Request
	fill(&r)
	draft, err := s.worker.Prepare(ctx, r)
	if err != nil {
		return "", "", err
	}
	made, err := s.once(v, "jobs", f, func(tx *store.Tx) (uint64, error) {
		job, err := s.worker.Create(tx, draft)
		secret = draft.Secret()
		return job.Subject, err
	})
	return store.OwnJob{ID: made}.JobName(), secret, err
}
