package rules

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/ai"
	"belfry/platform/feed"
	"belfry/scheduler/schedulertest"
	"belfry/store"
	"belfry/worker/posts"
)

// slow is how long the network takes to answer.
var slow time.Duration

// network takes all posts of up to 60 bytes.
type network struct{}

func (network) Check(p platform.Post) (platform.Measure, error) {
	m := platform.Measure{Length: len(p.Text), Limit: 60}
	if m.Length > m.Limit {
		return m, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Field: "text", Err: errors.New("it is too long")}
	}
	return m, nil
}

func (network) Styled(_ platform.Format, text string) (platform.Styled, error) {
	return platform.Styled{Text: text}, nil
}
func (network) Reach(context.Context, uint64, string) error {
	time.Sleep(slow)
	return nil
}
func (network) Publisher(uint64) platform.Publisher { return network{} }
func (network) Publish(context.Context, platform.Post) (platform.Receipt, error) {
	time.Sleep(slow)
	return platform.Receipt{MessageIDs: []int64{1}}, nil
}

// bench is a worker for rules with one for their posts, in a bubble.
type bench struct {
	*schedulertest.Bench
	rules *Worker
	posts *posts.Worker
	// What the AI and the feed answer. wrote nil: no AI is set up.
	wrote func([]ai.Message) (ai.Text, error)
	items func() ([]feed.Item, error)
}

func inBubble(t *testing.T, test func(b *bench)) {
	t.Helper()
	schedulertest.InBubble(t, func(base *schedulertest.Bench) {
		b := &bench{Bench: base}
		b.Update(func(tx *store.Tx) error {
			for _, i := range []store.Identity{{Platform: "telegram", Name: "main", Target: "@one"}, {Platform: "telegram", Name: "second", Target: "@two"}, {Platform: "twitter", Name: "x", Target: "@three"}} {
				i.State = store.IdentityReady
				if err := tx.Identities.Put(&i); err != nil {
					return err
				}
			}
			return nil
		})
		b.posts = posts.New(b.DB, map[string]posts.Network{"telegram": network{}, "twitter": network{}}, posts.Config{})
		b.make(Config{})
		test(b)
	})
}

// make makes and starts the workers, as a new process would.
func (b *bench) make(cfg Config) {
	sources := Sources{Feed: func(context.Context, string) ([]feed.Item, error) { return b.items() }}
	if b.wrote != nil {
		sources.Write = func(_ context.Context, m []ai.Message) (ai.Text, error) { return b.wrote(m) }
	}
	b.rules = New(b.DB, b.posts, sources, cfg)
	b.Start(b.rules.Module(), b.posts.Module())
}

// add makes a rule: daily at 12:05 on Telegram, unless the request says otherwise.
func (b *bench) add(r Request) store.Rule {
	b.T.Helper()
	d, err := b.rules.Prepare(context.Background(), complete(r))
	if err != nil {
		b.T.Fatal(err)
	}
	var rule store.Rule
	b.Update(func(tx *store.Tx) (err error) {
		rule, err = b.rules.Create(tx, d)
		return err
	})
	return rule
}

func complete(r Request) Request {
	r.Name, r.Active = "Rule", true
	if r.ScheduleType == "" {
		r.ScheduleType, r.Schedule = "daily", Schedule{Times: []string{"12:05"}}
	}
	if len(r.Platforms)+len(r.Accounts) == 0 {
		r.Platforms = []string{"telegram"}
	}
	if r.Content.Source == "" && r.Content.Title == "" {
		r.Content.Source, r.Content.Template = "template", "Post {number}"
	}
	return r
}

func (b *bench) rule(id uint64) (r store.Rule) {
	b.T.Helper()
	b.View(func(tx *store.Tx) (err error) {
		r, err = tx.Rules.Get(id)
		return err
	})
	return r
}

// made are the posts, the first one first.
func (b *bench) made() (all []store.Post) {
	b.T.Helper()
	b.View(func(tx *store.Tx) error {
		for p := range tx.Posts.All() {
			all = append(all, p)
		}
		return nil
	})
	return all
}

func (b *bench) texts() string {
	var all []string
	for _, p := range b.made() {
		all = append(all, p.Text)
	}
	return strings.Join(all, "|")
}

func (b *bench) count() (n int) { return len(b.made()) }

const day = 24 * time.Hour
