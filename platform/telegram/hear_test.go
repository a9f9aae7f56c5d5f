package telegram_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/store"
)

// refusing fails for some text or press, so often; a negative number is for ever.
func refusing(what string, often int, err error) func(platform.Heard) error {
	return func(h platform.Heard) error {
		if h.Text+h.Data != what || often == 0 {
			return nil
		}
		often--
		return err
	}
}

// What fails now and is heard later holds back what was written after it, and nothing is heard twice.
func TestWhatFailsToBeHeardIsTriedAgain(t *testing.T) {
	t.Parallel()
	r, ears, ann := newListening(t)
	ears.failing(refusing("two", 4, errors.New("not today")))
	for _, text := range []string{"one", "two", "three"} {
		r.srv.Write(ann.ID, r.bot, text)
	}
	r.hears(one, two, three)
	if !strings.Contains(r.log.String(), "not today") || len(r.errorLines()) > 0 {
		t.Errorf("log %s", r.log)
	}
}

func TestWhatCanNeverBeHeardIsLeftOutAndTold(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		fail func(platform.Heard) error
	}{
		{"an error", refusing("two", -1, errors.New("never"))},
		{"a panic", func(h platform.Heard) error {
			if h.Text == "two" {
				panic("never")
			}
			return nil
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			r, ears, ann := newListening(t)
			ears.failing(test.fail)
			r.stop()
			for _, text := range []string{"one", "two", "three"} {
				r.srv.Write(ann.ID, r.bot, text)
			}
			r.start()
			r.hears(one, three)
			if lines := r.errorLines(); len(lines) != 1 || !strings.Contains(lines[0], "never") || !strings.Contains(lines[0], `"message":2`) {
				t.Errorf("told %q", lines)
			}
			ears.failing(nil)
			r.restart() // and it stays left out
			r.srv.Write(ann.ID, r.bot, "four")
			r.hears(one, three, "Ann Lee 4: four")
		})
	}
}

func TestNothingIsLeftOutWhileTheStoreIsOutOfOrder(t *testing.T) {
	t.Parallel()
	r, ears, ann := newListening(t)
	r.stop()
	ears.failing(refusing("two", 12, fmt.Errorf("read: %w", store.ErrUnavailable)))
	r.srv.Write(ann.ID, r.bot, "one")
	r.srv.Write(ann.ID, r.bot, "two")
	r.start()
	r.hears(one, two)
	if lines := r.errorLines(); len(lines) > 0 {
		t.Errorf("told %q", lines)
	}
}

func TestPressesAndTextsDoNotWaitForOneAnother(t *testing.T) {
	t.Parallel()
	r, ears, ann := newListening(t)
	r.srv.Write(ann.ID, r.bot, "one")
	r.hears(one)
	r.mustPublish(toAnn(ann, 1, "Shall I?", buttons("Yes", "No")))
	r.stop()
	r.hearPause = time.Hour // no second try
	stuck := make(chan struct{}, 1)
	failing := func(what string) {
		ears.failing(func(h platform.Heard) error {
			if h.Text+h.Data != what {
				return nil
			}
			stuck <- struct{}{}
			return errors.New("never")
		})
	}
	r.start()
	r.connect()
	failing("three")
	r.srv.Write(ann.ID, r.bot, "three")
	<-stuck
	if _, err := r.srv.Press(ann.ID, r.bot, 2, "Yes"); err != nil {
		t.Fatal(err)
	}
	r.hears(one, "Ann Lee 2: data of Yes")

	failing("data of No")
	r.restart()
	r.hears(one, "Ann Lee 2: data of Yes", three)
	if _, err := r.srv.Press(ann.ID, r.bot, 2, "No"); err != nil {
		t.Fatal(err)
	}
	<-stuck
	r.srv.Write(ann.ID, r.bot, "four")
	r.hears(one, "Ann Lee 2: data of Yes", three, "Ann Lee 4: four")
}

func TestAPressThatCanNeverBeHeardIsLeftOutAndTold(t *testing.T) {
	t.Parallel()
	r, ears, ann := newListening(t)
	r.srv.Write(ann.ID, r.bot, "one")
	r.hears(one)
	r.mustPublish(toAnn(ann, 1, "Shall I?", buttons("Yes", "No")))
	ears.failing(refusing("data of No", -1, errors.New("never")))
	for _, button := range []string{"No", "Yes"} {
		if _, err := r.srv.Press(ann.ID, r.bot, 2, button); err != nil {
			t.Fatal(err)
		}
	}
	r.awaitLog("the press of a button cannot be heard")
	r.hears(one, "Ann Lee 2: data of Yes")
	if lines := r.errorLines(); len(lines) != 1 || !strings.Contains(lines[0], "never") {
		t.Errorf("told %q", lines)
	}
}

func TestAPressWhileTheBotIsAwayIsLost(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	r.srv.Write(ann.ID, r.bot, "one")
	r.hears(one)
	r.mustPublish(toAnn(ann, 1, "Shall I?", buttons("Yes")))
	r.stop()
	if _, err := r.srv.Press(ann.ID, r.bot, 2, "Yes"); err != nil {
		t.Fatal(err)
	}
	r.srv.Write(ann.ID, r.bot, "three")
	r.start()
	r.hears(one, three)
}

func TestTelegramThatHasForgottenIsBelieved(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	r.srv.Write(ann.ID, r.bot, "one")
	r.hears(one)
	r.stop()
	r.srv.Write(ann.ID, r.bot, "two")
	r.srv.Forget(r.bot)
	r.start()
	r.awaitLog("away for too long")
	r.srv.Write(ann.ID, r.bot, "three")
	r.hears(one, three)

	// A state that Telegram has never been in.
	r.stop()
	err := r.db.Update(func(tx *store.Tx) error {
		return tx.Settings.Set(fmt.Sprintf("telegram.heard.%d", r.id), fmt.Sprintf(`{"account":%d,"pts":1000,"date":1}`, r.bot))
	})
	if err != nil {
		t.Fatal(err)
	}
	r.start()
	r.awaitLog("does not know what the bot has heard")
	r.awaitHeardState(func(state string) bool { return !strings.Contains(state, "1000") })
	r.srv.Write(ann.ID, r.bot, "four")
	r.hears(one, three, "Ann Lee 4: four")
}

// The state of one bot says nothing about another that has taken over the login.
func TestAnotherBotUnderTheSameLoginIsHeardFromItsBeginning(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	r.srv.Write(ann.ID, r.bot, "one")
	r.hears(one)
	r.stop()
	const secret = "7002:AAH-the-secret-of-another"
	other := r.srv.AddBot(secret, "other_bot")
	r.secrets = append(r.secrets, secret)
	for range 5 {
		r.srv.Write(ann.ID, other, "before")
	}
	data := r.srv.Session(other)
	err := r.db.Update(func(tx *store.Tx) error {
		identity, err := tx.Identities.Get(r.id)
		if err != nil {
			return err
		}
		identity.Secret = secret
		if err := tx.Identities.Put(&identity); err != nil {
			return err
		}
		row, err := tx.Sessions.Of(r.id)
		if err != nil {
			return err
		}
		row.Data = data
		return tx.Sessions.Put(&row)
	})
	if err != nil {
		t.Fatal(err)
	}
	r.start()
	if err := r.srv.AwaitDone(r.ctx, "updates.getState", 2); err != nil {
		t.Fatal(err)
	}
	r.srv.Write(ann.ID, other, "now")
	r.hears(one, "Ann Lee 6: now")
}

func TestTelegramThatFailsIsAskedAgain(t *testing.T) {
	t.Parallel()
	r, _, ann := newListening(t)
	r.srv.Fail(difference, 2, 500, "INTERNAL")
	r.srv.Write(ann.ID, r.bot, "one")
	r.hears(one)
}
