package alerts

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry/scheduler"
	"belfry/store"
)

func TestAPostThatFailsIsToldOnce(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.Pass(2 * time.Minute)
		id := b.post(0, store.PostFailed)
		unknown := b.post(0, store.PostUnknown)
		b.Pass(time.Minute)
		b.wantTold("two posts", "⚠️ Post 1 to @evening_news was not published", "⚠️ It is unknown whether post 2 to @evening_news was published")
		b.Pass(time.Hour)
		b.start()
		b.Pass(time.Hour)
		b.wantTold("nothing has changed")

		b.post(id, store.PostPublishing) // somebody tries it again
		b.Pass(5 * time.Minute)
		b.wantTold("it is on its way")
		b.post(id, store.PostFailed)
		b.post(unknown, store.PostCancelled)
		b.Pass(time.Minute)
		b.wantTold("it has failed again", "⚠️ Post 1 to @evening_news was not published")
		b.post(id, store.PostPublished)
		b.Pass(time.Minute)
		b.wantTold("it is out", "✅ Post 1 to @evening_news is published")
		if open, over := b.alerts(store.AlertOpen), b.alerts(store.AlertOver); len(open) != 0 || len(over) != 2 {
			t.Errorf("open %+v, over %+v", open, over)
		}
	})
}

func TestWhatHasFailedBeforeTheFirstStartIsNotTold(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.Stop()
		b.Update(func(tx *store.Tx) error { // as a version without alerts did
			p := store.Post{Platform: "telegram", Target: "@evening_news", Status: store.PostFailed, UpdatedAt: tx.Now()}
			return tx.Posts.Table.Put(&p)
		})
		b.Pass(time.Second)
		b.start()
		b.Pass(10 * time.Minute)
		b.wantTold("an old failure")
	})
}

func TestWhatFailsWhileBelfryIsDownOrAtTheEndIsToldAfterTheStart(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.Stop()
		b.post(0, store.PostFailed)
		b.Pass(time.Hour)
		b.start()
		b.Pass(time.Minute)
		b.wantTold("a failure just before the end", "⚠️ Post 1 to @evening_news was not published")
	})
}

func TestADamagedAlertIsToldAnewAndStopsNoOther(t *testing.T) {
	byHand(t, func(b *bench) {
		b.measure(func() { b.disk = Disk{Free: 1 << 20, Need: 1 << 30} })
		b.look()
		b.post(0, store.PostFailed)
		b.look()
		b.told("admin")
		b.damage("alerts", 1)
		b.damage("alerts", 2)
		b.post(0, store.PostFailed)
		b.look()
		b.wantTold("a damaged file", "⚠️ The disk is nearly full: 1 MiB free, 1024 MiB needed", "⚠️ Post 2 to @evening_news was not published")
		b.measure(func() { b.disk.Free = 10 << 30 })
		b.post(1, store.PostFailed)
		for range 5 {
			b.look()
		}
		b.wantTold("alerts go on", "⚠️ Post 1 to @evening_news was not published", "✅ The disk has enough free space again")
	})
}

func TestManyFailuresAreOneMessage(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for range 250 {
			b.post(0, store.PostFailed)
		}
		b.Pass(time.Minute)
		b.wantTold("a storm", "⚠️ 101 new alerts")
		if open := b.alerts(store.AlertOpen); len(open) != 101 {
			t.Errorf("%d alerts are open", len(open))
		}
		b.Update(func(tx *store.Tx) error {
			n, err := b.worker.AcknowledgeAll(tx, "a test", tx.Now())
			if n != 101 {
				t.Errorf("%d acknowledged", n)
			}
			return err
		})
		if open, over := b.alerts(store.AlertOpen), b.alerts(store.AlertOver); len(open) != 0 || len(over) != 101 {
			t.Errorf("open %+v, %d are over", open, len(over))
		}
		b.Pass(10 * time.Minute)
		b.wantTold("all was seen")
	})
}

func TestAStormHidesNoOtherKind(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for range 100 {
			b.post(0, store.PostFailed)
		}
		b.Pass(2 * time.Minute)
		b.told("admin")
		b.post(0, store.PostUnknown)
		b.Update(func(tx *store.Tx) error {
			why := store.Reason{Code: store.ReasonRefused}
			return errors.Join(tx.Alerts.Raise(store.Alert{Kind: store.AlertRulePaused, About: "rule_2", Subject: 2, Name: "News", Reason: why, Count: 5}),
				tx.Alerts.Raise(store.Alert{Kind: store.AlertBooking, About: "reminder_2", Subject: 2, Name: "@anna", Reason: why}))
		})
		kinds := map[store.AlertKind]int{}
		for _, a := range b.alerts(store.AlertOpen) {
			kinds[a.Kind]++
		}
		if kinds[store.AlertPostUnknown] != 1 || kinds[store.AlertRulePaused] != 1 || kinds[store.AlertBooking] != 1 {
			t.Errorf("open %v", kinds)
		}
	})
}

func TestStormsAddUp(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for range 2 {
			for range 150 {
				b.post(0, store.PostFailed)
			}
			b.Pass(time.Minute)
		}
		for _, a := range b.alerts(store.AlertOpen) {
			if a.Subject == 0 && a.Count != 200 {
				t.Errorf("of 300 failures, 100 have an alert each, and the others are one of %d", a.Count)
			}
		}
		if open := b.alerts(store.AlertOpen); len(open) != 101 {
			t.Errorf("%d alerts are open", len(open))
		}
	})
}

func TestAJobThatFailsAgainAndAgainIsTold(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.chore.set(true, 0)
		b.job(store.Job{Name: "chore_1", Lane: "chores", Trigger: store.Trigger{Every: 5 * time.Minute}})
		b.Pass(7 * time.Minute)
		b.wantTold("two failures")
		b.Pass(30 * time.Minute)
		b.wantTold("three failures", "⚠️ chore_1 has failed 3 times in a row")
		open := b.alerts(store.AlertOpen)
		if len(open) != 1 || open[0].Count < 6 || open[0].Reason.Detail != "no luck" {
			t.Fatalf("open %+v", open)
		}
		b.Update(func(tx *store.Tx) error { _, err := b.worker.Acknowledge(tx, open[0].ID, "a test"); return err })
		b.Pass(30 * time.Minute)
		if seen := b.alerts(store.AlertAcknowledged); len(seen) != 1 || seen[0].AcknowledgedBy != "a test" {
			t.Errorf("acknowledged %+v", seen)
		}
		b.chore.set(false, 0)
		b.Pass(15 * time.Minute)
		b.wantTold("it works", "✅ chore_1 works again")
		if over := b.alerts(store.AlertOver); len(over) != 1 {
			t.Errorf("over %+v", over)
		}
	})
}

func TestWhatIsDueAndNotStartedIsTold(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.chore.set(false, 12*time.Minute)
		at := store.Trigger{At: time.Now()}
		b.job(store.Job{Name: "chore_1", Lane: "chores", Trigger: at})
		b.Pass(time.Second)
		b.job(store.Job{Name: "chore_2", Lane: "chores", Trigger: at})
		b.Pass(4 * time.Minute)
		b.wantTold("four minutes")
		b.Pass(2 * time.Minute)
		b.wantTold("six minutes", "⚠️ chore_2 is overdue by 5 minutes")
		b.Pass(15 * time.Minute)
		b.wantTold("it was started", "✅ Nothing is overdue now")
	})
}

func TestWhatBecameDueWhileBelfryWasDownIsGivenTimeToStart(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.chore.set(false, time.Minute)
		for i := range 4 {
			b.job(store.Job{Name: fmt.Sprint("chore_", i), Lane: "chores", Trigger: store.Trigger{At: time.Now().Add(10 * time.Minute)}})
		}
		b.Stop()
		b.Pass(time.Hour)
		b.start()
		b.Pass(30 * time.Minute)
		b.wantTold("all of it was started")
	})
}

func TestWhatTheClockHasPassedIsGivenTimeToStart(t *testing.T) {
	byHand(t, func(b *bench) {
		b.job(store.Job{Name: "chore_1", Lane: "chores", Trigger: store.Trigger{At: b.DB.Now().Add(time.Hour)}})
		for range 10 {
			b.look()
		}
		b.ahead += 2 * time.Hour
		for range 5 {
			b.look()
		}
		b.wantTold("the clock was set forward")
		for range 2 {
			b.look()
		}
		if told := b.told("admin"); len(told) != 1 || !strings.HasPrefix(told[0], "⚠️ chore_1 is overdue by ") {
			t.Errorf("nobody starts it: told %q", told)
		}
	})
}

func TestALoginThatHasEndedIsTold(t *testing.T) {
	inBubble(t, Config{Lang: "ru"}, func(b *bench) {
		login := store.Identity{Name: "main", Platform: "telegram", Kind: store.IdentityUser, State: store.IdentityLogin}
		set := func(state store.IdentityState, why store.Reason) {
			login.State, login.Reason = state, why
			b.Update(func(tx *store.Tx) error { return tx.Identities.Put(&login) })
			b.Pass(5 * time.Minute)
		}
		set(store.IdentityLogin, store.Reason{})
		b.wantTold("one that was never logged in")
		set(store.IdentityReady, store.Reason{})
		set(store.IdentityStopped, store.Reason{Code: store.ReasonStopped, Detail: "PEER_FLOOD"})
		b.wantTold("restricted", "⚠️ Аккаунт main не может публиковать")
		set(store.IdentityReady, store.Reason{})
		b.wantTold("lifted", "✅ Аккаунт main снова работает")
	})
}

func TestTheHeartBeatsWhileNobodyHasToLook(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		beats := func(d time.Duration) int {
			before := b.beats
			b.Pass(d)
			return b.beats - before
		}
		if n := beats(10 * time.Minute); n != 10 {
			t.Errorf("%d beats in ten minutes", n)
		}
		b.deaf = true
		if n := beats(10 * time.Minute); n != 10 {
			t.Errorf("%d beats in ten minutes in which nobody answers", n)
		}
		b.wantTold("nobody hears the heart")
		b.post(0, store.PostFailed)
		b.Pass(time.Minute)
		if n := beats(10 * time.Minute); n > 1 {
			t.Errorf("%d beats while somebody has to look", n)
		}
		b.Update(func(tx *store.Tx) error { _, err := b.worker.AcknowledgeAll(tx, "a test", tx.Now()); return err })
		if n := beats(10 * time.Minute); n != 10 {
			t.Errorf("%d beats after somebody has looked", n)
		}
		b.Stop()
		b.cfg.Heartbeat = nil
		b.Update(func(tx *store.Tx) error { // as an older version has left it
			return scheduler.Put(tx, store.Job{Name: "heartbeat", Kind: "heartbeat", Lane: "heartbeat", Trigger: store.Trigger{Every: period}})
		})
		b.start()
		if n := beats(10 * time.Minute); n != 0 {
			t.Errorf("%d beats that nobody wants to hear", n)
		}
		err := b.DB.View(func(tx *store.Tx) error { _, err := tx.Jobs.ByName("heartbeat"); return err })
		if err == nil {
			t.Error("the heartbeat is still a job")
		}
	})
}

func TestTheWebhookIsToldWhatTheAdminsAre(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		id := b.post(0, store.PostFailed)
		b.Pass(time.Minute)
		b.post(id, store.PostPublished)
		b.Pass(time.Minute)
		var said []hookNews
		err := b.DB.View(func(tx *store.Tx) error {
			for n := range tx.Notices.All() {
				var body hookNews
				if n.Chat == store.WebhookChat {
					if err := json.Unmarshal([]byte(n.Text), &body); err != nil {
						return err
					}
					said = append(said, body)
				}
			}
			return nil
		})
		if err != nil || len(said) != 2 {
			t.Fatalf("said %+v, %v", said, err)
		}
		if first := said[0]; first.Text != "⚠️ Post 1 to @evening_news was not published" || len(first.Raised) != 1 || len(first.Over) != 0 ||
			first.Raised[0].Kind != store.AlertPostFailed || first.Raised[0].About != "post_1" || first.Raised[0].Why != "Refused: no rights" {
			t.Errorf("first %+v", first)
		}
		if then := said[1]; len(then.Raised) != 0 || len(then.Over) != 1 || then.Over[0].OverAt.IsZero() || !strings.HasPrefix(then.Text, "✅") {
			t.Errorf("then %+v", then)
		}
	})
}

func TestALookThatFindsNothingNewWritesNothing(t *testing.T) {
	byHand(t, func(b *bench) {
		b.measure(func() { b.disk = Disk{Free: 1 << 20, Need: 1 << 30} })
		b.look()
		before := b.DB.Commits()
		for range 100 {
			b.look()
		}
		if n := b.DB.Commits() - before; n != 0 || before == 0 || len(b.alerts(store.AlertOpen)) != 1 {
			t.Errorf("%d commits for 100 looks that found what was known", n)
		}
	})
}
