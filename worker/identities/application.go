package identities

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"belfry/store"
)

// Application is the program as Telegram knows it, from my.telegram.org.
type Application struct {
	ID   int    `json:"id"`
	Hash string `json:"hash"`
}

// Known reports whether there is one.
func (a Application) Known() bool { return a.ID != 0 && a.Hash != "" }

// Applications has the application that the settings name or, where they name none, the one that was entered.
type Applications struct {
	DB    *store.DB
	Fixed Application // of the settings
}

// settingApplication holds the application that was entered, sealed.
const settingApplication = "telegram.application"

// Read returns the application; zero if there is none, or the one that was entered is damaged.
func (a Applications) Read(tx *store.Tx) (entered Application, err error) {
	if a.Fixed.Known() {
		return a.Fixed, nil
	}
	text, err := tx.Settings.Secret(settingApplication)
	if store.IsCorrupt(err) || err == nil && text == "" {
		return Application{}, nil
	}
	if err != nil {
		return Application{}, err
	}
	if err := json.Unmarshal([]byte(text), &entered); err != nil {
		return Application{}, fmt.Errorf("setting %s: %w", settingApplication, err)
	}
	return entered, nil
}

// Telegram returns the application as Telegram's adapter asks for it. What cannot be read counts as none.
func (a Applications) Telegram() (id int, hash string) {
	_ = a.DB.View(func(tx *store.Tx) error {
		entered, err := a.Read(tx)
		id, hash = entered.ID, entered.Hash
		return err
	})
	return id, hash
}

// Application returns the application as which Telegram is asked, and whether the settings name it.
func (w *Worker) Application(tx *store.Tx) (Application, bool, error) {
	app, err := w.cfg.Applications.Read(tx)
	return app, w.cfg.Applications.Fixed.Known(), err
}

func (w *Worker) mustHaveApplication() error {
	if w.cfg.TryApplication == nil {
		return nil
	}
	if id, hash := w.cfg.Applications.Telegram(); id == 0 || hash == "" {
		return store.Invalid("telegram_api_id", "invalid.no_application")
	}
	return nil
}

// applicationTime is how long Telegram has to say whether it accepts an application.
const applicationTime = 30 * time.Second

// SetApplication stores the application if Telegram accepts it, and connects the accounts of Telegram with it. The
// errors are about the fields telegram_api_id and telegram_api_hash; a [*store.ConflictError] says that the settings
// name another one, or that Telegram does not answer.
func (w *Worker) SetApplication(ctx context.Context, id, hash string) error {
	hash = strings.ToLower(strings.TrimSpace(hash))
	number, err := strconv.Atoi(strings.TrimSpace(id))
	switch {
	case w.cfg.Applications.Fixed.Known():
		return store.Conflict("conflict.fixed", "TELEGRAM_API_ID")
	case err != nil || number <= 0:
		return store.Invalid("telegram_api_id", "invalid.api_id")
	case len(hash) != 32 || strings.Trim(hash, "0123456789abcdef") != "":
		return store.Invalid("telegram_api_hash", "invalid.api_hash")
	}
	ctx, cancel := context.WithTimeout(ctx, applicationTime)
	defer cancel()
	if err := refusal("telegram_api_hash", w.cfg.TryApplication(ctx, number, hash)); err != nil {
		return err
	}
	text, err := json.Marshal(Application{number, hash})
	if err != nil {
		return err
	}
	var again []store.Identity
	err = w.db.Update(func(tx *store.Tx) error {
		again = tx.Identities.Of("telegram")
		return tx.Settings.SetSecret(settingApplication, string(text))
	})
	if err != nil {
		return err
	}
	for _, i := range again {
		if i.State != store.IdentityLogin {
			w.network.Connect(i.ID)
		}
	}
	return nil
}
