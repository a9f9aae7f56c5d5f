package identities

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"belfry/platform"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
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

// SendCode has the network send a code to a phone.
func (w *Worker) SendCode(ctx context.Context, id uint64, phone string) (Step, error) {
	phone = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "").Replace(phone)
	if len(phone) < 6 || strings.Trim(phone, "+0123456789") != "" {
		return Step{}, store.Invalid("phone", "invalid.phone")
	}
	return w.step(id, func() (Step, error) { return w.network.SendCode(ctx, id, phone) })
}

// EnterCode goes on with the code that the network sent.
func (w *Worker) EnterCode(ctx context.Context, id uint64, code string) (Step, error) {
	code = strings.NewReplacer(" ", "", "-", "").Replace(code)
	if code == "" {
		return Step{}, store.Invalid("code", "invalid.code_missing")
	}
	return w.step(id, func() (Step, error) { return w.network.EnterCode(ctx, id, code) })
}

// EnterPassword goes on with the account's two-step password.
func (w *Worker) EnterPassword(ctx context.Context, id uint64, password string) (Step, error) {
	if password == "" {
		return Step{}, store.Invalid("password", "invalid.password_missing")
	}
	return w.step(id, func() (Step, error) { return w.network.EnterPassword(ctx, id, password) })
}

// ShowQR begins a login with a QR code or goes on with it.
func (w *Worker) ShowQR(ctx context.Context, id uint64) (Step, error) {
	return w.step(id, func() (Step, error) { return w.network.ShowQR(ctx, id) })
}

// At returns where the login of an identity stands.
func (w *Worker) At(id uint64) Step { return w.network.Login(id) }

// Abandon ends a login that is under way.
func (w *Worker) Abandon(id uint64) { w.network.AbandonLogin(id) }

// LogOut ends the session of an account at the network and here. The account stays in the list and
// can be logged in again.
func (w *Worker) LogOut(ctx context.Context, id uint64) error {
	_, err := w.step(id, func() (Step, error) { return Step{}, w.network.LogOut(ctx, id) })
	return err
}

// Session reads a session that another program has written: a Telethon StringSession, or the
// content of its .session file, which may be in base64.
func (w *Worker) Session(data []byte) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, store.Invalid("session", "invalid.session_missing")
	}
	session, err := w.network.ParseSession(data)
	if err == nil {
		return session, nil
	}
	if file, encoded := base64.StdEncoding.DecodeString(string(bytes.TrimSpace(data))); encoded == nil {
		if session, inside := w.network.ParseSession(file); inside == nil {
			return session, nil
		} else if bytes.HasPrefix(file, []byte("SQLite format 3")) {
			err = inside // it is such a file, so what is wrong with it is what matters
		}
	}
	return nil, store.Invalid("session", "invalid.session_refused", store.Detail(platform.AsError(err).Error()))
}

// TakeOver gives a user account a session that another program has written, in the place of its own.
func (w *Worker) TakeOver(id uint64, data []byte) error {
	session, err := w.Session(data)
	if err != nil {
		return err
	}
	return w.db.Update(func(tx *store.Tx) error {
		_, err := Import(tx, id, session)
		return err
	})
}

func (w *Worker) identity(id uint64) (store.Identity, error) {
	return worker.Read(w.db, func(tx *store.Tx) (store.Identity, error) { return tx.Identities.Get(id) })
}

func (w *Worker) step(id uint64, do func() (Step, error)) (Step, error) {
	identity, err := w.identity(id)
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
		if restored, _ := w.restored(); restored != "" {
			return step, store.Conflict("conflict.restored")
		}
		return step, send.Conflict(e)
	}
	return step, err
}
