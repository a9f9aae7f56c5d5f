package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"belfry/platform/webhook"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/posts"
)

// Schedule is a trigger as people write it: exactly one of At, Every, Cron and Times.
type Schedule struct {
	At    string   // RFC 3339 with an offset
	Every string   // such as 90m
	From  string   // of Every: when it runs first; empty means after the first interval
	Cron  string   // minute, hour, day of month, month, day of week
	Times []string // times of day, 15:04
	Days  []int    // of Times: 1 is Monday, 7 is Sunday; none means all
	Zone  string   // of Cron and Times; empty means the worker's
}

// ScheduleOf returns a trigger as people write it.
func ScheduleOf(t store.Trigger) Schedule {
	s := Schedule{Cron: t.Cron, Times: t.Times, Days: t.Weekdays, Zone: t.Zone}
	if t.Once() {
		s.At = t.At.Format(time.RFC3339Nano)
	}
	if t.Every > 0 {
		s.Every = t.Every.String()
	}
	if !t.From.IsZero() {
		s.From = t.From.Format(time.RFC3339)
	}
	return s
}

// Trigger reads a schedule. Its errors are of type [*store.FieldError], with a field such as trigger.cron.
func (w *Worker) Trigger(s Schedule) (t store.Trigger, err error) {
	given := 0
	for _, part := range []string{s.At, s.Every, strings.TrimSpace(s.Cron), strings.Join(s.Times, " ")} {
		if part != "" {
			given++
		}
	}
	if given != 1 || len(s.Days) > 0 && len(s.Times) == 0 || s.From != "" && s.Every == "" {
		return t, store.Invalid("trigger", "invalid.job_trigger")
	}
	switch {
	case s.At != "":
		t.At, err = posts.ParseTime("trigger.at", s.At)
	case s.Every != "":
		if t.Every, err = time.ParseDuration(s.Every); err != nil {
			return t, store.Invalid("trigger.every", "invalid.duration", s.Every)
		}
		if t.Every == 0 { // else it is as if there were none
			return t, store.Invalid("trigger.every", "invalid.under_a_second")
		}
		if t.From = w.db.Now().Add(t.Every).Truncate(time.Second); s.From != "" {
			t.From, err = posts.ParseTime("trigger.from", s.From)
		}
	default:
		t.Cron, t.Times, t.Weekdays = strings.TrimSpace(s.Cron), s.Times, s.Days
		t.Zone = cmp.Or(s.Zone, w.Zone().String())
	}
	if err != nil {
		return t, err
	}
	return t, scheduler.Validate(t)
}

// Request is a job as its owner asks for it.
type Request struct {
	Title    string
	Trigger  Schedule
	Action   store.Action
	Lateness store.Lateness
	Attempts int           // 0 means 3
	Backoff  time.Duration // 0 means a minute
	Timeout  time.Duration // 0: as the action needs
	Tags     []string
}

// RequestOf returns what makes a job as it is.
func RequestOf(own store.OwnJob) Request {
	return Request{
		Title: own.Title, Trigger: ScheduleOf(own.Trigger), Action: own.Action, Lateness: own.Lateness,
		Attempts: own.Attempts, Backoff: own.Backoff, Timeout: own.Timeout, Tags: own.Tags,
	}
}

// Draft is a job that has been checked and can be written.
type Draft struct {
	own store.OwnJob
	was time.Time // when the job that is changed was changed last
}

// Secret signs the calls of a webhook; it is shown when it is made.
func (d Draft) Secret() string { return d.own.Action.Secret }

const (
	maxTitle   = 200 // characters
	maxTags    = 10
	maxPayload = 64 << 10 // bytes
	maxTries   = 100
	maxTimeout = time.Hour
	maxBackoff = 24 * time.Hour
)

// tagForm is what tags look like: they are parts of addresses and command lines.
var tagForm = regexp.MustCompile(`^[\p{L}\p{N}][\p{L}\p{N}_.-]{0,49}$`)

// Prepare checks a request as far as possible without a transaction. Its errors are of type [*store.FieldError]. A
// webhook without a secret is given one.
func (w *Worker) Prepare(ctx context.Context, r Request) (Draft, error) {
	return w.prepare(ctx, r, store.OwnJob{})
}

// PrepareChange checks a change to a job: change gets the job as a request.
func (w *Worker) PrepareChange(ctx context.Context, name string, change func(*Request)) (Draft, error) {
	was, err := worker.Read(w.db, func(tx *store.Tx) (store.OwnJob, error) { return w.Own(tx, name) })
	if err != nil {
		return Draft{}, err
	}
	r := RequestOf(was)
	change(&r)
	return w.prepare(ctx, r, was)
}

func (w *Worker) prepare(ctx context.Context, r Request, was store.OwnJob) (d Draft, err error) {
	own := was
	own.Title, own.Lateness, own.Attempts, own.Backoff, own.Timeout = strings.TrimSpace(r.Title), r.Lateness, r.Attempts, r.Backoff, r.Timeout
	switch {
	case own.Title == "":
		err = store.Invalid("title", "invalid.empty")
	case utf8.RuneCountInString(own.Title) > maxTitle:
		err = store.Invalid("title", "invalid.too_long", maxTitle)
	case own.Attempts < 0 || own.Attempts > maxTries:
		err = store.Invalid("max_attempts", "invalid.attempts")
	case own.Backoff < 0 || own.Backoff > maxBackoff:
		err = store.Invalid("backoff", "invalid.job_backoff")
	case own.Timeout != 0 && (own.Timeout < time.Second || own.Timeout > maxTimeout):
		err = store.Invalid("timeout", "invalid.job_timeout")
	case own.Lateness.Policy == store.LateSkip && own.Lateness.Grace <= 0:
		err = store.Invalid("lateness.grace", "invalid.grace")
	}
	if err != nil {
		return d, err
	}
	if own.Tags, err = tags(r.Tags); err != nil {
		return d, err
	}
	if own.Trigger, err = w.Trigger(r.Trigger); err != nil {
		return d, err
	}
	// A time that has passed is a mistake, unless it was there before.
	if now := w.db.Now(); own.Trigger.Once() && own.Trigger.At.Before(now.Add(-time.Minute)) && !own.Trigger.Equal(was.Trigger) {
		return d, store.Invalid("trigger.at", "invalid.job_past")
	}
	own.Action, err = w.action(ctx, r.Action)
	if was.Sealed != "" && r.Action.Secret == "" { // with another key; it stays
		own.Action.Secret = ""
	}
	return Draft{own, was.UpdatedAt}, err
}

func tags(given []string) (all []string, err error) {
	for _, tag := range given {
		if tag = strings.TrimSpace(tag); !tagForm.MatchString(tag) {
			return nil, store.Invalid("tags", "invalid.tag", tag)
		}
		all = append(all, tag)
	}
	slices.Sort(all)
	if all = slices.Compact(all); len(all) > maxTags {
		return nil, store.Invalid("tags", "invalid.tags_number", maxTags)
	}
	return all, nil
}

// action checks an action and fills in what it leaves out. What its type does not need is dropped.
func (w *Worker) action(ctx context.Context, a store.Action) (store.Action, error) {
	switch a.Type {
	case store.ActionMessage:
		return w.message(ctx, a)
	case store.ActionWebhook:
		return w.webhook(a)
	case store.ActionRule:
		return store.Action{Type: a.Type, RuleID: a.RuleID}, w.db.View(func(tx *store.Tx) error {
			_, err := tx.Rules.Get(a.RuleID)
			if errors.Is(err, store.ErrNotFound) {
				return store.Invalid("action.id", "invalid.no_rule", a.RuleID)
			}
			return err
		})
	case store.ActionAutocheck, store.ActionBackup:
		return store.Action{Type: a.Type}, nil
	}
	var known []string
	for _, t := range store.ActionTypes() {
		known = append(known, string(t))
	}
	return a, store.Invalid("action.type", "invalid.not_one_of", string(a.Type), strings.Join(known, ", "))
}

// message checks a message as a post to Telegram is checked.
func (w *Worker) message(ctx context.Context, a store.Action) (store.Action, error) {
	draft, err := w.with.Posts.Prepare(ctx, posts.Request{
		Platform: "telegram", IdentityID: a.IdentityID, Target: a.Target, Text: a.Text, Format: a.Format,
		ScheduledTime: w.db.Now().Format(time.RFC3339), AllowPast: true,
	})
	if refused, ok := errors.AsType[*store.FieldError](err); ok {
		return a, store.Invalid("action."+refused.Field, refused.Key, refused.Args...)
	}
	post := draft.Post()
	return store.Action{Type: a.Type, IdentityID: post.IdentityID, Target: post.Target, Text: a.Text, Format: a.Format}, err
}

func (w *Worker) webhook(a store.Action) (store.Action, error) {
	a = store.Action{Type: a.Type, URL: strings.TrimSpace(a.URL), Secret: cmp.Or(a.Secret, webhook.NewSecret()), Payload: a.Payload}
	u, err := url.Parse(a.URL)
	if _, wrong := webhook.New(a.URL, webhook.With{}); err != nil || wrong != nil {
		return a, store.Invalid("action.url", "invalid.web_address", a.URL)
	}
	if err := w.cfg.Private.Check(u); err != nil {
		return a, store.Invalid("action.url", "invalid.refused", store.Detail(err.Error()))
	}
	if webhook.CheckSecret(a.Secret) != nil {
		return a, store.Invalid("action.secret", "invalid.job_secret")
	}
	if len(a.Payload) > 0 && !json.Valid(a.Payload) {
		return a, store.Invalid("action.payload", "invalid.job_payload")
	}
	if len(a.Payload) > maxPayload {
		return a, store.Invalid("action.payload", "invalid.job_payload_large")
	}
	return a, nil
}
