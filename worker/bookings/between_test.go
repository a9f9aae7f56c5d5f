package bookings

import (
	"errors"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
)

func TestAReminderDoesNotWaitForTheBotThatTheBookingHadBefore(t *testing.T) {
	inBubble(t, func(b *bench) {
		var second uint64
		b.Update(func(tx *store.Tx) error {
			bot := store.Identity{Name: "second", Platform: "telegram", Kind: store.IdentityBot, State: store.IdentityReady, Username: "second_bot"}
			err := tx.Identities.Put(&bot)
			second = bot.ID
			return errors.Join(err, tx.Peers.Put(&store.Peer{IdentityID: second, Type: store.PeerUser, PeerID: anna, Username: "anna", Wrote: true}))
		})
		b.fail = func() error {
			b.fail = nil // the other bot may send
			return &platform.Error{Kind: platform.Wait, Scope: platform.ScopeIdentity, Wait: 4 * time.Hour, Err: errors.New("FLOOD_WAIT")}
		}
		made := b.book(Request{Start: in(5 * time.Hour), Reminders: []string{"2h"}})
		b.Pass(3*time.Hour + time.Minute) // it is due, and its bot has to wait beyond the start
		if err := b.change(made.ID, func(r *Request) { r.IdentityID = second }); err != nil {
			t.Fatal(err)
		}
		b.Pass(10 * time.Minute)
		if row := b.get(made.ID); len(b.posts) != 1 {
			b.View(func(tx *store.Tx) error {
				job, err := tx.Jobs.ByName(row.ReminderName())
				t.Errorf("given to another bot, it is %s %q ten minutes later; lane %s, the next run is in %s, the start in %s", row.Reminders[0].State, row.Reminders[0].Reason.Code, job.Lane, time.Until(job.Due), time.Until(row.Start))
				return err
			})
		}
		b.Pass(3 * time.Hour)
		if row := b.get(made.ID); len(b.posts) == 0 {
			t.Errorf("the client was never reminded: %s %q", row.Reminders[0].State, row.Reminders[0].Reason.Code)
		}
	})
}

func TestAnotherClientHasNotConfirmed(t *testing.T) {
	inBubble(t, func(b *bench) {
		made := b.book(Request{Start: in(5 * time.Hour), Reminders: []string{"4h", "1h"}})
		b.Pass(61 * time.Minute)
		b.press(anna, 0, 0)
		if row := b.get(made.ID); row.Status != store.BookingConfirmed {
			t.Fatal(row.Status)
		}
		if err := b.change(made.ID, func(r *Request) { r.Client = "@other" }); err != nil {
			t.Fatal(err)
		}
		if row := b.get(made.ID); row.Status == store.BookingConfirmed {
			t.Errorf("the booking is %s's now, who has confirmed nothing, and is %s", row.Client, row.Status)
		}
		b.Pass(3 * time.Hour)
		if p := b.posts[len(b.posts)-1]; len(p.Buttons) > 0 && len(p.Buttons[0]) < 2 {
			t.Errorf("%s is not offered to confirm", p.Target)
		}
	})
}

func TestABookingThatIsMovedAndConfirmedAtOnceIsConfirmed(t *testing.T) {
	inBubble(t, func(b *bench) {
		made := b.book(Request{Start: in(5 * time.Hour)})
		for n := range 2 { // the second time it is confirmed already
			err := b.change(made.ID, func(r *Request) { r.Start, r.Status = in(time.Duration(6+n)*time.Hour), "confirmed" })
			if row := b.get(made.ID); err != nil || row.Status != store.BookingConfirmed || row.Moves != n+1 {
				t.Errorf("it is %s, %v", row.Status, err)
			}
		}
	})
}
