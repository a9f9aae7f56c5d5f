package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"belfry/platform"
	"belfry/store"
)

func seconds(n float64) *time.Duration {
	d := time.Duration(n * float64(time.Second))
	return &d
}

func TestATaskSendsToOneChatAfterTheOther(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		task := b.create(Request{Targets: names(10)})
		if task.Status != store.TaskPending || task.Total != 10 {
			t.Fatalf("made as %+v", task)
		}
		b.Pass(10 * time.Minute)
		task = b.task(task.ID)
		if task.Status != store.TaskDone || task.Sent != 10 || task.Attempts != 1 || task.EndedAt.IsZero() {
			t.Errorf("ended as %+v", task)
		}
		for i, d := range b.deliveries(task) {
			if d.Status != store.DeliverySent || d.Link == "" || d.SentAt.IsZero() || len(d.Tries) != 1 || d.Tries[0].Outcome != store.TrySent {
				t.Errorf("delivery %d: %+v", i, d)
			}
		}
		gaps := b.gaps(b.account)
		if least, most := slices.Min(gaps), slices.Max(gaps); least < 20*time.Second || most > 41*time.Second || least == most {
			t.Errorf("pauses from %v to %v", least, most)
		}
	})
}

func TestTasksOfAnAccountTakeTurns(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for range 3 {
			b.create(Request{Text: fmt.Sprint("task ", len(b.net.sent())), Targets: names(20), MinPause: seconds(10), MaxPause: seconds(12)})
		}
		b.Pass(2 * time.Minute)
		b.View(func(tx *store.Tx) error {
			var counts []int
			for task := range tx.Tasks.Active(b.account) {
				counts = append(counts, task.Sent)
			}
			if len(counts) != 3 || slices.Max(counts)-slices.Min(counts) > 2 || slices.Min(counts) < 3 {
				t.Errorf("after two minutes they have sent %v", counts)
			}
			return nil
		})
		b.untilEnded()
		if n := len(b.net.sent()); n != 60 {
			t.Errorf("%d messages", n)
		}
		if least := slices.Min(b.gaps(b.account)); least < 10*time.Second {
			t.Errorf("a pause of %v", least)
		}
	})
}

func TestAccountsDoNotWaitForEachOther(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		other := b.addAccount("other")
		b.net.fault(waits(platform.ScopeIdentity, time.Hour))
		b.create(Request{Targets: names(5)})
		b.create(Request{Targets: names(5), IdentityID: other})
		b.Pass(10 * time.Minute)
		if n := len(b.net.sent()); n != 5 {
			t.Errorf("%d messages, want the 5 of the account that need not wait", n)
		}
		b.untilEnded()
	})
}

func TestAFloodWaitHoldsTheAccountAcrossARestart(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		task := b.create(Request{Targets: names(3)})
		second := b.create(Request{Targets: names(3), Text: "second"})
		b.Pass(time.Second) // one was sent
		b.net.fault(waits(platform.ScopeIdentity, 2*time.Hour))
		b.Pass(time.Minute)
		b.start()
		b.Pass(time.Hour)
		if n := len(b.net.sent()); n != 1 {
			t.Fatalf("%d messages while the account has to wait", n)
		}
		b.View(func(tx *store.Tx) error {
			for _, of := range []store.Task{b.task(task.ID), b.task(second.ID)} {
				p, err := b.worker.ProgressOf(tx, of)
				if err != nil || p.Why.Code != store.ReasonFlood || time.Until(p.At) < 30*time.Minute {
					t.Errorf("progress %+v, %v", p, err)
				}
			}
			return nil
		})
		b.untilEnded()
		if n := len(b.net.sent()); n != 6 {
			t.Errorf("%d messages", n)
		}
	})
}

func TestSlowModeHoldsOneChatAlone(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.slowmode[2] = time.Hour
		b.create(Request{Targets: []string{"@chat_2"}, Text: "before"})
		b.Pass(time.Minute)
		task := b.create(Request{Targets: names(4)})
		b.Pass(10 * time.Minute)
		if task = b.task(task.ID); task.Sent != 3 || task.Status != store.TaskProcessing {
			t.Errorf("after ten minutes: %+v", task)
		}
		b.View(func(tx *store.Tx) error {
			p, err := b.worker.ProgressOf(tx, task)
			if err != nil || p.Next.Target != "@chat_2" || p.Why.Code != store.ReasonSlowmode {
				t.Errorf("progress %+v, %v", p, err)
			}
			return nil
		})
		b.Pass(time.Hour)
		if task = b.task(task.ID); task.Sent != 4 || task.Status != store.TaskDone {
			t.Errorf("in the end: %+v", task)
		}
	})
}

func TestAChatThatRefusesIsSkipped(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.refuse[2] = refusal()
		task := b.create(Request{Targets: append(names(3), "@nobody_here")})
		b.untilEnded()
		task = b.task(task.ID)
		if task.Status != store.TaskDone || task.Sent != 2 || task.Skipped != 2 || task.LastError.Zero() {
			t.Errorf("ended as %+v", task)
		}
		for _, i := range []int{1, 3} {
			if d := b.deliveries(task)[i]; d.Status != store.DeliverySkipped || d.Reason.Code != store.ReasonRefused || len(d.Tries) != 1 {
				t.Errorf("delivery %+v", d)
			}
		}

		b.net.refuse = map[int64]*platform.Error{} // the owner has joined the chat
		b.act(task.ID, (*Worker).Retry)
		b.untilEnded()
		if task = b.task(task.ID); task.Sent != 3 || task.Skipped != 1 || task.Status != store.TaskDone {
			t.Errorf("after another try: %+v", task)
		}
	})
}

func TestATaskThatReachesNobodyHasFailed(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.refuse[1] = refusal()
		task := b.create(Request{Targets: names(1)})
		b.untilEnded()
		if task = b.task(task.ID); task.Status != store.TaskFailed || task.LastError.Code != store.ReasonNobody {
			t.Errorf("ended as %+v", task)
		}
		b.View(func(tx *store.Tx) error {
			a, err := tx.Alerts.Standing(store.AlertTaskFailed, task.JobName())
			if a.Subject != task.ID || a.Reason.Code != store.ReasonNobody || a.Limit != 1 {
				t.Errorf("alert %+v", a)
			}
			return err
		})
	})
}

func TestWrongContentStopsTheTask(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.fault(fault{}, fault{err: &platform.Error{Kind: platform.Refused, Scope: platform.ScopeContent, Code: "MEDIA_INVALID", Err: errors.New("the media are wrong")}})
		task := b.create(Request{Targets: names(5)})
		b.untilEnded()
		task = b.task(task.ID)
		if task.Status != store.TaskFailed || task.Sent > 1 || len(b.net.calls) > 2 {
			t.Errorf("ended as %+v after %d calls", task, len(b.net.calls))
		}
	})
}

func TestARestrictedAccountSendsNothingMore(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.fault(fault{}, fault{err: &platform.Error{Kind: platform.Stopped, Scope: platform.ScopeIdentity, Code: "PEER_FLOOD", Err: errors.New("restricted")}})
		b.create(Request{Targets: names(5)})
		b.create(Request{Targets: names(5), Text: "second"})
		b.Pass(24 * time.Hour)
		if n := len(b.net.calls); n > 2 {
			t.Errorf("%d calls", n)
		}
		b.Update(func(tx *store.Tx) error {
			i, err := tx.Identities.Get(b.account)
			if i.State != store.IdentityStopped || i.Reason.Code != store.ReasonStopped {
				t.Errorf("identity %+v", i)
			}
			i.State = store.IdentityReady // the restriction was lifted
			return errors.Join(err, tx.Identities.Put(&i))
		})
		b.untilEnded()
		if n := len(b.net.sent()); n != 10 {
			t.Errorf("%d messages in the end", n)
		}
	})
}

func TestNothingIsSentInQuietHours(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Moscow")
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, Config{Zone: zone}, func(b *bench) {
		b.create(Request{Targets: names(100), QuietFrom: "22:00", QuietTo: "08:00", MinPause: seconds(1000), MaxPause: seconds(1500)})
		b.untilEnded()
		all := b.net.sent()
		for _, m := range all {
			if hour := m.at.In(zone).Hour(); hour >= 22 || hour < 8 {
				t.Errorf("sent at %v", m.at.In(zone))
			}
		}
		if len(all) != 100 {
			t.Errorf("%d messages", len(all))
		}
	})
}

// The owner corrects the zone while a broadcast is under way: its quiet hours are those that the page shows.
func TestQuietHoursFollowTheZoneThatTheOwnerChooses(t *testing.T) {
	moscow, err := time.LoadLocation("Europe/Moscow")
	if err != nil {
		t.Fatal(err)
	}
	inBubble(t, Config{}, func(b *bench) { // UTC: nobody has chosen
		b.create(Request{Targets: names(100), QuietFrom: "22:00", QuietTo: "08:00", MinPause: seconds(1000), MaxPause: seconds(1500)})
		b.worker.SetZone(moscow)
		b.untilEnded()
		night := 0
		for _, m := range b.net.sent() {
			if hour := m.at.In(moscow).Hour(); hour >= 22 || hour < 8 {
				night++
			}
		}
		if night > 0 {
			t.Errorf("%d messages were sent at night", night)
		}
	})
	inBubble(t, Config{}, func(b *bench) { // it is midnight
		b.create(Request{Targets: names(1), QuietFrom: "22:00", QuietTo: "02:00"})
		b.Pass(10 * time.Minute)
		before := len(b.net.sent())
		b.worker.SetZone(moscow)
		b.Pass(10 * time.Minute)
		if before != 0 || len(b.net.sent()) != 1 {
			t.Errorf("%d messages at night, and %d once it is day", before, len(b.net.sent()))
		}
	})
}

func TestTheDailyCapHoldsForTheAccount(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.create(Request{Targets: names(30), DailyCap: 10, Text: "one"})
		b.create(Request{Targets: names(30), DailyCap: 10, Text: "two"})
		b.untilEnded()
		perDay := map[string]int{}
		for _, m := range b.net.sent() {
			perDay[m.at.UTC().Format(time.DateOnly)]++
		}
		for day, n := range perDay {
			if n > 10 {
				t.Errorf("%d messages on %s", n, day)
			}
		}
		if len(perDay) != 6 {
			t.Errorf("it took %d days", len(perDay))
		}
	})
}

func TestPauseAndResumeAndCancel(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		task := b.create(Request{Targets: names(10)})
		b.Pass(time.Minute)
		b.act(task.ID, (*Worker).Pause)
		n := len(b.net.sent())
		b.Pass(time.Hour)
		b.start()
		b.Pass(time.Hour)
		if len(b.net.sent()) != n {
			t.Error("a paused task sends")
		}
		b.act(task.ID, (*Worker).Resume)
		b.Pass(time.Minute)
		if len(b.net.sent()) <= n {
			t.Error("a task that was resumed does not send")
		}
		b.act(task.ID, (*Worker).Cancel)
		n = len(b.net.sent())
		b.Pass(time.Hour)
		task = b.task(task.ID)
		if len(b.net.sent()) != n || task.Status != store.TaskCancelled || task.Sent != n {
			t.Errorf("cancelled as %+v with %d messages", task, len(b.net.sent()))
		}
		b.act(task.ID, (*Worker).Retry)
		b.untilEnded()
		if task = b.task(task.ID); task.Status != store.TaskDone || task.Sent != 10 {
			t.Errorf("in the end %+v", task)
		}
	})
}

func TestACancelDuringACallKeepsWhatWasSent(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.took = 5 * time.Second
		task := b.create(Request{Targets: names(3)})
		b.Pass(time.Second)
		b.act(task.ID, (*Worker).Cancel)
		b.Pass(time.Hour)
		if task = b.task(task.ID); task.Status != store.TaskCancelled || task.Sent != 1 || len(b.net.sent()) != 1 {
			t.Errorf("%+v with %d messages", task, len(b.net.sent()))
		}
	})
}

func TestAChatNamedTwiceGetsItOnce(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		task := b.create(Request{Targets: []string{"@chat_1", "@Chat_1", "-1000000000001", "chat_2"}})
		b.untilEnded()
		task = b.task(task.ID)
		if task.Total != 3 || task.Sent != 2 || task.Skipped != 1 || len(b.net.sent()) != 2 {
			t.Errorf("%+v with %d messages", task, len(b.net.sent()))
		}
		if d := b.deliveries(task)[1]; d.Reason.Code != store.ReasonSameChat {
			t.Errorf("delivery %+v", d)
		}
	})
}

func TestAGroupThatHasBecomeAnotherChatOfTheListGetsItOnce(t *testing.T) {
	for _, targets := range [][]string{{"@chat_1", "@chat_2"}, {"@chat_2", "@chat_1"}} {
		inBubble(t, Config{}, func(b *bench) {
			b.net.moved = map[int64]int64{1: 2}
			task := b.create(Request{Targets: targets})
			b.untilEnded()
			if task = b.task(task.ID); task.Sent != 1 || task.Skipped != 1 || len(b.net.sent()) != 1 {
				t.Errorf("%v: %+v with %d messages", targets, task, len(b.net.sent()))
			}
		})
	}
}

func TestATaskThatNamesNobodyGoesToTheUsualChats(t *testing.T) {
	inBubble(t, Config{Targets: []string{"-1000000000001", " @chat_2 "}}, func(b *bench) {
		task := b.create(Request{})
		b.untilEnded()
		if task = b.task(task.ID); task.Sent != 2 || task.Total != 2 {
			t.Errorf("%+v", task)
		}
	})
}

func TestAChatThatIsSwitchedOffIsSkipped(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.Update(func(tx *store.Tx) error { return ListChats(tx, b.account) })
		b.Pass(time.Minute)
		b.Update(func(tx *store.Tx) error {
			chat, err := tx.Chats.ByPeer(b.account, store.PeerChannel, 2)
			if err != nil {
				return err
			}
			_, err = SwitchChat(tx, chat.ID, true)
			return err
		})
		task := b.create(Request{Targets: names(3)})
		b.untilEnded()
		if task = b.task(task.ID); task.Sent != 2 || b.deliveries(task)[1].Reason.Code != store.ReasonChatOff {
			t.Errorf("%+v", task)
		}
		if slices.ContainsFunc(b.net.calls, func(c call) bool { return c.chat == 2 }) {
			t.Error("it was sent to all the same")
		}
	})
}

func TestASuccessIsNotedAtTheChat(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.Update(func(tx *store.Tx) error { return ListChats(tx, b.account) })
		b.Pass(time.Minute)
		ref := platform.ChatRef{Type: platform.ChatChannel, ID: 1}
		if err := b.worker.Seen(b.account, map[platform.ChatRef]int{ref: 7, {Type: platform.ChatChannel, ID: 99}: 3}); err != nil {
			t.Fatal(err)
		}
		chat := func() (c store.Chat) {
			b.View(func(tx *store.Tx) (err error) {
				c, err = tx.Chats.ByPeer(b.account, store.PeerChannel, 1)
				return err
			})
			return c
		}
		if c := chat(); c.Seen != 7 || !c.LastSuccess.IsZero() {
			t.Errorf("chat %+v", c)
		}
		b.create(Request{Targets: names(1)})
		b.untilEnded()
		if c := chat(); c.Seen != 0 || c.LastSuccess.IsZero() {
			t.Errorf("after a success %+v", c)
		}
	})
}

func TestAnAnswerThatDoesNotComeIsAskedForAgain(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.fault(fault{hang: true, carried: true}, fault{hang: true})
		task := b.create(Request{Targets: names(3)})
		b.untilEnded()
		if task = b.task(task.ID); task.Sent != 3 || len(b.net.sent()) != 3 {
			t.Errorf("%+v with %d messages", task, len(b.net.sent()))
		}
		if d := b.deliveries(task)[0]; d.Tries[0].Outcome != store.TryUnknown || d.Tried < 2 {
			t.Errorf("delivery %+v", d)
		}
	})
}

func TestARunThatTheProgramsEndCutsOffIsDoneAgain(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.fault(fault{hang: true, carried: true})
		task := b.create(Request{Targets: names(2)})
		b.Pass(time.Second)
		b.start() // ends the scheduler before
		b.untilEnded()
		task = b.task(task.ID)
		if d := b.deliveries(task)[0]; task.Sent != 2 || len(b.net.sent()) != 2 || d.Failures != 0 {
			t.Errorf("%+v, delivery %+v, with %d messages", task, d, len(b.net.sent()))
		}
	})
}

func TestAChatThatFailsIsGivenUpAfterSomeTries(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		failing := fault{err: &platform.Error{Kind: platform.Unknown, Scope: platform.ScopeChat, Code: "WORKER_BUSY_TOO_LONG_RETRY", Err: errors.New("busy")}}
		b.net.fault(failing, failing, failing)
		task := b.create(Request{Targets: names(1)})
		b.untilEnded()
		task = b.task(task.ID)
		if d := b.deliveries(task)[0]; d.Status != store.DeliveryFailed || d.Reason.Code != store.ReasonUnknown || d.Tried != 3 {
			t.Errorf("delivery %+v", d)
		}
		b.act(task.ID, (*Worker).Retry)
		b.untilEnded()
		if task = b.task(task.ID); task.Sent != 1 || task.Failed != 0 {
			t.Errorf("after another try %+v", task)
		}
	})
}

func TestAFailureOfTheTaskPutsItBackUntilItsAttemptsAreUsed(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		failing := fault{err: &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Err: errors.New("the photo cannot be fetched")}}
		b.net.fault(failing)
		task := b.create(Request{Targets: names(2)})
		b.Pass(10 * time.Second)
		if task = b.task(task.ID); task.Status != store.TaskPending || task.Attempts != 1 || task.LastError.Detail != "the photo cannot be fetched" {
			t.Errorf("after a failure %+v", task)
		}
		b.Pass(5 * time.Minute)
		if task = b.task(task.ID); task.Status != store.TaskDone || task.Attempts != 2 || task.Sent != 2 {
			t.Errorf("in the end %+v", task)
		}

		b.net.fault(failing, failing, failing, failing)
		task = b.create(Request{Targets: names(2), Text: "second"})
		b.untilEnded()
		if task = b.task(task.ID); task.Status != store.TaskFailed || task.Attempts != 3 || task.Sent != 0 {
			t.Errorf("after three failures %+v", task)
		}
	})
}

func TestADryRunSendsNothingAndSaysWhoCannotBeReached(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.refuse[2] = refusal()
		task := b.create(Request{Targets: append(names(3), "@nobody_here", "-1000000000001"), DryRun: true})
		b.Pass(5 * time.Minute)
		task = b.task(task.ID)
		if task.Check != store.CheckDone || len(b.net.calls) != 0 || task.Status != store.TaskPending {
			t.Fatalf("after the dry run %+v, %d calls", task, len(b.net.calls))
		}
		var reach []string
		for _, d := range b.deliveries(task) {
			reach = append(reach, d.Reach+string(d.Unreachable.Code))
		}
		if want := []string{"yes", "noread_only", "yes", "norefused", "nosame_chat"}; !slices.Equal(reach, want) {
			t.Errorf("reach %q, want %q", reach, want)
		}
		b.act(task.ID, (*Worker).Resume)
		b.untilEnded()
		if task = b.task(task.ID); task.Sent != 2 || task.Skipped != 3 {
			t.Errorf("in the end %+v", task)
		}
	})
}

func TestADryRunEndsWithItsTask(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for _, end := range []func(task store.Task){
			func(task store.Task) { b.act(task.ID, (*Worker).Cancel) },
			func(task store.Task) { b.act(task.ID, (*Worker).Resume) },
		} {
			task := b.create(Request{Targets: []string{"@nobody_1", "@nobody_2", "@nobody_3"}, DryRun: true})
			end(task)
			b.untilEnded()
			b.Pass(time.Minute)
			if task = b.task(task.ID); task.Check != "" && task.Check != store.CheckDone {
				t.Errorf("%s, and its dry run is %s", task.Status, task.Check)
			}
		}
	})
}

func TestADryRunThatCannotGoOnSaysSo(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		task := b.create(Request{Targets: names(3), Hold: true})
		b.Update(func(tx *store.Tx) error { return tx.Identities.Delete(b.account) })
		b.Update(func(tx *store.Tx) error { // as it was when the account was still there
			task.Check = store.CheckRunning
			return errors.Join(tx.Tasks.Put(&task), putCheck(tx, task, store.Identity{Platform: "telegram", Name: "main"}))
		})
		b.Pass(time.Hour)
		if task = b.task(task.ID); task.Check != "" || task.LastError.Code != store.ReasonGaveUp || task.LastError.Detail == "" {
			t.Errorf("%+v", task)
		}
	})
}

func TestTheEstimateIsNotFarOff(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		task := b.create(Request{Targets: names(60)})
		b.create(Request{Targets: names(60), Text: "second"})
		b.Pass(2 * time.Minute)
		var p Progress
		b.View(func(tx *store.Tx) (err error) {
			p, err = b.worker.ProgressOf(tx, b.task(task.ID))
			return err
		})
		b.untilEnded()
		if off := b.task(task.ID).EndedAt.Sub(p.Ends).Abs(); off > 10*time.Minute {
			t.Errorf("it ended at %v, and the estimate was %v", b.task(task.ID).EndedAt, p.Ends)
		}
	})
}

func TestAPreviewGoesToTheAccountItself(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		task := b.create(Request{Targets: names(2), Hold: true})
		if _, err := b.worker.Preview(context.Background(), task.ID); err != nil {
			t.Fatal(err)
		}
		b.Pass(time.Hour)
		if n := len(b.net.sent()); n != 1 || b.net.sent()[0].chat != saved {
			t.Errorf("%d messages %+v", n, b.net.sent())
		}
	})
}

func TestWrongRequestsAreRefusedInWords(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for field, r := range map[string]Request{
			"text":                      {Targets: names(1), Text: ""},
			"content_id":                {Targets: names(1), ContentID: 99},
			"target_chat_ids":           {Text: "hello"},
			"target_chat_ids[1]":        {Text: "hello", Targets: []string{"@chat_1", "what is this"}},
			"max_seconds_between_chats": {Text: "hello", Targets: names(1), MinPause: seconds(30), MaxPause: seconds(10)},
			"min_seconds_between_chats": {Text: "hello", Targets: names(1), MinPause: seconds(-1)},
			"max_attempts":              {Text: "hello", Targets: names(1), Attempts: -1},
			"start_at":                  {Text: "hello", Targets: names(1), StartAt: "tomorrow"},
			"quiet_to":                  {Text: "hello", Targets: names(1), QuietFrom: "22:00", QuietTo: "8"},
			"daily_cap":                 {Text: "hello", Targets: names(1), DailyCap: -5},
			"identity_id":               {Text: "hello", Targets: names(1), IdentityID: 77},
		} {
			_, err := b.worker.Prepare(r)
			e, ok := errors.AsType[*store.FieldError](err)
			if !ok || e.Field != field {
				t.Errorf("%s: got %v", field, err)
			}
		}
	})
}

// Whatever the network answers and whenever the program is stopped, each chat that takes it gets the
// post once, each other one has its reason, and the account keeps its pauses.
func TestBroadcastsKeepTheirPromises(t *testing.T) {
	least := 5 * time.Second
	rapid.Check(t, func(r *rapid.T) {
		inBubble(t, Config{}, func(b *bench) { promises(r, b, least) })
		if t.Failed() {
			r.FailNow()
		}
	})
}

func promises(r *rapid.T, b *bench, least time.Duration) {
	accounts := []uint64{b.account, b.addAccount("second")}
	for id := range int64(8) {
		switch rapid.IntRange(0, 4).Draw(r, "chat") {
		case 0:
			b.net.refuse[id+1] = refusal()
		case 1:
			b.net.slowmode[id+1] = time.Duration(rapid.IntRange(1, 300).Draw(r, "slow")) * time.Second
		}
	}
	for n := range rapid.IntRange(1, 4).Draw(r, "tasks") {
		b.create(Request{Text: fmt.Sprint("task ", n), Targets: names(rapid.IntRange(1, 8).Draw(r, "chats")),
			IdentityID: accounts[rapid.IntRange(0, 1).Draw(r, "account")], MinPause: &least, MaxPause: seconds(9)})
	}
	for range rapid.IntRange(0, 12).Draw(r, "steps") {
		broken := &platform.Error{Kind: platform.Unknown, Scope: platform.ScopeChat, Err: errors.New("broken")}
		off := &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: errors.New("not connected")}
		switch rapid.IntRange(0, 6).Draw(r, "step") {
		case 0:
			b.net.fault(fault{hang: true, carried: rapid.Bool().Draw(r, "carried")})
		case 1:
			b.net.fault(waits(platform.ScopeIdentity, time.Duration(rapid.IntRange(1, 4000).Draw(r, "wait"))*time.Second))
		case 2:
			b.net.fault(fault{err: broken, carried: rapid.Bool().Draw(r, "carried")})
		case 3:
			b.net.fault(fault{err: off})
		case 4:
			b.start()
		case 5, 6:
			b.Pass(time.Duration(rapid.IntRange(0, 60_000).Draw(r, "pass")) * time.Millisecond)
		}
	}
	b.untilEnded()
	for _, account := range accounts {
		if gaps := b.gaps(account); len(gaps) > 0 && slices.Min(gaps) < least {
			b.T.Errorf("a pause of %v", slices.Min(gaps))
		}
	}
}
