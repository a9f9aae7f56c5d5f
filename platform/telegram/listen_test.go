package telegram_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

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
	ears := &hearing{}
	r.listener = &telegram.Listener{Hear: ears.hear,
		Commands: []platform.Command{{Name: "status", About: "How it stands"}}}
	ann := r.srv.AddUser(telegramtest.User{Username: "ann_writes", FirstName: "Ann", LastName: "Lee"})
	data := r.srv.Session(r.bot)
	err := r.db.Update(func(tx *store.Tx) error {
		return tx.Sessions.Put(&store.Session{IdentityID: r.id, Data: data})
	})
	if err != nil {
		t.Fatal(err)
	}
	r.start()
	r.connect()
	r.awaitHeard(0)
	return r, ears, ann
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

// awaitHeard waits until so much is heard and committed, and the bot's state is stored.
func (r *room) awaitHeard(n int) []string {
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
		if list := r.heard(); len(list) >= n && state != "" {
			return list
		}
		select {
		case <-changes:
		case <-r.ctx.Done():
			r.Fatalf("heard %q, want %d\n%s", r.heard(), n, r.log)
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

func TestWhatAPersonWritesToABotIsHeard(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	r.srv.Write(ann.ID, r.bot, "/start")
	r.hears("Ann Lee 1: /start")
	r.srv.Write(ann.ID, r.bot, "hello")
	r.hears("Ann Lee 1: /start", "Ann Lee 2: hello")
	list, err := r.srv.AwaitCommands(r.ctx, r.bot, "")
	if err != nil || len(list) != 1 || list[0] != (telegramtest.Command{Name: "status", About: "How it stands"}) {
		t.Errorf("commands %v, %v", list, err)
	}
}

// What fails now and is heard later holds back what was written after it, and nothing is heard twice.
func TestWhatFailsToBeHeardIsTriedAgain(t *testing.T) {
	t.Parallel()
	r, ears, ann := newListening(t)
	tries := 0
	ears.failing(func(h platform.Heard) error {
		if h.Text == "two" {
			if tries++; tries < 4 {
				return errors.New("not today")
			}
		}
		return nil
	})
	r.srv.Write(ann.ID, r.bot, "one")
	r.hears("Ann Lee 1: one")
	r.srv.Write(ann.ID, r.bot, "two")
	r.srv.Write(ann.ID, r.bot, "three")
	r.hears("Ann Lee 1: one", "Ann Lee 2: two", "Ann Lee 3: three")
	if !strings.Contains(r.log.String(), "not today") || len(r.errorLines()) > 0 {
		t.Errorf("log %s", r.log)
	}
}
