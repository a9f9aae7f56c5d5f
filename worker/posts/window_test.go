package posts

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
)

// windowed is a network that records when it was called.
type windowed struct {
	*network
	at []time.Time
}

func inWindow(t *testing.T, window string, test func(b *bench, w *windowed)) {
	t.Helper()
	inBubble(t, func(b *bench) {
		w := &windowed{network: b.net}
		cfg := Config{}
		if err := cfg.TelegramWindow.UnmarshalText([]byte(window)); err != nil {
			t.Fatal(err)
		}
		b.worker = New(b.DB, map[string]Network{"telegram": recorder{w}}, cfg)
		b.start()
		test(b, w)
		for _, limit := range cfg.TelegramWindow {
			for i := limit.Most; i < len(w.at); i++ {
				if passed := w.at[i].Sub(w.at[i-limit.Most]); passed <= limit.Per {
					t.Errorf("calls %d to %d are within %v", i-limit.Most, i, passed)
				}
			}
		}
	})
}

type recorder struct{ *windowed }

func (r recorder) Publisher(uint64) platform.Publisher { return called(r) }

// called notes a call before it is made.
type called struct{ *windowed }

func (c called) Publish(ctx context.Context, p platform.Post) (platform.Receipt, error) {
	c.mu.Lock()
	c.at = append(c.at, time.Now())
	c.mu.Unlock()
	return c.network.Publish(ctx, p)
}

// 200 posts are offered at once: no more than the window has go out in any hour, all do, and in their order. Some
// calls fail, some have no answer; the program is started again now and then.
func TestTwoHundredPostsKeepTheWindowAndTheirOrder(t *testing.T) {
	inWindow(t, "30/1h,100/24h", func(b *bench, w *windowed) {
		for i := range 200 {
			b.schedule(time.Hour-time.Duration(i)*time.Second, Request{Text: fmt.Sprint(199 - i)}) // the last is due first
		}
		b.Pass(time.Hour)
		b.fault(fault{err: &platform.Error{Kind: platform.Transient, Scope: platform.ScopeChat, Err: errors.New("busy")}}, fault{hang: true, carried: true})
		late := b.schedule(0, Request{Text: "200"}).ID
		b.Pass(30 * time.Second)
		if p := b.post(late); p.Status != store.PostScheduled || p.Reason.Code != store.ReasonWindow || p.Reason.Until.Before(b.DB.Now().Add(time.Hour)) {
			t.Errorf("the last: %+v", p)
		}
		for range 10 {
			b.Pass(7 * time.Hour)
			b.start()
		}
		if n := b.sent(); n != 201 || b.post(late).Status != store.PostPublished {
			t.Fatalf("%d posts are out", n)
		}
		number := func(i int) (n int) {
			n, err := strconv.Atoi(w.messages[i].Text)
			if err != nil {
				t.Error(err)
			}
			return n
		}
		behind := 0
		for i := 1; i < len(w.messages); i++ {
			if number(i) < number(i-1) {
				behind++
			}
		}
		if behind > 1 { // the call that failed
			t.Errorf("%d posts are out of order", behind)
		}
	})
}

func TestAPostThatIsPublishedNowWaitsForNoneThatIsDueLater(t *testing.T) {
	inWindow(t, "2/1h", func(b *bench, _ *windowed) {
		for i := range 10 {
			b.schedule(time.Duration(24+i)*time.Hour, Request{})
		}
		last := b.schedule(100*time.Hour, Request{}).ID
		b.Update(func(tx *store.Tx) error {
			_, err := b.worker.PublishNow(tx, last)
			return err
		})
		b.Pass(time.Minute)
		if p := b.post(last); p.Status != store.PostPublished {
			t.Errorf("nothing was sent yet, and it is %s: %+v", p.Status, p.Reason)
		}
	})
}

func TestAnOutageAndAnUploadTakeNoSlots(t *testing.T) {
	inWindow(t, "2/1h", func(b *bench, w *windowed) {
		b.fault(repeat(fault{err: &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: errors.New("not connected")}}, 50)...)
		b.schedule(0, Request{})
		b.Pass(time.Hour)
		w.at = nil // nothing was sent
		id := b.schedule(0, Request{Media: []store.Media{{Kind: "photo", URL: "https://media.example/a.jpg"}}}).ID
		b.net.upload = 10 * time.Minute
		b.Pass(20 * time.Minute)
		w.at = nil // these uploaded
		if p := b.post(id); p.Status != store.PostPublished || b.sent() != 2 {
			t.Errorf("%+v, %d", p, b.sent())
		}
		third := b.schedule(0, Request{}).ID
		b.Pass(time.Minute)
		if p := b.post(third); p.Reason.Code != store.ReasonWindow {
			t.Errorf("%+v", p)
		}
		b.Update(func(tx *store.Tx) error {
			i, err := tx.Identities.Get(b.firstID)
			i.Window = "off"
			return errors.Join(err, tx.Identities.Put(&i))
		})
		fourth := b.schedule(0, Request{}).ID
		b.Pass(10 * time.Second)
		for _, id := range []uint64{third, fourth} { // what waited goes on at once
			if p := b.post(id); p.Status != store.PostPublished {
				t.Errorf("without a window: %+v", p)
			}
		}
		w.at = nil
	})
}

func TestAWindowThatAWrongClockHasFilledEnds(t *testing.T) {
	for window, c := range map[string]struct {
		planned      int
		ahead, waits time.Duration
	}{"30/1h": {40, 30 * 24 * time.Hour, 2 * time.Hour}, "1/1h": {1, 3 * time.Hour, 100 * time.Minute}, "3/24h": {3, 20 * time.Hour, 26 * time.Hour}} {
		inBubble(t, func(b *bench) {
			b.Update(func(tx *store.Tx) error {
				i, err := tx.Identities.Get(b.firstID)
				i.Window = window
				return errors.Join(err, tx.Identities.Put(&i))
			})
			for i := range c.planned {
				b.schedule(time.Duration(i+1)*c.ahead/time.Duration(c.planned+1), Request{})
			}
			b.Pass(time.Second)
			b.SetClock(c.ahead)
			b.Pass(10 * time.Minute)
			b.SetClock(0)
			b.Pass(time.Minute)
			news := b.schedule(0, Request{}).ID
			if b.Pass(c.waits); b.post(news).Status != store.PostPublished {
				t.Errorf("%s, the clock was ahead by %v: %v later %+v", window, c.ahead, c.waits, b.post(news))
			}
		})
	}
}
