package api

import (
	"context"
	"net/http"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/rules"
)

// RuleSchedule is when a rule posts. Which fields count depends on schedule_type.
type RuleSchedule struct {
	Times []string `json:"times,omitempty" nullable:"false" doc:"Of daily and weekly: times of day" example:"[\"12:05\"]"`
	Time  string   `json:"time,omitempty" doc:"Instead of times"`
	Days  []int    `json:"days_of_week,omitempty" nullable:"false" doc:"Of daily and weekly: 1 is Monday, 7 is Sunday"`
	Day   int      `json:"day_of_week,omitempty" doc:"Instead of days_of_week"`
	Every string   `json:"every,omitempty" doc:"Of interval: the time between two runs" example:"6h"`
	From  string   `json:"from,omitempty" doc:"Of interval: when it runs first; after the first interval if left out"`
	Cron  string   `json:"cron_expression,omitempty" doc:"Of cron: minute, hour, day of month, month, day of week" example:"30 9 * * 1-5"`
	Dates []string `json:"dates,omitempty" nullable:"false" doc:"Of custom: RFC 3339, or local times without an offset"`
	Zone  string   `json:"zone,omitempty" doc:"The time zone of local times; the server's if left out" example:"Europe/Moscow"`
}

// RuleContent is what a rule posts.
type RuleContent struct {
	Source      string   `json:"source,omitempty" doc:"ai, template, list or feed; if left out ai or, where none is set up, title and description as they are"`
	Title       string   `json:"title,omitempty" doc:"What the posts are about"`
	Description string   `json:"description,omitempty" doc:"What they should say"`
	Language    string   `json:"language,omitempty" doc:"Of what the AI writes and of dates" example:"ru"`
	Template    string   `json:"template,omitempty" doc:"With {title}, {description}, {date}, {time}, {weekday}, {number}; for a feed also {link} and {summary}"`
	Items       []string `json:"items,omitempty" nullable:"false" doc:"Of list: a text for each post"`
	Order       string   `json:"order,omitempty" doc:"Of list: once (default), circle or shuffle"`
	FeedURL     string   `json:"feed_url,omitempty" doc:"Of feed: RSS, Atom or JSON Feed; each item is posted once, the oldest first"`
	PerRun      int      `json:"per_run,omitempty" doc:"Of feed: items that one run posts at most; 1 if left out"`
	Format      format   `json:"format,omitempty" doc:"html, markdown or plain (default)"`
	Media       []Media  `json:"media,omitempty" nullable:"false" doc:"Shown with each post"`
	Approval    bool     `json:"approval,omitempty" doc:"The posts need approval"`
	PauseAfter  int      `json:"pause_after,omitempty" doc:"Failures in a row after which the rule pauses itself; 5 if left out"`
}

func (c RuleContent) stored() store.RuleContent {
	return store.RuleContent{
		Source: c.Source, Title: c.Title, Description: c.Description, Language: c.Language, Template: c.Template, Items: c.Items,
		Order: c.Order, FeedURL: c.FeedURL, PerRun: c.PerRun, Format: string(c.Format), Media: storedMedia(c.Media),
		Approval: c.Approval, PauseAfter: c.PauseAfter,
	}
}

func (s ruleDoor) shownContent(c store.RuleContent) RuleContent {
	shown := RuleContent{
		Source: c.Source, Title: c.Title, Description: c.Description, Language: c.Language, Template: c.Template, Items: c.Items,
		Order: c.Order, FeedURL: c.FeedURL, PerRun: c.PerRun, Format: format(c.Format), Media: shownMedia(c.Media),
		Approval: c.Approval, PauseAfter: c.PauseAfter,
	}
	if shown.Source == "" && s.rules.HasAI() {
		shown.Source = "ai"
	}
	return shown
}

// newRule is the request for a rule.
type newRule struct {
	Name        string       `json:"name" doc:"What its owner calls it"`
	Description string       `json:"description,omitempty" doc:"A note"`
	Type        string       `json:"schedule_type" doc:"daily, weekly, interval, cron or custom" example:"daily"`
	Schedule    RuleSchedule `json:"schedule_config"`
	Content     RuleContent  `json:"content_config"`
	Platforms   []string     `json:"platforms,omitempty" nullable:"false" doc:"telegram, instagram, twitter or x: one post on each" example:"[\"telegram\"]"`
	Accounts    []number     `json:"accounts,omitempty" nullable:"false" doc:"Ids of identities: one post as each, instead of the platform's default one"`
	Active      *bool        `json:"is_active,omitempty" doc:"true if left out"`
}

// rulePatch is a change to a rule; what is left out stays. A configuration is replaced as a whole.
type rulePatch struct {
	Name        *string       `json:"name,omitempty"`
	Description *string       `json:"description,omitempty"`
	Type        *string       `json:"schedule_type,omitempty"`
	Schedule    *RuleSchedule `json:"schedule_config,omitempty" doc:"Replaces the one before as a whole"`
	Content     *RuleContent  `json:"content_config,omitempty" doc:"Replaces the one before as a whole, with its source"`
	Platforms   *[]string     `json:"platforms,omitempty"`
	Accounts    *[]number     `json:"accounts,omitempty"`
	Active      *bool         `json:"is_active,omitempty"`
}

func (p rulePatch) apply(r *rules.Request) {
	set(&r.Name, p.Name)
	set(&r.Description, p.Description)
	set(&r.ScheduleType, p.Type)
	set(&r.Platforms, p.Platforms)
	set(&r.Active, p.Active)
	if p.Schedule != nil {
		r.Schedule = rules.Schedule(*p.Schedule)
	}
	if p.Content != nil {
		r.Content = p.Content.stored()
	}
	if p.Accounts != nil {
		r.Accounts = ids(*p.Accounts)
	}
}

func set[T any](to *T, from *T) {
	if from != nil {
		*to = *from
	}
}

func ids(numbers []number) (all []uint64) {
	for _, n := range numbers {
		all = append(all, uint64(n))
	}
	return all
}

// Rule is a rule as the API shows it.
type Rule struct {
	ID          uint64       `json:"id"`
	Name        string       `json:"name"`
	Description string       `json:"description,omitempty"`
	Type        string       `json:"schedule_type" enum:"daily,weekly,interval,cron,custom"`
	Schedule    RuleSchedule `json:"schedule_config"`
	Words       string       `json:"schedule" doc:"The schedule in words"`
	Content     RuleContent  `json:"content_config"`
	Platforms   []string     `json:"platforms" nullable:"false"`
	Accounts    []uint64     `json:"accounts" nullable:"false"`
	Active      bool         `json:"is_active" doc:"False once it was switched off, or nothing is left to do"`
	Paused      bool         `json:"is_paused" doc:"It posts nothing until it is resumed"`
	Executions  int          `json:"total_executions"`
	Succeeded   int          `json:"successful_executions"`
	Failed      int          `json:"failed_executions"`
	PostsMade   int          `json:"posts_made"`
	LastAt      time.Time    `json:"last_execution_at,omitzero"`
	NextAt      time.Time    `json:"next_execution_at,omitzero"`
	Reason      *Reason      `json:"reason,omitempty" doc:"Why it failed, posted nothing, waits or has ended"`
	Note        string       `json:"note,omitempty" doc:"What its owner should know about its texts"`
	Job         string       `json:"job" doc:"The job that carries it out" example:"rule_2"`
	CreatedAt   time.Time    `json:"created_at"`
	UpdatedAt   time.Time    `json:"updated_at"`
}

func (s ruleDoor) shownRule(tx *store.Tx, r store.Rule) (Rule, error) {
	status, err := rules.StatusOf(tx, r)
	shown := Rule{
		ID: r.ID, Name: r.Name, Description: r.Description, Type: r.ScheduleType, Schedule: RuleSchedule(rules.ScheduleOf(r)),
		Words: inEnglish().Say(scheduler.Describe(r.Trigger, time.UTC)), Content: s.shownContent(r.Content),
		Platforms: append([]string{}, r.Platforms...), Accounts: append([]uint64{}, r.Accounts...),
		Active: r.Active, Paused: status.Paused, Executions: r.Executions, Succeeded: r.Succeeded, Failed: r.Failed,
		PostsMade: r.PostsMade, LastAt: r.LastAt, NextAt: status.Job.Due, Reason: s.reasonOf(status.Why), Job: r.JobName(),
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt,
	}
	if r.Content.Source == "" && !s.rules.HasAI() {
		shown.Note = notAI
	}
	return shown, err
}

// Rules is the door to rules, and to contents, which an AI may write.
func Rules(w *rules.Worker) Door {
	return func(server *Server, a *api) {
		const base = "/auto-posting/rules"
		s := ruleDoor{server, w}
		s.contentAPI(a)
		operation(a, http.MethodPost, base, "Make a rule that makes posts", s.createRule)
		operation(a, http.MethodGet, base, "List rules, the latest first", s.listRules)
		operation(a, http.MethodPost, base+"/preview", "Preview the times of a schedule that is not saved", s.previewSchedule)
		operation(a, http.MethodGet, base+"/{id}", "Read a rule", s.readRule)
		operation(a, http.MethodPatch, base+"/{id}", "Change a rule", s.changeRule)
		operation(a, http.MethodDelete, base+"/{id}", "Delete a rule; its posts stay", s.removeRule)
		operation(a, http.MethodPost, base+"/{id}/run", "Carry a rule out now; its schedule is not shifted", s.ruleAction((*rules.Worker).RunNow))
		operation(a, http.MethodPost, base+"/{id}/pause", "Pause a rule", s.ruleAction((*rules.Worker).Pause))
		operation(a, http.MethodPost, base+"/{id}/resume", "Resume a rule that is paused or switched off", s.ruleAction((*rules.Worker).Resume))
		operation(a, http.MethodPost, base+"/{id}/dry-run", "Show what a rule would post now: nothing is written but the AI's budget", s.dryRun, patient)
		operation(a, http.MethodGet, base+"/{id}/preview", "Preview the next times of a rule", s.previewRule)
	}
}

type ruleDoor struct {
	*Server
	rules *rules.Worker
}

func (s ruleDoor) createRule(ctx context.Context, in *creation[newRule]) (*created[Rule], error) {
	return once(ctx, s.Server, "rules", in, func() (func(*store.Tx) (Rule, error), error) {
		b := in.Body
		draft, err := s.rules.Prepare(ctx, rules.Request{
			Name: b.Name, Description: b.Description, ScheduleType: b.Type, Schedule: rules.Schedule(b.Schedule),
			Content: b.Content.stored(), Platforms: b.Platforms, Accounts: ids(b.Accounts), Active: b.Active == nil || *b.Active,
		})
		if err != nil {
			return nil, err
		}
		return func(tx *store.Tx) (Rule, error) {
			made, err := s.rules.Create(tx, draft)
			if err != nil {
				return Rule{}, err
			}
			return s.shownRule(tx, made)
		}, nil
	})
}

func (s ruleDoor) listRules(_ context.Context, in *Paged) (*reply[List[Rule]], error) {
	return listed(s.Server, func(tx *store.Tx) (store.Page[store.Rule], error) { return tx.Rules.ByTime(in.query()) }, s.shownRule)
}

func (s ruleDoor) readRule(_ context.Context, in *one) (*reply[Rule], error) {
	return record(s.db.View, func(tx *store.Tx) (store.Rule, error) { return tx.Rules.Get(in.ID) }, s.shownRule)
}

type ruleChange struct {
	ID   uint64 `path:"id" doc:"The rule's id"`
	Body rulePatch
}

func (s ruleDoor) changeRule(ctx context.Context, in *ruleChange) (*reply[Rule], error) {
	draft, err := s.rules.PrepareChange(ctx, in.ID, in.Body.apply)
	if err != nil {
		return nil, err
	}
	return record(s.db.Update, func(tx *store.Tx) (store.Rule, error) { return s.rules.Change(tx, draft) }, s.shownRule)
}

func (s ruleDoor) removeRule(_ context.Context, in *one) (*struct{}, error) {
	return nil, s.db.Update(func(tx *store.Tx) error { return s.rules.Remove(tx, in.ID) })
}

// ruleAction makes an operation of an action on a rule.
func (s ruleDoor) ruleAction(act func(*rules.Worker, *store.Tx, uint64) (store.Rule, error)) func(context.Context, *one) (*reply[Rule], error) {
	return func(_ context.Context, in *one) (*reply[Rule], error) {
		return record(s.db.Update, func(tx *store.Tx) (store.Rule, error) { return act(s.rules, tx, in.ID) }, s.shownRule)
	}
}

// PlannedPost is a post that a rule would make.
type PlannedPost struct {
	Platform   string  `json:"platform"`
	IdentityID uint64  `json:"identity_id,omitempty" doc:"Missing: the platform's default one"`
	Text       string  `json:"text"`
	Format     string  `json:"format,omitempty"`
	Media      []Media `json:"media" nullable:"false"`
}

// DryRun is what a rule would post.
type DryRun struct {
	Posts  []PlannedPost `json:"posts" nullable:"false"`
	Reason *Reason       `json:"reason,omitempty" doc:"Why it would post nothing, or nothing after this"`
}

func (s ruleDoor) dryRun(ctx context.Context, in *one) (*reply[DryRun], error) {
	all, why, err := s.rules.DryRun(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	out := DryRun{Posts: []PlannedPost{}, Reason: s.reasonOf(why)}
	for _, p := range all {
		out.Posts = append(out.Posts, PlannedPost{p.Platform, p.IdentityID, p.Text, p.Format, shownMedia(p.Media)})
	}
	return answer(out), nil
}

// PlannedTime is a time that a schedule names.
type PlannedTime struct {
	At    time.Time `json:"at"`
	Local string    `json:"local" doc:"In the zone of the schedule" example:"2027-03-28T03:00:00+02:00"`
	Note  string    `json:"note,omitempty" doc:"What a change of the clock does on that day"`
}

// Preview is the next times of a schedule.
type Preview struct {
	Text  string        `json:"text" doc:"The schedule in words"`
	Items []PlannedTime `json:"items" nullable:"false"`
}

func (s ruleDoor) preview(t store.Trigger, name string, count int) (*reply[Preview], error) {
	times, err := rules.Preview(t, name, s.db.Now(), count)
	if err != nil {
		return nil, err
	}
	return answer(shownPreview(t, times)), nil
}

func shownPreview(t store.Trigger, times []scheduler.Time) Preview {
	say := inEnglish()
	out := Preview{Text: say.Say(scheduler.Describe(t, time.UTC)), Items: []PlannedTime{}}
	for _, at := range times {
		planned := PlannedTime{At: at.At, Local: at.Local.Format(time.RFC3339)}
		if at.Note.Key != "" {
			planned.Note = say.Say(at.Note)
		}
		out.Items = append(out.Items, planned)
	}
	return out
}

type rulePreview struct {
	ID    uint64 `path:"id" doc:"The rule's id"`
	Count int    `query:"count" minimum:"1" maximum:"100" default:"10" doc:"How many times at most"`
}

func (s ruleDoor) previewRule(_ context.Context, in *rulePreview) (*reply[Preview], error) {
	var r store.Rule
	err := s.db.View(func(tx *store.Tx) (err error) {
		r, err = tx.Rules.Get(in.ID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.preview(r.Trigger, r.JobName(), in.Count)
}

type schedulePreview struct {
	Body struct {
		Type     string       `json:"schedule_type" doc:"daily, weekly, interval, cron or custom"`
		Schedule RuleSchedule `json:"schedule_config"`
		Count    int          `json:"count,omitempty" minimum:"1" maximum:"100" default:"10" doc:"How many times at most"`
	}
}

func (s ruleDoor) previewSchedule(_ context.Context, in *schedulePreview) (*reply[Preview], error) {
	t, err := s.rules.Trigger(in.Body.Type, rules.Schedule(in.Body.Schedule))
	if err != nil {
		return nil, err
	}
	return s.preview(t, "", in.Body.Count)
}
