package rules

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/ai"
	"belfry/platform/feed"
	"belfry/platform/telegram"
	"belfry/store"
)

func TestTheRuleOfTheDocumentPublishesAtItsTime(t *testing.T) {
	inBubble(t, func(b *bench) {
		moscow, err := time.LoadLocation("Europe/Moscow")
		if err != nil {
			t.Fatal(err)
		}
		b.make(Config{Zone: moscow})
		rule := b.add(Request{
			Schedule: Schedule{Times: []string{"12:05"}, Days: []int{1, 2, 3, 4, 5, 6, 7}}, ScheduleType: "daily",
			Content: store.RuleContent{Title: "Ежедневный пост", Description: "О погоде"}, Platforms: []string{"telegram"},
		})
		b.Pass(9*time.Hour + 5*time.Minute - time.Second) // the bubble begins at midnight UTC
		if b.count() != 0 {
			t.Error("it was early")
		}
		b.Pass(2 * time.Second)
		all := b.made()
		if len(all) != 1 || all[0].Status != store.PostPublished || all[0].RuleID != rule.ID || all[0].ContentID == 0 || all[0].Text != "Ежедневный пост\n\nО погоде" {
			t.Fatalf("posts %+v", all)
		}
		b.Pass(3 * day)
		rule = b.rule(rule.ID)
		if b.count() != 4 || rule.Executions != 4 || rule.Succeeded != 4 || rule.PostsMade != 4 || rule.Failed != 0 || rule.LastAt.IsZero() {
			t.Errorf("%d posts, %+v", b.count(), rule)
		}
	})
}

func TestSchedulesNameTheirTimes(t *testing.T) {
	inBubble(t, func(b *bench) { // which begins on Saturday, 1 January 2000
		for _, c := range []struct {
			kind string
			s    Schedule
			want string
		}{
			{"daily", Schedule{Times: []string{"18:00", "09:30"}}, "01 09:30|01 18:00|02 09:30"},
			{"weekly", Schedule{Day: 1, Time: "9:00", Zone: "Europe/Moscow"}, "03 06:00|10 06:00|17 06:00"},
			{"weekly", Schedule{Days: []int{6, 7}, Times: []string{"00:00"}}, "02 00:00|08 00:00|09 00:00"},
			{"interval", Schedule{Every: "90m"}, "01 01:30|01 03:00|01 04:30"},
			{"interval", Schedule{Every: "24h", From: "2000-01-05T08:00:00Z"}, "05 08:00|06 08:00|07 08:00"},
			{"interval", Schedule{Every: "24h", From: "1999-12-30T08:00"}, "01 08:00|02 08:00|03 08:00"},
			{"cron", Schedule{Cron: "0 7 * * 1-5"}, "03 07:00|04 07:00|05 07:00"},
			{"custom", Schedule{Dates: []string{"2000-01-09T10:00", "2000-01-04T10:00:00+03:00", "1999-01-01T00:00"}}, "04 07:00|09 10:00"},
		} {
			trigger, err := b.rules.Trigger(c.kind, c.s)
			if err != nil {
				t.Errorf("%s %+v: %v", c.kind, c.s, err)
				continue
			}
			times, err := Preview(trigger, "rule_1", b.DB.Now(), 3)
			var got []string
			for _, at := range times {
				got = append(got, at.At.Format("02 15:04"))
			}
			if err != nil || strings.Join(got, "|") != c.want {
				t.Errorf("%s %+v: %s, %v", c.kind, c.s, strings.Join(got, "|"), err)
			}
			again, err := b.rules.Trigger(c.kind, ScheduleOf(store.Rule{Trigger: trigger}))
			if err != nil || !again.Equal(trigger) {
				t.Errorf("%s %+v is read again as %+v, %v", c.kind, trigger, again, err)
			}
		}
	})
}

func TestWhatCannotBeCarriedOutIsRefusedWithItsField(t *testing.T) {
	inBubble(t, func(b *bench) {
		for field, r := range map[string]Request{
			"schedule_type":                   {ScheduleType: "hourly"},
			"schedule_config.times":           {ScheduleType: "daily"},
			"schedule_config.times[0]":        {ScheduleType: "daily", Schedule: Schedule{Times: []string{"25:00"}}},
			"schedule_config.days_of_week":    {ScheduleType: "weekly", Schedule: Schedule{Times: []string{"09:00"}}},
			"schedule_config.days_of_week[0]": {ScheduleType: "weekly", Schedule: Schedule{Times: []string{"09:00"}, Day: 8}},
			"schedule_config.every":           {ScheduleType: "interval", Schedule: Schedule{Every: "5s"}},
			"schedule_config.cron_expression": {ScheduleType: "cron", Schedule: Schedule{Cron: "every day"}},
			"schedule_config.from":            {ScheduleType: "interval", Schedule: Schedule{Every: "1h", From: "2027-03-01T12:00:00+24:00"}},
			"schedule_config.dates":           {ScheduleType: "custom", Schedule: Schedule{Dates: []string{"soon"}}},
			"schedule_config":                 {ScheduleType: "custom", Schedule: Schedule{Dates: []string{"1999-01-01T00:00"}}},
			"schedule_config.zone":            {ScheduleType: "daily", Schedule: Schedule{Time: "09:00", Zone: "Moskau"}},
			"content_config.source":           {Content: store.RuleContent{Source: "ai", Title: "x"}},
			"content_config.template":         {Content: store.RuleContent{Source: "template", Template: strings.Repeat("x", 61)}},
			"content_config.items[1]":         {Content: store.RuleContent{Source: "list", Items: []string{"a", strings.Repeat("x", 61)}}},
			"content_config.order":            {Content: store.RuleContent{Source: "list", Items: []string{"a"}, Order: "any"}},
			"content_config.feed_url":         {Content: store.RuleContent{Source: "feed", FeedURL: "news"}},
			"content_config.title":            {Content: store.RuleContent{Source: "ai"}},
			"platforms[1]":                    {Platforms: []string{"telegram", "instagram"}},
			"accounts[0]":                     {Accounts: []uint64{9}},
		} {
			_, err := b.rules.Prepare(context.Background(), complete(r))
			if wrong, ok := errors.AsType[*store.FieldError](err); !ok || wrong.Field != field {
				t.Errorf("%+v: %v, want a refusal of %s", r, err, field)
			}
		}
	})
}

func TestADailyRuleFiresOnceOnDaysOnWhichTheClockIsChanged(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.Stop()
		b.Pass(84 * day) // 25 March 2000, a day before the change
		b.make(Config{})
		rule := b.add(Request{ScheduleType: "daily", Schedule: Schedule{Time: "02:30", Zone: "Europe/Berlin"}})
		times, err := Preview(rule.Trigger, rule.JobName(), b.DB.Now(), 3)
		if err != nil || times[1].At.Format(time.DateTime) != "2000-03-26 01:00:00" || times[1].Note.Key != "schedule.jumped" || times[2].Note.Key != "" {
			t.Errorf("preview %+v, %v", times, err)
		}
		b.Pass(10 * day)
		if b.count() != 10 {
			t.Errorf("%d posts in 10 days", b.count())
		}
		if at := b.made()[1].CreatedAt; !at.Equal(times[1].At) {
			t.Errorf("on the day of the change it ran at %s", at)
		}
		b.Stop()
		b.Pass(time.Date(2000, 10, 28, 12, 0, 0, 0, time.UTC).Sub(b.DB.Now())) // a day before the other change
		b.make(Config{})
		before := b.count()
		b.Pass(day)
		if b.count() != before+1 {
			t.Errorf("%d posts on the day on which the time comes twice", b.count()-before)
		}
		times, err = Preview(rule.Trigger, rule.JobName(), time.Date(2000, 10, 28, 12, 0, 0, 0, time.UTC), 1)
		if err != nil || times[0].Note.Key != "schedule.twice" {
			t.Errorf("preview %+v, %v", times, err)
		}
	})
}

func TestRulesWithTheSameTimeAllFire(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.wrote = func([]ai.Message) (ai.Text, error) {
			time.Sleep(time.Minute) // none waits for another one
			return ai.Text{Text: "Written"}, nil
		}
		b.make(Config{})
		for range 10 {
			b.add(Request{Content: store.RuleContent{Title: "News"}})
		}
		b.Pass(12*time.Hour + 6*time.Minute + time.Second)
		if b.count() != 10 {
			t.Errorf("%d of 10 posts were made", b.count())
		}
	})
}

func TestEachAccountAndEachNetworkHasItsPost(t *testing.T) {
	inBubble(t, func(b *bench) {
		var told [][]store.Post
		b.posts.OnHeld(func(_ *store.Tx, held []store.Post) error { told = append(told, held); return nil })
		b.add(Request{Accounts: []uint64{1, 2}, Platforms: []string{"telegram", "X"}, Content: store.RuleContent{Source: "template", Template: "Hi", Approval: true}})
		b.Pass(day)
		if b.count() != 3 || len(told) != 1 || len(told[0]) != 3 || told[0][0].RuleID != 1 {
			t.Errorf("%d posts, told of %+v", b.count(), told)
		}
		for i, p := range b.made() {
			if p.IdentityID != uint64(i+1) || !p.AwaitsApproval() || p.Status != store.PostScheduled || p.ContentID != 1 {
				t.Errorf("post %+v", p)
			}
		}
	})
}

func TestTextsAreNumberedOneByOne(t *testing.T) {
	inBubble(t, func(b *bench) {
		rule := b.add(Request{Accounts: []uint64{1, 2}})
		b.Pass(2 * day)
		b.Update(func(tx *store.Tx) error { // as it was before texts were counted
			r, err := tx.Rules.Get(rule.ID)
			r.Texts, r.PostsMade = 0, 10
			return errors.Join(err, tx.Rules.Put(&r))
		})
		b.Pass(2 * day)
		if want := "Post 1|Post 1|Post 2|Post 2|Post 11|Post 11|Post 12|Post 12"; b.texts() != want {
			t.Error(b.texts())
		}
	})
	inBubble(t, func(b *bench) {
		b.items = func() (items []feed.Item, err error) {
			for n := range byte(5) {
				items = append(items, feed.Item{Mark: [8]byte{n}, Place: [8]byte{n, 1}, Title: string('a' + rune(n))})
			}
			return items, nil
		}
		b.add(Request{Content: store.RuleContent{Source: "feed", FeedURL: "https://n.example/feed", PerRun: 3, Template: "{number} {title}"}})
		b.Pass(2 * day)
		if want := "1 a|2 b|3 c|4 d|5 e"; b.texts() != want {
			t.Error(b.texts())
		}
	})
}

func TestAListIsWorkedThrough(t *testing.T) {
	for order, want := range map[string]string{"once": "a|b|c", "circle": "a|b|c|a|b|c|a"} {
		inBubble(t, func(b *bench) {
			rule := b.add(Request{Content: store.RuleContent{Source: "list", Items: []string{"a", "b", "c"}, Order: order}})
			b.Pass(7 * day)
			if b.texts() != want {
				t.Errorf("%s: %s", order, b.texts())
			}
			rule = b.rule(rule.ID)
			if order == "once" && (rule.Active || rule.Reason.Code != store.ReasonListEnded) {
				t.Errorf("at its end %+v", rule)
			}
		})
	}
	inBubble(t, func(b *bench) {
		b.add(Request{Content: store.RuleContent{Source: "list", Items: []string{"a", "b", "c"}, Order: "shuffle"}})
		b.Pass(12 * day)
		orders := map[string]bool{}
		for i := 0; i+5 <= len(b.texts()); i += 6 {
			round := b.texts()[i : i+5]
			orders[round] = true
			if !strings.Contains(round, "a") || !strings.Contains(round, "b") || !strings.Contains(round, "c") {
				t.Errorf("a round is %s", round)
			}
		}
		if len(orders) < 2 {
			t.Errorf("the rounds are %v", orders)
		}
	})
}

func TestAChangedListGoesOnBehindWhatWasPosted(t *testing.T) {
	for _, c := range []struct {
		order string
		days  int
		items []string
		want  string
	}{
		{"once", 2, []string{"a", "b", "c", "d"}, "a|b|c|d"},
		{"once", 4, []string{"a", "b", "c", "d"}, "a|b|c|d"}, // it had ended
		{"once", 2, []string{"b", "c"}, "a|b|c"},
		{"once", 2, []string{"A", "b", "c"}, "a|b|c"},
		{"once", 2, []string{"x", "y"}, "a|b|x|y"},
		{"circle", 5, []string{"a", "b", "c", "d"}, "a|b|c|a|b|c|d"},
	} {
		inBubble(t, func(b *bench) {
			rule := b.add(Request{Content: store.RuleContent{Source: "list", Items: []string{"a", "b", "c"}, Order: c.order}})
			b.Pass(time.Duration(c.days) * day)
			d, err := b.rules.PrepareChange(context.Background(), rule.ID, func(r *Request) { r.Content.Items, r.Active = c.items, true })
			if err != nil {
				t.Fatal(err)
			}
			b.Update(func(tx *store.Tx) error { _, err := b.rules.Change(tx, d); return err })
			b.Pass(2 * day)
			if b.texts() != c.want {
				t.Errorf("%+v: %s", c, b.texts())
			}
		})
	}
}

// What a site writes into its feed puts no markup into the owner's channel.
func TestTheValuesOfATemplateAreText(t *testing.T) {
	inBubble(t, func(b *bench) {
		item := feed.Item{
			Title: `[Sale](https://evil.example) *a* _b_ ~~c~~ ||d|| <b>f</b> \* ` + "`e`",
			Link:  "https://n.example/a_b_(c?d=*e*", Summary: "> quote",
		}
		for _, try := range []struct {
			format          platform.Format
			template, leads string
		}{
			{platform.Markdown, "[{title}]({link})", "https://n.example/a_b_%28c?d=*e*"},
			{platform.HTML, `<a href="{link}">{title}</a>`, item.Link},
		} {
			content := store.RuleContent{Format: string(try.format), Template: try.template + "\n{link}\n\n{summary}"}
			text, err := new(telegram.Network).Styled(try.format, b.rules.itemText(store.Rule{Content: content}, item))
			want := platform.Styled{
				Text:  item.Title + "\n" + item.Link + "\n\n" + item.Summary,
				Spans: []platform.Span{{Kind: platform.Link, End: len(item.Title), URL: try.leads}},
			}
			if err != nil || !reflect.DeepEqual(text, want) {
				t.Errorf("%s: %+v, %v, not %+v", try.format, text, err, want)
			}
		}
	})
}

func TestARuleEndsWithItsDates(t *testing.T) {
	inBubble(t, func(b *bench) {
		rule := b.add(Request{ScheduleType: "custom", Schedule: Schedule{Dates: []string{"2000-01-02T10:00", "2000-01-05T10:00"}}})
		b.Pass(10 * day)
		rule = b.rule(rule.ID)
		if b.count() != 2 || rule.Active || rule.Reason.Code != store.ReasonScheduleEnded {
			t.Errorf("%d posts, %+v", b.count(), rule)
		}
		b.View(func(tx *store.Tx) error {
			if _, err := tx.Jobs.ByName(rule.JobName()); !errors.Is(err, store.ErrNotFound) {
				t.Errorf("its job is still there: %v", err)
			}
			return nil
		})
		err := b.DB.Update(func(tx *store.Tx) error {
			_, err := b.rules.Resume(tx, rule.ID)
			return err
		})
		if wrong, ok := errors.AsType[*store.FieldError](err); !ok || wrong.Field != "schedule_config" {
			t.Errorf("resumed: %v", err)
		}
	})
}

// What passes while a run is tried again leaves a record, also where it was the last date of its rule.
func TestTheLastDateOfARuleIsNotLostInSilence(t *testing.T) {
	inBubble(t, func(b *bench) {
		asked := 0
		b.wrote = func([]ai.Message) (ai.Text, error) {
			if asked++; asked == 1 {
				return ai.Text{}, &platform.Error{Kind: platform.Wait, Wait: 45 * time.Minute, Err: errors.New("429")}
			}
			return ai.Text{Text: "News"}, nil
		}
		b.make(Config{})
		rule := b.add(Request{ScheduleType: "custom", Schedule: Schedule{Dates: []string{"2000-01-02T10:00", "2000-01-02T10:30"}},
			Content: store.RuleContent{Source: "ai", Title: "News"}})
		b.Pass(48 * time.Hour)
		posts, skipped := len(b.made()), 0
		b.View(func(tx *store.Tx) error {
			runs, err := tx.Runs.Of(rule.JobName(), store.Query{})
			for _, r := range runs.Items {
				if r.Result == store.ResultSkipped {
					skipped += 1 + r.Missed
				}
			}
			return err
		})
		if posts+skipped != 2 {
			t.Errorf("%d posts, and %d skipped on record, of 2 dates", posts, skipped)
		}
	})
}

func TestARuleThatFailsPausesItselfAndSaysWhy(t *testing.T) {
	inBubble(t, func(b *bench) {
		calls := 0
		fault := &platform.Error{Kind: platform.Transient, Err: errors.New("the AI answered 503")}
		b.wrote = func([]ai.Message) (ai.Text, error) {
			calls++
			return ai.Text{Tokens: 7}, fault
		}
		b.make(Config{})
		rule := b.add(Request{Content: store.RuleContent{Title: "News", PauseAfter: 3}})
		b.Pass(12*time.Hour + 5*time.Minute + 30*time.Second)
		if r := b.rule(rule.ID); r.Reason.Code != store.ReasonRetry || r.Tries != 1 || r.Failed != 0 {
			t.Errorf("after the first attempt %+v", r)
		}
		b.make(Config{}) // a wait survives a restart
		b.Pass(10 * day)
		rule = b.rule(rule.ID)
		if calls != 9 || b.count() != 0 || rule.Failed != 3 || rule.Executions != 3 || !rule.Stopped || rule.Reason.Code != store.ReasonFailures || !strings.Contains(rule.Reason.Detail, "503") {
			t.Errorf("%d calls, %+v", calls, rule)
		}
		b.View(func(tx *store.Tx) error {
			alert, err := tx.Alerts.Standing(store.AlertRulePaused, rule.JobName())
			status, bad := StatusOf(tx, rule)
			if err != nil || bad != nil || alert.Count != 3 || !status.Paused {
				t.Errorf("alert %+v, %v; %+v, %v", alert, err, status, bad)
			}
			return nil
		})
		b.wrote = nil
		b.make(Config{})
		b.Update(func(tx *store.Tx) error {
			_, err := b.rules.Resume(tx, rule.ID)
			return err
		})
		b.Pass(day + time.Hour)
		if rule = b.rule(rule.ID); rule.Stopped || rule.FailedInRow != 0 || b.count() == 0 {
			t.Errorf("resumed: %+v, %d posts", rule, b.count())
		}
	})
}

func TestTheAIIsToldWhatWasPostedAndHasABudget(t *testing.T) {
	inBubble(t, func(b *bench) {
		var asked []string
		b.wrote = func(m []ai.Message) (ai.Text, error) {
			asked = append(asked, m[0].Content+"\n"+m[1].Content)
			return ai.Text{Text: fmt.Sprint("Written ", len(asked)), Tokens: 10}, nil
		}
		b.make(Config{AIRequests: 3})
		rule := b.add(Request{Content: store.RuleContent{Title: "News", Description: "Of the day", Language: "ru"}, Platforms: []string{"telegram", "x"}})
		b.Pass(7 * day)
		if len(asked) != 7 || b.count() != 14 {
			t.Fatalf("%d questions, %d posts", len(asked), b.count())
		}
		last := asked[6]
		for _, part := range []string{"News", "Of the day", "language: ru", "at most 54 characters", "Written 2", "Written 6"} {
			if !strings.Contains(last, part) {
				t.Errorf("the question does not say %q: %s", part, last)
			}
		}
		if strings.Contains(last, "Written 1") {
			t.Errorf("it tells of more than five posts: %s", last)
		}
		for range 3 { // of which the day's own question was the first
			b.Update(func(tx *store.Tx) error {
				_, err := b.rules.RunNow(tx, rule.ID)
				return err
			})
			b.Pass(time.Minute)
		}
		if rule = b.rule(rule.ID); len(asked) != 10 || rule.Failed != 0 {
			t.Errorf("%d questions, %+v", len(asked), rule)
		}
		b.Update(func(tx *store.Tx) error {
			_, err := b.rules.RunNow(tx, rule.ID)
			return err
		})
		b.Pass(time.Minute)
		if rule = b.rule(rule.ID); len(asked) != 10 || rule.Failed != 1 || rule.Reason.Code != store.ReasonAIBudget {
			t.Errorf("beyond the budget: %d questions, %+v", len(asked), rule)
		}
		b.Pass(day + 13*time.Hour)
		if rule = b.rule(rule.ID); len(asked) != 11 || rule.FailedInRow != 0 {
			t.Errorf("on the next day: %d questions, %+v", len(asked), rule)
		}
	})
}

func TestADryRunWritesNothing(t *testing.T) {
	inBubble(t, func(b *bench) {
		rule := b.add(Request{Content: store.RuleContent{Source: "list", Items: []string{"a", "b"}}, Accounts: []uint64{1, 2}})
		all, why, err := b.rules.DryRun(context.Background(), rule.ID)
		if err != nil || len(all) != 2 || all[0].Text != "a" || all[1].IdentityID != 2 || !why.Zero() {
			t.Errorf("%+v, %+v, %v", all, why, err)
		}
		if after := b.rule(rule.ID); b.count() != 0 || after.Position != 0 || after.Executions != 0 {
			t.Errorf("it wrote %+v", after)
		}
		b.View(func(tx *store.Tx) error {
			for c := range tx.Contents.All() {
				t.Errorf("it wrote %+v", c)
			}
			return nil
		})
	})
}

func TestWhetherToTryAgainIsSaid(t *testing.T) {
	inBubble(t, func(b *bench) {
		rule := b.add(Request{Content: store.RuleContent{Source: "feed", FeedURL: "https://n.example/feed"}})
		for kind, want := range map[platform.Kind]string{platform.Refused: "conflict.outside", platform.Transient: "conflict.network"} {
			b.items = func() ([]feed.Item, error) {
				return nil, &platform.Error{Kind: kind, Err: errors.New("the feed answered 404")}
			}
			_, _, err := b.rules.DryRun(context.Background(), rule.ID)
			if said, ok := errors.AsType[*store.ConflictError](err); !ok || said.Key != want {
				t.Errorf("%v: %v", kind, err)
			}
		}
	})
}

func TestOwnersPauseRunChangeAndRemoveRules(t *testing.T) {
	inBubble(t, func(b *bench) {
		rule := b.add(Request{})
		act := func(do func(*Worker, *store.Tx, uint64) (store.Rule, error)) {
			b.Update(func(tx *store.Tx) error {
				_, err := do(b.rules, tx, rule.ID)
				return err
			})
		}
		act((*Worker).Pause)
		b.Pass(2 * day)
		if b.count() != 0 {
			t.Error("it ran while it was paused")
		}
		act((*Worker).RunNow)
		b.Pass(2 * day)
		if b.count() != 1 {
			t.Errorf("%d posts of one that was asked for", b.count())
		}
		d, err := b.rules.PrepareChange(context.Background(), rule.ID, func(r *Request) {
			r.ScheduleType, r.Schedule = "interval", Schedule{Every: "1h"}
		})
		if err != nil {
			t.Fatal(err)
		}
		stale := d
		b.Update(func(tx *store.Tx) error {
			_, err := b.rules.Change(tx, d)
			return err
		})
		b.Pass(time.Second)
		if err := b.DB.Update(func(tx *store.Tx) error { _, err := b.rules.Change(tx, stale); return err }); err == nil {
			t.Error("a change was made to what another one had changed")
		}
		b.Pass(5 * time.Hour)
		if b.count() != 1 {
			t.Error("a change has resumed it")
		}
		act((*Worker).Resume)
		before := b.count()
		b.Pass(10 * time.Hour)
		if n := b.count() - before; n < 10 || n > 11 {
			t.Errorf("%d posts in 10 hours", n)
		}
		b.Update(func(tx *store.Tx) error { return b.rules.Remove(tx, rule.ID) })
		before = b.count()
		b.Pass(day)
		if b.count() != before {
			t.Error("it ran after it was removed")
		}
	})
}

// Vectors count towards the day's tokens, and not towards its questions.
func TestVectorsArePartOfTheBudgetOfTokens(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.make(Config{AIRequests: 1, AITokens: 30})
		asked := 0
		b.rules.sources.Embed = func(context.Context, []string) (ai.Vectors, error) {
			asked++
			return ai.Vectors{Values: [][]float32{{1}}, Tokens: 10}, nil
		}
		var err error
		for range 5 {
			_, err = b.rules.Embed(context.Background(), []string{"text"})
		}
		e := platform.AsError(err)
		if asked != 3 || e.Kind != platform.Wait || e.Wait > 24*time.Hour {
			t.Errorf("asked %d times, then %v", asked, err)
		}
		b.Pass(24 * time.Hour)
		if _, err := b.rules.Embed(context.Background(), []string{"text"}); err != nil {
			t.Errorf("on the next day: %v", err)
		}
	})
}
