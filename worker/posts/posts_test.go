package posts

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/send"
)

func TestAPostGoesOutAtItsTimeAndKeepsItsLink(t *testing.T) {
	inBubble(t, func(b *bench) {
		post := b.schedule(time.Hour, Request{})
		b.Pass(time.Hour - time.Second)
		if b.sent() != 0 {
			t.Error("it was early")
		}
		b.Pass(time.Second)
		post = b.post(post.ID)
		if post.Status != store.PostPublished || post.Link == "" || !post.PublishedAt.Equal(post.ScheduledTime) || b.sent() != 1 {
			t.Errorf("post %+v, %d messages", post, b.sent())
		}
	})
}

func TestWhatTheNetworkAnswersDecidesWhatBecomesOfThePost(t *testing.T) {
	fail := func(kind platform.Kind, scope platform.Scope, wait time.Duration) fault {
		return fault{err: &platform.Error{Kind: kind, Scope: scope, Wait: wait, Code: "CODE", Err: errors.New("in words")}}
	}
	unanswered := fault{hang: true, carried: true}
	chat, identity := platform.ScopeChat, platform.ScopeIdentity
	cases := []struct {
		name     string
		faults   []fault
		soon     store.PostStatus // a minute after its time
		because  store.ReasonCode
		later    store.PostStatus // an hour after its time
		messages int
	}{
		{"a refusal ends it", []fault{fail(platform.Refused, chat, 0)}, store.PostFailed, store.ReasonRefused, store.PostFailed, 0},
		{"a refusal after a call without an answer", []fault{{err: &platform.Error{Kind: platform.Refused, Scope: chat, MayBeOut: true, Err: errors.New("fault")}}},
			store.PostUnknown, store.ReasonUnknown, store.PostUnknown, 0},
		{"a flood wait moves it", []fault{fail(platform.Wait, identity, 10*time.Minute)}, store.PostPublishing, store.ReasonFlood, store.PostPublished, 1},
		{"slow mode moves it", []fault{fail(platform.Wait, chat, 10*time.Minute)}, store.PostPublishing, store.ReasonSlowmode, store.PostPublished, 1},
		{"a transient failure is tried again", []fault{fail(platform.Transient, chat, 0), fail(platform.Transient, chat, 0)},
			store.PostPublishing, store.ReasonRetry, store.PostPublished, 1},
		{"three transient failures end it", []fault{fail(platform.Transient, chat, 0), fail(platform.Transient, chat, 0), fail(platform.Transient, chat, 0)},
			store.PostPublishing, store.ReasonRetry, store.PostFailed, 0},
		{"a missing connection costs no attempt", repeat(fail(platform.Transient, identity, 0), 20), store.PostPublishing, store.ReasonNotConnected, store.PostPublished, 1},
		{"a lost answer is settled by asking again", []fault{unanswered}, store.PostPublished, "", store.PostPublished, 1},
		{"answers that never come leave it unknown", repeat(unanswered, 4), store.PostPublishing, store.ReasonRetry, store.PostUnknown, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				b.fault(c.faults...)
				id := b.schedule(time.Minute, Request{}).ID
				b.Pass(2 * time.Minute)
				if p := b.post(id); p.Status != c.soon || p.Reason.Code != c.because {
					t.Errorf("after a minute %s because of %+v, want %s because of %s", p.Status, p.Reason, c.soon, c.because)
				}
				b.start() // every wait survives a restart
				b.Pass(time.Hour)
				if p := b.post(id); p.Status != c.later || b.sent() != c.messages {
					t.Errorf("after an hour %s (%+v) with %d messages, want %s with %d", p.Status, p.Reason, b.sent(), c.later, c.messages)
				}
				want := map[store.PostStatus]store.AlertKind{store.PostFailed: store.AlertPostFailed, store.PostUnknown: store.AlertPostUnknown}[c.later]
				if raised := b.alert(); raised.Kind != want || want != "" && (raised.Subject != id || raised.Reason.Zero()) {
					t.Errorf("the alert is %+v, want %q", raised, want)
				}
			})
		})
	}
}

// alert is the first alert that is open; zero if none is.
func (b *bench) alert() (a store.Alert) {
	b.T.Helper()
	b.View(func(tx *store.Tx) error {
		open, err := tx.Alerts.ByState(store.AlertOpen, store.Query{Limit: 1})
		if len(open.Items) > 0 {
			a = open.Items[0]
		}
		return err
	})
	return a
}

func repeat(f fault, n int) []fault {
	all := make([]fault, n)
	for i := range all {
		all[i] = f
	}
	return all
}

func TestAnIdentityThatIsOutHoldsItsPostsUntilItIsBack(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.fault(fault{err: &platform.Error{Kind: platform.Stopped, Scope: platform.ScopeIdentity, Code: "PEER_FLOOD", Err: errors.New("restricted")}})
		first, second := b.schedule(time.Minute, Request{}).ID, b.schedule(2*time.Minute, Request{}).ID
		b.Pass(time.Hour)
		b.net.mu.Lock()
		calls := b.net.calls
		b.net.mu.Unlock()
		if calls != 1 {
			t.Errorf("the network was called %d times while the identity was restricted", calls)
		}
		if p := b.post(first); p.Status.Final() || p.Reason.Code != store.ReasonStopped {
			t.Errorf("post %+v", p)
		}
		if a := b.alert(); a.Kind != store.AlertLogin || a.Subject != b.firstID || a.Reason.Code != store.ReasonStopped {
			t.Errorf("alert %+v", a)
		}
		b.Update(func(tx *store.Tx) error {
			i, err := tx.Identities.Get(b.firstID)
			if err != nil {
				return err
			}
			if i.State != store.IdentityStopped {
				t.Errorf("identity %+v", i)
			}
			i.State, i.Reason = store.IdentityReady, store.Reason{}
			return tx.Identities.Put(&i)
		})
		b.Pass(time.Second)
		if b.post(first).Status != store.PostPublished || b.post(second).Status != store.PostPublished {
			t.Error("they did not go out as soon as it was back")
		}
	})
}

func TestWithoutAConnectionTheLaneIsTriedLessAndLessOften(t *testing.T) {
	inBubble(t, func(b *bench) {
		gone := fault{err: &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: errors.New("no route to host")}}
		b.fault(repeat(gone, 10_000)...)
		var ids []uint64
		for range 10 {
			ids = append(ids, b.schedule(time.Minute, Request{}).ID)
		}
		due := time.Now().Add(time.Minute)
		calls := func() int {
			b.net.mu.Lock()
			defer b.net.mu.Unlock()
			return b.net.calls
		}
		b.Pass(time.Minute + time.Second)
		b.Pass(time.Hour)
		if n := calls(); n < 30 || n > 45 {
			t.Errorf("%d calls in an hour without a connection", n)
		}
		var first time.Time
		b.View(func(tx *store.Tx) error {
			for _, id := range ids {
				job, err := tx.Jobs.ByName(b.post(id).JobName())
				if err != nil {
					return err
				}
				if why, err := scheduler.Why(tx, job); err != nil || why.Code != store.ReasonNotConnected || why.Until.IsZero() && job.Due.Before(tx.Now()) {
					t.Errorf("%s waits because of %+v, %v", job.Name, why, err)
				}
			}
			for run := range tx.Runs.Newest(0) {
				if !run.Next.After(tx.Now()) {
					t.Errorf("it is to be tried again at %v by the history", run.Next)
				}
				break
			}
			_, since, _, err := scheduler.Overdue(tx)
			first = since
			return err
		})
		if first.Sub(due).Abs() > time.Second {
			t.Errorf("there is no connection since %v by what is shown, and since %v in truth", first, due)
		}
		b.net.mu.Lock()
		b.net.faults = nil
		b.net.mu.Unlock()
		b.Update(func(tx *store.Tx) error { return tx.Holds.End(store.ReasonNotConnected) })
		b.Pass(time.Second)
		for _, id := range ids {
			if p := b.post(id); p.Status != store.PostPublished {
				t.Errorf("when the connection was back post %d is %s (%+v)", id, p.Status, p.Reason)
			}
		}
	})
}

func TestAPostThatMustNotBeLateIsSkippedAndSaysSo(t *testing.T) {
	inBubble(t, func(b *bench) {
		id := b.schedule(time.Minute, Request{Lateness: store.Lateness{Policy: store.LateSkip, Grace: time.Minute}}).ID
		late := b.schedule(time.Minute, Request{}).ID
		b.Stop()
		b.Pass(time.Hour)
		b.start()
		b.Pass(time.Second)
		if p := b.post(id); p.Status != store.PostSkipped || p.Reason.Code != store.ReasonLate {
			t.Errorf("post %+v", p)
		}
		if p := b.post(late); p.Status != store.PostPublished {
			t.Errorf("the other one is %s", p.Status)
		}
	})
}

func TestACallThatEndsWithTheProgramIsNoFailure(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.fault(repeat(fault{hang: true}, 3)...)
		id := b.schedule(time.Minute, Request{}).ID
		b.Pass(time.Minute + 30*time.Second + send.UnknownPause + 30*time.Second + 2*time.Minute/5*4)
		for b.post(id).Attempts < 3 {
			b.Pass(time.Second)
		}
		b.start() // the third call is under way
		b.Pass(time.Minute)
		if p := b.post(id); p.Status != store.PostPublished || b.sent() != 1 {
			t.Errorf("post %+v, %d messages", p, b.sent())
		}
	})
}

// A claim whose commit fails may be on the disk or not. Either way the call is not made, and the post is claimed
// again.
func TestAStoreThatFailsUsesUpNoAttempt(t *testing.T) {
	for name, made := range map[string]bool{"that undid the claim": false, "after which the claim is there": true} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				id := b.schedule(time.Minute, Request{}).ID
				for range 10 {
					_ = b.DB.Update(func(tx *store.Tx) error {
						_, err := attempt{Worker: b.worker}.Begin(tx, store.Job{Subject: id})
						if err == nil && !made {
							err = store.ErrUnavailable
						}
						return err
					})
				}
				if p := b.post(id); p.Unsettled != made {
					t.Errorf("claimed: %+v", p)
				}
				b.fault(repeat(fault{err: &platform.Error{Kind: platform.Transient, Scope: platform.ScopeChat, Err: errors.New("busy")}}, 2)...)
				b.Pass(10 * time.Minute)
				if p := b.post(id); p.Status != store.PostPublished || p.Unsettled {
					t.Errorf("post %+v", p)
				}
			})
		})
	}
}

// What is not in this version was not called: that the post is not out is certain.
func TestAPostOfANetworkThatIsGoneFails(t *testing.T) {
	inBubble(t, func(b *bench) {
		post := b.schedule(time.Minute, Request{})
		post.Platform = "instagram"
		b.Update(func(tx *store.Tx) error { return tx.Posts.Put(&post) })
		b.Pass(time.Hour)
		if p := b.post(post.ID); p.Status != store.PostFailed || p.Reason.Code != store.ReasonRefused {
			t.Errorf("post %+v", p)
		}
	})
}

func TestAPostThatMustNotBeLateIsSkippedAlsoAfterAFailedCall(t *testing.T) {
	cases := []struct {
		name   string
		fault  fault
		status store.PostStatus
	}{
		{"nothing was sent", fault{err: &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: errors.New("not connected")}}, store.PostSkipped},
		{"it may be out", fault{err: &platform.Error{Kind: platform.Unknown, Scope: platform.ScopeIdentity, Wait: time.Hour, Err: errors.New("no answer")}}, store.PostUnknown},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				id := b.schedule(time.Minute, Request{Lateness: store.Lateness{Policy: store.LateSkip, Grace: 15 * time.Minute}}).ID
				asked := b.schedule(time.Hour, Request{Lateness: store.Lateness{Policy: store.LateSkip, Grace: 15 * time.Minute}}).ID
				b.fault(repeat(c.fault, 500)...)
				b.Pass(5 * time.Minute)
				if p := b.post(id); p.Status != store.PostPublishing {
					t.Errorf("in time: %+v", p)
				}
				b.Pass(2 * time.Hour)
				b.net.mu.Lock()
				b.net.faults = nil
				b.net.mu.Unlock()
				b.Pass(2 * time.Hour)
				if p := b.post(id); p.Status != c.status || b.sent() != 0 {
					t.Errorf("late: %+v, %d messages", p, b.sent())
				}
				if p := b.post(asked); !p.Status.Final() {
					t.Errorf("the other: %+v", p)
				}
			})
		})
	}
}

// The media take two hours. Meanwhile a text is due every minute.
func TestAnUploadHoldsUpNoOtherPost(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.net.upload = 2 * time.Hour
		slow := b.schedule(time.Minute, Request{Media: []store.Media{{Kind: "video", URL: "https://example.com/a.mp4"}}})
		var texts []uint64
		for i := range 200 {
			texts = append(texts, b.schedule(time.Duration(i+1)*time.Minute, Request{}).ID)
		}
		b.Pass(time.Hour + 3*time.Second)
		if p := b.post(slow.ID); p.Status != store.PostPublishing || p.Reason.Code != store.ReasonUploading || p.Attempts != 0 || p.Unsettled {
			t.Errorf("on its way: %+v", p)
		}
		b.Pass(time.Hour + 3*time.Minute)
		if p := b.post(slow.ID); p.Status != store.PostPublished || p.Attempts != 1 || p.Failures != 0 || p.PublishedAt.Sub(p.ScheduledTime) > 2*time.Hour+5*time.Second {
			t.Errorf("in the end: %+v", p)
		}
		b.Pass(2 * time.Hour)
		for _, id := range texts {
			if p := b.post(id); p.Status != store.PostPublished || p.PublishedAt.Sub(p.ScheduledTime) > 2*time.Second {
				t.Errorf("post %d is %s, out at %s and not at %s", id, p.Status, p.PublishedAt, p.ScheduledTime)
			}
		}
		var runs int
		b.View(func(tx *store.Tx) error {
			page, err := tx.Runs.Of(slow.JobName(), store.Query{Limit: 100})
			runs = len(page.Items)
			return err
		})
		if runs != 1 {
			t.Errorf("the history has %d runs of it", runs)
		}
	})
}

type action = func(*Worker, *store.Tx, uint64) (store.Post, error)

func do(b *bench, a action, id uint64) error {
	return b.DB.Update(func(tx *store.Tx) error {
		_, err := a(b.worker, tx, id)
		return err
	})
}

func conflict(err error) bool {
	_, ok := errors.AsType[*store.ConflictError](err)
	return ok
}

func TestActions(t *testing.T) {
	t.Run("a cancelled post stays, and can be retried", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			id := b.schedule(time.Minute, Request{}).ID
			if err := do(b, (*Worker).Cancel, id); err != nil {
				t.Fatal(err)
			}
			b.Pass(time.Hour)
			if p := b.post(id); p.Status != store.PostCancelled || b.sent() != 0 {
				t.Errorf("post %+v", p)
			}
			if err := do(b, (*Worker).Retry, id); err != nil {
				t.Fatal(err)
			}
			b.Pass(time.Second)
			if p := b.post(id); p.Status != store.PostPublished {
				t.Errorf("post %+v", p)
			}
			for name, a := range map[string]action{"cancel": (*Worker).Cancel, "retry": (*Worker).Retry, "publish now": (*Worker).PublishNow} {
				if err := do(b, a, id); !conflict(err) {
					t.Errorf("%s of a published post: %v", name, err)
				}
			}
		})
	})
	t.Run("publish now sends it once, and not again at its time", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			id := b.schedule(time.Hour, Request{}).ID
			if err := do(b, (*Worker).PublishNow, id); err != nil {
				t.Fatal(err)
			}
			b.Pass(time.Second)
			if p := b.post(id); p.Status != store.PostPublished {
				t.Errorf("post %+v", p)
			}
			b.Pass(2 * time.Hour)
			if b.sent() != 1 {
				t.Errorf("%d messages", b.sent())
			}
		})
	})
	t.Run("a post under way cannot be cancelled or changed", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			b.net.took = 10 * time.Second
			id := b.schedule(time.Minute, Request{}).ID
			b.Pass(time.Minute + time.Second)
			if err := do(b, (*Worker).Cancel, id); !conflict(err) {
				t.Errorf("cancel: %v", err)
			}
			if _, err := b.worker.PrepareChange(context.Background(), id, Patch{}); !conflict(err) {
				t.Errorf("change: %v", err)
			}
		})
	})
	t.Run("a change takes effect, also to an earlier time", func(t *testing.T) {
		inBubble(t, func(b *bench) {
			id := b.schedule(24*time.Hour, Request{}).ID
			text, at := "changed", b.DB.Now().Add(time.Minute).Format(time.RFC3339Nano)
			draft, err := b.worker.PrepareChange(context.Background(), id, Patch{Text: &text, ScheduledTime: &at})
			if err != nil {
				t.Fatal(err)
			}
			b.Update(func(tx *store.Tx) error {
				_, err := b.worker.Change(tx, id, draft)
				return err
			})
			b.Pass(time.Minute)
			if p := b.post(id); p.Status != store.PostPublished || b.net.messages[0].Text != "changed" {
				t.Errorf("post %+v", p)
			}
		})
	})
}

// A post that was asked for at once waits as its network has asked. Its owner saves another text, beside the time that it has.
func TestATimeThatIsSavedHoldsAfterPublishNow(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.start()
		id := b.schedule(24*time.Hour, Request{}).ID
		b.Update(func(tx *store.Tx) error {
			i, err := tx.Identities.Get(b.firstID)
			return errors.Join(err, tx.Holds.Extend(i.Lane(), tx.Now().Add(time.Hour), store.Reason{Code: store.ReasonFlood}))
		})
		if err := do(b, (*Worker).PublishNow, id); err != nil {
			t.Fatal(err)
		}
		b.Pass(time.Second)
		text := "changed"
		draft, err := b.worker.PrepareChange(b.T.Context(), id, Patch{Text: &text})
		if err == nil {
			err = do(b, func(w *Worker, tx *store.Tx, id uint64) (store.Post, error) { return w.Change(tx, id, draft) }, id)
		}
		if err != nil {
			t.Fatal(err)
		}
		b.Pass(23 * time.Hour)
		if b.sent() != 0 {
			t.Error("it went out before the time that was saved")
		}
		b.Pass(time.Hour)
		if p := b.post(id); b.sent() != 1 || p.Status != store.PostPublished {
			t.Errorf("%+v", p)
		}
	})
}

// Each action is done around the time of the post. What was accepted holds.
func TestWhatIsAcceptedWhileAPostFallsDueHolds(t *testing.T) {
	patch := func(b *bench, id uint64, p Patch) error {
		draft, err := b.worker.PrepareChange(b.T.Context(), id, p)
		if err != nil {
			return err
		}
		return do(b, func(w *Worker, tx *store.Tx, id uint64) (store.Post, error) { return w.Change(tx, id, draft) }, id)
	}
	text, target, at := "edited", "@other", ""
	cases := []struct {
		name  string
		held  bool // it needs approval, and its job was started by hand
		act   func(b *bench, id uint64) error
		holds func(b *bench, p store.Post) bool // an hour after its time, if it was accepted
	}{
		{"move", false, func(b *bench, id uint64) error { return patch(b, id, Patch{ScheduledTime: &at}) },
			func(b *bench, p store.Post) bool { return p.Status == store.PostScheduled && b.sent() == 0 }},
		{"edit", false, func(b *bench, id uint64) error { return patch(b, id, Patch{Text: &text}) },
			func(b *bench, p store.Post) bool { return b.sent() == 1 && b.net.messages[0].Text == text }},
		{"target", false, func(b *bench, id uint64) error { return patch(b, id, Patch{Target: &target}) },
			func(b *bench, p store.Post) bool { return b.sent() == 1 && b.net.messages[0].Target == target }},
		{"cancel", false, func(b *bench, id uint64) error { return do(b, (*Worker).Cancel, id) },
			func(b *bench, p store.Post) bool { return p.Status == store.PostCancelled && b.sent() == 0 }},
		{"publish now", false, func(b *bench, id uint64) error { return do(b, (*Worker).PublishNow, id) },
			func(b *bench, p store.Post) bool { return p.Status == store.PostPublished && b.sent() == 1 }},
		{"approve", true, func(b *bench, id uint64) error { return do(b, (*Worker).Approve, id) },
			func(b *bench, p store.Post) bool { return p.Status == store.PostPublished && b.sent() == 1 }},
	}
	for _, c := range cases {
		for offset := -3 * time.Millisecond; offset <= 3*time.Millisecond; offset += time.Millisecond {
			inBubble(t, func(b *bench) {
				b.net.took = 2 * time.Millisecond
				post := b.schedule(time.Minute, Request{Hold: c.held})
				at = post.ScheduledTime.Add(2 * time.Hour).Format(time.RFC3339Nano)
				var err error
				time.AfterFunc(time.Minute, func() {
					if c.held {
						b.DB.Update(func(tx *store.Tx) error { _, err := scheduler.RunNow(tx, post.JobName()); return err })
					}
				})
				time.AfterFunc(time.Minute+offset, func() { err = c.act(b, post.ID) })
				b.Pass(time.Hour)
				p := b.post(post.ID)
				if err == nil && !c.holds(b, p) {
					t.Errorf("%s at %s was accepted: %+v, %d messages", c.name, offset, p, b.sent())
				}
				if err != nil && !conflict(err) {
					t.Errorf("%s at %s: %v", c.name, offset, err)
				}
			})
		}
	}
}

// A change is checked for seconds: the network is asked. What happens to the post meanwhile stays.
func TestAChangeUndoesNothing(t *testing.T) {
	text, silent := "better", true
	for name, meanwhile := range map[string]func(*bench, uint64) error{
		"cancelled": func(b *bench, id uint64) error { return do(b, (*Worker).Cancel, id) },
		"approved":  func(b *bench, id uint64) error { return do(b, (*Worker).Approve, id) },
		"changed": func(b *bench, id uint64) error {
			draft, err := b.worker.PrepareChange(b.T.Context(), id, Patch{Silent: &silent})
			if err != nil {
				return err
			}
			return do(b, func(w *Worker, tx *store.Tx, id uint64) (store.Post, error) { return w.Change(tx, id, draft) }, id)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				id := b.schedule(time.Hour, Request{Hold: true}).ID
				draft, err := b.worker.PrepareChange(b.T.Context(), id, Patch{Text: &text})
				if err != nil {
					t.Fatal(err)
				}
				if err := meanwhile(b, id); err != nil {
					t.Fatal(err)
				}
				was := b.post(id)
				err = do(b, func(w *Worker, tx *store.Tx, id uint64) (store.Post, error) { return w.Change(tx, id, draft) }, id)
				if !conflict(err) {
					t.Errorf("the change: %v", err)
				}
				if p := b.post(id); !reflect.DeepEqual(p, was) {
					t.Errorf("the post was %+v\n and is %+v", was, p)
				}
			})
		})
	}
}

func TestAPostWhoseAccountIsGoneSaysSoWhenItIsToBeSentAgain(t *testing.T) {
	inBubble(t, func(b *bench) {
		b.fault(fault{err: &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Err: errors.New("no")}})
		id := b.schedule(0, Request{}).ID
		b.Pass(time.Minute)
		b.Update(func(tx *store.Tx) error { return tx.Identities.Delete(b.firstID) })
		if err := do(b, (*Worker).Retry, id); !conflict(err) {
			t.Errorf("post %d is %s, and to send it again is answered: %v (not found: %v)", id, b.post(id).Status, err, errors.Is(err, store.ErrNotFound))
		}
	})
}

func TestWhatSomebodyHasSeenIsNamed(t *testing.T) {
	inBubble(t, func(b *bench) {
		id := b.schedule(time.Hour, Request{Text: "first", Hold: true}).ID
		seen := Seen(b.post(id))
		text := "second"
		if _, err := b.worker.PrepareChange(b.T.Context(), id, Patch{Text: &text, Seen: seen}); err != nil {
			t.Error(err)
		}
		unchanged := func() error {
			return b.DB.View(func(tx *store.Tx) error { return Unchanged(tx, id, seen) })
		}
		if err := do(b, (*Worker).Approve, id); err != nil || unchanged() != nil {
			t.Errorf("approving it does not change what it says: %v, %v", err, unchanged())
		}
		for name, change := range map[string]func(*store.Post){
			"text":   func(p *store.Post) { p.Text = "other" },
			"target": func(p *store.Post) { p.Target = "@elsewhere" },
			"time":   func(p *store.Post) { p.ScheduledTime = p.ScheduledTime.Add(time.Second) },
			"media":  func(p *store.Post) { p.Media = []store.Media{{Kind: "photo", File: "a.jpg"}} },
		} {
			was := b.post(id)
			other := was
			change(&other)
			b.Update(func(tx *store.Tx) error { return tx.Posts.Put(&other) })
			if err := unchanged(); !conflict(err) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := b.worker.PrepareChange(b.T.Context(), id, Patch{Text: &text, Seen: seen}); !conflict(err) {
				t.Errorf("%s, a change: %v", name, err)
			}
			b.Update(func(tx *store.Tx) error { return tx.Posts.Put(&was) })
		}
	})
}

func TestAPostThatIsHeldWaitsForApproval(t *testing.T) {
	inBubble(t, func(b *bench) {
		approve := func(id uint64) {
			t.Helper()
			b.Update(func(tx *store.Tx) error { _, err := b.worker.Approve(tx, id); return err })
		}
		early, late := b.schedule(time.Hour, Request{Hold: true}), b.schedule(time.Hour, Request{Hold: true})
		now, gone := b.schedule(time.Hour, Request{Hold: true}), b.schedule(time.Hour, Request{Hold: true})
		approve(early.ID)
		approve(early.ID)
		b.Pass(time.Minute)
		if b.sent() != 0 {
			t.Error("approved is not published")
		}
		b.Update(func(tx *store.Tx) error { _, err := b.worker.PublishNow(tx, now.ID); return err })
		b.Update(func(tx *store.Tx) error { _, err := b.worker.Cancel(tx, gone.ID); return err })
		b.Pass(time.Second)
		if p := b.post(now.ID); p.Status != store.PostPublished || p.Held {
			t.Errorf("published at once: %+v", p)
		}
		b.Pass(2 * time.Hour)
		if p := b.post(early.ID); p.Status != store.PostPublished || !p.PublishedAt.Equal(p.ScheduledTime) {
			t.Errorf("approved in time: %+v", p)
		}
		if p := b.post(late.ID); p.Status != store.PostScheduled || !p.Held || b.sent() != 2 {
			t.Errorf("not approved: %+v, %d messages", p, b.sent())
		}
		for _, start := range []func(*store.Tx, string) (store.Job, error){scheduler.RunNow, scheduler.Resume} {
			b.Update(func(tx *store.Tx) error { _, err := start(tx, late.JobName()); return err })
			b.Pass(time.Hour)
			var job store.Job
			b.View(func(tx *store.Tx) (err error) { job, err = tx.Jobs.ByName(late.JobName()); return err })
			if p := b.post(late.ID); !p.Held || b.sent() != 2 || job.State != store.JobPaused {
				t.Errorf("its job was started, which is no approval: %+v, %d messages, job %+v", p, b.sent(), job)
			}
		}
		var held []uint64
		err := b.DB.View(func(tx *store.Tx) error {
			for p := range tx.Posts.AllHeld() {
				held = append(held, p.ID)
			}
			return nil
		})
		if err != nil || len(held) != 1 || held[0] != late.ID {
			t.Errorf("held are %v, %v", held, err)
		}
		b.start()
		approve(late.ID)
		b.Pass(time.Second)
		if p := b.post(late.ID); p.Status != store.PostPublished {
			t.Errorf("approved late: %+v", p)
		}
		err = b.DB.Update(func(tx *store.Tx) error { _, err := b.worker.Approve(tx, gone.ID); return err })
		if _, is := errors.AsType[*store.ConflictError](err); !is {
			t.Errorf("a cancelled post was approved: %v", err)
		}
	})
}

func TestRequestsThatCannotBeAreRefusedByField(t *testing.T) {
	inBubble(t, func(b *bench) {
		good := func() Request {
			return Request{Platform: "telegram", Text: "hello", ScheduledTime: b.DB.Now().Add(time.Hour).Format(time.RFC3339)}
		}
		cases := []struct {
			name, field string
			spoil       func(*Request)
		}{
			{"no time", "scheduled_time", func(r *Request) { r.ScheduledTime = "" }},
			{"no zone", "scheduled_time", func(r *Request) { r.ScheduledTime = "2030-01-01T12:00:00" }},
			{"not a time", "scheduled_time", func(r *Request) { r.ScheduledTime = "tomorrow" }},
			{"the past", "scheduled_time", func(r *Request) { r.ScheduledTime = "1999-01-01T12:00:00Z" }},
			{"the far future", "scheduled_time", func(r *Request) { r.ScheduledTime = "2226-01-01T12:00:00Z" }},
			{"no time at all", "scheduled_time", func(r *Request) { r.ScheduledTime, r.AllowPast = "0001-01-01T00:00:00Z", true }},
			{"a time that no queue has", "scheduled_time", func(r *Request) { r.ScheduledTime, r.AllowPast = "1900-01-01T00:00:00Z", true }},
			{"nothing to say", "text", func(r *Request) { r.Text = "" }},
			{"two things to say", "content_id", func(r *Request) { r.ContentID = 1 }},
			{"a content that is not there", "content_id", func(r *Request) { r.Text, r.ContentID = "", 7 }},
			{"no platform", "platform", func(r *Request) { r.Platform = "" }},
			{"an unknown platform", "platform", func(r *Request) { r.Platform = "myspace" }},
			{"an identity that is not there", "identity_id", func(r *Request) { r.IdentityID = 99 }},
			{"a chat that is not there", "target", func(r *Request) { r.Target = "@nowhere" }},
			{"too long", "text", func(r *Request) { r.Text = strings.Repeat("x", 101) }},
			{"media without a file", "media[0].url", func(r *Request) { r.Media = []store.Media{{Kind: "photo"}} }},
			{"a lateness that makes no sense", "lateness", func(r *Request) { r.Lateness.Policy = store.LateEach }},
		}
		for _, c := range cases {
			r := good()
			c.spoil(&r)
			_, err := b.worker.Prepare(context.Background(), r)
			f, ok := errors.AsType[*store.FieldError](err)
			if !ok || f.Field != c.field {
				t.Errorf("%s: got %v, want an error about %s", c.name, err, c.field)
			}
		}
		for name, fine := range map[string]func(*Request){
			"a past time that is asked for": func(r *Request) { r.ScheduledTime, r.AllowPast = "1999-01-01T12:00:00Z", true },
			"a chat that cannot be asked":   func(r *Request) { r.Target = "@later" },
			"x under its old name":          func(r *Request) { r.Platform = " Telegram " },
		} {
			r := good()
			fine(&r)
			if _, err := b.worker.Prepare(context.Background(), r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// Whatever the network does, and however often the program is started anew, each post is in the
// chat at most once, and what its record says is true.
func TestEachPostIsOutOnceAndItsStatusIsTrue(t *testing.T) {
	for seed := range uint64(5) {
		inBubble(t, func(b *bench) {
			rnd := rand.New(rand.NewPCG(seed, 0))
			const n = 60
			ids := make([]uint64, n)
			for i := range ids {
				ids[i] = b.schedule(time.Duration(rnd.IntN(600))*time.Second, Request{}).ID
			}
			for range n {
				b.fault(randomFault(rnd))
			}
			for range 20 {
				b.Pass(time.Duration(rnd.IntN(60_000)) * time.Millisecond)
				b.start()
			}
			b.Pass(6 * time.Hour)
			b.Stop()
			times := map[int64]int{}
			for _, m := range b.net.messages {
				times[m.Key]++
			}
			for _, id := range ids {
				p := b.post(id)
				out := times[p.Key]
				if out > 1 {
					t.Errorf("seed %d: post %d is out %d times", seed, id, out)
				}
				failed := b.net.failed[p.Key]
				switch {
				case p.Status == store.PostPublished && out == 1:
				case p.Status == store.PostUnknown && failed == 3: // not because the program has ended
				case p.Status == store.PostFailed && failed == 3 && out == 0:
				default:
					t.Errorf("seed %d: post %d is %s and %d times out after %d failures (%+v)", seed, id, p.Status, out, failed, p.Reason)
				}
			}
		})
	}
}

func randomFault(rnd *rand.Rand) fault {
	switch rnd.IntN(6) {
	case 0:
		return fault{hang: true, carried: true}
	case 1:
		return fault{hang: true}
	case 2:
		return fault{err: &platform.Error{Kind: platform.Wait, Scope: platform.ScopeIdentity, Wait: time.Duration(rnd.IntN(100)) * time.Second, Err: errors.New("flood")}}
	case 3:
		return fault{err: &platform.Error{Kind: platform.Transient, Scope: platform.ScopeChat, Err: errors.New("busy")}}
	case 4:
		return fault{err: &platform.Error{Kind: platform.Unknown, Scope: platform.ScopeChat, Err: errors.New("500")}, carried: rnd.IntN(2) == 0}
	}
	return fault{}
}

func TestATextIsReadByItsNetwork(t *testing.T) {
	w := New(nil, map[string]Network{"telegram": &network{}}, Config{})
	bold := []platform.Span{{Kind: platform.Bold, Start: 2, End: 3}}
	if got, err := w.Styled("telegram", "html", "a <b>b</b>"); err != nil || got.Text != "a b" || !slices.Equal(got.Spans, bold) {
		t.Errorf("%v %v, want %q and %v", got, err, "a b", bold)
	}
	for _, c := range []struct{ platform, text, want string }{
		{"telegram", " a <b>b\xff\n", "a <b>b\uFFFD"},
		{"myspace", "a <b>b</b>", "a <b>b</b>"},
	} {
		if got, err := w.Styled(c.platform, "html", c.text); err == nil || got.Text != c.want || got.Spans != nil {
			t.Errorf("%s %q: %v %v, want the text as it is and an error", c.platform, c.text, got, err)
		}
	}
}

// A network that recognises no repetition is asked once: what then follows is a person's decision.
func TestAPostWithoutAnswerOrKeyIsNotSentAgainByItself(t *testing.T) {
	inBubble(t, func(b *bench) {
		unconfirmed := fault{err: &platform.Error{Kind: platform.Unconfirmed, Err: errors.New("no answer")}, carried: true}
		b.fault(unconfirmed, unconfirmed)
		seen, again := b.schedule(time.Minute, Request{}).ID, b.schedule(2*time.Minute, Request{}).ID
		b.Pass(time.Hour)
		if s, a := b.post(seen), b.post(again); s.Status != store.PostUnknown || a.Status != store.PostUnknown || b.net.calls != 2 {
			t.Fatalf("%+v, %+v, %d calls", s, a, b.net.calls)
		}
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.MarkPublished(tx, seen)
			waits, retry := b.worker.Retry(tx, again)
			if err := changeable(waits); !conflict(err) {
				t.Errorf("what may be out already can be changed: %v", err)
			}
			return errors.Join(err, retry)
		})
		b.Pass(time.Minute)
		if s, a := b.post(seen), b.post(again); s.Status != store.PostPublished || a.Status != store.PostPublished || a.SentAgain || b.net.calls != 3 {
			t.Errorf("%+v, %+v, %d calls", s, a, b.net.calls)
		}
		if last := b.net.messages[len(b.net.messages)-1]; last.SentAgain || last.Unanswered {
			t.Errorf("the first call was %+v", last)
		}
	})
}

// What an attempt has made is on record before the next one begins, and settles what was not known.
func TestTheStateOfAnAttemptIsGivenToTheNext(t *testing.T) {
	inBubble(t, func(b *bench) {
		state := []byte("container 1")
		b.fault(fault{hang: true},
			fault{err: &platform.Error{Kind: platform.UnderWay, State: state, Wait: time.Minute, Err: errors.New("in progress")}},
			fault{err: &platform.Error{Kind: platform.Refused, Err: errors.New("bad picture")}})
		id := b.schedule(time.Minute, Request{}).ID
		b.Pass(100 * time.Second)
		if p := b.post(id); !bytes.Equal(p.State, state) || p.Unsettled || p.Status != store.PostPublishing {
			t.Errorf("under way: %+v", p)
		}
		b.Pass(time.Hour)
		if p := b.post(id); p.Status != store.PostFailed {
			t.Errorf("refused: %+v", p)
		}
	})
}
