package rules

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/posts"
)

// Request is a rule as its owner asks for it.
type Request struct {
	Name, Description string
	ScheduleType      string
	Schedule          Schedule
	Content           store.RuleContent
	Platforms         []string
	Accounts          []uint64
	Active            bool
}

// RequestOf returns what makes a rule as it is.
func RequestOf(r store.Rule) Request {
	return Request{
		Name: r.Name, Description: r.Description, ScheduleType: r.ScheduleType, Schedule: ScheduleOf(r),
		Content: r.Content, Platforms: r.Platforms, Accounts: r.Accounts, Active: r.Active,
	}
}

// Draft is a rule that has been checked and can be written.
type Draft struct {
	rule store.Rule
	was  time.Time // when the rule that is changed was changed last
}

const (
	maxName     = 200    // characters
	maxText     = 20_000 // characters
	maxItems    = 5000
	maxTargets  = 20
	maxPerRun   = 10
	maxFailures = 100
)

// Prepare checks a request as far as possible without a transaction: its fields, its schedule, and by the networks'
// rules what it would post, and where. Its errors are of type [*store.FieldError]. Nothing is asked of an AI or a feed.
func (w *Worker) Prepare(ctx context.Context, r Request) (Draft, error) {
	return w.prepare(ctx, r, store.Rule{})
}

// PrepareChange checks a change to a rule: change gets the rule as a request.
func (w *Worker) PrepareChange(ctx context.Context, id uint64, change func(*Request)) (Draft, error) {
	was, err := worker.Read(w.db, func(tx *store.Tx) (store.Rule, error) { return tx.Rules.Get(id) })
	if err != nil {
		return Draft{}, err
	}
	r := RequestOf(was)
	change(&r)
	return w.prepare(ctx, r, was)
}

func (w *Worker) prepare(ctx context.Context, r Request, was store.Rule) (Draft, error) {
	rule := was
	rule.Name, rule.Description = strings.TrimSpace(r.Name), strings.TrimSpace(r.Description)
	rule.ScheduleType, rule.Content, rule.Active = r.ScheduleType, r.Content, r.Active
	switch {
	case rule.Name == "":
		return Draft{}, store.Invalid("name", "invalid.empty")
	case len([]rune(rule.Name)) > maxName:
		return Draft{}, store.Invalid("name", "invalid.too_long", maxName)
	case len([]rune(rule.Description)) > maxText:
		return Draft{}, store.Invalid("description", "invalid.too_long", maxText)
	}
	var err error
	if rule.Trigger, err = w.trigger(r.ScheduleType, r.Schedule, w.db.Now()); err != nil {
		return Draft{}, err
	}
	if _, err := scheduler.First(rule.Trigger, "", w.db.Now()); rule.Active && err != nil {
		return Draft{}, scheduleError(err)
	}
	if err := w.checkContent(&rule.Content); err != nil {
		return Draft{}, err
	}
	if rule.Platforms, rule.Accounts, err = w.places(r); err != nil {
		return Draft{}, err
	}
	return Draft{rule, was.UpdatedAt}, w.tryPosts(ctx, rule)
}

// Trigger checks a schedule that is not saved.
func (w *Worker) Trigger(kind string, s Schedule) (store.Trigger, error) {
	return w.trigger(kind, s, w.db.Now())
}

// checkContent checks what a rule is to post, and fills in the defaults.
func (w *Worker) checkContent(c *store.RuleContent) error {
	c.Source, c.Title, c.Description = strings.TrimSpace(c.Source), strings.TrimSpace(c.Title), strings.TrimSpace(c.Description)
	if c.PauseAfter == 0 {
		c.PauseAfter = pauseAfter
	}
	if c.PauseAfter < 1 || c.PauseAfter > maxFailures {
		return store.Invalid("content_config.pause_after", "invalid.rule_number", maxFailures)
	}
	for name, text := range map[string]string{"title": c.Title, "description": c.Description, "template": c.Template} {
		if len([]rune(text)) > maxText {
			return store.Invalid("content_config."+name, "invalid.too_long", maxText)
		}
	}
	switch c.Source {
	case "", "ai":
		if c.Title == "" && c.Description == "" {
			return store.Invalid("content_config.title", "invalid.rule_nothing")
		}
		if c.Source == "ai" && !w.HasAI() {
			return store.Invalid("content_config.source", "invalid.no_ai")
		}
	case "template":
		if strings.TrimSpace(c.Template) == "" {
			return store.Invalid("content_config.template", "invalid.empty")
		}
	case "list":
		return checkList(c)
	case "feed":
		u, err := url.Parse(c.FeedURL)
		if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
			return store.Invalid("content_config.feed_url", "invalid.web_address", c.FeedURL)
		}
		if c.PerRun == 0 {
			c.PerRun = 1
		}
		if c.PerRun < 1 || c.PerRun > maxPerRun {
			return store.Invalid("content_config.per_run", "invalid.rule_number", maxPerRun)
		}
	default:
		return store.Invalid("content_config.source", "invalid.not_one_of", c.Source, "ai, template, list, feed")
	}
	return nil
}

func checkList(c *store.RuleContent) error {
	if len(c.Items) == 0 || len(c.Items) > maxItems {
		return store.Invalid("content_config.items", "invalid.items_number", maxItems)
	}
	for i, item := range c.Items {
		if strings.TrimSpace(item) == "" && len(c.Media) == 0 {
			return store.Invalid(fmt.Sprintf("content_config.items[%d]", i), "invalid.empty")
		}
	}
	if c.Order == "" {
		c.Order = "once"
	}
	if !slices.Contains([]string{"once", "circle", "shuffle"}, c.Order) {
		return store.Invalid("content_config.order", "invalid.not_one_of", c.Order, "once, circle, shuffle")
	}
	return nil
}

// places reads where a rule posts.
func (w *Worker) places(r Request) (platforms []string, accounts []uint64, err error) {
	for _, name := range r.Platforms {
		name = strings.ToLower(strings.TrimSpace(name))
		if name == "x" {
			name = "twitter"
		}
		if !slices.Contains(platforms, name) {
			platforms = append(platforms, name)
		}
	}
	for _, id := range r.Accounts {
		if !slices.Contains(accounts, id) {
			accounts = append(accounts, id)
		}
	}
	switch {
	case len(platforms)+len(accounts) == 0:
		return nil, nil, store.Invalid("platforms", "invalid.platforms_missing")
	case len(platforms)+len(accounts) > maxTargets:
		return nil, nil, store.Invalid("accounts", "invalid.rule_targets", maxTargets)
	}
	return platforms, accounts, nil
}

// target is where one post of a rule goes.
type target struct {
	platform   string
	identityID uint64 // 0: the platform's default
	field      string // of the request that names it
}

// targets returns where a rule posts: as each of its accounts, and on each platform that has none of them.
func (w *Worker) targets(r store.Rule) (all []target, err error) {
	err = w.db.View(func(tx *store.Tx) error {
		for i, id := range r.Accounts {
			field := fmt.Sprintf("accounts[%d]", i)
			identity, err := tx.Identities.Get(id)
			if errors.Is(err, store.ErrNotFound) {
				return store.Invalid(field, "invalid.no_account", id)
			}
			if err != nil {
				return err
			}
			all = append(all, target{identity.Platform, id, field})
		}
		for i, name := range r.Platforms {
			if !slices.ContainsFunc(all, func(t target) bool { return t.platform == name }) {
				all = append(all, target{platform: name, field: fmt.Sprintf("platforms[%d]", i)})
			}
		}
		return nil
	})
	return all, err
}

// request is the post of a rule to one target, with a text.
func (w *Worker) request(r store.Rule, to target, text string) posts.Request {
	return w.posts.RequestFor(posts.Request{
		Text: text, Media: r.Content.Media, Format: r.Content.Format,
		ScheduledTime: w.db.Now().Format(time.RFC3339Nano), AllowPast: true, Hold: r.Content.Approval,
	}, posts.Target{Platform: to.platform, IdentityID: to.identityID})
}

// tryPosts checks what a rule would post by the rules of each network, as far as that is known before its texts are.
func (w *Worker) tryPosts(ctx context.Context, r store.Rule) error {
	to, err := w.targets(r)
	if err != nil {
		return err
	}
	texts, field := w.samples(r)
	for _, t := range to {
		for i, text := range texts {
			if i == 0 {
				_, err = w.posts.Prepare(ctx, w.request(r, t, text))
			} else { // where it goes was asked already
				_, err = w.posts.Measure(w.request(r, t, text))
			}
			if err != nil {
				return placed(err, t.field, strings.Replace(field, "[]", fmt.Sprintf("[%d]", i), 1))
			}
		}
	}
	return nil
}

// samples are texts as a rule will post them, and the field that they come from.
func (w *Worker) samples(r store.Rule) (texts []string, field string) {
	switch c := r.Content; c.Source {
	case "template":
		return []string{w.fill(r, c.Template, nil)}, "content_config.template"
	case "list":
		return c.Items, "content_config.items[]"
	case "feed":
		return []string{w.fill(r, feedTemplate(c), []string{"{title}", "News", "{link}", c.FeedURL, "{summary}", "News"})}, "content_config.template"
	default:
		if w.HasAI() {
			return []string{"News"}, "content_config.description"
		}
		return []string{ownWords(c)}, "content_config.description"
	}
}

// placed gives a refusal of a post the name of the rule's field that it is about.
func placed(err error, place, text string) error {
	wrong, ok := errors.AsType[*store.FieldError](err)
	if !ok {
		return err
	}
	field, key := wrong.Field, wrong.Key
	switch {
	case field == "identity_id", field == "platform", field == "target":
		field = place
		if key == "invalid.target_missing" {
			key = "invalid.rule_target"
		}
	case field == "text":
		field = text
	default:
		field = "content_config." + field
	}
	return store.Invalid(field, key, wrong.Args...)
}
