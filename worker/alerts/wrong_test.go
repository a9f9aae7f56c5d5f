package alerts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
)

func TestADiskAtTheMarkIsToldOnce(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for range 30 {
			b.measure(func() { b.disk.Free = b.disk.Need - 1<<20 })
			b.Pass(4 * time.Minute)
			b.measure(func() { b.disk.Free = b.disk.Need + 1<<20 })
			b.Pass(4 * time.Minute)
		}
		b.wantTold("a file is written and removed", "⚠️ The disk is nearly full: 1023 MiB free, 1024 MiB needed")
	})
}

func TestWhatComesAndGoesAllDayIsToldAFewTimes(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for range 180 {
			b.measure(func() { b.disk.Free = 1 << 20 })
			b.Pass(4 * time.Minute)
			b.measure(func() { b.disk.Free = 10 << 30 })
			b.Pass(4 * time.Minute)
		}
		full, room := "⚠️ The disk is nearly full: 1 MiB free, 1024 MiB needed", "✅ The disk has enough free space again"
		b.wantTold("a day", full, room, full, room, full)
		open := b.alerts(store.AlertOpen)
		if len(open) != 1 || !open[0].Flaps || !strings.Contains(Text(b.worker.Printer(), open[0]).Cure, "comes and goes") {
			t.Errorf("open %+v", open)
		}
		b.Pass(2 * time.Hour)
		b.wantTold("an hour of peace", room)
		b.measure(func() { b.disk.Free = 1 << 20 })
		b.Pass(2 * time.Minute)
		b.wantTold("later, it is new", full)
	})
}

func TestRestartsDoNotHideWhatIsOverdue(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.chore.set(false, time.Hour)
		at := store.Trigger{At: time.Now()}
		for i := range 10 { // each start begins another one
			b.job(store.Job{Name: fmt.Sprint("chore_", i), Lane: "chores", Trigger: at})
		}
		for range 4 {
			b.Pass(4 * time.Minute)
			b.start()
		}
		if told := b.told("admin"); len(told) != 1 || !strings.Contains(told[0], "is overdue by ") {
			t.Errorf("told %q", told)
		}
		before := b.beats
		for range 3 {
			b.Pass(4 * time.Minute)
			b.start()
		}
		if b.beats != before {
			t.Errorf("%d beats while something is overdue", b.beats-before)
		}
	})
}

func TestWhatFindsNoConnectionIsOverdue(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.chore.tryInVain(store.Reason{Code: store.ReasonNotConnected, Detail: "no route to host"})
		b.job(store.Job{Name: "chore_1", Lane: "chores", Trigger: store.Trigger{At: time.Now()}})
		b.Pass(4 * time.Minute)
		b.wantTold("four minutes")
		b.Pass(2 * time.Minute)
		b.wantTold("six minutes", "⚠️ chore_1 is overdue by 5 minutes")
		open := b.alerts(store.AlertOpen)
		if len(open) != 1 || !strings.Contains(Text(b.worker.Printer(), open[0]).Why, "no route to host") {
			t.Errorf("open %+v", open)
		}
		if wrong, err := b.worker.Wrong(); err != nil || len(wrong) != 1 || wrong[0].Kind != store.AlertOverdue {
			t.Errorf("health is told %+v, %v", wrong, err)
		}
		before := b.beats
		b.Pass(10 * time.Minute)
		if b.beats != before {
			t.Errorf("%d beats without a connection", b.beats-before)
		}
		b.chore.tryInVain(store.Reason{Code: store.ReasonFlood}) // the network is there, and asks to wait
		b.Pass(10 * time.Minute)
		b.wantTold("a wait that is meant", "✅ Nothing is overdue now")
	})
}

func TestWhatIsTriedThreeTimesInVainIsTold(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.job(store.Job{Name: "chore_1", Lane: "chores", Trigger: store.Trigger{At: time.Now().Add(time.Second)}})
		b.chore.tryInVain(store.Reason{Code: store.ReasonRetry, N: 2, Of: 5, Detail: "internal error"})
		b.Pass(3 * time.Minute)
		b.wantTold("twice")
		b.chore.tryInVain(store.Reason{Code: store.ReasonRetry, N: 3, Of: 5, Detail: "internal error"})
		b.Pass(2 * time.Minute)
		b.wantTold("three times", "⚠️ chore_1 has failed 3 times in a row")
		b.chore.tryInVain(store.Reason{})
		b.Pass(10 * time.Minute)
		b.wantTold("it is done")
		if open := b.alerts(store.AlertOpen); len(open) != 0 {
			t.Errorf("open %+v", open)
		}
	})
}

func TestALoginThatCannotConnectIsToldWithTheReason(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		connecting := func() {
			b.connection = platform.Connection{State: platform.Connecting, Since: time.Now(), Err: "TELEGRAM_API_ID and TELEGRAM_API_HASH are not set"}
		}
		b.Update(func(tx *store.Tx) error {
			return errors.Join(tx.Identities.Put(&store.Identity{Name: "main", Platform: "telegram", Kind: store.IdentityBot, State: store.IdentityNew}),
				tx.Identities.Put(&store.Identity{Name: "me", Platform: "telegram", Kind: store.IdentityUser, State: store.IdentityLogin}))
		})
		connecting()
		b.Pass(2 * time.Minute)
		b.wantTold("two minutes")
		b.Pass(2 * time.Minute)
		b.wantTold("four minutes", "⚠️ The account main cannot post")
		open := b.alerts(store.AlertOpen)
		if len(open) != 1 {
			b.T.Fatalf("open %+v", open)
		}
		if why := Text(b.worker.Printer(), open[0]).Why; why != "No connection to the network: TELEGRAM_API_ID and TELEGRAM_API_HASH are not set" {
			t.Errorf("because %q", why)
		}
		for range 4 { // the program is started again and again
			connecting()
			b.start()
			b.Pass(2 * time.Minute)
		}
		b.Pass(10 * time.Minute)
		b.wantTold("it is still so")
		b.connection = platform.Connection{State: platform.Connected}
		b.Update(func(tx *store.Tx) error {
			i, err := tx.Identities.Get(1)
			i.State = store.IdentityReady
			return errors.Join(err, tx.Identities.Put(&i))
		})
		b.Pass(10 * time.Minute)
		b.wantTold("it is connected", "✅ The account main works again")
	})
}

func TestDamageOfAnyRowIsTold(t *testing.T) {
	byHand(t, func(b *bench) {
		b.look()
		b.Update(func(tx *store.Tx) error { return tx.Contents.Put(&store.Content{Text: "x"}) })
		b.problems++ // of the index
		look := func() {
			b.Pass(time.Minute)
			b.lookAt(b.worker.measure())
		}
		b.damage("contents", 1)
		look()
		b.wantTold("nobody has met it")
		if err := b.DB.View(func(tx *store.Tx) error { _, err := tx.Contents.Get(1); return err }); !store.IsCorrupt(err) {
			t.Fatal(err)
		}
		look()
		b.wantTold("it was met", "⚠️ The database file is damaged: 1 problem")
		wrong, err := b.worker.Wrong()
		if err != nil || len(wrong) != 1 || wrong[0].Kind != store.AlertDamage || !strings.Contains(wrong[0].Reason.Detail, "contents") {
			t.Errorf("health is told %+v, %v", wrong, err)
		}
	})
}

func TestACopyThatWasGivenUpIsToldOnce(t *testing.T) {
	byHand(t, func(b *bench) {
		b.look()
		bad := sight{copied: b.DB.Now(), badCopy: errors.New("it took longer than an hour")}
		for range 3 {
			b.Pass(time.Minute)
			b.lookAt(bad)
		}
		b.wantTold("a copy", "⚠️ A copy of the file is bad: it took too long and was given up")
		b.Update(func(tx *store.Tx) error { _, err := b.worker.AcknowledgeAll(tx, "a test", tx.Now()); return err })
		b.Pass(time.Minute)
		b.lookAt(bad)
		b.wantTold("it was seen")
		bad.copied = b.DB.Now()
		b.Pass(time.Minute)
		b.lookAt(bad)
		b.wantTold("another one", "⚠️ A copy of the file is bad: it took too long and was given up")
	})
}

func TestACopyOfTheFileDoesNotVouchForTheSystem(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.Update(func(tx *store.Tx) error { return tx.Settings.Set(store.Restored, "restored from a backup") })
		before := b.beats
		b.Pass(10 * time.Minute)
		if b.beats != before {
			t.Errorf("%d beats of a restored file", b.beats-before)
		}
		b.Update(func(tx *store.Tx) error { return tx.Settings.Set(store.Restored, "") })
		b.Pass(10 * time.Minute)
		if n := b.beats - before; n < 9 {
			t.Errorf("%d beats in ten minutes after it was resumed", n)
		}
	})
}

func TestAHeartThatDoesNotSeeIsStill(t *testing.T) {
	byHand(t, func(b *bench) {
		b.worker.cfg.Heartbeat = func(context.Context) error { b.beats++; return nil }
		if err := b.worker.Look(b.T.Context()); err != nil || b.beats != 1 {
			t.Errorf("a look that finds nothing: %v, %d beats", err, b.beats)
		}
		b.close()
		if err := b.worker.Look(b.T.Context()); err == nil || b.beats != 1 {
			t.Errorf("a look at a file that cannot be read: %v, %d beats", err, b.beats)
		}
		b.open()
	})
}

func TestWhatHasBecomeWorseIsToldAlthoughItWasSeen(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		login := store.Identity{Name: "main", Platform: "telegram", Kind: store.IdentityUser, State: store.IdentityReady}
		b.Update(func(tx *store.Tx) error { return tx.Identities.Put(&login) })
		b.connection = platform.Connection{State: platform.Connecting, Since: time.Now(), Err: "no route to host"}
		parked := store.Alert{Kind: store.AlertStageParked, About: "vision", Name: "vision", Reason: store.Reason{Code: store.ReasonError}, Count: 1}
		others := b.worker.cfg.Wrong
		b.worker.cfg.Wrong = func(tx *store.Tx) []store.Alert { return append(others(tx), parked) }
		b.Pass(10 * time.Minute)
		b.told("admin")
		b.Update(func(tx *store.Tx) error { _, err := b.worker.AcknowledgeAll(tx, "anna", time.Time{}); return err })
		parked.Count = 3
		b.Pass(10 * time.Minute)
		b.wantTold("it is as it was")
		parked.Count = 5000 // the key of the AI has ended
		b.Pass(10 * time.Minute)
		b.wantTold("all are given up", "⚠️ Stage “vision” of the pipeline has given up 5,000 messages")
		// The network is back, and the first call says that the session was ended.
		b.connection = platform.Connection{State: platform.Off}
		login.State, login.Reason = store.IdentityLogin, store.Reason{Code: store.ReasonLogin, Detail: "SESSION_REVOKED"}
		b.Update(func(tx *store.Tx) error { return tx.Identities.Put(&login) })
		b.Pass(10 * time.Minute)
		b.wantTold("the account was logged out", "⚠️ The account main cannot post")
	})
}
