package identities

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"belfry/platform"
	"belfry/store"
)

// busyStart is a network that reads which identities there are, as it begins; another one is added right after that.
type busyStart struct {
	Network
	db        *store.DB
	connected []uint64
	add       func()
}

func (n *busyStart) Connect(id uint64) { n.connected = append(n.connected, id) }

func (n *busyStart) Run(ctx context.Context) error {
	known, err := List(n.db)
	if err != nil {
		return err
	}
	for _, i := range known {
		n.Connect(i.ID)
	}
	n.add()
	<-ctx.Done()
	return nil
}

func TestAnIdentityThatIsAddedWhileConnectionsBeginIsConnected(t *testing.T) {
	db := newDB(t)
	add := func(token string) {
		update(t, db, func(tx *store.Tx) error {
			_, err := Add(tx, Request{Platform: "telegram", Name: "b" + token[:1], Token: token})
			return err
		})
	}
	add("1" + token)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // what run starts begins when it waits itself
	synctest.Test(t, func(t *testing.T) {
		network := &busyStart{db: db, add: func() { add("2" + token) }}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- New(db, network, Config{}).run(ctx) }()
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if !slices.Equal(network.connected, []uint64{1, 2}) {
			t.Errorf("connected: %v", network.connected)
		}
	})
}

// answering is a network that answers each login with an error.
type answering struct {
	Network
	kind platform.Kind
}

func (n answering) SendCode(context.Context, uint64, string) (platform.LoginStep, error) {
	return platform.LoginStep{}, &platform.Error{Kind: n.kind, Scope: platform.ScopeIdentity, Err: errors.New("words")}
}

func TestALoginThatIsNotPossibleSaysWhatHelps(t *testing.T) {
	db := newDB(t)
	var user store.Identity
	update(t, db, func(tx *store.Tx) (err error) {
		user, err = Add(tx, Request{Platform: "telegram", Kind: string(store.IdentityUser)})
		return err
	})
	answer := func(kind platform.Kind, key string) {
		_, err := New(db, answering{kind: kind}, Config{}).SendCode(t.Context(), user.ID, "+79990000000")
		if e, ok := errors.AsType[*store.ConflictError](err); !ok || e.Key != key {
			t.Errorf("%s: %v", kind, err)
		}
	}
	answer(platform.Transient, "conflict.network")
	answer(platform.Wait, "conflict.network_says") // for a day, it may be
	answer(platform.Login, "conflict.network_says")
	update(t, db, func(tx *store.Tx) error { return tx.Settings.Set(store.Restored, "restored from a backup") })
	answer(platform.Transient, "conflict.restored")
}

func TestWhatWaitsForAConnectionIsTriedWhenOneIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(t)
		connected := make(chan struct{}, 1)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			ended <- New(db, &busyStart{db: db, add: func() {}}, Config{Connected: connected}).run(ctx)
		}()
		hold := func(lane string, code store.ReasonCode) {
			update(t, db, func(tx *store.Tx) error {
				return tx.Holds.Extend(lane, tx.Now().Add(2*time.Minute), store.Reason{Code: code, N: 30})
			})
		}
		held := func(lane string) (held bool, tries int) {
			update(t, db, func(tx *store.Tx) error {
				until, why := tx.Holds.Until(lane)
				held, tries = until.After(tx.Now()), why.N
				return nil
			})
			return held, tries
		}
		hold("waits", store.ReasonFlood)
		hold("early", store.ReasonNotConnected)
		connected <- struct{}{}
		synctest.Wait()
		if is, tries := held("early"); is || tries != 30 {
			t.Errorf("with a connection it waits: %t, after %d attempts", is, tries)
		}
		hold("late", store.ReasonNotConnected) // it gave up just before
		time.Sleep(givenUp)
		synctest.Wait()
		if is, _ := held("late"); is {
			t.Error("what had given up just before there was a connection waits")
		}
		if is, _ := held("waits"); !is {
			t.Error("what waits for something else does not wait")
		}
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
