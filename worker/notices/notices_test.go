package notices

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"pgregory.net/rapid"

	"belfry/i18n"
	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

func failing(kind platform.Kind, scope platform.Scope) *platform.Error {
	return &platform.Error{Kind: kind, Scope: scope, Wait: time.Minute, Err: errors.New("no")}
}

// texts are the notices in messages, without the times of those that were put together.
func texts(messages []string) string {
	text := regexp.MustCompile(`\d\d\.\d\d \d\d:\d\d `).ReplaceAllString(strings.Join(messages, "\n\n"), "")
	return strings.ReplaceAll(text, "\n\n", " ")
}

func TestAfterAnOutageAnswersAndAlertsComeFirstAndTheRestInAFewMessages(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.worker.cfg.Admins = []string{"100"}
		off := failing(platform.Transient, platform.ScopeIdentity)
		b.bot.chats, b.bot.takes = map[string]*platform.Error{"100": off}, 1700*time.Millisecond
		b.start()
		const news = 1150
		var want []string
		for i := range news {
			kind, word := "check_started", "begins"
			if i%2 == 1 {
				kind, word = "check_ended", "ends"
			}
			want = append(want, fmt.Sprint(word, i))
			b.Update(func(tx *store.Tx) error {
				return b.worker.Tell(tx, store.Notice{Kind: kind, Text: fmt.Sprint(word, i)})
			})
			b.Pass(150 * time.Second)
		}
		b.Update(func(tx *store.Tx) error {
			return b.worker.Tell(tx, store.Notice{Kind: "alert_raised", Text: "early", First: true})
		})
		b.Pass(time.Hour)
		b.bot.mu.Lock() // a message is on its way
		b.bot.chats = nil
		b.bot.mu.Unlock()
		b.View(func(tx *store.Tx) error {
			for run := range tx.Runs.All() {
				if run.Result == store.ResultAgain {
					t.Errorf("the history has each attempt of an outage: %+v", run)
					break
				}
			}
			return nil
		})
		b.Pass(15 * time.Second)
		if told := b.bot.told("100"); !slices.Contains(told, "early") {
			t.Errorf("a quarter of a minute after the outage, the chat was told %q of an alert", told)
		}
		before := len(b.bot.told("100")) // a message may be on its way here, too
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.Send(tx, store.Notice{Kind: "answer", Chat: "100", Text: "the answer", First: true})
			return errors.Join(err, b.worker.Tell(tx, store.Notice{Kind: "alert_raised", Text: "an alert", First: true}))
		})
		b.Pass(15 * time.Second)
		if told := b.bot.told("100")[before:]; !slices.Contains(told, "the answer") || !slices.Contains(told, "an alert") {
			t.Errorf("a quarter of a minute after the press, the chat was told %q", told)
		}
		b.Pass(15 * time.Minute)
		told := b.bot.told("100")
		if len(told) > 40 {
			t.Errorf("%d messages after the outage", len(told))
		}
		got := strings.Fields(texts(told))
		for _, word := range want {
			if !slices.Contains(got, word) {
				t.Errorf("the chat was never told %s", word)
			}
		}
		if n := b.waiting(); n != 0 || len(got) != news+len(strings.Fields("early the answer an alert")) {
			t.Errorf("%d notices wait, and the chat has %d words", n, len(got))
		}
	})
}

func TestWhatWaitsIsNotForgottenHoweverMuchItIs(t *testing.T) {
	if testing.Short() {
		t.Skip("20,000 notices")
	}
	inBubble(t, func(b *bench) {
		b.Update(func(tx *store.Tx) error {
			for i := range 20_100 {
				n := store.Notice{Kind: "test", Chat: "100", Key: int64(i) + 1, Text: "news", CreatedAt: tx.Now()}
				if err := tx.Notices.Add(&n); err != nil {
					return err
				}
			}
			_, err := tx.Notices.Get(1)
			return err
		})
	})
}

func TestTheBotOfARestoredFileIsSilentAndTheWebhookIsNot(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.Update(func(tx *store.Tx) error { return tx.Settings.Set(store.Restored, "restored from a backup") })
		b.start()
		b.tell("one")
		b.Update(func(tx *store.Tx) error { return b.worker.TellHook(tx, "test", []byte(`{}`)) })
		b.Pass(4 * 24 * time.Hour)
		if b.bot.calls != 0 || len(b.hook.messages) != 1 {
			t.Errorf("%d calls of the bot, the webhook was told %+v", b.bot.calls, b.hook.messages)
		}
		b.Update(scheduler.ResumeAll)
		b.Pass(time.Second)
		if got := fmt.Sprint(b.bot.told("100")); got != "[one]" {
			t.Errorf("told %s when it was resumed", got)
		}
	})
}

func TestNoticesThatWaitForTheNetworkAreNotOverdue(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.bot.chats = map[string]*platform.Error{"100": failing(platform.Transient, platform.ScopeIdentity)}
		b.start()
		b.tell("one")
		b.Pass(time.Hour)
		b.View(func(tx *store.Tx) error {
			if job, since, found, err := scheduler.Overdue(tx); err != nil || found && time.Since(since) > time.Minute {
				t.Errorf("%s is overdue since %v, %v", job.Name, since, err)
			}
			return nil
		})
	})
}

func TestAWaitThatCannotBeTrueIsOver(t *testing.T) {
	now := time.Now()
	n := store.Notice{FailedAt: now.Add(-time.Minute), NotBefore: now.Add(300 * 24 * time.Hour)}
	if n.Waits(now) {
		t.Error("it waits for 300 days")
	}
	if n.NotBefore = now.Add(maxWait + time.Second); !n.Waits(now) {
		t.Error("it does not wait as long as a network may ask for")
	}
}

func TestNoticesWaitForTheNetworkInTheirOrder(t *testing.T) {
	inBubble(t, func(b *bench) {
		off := fault{err: failing(platform.Transient, platform.ScopeIdentity)}
		lost := fault{err: failing(platform.Unknown, platform.ScopeIdentity), carried: true}
		flood := fault{err: failing(platform.Wait, platform.ScopeIdentity)}
		b.bot.fault(off, lost, flood, off, off, fault{err: lost.err})
		b.start()
		for i := range 5 {
			b.tell(fmt.Sprint(i), "@owner", "100", "")
		}
		b.Pass(15 * time.Minute)
		for _, chat := range []string{"100", "200", "@owner"} {
			if got := fmt.Sprint(b.bot.told(chat)); got != "[0 1 2 3 4]" {
				t.Errorf("%s was told %s", chat, got)
			}
		}
		if n := b.waiting(); n != 0 {
			t.Errorf("%d notices wait", n)
		}
	})
}

func TestANoticeGoesOutWhenTheConnectionIsBack(t *testing.T) {
	inBubble(t, func(b *bench) {
		for range 30 {
			b.bot.fault(fault{err: failing(platform.Transient, platform.ScopeIdentity)})
		}
		b.start()
		b.tell("late")
		b.Pass(time.Hour)
		if len(b.bot.messages) != 0 {
			t.Fatal("nothing has failed")
		}
		b.bot.faults = nil
		b.Update(func(tx *store.Tx) error { return tx.Holds.End(store.ReasonNotConnected) })
		b.Pass(time.Second)
		if len(b.bot.messages) == 0 {
			t.Error("it waits although there is a connection")
		}
	})
}

func TestWhileTheNetworkIsAwayItIsNotCalledForEachNotice(t *testing.T) {
	inBubble(t, func(b *bench) {
		for range 200 {
			b.bot.fault(fault{err: failing(platform.Transient, platform.ScopeIdentity)})
		}
		b.start()
		for i := range 20 {
			b.tell(fmt.Sprint(i))
		}
		b.Pass(time.Hour)
		if b.bot.calls > 30 || len(b.bot.messages) != 0 {
			t.Errorf("%d calls in an hour, %d messages", b.bot.calls, len(b.bot.messages))
		}
	})
}

func TestWhatWaitedWhileTheMachineWasOffIsSentAfterItsStart(t *testing.T) {
	inBubble(t, func(b *bench) {
		for i := range 5 {
			b.tell(fmt.Sprint(i))
		}
		b.Pass(4 * 24 * time.Hour)
		for range 4 { // the network comes after the program
			b.bot.fault(fault{err: failing(platform.Transient, platform.ScopeIdentity)})
		}
		b.start()
		b.Pass(10 * time.Minute)
		if got := texts(b.bot.told("100")); got != "0 1 2 3 4" {
			t.Errorf("told %s", got)
		}

		// One that cannot be sent has an end all the same.
		b.bot.chats = map[string]*platform.Error{"100": failing(platform.Unknown, platform.ScopeChat)}
		b.tell("5")
		b.Pass(3*24*time.Hour + 10*time.Minute)
		if n := b.waiting(); n != 0 {
			t.Errorf("%d wait", n)
		}
	})
}

func TestAChatThatRefusesDoesNotKeepTheOthersFromBeingTold(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.bot.fault(fault{err: failing(platform.Refused, platform.ScopeChat)})
		b.start()
		b.tell("one")
		b.Pass(time.Second)
		b.tell("two")
		b.Pass(time.Second)
		if a, c := fmt.Sprint(b.bot.told("100")), fmt.Sprint(b.bot.told("200")); a != "[two]" || c != "[one two]" {
			t.Errorf("told %s and %s", a, c)
		}
	})
}

// The last notice stands for all that a chat has missed since it got one.
func TestAChatThatGetsNothingIsKnownUntilItGetsSomething(t *testing.T) {
	inBubble(t, func(b *bench) {
		missed := func() (chats []string) {
			b.View(func(tx *store.Tx) error {
				for _, a := range b.worker.missed(tx) {
					n, err := tx.Notices.Get(a.Subject)
					if err != nil {
						return err
					}
					chats = append(chats, fmt.Sprint(n.Chat, " ", n.Text))
				}
				return nil
			})
			return chats
		}
		refused := fault{err: failing(platform.Refused, platform.ScopeChat)}
		want := func(when string, want ...string) {
			t.Helper()
			if got := missed(); !slices.Equal(got, want) {
				t.Errorf("%s, %q are not reached, want %q", when, got, want)
			}
		}
		b.start()
		for _, text := range []string{"one", "two"} {
			b.bot.fault(refused, refused)
			b.tell(text)
			b.Pass(time.Second)
		}
		want("at first", "100 two", "200 two")
		b.bot.fault(refused)
		b.tell("three")
		b.Pass(time.Second)
		want("when one is reached", "100 three")
		other := New(b.DB, Config{Admins: []string{"200"}, Bot: b.bot, Log: zerolog.Nop()})
		b.View(func(tx *store.Tx) error {
			for _, n := range other.missed(tx) {
				t.Errorf("who is no admin is not reached: %+v", n)
			}
			return nil
		})
		b.tell("four")
		b.Pass(time.Second)
		want("at the end")
		b.bot.fault(fault{err: failing(platform.Refused, platform.ScopeContent)})
		b.tell("a text that nobody takes")
		b.Pass(time.Second)
		want("when the text was the mistake")

		b.bot.chats = map[string]*platform.Error{"@typo": failing(platform.Refused, platform.ScopeChat)}
		b.tell("found", "@typo")
		b.Pass(time.Minute)
		want("with an account's chat", "@typo found")
		b.tell("found again", "@right") // it was corrected
		b.Pass(4 * 24 * time.Hour)
		want("days after it was corrected")
	})
}

func TestAChatThatWasAnAdminsIsKnownAsAnAccounts(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.tell("for admins")
		b.worker = New(b.DB, Config{Admins: []string{"100"}, Bot: b.bot, Log: zerolog.Nop()})
		b.start()
		b.Pass(time.Minute)
		b.bot.chats = map[string]*platform.Error{"200": failing(platform.Refused, platform.ScopeChat)}
		missed := func() (chats []string) {
			b.View(func(tx *store.Tx) error {
				for _, a := range b.worker.missed(tx) {
					chats = append(chats, a.About)
				}
				return nil
			})
			return chats
		}
		if got := missed(); len(got) != 0 {
			t.Errorf("who is no admin is not reached: %q", got)
		}
		b.tell("an account of 200's", "200")
		b.Pass(time.Minute)
		if got := fmt.Sprint(missed()); got != "[200]" {
			t.Errorf("%s are not reached", got)
		}
	})
}

// When it is known that a chat gets nothing, what is old is not tried one by one.
func TestAChatThatGetsNothingForDaysIsLeftAlone(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.bot.chats = map[string]*platform.Error{"100": failing(platform.Stopped, platform.ScopeIdentity)}
		b.start()
		for range 40 {
			b.tell("news")
		}
		b.Pass(2 * 24 * time.Hour)
		for day := range 3 {
			before := b.bot.calls
			b.Pass(24 * time.Hour)
			if n := b.bot.calls - before; n > 40 {
				t.Errorf("%d calls on day %d", n, day+3)
			}
		}
		if n := b.waiting(); n != 0 {
			t.Errorf("%d notices wait", n)
		}
		b.bot.chats = nil
		b.tell("at last")
		b.Pass(time.Minute)
		if got := fmt.Sprint(b.bot.told("100")); got != "[at last]" {
			t.Errorf("told %s", got)
		}
	})
}

func TestAChatThatWaitsIsNotCalledForEachNotice(t *testing.T) {
	inBubble(t, func(b *bench) {
		slow := &platform.Error{Kind: platform.Wait, Scope: platform.ScopeChat, Wait: time.Hour, Err: errors.New("slow mode")}
		b.bot.chats = map[string]*platform.Error{"@owner": slow}
		for i := range 50 {
			b.tell(fmt.Sprintf("%02d", i), "@owner")
		}
		b.start()
		b.Pass(50 * time.Minute)
		if told := b.bot.told("100"); len(told) != 50 || b.bot.calls != 101 {
			t.Errorf("%d calls, and an admin was told %d times", b.bot.calls, len(told))
		}
		for n := range 3 {
			job, err := store.Job{}, error(nil)
			b.View(func(tx *store.Tx) error { job, err = tx.Jobs.ByName(fmt.Sprint("notice_", 3*n+3)); return err })
			if until := time.Until(job.Due); until < 9*time.Minute || until > 11*time.Minute || job.Reason.Code != store.ReasonSlowmode {
				t.Errorf("a job waits %v: %+v", until, job.Reason)
			}
		}
		b.Update(func(tx *store.Tx) error { _, err := scheduler.RunNow(tx, "notice_3"); return err })
		b.Pass(time.Second)
		if b.bot.calls != 102 {
			t.Errorf("%d calls after somebody has asked for one", b.bot.calls)
		}
		delete(b.bot.chats, "@owner")
		b.Pass(2 * time.Hour)
		if told := strings.Fields(texts(b.bot.told("@owner"))); len(told) != 50 || !slices.IsSorted(told) {
			t.Errorf("told %q", told)
		}
	})
}

func TestWhateverANetworkAsksForThereIsAPauseAndAnEndToIt(t *testing.T) {
	for _, scope := range []platform.Scope{platform.ScopeChat, platform.ScopeIdentity} {
		for wait, most := range map[time.Duration]int{-2346317 * time.Hour: 12, 0: 12, time.Second: 12, 100 * 365 * 24 * time.Hour: 1} {
			inBubble(t, func(b *bench) {
				b.hook.chats = map[string]*platform.Error{store.WebhookChat: {Kind: platform.Wait, Scope: scope, Wait: wait, Err: errors.New("429")}}
				b.start()
				b.Update(func(tx *store.Tx) error { return b.worker.TellHook(tx, "test", []byte(`{}`)) })
				b.Pass(30 * time.Minute)
				if b.hook.calls > most {
					t.Errorf("%s, a wait of %v: %d calls in half an hour", scope, wait, b.hook.calls)
				}
				b.View(func(tx *store.Tx) error {
					job, err := tx.Jobs.ByName("notice_1")
					if why := i18n.For("en", time.UTC).Say(job.Reason); why != "Trying again: 429" {
						t.Errorf("it waits because %q", why)
					}
					return err
				})
				b.hook.chats = nil
				b.Pass(25 * time.Hour)
				if n := b.waiting(); n != 0 {
					t.Errorf("%s, a wait of %v: it still waits", scope, wait)
				}
			})
		}
	}
}

func TestAChatThatHasBannedTheBotKeepsNobodyWaiting(t *testing.T) {
	inBubble(t, func(b *bench) {
		banned := &platform.Error{Kind: platform.Stopped, Scope: platform.ScopeIdentity, Code: "USER_BANNED_IN_CHANNEL", Err: errors.New("banned")}
		b.bot.chats = map[string]*platform.Error{"-1001": banned}
		b.start()
		b.tell("one", "-1001")
		b.tell("two", "-1001")
		for i := range 100 {
			b.Pass(37 * time.Second)
			b.tell(fmt.Sprint(i))
			b.Pass(time.Second)
			if told := b.bot.told("100"); told[len(told)-1] != fmt.Sprint(i) {
				t.Errorf("after %d notices an admin was told %q", i, told)
				return
			}
		}
		if calls := b.bot.calls - 2*102; calls > 12 {
			t.Errorf("%d calls in an hour to the chat that has banned the bot", calls)
		}
		delete(b.bot.chats, "-1001")
		b.Pass(2 * time.Hour)
		if got := fmt.Sprint(b.bot.told("-1001")); got != "[one two]" {
			t.Errorf("told %s when it was let in again", got)
		}
	})
}

func TestTheWebhookAndFilesKeepNobodyWaiting(t *testing.T) {
	inBubble(t, func(b *bench) {
		for range 20 {
			b.hook.fault(fault{err: failing(platform.Transient, platform.ScopeIdentity)})
		}
		b.start()
		b.Update(func(tx *store.Tx) error {
			if err := b.worker.TellHook(tx, "test", []byte(`{"text":"hello"}`)); err != nil {
				return err
			}
			_, err := b.worker.Send(tx, store.Notice{Kind: "backup", Chat: "100", Text: "the backup", File: "b.age"})
			return err
		})
		b.tell("one")
		b.Pass(time.Second)
		if told := b.bot.told("100"); !slices.Contains(told, "one") || len(b.hook.messages) != 0 {
			t.Errorf("told %q, and the webhook %v", told, b.hook.messages)
		}
		if i := slices.IndexFunc(b.bot.messages, func(m message) bool { return m.file == "b.age" }); i < 0 {
			t.Errorf("no file among %+v", b.bot.messages)
		}
		b.Pass(2 * time.Hour)
		if m := b.hook.messages; len(m) != 1 || m[0].text != `{"text":"hello"}` {
			t.Errorf("the webhook was told %+v", m)
		}
	})
}

func TestALargeFileHasTheTimeThatItTakes(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.bot.rate = 150 << 10
		b.start()
		file := func(mib int64, known bool) {
			b.Update(func(tx *store.Tx) error {
				n := store.Notice{Kind: "backup", Chat: "100", Text: "the backup", File: fmt.Sprint(mib, ".age")}
				if known {
					n.FileSize = mib << 20
				}
				_, err := b.worker.Send(tx, n)
				return err
			})
		}
		file(2000, true)
		file(1, true)
		file(2000, false)
		b.Pass(8 * time.Hour)
		if len(b.bot.messages) != 3 || b.bot.uploads != 3 {
			t.Errorf("%d uploads were begun, and %d files sent", b.bot.uploads, len(b.bot.messages))
		}

		// One that does not get on is begun anew before the largest one would have to be.
		b.bot.rate = 1
		file(1, true)
		b.Pass(time.Minute)
		b.bot.rate = 150 << 10
		b.Pass(15 * time.Minute)
		if len(b.bot.messages) != 4 || b.bot.uploads != 5 {
			t.Errorf("%d uploads were begun, and %d files sent", b.bot.uploads, len(b.bot.messages))
		}
	})
}

func TestAnAnswerTakesThePlaceOfTheMessageWhoseButtonWasPressed(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.start()
		menu := [][]store.Button{{{Text: "Status", Data: "status"}}}
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.Send(tx, store.Notice{Kind: "answer", Chat: "100", Text: "menu", Buttons: menu})
			return err
		})
		b.Pass(time.Second)
		b.bot.fault(fault{err: failing(platform.Unknown, platform.ScopeIdentity), carried: true})
		answer := store.Notice{Kind: "answer", Chat: "100", Text: "all is well", Query: 7, Edit: 1}
		b.Update(func(tx *store.Tx) error { _, err := b.worker.Send(tx, answer); return err })
		b.Pass(time.Minute)
		if m := b.bot.messages; len(m) != 1 || m[0].text != "all is well" || m[0].buttons != 0 || !slices.Contains(b.bot.answered, 7) {
			t.Errorf("messages %+v, answered %v", m, b.bot.answered)
		}

		// A message that cannot be changed any more is followed by another.
		b.bot.uneditable = true
		answer.Text, answer.Query = "said anew", 8
		b.Update(func(tx *store.Tx) error { _, err := b.worker.Send(tx, answer); return err })
		b.Pass(time.Minute)
		if told := b.bot.told("100"); len(told) != 2 || told[1] != "said anew" {
			t.Errorf("told %q", told)
		}
	})
}

func TestAnAnswerThatNobodyWaitsForIsGivenUp(t *testing.T) {
	inBubble(t, func(b *bench) {
		for range 100 {
			b.bot.fault(fault{err: failing(platform.Transient, platform.ScopeIdentity)})
		}
		b.start()
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.Send(tx, store.Notice{Kind: "answer", Chat: "100", Text: "late", Query: 7, Edit: 1})
			return err
		})
		b.Pass(20 * time.Minute)
		if n := b.waiting(); n != 0 {
			t.Errorf("%d wait", n)
		}
	})
}

func TestWhoIsNoAdminAnyMoreIsNotToldWhatWasMeantForOne(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.tell("one", "@owner")
		b.Update(func(tx *store.Tx) error {
			if err := b.worker.Tell(tx, store.Notice{Kind: "account_found", Text: "an account of 200's"}, "200"); err != nil {
				return err
			}
			_, err := b.worker.Send(tx, store.Notice{Kind: "backup", Chat: "200", Text: "the backup", File: "b.age"})
			return err
		})
		b.worker = New(b.DB, Config{Admins: []string{"100"}, Bot: b.bot, Log: zerolog.Nop()})
		b.start()
		b.Update(func(tx *store.Tx) error { // asked for before
			_, err := b.worker.Send(tx, store.Notice{Kind: "answer", Chat: "200", Text: "what runs next"})
			return err
		})
		b.Pass(time.Minute)
		for chat, want := range map[string]string{"100": "[one an account of 200's]", "200": "[an account of 200's]", "@owner": "[one]"} {
			if got := fmt.Sprint(b.bot.told(chat)); got != want {
				t.Errorf("%s was told %s", chat, got)
			}
		}
		if n := b.waiting(); n != 0 {
			t.Errorf("%d notices wait", n)
		}
		b.View(func(tx *store.Tx) error {
			n, err := tx.Notices.Get(2)
			if n.GivenUpAt.IsZero() || n.Reason.Code != store.ReasonRefused || n.Reason.Detail == "" {
				t.Errorf("notice 2 is %+v", n)
			}
			return err
		})
	})
}

func TestWithoutABotNobodyIsTold(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.worker = New(b.DB, Config{Admins: []string{"100"}})
		b.start()
		b.tell("one", "@owner")
		b.Update(func(tx *store.Tx) error { return b.worker.TellHook(tx, "test", []byte("{}")) })
		b.Pass(time.Second)
		if n := b.waiting(); n != 0 {
			t.Errorf("%d notices wait for a bot that is not there", n)
		}
	})
}

func TestEveryNoticeArrivesOnceWhateverHappens(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		inBubble(t, func(b *bench) {
			written := 0
			b.start()
			for range rapid.IntRange(1, 20).Draw(r, "steps") {
				switch rapid.IntRange(0, 4).Draw(r, "step") {
				case 0, 1:
					b.tell(fmt.Sprintf("%03d", written))
					written++
				case 2:
					kind := rapid.SampledFrom([]platform.Kind{platform.Transient, platform.Unknown, platform.Wait}).Draw(r, "kind")
					scope := rapid.SampledFrom([]platform.Scope{platform.ScopeChat, platform.ScopeIdentity}).Draw(r, "scope")
					b.bot.fault(fault{err: failing(kind, scope), carried: kind == platform.Unknown && rapid.Bool().Draw(r, "carried")})
				case 3:
					b.start()
				case 4:
					b.Pass(time.Duration(rapid.IntRange(0, 20_000).Draw(r, "pass")) * time.Millisecond)
				}
			}
			b.Pass(2 * time.Hour)
			for _, chat := range []string{"100", "200"} {
				if told := b.bot.told(chat); len(told) != written || !slices.IsSorted(told) {
					t.Fatalf("%s was told %q of %d", chat, told, written)
				}
			}
		})
		if t.Failed() {
			r.FailNow()
		}
	})
}
