package notices

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
)

// setLogin writes the state of the bot's login, as its adapter or a person does.
func (b *bench) setLogin(state store.IdentityState) {
	b.T.Helper()
	b.Update(func(tx *store.Tx) error {
		login, err := tx.Identities.Get(b.worker.cfg.Login)
		if err != nil {
			return err
		}
		login.State, login.Reason, login.UpdatedAt = state, store.Reason{}, tx.Now()
		return tx.Identities.Put(&login)
	})
}

// withLogin gives the bot a login that can act.
func (b *bench) withLogin() {
	b.T.Helper()
	b.Update(func(tx *store.Tx) error {
		login := store.Identity{Platform: "telegram", Name: "notify", Kind: store.IdentityBot, State: store.IdentityReady}
		if err := tx.Identities.Put(&login); err != nil {
			return err
		}
		b.worker.cfg.Login = login.ID
		return nil
	})
}

func TestABotThatIsLoggedOutIsNotCalledAndLosesNothing(t *testing.T) {
	for name, recorded := range map[string]bool{"known before the call": true, "found by a call": false} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				b.withLogin()
				out := failing(platform.Login, platform.ScopeIdentity)
				b.bot.chats = map[string]*platform.Error{"100": out, "200": out}
				if recorded {
					b.setLogin(store.IdentityLogin)
				}
				b.start()
				b.Update(func(tx *store.Tx) error {
					return b.worker.Tell(tx, store.Notice{Kind: "alert_raised", Text: "an alert", First: true})
				})
				b.Pass(time.Second)
				b.setLogin(store.IdentityLogin)
				b.tell("news")
				b.Update(func(tx *store.Tx) error { return b.worker.TellHook(tx, "test", []byte(`{}`)) })
				b.Pass(4*24*time.Hour + 10*time.Second)
				if most := map[bool]int{true: 0, false: 1}[recorded]; b.bot.calls > most {
					t.Errorf("the bot was called %d times while it was logged out", b.bot.calls)
				}
				if b.waiting() != 4 || len(b.hook.messages) != 1 {
					t.Errorf("%d notices wait, and the webhook was told %+v", b.waiting(), b.hook.messages)
				}
				b.bot.mu.Lock()
				b.bot.chats = nil
				b.bot.mu.Unlock()
				b.setLogin(store.IdentityReady)
				b.Pass(time.Second)
				for _, chat := range []string{"100", "200"} {
					told := b.bot.told(chat)
					if slices.Sort(told); fmt.Sprint(told) != "[an alert news]" {
						t.Errorf("a second after the login was back %s was told %q", chat, told)
					}
				}
			})
		})
	}
}

// The network knows the key of a call that was made, and would take no other text with it. What is told anew is
// therefore what was said: only what comes after it is put together.
func TestACallWhoseEndIsNotRecordedIsRepeatedAsItWas(t *testing.T) {
	for behind := range 2 { // notices before it that wait, too
		inBubble(t, func(b *bench) {
			b.worker.cfg.Admins = []string{"100"}
			b.start()
			for i := range behind {
				b.bot.fault(fault{})
				b.tell(fmt.Sprint("before", i))
			}
			b.bot.fault(fault{carried: true, hangs: true})
			for i := range 4 {
				b.tell(fmt.Sprint(i))
			}
			b.Pass(2 * time.Second)
			b.Stop()
			if told := b.bot.told("100"); len(told) != behind+1 {
				t.Fatalf("told %q before the crash", told)
			}
			b.Pass(time.Hour)
			b.start()
			b.Pass(10 * time.Minute)
			told := b.bot.told("100")
			if len(told) != behind+2 || told[behind] != "0" || texts(told[behind+1:]) != "1 2 3" || b.waiting() != 0 {
				t.Errorf("told %q, and %d wait", told, b.waiting())
			}
		})
	}
}
