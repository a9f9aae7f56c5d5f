package notices

import (
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
)

// CodeAge is how long the code is good that makes a person an admin.
const CodeAge = time.Hour

// settingTold holds who is told, as it was chosen on the page.
const settingTold = "notices.told"

// Admin is a person who is told, and whom the bot obeys.
type Admin struct {
	Chat string `json:"chat"`
	Name string `json:"name,omitempty"` // for people to read
}

// Told is who is told, and by which bot.
type Told struct {
	Login  uint64  `json:"login,omitempty"` // the bot; 0: none
	Admins []Admin `json:"admins,omitempty"`
	// Code makes the person an admin, once and until a time, who opens the bot with it.
	Code  string    `json:"code,omitempty"`
	Until time.Time `json:"until,omitzero"`

	FixedLogin, FixedAdmins bool `json:"-"` // the settings name them
}

// CodeWorks reports whether the code is still good.
func (t Told) CodeWorks(now time.Time) bool { return t.Code != "" && now.Before(t.Until) }

// chosen reads what was chosen on the page. If it is damaged it has to be chosen anew.
func chosen(tx *store.Tx) (t Told, err error) {
	if err = worker.Setting(tx, settingTold, &t); store.IsCorrupt(err) {
		err = nil
	}
	return t, err
}

func (t Told) put(tx *store.Tx) error { return worker.SetSetting(tx, settingTold, t) }

// Told returns who is told: as the settings say and, where they say nothing, as was chosen. Where admins are known
// but no bot, it is the bot called main.
func (w *Worker) Told(tx *store.Tx) (Told, error) {
	t, err := chosen(tx)
	if err != nil {
		return t, err
	}
	if t.FixedAdmins = len(w.cfg.Admins) > 0; t.FixedAdmins {
		t.Admins, t.Code = nil, ""
		for _, chat := range w.cfg.Admins {
			t.Admins = append(t.Admins, Admin{Chat: chat})
		}
	}
	if t.FixedLogin = w.cfg.Login != 0; t.FixedLogin {
		t.Login = w.cfg.Login
		return t, nil
	}
	if _, err := tx.Identities.Get(t.Login); errors.Is(err, store.ErrNotFound) {
		t.Login = 0 // it was removed
	} else if err != nil {
		return t, err
	}
	if main, err := tx.Identities.ByName("telegram", "main"); err == nil && t.Login == 0 && len(t.Admins) > 0 && main.Kind == store.IdentityBot {
		t.Login = main.ID
	}
	return t, nil
}

// bot returns the bot that tells; nil if there is no admin, or no bot.
func (w *Worker) bot(t Told) Bot {
	if len(t.Admins) == 0 || t.Login == 0 || w.cfg.BotOf == nil {
		return w.cfg.Bot
	}
	return w.cfg.BotOf(t.Login)
}

// has reports whether the chat is that of an admin.
func (t Told) has(chat string) bool {
	return slices.ContainsFunc(t.Admins, func(a Admin) bool { return a.Chat == chat })
}

// Listens reports whether what people tell a bot is meant for Belfry.
func (w *Worker) Listens(login uint64) (listens bool) {
	// What cannot be read is told elsewhere, and read again with the next connection.
	_ = w.db.View(func(tx *store.Tx) error {
		t, err := w.Told(tx)
		listens = err == nil && t.Login == login
		return err
	})
	return listens
}

// ChooseBot has another bot tell the admins, and listen to them, and makes a new code. It refuses a login that is no
// bot, and one in the place of that of the settings.
func (w *Worker) ChooseBot(login uint64) error {
	var before uint64
	err := w.db.Update(func(tx *store.Tx) error {
		now, err := w.Told(tx)
		if err != nil {
			return err
		}
		before = now.Login
		if now.FixedLogin && login != now.Login {
			return store.Conflict("conflict.fixed", "ADMIN_NOTIFY_BOT_TOKEN")
		}
		i, err := tx.Identities.Get(login)
		if errors.Is(err, store.ErrNotFound) || err == nil && i.Kind != store.IdentityBot {
			return store.Invalid("admin_bot", "invalid.no_bot")
		}
		if err != nil {
			return err
		}
		t, err := chosen(tx)
		if err != nil {
			return err
		}
		t.Login, t.Code, t.Until = login, rand.Text(), tx.Now().Add(CodeAge)
		return errors.Join(t.put(tx), tx.Holds.EndAwait(before)) // what waits for that bot goes to this one
	})
	if err != nil || before == login || w.cfg.Connect == nil {
		return err
	}
	for _, id := range []uint64{before, login} { // whether one listens is decided when it connects
		if id != 0 {
			w.cfg.Connect(id)
		}
	}
	return nil
}

// RemoveAdmin takes a person off the list of those who are told.
func (w *Worker) RemoveAdmin(tx *store.Tx, chat string) error {
	t, err := chosen(tx)
	if err != nil {
		return err
	}
	if len(w.cfg.Admins) > 0 {
		return store.Conflict("conflict.fixed", "ADMIN_ID")
	}
	t.Admins = slices.DeleteFunc(t.Admins, func(a Admin) bool { return a.Chat == chat })
	return t.put(tx)
}

// IsAdmin reports whether the bot obeys a person.
func (w *Worker) IsAdmin(tx *store.Tx, person int64) (bool, error) {
	t, err := w.Told(tx)
	return t.has(strconv.FormatInt(person, 10)), err
}

// Join makes a person an admin who opens the bot with the code, and uses the code up. Anything else that is said to
// the bot changes nothing.
func (w *Worker) Join(tx *store.Tx, h platform.Heard) (joined bool, err error) {
	now, err := w.Told(tx)
	code, starts := strings.CutPrefix(strings.TrimSpace(h.Text), "/start ")
	if err != nil || !starts || !now.CodeWorks(tx.Now()) || subtle.ConstantTimeCompare([]byte(code), []byte(now.Code)) == 0 {
		return false, err
	}
	t, err := chosen(tx)
	if err != nil {
		return false, err
	}
	t.Admins = append(t.Admins, Admin{strconv.FormatInt(h.From, 10), h.Name})
	t.Code, t.Until = "", time.Time{}
	return true, t.put(tx)
}
