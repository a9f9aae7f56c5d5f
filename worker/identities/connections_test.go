package identities

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"

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
