package rules

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/ai"
	"belfry/store"
)

func TestARuleThatPausedItselfGoesOnAfterARunByHandThatWorked(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.wrote = func([]ai.Message) (ai.Text, error) {
			return ai.Text{}, &platform.Error{Kind: platform.Refused, Err: errors.New("the AI answered 401")}
		}
		b.make(Config{})
		rule := b.add(Request{Content: store.RuleContent{Title: "News", PauseAfter: 3}})
		b.Pass(5 * day)
		if r := b.rule(rule.ID); !r.Stopped {
			t.Fatalf("%+v", r)
		}
		b.wrote = func([]ai.Message) (ai.Text, error) { return ai.Text{Text: "fine"}, nil }
		b.make(Config{})
		b.Update(func(tx *store.Tx) error { _, err := b.rules.RunNow(tx, rule.ID); return err })
		b.Pass(30*day + time.Hour)
		if n := b.count(); n != 31 {
			t.Errorf("%d posts, want 31", n)
		}
	})
}

func TestThatTheLastTimeOfARuleHasFailedIsTold(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.wrote = func([]ai.Message) (ai.Text, error) {
			return ai.Text{}, &platform.Error{Kind: platform.Transient, Err: errors.New("the AI answered 503")}
		}
		b.make(Config{})
		rule := b.add(Request{ScheduleType: "custom", Schedule: Schedule{Dates: []string{b.DB.Now().Add(day).Format(time.RFC3339)}},
			Content: store.RuleContent{Title: "Black Friday"}})
		b.Pass(day + time.Hour)
		b.View(func(tx *store.Tx) error {
			a, err := tx.Alerts.Standing(store.AlertRulePaused, rule.JobName())
			if r := b.rule(rule.ID); err != nil || a.Reason.Zero() || r.Active || !r.Stopped {
				t.Errorf("%+v, %v; %+v", a, err, r)
			}
			return nil
		})
	})
}

func TestTheDaysBudgetOfTheAIDoesNotPauseARule(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.wrote = func([]ai.Message) (ai.Text, error) { return ai.Text{Text: "fine"}, nil }
		b.make(Config{AIRequests: 1})
		rule := b.add(Request{ScheduleType: "interval", Schedule: Schedule{Every: "1h"}, Content: store.RuleContent{Title: "News", PauseAfter: 3}})
		b.Pass(2 * day)
		if r := b.rule(rule.ID); r.Stopped || r.Failed == 0 || b.count() < 2 {
			t.Errorf("%d posts; %+v", b.count(), r)
		}
	})
}

// On the Azores 2000-03-26 began at 01:00.
func TestAUsedUpBudgetWaitsForTheNextDayAlsoWhereThatHasNoMidnight(t *testing.T) {
	azores, err := time.LoadLocation("Atlantic/Azores")
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, func(b *bench) {
		b.wrote = func([]ai.Message) (ai.Text, error) { return ai.Text{Text: "News", Tokens: 1_000_000}, nil }
		b.make(Config{Zone: azores})
		time.Sleep(time.Until(time.Date(2000, 3, 25, 23, 10, 0, 0, azores)))
		_, _ = b.rules.Ask(context.Background(), nil) // with which it is used up
		_, err := b.rules.Ask(context.Background(), nil)
		if e := platform.AsError(err); e.Kind != platform.Wait || e.Wait != 50*time.Minute {
			t.Errorf("it waits %v: %v", e.Wait, err)
		}
	})
}

func TestWhatIsReadLeavesTheRulesTheirQuestions(t *testing.T) {
	inBubble(t, func(b *bench) {
		busy, unpaid := false, false
		b.wrote = func([]ai.Message) (ai.Text, error) {
			if busy {
				return ai.Text{}, &platform.Error{Kind: platform.Wait, Scope: platform.ScopeContent, Err: errors.New("too many requests")}
			}
			if unpaid {
				return ai.Text{}, &platform.Error{Kind: platform.Refused, Scope: platform.ScopeIdentity, Err: errors.New("insufficient balance")}
			}
			return ai.Text{Text: "fine"}, nil
		}
		b.make(Config{AIRequests: 10})
		b.add(Request{Content: store.RuleContent{Title: "News"}})
		ask := func() (answered int) {
			for range 20 { // pictures of channels that have waited since yesterday
				if _, err := b.rules.Ask(context.Background(), nil); err == nil {
					answered++
				}
			}
			return answered
		}
		for range 3 {
			busy = true
			refused := ask() // costs nothing
			busy, unpaid = false, true
			refused += ask()
			unpaid = false
			if answered := ask(); refused != 0 || answered != 8 {
				t.Errorf("%d and %d of 10 questions of the day were answered", refused, answered)
			}
			b.Pass(day)
		}
		if b.count() != 3 {
			t.Errorf("%d posts in three days", b.count())
		}
	})
}

func TestAnAnswerThatIsTooLongIsAskedForAgain(t *testing.T) {
	inBubble(t, func(b *bench) {
		asked := 0
		b.wrote = func([]ai.Message) (ai.Text, error) {
			if asked++; asked%3 != 0 {
				return ai.Text{Text: strings.Repeat("x", 61)}, nil // the network takes 60
			}
			return ai.Text{Text: "fine"}, nil
		}
		b.make(Config{})
		rule := b.add(Request{Content: store.RuleContent{Title: "News"}})
		if b.Pass(3 * day); b.count() != 3 {
			t.Errorf("%d posts in three days, %d questions: %+v", b.count(), asked, b.rule(rule.ID).Reason)
		}
	})
}
