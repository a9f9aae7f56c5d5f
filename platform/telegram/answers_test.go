package telegram_test

import (
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
)

// soon is a deadline of calls that a busy machine meets, too.
const soon = 3 * time.Second

func TestABotThatIsNotToldWhatPeopleWriteConnectsAnewAndSaysSo(t *testing.T) {
	r, _, ann := newListening(t)
	r.stop()
	r.callTime = soon
	r.start()
	r.connect()
	connects := r.srv.Calls("help.getConfig")
	r.srv.Mute("updates.getDifference", -1)
	r.srv.Write(ann.ID, r.bot, "is anybody there?")
	r.awaitState(r.id, platform.Connecting)
	if status := r.network.Connection(r.id); !strings.Contains(status.Err, "does not answer updates.getDifference") {
		t.Errorf("the state does not say why: %+v", status)
	}
	r.awaitCalls("help.getConfig", connects+1)
	r.srv.ClearFaults()
	r.awaitHeard(1)
	r.connect()
}

func TestALoginThatIsNotAnsweredIsBegunAgain(t *testing.T) {
	for _, method := range []string{"help.getConfig", "users.getUsers"} {
		t.Run(method, func(t *testing.T) {
			r := newEmptyRoom(t)
			data := r.srv.Session(r.bot)
			err := r.db.Update(func(tx *store.Tx) error {
				return tx.Sessions.Put(&store.Session{IdentityID: r.id, Data: data})
			})
			if err != nil {
				t.Fatal(err)
			}
			r.callTime = soon
			r.srv.Mute(method, 2) // gotd asks who it is, too
			r.start()
			r.awaitLog("does not answer " + method)
			r.srv.ClearFaults()
			r.connect()
		})
	}
}

func TestARestrictedBotSpeaksAndHearsAfterARestart(t *testing.T) {
	r, _, ann := newListening(t)
	err := r.db.Update(func(tx *store.Tx) error {
		i, err := tx.Identities.Get(r.id)
		if err != nil {
			return err
		}
		i.State, i.Reason = store.IdentityStopped, store.Reason{Code: store.ReasonStopped}
		return tx.Identities.Put(&i)
	})
	if err != nil {
		t.Fatal(err)
	}
	r.restart()
	r.mustPublish(platform.Post{Key: 5, Text: "an alert"})
	r.srv.Write(ann.ID, r.bot, "/status")
	r.awaitHeard(1)
}

func TestALoginThatAnotherKeyHasSealedSaysSoAndIsKept(t *testing.T) {
	r := newRoom(t)
	r.stop()
	path := r.db.Path()
	reopen := func(key byte) {
		t.Helper()
		if err := r.db.Close(); err != nil {
			t.Fatal(err)
		}
		bytes := make([]byte, store.KeySize)
		bytes[0] = key
		db, err := store.Open(path, store.Options{Key: bytes})
		if err != nil {
			t.Fatal(err)
		}
		r.db = db
		r.start()
	}
	reopen(1)
	r.awaitState(r.id, platform.LoggedOut)
	if status := r.network.Connection(r.id); !strings.Contains(status.Err, "sealed with another key") {
		t.Errorf("the state does not say why: %+v", status)
	}
	r.stop()
	reopen(0)
	r.connect()
}
