package identities

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"belfry/platform"
	"belfry/store"
)

// Step is where a login stands.
type Step = platform.LoginStep

// The states of a [Step].
const (
	StepCode     = platform.LoginCode
	StepPassword = platform.LoginPassword
	StepQR       = platform.LoginQR
	StepDone     = platform.LoginDone
)

// Logins logs user accounts in and out. Its errors are of type [*store.FieldError] where what a
// person entered is wrong, and [*store.ConflictError] where it is not their fault.
type Logins struct {
	db      *store.DB
	network platform.Logins
}

// NewLogins returns what logs the user accounts of db in at the network.
func NewLogins(db *store.DB, network platform.Logins) *Logins { return &Logins{db, network} }

// SendCode has the network send a code to a phone.
func (l *Logins) SendCode(ctx context.Context, id uint64, phone string) (Step, error) {
	phone = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "").Replace(phone)
	if len(phone) < 6 || strings.Trim(phone, "+0123456789") != "" {
		return Step{}, store.Invalid("phone", "invalid.phone")
	}
	return l.step(id, func() (Step, error) { return l.network.SendCode(ctx, id, phone) })
}

// EnterCode goes on with the code that the network sent.
func (l *Logins) EnterCode(ctx context.Context, id uint64, code string) (Step, error) {
	code = strings.NewReplacer(" ", "", "-", "").Replace(code)
	if code == "" {
		return Step{}, store.Invalid("code", "invalid.code_missing")
	}
	return l.step(id, func() (Step, error) { return l.network.EnterCode(ctx, id, code) })
}

// EnterPassword goes on with the account's two-step password.
func (l *Logins) EnterPassword(ctx context.Context, id uint64, password string) (Step, error) {
	if password == "" {
		return Step{}, store.Invalid("password", "invalid.password_missing")
	}
	return l.step(id, func() (Step, error) { return l.network.EnterPassword(ctx, id, password) })
}

// ShowQR begins a login with a QR code or goes on with it.
func (l *Logins) ShowQR(ctx context.Context, id uint64) (Step, error) {
	return l.step(id, func() (Step, error) { return l.network.ShowQR(ctx, id) })
}

// At returns where the login of an identity stands.
func (l *Logins) At(id uint64) Step { return l.network.Login(id) }

// Abandon ends a login that is under way.
func (l *Logins) Abandon(id uint64) { l.network.AbandonLogin(id) }

// LogOut ends the session of an account at the network and here. The account stays in the list and
// can be logged in again.
func (l *Logins) LogOut(ctx context.Context, id uint64) error {
	_, err := l.step(id, func() (Step, error) { return Step{}, l.network.LogOut(ctx, id) })
	return err
}

// Session reads a session that another program has written: a Telethon StringSession, or the
// content of its .session file, which may be in base64.
func (l *Logins) Session(data []byte) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, store.Invalid("session", "invalid.session_missing")
	}
	session, err := l.network.ParseSession(data)
	if err == nil {
		return session, nil
	}
	if file, encoded := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(data))); encoded == nil {
		if session, inside := l.network.ParseSession(file); inside == nil {
			return session, nil
		} else if bytes.HasPrefix(file, []byte("SQLite format 3")) {
			err = inside // it is such a file, so what is wrong with it is what matters
		}
	}
	return nil, store.Invalid("session", "invalid.session_refused", store.Detail(platform.AsError(err).Error()))
}

// TakeOver gives a user account a session that another program has written, in the place of its own.
func (l *Logins) TakeOver(id uint64, data []byte) error {
	session, err := l.Session(data)
	if err != nil {
		return err
	}
	return l.db.Update(func(tx *store.Tx) error {
		_, err := Import(tx, id, session)
		return err
	})
}

func (l *Logins) step(id uint64, do func() (Step, error)) (Step, error) {
	var identity store.Identity
	err := l.db.View(func(tx *store.Tx) (err error) {
		identity, err = tx.Identities.Get(id)
		return err
	})
	if err != nil {
		return Step{}, err
	}
	if identity.Kind != store.IdentityUser {
		return Step{}, store.Conflict("conflict.is_bot", identity.Name)
	}
	step, err := do()
	if e, ok := errors.AsType[*platform.Error](err); ok {
		if e.Field != "" {
			return step, store.Invalid(e.Field, "invalid.refused", store.Detail(e.Error()))
		}
		return step, store.Conflict("conflict.network", store.Detail(e.Error()))
	}
	return step, err
}
