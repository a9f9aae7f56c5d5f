package telegram_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"belfry/platform"
	"belfry/platform/telegram"
	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

// hearing keeps what a bot has heard in the store, as a worker does, so that what is rolled back is
// not heard. Its zero value hears everything.
type hearing struct {
	mu   sync.Mutex
	fail func(h platform.Heard) error // nil: never
}

const heardPrefix = "test.heard."

func (e *hearing) hear(tx *store.Tx, h platform.Heard) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	count, err := tx.Settings.Value(heardPrefix + "count")
	if err != nil {
		return err
	}
	n := 0
	fmt.Sscan(count, &n)
	if err := tx.Settings.Set(heardPrefix+"count", fmt.Sprint(n+1)); err != nil {
		return err
	}
	if err := tx.Settings.Set(heardPrefix+fmt.Sprint(n), said(h)); err != nil {
		return err
	}
	if e.fail != nil {
		return e.fail(h)
	}
	return nil
}

func said(h platform.Heard) string {
	return fmt.Sprintf("%s %d: %s%s", h.Name, h.MessageID, h.Text, h.Data)
}

// failing has Hear fail in this way from now on.
func (e *hearing) failing(fail func(platform.Heard) error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fail = fail
}

// newListening returns a room whose bot is listened to, has been heard until now, and to whom a
// person has written nothing yet.
func newListening(t *testing.T, opts ...func(*telegramtest.Options)) (*room, *hearing, telegramtest.User) {
	t.Helper()
	r := newEmptyRoom(t, opts...)
	r.hearPause = time.Millisecond
	ears := &hearing{}
	r.listener = &telegram.Listener{Hear: ears.hear,
		Commands: func(uint64) []platform.Command { return []platform.Command{{Name: "status", About: "How it stands"}} }}
	ann := r.srv.AddUser(telegramtest.User{Username: "ann_writes", FirstName: "Ann", LastName: "Lee"})
	data := r.srv.Session(r.bot)
	err := r.db.Update(func(tx *store.Tx) error {
		return tx.Sessions.Put(&store.Session{IdentityID: r.id, Data: data})
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.proveHeardOnce)
	r.start()
	r.connect()
	r.awaitHeard(0)
	return r, ears, ann
}

// proveHeardOnce proves that nothing was heard twice, however the test ended.
func (r *room) proveHeardOnce() {
	r.stop()
	list := r.heard()
	slices.Sort(list)
	if len(slices.Compact(slices.Clone(list))) < len(list) {
		r.Errorf("heard twice: %q", list)
	}
}

// heard is what was heard and kept, in order, and how many texts and presses that is.
func (r *room) heard() (list []string) {
	r.Helper()
	err := r.db.View(func(tx *store.Tx) error {
		list = nil
		for i := 0; ; i++ {
			value, err := tx.Settings.Value(heardPrefix + fmt.Sprint(i))
			if err != nil || value == "" {
				return err
			}
			list = append(list, value)
		}
	})
	if err != nil {
		r.Fatal(err)
	}
	return list
}

// awaitHeard waits until so much is heard and committed.
func (r *room) awaitHeard(n int) (list []string) {
	r.Helper()
	r.awaitHeardState(func(state string) bool {
		list = r.heard()
		return state != "" && len(list) >= n
	})
	return list
}

// awaitHeardState waits until what is stored of how far the bot has been heard is as wanted.
func (r *room) awaitHeardState(wanted func(state string) bool) {
	r.Helper()
	changes, stop := r.db.Watch("settings")
	defer stop()
	for {
		var state string
		err := r.db.View(func(tx *store.Tx) (err error) {
			state, err = tx.Settings.Value(fmt.Sprintf("telegram.heard.%d", r.id))
			return err
		})
		if err != nil {
			r.Fatal(err)
		}
		if wanted(state) {
			return
		}
		select {
		case <-changes:
		case <-r.ctx.Done():
			r.Fatalf("heard %q until %s\n%s", r.heard(), state, r.log)
		}
	}
}

// hears proves that exactly this was heard.
func (r *room) hears(want ...string) {
	r.Helper()
	if got := r.awaitHeard(len(want)); !slices.Equal(got, want) {
		r.Fatalf("heard\n%q, want\n%q", got, want)
	}
}

func TestABotThatHearsNothingButErrorsIsNotConnected(t *testing.T) {
	r, _, ann := newListening(t)
	r.srv.Fail("updates.getDifference", -1, 500, "RPC_CALL_FAIL")
	r.srv.Write(ann.ID, r.bot, "is anybody there?")
	r.awaitState(r.id, platform.Connecting)
	r.srv.ClearFaults()
	r.awaitState(r.id, platform.Connected)
}
