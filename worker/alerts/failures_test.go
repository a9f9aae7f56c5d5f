package alerts

import (
	"errors"
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
			return errors.Join(b.worker.look(tx, sight{disk: &b.disk}), undone)
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
			return errors.Join(b.worker.look(tx, sight{disk: &b.disk}), undone)
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}
		b.look()
		b.look()
		b.wantTold("nothing new is wrong")
	})
}

func TestFailuresAreToldAlthoughTheFileCannotSayWhenTheLastLookWas(t *testing.T) {
	byHand(t, func(b *bench) {
		b.look()
		b.damage("settings", 1)
		b.look()
		b.Pass(time.Second)
		b.post(0, store.PostFailed)
		b.look()
		b.look()
		b.wantTold("a failure", failedPost)
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
		b.wantTold("250 failures, of which 150 were counted twice", "⚠️ 101 new alerts", "⚠️ 101 new alerts")
	})
}
