package telegram_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"belfry/platform"
	"belfry/platform/telegram"
	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

const (
	difference = "updates.getDifference"
	one, two   = "Ann Lee 1: one", "Ann Lee 2: two"
	three      = "Ann Lee 3: three"
)

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

func TestWhatWasWrittenBeforeAnybodyListenedIsNotHeard(t *testing.T) {
	t.Parallel()
	r := newRoom(t)
	ann := r.srv.AddUser(telegramtest.User{Username: "ann_writes", FirstName: "Ann", LastName: "Lee"})
	r.srv.Write(ann.ID, r.bot, "one")
	r.listener = &telegram.Listener{Hear: (&hearing{}).hear}
	r.restart()
	r.awaitHeard(0)
	r.srv.Write(ann.ID, r.bot, "two")
	r.hears(two)
	r.calls("bots.setBotCommands", 0)
}

func TestWhatIsWrittenWhileNobodyRunsIsHeardLater(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	r.stop()
	r.srv.Write(ann.ID, r.bot, "one")
	r.srv.Write(ann.ID, r.bot, "two")
	r.start()
	r.hears(one, two)
	r.restart()
	r.srv.Write(ann.ID, r.bot, "three")
	r.hears(one, two, three)
	r.awaitCalls("bots.setBotCommands", 3) // in each life of a client
}

func TestManyPagesAreHeardInOrder(t *testing.T) {
	t.Parallel()
	r, ears, ann := newListening(t, func(o *telegramtest.Options) { o.PageSize = 2 })
	basic := r.srv.AddGroup(telegramtest.Group{Title: "Basic", Basic: true, Members: []string{"bell_bot"}})
	r.srv.Write(ann.ID, r.bot, "one")
	r.hears(one)
	r.mustPublish(toAnn(ann, 1, "the bot's own", nil)) // the bot's message 2
	r.stop()
	want := []string{one}
	for i := range 9 {
		r.srv.Say(basic.ID, "not heard") // in turn with what is
		m := r.srv.Write(ann.ID, r.bot, fmt.Sprint("text ", i))
		want = append(want, fmt.Sprintf("Ann Lee %d: %s", 4+2*i, m.Text))
	}
	tries := 0
	ears.failing(func(h platform.Heard) error {
		if h.Text == "text 5" && tries < 3 {
			tries++
			return errors.New("not now")
		}
		return nil
	})
	r.start()
	r.hears(want...)
}

func TestTheEndOfTheProcessNeitherLosesNorDoublesAText(t *testing.T) {
	t.Parallel()
	r, ears, ann := newListening(t, func(o *telegramtest.Options) { o.PageSize = 1 })

	// It ends while Telegram is asked.
	release := r.srv.Hold(difference, 1)
	asked := r.srv.Calls(difference)
	r.srv.Write(ann.ID, r.bot, "one")
	r.awaitCalls(difference, asked+1)
	r.stop()
	release()
	if list := r.heard(); len(list) > 0 {
		t.Fatalf("heard %q", list)
	}

	// It ends when Hear has written, and before that is committed.
	failed := make(chan struct{}, 100)
	ears.failing(func(h platform.Heard) error {
		if h.Text == "two" {
			failed <- struct{}{}
			return errors.New("the process ends here")
		}
		return nil
	})
	r.srv.Write(ann.ID, r.bot, "two")
	r.start()
	<-failed
	r.stop()
	if list := r.heard(); !slices.Equal(list, []string{one}) {
		t.Fatalf("heard %q", list)
	}

	ears.failing(nil)
	r.srv.Write(ann.ID, r.bot, "three")
	r.start()
	r.hears(one, two, three)
}

func TestAConnectionThatIsCutHearsOn(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	<-r.network.Connected()
	r.srv.CloseConnections()
	select {
	case <-r.network.Connected():
	case <-r.ctx.Done():
		t.Error("it is not told that there is a connection again")
	}
	r.srv.Write(ann.ID, r.bot, "one")
	r.hears(one)
	r.srv.Restart()
	r.srv.Write(ann.ID, r.bot, "two")
	r.hears(one, two)
	r.srv.Stop()
	r.srv.Write(ann.ID, r.bot, "three")
	r.srv.Start()
	r.hears(one, two, three)
	r.srv.Drop(difference, 1)
	r.srv.Write(ann.ID, r.bot, "four")
	r.hears(one, two, three, "Ann Lee 4: four")
	r.srv.LogOut(r.bot) // and the bot logs in anew by its token
	r.srv.CloseConnections()
	r.srv.Write(ann.ID, r.bot, "five")
	r.hears(one, two, three, "Ann Lee 4: four", "Ann Lee 5: five")
}

func TestOnlyWhatPeopleSayInPrivateIsHeard(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	members := []string{"bell_bot", "ann_writes"}
	basic := r.srv.AddGroup(telegramtest.Group{Title: "Basic", Basic: true, Members: members})
	super := r.srv.AddGroup(telegramtest.Group{Title: "Super", Members: members})
	r.srv.Say(basic.ID, "in a basic group") // the bot's message 1
	r.srv.Say(super.ID, "in a supergroup")
	r.srv.Write(ann.ID, r.bot, "two")
	r.hears(two)
	r.mustPublish(toAnn(ann, 1, "by the bot itself", nil))
	r.mustPublish(platform.Post{Key: 2, Text: "in a channel"})

	// A photo says what is written under it.
	r.file("a.png", picture(4, 3))
	identity := store.Identity{Name: "ann", Platform: telegram.Platform, Kind: store.IdentityUser, State: store.IdentityNew}
	session := r.srv.Session(ann.ID)
	err := r.db.Update(func(tx *store.Tx) error {
		if err := tx.Identities.Put(&identity); err != nil {
			return err
		}
		return tx.Sessions.Put(&store.Session{IdentityID: identity.ID, Data: session})
	})
	if err != nil {
		t.Fatal(err)
	}
	r.network.Connect(identity.ID)
	for i, caption := range []string{"", "a caption"} {
		_, err := r.network.Publisher(identity.ID).Publish(r.ctx, platform.Post{Key: int64(i) + 3, Target: "@bell_bot",
			Text: caption, Media: []platform.Media{{Kind: platform.Photo, File: "a.png"}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	r.hears(two, "Ann Lee 4: ", "Ann Lee 5: a caption")
}

func TestWhoWroteCanBeAnsweredAfterARestart(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	r.srv.Write(ann.ID, r.bot, "one")
	r.hears(one)
	err := r.db.View(func(tx *store.Tx) error {
		p, err := tx.Peers.ByPeer(r.id, store.PeerUser, ann.ID)
		if err == nil && (p.AccessHash == 0 || p.Username != "ann_writes" || p.Title != "Ann Lee") {
			t.Errorf("peer %+v", p)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	r.restart()
	r.mustPublish(toAnn(ann, 1, "an answer", nil))
	r.mustPublish(platform.Post{Key: 2, Target: "@ann_writes", Text: "another"})
	r.calls("contacts.resolveUsername", 0)
	if m := r.srv.PrivateMessages(r.bot, ann.ID); len(m) != 2 {
		t.Errorf("messages %+v", m)
	}
}

func TestCommandsThatAreRefusedStopNothing(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	r.srv.FailFor(r.bot, "bots.setBotCommands", -1, 400, "BOT_COMMAND_INVALID")
	r.restart()
	r.srv.Write(ann.ID, r.bot, "one")
	r.hears(one)
	r.awaitLog("BOT_COMMAND_INVALID")
}
