package tasks

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/identities"
)

func answer(kind platform.Kind, scope platform.Scope, code string) *platform.Error {
	return &platform.Error{Kind: kind, Scope: scope, Code: code, Err: errors.New("an answer")}
}

func TestALargeTaskIsPreparedInStepsAndCrashesDoNotStopIt(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.Stop()
		task := b.create(Request{Targets: names(5*stepWrites + 7), MinPause: seconds(1), MaxPause: seconds(1)})
		if task.Status != store.TaskPreparing || task.Total != 5*stepWrites+7 {
			t.Fatalf("made as %+v", task)
		}
		b.act(task.ID, (*Worker).DryRun)
		listed, cursor := 0, ""
		b.View(func(tx *store.Tx) error { // the list is whole all the same
			for {
				page, err := tx.Deliveries.Of(task, "", store.Query{Limit: 333, Cursor: cursor})
				for _, d := range page.Items {
					if listed++; d.Target != fmt.Sprint("@chat_", listed) || d.ID != task.First+uint64(listed)-1 {
						t.Fatalf("delivery %d is %+v", listed, d)
					}
				}
				if cursor = page.Next; err != nil || cursor == "" {
					return err
				}
			}
		})
		if listed != task.Total {
			t.Errorf("%d deliveries are listed", listed)
		}
		rows := 0
		b.View(func(tx *store.Tx) error {
			for range tx.Deliveries.From(task.First) {
				rows++
			}
			return nil
		})
		if rows > 2*stepWrites {
			t.Errorf("%d deliveries were written in one transaction", rows)
		}
		for i := range 3 { // the program ends after each of the first steps
			out, err := preparer{b.worker}.Run(t.Context(), store.Job{Name: task.PrepareName(), Subject: task.ID})
			if err != nil {
				t.Fatal(err)
			}
			b.Update(out.Write)
			if got := b.task(task.ID); got.Status != store.TaskPreparing || got.Prepared != task.First+uint64((i+2)*stepWrites)-1 {
				t.Errorf("after step %d: %+v", i+2, got)
			}
		}
		other := b.create(Request{Targets: names(3), Text: "meanwhile"})
		b.start()
		b.Pass(time.Second)
		task = b.task(task.ID)
		if task.Status == store.TaskPreparing || task.Prepared != 0 {
			t.Errorf("prepared as %+v", task)
		}
		b.View(func(tx *store.Tx) error {
			n := 0
			for d := range tx.Deliveries.From(task.First) {
				if d.ID >= task.First+uint64(task.Total) {
					break
				}
				if n++; d.TaskID != task.ID || d.Target != fmt.Sprint("@chat_", n) || d.Following != "" {
					t.Fatalf("delivery %d is %+v", n, d)
				}
			}
			if n != task.Total {
				t.Errorf("%d deliveries", n)
			}
			return nil
		})
		b.Pass(2 * time.Minute)
		if task, other = b.task(task.ID), b.task(other.ID); task.Sent < 3 || other.Sent == 0 || task.Check != store.CheckRunning || task.Checked == 0 {
			t.Errorf("later %+v and %+v", task, other)
		}
		b.act(task.ID, (*Worker).Cancel)
		b.untilEnded()
	})
}

func TestALargeTaskThatIsHeldOrCancelledWhileItIsPrepared(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		quick := Request{Targets: names(3 * stepWrites), MinPause: seconds(1), MaxPause: seconds(1)}
		b.Stop()
		cancelled := b.create(quick)
		b.act(cancelled.ID, (*Worker).Cancel)
		quick.Hold, quick.Text = true, "held"
		held := b.create(quick)
		lost := b.create(Request{Targets: names(2 * stepWrites), Text: "its job was lost"})
		b.Update(func(tx *store.Tx) error { return scheduler.Delete(tx, lost.PrepareName()) })
		b.start()
		b.Pass(time.Minute)
		if lost = b.task(lost.ID); lost.Status == store.TaskPreparing {
			t.Errorf("what is prepared by nobody: %+v", lost)
		}
		b.act(lost.ID, (*Worker).Cancel)
		b.Pass(time.Hour)
		if held = b.task(held.ID); held.Status != store.TaskPending || held.Sent != 0 {
			t.Errorf("held: %+v", held)
		}
		b.act(cancelled.ID, (*Worker).Retry)
		b.act(held.ID, (*Worker).Resume)
		b.Pass(20 * time.Second)
		for _, id := range []uint64{cancelled.ID, held.ID} {
			if task := b.task(id); task.Status != store.TaskProcessing || task.Sent < 5 || task.Left() != task.Total-task.Sent {
				t.Errorf("later %+v", task)
			}
			b.act(id, (*Worker).Cancel)
		}
	})
}

func TestManyChatsAreTriedAgainInSteps(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		n := 3 * stepWrites
		task := b.create(Request{Targets: names(n), Hold: true})
		b.Pass(time.Second)
		b.Update(func(tx *store.Tx) error { // as if none had taken it
			task, err := tx.Tasks.Get(task.ID)
			for d := range tx.Deliveries.From(task.First) {
				d.Status, d.Reason = store.DeliverySkipped, store.Reason{Code: store.ReasonRefused}
				err = errors.Join(err, tx.Deliveries.Put(&d))
			}
			task.Skipped = n
			_, endErr := end(tx, &task, store.TaskFailed, store.Reason{Code: store.ReasonNobody})
			return errors.Join(err, endErr, scheduler.Delete(tx, task.JobName()))
		})
		b.Stop()
		b.act(task.ID, (*Worker).Retry)
		if got := b.task(task.ID); got.Status != store.TaskPreparing || got.Skipped < n-2*stepWrites {
			t.Errorf("at first %+v", got)
		}
		b.start()
		b.Pass(time.Minute)
		if got := b.task(task.ID); got.Status != store.TaskProcessing || got.Skipped != 0 || got.Sent == 0 || got.Left() != n-got.Sent {
			t.Errorf("later %+v", got)
		}
		b.act(task.ID, (*Worker).Cancel)
	})
}

func TestAnOddChatIsSkipped(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.refuse[3] = answer(platform.Refused, "", "BALANCE_TOO_LOW")
		task := b.create(Request{Targets: names(10)})
		b.untilEnded()
		if task = b.task(task.ID); task.Status != store.TaskDone || task.Sent != 9 || task.Skipped != 1 {
			t.Errorf("ended as %+v", task)
		}
	})
}

func TestTheSameOddAnswerOfSeveralChatsInARowEndsTheTask(t *testing.T) {
	inBubble(t, Config{Refusals: 4}, func(b *bench) {
		for id := range int64(20) {
			b.net.refuse[id+1] = answer(platform.Refused, "", "BALANCE_TOO_LOW")
		}
		delete(b.net.refuse, 3) // one that takes it begins the count anew
		b.net.refuse[6] = answer(platform.Refused, "", "SOMETHING_ELSE")
		task := b.create(Request{Targets: names(20)})
		b.untilEnded()
		if task = b.task(task.ID); task.Status != store.TaskFailed || task.Sent != 1 || task.Skipped != 9 || task.LastError.Code != store.ReasonRefused {
			t.Errorf("ended as %+v", task)
		}
	})
}

func TestChatsThatRefuseForAReasonOfTheirOwnEndNoTask(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for id := range int64(9) {
			b.net.refuse[id+1] = refusal()
		}
		task := b.create(Request{Targets: names(10)})
		b.untilEnded()
		if task = b.task(task.ID); task.Status != store.TaskDone || task.Sent != 1 || task.Skipped != 9 {
			t.Errorf("ended as %+v", task)
		}
	})
}

func TestABanInOneChatIsThatChatsAlone(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.refuse[1] = answer(platform.Refused, platform.ScopeIdentity, "USER_BANNED_IN_CHANNEL")
		b.net.refuse[3] = b.net.refuse[1]
		task := b.create(Request{Targets: names(4)})
		b.untilEnded()
		if task = b.task(task.ID); task.Sent != 2 || task.Skipped != 2 || task.Status != store.TaskDone {
			t.Errorf("ended as %+v", task)
		}
	})
}

func TestThreeBansInARowStopTheAccountAndTheChatThatDidItComesLast(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		for id := range int64(3) {
			b.net.refuse[id+1] = answer(platform.Refused, platform.ScopeIdentity, "USER_BANNED_IN_CHANNEL")
		}
		task := b.create(Request{Targets: names(6)})
		b.Pass(time.Hour)
		state := func() (i store.Identity) {
			b.View(func(tx *store.Tx) (err error) { i, err = tx.Identities.Get(b.account); return err })
			return i
		}
		if i := state(); i.State != store.IdentityStopped || len(b.net.calls) != 3 {
			t.Fatalf("after three bans: %+v, %d calls", i, len(b.net.calls))
		}
		b.Update(func(tx *store.Tx) error { _, err := identities.Resume(tx, b.account); return err })
		b.untilEnded()
		if task = b.task(task.ID); task.Sent != 3 || task.Skipped != 3 || task.Status != store.TaskDone {
			t.Errorf("ended as %+v", task)
		}
		if last := b.net.calls[len(b.net.calls)-1]; last.chat != 3 || state().State == store.IdentityStopped {
			t.Errorf("the last call was to chat %d, and the account is %s", last.chat, state().State)
		}
	})
}

func TestABroadcastGoesOnAtOnceWhenItsAccountCanActAgain(t *testing.T) {
	for name, again := range map[string]func(b *bench, tx *store.Tx) error{
		"resumed": func(b *bench, tx *store.Tx) error { _, err := identities.Resume(tx, b.account); return err },
		"logged in": func(b *bench, tx *store.Tx) error {
			i, err := tx.Identities.Get(b.account)
			i.State, i.Reason = store.IdentityReady, store.Reason{}
			return errors.Join(err, tx.Identities.Put(&i))
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, func(b *bench) {
				b.net.fault(fault{err: answer(platform.Stopped, platform.ScopeIdentity, "PEER_FLOOD")})
				task := b.create(Request{Targets: names(2)})
				b.Pass(10*time.Minute + time.Second)
				b.Update(func(tx *store.Tx) error { return again(b, tx) })
				b.Pass(20 * time.Second)
				if n := len(b.net.sent()); n != 1 {
					t.Errorf("%d messages after the account was able again", n)
				}
				b.View(func(tx *store.Tx) error {
					if p, err := b.worker.ProgressOf(tx, b.task(task.ID)); err != nil || p.Why.Code == store.ReasonStopped {
						t.Errorf("it waits: %+v, %v", p.Why, err)
					}
					return nil
				})
				b.untilEnded()
			})
		})
	}
}

// The network uploads the media of calls once that have the same key for them.
func TestTheChatsOfATaskShareItsMedia(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		media := map[int64]int{}
		for range 2 {
			b.create(Request{Targets: names(3)})
			b.untilEnded()
		}
		for _, c := range b.net.calls {
			media[c.media]++
		}
		if len(b.net.calls) != 6 || len(media) != 2 || media[0] != 0 {
			t.Errorf("%d calls of two tasks, by the key of their media: %v", len(b.net.calls), media)
		}
	})
}

func TestMediaThatCannotBeFetchedFailTheTaskInTheEnd(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.from = func(int64) *platform.Error { return answer(platform.Transient, platform.ScopeContent, "") }
		task := b.create(Request{Targets: names(5)})
		b.Pass(10 * time.Second)
		if task = b.task(task.ID); task.Status != store.TaskPending || task.Attempts != 1 {
			t.Errorf("after the first failure %+v", task)
		}
		b.untilEnded()
		if task = b.task(task.ID); task.Status != store.TaskFailed || task.Attempts != 3 || len(b.net.calls) != 3 {
			t.Errorf("ended as %+v after %d calls", task, len(b.net.calls))
		}
		b.net.unfetchable = &platform.Error{Kind: platform.Transient, Scope: platform.ScopeContent, Field: "media[0].url", Err: errors.New("500")}
		_, err := b.worker.Prepare(Request{Text: "hello", IdentityID: b.account, Targets: names(1)})
		if e, ok := errors.AsType[*store.FieldError](err); !ok || e.Field != "media[0].url" {
			t.Errorf("a task with such media was taken: %v", err)
		}
	})
}

func TestWithoutAConnectionATaskAsksLessAndLessOftenAndSaysSinceWhen(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		off := true
		b.net.from = func(int64) *platform.Error {
			if off {
				return answer(platform.Transient, platform.ScopeIdentity, "")
			}
			return nil
		}
		task := b.create(Request{Targets: names(9)})
		b.Pass(time.Hour)
		if n := len(b.net.calls); n > 140 {
			t.Errorf("%d calls in an hour", n)
		}
		b.View(func(tx *store.Tx) error {
			job, err := tx.Jobs.ByName(task.JobName())
			if err != nil || time.Since(job.VainSince) < 59*time.Minute || job.Reason.Code != store.ReasonNotConnected {
				t.Errorf("%+v, %v", job, err)
			}
			return nil
		})
		off = false
		b.Pass(2 * time.Minute)
		b.View(func(tx *store.Tx) error {
			job, err := tx.Jobs.ByName(task.JobName())
			if err != nil || !job.VainSince.IsZero() {
				t.Errorf("with a connection again: %+v, %v", job, err)
			}
			return nil
		})
		b.untilEnded()
		if task = b.task(task.ID); task.Sent != 9 {
			t.Errorf("ended as %+v", task)
		}
	})
}

func TestWaitsThatAWrongClockHasWrittenAreVoid(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		running := b.create(Request{Targets: names(5)})
		b.Pass(time.Second)
		b.Update(func(tx *store.Tx) error {
			ahead := tx.Now().Add(300 * 24 * time.Hour)
			pace, err := tx.Paces.Of(b.account)
			if err != nil {
				return err
			}
			pace.Next, pace.Last = ahead, ahead
			task, err := tx.Tasks.Get(running.ID)
			if err != nil {
				return err
			}
			task.Slot = ahead
			err = errors.Join(tx.Paces.Put(&pace), tx.Tasks.Put(&task))
			for d := range tx.Deliveries.From(running.First) {
				if d.Status == store.DeliveryPending {
					d.After = ahead
					err = errors.Join(err, tx.Deliveries.Put(&d))
				}
			}
			for id := range int64(4) {
				chat, getErr := meet(tx, b.account, platform.Chat{ChatRef: platform.ChatRef{Type: platform.ChatChannel, ID: id + 2}}, true)
				chat.SlowUntil = ahead
				err = errors.Join(err, getErr, tx.Chats.Put(&chat))
			}
			job, getErr := tx.Jobs.ByName(running.JobName())
			job.Due = tx.Now() // the scheduler moves it with the clock
			return errors.Join(err, getErr, tx.Jobs.Put(&job))
		})
		fresh := b.create(Request{Targets: names(5), Text: "second"})
		b.Pass(15 * time.Minute)
		if a, c := b.task(running.ID), b.task(fresh.ID); a.Sent != 5 || c.Sent != 5 {
			t.Errorf("a quarter of an hour later %d and %d of 5 chats received it", a.Sent, c.Sent)
		}
	})
}

func TestTheDailyCapEndsWithTheDayWhereMidnightIsMissingOrRepeated(t *testing.T) {
	for _, eve := range []struct {
		zone  string
		month time.Month
		day   int
	}{
		{"America/Santiago", 9, 4}, {"America/Havana", 3, 13}, // there is none
		{"America/Santiago", 4, 3}, {"America/Havana", 11, 6}, {"Africa/Cairo", 10, 28}, // there are two, or two hours before it
	} {
		zone, err := time.LoadLocation(eve.zone)
		if err != nil {
			t.Fatal(err)
		}
		w := New(nil, nil, Config{Zone: zone})
		begin := time.Date(2027, eve.month, eve.day, 12, 0, 0, 0, time.UTC)
		for now := begin; now.Before(begin.Add(48 * time.Hour)); now = now.Add(7 * time.Minute) {
			out := w.mayNot(now, store.Task{DailyCap: 1}, store.Delivery{}, store.Pace{Day: w.day(now), Sent: 1})
			if !out.Again.After(now) || w.day(out.Again) == w.day(now) || w.day(out.Again.Add(-3*time.Hour)) != w.day(now) {
				t.Fatalf("%s, %v: until %v", eve.zone, now.In(zone), out.Again.In(zone))
			}
		}
	}
}

func TestAWaitForATimeOfDayIsNoElapsedTime(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		now := time.Now().UTC()
		quiet := store.Task{Quiet: store.QuietHours{From: now.Add(-time.Hour).Format("15:04"), To: now.Add(time.Hour).Format("15:04")}}
		capped := store.Task{DailyCap: 1}
		for _, task := range []store.Task{quiet, capped} {
			if out := b.worker.mayNot(now, task, store.Delivery{}, store.Pace{Day: b.worker.day(now), Sent: 1}); !out.WallClock || out.Again.IsZero() {
				t.Errorf("%+v", out)
			}
		}
		slow := store.Delivery{After: now.Add(time.Hour)}
		if out := b.worker.mayNot(now, store.Task{}, slow, store.Pace{}); out.WallClock || !out.Again.Equal(slow.After) {
			t.Errorf("a chat's own wait: %+v", out)
		}
	})
}

func TestATaskThatDoesNotGoOnGivesItsTurnBack(t *testing.T) {
	day := 24 * time.Hour.Seconds()
	for name, stop := range map[string]func(*Worker, *store.Tx, uint64) (store.Task, error){"cancelled": (*Worker).Cancel, "paused": (*Worker).Pause} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, func(b *bench) {
				slow := b.create(Request{Targets: names(5), MinPause: seconds(day), MaxPause: seconds(day)})
				b.Pass(time.Minute)
				waiting := b.create(Request{Targets: names(5), Text: "waiting"})
				b.Pass(time.Minute)
				b.act(slow.ID, stop)
				fresh := b.create(Request{Targets: names(5), Text: "fresh"})
				b.Pass(10 * time.Minute)
				if a, c := b.task(waiting.ID), b.task(fresh.ID); a.Sent != 5 || c.Sent != 5 {
					t.Errorf("ten minutes later %d and %d of 5 chats have them", a.Sent, c.Sent)
				}
				if n := b.task(slow.ID).Sent; n != 1 {
					t.Errorf("the slow one has sent %d", n)
				}
				if name == "paused" {
					b.act(slow.ID, (*Worker).Resume)
					b.Pass(23 * time.Hour)
					if n := b.task(slow.ID).Sent; n != 1 {
						t.Errorf("resumed, it has sent %d within its own pause", n)
					}
				}
			})
		})
	}
}

func TestACallThatSentNothingCostsNoPause(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.fault(fault{err: answer(platform.Transient, platform.ScopeIdentity, "")})
		b.create(Request{Targets: names(2), MinPause: seconds(3600), MaxPause: seconds(3600)})
		b.Pass(time.Minute)
		if n := len(b.net.sent()); n != 1 {
			t.Errorf("%d messages a minute after a lost connection", n)
		}
		b.untilEnded()
		if gaps := b.gaps(b.account); gaps[0] < time.Hour {
			t.Errorf("a pause of %v", gaps[0])
		}
	})
}

func TestAChatThatAlwaysMakesTheAccountWaitIsPutOffAndThenSkipped(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.from = func(chat int64) *platform.Error {
			if chat != 2 {
				return nil
			}
			return &platform.Error{Kind: platform.Wait, Scope: platform.ScopeIdentity, Code: "FLOOD_WAIT", Wait: time.Hour, Err: errors.New("wait")}
		}
		task := b.create(Request{Targets: names(10)})
		b.Pass(2 * time.Hour)
		if got := b.task(task.ID); got.Sent != 9 {
			t.Errorf("after two hours %+v", got)
		}
		b.untilEnded()
		task = b.task(task.ID)
		if d := b.deliveries(task)[1]; task.Status != store.TaskDone || d.Status != store.DeliverySkipped || d.Reason.Code != store.ReasonFlood || d.Tried != 3 {
			t.Errorf("ended as %+v, %+v", task, d)
		}
	})
}

// lookUpWaits makes the looking up of a chat wait.
func lookUpWaits(d time.Duration) *platform.Error {
	return &platform.Error{Kind: platform.Wait, Scope: platform.ScopeChat, Field: "target", Code: "FLOOD_WAIT", Wait: d, Err: errors.New("wait")}
}

func TestAChatThatHasToWaitToBeLookedUpHoldsUpNoOther(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		until := time.Now().Add(20 * time.Hour)
		b.net.lookups = func(target string) *platform.Error {
			if left := time.Until(until); target == "@chat_2" && left > 0 {
				return lookUpWaits(left)
			}
			return nil
		}
		task := b.create(Request{Targets: names(10)})
		b.Pass(2 * time.Hour)
		d := b.deliveries(task)[1]
		if got := b.task(task.ID); got.Sent != 9 || d.Reason.Code != store.ReasonFlood || !d.After.After(until) {
			t.Errorf("after two hours %+v, %+v", got, d)
		}
		b.untilEnded()
		if got := b.task(task.ID); got.Sent != 10 || got.EndedAt.Sub(until) > time.Minute {
			t.Errorf("%v after the wait: %+v", got.EndedAt.Sub(until), got)
		}
	})
}

func TestADryRunEndsWhateverOneLookUpIsAnswered(t *testing.T) {
	for name, says := range map[string]*platform.Error{
		"an error of the server": answer(platform.Transient, platform.ScopeChat, "INTERNAL"),
		"a wait":                 lookUpWaits(time.Hour),
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, Config{}, func(b *bench) {
				b.net.lookups = func(target string) *platform.Error {
					if target == "@chat_3" {
						return says
					}
					return nil
				}
				task := b.create(Request{Targets: names(5), DryRun: true})
				b.Pass(24 * time.Hour)
				task = b.task(task.ID)
				var reach []string
				for _, d := range b.deliveries(task) {
					reach = append(reach, d.Reach)
				}
				if want := []string{"yes", "yes", "no", "yes", "yes"}; task.Check != store.CheckDone || !slices.Equal(reach, want) {
					t.Errorf("dry run %q, reach %q", task.Check, reach)
				}
				if d := b.deliveries(task)[2]; d.Unreachable.Detail == "" || b.net.asked > 20 {
					t.Errorf("%+v after %d questions", d, b.net.asked)
				}
			})
		})
	}
}

func TestADryRunWithoutAConnectionIsGivenUpInWords(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.net.lookups = func(string) *platform.Error { return answer(platform.Transient, platform.ScopeIdentity, "") }
		task := b.create(Request{Targets: names(5), DryRun: true})
		b.Pass(24 * time.Hour)
		if task = b.task(task.ID); task.Check != "" || task.LastError.Code != store.ReasonGaveUp || b.net.asked > 20 {
			t.Errorf("%+v after %d questions", task, b.net.asked)
		}
	})
}

func TestAPauseBetweenTheClaimAndTheCallHolds(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		task := b.create(Request{Targets: names(3)})
		b.net.lookups = func(string) *platform.Error { // the run has begun
			b.net.lookups = nil
			if err := b.DB.Update(func(tx *store.Tx) error { _, err := b.worker.Pause(tx, task.ID); return err }); err != nil {
				t.Error(err)
			}
			return nil
		}
		b.Pass(time.Hour)
		if n := len(b.net.sent()); n > 1 || b.task(task.ID).Sent != n {
			t.Errorf("%d messages", n)
		}
		b.View(func(tx *store.Tx) error {
			job, err := tx.Jobs.ByName(task.JobName())
			if err != nil || job.State != store.JobPaused {
				t.Errorf("%+v, %v", job, err)
			}
			return nil
		})
		b.Update(func(tx *store.Tx) error { _, err := scheduler.Resume(tx, task.JobName()); return err })
		b.untilEnded()
	})
}

func TestAPauseHoldsAlthoughTheBroadcastWasAskedForBefore(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		task := b.create(Request{Targets: names(20)})
		b.Pass(5 * time.Second)
		b.Update(func(tx *store.Tx) error { _, err := scheduler.RunNow(tx, task.JobName()); return err })
		b.Pass(2 * time.Minute)
		sent := len(b.net.sent())
		b.net.lookups = func(string) *platform.Error { // the run has begun
			b.net.lookups = nil
			b.act(task.ID, (*Worker).Pause)
			return nil
		}
		if b.Pass(time.Hour); len(b.net.sent()) > sent+1 {
			t.Errorf("paused when %d were sent; an hour later %d are", sent, len(b.net.sent()))
		}
	})
}

func TestAWaitForNamesHoldsNothingThatNeedsNone(t *testing.T) {
	for _, dry := range []bool{true, false} {
		inBubble(t, Config{}, func(b *bench) {
			b.net.lookups = func(target string) *platform.Error {
				if target == "@stranger" {
					return lookUpWaits(17 * time.Hour)
				}
				return nil
			}
			b.create(Request{Targets: []string{"@stranger"}, DryRun: dry})
			b.Pass(time.Minute)
			b.create(Request{Targets: names(4), Text: "news"})
			if b.Pass(time.Hour); len(b.net.sent()) != 4 {
				t.Errorf("dry run %v: %d of 4 messages after an hour", dry, len(b.net.sent()))
			}
		})
	}
}

func TestABroadcastThatHasBegunByAWrongClockCanBeResumed(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.SetClock(300 * 24 * time.Hour)
		b.Pass(10 * time.Minute) // a big step is believed after five
		task := b.create(Request{Targets: names(10)})
		b.Pass(time.Minute)
		b.SetClock(0)
		b.Pass(time.Hour)
		b.act(task.ID, (*Worker).Pause)
		b.act(task.ID, (*Worker).Resume)
		if b.Pass(time.Hour); len(b.net.sent()) != 10 {
			t.Errorf("%d of 10 were sent", len(b.net.sent()))
		}
	})
}
