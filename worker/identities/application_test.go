package identities

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"belfry/platform"
	"belfry/store"
)

const goodHash = "0123456789abcdef0123456789abcdef"

// oneApplication is a network that knows one application.
type oneApplication struct {
	Network
	down      bool
	connected []uint64
}

func (n *oneApplication) Connect(id uint64) { n.connected = append(n.connected, id) }

func (n *oneApplication) try(_ context.Context, id int, hash string) error {
	switch {
	case n.down:
		return &platform.Error{Kind: platform.Transient, Err: errors.New("not connected to Telegram")}
	case id != 7 || hash != goodHash:
		return &platform.Error{Kind: platform.Login, Err: errors.New("Telegram does not accept the API ID and hash")}
	}
	return nil
}

func TestNothingIsAddedBeforeTelegramHasAcceptedAnApplication(t *testing.T) {
	db, network := newDB(t), &oneApplication{}
	apps := Applications{DB: db}
	w := New(db, network, Config{Applications: apps, TryApplication: network.try})
	bot := Request{Platform: "telegram", Token: token}
	refusedFor := func(err error) string {
		t.Helper()
		if f, ok := errors.AsType[*store.FieldError](err); ok {
			return f.Field
		}
		if _, ok := errors.AsType[*store.ConflictError](err); ok {
			return "conflict"
		}
		t.Errorf("not refused: %v", err)
		return ""
	}
	if _, err := w.Prepare(t.Context(), bot); refusedFor(err) != "telegram_api_id" {
		t.Errorf("a bot before the application: %v", err)
	}
	for _, try := range []struct{ id, hash, field string }{
		{"", goodHash, "telegram_api_id"}, {"seven", goodHash, "telegram_api_id"}, {"7", "short", "telegram_api_hash"},
		{"7", strings.Repeat("g", 32), "telegram_api_hash"}, {"8", goodHash, "telegram_api_hash"},
	} {
		if err := w.SetApplication(t.Context(), try.id, try.hash); refusedFor(err) != try.field {
			t.Errorf("%+v: %v", try, err)
		}
	}
	network.down = true
	if err := w.SetApplication(t.Context(), "7", goodHash); refusedFor(err) != "conflict" {
		t.Errorf("Telegram does not answer: %v", err)
	}
	network.down = false
	if id, _ := apps.Telegram(); id != 0 {
		t.Fatalf("what was refused is stored: %d", id)
	}

	update(t, db, func(tx *store.Tx) error { // those that are there connect with it; one that is logged out does not
		_, err := Add(tx, bot)
		_, err2 := Add(tx, Request{Platform: "telegram", Kind: "user"})
		return errors.Join(err, err2)
	})
	if err := w.SetApplication(t.Context(), " 7 ", strings.ToUpper(goodHash)); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(network.connected, []uint64{1}) {
		t.Errorf("connected again: %v", network.connected)
	}
	if id, hash := apps.Telegram(); id != 7 || hash != goodHash {
		t.Errorf("the application is %d %s", id, hash)
	}
	if _, err := w.Prepare(t.Context(), bot); err != nil {
		t.Error(err)
	}

	fixed := Applications{DB: db, Fixed: Application{9, "of the environment"}}
	w = New(db, network, Config{Applications: fixed, TryApplication: network.try})
	if id, _ := fixed.Telegram(); id != 9 {
		t.Errorf("the environment does not hold: %d", id)
	}
	if err := w.SetApplication(t.Context(), "7", goodHash); refusedFor(err) != "conflict" {
		t.Errorf("the environment was changed: %v", err)
	}
}
