package main

import (
	"context"
	"testing"
	"time"

	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

// A login that Telegram makes wait because of a name looks none up before that, whoever asks for it.
func TestALoginThatHasToWaitLooksNoNamesUp(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.tg.AddUser(telegramtest.User{Phone: "+79990007700", Username: "somebody_real", FirstName: "Somebody"})
	token, _ := m.bot("asking_bot")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "BELFRY_CHECK_MIN_PAUSE=20ms", "BELFRY_CHECK_MAX_PAUSE=40ms")
	m.tg.Fail("contacts.resolveUsername", 1, 420, "FLOOD_WAIT_3600")
	p, url := m.start()
	m.waitForLogin(url)
	if out, err := m.output("accounts", "add", "--site", "telegram", "somebody_real"); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	until := func(stops int) time.Time {
		t.Helper()
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for limit := time.Now().Add(time.Minute); time.Now().Before(limit); <-tick.C {
			var check struct {
				State   string
				Running *struct{}
				Alone   []struct {
					Until time.Time
					Stops int
				} `json:"left_alone"`
			}
			if err := callAPI(context.Background(), "GET", url+"/api/v1/autocheck", nil, &check); err != nil {
				t.Fatal(err)
			}
			// The site is given up before its check ends, and another cannot begin until then.
			ended := check.State == "waiting" && check.Running == nil
			if ended && len(check.Alone) == 1 && check.Alone[0].Stops == stops {
				return check.Alone[0].Until
			}
		}
		t.Fatalf("the site was not given up for the %d. time\n%s", stops, p.log)
		return time.Time{}
	}
	first := until(1)
	if err := callAPI(context.Background(), "POST", url+"/api/v1/autocheck/run", nil, nil); err != nil {
		t.Fatal(err)
	}
	if second := until(2); second.Sub(first).Abs() > time.Minute {
		t.Errorf("first it waits until %v, and then until %v", first, second)
	}
	if n := m.tg.Calls("contacts.resolveUsername"); n != 1 {
		t.Errorf("Telegram was asked %d times", n)
	}
	p.stop()
	m.inStore(func(tx *store.Tx) error {
		i, err := tx.Identities.ByName("telegram", "main")
		if hold, _ := tx.Holds.ByLane(i.Lane()); !hold.Until.IsZero() {
			t.Errorf("what it sends is held until %v", hold.Until)
		}
		return err
	})
	m.mustCheck()
}
