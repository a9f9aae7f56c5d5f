package alerts

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry/scheduler"
	"belfry/store"
)

func TestWhatComesAndGoesIsNotToldEachTime(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for range 20 {
			b.measure(func() { b.disk.Free = 1 << 20 })
			b.Pass(time.Minute)
			b.measure(func() { b.disk.Free = 10 << 30 })
			b.Pass(2 * time.Minute)
		}
		b.wantTold("the disk", "⚠️ The disk is nearly full: 1 MiB free, 1024 MiB needed")
		b.Pass(5 * time.Minute)
		b.wantTold("there is room", "✅ The disk has enough free space again")
	})
}

func TestAnAlertEndsAlthoughTheClockWasSetBack(t *testing.T) {
	byHand(t, func(b *bench) {
		b.measure(func() { b.disk = Disk{Free: 1, Need: 2} })
		b.look()
		b.told("admin")
		b.measure(func() { b.disk.Free = 2 })
		b.look()
		b.ahead = -24 * time.Hour
		for range 5 {
			b.look()
		}
		b.wantTold("there is room", "✅ The disk has enough free space again")
	})
}

func TestAQueueThatGrowsIsToldUntilItIsShort(t *testing.T) {
	inBubble(t, Config{Backlog: 10}, func(b *bench) {
		b.chore.set(false, 20*time.Minute)
		queue := func() (lines []string) {
			for _, line := range b.told("admin") {
				if strings.Contains(line, "The queue is long") || strings.Contains(line, "queue") {
					lines = append(lines, line)
				}
			}
			return lines
		}
		for i := range 4 {
			for j := range 5 {
				b.job(store.Job{Name: fmt.Sprintf("chore_%d_%d", i, j), Lane: "chores", Trigger: store.Trigger{At: time.Now()}})
			}
			b.Pass(time.Minute)
		}
		if told := queue(); len(told) != 1 || !strings.Contains(told[0], "The queue is long") {
			t.Errorf("told %q", told)
		}
		b.Pass(10 * time.Minute)
		b.start()
		b.Pass(10 * time.Minute)
		if told := queue(); len(told) != 0 {
			t.Errorf("the queue stands still: told %q", told)
		}
		b.chore.set(false, 0)
		b.Pass(30 * time.Minute)
		if told := queue(); len(told) != 1 || told[0] != "✅ The queue is short again" {
			t.Errorf("all is done: told %q", told)
		}
	})
}

func TestAQueueTooLongToCountGrows(t *testing.T) {
	if b := (backlog{50, maxBacklog, maxBacklog, maxBacklog}); !b.growing(100) {
		t.Error("nobody is told")
	}
	if b := (backlog{maxBacklog, 300, 200, 100}); b.growing(100) {
		t.Error("one that becomes shorter is told")
	}
}

func TestADiskThatCannotBeMeasuredHasNoRoomForThat(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.measure(func() { b.disk.Free = 1 << 20 })
		b.Pass(2 * time.Minute)
		b.told("admin")
		b.measure(func() { b.blind = errors.New("stale file handle") })
		b.Pass(10 * time.Minute)
		b.wantTold("nobody knows how much room there is")
		if open := b.alerts(store.AlertOpen); len(open) != 1 || !open[0].GoneAt.IsZero() {
			t.Errorf("open %+v", open)
		}
		b.measure(func() { b.blind, b.disk.Free = nil, 10<<30 })
		b.Pass(10 * time.Minute)
		b.wantTold("it is measured again", "✅ The disk has enough free space again")
	})
}

func TestAChatThatIsNotReachedIsToldUntilItIs(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		why := store.Reason{Code: store.ReasonRefused, Detail: "a user has to write to a bot first"}
		miss := func(chat string) {
			b.Update(func(tx *store.Tx) error {
				return tx.Notices.Add(&store.Notice{Chat: chat, Key: 1, Text: "hello", CreatedAt: tx.Now(), GivenUpAt: tx.Now(), Reason: why, Missed: true})
			})
		}
		miss("123")
		b.Pass(5 * time.Minute)
		told := b.told("admin")
		if len(told) != 1 || !strings.Contains(told[0], "Messages to 123 are not delivered") {
			t.Errorf("told %q", told)
		}
		b.Update(func(tx *store.Tx) error { return tx.Notices.Got("123") })
		b.Pass(10 * time.Minute)
		b.wantTold("it is reached", "✅ Messages to 123 are delivered again")

		miss("200")
		b.Pass(5 * time.Minute)
		b.told("admin")
		b.Update(func(tx *store.Tx) error { // it is forgotten, and nothing has arrived
			n, err := tx.Notices.LastMissed("200")
			return errors.Join(err, tx.Notices.Delete(n.ID))
		})
		b.Pass(10 * time.Minute)
		b.wantTold("nobody has heard from it")
		if open := b.alerts(store.AlertOpen); len(open) != 0 {
			t.Errorf("open %+v", open)
		}
	})
}

func TestWhatWasTakenAwayHasNotComeRight(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		var logins []store.Identity
		for _, name := range []string{"removed", "logged-out"} {
			login := store.Identity{Name: name, Platform: "telegram", Kind: store.IdentityUser, State: store.IdentityStopped, Reason: store.Reason{Code: store.ReasonStopped}}
			b.Update(func(tx *store.Tx) error { return tx.Identities.Put(&login) })
			logins = append(logins, login)
		}
		shop := store.Identity{Name: "shop", Platform: "instagram", Kind: store.IdentityProfile, State: store.IdentityReady, Expires: time.Now().Add(24 * time.Hour)}
		news := store.Channel{Username: "news", IdentityID: 1, PeerID: 7, Active: true, Failures: 3}
		others := b.worker.cfg.Wrong
		b.worker.cfg.Wrong = func(tx *store.Tx) []store.Alert {
			if !news.Active {
				return others(tx)
			}
			return append(others(tx), store.Alert{Kind: store.AlertChannel, About: news.JobName(), Subject: news.ID, Name: news.Name(), Count: 3})
		}
		b.Update(func(tx *store.Tx) error { return errors.Join(tx.Identities.Put(&shop), tx.Channels.Put(&news)) })
		b.chore.set(true, 0)
		for _, name := range []string{"chore_paused", "chore_removed"} {
			b.job(store.Job{Name: name, Lane: name, Trigger: store.Trigger{Every: time.Minute}})
		}
		b.Pass(10 * time.Minute)
		if told := b.told("admin"); len(told) != 6 {
			t.Fatalf("told %q", told)
		}
		b.Update(func(tx *store.Tx) error {
			_, err := scheduler.Pause(tx, "chore_paused")
			shop.State, news.Active = store.IdentityLogin, false
			err = errors.Join(err, tx.Identities.Put(&shop), tx.Channels.Put(&news))
			logins[1].State, logins[1].Reason = store.IdentityLogin, store.Reason{}
			return errors.Join(err, scheduler.Delete(tx, "chore_removed"), tx.Identities.Delete(logins[0].ID), tx.Identities.Put(&logins[1]))
		})
		b.Pass(10 * time.Minute)
		b.wantTold("nothing works again")
		if over := b.alerts(store.AlertOver); len(over) != 6 {
			t.Errorf("over %+v", over)
		}
	})
}

func TestWhatIsHeldIsNotStartedAgain(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.chore.set(false, 30*time.Minute)
		for i := range 2 {
			b.job(store.Job{Name: fmt.Sprint("chore_", i), Lane: "chores", Trigger: store.Trigger{At: time.Now()}})
			b.Pass(time.Second)
		}
		b.Pass(10 * time.Minute)
		b.wantTold("one waits", "⚠️ chore_1 is overdue by 5 minutes")
		b.Update(func(tx *store.Tx) error {
			return tx.Holds.Put(&store.Hold{Lane: "chores", Until: tx.Now().Add(time.Hour), Reason: store.Reason{Code: store.ReasonFlood}})
		})
		b.Pass(20 * time.Minute)
		b.wantTold("its lane is held")
	})
}

func TestAMessageAboutABookingThatFailsIsToldAndStands(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.Update(func(tx *store.Tx) error {
			return tx.Alerts.Raise(store.Alert{Kind: store.AlertBooking, About: "reminder_2", Subject: 2, Name: "@anna, Haircut",
				Reason: store.Reason{Code: store.ReasonRefused, Detail: "USER_IS_BLOCKED"}})
		})
		b.Pass(5 * time.Minute)
		if told, open := b.told("admin"), b.alerts(store.AlertOpen); len(told) != 1 || len(open) != 1 {
			t.Errorf("told %q, open are %+v", told, open)
		}
	})
}
