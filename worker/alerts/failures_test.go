package alerts

import (
	"errors"
	"maps"
	"testing"
	"time"

	"belfry/store"
)

const failedPost = "⚠️ Post 1 to @evening_news was not published"

func TestAFailureAfterTheClockWasSetBackIsToldOnce(t *testing.T) {
	for _, back := range []time.Duration{20 * time.Second, time.Hour, 400 * 24 * time.Hour} {
		t.Run(back.String(), func(t *testing.T) {
			byHand(t, func(b *bench) {
				b.look()
				b.ahead -= back
				b.post(0, store.PostFailed)
				b.look()
				b.wantTold("a failure", failedPost)
				for range 90 {
					b.look()
				}
				b.wantTold("nothing has changed")
			})
		})
	}
}

func TestAFailureBeforeTheClockWasSetBackIsToldOnce(t *testing.T) {
	byHand(t, func(b *bench) {
		b.look()
		b.Pass(time.Second)
		b.post(0, store.PostFailed)
		b.ahead -= time.Hour
		b.look()
		b.wantTold("a failure that lies ahead", failedPost)
		for range 90 {
			b.look()
		}
		b.wantTold("its time has come again")
		b.Pass(time.Second)
		b.post(1, store.PostFailed)
		b.look()
		b.wantTold("it has failed again", failedPost)
	})
}

func TestWhatWasToldIsNotToldWhenItsTimeComesAgain(t *testing.T) {
	for name, seen := range map[string]bool{"standing": false, "seen": true} {
		t.Run(name, func(t *testing.T) {
			byHand(t, func(b *bench) {
				b.look()
				b.post(0, store.PostFailed)
				b.look()
				b.wantTold("a failure", failedPost)
				if seen {
					b.Update(func(tx *store.Tx) error { _, err := b.worker.AcknowledgeAll(tx, "a test", tx.Now()); return err })
				}
				b.ahead -= time.Hour
				for range 90 {
					b.look()
				}
				b.wantTold("its time has come again")
			})
		})
	}
}

func TestAFailureAfterAStartWithAClockThatIsBehindIsTold(t *testing.T) {
	byHand(t, func(b *bench) {
		b.look()
		b.close()
		b.ahead -= 24 * time.Hour
		b.open()
		b.post(0, store.PostFailed)
		b.look()
		b.wantTold("a failure", failedPost)
		for range 90 {
			b.look()
		}
		b.wantTold("nothing has changed")
	})
}

func TestALookThatIsUndoneHasSeenNothing(t *testing.T) {
	byHand(t, func(b *bench) {
		b.look()
		b.ahead -= time.Hour
		b.post(0, store.PostFailed)
		b.Pass(time.Minute)
		undone := errors.New("the disk is full")
		err := b.DB.Update(func(tx *store.Tx) error {
			_, err := b.worker.look(tx, sight{disk: &b.disk})
			return errors.Join(err, undone)
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}
		b.wantTold("nothing is in the file")
		b.look()
		b.wantTold("a failure", failedPost)
	})
}

func TestALookThatIsUndoneDoesNotGoBackToTheStart(t *testing.T) {
	byHand(t, func(b *bench) {
		b.look()
		b.Pass(time.Second)
		for range 250 {
			b.post(0, store.PostFailed)
		}
		b.look()
		b.wantTold("a storm", "⚠️ 101 new alerts")
		b.Update(func(tx *store.Tx) error { _, err := b.worker.AcknowledgeAll(tx, "Ann", tx.Now()); return err })
		b.Pass(30 * 24 * time.Hour)
		b.look()
		b.look()
		b.Pass(time.Minute)
		undone := errors.New("another member of the commit failed")
		err := b.DB.Update(func(tx *store.Tx) error {
			_, err := b.worker.look(tx, sight{disk: &b.disk})
			return errors.Join(err, undone)
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}
		b.look()
		b.look()
		b.wantTold("nothing new is wrong")
	})
}

func TestAStormAtAClockThatIsSetBackEnds(t *testing.T) {
	byHand(t, func(b *bench) {
		b.look()
		b.Pass(time.Second)
		for range 250 {
			b.post(0, store.PostFailed)
		}
		b.look()
		b.ahead -= 30 * time.Minute
		for range 90 {
			b.look()
		}
		b.wantTold("250 failures", "⚠️ 101 new alerts")
	})
}

func TestAnAlertIsInTheFileWithTheFailure(t *testing.T) {
	byHand(t, func(b *bench) {
		b.look()
		b.post(0, store.PostFailed)
		b.post(0, store.PostUnknown)
		b.Update(func(tx *store.Tx) error {
			task := store.Task{Status: store.TaskFailed, Total: 8, Sent: 3, EndedAt: tx.Now(), LastError: store.Reason{Code: store.ReasonRefused}}
			login := store.Identity{Name: "main", Platform: "telegram", Kind: store.IdentityBot, State: store.IdentityStopped, Reason: store.Reason{Code: store.ReasonStopped}}
			return errors.Join(tx.Tasks.Put(&task), tx.Identities.Put(&login))
		})
		b.close() // before anybody looks
		b.open()
		about := make(map[string]store.AlertKind)
		for _, a := range b.alerts(store.AlertOpen) {
			about[a.About] = a.Kind
		}
		want := map[string]store.AlertKind{"post_1": store.AlertPostFailed, "post_2": store.AlertPostUnknown, "task_1": store.AlertTaskFailed, "login_1": store.AlertLogin}
		if !maps.Equal(about, want) {
			t.Errorf("open %v", about)
		}
		if wrong, err := b.worker.Wrong(); err != nil || len(wrong) != len(want) {
			t.Errorf("wrong is %+v, %v", wrong, err)
		}
		b.look()
		if told := b.told("admin"); len(told) != len(want) {
			t.Errorf("told %q", told)
		}
		b.look()
		b.wantTold("all is known")
	})
}

func TestAFailureIsToldAtOnceAndThoseAfterItTogether(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.Pass(10*time.Minute + 30*time.Second)
		b.post(0, store.PostFailed)
		b.post(0, store.PostFailed)
		b.Pass(6 * time.Second)
		b.wantTold("two failures", failedPost, "⚠️ Post 2 to @evening_news was not published")
		for range 5 {
			b.Pass(4 * time.Second)
			b.post(0, store.PostFailed)
			b.post(0, store.PostFailed)
		}
		b.wantTold("more fail")
		b.Pass(time.Minute)
		b.wantTold("a minute has passed", "⚠️ 10 new alerts")
	})
}

func TestAFailureThatIsWrittenAgainIsNotToldAgain(t *testing.T) {
	byHand(t, func(b *bench) {
		b.post(0, store.PostFailed)
		b.look()
		b.wantTold("a failure", failedPost)
		b.Update(func(tx *store.Tx) error {
			p, err := tx.Posts.Get(1)
			p.Media = nil
			return errors.Join(err, tx.Posts.Put(&p))
		})
		b.look()
		b.wantTold("nothing new")
	})
}

func TestWhatIsSeenBeforeItIsToldIsNotTold(t *testing.T) {
	byHand(t, func(b *bench) {
		b.post(0, store.PostFailed)
		b.Update(func(tx *store.Tx) error { _, err := b.worker.AcknowledgeAll(tx, "Ann", tx.Now()); return err })
		b.post(0, store.PostFailed)
		b.post(2, store.PostPublished)
		b.look()
		b.wantTold("one was seen, and one is out")
	})
}

func TestAPostFailsAlthoughTheAlertAboutItIsDamaged(t *testing.T) {
	byHand(t, func(b *bench) {
		b.post(0, store.PostFailed)
		b.damage("alerts", 1)
		b.Pass(time.Second)
		b.post(1, store.PostFailed)
		b.look()
		b.wantTold("it has failed again", failedPost)
	})
}
