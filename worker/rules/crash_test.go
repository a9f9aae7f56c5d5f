package rules

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/platform/ai"
	"belfry/platform/feed"
	"belfry/store"
)

// The program ends at each half second of a run, which asks the AI, checks three posts and publishes them.
func TestAnOccurrenceHasItsPostsOnceWhereverTheProgramEnds(t *testing.T) {
	for step := range 12 {
		inBubble(t, func(b *bench) {
			slow = time.Second
			defer func() { slow = 0 }()
			b.wrote = func([]ai.Message) (ai.Text, error) {
				time.Sleep(time.Second)
				return ai.Text{Text: "Written"}, nil
			}
			b.make(Config{})
			rule := b.add(Request{Content: store.RuleContent{Title: "News"}, Accounts: []uint64{1, 2}, Platforms: []string{"x"}})
			due := time.Date(2000, 1, 1, 12, 5, 0, 0, time.UTC)
			b.Pass(due.Sub(b.DB.Now()) + time.Duration(step)*500*time.Millisecond)
			b.make(Config{})
			b.Pass(time.Hour)
			rule = b.rule(rule.ID)
			if b.count() != 3 || rule.Executions != 1 || rule.Succeeded != 1 || rule.PostsMade != 3 {
				t.Errorf("ended after %d half seconds: %d posts, %+v", step, b.count(), rule)
			}
			for _, p := range b.made() {
				if p.Status != store.PostPublished {
					t.Errorf("ended after %d half seconds: %+v", step, p)
				}
			}
		})
	}
}

// What cannot be written makes nothing: neither a post alone nor a statistic.
func TestAnOutcomeThatCannotBeWrittenLeavesNothing(t *testing.T) {
	inBubble(t, func(b *bench) {
		rule := b.add(Request{Accounts: []uint64{1, 2}})
		removed := false
		b.wrote = func([]ai.Message) (ai.Text, error) { return ai.Text{Text: "Written"}, nil }
		slow = time.Second // between the check of the posts and their being written an account is removed
		defer func() { slow = 0 }()
		b.Pass(12*time.Hour + 5*time.Minute + 1500*time.Millisecond)
		b.Update(func(tx *store.Tx) error {
			removed = true
			return tx.Identities.Delete(1)
		})
		b.Pass(time.Hour)
		rule = b.rule(rule.ID)
		if !removed || b.count() != 0 || rule.Succeeded != 0 || rule.Failed != 1 || rule.Reason.Detail == "" {
			t.Errorf("%d posts, %+v", b.count(), rule)
		}
		b.View(func(tx *store.Tx) error {
			for c := range tx.Contents.All() {
				t.Errorf("a content is left: %+v", c)
			}
			return nil
		})
	})
}

// A feed of 1,000 items that is reordered, repeats and changes its items, and shows windows of them.
func TestEachItemOfAFeedIsPostedOnce(t *testing.T) {
	inBubble(t, func(b *bench) {
		const total = 1000
		random := rand.New(rand.NewPCG(1, 2))
		shown := 0
		b.items = func() ([]feed.Item, error) {
			shown = min(shown+5, total)
			var numbers []int
			for n := max(0, shown-300); n < shown; n++ {
				numbers = append(numbers, n)
				if random.IntN(10) == 0 {
					numbers = append(numbers, n) // repeated
				}
			}
			if random.IntN(3) == 0 {
				random.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
			}
			var xml strings.Builder
			xml.WriteString(`<rss version="2.0"><channel><title>News</title>`)
			for _, n := range slices.Backward(numbers) {
				title := fmt.Sprint("Item ", n)
				if random.IntN(4) == 0 {
					title += " (changed)"
				}
				fmt.Fprintf(&xml, "<item><title>%s</title><link>https://n.example/%d</link>", title, n)
				if n%2 == 0 {
					fmt.Fprintf(&xml, "<guid>id-%d</guid>", n)
				}
				xml.WriteString("</item>")
			}
			xml.WriteString("</channel></rss>")
			return feed.Parse([]byte(xml.String()))
		}
		rule := b.add(Request{
			ScheduleType: "interval", Schedule: Schedule{Every: "10m"},
			Content: store.RuleContent{Source: "feed", FeedURL: "https://n.example/feed", PerRun: 10},
		})
		b.Pass(total / 10 * 30 * time.Minute)
		seen := make(map[string]int)
		for _, p := range b.made() {
			_, link, _ := strings.Cut(p.Text, "\n\n")
			seen[link]++
		}
		for n := range total {
			if times := seen[fmt.Sprint("https://n.example/", n)]; times != 1 {
				t.Errorf("item %d was posted %d times", n, times)
			}
		}
		if r := b.rule(rule.ID); r.Reason.Code != store.ReasonNothingNew || r.Failed != 0 || len(seen) != total {
			t.Errorf("%d items, %+v", len(seen), r)
		}
	})
}

func TestAnItemThatIsRefusedKeepsNoOtherBack(t *testing.T) {
	inBubble(t, func(b *bench) {
		items := []feed.Item{
			{Mark: [8]byte{1}, Place: [8]byte{11}, Title: "One"},
			{Mark: [8]byte{2}, Place: [8]byte{12}, Title: strings.Repeat("x", 61)},
			{Mark: [8]byte{3}, Place: [8]byte{13}, Title: "Three"},
		}
		b.items = func() ([]feed.Item, error) { return items, nil }
		rule := b.add(Request{Content: store.RuleContent{Source: "feed", FeedURL: "https://n.example/feed", PerRun: 3, Template: "{title}"}})
		b.Pass(3 * day)
		if r := b.rule(rule.ID); b.texts() != "One|Three" || r.Failed != 1 {
			t.Errorf("%q, %+v", b.texts(), r)
		}
	})
}

// A site changes its links with each reading, or moves and changes the guids, too.
func TestAnItemWithAnotherLinkIsNotPostedAgain(t *testing.T) {
	for _, old := range []bool{false, true} { // the memory is of before places were remembered
		inBubble(t, func(b *bench) {
			read, site := 0, "http://old.example"
			b.items = func() ([]feed.Item, error) {
				read++
				return feed.Parse(fmt.Appendf(nil, `<rss version="2.0"><channel><title>n</title>
<item><title>Two</title><link>%[1]s/2?s=%[2]d</link></item>
<item><title>One</title><link>%[1]s/1</link><guid>%[1]s/1</guid></item></channel></rss>`, site, read))
			}
			rule := b.add(Request{ScheduleType: "interval", Schedule: Schedule{Every: "1h"}, Content: store.RuleContent{Source: "feed", FeedURL: "https://n.example/feed", PerRun: 5, Template: "{title}"}})
			if old {
				items, err := b.items()
				b.Update(func(tx *store.Tx) error {
					marks := [][8]byte{items[0].Mark, items[1].Mark}
					return errors.Join(err, remember(tx, rule.ID, marks, marks))
				})
				read-- // the next reading has the same links
			}
			b.Pass(3 * time.Hour)
			site = "https://new.example"
			b.Pass(3 * time.Hour)
			d, err := b.rules.PrepareChange(context.Background(), rule.ID, func(r *Request) { r.Content.FeedURL = "https://new.example/feed" })
			b.Update(func(tx *store.Tx) error {
				_, bad := b.rules.Change(tx, d)
				return errors.Join(err, bad)
			})
			b.Pass(3 * time.Hour)
			if want := map[bool]string{false: "One|Two"}[old]; b.texts() != want {
				t.Errorf("old %v: %q after %d readings", old, b.texts(), read)
			}
		})
	}
}

// Of what the feed does not have any more the memory forgets the oldest.
func TestTheMemoryOfAFeedIsBounded(t *testing.T) {
	inBubble(t, func(b *bench) {
		var present [][8]byte
		mark := func(n int) [8]byte { return [8]byte{byte(n >> 16), byte(n >> 8), byte(n)} }
		for n := range 3 * maxMemory {
			present = append(present, mark(n))
			if len(present) > 100 {
				present = slices.Delete(present, 1, 2) // the first one stays in the feed
			}
			if n%500 != 0 {
				continue
			}
			var marks [][8]byte
			for m := range min(500, 3*maxMemory-n) {
				marks = append(marks, mark(n+m))
			}
			b.Update(func(tx *store.Tx) error { return remember(tx, 1, marks, present) })
		}
		b.View(func(tx *store.Tx) error {
			m, err := tx.FeedMemories.Of(1)
			first := mark(0)
			if err != nil || len(m.Marks) != 8*maxMemory || [8]byte(m.Marks[:8]) != first {
				return errors.Join(err, fmt.Errorf("%d bytes are remembered, the first is %v", len(m.Marks), m.Marks[:8]))
			}
			return nil
		})
	})
}
