package posts

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
)

// bare is a network that shows texts as they are.
type bare struct{ *network }

func (n bare) Check(p platform.Post) (platform.Measure, error) {
	if p.Format != platform.Plain {
		return platform.Measure{}, refusal("format", "use plain")
	}
	return n.network.Check(p)
}

// more adds a second bot and an account of a network without markup.
func (b *bench) more() {
	b.worker = New(b.DB, map[string]Network{"telegram": b.net, "twitter": bare{b.net}}, Config{})
	b.start()
	b.Update(func(tx *store.Tx) error {
		second := store.Identity{Platform: "telegram", Name: "second", Target: "@second", State: store.IdentityReady}
		onX := store.Identity{Platform: "twitter", Name: "x", Target: "@x", State: store.IdentityReady}
		return errors.Join(tx.Identities.Put(&second), tx.Identities.Put(&onX))
	})
}

func (b *bench) together(r Request, targets ...Target) (made []store.Post, err error) {
	b.T.Helper()
	if r.ScheduledTime == "" && !r.Queue {
		r.ScheduledTime = b.DB.Now().Add(time.Hour).Format(time.RFC3339Nano)
	}
	drafts, err := b.worker.PrepareAll(context.Background(), r, targets)
	if err == nil {
		err = b.DB.Update(func(tx *store.Tx) (err error) {
			made, err = b.worker.ScheduleAll(tx, drafts)
			return err
		})
	}
	return made, err
}

func TestPostsMadeTogetherHaveTheirOwnTextAndStatus(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.more()
		made, err := b.together(Request{Text: "Read <b>this</b>", Format: "html"},
			Target{Platform: "telegram"}, Target{Platform: "telegram", Target: "@culture"}, Target{Platform: "x"},
			Target{Platform: "telegram", IdentityID: b.firstID + 1, Text: "Second <b>only</b>"})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"@channel Read <b>this</b> html", "@culture Read <b>this</b> html", "@x Read this plain", "@second Second <b>only</b> html"}
		var got []string
		for _, p := range made {
			if got = append(got, strings.Join([]string{p.Target, p.Text, p.Format}, " ")); p.Group != made[0].ID {
				t.Errorf("post %d is of group %d", p.ID, p.Group)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("made %q, want %q", got, want)
		}
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.PublishNow(tx, made[1].ID)
			return err
		})
		b.Pass(time.Second)
		var kept map[uint64]error
		b.Update(func(tx *store.Tx) (err error) {
			_, kept, err = b.worker.CancelGroup(tx, made[0].ID)
			return err
		})
		if len(kept) != 1 || kept[made[1].ID] == nil {
			t.Errorf("could not be cancelled: %v", kept)
		}
		b.Pass(2 * time.Hour)
		for i, status := range []store.PostStatus{store.PostCancelled, store.PostPublished, store.PostCancelled, store.PostCancelled} {
			if p := b.post(made[i].ID); p.Status != status {
				t.Errorf("post %d is %s, want %s", i, p.Status, status)
			}
		}
	})
}

func TestARefusedTargetIsNamedAndNothingIsMade(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.more()
		for field, targets := range map[string][]Target{
			"targets[1].target":      {{Platform: "telegram"}, {Platform: "telegram", Target: "@nowhere"}},
			"targets[0].platform":    {{Platform: "fax"}},
			"targets[1].identity_id": {{Platform: "telegram"}, {Platform: "telegram", IdentityID: 99}},
			"targets[1].text":        {{Platform: "telegram"}, {Platform: "x", Text: strings.Repeat("a", 101)}},
			"targets[2].target":      {{Platform: "telegram"}, {Platform: "x"}, {Platform: "telegram", Target: "@Channel"}},
			"targets":                {},
		} {
			_, err := b.together(Request{Text: "hello"}, targets...)
			if wrong, ok := errors.AsType[*store.FieldError](err); !ok || wrong.Field != field {
				t.Errorf("%s: %v", field, err)
			}
		}
		b.View(func(tx *store.Tx) error {
			for p := range tx.Posts.All() {
				t.Errorf("made %+v", p)
			}
			return nil
		})
	})
}

func TestALinkKeepsItsAddressWhereThereIsNoMarkup(t *testing.T) {
	w := New(nil, map[string]Network{"telegram": linked{}}, Config{})
	text, format := w.asShown("twitter", "<a href>", "html")
	if text != "see the news (https://news.example/1) and that" || format != "plain" {
		t.Errorf("%q as %s", text, format)
	}
}

type linked struct{ *network }

func (linked) Styled(platform.Format, string) (platform.Styled, error) {
	return platform.Styled{Text: "see the news and that", Spans: []platform.Span{
		{Kind: platform.Bold, Start: 0, End: 3}, {Kind: platform.Link, Start: 4, End: 12, URL: "https://news.example/1"},
	}}, nil
}

// queue gives the first identity a queue.
func (b *bench) queue(slots ...store.Slot) {
	b.Update(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(b.firstID)
		if err != nil {
			return err
		}
		i.Slots = slots
		return tx.Identities.Put(&i)
	})
}

func TestTheQueueGivesEachPostOfAChannelTheNextFreeTime(t *testing.T) {
	inBubble(t, func(b *bench) { // it is midnight of Saturday, January 1, 2000, in UTC
		if _, err := b.together(Request{Text: "a", Queue: true}, Target{Platform: "telegram"}); !isField(err, "queue") {
			t.Errorf("without times: %v", err)
		}
		b.queue(store.Slot{Times: []string{"09:00", "18:00"}, Days: []int{6}, Zone: "UTC"}, store.Slot{Times: []string{"12:00"}, Zone: "Europe/Moscow"})
		if _, err := b.together(Request{Text: "a", Queue: true, ScheduledTime: "2000-01-01T09:00:00Z"}, Target{Platform: "telegram"}); !isField(err, "queue") {
			t.Errorf("with a time: %v", err)
		}
		b.schedule(18*time.Hour, Request{Text: "by hand"})
		var got []string
		for range 3 {
			made, err := b.together(Request{Text: "a", Queue: true}, Target{Platform: "telegram"}, Target{Platform: "telegram", Target: "@other"})
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range made {
				got = append(got, p.Target+p.ScheduledTime.Format(" 2 15:04"))
			}
		}
		want := []string{"@channel 1 09:00", "@other 1 09:00", "@channel 2 09:00", "@other 1 18:00", "@channel 3 09:00", "@other 2 09:00"}
		if !slices.Equal(got, want) {
			t.Errorf("queued at %q, want %q", got, want)
		}
	})
}

func TestAPostThatIsChangedTakesTheNextFreeTimeOfTheQueue(t *testing.T) {
	inBubble(t, func(b *bench) { // it is midnight of January 1, 2000, in UTC
		b.queue(store.Slot{Times: []string{"09:00"}, Zone: "UTC"})
		b.schedule(9*time.Hour, Request{Text: "by hand"})
		id := b.schedule(time.Hour, Request{Text: "early"}).ID
		for range 2 { // its own time is not taken
			d, err := b.worker.PrepareChange(context.Background(), id, Patch{Queue: true})
			if err != nil {
				t.Fatal(err)
			}
			var post store.Post
			b.Update(func(tx *store.Tx) (err error) {
				post, err = b.worker.Change(tx, id, d)
				return err
			})
			if got := post.ScheduledTime.Format("2 15:04"); got != "2 09:00" {
				t.Errorf("queued at %s", got)
			}
		}
		at := "2000-01-03T09:00:00Z"
		if _, err := b.worker.PrepareChange(context.Background(), id, Patch{Queue: true, ScheduledTime: &at}); !isField(err, "queue") {
			t.Errorf("with a time: %v", err)
		}
	})
}

func TestTheQueueKeepsItsLocalTimeWhenTheClockChanges(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue(store.Slot{Times: []string{"02:30"}, Zone: "Europe/Berlin"})
		b.SetClock(time.Until(time.Date(2026, 3, 27, 12, 0, 0, 0, time.UTC)))
		var got []string
		for range 3 { // on the 29th the clock jumps from 2 to 3
			made, err := b.together(Request{Text: "a", Queue: true}, Target{Platform: "telegram"})
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, made[0].ScheduledTime.Format("2 15:04"))
		}
		if want := []string{"28 01:30", "29 01:00", "30 00:30"}; !slices.Equal(got, want) {
			t.Errorf("queued at %q in UTC, want %q", got, want)
		}
	})
}

func TestPostsThatAreQueuedAtOnceGetDifferentTimes(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.queue(store.Slot{Times: []string{"09:00"}, Zone: "UTC"})
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := b.together(Request{Text: "a", Queue: true}, Target{Platform: "telegram"}); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		days := make(map[time.Time]bool)
		b.View(func(tx *store.Tx) error {
			for p := range tx.Posts.All() {
				days[p.ScheduledTime] = true
			}
			return nil
		})
		if last := time.Date(2000, 1, 20, 9, 0, 0, 0, time.UTC); len(days) != 20 || !days[last] {
			t.Errorf("queued at %v", days)
		}
	})
}

func isField(err error, field string) bool {
	wrong, ok := errors.AsType[*store.FieldError](err)
	return ok && wrong.Field == field
}

func TestAContentKeepsItsVersionsAndSaysOnEachNetworkWhatItIsToSay(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.more()
		var c store.Content
		b.Update(func(tx *store.Tx) (err error) {
			c, err = CreateContent(tx, ContentRequest{
				Text: "one <b>bold</b>", Format: "html", Draft: true, By: "anna",
				Variants: []store.Variant{{Platform: "x", Text: "1 < 2", Hashtags: []string{"news", "#x"}}, {Platform: "instagram"}},
			})
			return err
		})
		at := b.DB.Now().Add(time.Hour).Format(time.RFC3339)
		if _, err := b.worker.Prepare(context.Background(), Request{ContentID: c.ID, Platform: "telegram", ScheduledTime: at}); !isField(err, "content_id") {
			t.Errorf("a draft: %v", err)
		}
		b.Pass(time.Hour)
		b.Update(func(tx *store.Tx) (err error) {
			c, err = ChangeContent(tx, c.ID, 1, func(r *ContentRequest) { r.Draft, r.By = false, "boris" })
			return err
		})
		if c.Changes != 0 || len(c.Versions) != 0 {
			t.Errorf("approved: %+v", c)
		}
		made, err := b.together(Request{ContentID: c.ID}, Target{Platform: "telegram"}, Target{Platform: "x"})
		if err != nil {
			t.Fatal(err)
		}
		if made[0].Text != "one <b>bold</b>" || made[1].Text != "1 < 2\n\n#news #x" || made[1].Format != "plain" {
			t.Errorf("made %+v", made)
		}
		first := c.Version()
		for i := range 25 {
			b.Update(func(tx *store.Tx) (err error) {
				c, err = ChangeContent(tx, c.ID, 0, func(r *ContentRequest) { r.Text, r.Variants, r.By = strings.Repeat("x", i+1), nil, "boris" })
				return err
			})
			if i == 0 && (!reflect.DeepEqual(c.Versions, []store.ContentVersion{first}) || c.ChangedBy != "boris" || first.By != "anna") {
				t.Errorf("changed once: %+v", c)
			}
		}
		err = b.DB.Update(func(tx *store.Tx) error { _, err := RestoreContent(tx, c.ID, 1, "anna"); return err })
		if len(c.Versions) != 20 || c.Versions[19].Number != 6 || !isField(err, "version") {
			t.Errorf("%d versions; restored the first: %v", len(c.Versions), err)
		}
		b.Update(func(tx *store.Tx) (err error) {
			c, err = RestoreContent(tx, c.ID, 6, "anna")
			return err
		})
		if c.Text != "xxxxx" || c.Version().Number != 27 || c.ChangedBy != "anna" {
			t.Errorf("restored: %+v", c)
		}
	})
}
