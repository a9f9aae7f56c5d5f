package accounts

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
)

func TestMessagesWaitForTelegramInTheirOrder(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		b.admins.chats = []string{"100", "200"}
		off := &platform.Error{Kind: platform.Transient, Scope: platform.ScopeIdentity, Err: errors.New("no connection")}
		lost := &platform.Error{Kind: platform.Unknown, Scope: platform.ScopeIdentity, Err: errors.New("no answer")}
		flood := &platform.Error{Kind: platform.Wait, Scope: platform.ScopeIdentity, Wait: time.Minute, Err: errors.New("wait")}
		b.admins.fault(fault{err: off}, fault{err: lost, carried: true}, fault{err: flood}, fault{err: off}, fault{err: off}, fault{err: lost})
		b.watch(Request{}, names(3)...)
		b.sites.set(true, DefaultSite, names(3)...)
		b.start()
		b.untilChecked(1)
		b.pass(15 * time.Minute)
		said := make(map[string][]string)
		for _, m := range b.admins.messages {
			said[m.chat] = append(said[m.chat], strings.Fields(m.text)[1])
		}
		for _, chat := range b.admins.chats {
			if got := fmt.Sprint(said[chat]); got != "[Account @user1 @user2 @user3 Account]" {
				t.Errorf("%s was told %s", chat, got)
			}
		}
		if s := b.status(); s.Waiting != 0 {
			t.Errorf("%d notices wait", s.Waiting)
		}
	})
}

func TestAChatThatRefusesDoesNotKeepTheOthersFromBeingTold(t *testing.T) {
	inBubble(t, Config{}, func(b *bench) {
		blocked := &platform.Error{Kind: platform.Refused, Scope: platform.ScopeChat, Code: "USER_IS_BLOCKED", Err: errors.New("the bot was blocked")}
		b.admins.fault(fault{err: blocked})
		b.watch(Request{}, "alice")
		b.start()
		b.untilChecked(1)
		b.pass(time.Second)
		if said := b.admins.texts(); len(said) != 1 || !strings.Contains(said[0], "finished") {
			t.Errorf("told %q", said)
		}
	})
}

func TestQuietModeTellsOnlyWhatHasChanged(t *testing.T) {
	inBubble(t, Config{Refusals: 2}, func(b *bench) {
		b.update(func(tx *store.Tx) error { return b.worker.SetQuiet(tx, true) })
		b.watch(Request{KeepWatching: true}, "alice", "bob")
		b.start()
		b.untilChecked(2)
		if said := b.admins.texts(); len(said) != 0 {
			t.Errorf("nothing changed, and told was %q", said)
		}
		b.sites.set(true, DefaultSite, "alice")
		b.untilChecked(4)
		b.pass(time.Second)
		if said := b.admins.texts(); len(said) != 2 || !strings.Contains(said[0], "@alice") || !strings.Contains(said[1], "finished") {
			t.Errorf("alice was found, and told was %q", said)
		}
		no := refused("no")
		b.sites.alwaysSay(&no)
		b.pass(24 * time.Hour)
		if said := b.admins.texts(); len(said) != 3 || !strings.Contains(said[2], "stopped") {
			t.Errorf("the site refused, and told was %q", said)
		}
	})
}
