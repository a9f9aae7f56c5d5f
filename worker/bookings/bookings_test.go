package bookings

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"belfry/i18n"
	"belfry/platform"
	"belfry/scheduler"
	"belfry/scheduler/schedulertest"
	"belfry/store"
)

// network is Telegram as bots see it: what was published, by key. A key that is known makes no second message.
type network struct {
	keys  map[int64]int64
	posts []platform.Post
	at    []time.Time
	fail  func() error // asked before a message is published; may be nil
	lose  int          // answers that get lost after the message is out
}

func (n *network) Publish(_ context.Context, p platform.Post) (platform.Receipt, error) {
	if n.fail != nil {
		if err := n.fail(); err != nil {
			return platform.Receipt{}, err
		}
	}
	if n.keys[p.Key] == 0 {
		n.posts, n.at = append(n.posts, p), append(n.at, time.Now())
		n.keys[p.Key] = int64(len(n.posts))
	}
	if n.lose > 0 {
		n.lose--
		return platform.Receipt{}, &platform.Error{Kind: platform.Unknown, Scope: platform.ScopeIdentity, Err: errors.New("no answer")}
	}
	return platform.Receipt{MessageIDs: []int64{n.keys[p.Key]}}, nil
}

// told is what the owner and clients were told.
type told struct{ owner, clients []store.Notice }

func (t *told) Tell(_ *store.Tx, n store.Notice, _ ...string) error {
	t.owner = append(t.owner, n)
	return nil
}

func (t *told) Reply(_ *store.Tx, n store.Notice) error {
	t.clients = append(t.clients, n)
	return nil
}

const (
	anna  = 4001
	other = 4002
)

// bench has a bot, a client who has written to it, and the worker.
type bench struct {
	*schedulertest.Bench
	*network
	*told
	w *Worker
}

func inBubble(t *testing.T, test func(b *bench)) {
	t.Helper()
	schedulertest.InBubble(t, func(s *schedulertest.Bench) {
		b := &bench{s, &network{keys: map[int64]int64{}}, &told{}, nil}
		b.w = New(s.DB, func(uint64) platform.Publisher { return b.network }, b.told, Config{})
		b.Update(func(tx *store.Tx) error {
			bot := store.Identity{Name: "main", Platform: "telegram", Kind: store.IdentityBot, State: store.IdentityReady, Username: "salon_bot"}
			return errors.Join(tx.Identities.Put(&bot), b.met(tx, anna, "anna"), b.met(tx, other, "other"))
		})
		b.Start(b.w.Module())
		test(b)
	})
}

func (b *bench) met(tx *store.Tx, id int64, name string) error {
	return tx.Peers.Put(&store.Peer{IdentityID: 1, Type: store.PeerUser, PeerID: id, Username: name, Wrote: true})
}

// in is a time so far ahead, as a request has it.
func in(d time.Duration) string { return time.Now().Add(d).UTC().Format(time.RFC3339) }

func (b *bench) book(r Request) (made store.Booking) {
	b.T.Helper()
	if r.Client == "" {
		r.Client = "@anna"
	}
	if r.Service == "" {
		r.Service = "Haircut"
	}
	b.Update(func(tx *store.Tx) (err error) {
		made, err = b.w.Create(tx, r)
		return err
	})
	return made
}

func (b *bench) get(id uint64) (row store.Booking) {
	b.T.Helper()
	b.View(func(tx *store.Tx) (err error) {
		row, err = tx.Bookings.Get(id)
		return err
	})
	return row
}

func (b *bench) change(id uint64, change func(*Request)) (err error) {
	_ = b.DB.Update(func(tx *store.Tx) error {
		_, err = b.w.Change(tx, id, change)
		return err
	})
	return err
}

func (b *bench) hear(h platform.Heard) (handled bool) {
	b.T.Helper()
	h.IdentityID = 1
	b.Update(func(tx *store.Tx) (err error) {
		handled, err = b.w.HandleUpdate(tx, h)
		return err
	})
	return handled
}

// press presses a button under a message, by its place.
func (b *bench) press(from int64, message, button int) bool {
	b.T.Helper()
	p := b.posts[message]
	return b.hear(platform.Heard{From: from, QueryID: 7, MessageID: int64(message + 1), Data: p.Buttons[0][button].Data})
}

// states are what became of the reminders, the earliest first.
func states(b store.Booking) (all []string) {
	for _, r := range b.Reminders {
		text := string(r.State)
		if !r.Reason.Zero() {
			text += " " + string(r.Reason.Code)
		}
		all = append(all, text)
	}
	return all
}

func (b *bench) wantStates(id uint64, want ...string) {
	b.T.Helper()
	if got := states(b.get(id)); strings.Join(got, ", ") != strings.Join(want, ", ") {
		b.T.Errorf("reminders are %q, not %q", got, want)
	}
}

func (b *bench) wantSent(n int) {
	b.T.Helper()
	if len(b.posts) != n {
		b.T.Fatalf("%d messages, not %d: %+v", len(b.posts), n, b.posts)
	}
}

func (b *bench) jobs() (names []string) {
	b.View(func(tx *store.Tx) error {
		for job := range tx.Jobs.All() {
			if job.Subject != 0 {
				names = append(names, job.Name)
			}
		}
		return nil
	})
	return names
}

func TestAClientIsRemindedAskedAndAnswers(t *testing.T) {
	inBubble(t, func(b *bench) {
		made := b.book(Request{Start: in(48 * time.Hour)})
		if len(b.owner) != 0 {
			t.Errorf("the owner was told of a client whom the bot knows: %+v", b.owner)
		}
		if got := fmt.Sprint(b.jobs()); got != "[reminder_1 feedback_1]" {
			t.Errorf("jobs %s", got)
		}
		b.Pass(24*time.Hour + time.Second)
		b.wantSent(1)
		if p := b.posts[0]; p.Target != strconv.Itoa(anna) || !strings.Contains(p.Text, "Haircut") || len(p.Buttons[0]) != 2 {
			t.Errorf("reminder %+v", p)
		}
		if !b.press(anna, 0, 0) || b.get(made.ID).Status != store.BookingConfirmed {
			t.Errorf("after the press: %+v", b.get(made.ID))
		}
		b.Pass(23 * time.Hour) // a confirmed one is still reminded
		b.wantSent(3)
		b.wantStates(made.ID, "sent", "sent", "sent")
		if got := fmt.Sprint(b.jobs()); got != "[feedback_1]" {
			t.Errorf("jobs %s", got)
		}
		b.Pass(4 * time.Hour)
		b.wantSent(4)
		for range 2 {
			if !b.press(anna, 3, 3) {
				t.Error("the answer is not taken")
			}
		}
		if row := b.get(made.ID); row.Status != store.BookingDone || row.Feedback.Rating != 4 || row.Feedback.State != store.MessageSent {
			t.Errorf("at the end: %+v", row)
		}
		if len(b.jobs()) != 0 {
			t.Errorf("jobs are left: %q", b.jobs())
		}
	})
}

func TestOnlyTheBookingsOwnClientIsHeard(t *testing.T) {
	inBubble(t, func(b *bench) {
		made := b.book(Request{Start: in(30 * time.Hour)})
		b.Pass(7 * time.Hour)
		b.wantSent(1)
		b.press(other, 0, 1)
		yes := b.posts[0].Buttons[0][0].Data
		for _, wrong := range []string{"booking/1/x/0/yes", "booking/1", "booking/99/x/0/yes", strings.Replace(yes, made.Code, "AAAA", 1)} {
			b.hear(platform.Heard{From: anna, QueryID: 3, Data: wrong})
		}
		if row := b.get(made.ID); row.Status != store.BookingBooked || len(b.clients) != 0 {
			t.Errorf("strangers and wrong codes count: %+v, %+v", row, b.clients)
		}
		for _, text := range []string{"/start", "hello", "/start x", "/start b1_WRONG"} {
			if b.hear(platform.Heard{From: other, Text: text}) {
				t.Errorf("%q of a stranger is taken", text)
			}
		}
		b.press(anna, 0, 1)
		b.press(anna, 0, 1)
		row := b.get(made.ID)
		if row.Status != store.BookingCancelled || !row.ByClient || row.Sequence != 1 || len(b.owner) != 1 || len(b.jobs()) != 0 {
			t.Errorf("after the cancel: %+v, owner %+v, jobs %q", row, b.owner, b.jobs())
		}
		b.Pass(48 * time.Hour)
		b.wantSent(1)
	})
}

// Who cancels late must not read the same as who has never cancelled.
func TestAPressAfterTheStartSaysThatItChangesNothing(t *testing.T) {
	inBubble(t, func(b *bench) {
		made := b.book(Request{Start: in(2 * time.Hour), Reminders: []string{"1h"}})
		b.Pass(2*time.Hour + time.Minute)
		b.press(anna, 0, 1)
		row := b.get(made.ID)
		if said := b.clients[0]; row.Status != store.BookingBooked || !strings.Contains(said.Text, "has begun") || !strings.Contains(said.Text, "Haircut") || len(said.Buttons) != 0 {
			t.Errorf("%s, the client reads %+v", row.Status, said)
		}
	})
}

func TestAMovedBookingHasNewReminders(t *testing.T) {
	inBubble(t, func(b *bench) {
		made := b.book(Request{Start: in(25 * time.Hour), Reminders: []string{"24h"}})
		b.Pass(2 * time.Hour)
		b.press(anna, 0, 0)
		if err := b.change(made.ID, func(r *Request) { r.Start = in(50 * time.Hour) }); err != nil {
			t.Fatal(err)
		}
		if row := b.get(made.ID); row.Status != store.BookingBooked || row.Moves != 1 {
			t.Errorf("after the move: %+v", row)
		}
		b.press(anna, 0, 1) // under the reminder of the old start
		if row := b.get(made.ID); row.Status != store.BookingBooked || !strings.Contains(b.clients[1].Text, "Your booking") {
			t.Errorf("a button of the old start counts: %+v, %+v", row, b.clients)
		}
		b.Pass(27 * time.Hour)
		b.wantSent(2)
		odd := b.book(Request{Start: time.Now().Add(30*time.Hour + 123*time.Millisecond).UTC().Format(time.RFC3339Nano)})
		if err := b.change(odd.ID, func(r *Request) { r.Note = "blue" }); err != nil || b.get(odd.ID).Moves != 0 {
			t.Errorf("a note moves it: %+v, %v", b.get(odd.ID), err)
		}
		if err := b.change(made.ID, func(r *Request) { r.Zone = "Asia/Tokyo" }); err != nil {
			t.Fatal(err)
		}
		if row := b.get(made.ID); row.Moves != 1 || row.Reminders[0].State != store.MessageSent {
			t.Errorf("another zone moves it: %+v", row)
		}
	})
}

func TestWhatIsNotSentSaysWhy(t *testing.T) {
	inBubble(t, func(b *bench) {
		stranger := b.book(Request{Client: "@maria", Start: in(26 * time.Hour), Reminders: []string{"24h", "2h"}})
		if len(b.owner) != 1 || !strings.Contains(b.owner[0].Text, "https://t.me/salon_bot?start=b1_"+stranger.Code) {
			t.Errorf("the owner was told %+v", b.owner)
		}
		soon := b.book(Request{Start: in(90 * time.Minute)})
		b.Pass(3 * time.Hour)
		b.wantStates(stranger.ID, "dropped no_chat", "waiting")
		b.wantStates(soon.ID, "dropped no_time", "dropped no_time", "sent")
		b.Update(func(tx *store.Tx) error { return b.met(tx, 4003, "Maria") })
		if !b.hear(platform.Heard{From: 4003, Text: "/start b1_" + stranger.Code}) || len(b.clients) != 1 {
			t.Errorf("the link is not answered: %+v", b.clients)
		}
		late := b.book(Request{Start: in(30 * time.Hour)})
		b.Stop()
		b.Pass(28*time.Hour + 30*time.Minute)
		b.Start(b.w.Module())
		b.Pass(time.Minute)
		b.wantStates(stranger.ID, "dropped no_chat", "dropped started")
		b.wantStates(late.ID, "dropped later_one", "sent", "waiting")
	})
}

func TestQuietHoursMoveReminders(t *testing.T) {
	inBubble(t, func(b *bench) { // it is midnight in UTC
		b.Update(func(tx *store.Tx) error {
			s, err := b.w.Settings(tx)
			s.QuietFrom, s.QuietTo = "22:00", "08:00"
			return errors.Join(err, b.w.SetSettings(tx, s))
		})
		start := time.Now().Add(33 * time.Hour) // at 9
		r := func(start time.Time, before ...string) Request {
			return Request{Start: start.UTC().Format(time.RFC3339), Reminders: before}
		}
		morning := b.book(r(start, "24h", "2h"))           // at 9 the day before, and at 7: before 22
		today := b.book(r(start.Add(-24*time.Hour), "2h")) // at 7, in the night that is
		early := b.book(r(start.Add(-26*time.Hour), "1h")) // starts at 7 of this night
		for id, want := range map[uint64]string{morning.ID: "[9:00 21:59]", today.ID: "[8:00]"} {
			var got []string
			for _, reminder := range b.get(id).Reminders {
				got = append(got, reminder.At.Format("3:04"))
				if reminder.At.Hour() > 12 {
					got[len(got)-1] = reminder.At.Format("15:04")
				}
			}
			if fmt.Sprint(got) != want {
				t.Errorf("reminders of %d at %v, not %s", id, got, want)
			}
		}
		b.wantStates(early.ID, "dropped quiet_hours")
		b.Pass(40 * time.Hour)
		for _, at := range b.at {
			if at.UTC().Hour() < 8 || at.UTC().Hour() >= 22 {
				t.Errorf("a message at %v", at.UTC())
			}
		}
	})
}

func TestQuietHoursThatAreSetLaterHoldForBookingsThatAreThere(t *testing.T) {
	inBubble(t, func(b *bench) { // it is midnight in UTC
		quiet := func(from, to string) {
			b.Update(func(tx *store.Tx) error {
				s, err := b.w.Settings(tx)
				s.QuietFrom, s.QuietTo = from, to
				return errors.Join(err, b.w.SetSettings(tx, s))
			})
		}
		early := b.book(Request{Start: in(31 * time.Hour), Reminders: []string{"2h"}}) // at 5, and starts at 7
		soon := b.book(Request{Start: in(6 * time.Hour), Reminders: []string{"2h"}})   // at 4, and starts at 6
		b.Pass(10 * time.Second)
		quiet("22:00", "08:00")
		if at := b.get(early.ID).Reminders[0].At; at.Hour() != 21 {
			t.Errorf("the reminder for 7 comes at %v", at)
		}
		b.wantStates(soon.ID, "dropped quiet_hours")
		quiet("10:00", "12:00") // what was set was wrong
		b.wantStates(soon.ID, "waiting")
		b.Pass(30 * time.Hour)
		var got []string
		for _, at := range b.at {
			got = append(got, at.UTC().Format("2 15:04"))
		}
		if want := "[1 04:00 1 08:00 2 05:00]"; fmt.Sprint(got) != want {
			t.Errorf("messages at %v, not %s", got, want)
		}
	})
}

func TestAMessageArrivesOnceWhateverTheNetworkAnswers(t *testing.T) {
	inBubble(t, func(b *bench) {
		made := b.book(Request{Start: in(26 * time.Hour)})
		b.lose = 2
		flood := 2
		b.fail = func() error {
			if flood--; flood >= 0 {
				return &platform.Error{Kind: platform.Wait, Scope: platform.ScopeIdentity, Wait: time.Minute, Err: errors.New("FLOOD_WAIT")}
			}
			return nil
		}
		b.Pass(time.Hour)
		b.Pass(30 * time.Hour)
		b.wantSent(4)
		b.wantStates(made.ID, "sent", "sent", "sent")
		blocked := b.book(Request{Start: in(26 * time.Hour), Reminders: []string{"2h"}, Feedback: "off"})
		b.fail = func() error {
			return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Err: errors.New("USER_IS_BLOCKED")}
		}
		b.Pass(30 * time.Hour)
		b.wantStates(blocked.ID, "failed refused")
		b.View(func(tx *store.Tx) error {
			if _, err := tx.Alerts.Standing(store.AlertBooking, "reminder_2"); err != nil {
				t.Error(err)
			}
			return nil
		})
		if row := b.get(blocked.ID); row.Status != store.BookingDone {
			t.Errorf("without a question it is %s at its end", row.Status)
		}
	})
}

func TestBulkIsAllOrNothingAndNamesTheField(t *testing.T) {
	inBubble(t, func(b *bench) {
		good := Request{Client: "@anna", Service: "Haircut", Start: in(30 * time.Hour)}
		bad := good
		bad.Start = "2026-13-01T00:00"
		err := b.DB.Update(func(tx *store.Tx) error {
			_, err := b.w.CreateAll(tx, []Request{good, good, good, bad})
			return err
		})
		if wrong, ok := errors.AsType[*store.FieldError](err); !ok || wrong.Field != "items[3].start" || len(b.jobs()) != 0 {
			t.Errorf("%v, jobs %q", err, b.jobs())
		}
		b.Update(func(tx *store.Tx) error {
			made, err := b.w.CreateAll(tx, []Request{good, good, {Client: "@maria", Service: "x", Start: in(31 * time.Hour)}, {Client: "7", Service: "y", Start: in(99 * time.Hour)}})
			if got := fmt.Sprint(Overlaps(tx, made)); got != "map[1:[2] 2:[1]]" {
				t.Errorf("overlaps %s", got)
			}
			return err
		})
		if len(b.owner) != 1 || len(b.jobs()) != 8 {
			t.Errorf("the owner was told %+v; jobs %q", b.owner, b.jobs())
		}
	})
}

func TestDigestsTellTheOwnerOnceTheyAreSwitchedOn(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.book(Request{Start: in(30 * time.Hour), Reminders: []string{}})
		b.Pass(12 * time.Hour)
		if len(b.owner) != 0 {
			t.Errorf("they are paused, and say %+v", b.owner)
		}
		b.Update(func(tx *store.Tx) error {
			_, err := scheduler.Resume(tx, "reminder_24h")
			return err
		})
		b.Start(b.w.Module()) // another process keeps it so
		b.Pass(24 * time.Hour)
		if len(b.owner) != 1 || !strings.Contains(b.owner[0].Text, "Haircut") {
			t.Errorf("the owner was told %+v", b.owner)
		}
	})
}

func TestTheDailyDigestNamesEachBookingAlsoWhereADayHas25Hours(t *testing.T) {
	sydney, err := time.LoadLocation("Australia/Sydney")
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, func(b *bench) { // from 2000-01-01 on; the clock is set back on 2000-03-26
		if err := b.w.SetLocale("en", sydney); err != nil {
			t.Fatal(err)
		}
		b.Update(func(tx *store.Tx) error {
			_, err := scheduler.Resume(tx, "reminder_24h")
			return err
		})
		begins := time.Date(2000, 3, 26, 9, 30, 0, 0, sydney)
		b.book(Request{Start: begins.Format(time.RFC3339), Reminders: []string{}, Feedback: "off"})
		b.Pass(time.Until(begins))
		if len(b.owner) != 1 || !strings.Contains(b.owner[0].Text, "Haircut") {
			t.Errorf("before a booking in the 25th hour the owner was told %+v", b.owner)
		}
	})
}

func TestTheDailyDigestFollowsTheZoneThatItsOwnerChooses(t *testing.T) {
	tokyo, err := time.LoadLocation("Asia/Tokyo")
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, func(b *bench) {
		if err := b.w.SetLocale("en", tokyo); err != nil {
			t.Fatal(err)
		}
		b.View(func(tx *store.Tx) error {
			job, err := tx.Jobs.ByName("reminder_24h")
			if at := job.Due.In(tokyo).Format("15:04"); at != "10:00" || job.State != store.JobPaused {
				t.Errorf("it is %s, and comes at %s by the owner's clock", job.State, at)
			}
			return err
		})
	})
}

func TestAClientReadsTheExactDuration(t *testing.T) {
	for d, want := range map[time.Duration]string{time.Hour: "1 hour", 90 * time.Minute: "1 hour 30 minutes"} {
		if got := fill(i18n.For("en", time.UTC), "{duration}", store.Booking{Duration: d}); got != want {
			t.Errorf("%v is %q", d, got)
		}
	}
}

// What stands in a chat is read on another day than it was written on.
func TestMessagesNameTheDayAndNotTomorrow(t *testing.T) {
	inBubble(t, func(b *bench) {
		start := in(26 * time.Hour) // on 2 January
		b.book(Request{Start: start, Reminders: []string{"24h"}, Feedback: "off"})
		b.Pass(3 * time.Hour)
		b.wantSent(1)
		b.press(anna, 0, 0)
		b.book(Request{Client: "@stranger", Start: start, Reminders: []string{}, Feedback: "off"})
		for _, text := range []string{b.posts[0].Text, b.clients[0].Text, b.owner[0].Text} {
			if !strings.Contains(text, "2 Jan") {
				t.Errorf("it says %q", text)
			}
		}
	})
}

func TestALocalTimeThatTheClockSkipsOrShowsTwiceIsRefused(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		"2027-03-28T02:30":          "start: invalid.booking_gap 2027-03-28T02:30 Europe/Berlin 2027-03-28T01:30:00+01:00 2027-03-28T03:30:00+02:00",
		"2027-10-31T02:30":          "start: invalid.booking_twice 2027-10-31T02:30 Europe/Berlin 2027-10-31T02:30:00+02:00 2027-10-31T02:30:00+01:00",
		"2027-10-31T02:30:00+01:00": "2027-10-31T01:30:00Z",
		"2027-10-31T03:00":          "2027-10-31T02:00:00Z",
		"2027-03-28T01:59":          "2027-03-28T00:59:00Z",
		"2027-03-28T03:00":          "2027-03-28T01:00:00Z",
		"2027-07-01 12:00":          "2027-07-01T10:00:00Z",
	} {
		at, err := localTime("start", text, berlin)
		got := at.UTC().Format(time.RFC3339)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, not %s", text, got, want)
		}
	}
}

func TestAPhoneNumberIsNoClient(t *testing.T) {
	inBubble(t, func(b *bench) {
		for _, client := range []string{"+79991234567", "+7 999 123-45-67", "https://t.me/+79991234567"} {
			err := b.DB.Update(func(tx *store.Tx) error {
				_, err := b.w.Create(tx, Request{Client: client, Service: "Haircut", Start: in(time.Hour)})
				return err
			})
			if wrong, ok := errors.AsType[*store.FieldError](err); !ok || wrong.Field != "client" {
				t.Errorf("%s: %v", client, err)
			}
		}
	})
}

func TestAnOffsetOfADayIsRefused(t *testing.T) {
	if at, err := localTime("start", "2027-03-01T12:00:00+24:00", time.UTC); err == nil {
		t.Errorf("it is taken as %v", at)
	}
}

func TestAReminderThatIsDueAndWaitsSurvivesAChange(t *testing.T) {
	for _, edit := range []bool{false, true} {
		inBubble(t, func(b *bench) {
			up := time.Now().Add(3*time.Hour + 6*time.Minute)
			b.fail = func() error {
				if time.Now().After(up) {
					return nil
				}
				return &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: errors.New("down")}
			}
			made := b.book(Request{Start: in(5 * time.Hour), Reminders: []string{"2h"}, Duration: "1h"})
			time.Sleep(3*time.Hour + 5*time.Minute)
			if edit {
				if err := b.change(made.ID, func(r *Request) { r.Duration = "90m" }); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(11 * time.Minute)
			if row := b.get(made.ID); len(b.posts) != 1 {
				t.Errorf("changed %v: not reminded: %s %+v", edit, row.Reminders[0].State, row.Reminders[0].Reason)
			}
		})
	}
}

func TestABookingDoesNotStartAtTheZeroTime(t *testing.T) {
	inBubble(t, func(b *bench) {
		err := b.DB.Update(func(tx *store.Tx) error {
			_, err := b.w.Create(tx, Request{Client: "@anna", Service: "Haircut", Start: "0001-01-01T00:00:00Z"}) // as of programs that leave it empty
			return err
		})
		if wrong, ok := errors.AsType[*store.FieldError](err); !ok || wrong.Field != "start" || len(b.jobs()) != 0 {
			t.Errorf("%v, jobs %q", err, b.jobs())
		}
	})
}
