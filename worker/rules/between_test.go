package rules

import (
	"errors"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/feed"
	"belfry/store"
)

func TestAPauseHoldsThatComesWhileARuleIsTriedByHand(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.items = func() ([]feed.Item, error) {
			return nil, &platform.Error{Kind: platform.Refused, Err: errors.New("gone")}
		}
		id := b.add(Request{Content: store.RuleContent{Source: "feed", FeedURL: "https://news.example/feed", PauseAfter: 1}}).ID
		b.Pass(2 * day)
		if r := b.rule(id); !r.Stopped {
			t.Fatalf("%+v", r)
		}
		b.items = func() ([]feed.Item, error) {
			time.Sleep(time.Minute)
			return []feed.Item{{Mark: [8]byte{byte(time.Now().Day())}, Place: [8]byte{byte(time.Now().Day()), 1}, Title: "News", Link: "https://a.example"}}, nil
		}
		b.Update(func(tx *store.Tx) error { _, err := b.rules.RunNow(tx, id); return err })
		b.Pass(30 * time.Second) // it runs
		b.Update(func(tx *store.Tx) error { _, err := b.rules.Pause(tx, id); return err })
		b.Pass(2 * time.Minute)
		b.View(func(tx *store.Tx) error {
			s, err := StatusOf(tx, b.rule(id))
			if !s.Paused {
				t.Errorf("the rule that was paused goes on: its job is %s, in %s", s.Job.State, time.Until(s.Job.Due))
			}
			return err
		})
		n := b.count()
		b.Pass(3 * day)
		if b.count() != n {
			t.Errorf("it has made %d posts since it was paused", b.count()-n)
		}
	})
}
