package notices

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
)

// chosenBench is a bench whose admins and bot are chosen on the page. It has a bot and a user account.
func chosenBench(b *bench) (bot, user uint64, connected *[]uint64) {
	connected = new([]uint64)
	b.worker.cfg.Admins, b.worker.cfg.Bot = nil, nil
	b.worker.cfg.BotOf = func(uint64) Bot { return b.bot }
	b.worker.cfg.Connect = func(login uint64) { *connected = append(*connected, login) }
	b.Update(func(tx *store.Tx) error {
		first := store.Identity{Platform: "telegram", Name: "main", Kind: store.IdentityBot, State: store.IdentityReady}
		second := store.Identity{Platform: "telegram", Name: "user", Kind: store.IdentityUser, State: store.IdentityReady}
		if err := tx.Identities.Put(&first); err != nil {
			return err
		}
		err := tx.Identities.Put(&second)
		bot, user = first.ID, second.ID
		return err
	})
	return bot, user, connected
}

func (b *bench) told() (t Told) {
	b.View(func(tx *store.Tx) (err error) {
		t, err = b.worker.Told(tx)
		return err
	})
	return t
}

func (b *bench) joins(person int64, text string) (joined bool) {
	b.Update(func(tx *store.Tx) (err error) {
		joined, err = b.worker.Join(tx, platform.Heard{From: person, Name: "P" + strconv.FormatInt(person, 10), Text: text})
		return err
	})
	return joined
}

func TestTheCodeOfTheLinkMakesOnePersonAnAdmin(t *testing.T) {
	inBubble(t, func(b *bench) {
		bot, user, connected := chosenBench(b)
		b.start()
		b.tell("there is nobody to tell")
		if err := b.worker.ChooseBot(user); err == nil {
			t.Error("a user account was chosen")
		}
		if err := b.worker.ChooseBot(bot); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(*connected, []uint64{bot}) || !b.worker.Listens(bot) || b.worker.Listens(user) {
			t.Errorf("connected again: %v", *connected)
		}
		code := b.told().Code
		for _, text := range []string{"/start", "/start ", "/start " + strings.Repeat("A", len(code)), code, "/menu"} {
			if b.joins(300, text) {
				t.Errorf("%q made a stranger an admin", text)
			}
		}
		if !b.joins(100, "/start "+code) || b.joins(300, "/start "+code) {
			t.Error("the code does not work once")
		}
		b.tell("hello")
		b.Pass(time.Minute)
		if got := fmt.Sprint(b.bot.told("100"), b.bot.told("300")); got != "[hello] []" {
			t.Errorf("told were %s", got)
		}
		b.Update(func(tx *store.Tx) error { return b.worker.RemoveAdmin(tx, "100") })
		b.tell("after that")
		b.Pass(time.Minute)
		if got := fmt.Sprint(b.bot.told("100")); got != "[hello]" || len(b.told().Admins) != 0 {
			t.Errorf("a person that was removed got %s", got)
		}
	})
}

func TestWhatWaitsForABotThatIsOutGoesToTheNextOne(t *testing.T) {
	for name, change := range map[string]func(b *bench, bot, out uint64) error{
		"another one is chosen": func(b *bench, bot, _ uint64) error { return b.worker.ChooseBot(bot) },
		"it is removed": func(b *bench, _, out uint64) error {
			return b.DB.Update(func(tx *store.Tx) error { return tx.Identities.Delete(out) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				bot, _, _ := chosenBench(b)
				b.start()
				out := store.Identity{Platform: "telegram", Name: "other", Kind: store.IdentityBot, State: store.IdentityLogin, Reason: store.Reason{Code: store.ReasonLogin}}
				b.Update(func(tx *store.Tx) error { return tx.Identities.Put(&out) })
				if err := b.worker.ChooseBot(out.ID); err != nil {
					t.Fatal(err)
				}
				b.joins(100, "/start "+b.told().Code)
				b.tell("hello")
				b.Pass(time.Second)
				if got := b.bot.told("100"); len(got) != 0 {
					t.Errorf("a bot that is out has told %s", got)
				}
				if err := change(b, bot, out.ID); err != nil {
					t.Fatal(err)
				}
				b.Pass(time.Second)
				if got := fmt.Sprint(b.bot.told("100")); got != "[hello]" {
					t.Errorf("the next one has told %s", got)
				}
			})
		})
	}
}

func TestTheCodeEndsAfterAnHour(t *testing.T) {
	inBubble(t, func(b *bench) {
		bot, _, _ := chosenBench(b)
		b.start()
		if err := b.worker.ChooseBot(bot); err != nil {
			t.Fatal(err)
		}
		before := b.told().Code
		b.Pass(CodeAge)
		if b.joins(100, "/start "+before) {
			t.Error("an old code made an admin")
		}
		if err := b.worker.ChooseBot(bot); err != nil {
			t.Fatal(err)
		}
		if after := b.told().Code; after == before || b.joins(100, "/start "+before) || !b.joins(100, "/start "+after) {
			t.Error("the new code does not take the place of the old one")
		}
	})
}

func TestWhatTheEnvironmentSaysOfAdminsHolds(t *testing.T) {
	inBubble(t, func(b *bench) {
		bot, _, _ := chosenBench(b)
		b.start()
		if err := b.worker.ChooseBot(bot); err != nil {
			t.Fatal(err)
		}
		b.joins(100, "/start "+b.told().Code)
		if err := b.worker.ChooseBot(bot); err != nil {
			t.Fatal(err)
		}
		var code string
		b.View(func(tx *store.Tx) error {
			chosen, err := chosen(tx)
			code = chosen.Code
			return err
		})
		b.worker.cfg.Admins = []string{"200"}
		if now := b.told(); !now.FixedAdmins || len(now.Admins) != 1 || now.Admins[0].Chat != "200" || b.joins(300, "/start "+code) {
			t.Errorf("told are %+v", now)
		}
		b.Update(func(tx *store.Tx) error {
			if err := b.worker.RemoveAdmin(tx, "200"); err == nil {
				t.Error("an admin of the environment was removed")
			}
			return nil
		})
		b.tell("hello")
		b.Pass(time.Minute)
		if got := fmt.Sprint(b.bot.told("100"), b.bot.told("200")); got != "[] [hello]" {
			t.Errorf("told were %s", got)
		}
	})
}
