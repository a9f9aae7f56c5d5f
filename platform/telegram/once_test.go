package telegram_test

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gotd/td/clock"

	"belfry/platform"
	"belfry/platform/telegram"
)

// The random ids of posts that were sent once must be the same in every later version.
func TestRandomIDNeverChanges(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		key  int64
		part int
		want int64
	}{
		{1, 0, -1012760045110081951},
		{1, 1, 2783526739481476778},
		{-7_000_000_000_000_000_007, 9, -2049871366617997132},
	} {
		if got := telegram.RandomID(test.key, test.part); got != test.want {
			t.Errorf("RandomID(%d, %d) = %d, want %d", test.key, test.part, got, test.want)
		}
	}
}

func TestSameKeyTwiceIsOneMessageWithOneReceipt(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.file("a.png", picture(40, 30))
	posts := []platform.Post{
		{Key: 1, Text: "text"},
		{Key: 2, Text: "photo", Media: []platform.Media{{Kind: platform.Photo, File: "a.png"}}},
		{Key: 3, Text: "album", Media: []platform.Media{{Kind: platform.Photo, File: "a.png"}, {Kind: platform.Photo, File: "a.png"}}},
	}
	for _, p := range posts {
		first := r.mustPublish(p)
		if second := r.mustPublish(p); !reflect.DeepEqual(first, second) {
			t.Errorf("%s: receipts %+v and %+v", p.Text, first, second)
		}
	}
	r.restart()
	for _, p := range posts {
		r.mustPublish(p)
	}
	if n := len(r.messages()); n != 4 {
		t.Errorf("%d messages, want 4", n)
	}
}

func TestCallThatIsNeverAnsweredEndsOnTimeAndIsSafeToRepeat(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mustPublish(platform.Post{Key: 1, Text: "resolve"})
	r.srv.Mute(sendID, 1)
	ctx, cancel := context.WithTimeout(r.ctx, 2*time.Second)
	defer cancel()
	r.sent[2] = true
	began := time.Now()
	_, err := r.network.Publisher(r.id).Publish(ctx, platform.Post{Key: 2, Text: "once", Target: "bells_daily"})
	if took := time.Since(began); took > limit {
		t.Errorf("it took %s", took)
	}
	if e := platform.AsError(err); e.Kind != platform.Unknown {
		t.Fatalf("got %s (%v), want unknown", e.Kind, err)
	}
	if err := r.srv.Await(r.ctx, r.channel.ID, 2); err != nil { // it was carried out
		t.Fatal(err)
	}
	if got := r.mustPublish(platform.Post{Key: 2, Text: "once"}); got.MessageIDs[0] != 3 {
		t.Errorf("receipt %+v, want message 3", got)
	}
}

func TestConnectionThatDiesAfterTheCallIsSafeToRepeat(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mustPublish(platform.Post{Key: 1, Text: "resolve"})
	for key := int64(2); key < 8; key++ {
		r.srv.Drop(sendID, 1)
		p := platform.Post{Key: key, Text: "once"}
		_, err := r.publish(p)
		// gotd repeats by itself what had not been acknowledged; what had been is unknown.
		if err != nil && platform.AsError(err).Kind != platform.Unknown {
			t.Fatalf("got %v, want unknown", err)
		}
		if got := r.mustPublish(p); got.MessageIDs[0] != key+1 {
			t.Errorf("receipt %+v, want message %d", got, key+1)
		}
	}
}

func TestConnectionThatDiesBeforeTheCallHarmsNothing(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.srv.DropBefore(sendID, 1)
	r.mustPublish(platform.Post{Key: 1, Text: "once"})
	r.only()
}

func TestRepetitionWhileTheFirstCallRunsWaits(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	r.mustPublish(platform.Post{Key: 1, Text: "resolve"})
	release := r.srv.Hold(sendID, 1)
	ctx, cancel := context.WithCancel(r.ctx)
	first := make(chan error, 1)
	p := platform.Post{Key: 2, Text: "once", Target: "@bells_daily"}
	go func() {
		_, err := r.network.Publisher(r.id).Publish(ctx, p)
		first <- err
	}()
	if err := r.srv.AwaitCalls(r.ctx, sendID, 2); err != nil {
		t.Fatal(err)
	}
	cancel() // the first attempt is given up, the call runs on
	if e := platform.AsError(<-first); e.Kind != platform.Unknown || !errors.Is(e, context.Canceled) {
		t.Errorf("the first attempt ended with %v", e)
	}
	e := r.refused(p, platform.Unknown, platform.ScopeChat)
	if e.Code != "RANDOM_ID_DUPLICATE" || e.Wait <= 0 {
		t.Errorf("error %+v", e)
	}
	release()
	if err := r.srv.Await(r.ctx, r.channel.ID, 2); err != nil {
		t.Fatal(err)
	}
	r.mustPublish(p)
}

func TestALostAnswerIsNotForgottenForTheNextOne(t *testing.T) {
	for code, then := range map[string]int{"FLOOD_WAIT_600": 420, "CHAT_WRITE_FORBIDDEN": 403} {
		r := newRoom(t)
		r.mustPublish(platform.Post{Key: 1, Text: "resolve"})
		r.srv.Drop(sendID, 1)
		r.srv.Fail(sendID, 1, then, code)
		_, err := r.publish(platform.Post{Key: 2, Text: "out"})
		if n := len(r.messages()); n != 2 || !platform.AsError(err).MayBeOut {
			t.Errorf("%s: %d messages are there, and the answer is %+v", code, n, err)
		}
	}
}

// machine is the clock of the machine as gotd sees it.
type machine struct {
	clock.Clock
	ahead atomic.Int64
}

func (m *machine) Now() time.Time { return m.Clock.Now().Add(time.Duration(m.ahead.Load())) }

func TestAClockThatWasAheadForAMomentKeepsNobodyOffline(t *testing.T) {
	m := &machine{Clock: clock.System}
	clock.System = m
	t.Cleanup(func() { clock.System = m.Clock })
	r := newRoom(t)
	m.ahead.Store(int64(100 * time.Second))
	r.srv.CloseConnections()
	r.awaitLog("turn time synchronisation on")
	m.ahead.Store(0)
	r.connect()
	r.mustPublish(platform.Post{Key: 1, Text: "the clock is right"})
}
