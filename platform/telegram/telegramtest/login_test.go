package telegramtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/gotd/td/telegram"
	"github.com/gotd/td/telegram/auth"
	"github.com/gotd/td/telegram/auth/qrlogin"
	"github.com/gotd/td/tg"

	"belfry/platform/telegram/telegramtest"
)

// person answers what gotd's login asks for, reading the code off the server.
type person struct {
	auth.UserAuthenticator
	srv   *telegramtest.Server
	phone string
}

func (p person) Code(context.Context, *tg.AuthSentCode) (string, error) {
	return p.srv.LoginCode(p.phone), nil
}

func TestAUserLogsInWithCodeAndPassword(t *testing.T) {
	const phone = "+79990000001"
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Phone: phone, FirstName: "Ann", Password: "correct horse", PasswordHint: "a horse"})
	bob := srv.AddUser(telegramtest.User{Phone: "+79990000002", Username: "bob_writes"})

	client(t, srv, telegramtest.AppID, nil, func(ctx context.Context, c *telegram.Client) error {
		api := c.API()
		_, err := c.Auth().SendCode(ctx, "nonsense", auth.SendCodeOptions{})
		wantError(t, "a phone that is none", err, "PHONE_NUMBER_INVALID")
		_, err = api.AuthSendCode(ctx, &tg.AuthSendCodeRequest{PhoneNumber: phone, APIID: 1, APIHash: "x"})
		wantError(t, "an unknown application", err, "API_ID_INVALID")
		_, err = api.AccountGetPassword(ctx)
		wantError(t, "the password before the code", err, "AUTH_KEY_UNREGISTERED")

		begin := func(phone string) (*tg.AuthSentCode, error) {
			sent, err := c.Auth().SendCode(ctx, phone, auth.SendCodeOptions{})
			if err != nil {
				return nil, err
			}
			return sent.(*tg.AuthSentCode), nil
		}
		sent, err := begin(phone)
		if err != nil {
			return err
		}
		if app, ok := sent.Type.(*tg.AuthSentCodeTypeApp); !ok || app.Length != len(srv.LoginCode(phone)) {
			t.Errorf("the code %q was sent as %v", srv.LoginCode(phone), sent.Type)
		}
		_, err = c.Auth().SignIn(ctx, phone, "", sent.PhoneCodeHash)
		wantError(t, "no code", err, "PHONE_CODE_EMPTY")
		_, err = c.Auth().SignIn(ctx, phone, "x", sent.PhoneCodeHash)
		wantError(t, "a wrong code", err, "PHONE_CODE_INVALID")
		_, err = c.Auth().SignIn(ctx, phone, srv.LoginCode(phone), "x")
		wantError(t, "a wrong hash", err, "PHONE_CODE_EXPIRED")
		first := srv.LoginCode(phone)
		if _, err := c.Auth().ResendCode(ctx, phone, sent.PhoneCodeHash); err != nil {
			return err
		}
		_, err = c.Auth().ResendCode(ctx, phone, sent.PhoneCodeHash)
		wantError(t, "a third code", err, "SEND_CODE_UNAVAILABLE")
		_, err = c.Auth().SignIn(ctx, phone, first, sent.PhoneCodeHash)
		wantError(t, "the code before the last", err, "PHONE_CODE_INVALID")
		if _, err := api.AuthCancelCode(ctx, &tg.AuthCancelCodeRequest{PhoneNumber: phone, PhoneCodeHash: sent.PhoneCodeHash}); err != nil {
			return err
		}
		_, err = c.Auth().SignIn(ctx, phone, first, sent.PhoneCodeHash)
		wantError(t, "a cancelled code", err, "PHONE_CODE_EXPIRED")

		if sent, err = begin("+79990000009"); err != nil {
			return err
		}
		_, err = c.Auth().SignIn(ctx, "+79990000009", srv.LoginCode("+79990000009"), sent.PhoneCodeHash)
		if unknown := new(auth.SignUpRequired); !errors.As(err, &unknown) {
			t.Errorf("a phone without an account: %v", err)
		}

		if sent, err = begin(phone); err != nil {
			return err
		}
		code := srv.LoginCode(phone)
		if _, err := c.Auth().SignIn(ctx, phone, code, sent.PhoneCodeHash); !errors.Is(err, auth.ErrPasswordAuthNeeded) {
			t.Errorf("the code of a user with a password: %v", err)
		}
		_, err = c.Auth().SignIn(ctx, phone, code, sent.PhoneCodeHash)
		wantError(t, "a code that was used", err, "PHONE_CODE_EXPIRED")
		_, err = c.Self(ctx)
		wantError(t, "a call before the password", err, "AUTH_KEY_UNREGISTERED")
		asked, err := api.AccountGetPassword(ctx)
		if err != nil || asked.Hint != "a horse" {
			t.Errorf("asked for the password with the hint %q, %v", asked.Hint, err)
		}
		_, err = api.AuthCheckPassword(ctx, &tg.InputCheckPasswordSRP{SRPID: asked.SRPID + 1, A: []byte{1}, M1: []byte{1}})
		wantError(t, "an exchange that never began", err, "SRP_ID_INVALID")
		_, err = api.AuthCheckPassword(ctx, &tg.InputCheckPasswordSRP{SRPID: asked.SRPID, A: []byte{0}, M1: []byte{1}})
		wantError(t, "a half of nothing", err, "PASSWORD_HASH_INVALID")
		if _, err := c.Auth().Password(ctx, "wrong horse"); !errors.Is(err, auth.ErrPasswordInvalid) {
			t.Errorf("a wrong password: %v", err)
		}
		srv.FailFor(ann.ID, "auth.checkPassword", 1, 420, "FLOOD_WAIT_60")
		_, err = c.Auth().Password(ctx, "correct horse")
		wantError(t, "a password too many", err, "FLOOD_WAIT")
		if _, err := c.Auth().Password(ctx, "correct horse"); err != nil {
			return err
		}
		if self, err := c.Self(ctx); err != nil || self.ID != ann.ID || self.Bot || self.Phone != "79990000001" {
			t.Errorf("logged in as %v, %v", self, err)
		}
		if _, err := api.AuthLogOut(ctx); err != nil {
			return err
		}
		_, err = c.Self(ctx)
		wantError(t, "a call after logging out", err, "AUTH_KEY_UNREGISTERED")

		flow := auth.NewFlow(person{auth.Constant("+7 999 0000002", "", nil), srv, "79990000002"}, auth.SendCodeOptions{})
		if err := c.Auth().IfNecessary(ctx, flow); err != nil {
			return err
		}
		if self, err := c.Self(ctx); err != nil || self.ID != bob.ID {
			t.Errorf("logged in as %v, %v", self, err)
		}
		return nil
	})
	if code := srv.LoginCode(phone); code != "" {
		t.Errorf("the used code %q still stands", code)
	}
}

func TestAUserLogsInByQRCode(t *testing.T) {
	srv := telegramtest.NewServer(telegramtest.Options{})
	defer srv.Close()
	ann := srv.AddUser(telegramtest.User{Phone: "+79990000001", Password: "horse"})
	bob := srv.AddUser(telegramtest.User{Phone: "+79990000002"})
	updates := tg.NewUpdateDispatcher()
	// Not qrlogin.OnLoginToken: it forgets an update that comes before somebody waits for it.
	loggedIn := make(chan struct{}, 1)
	updates.OnLoginToken(func(context.Context, tg.Entities, *tg.UpdateLoginToken) error {
		loggedIn <- struct{}{}
		return nil
	})

	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := tryWith(ctx, srv, telegramtest.AppID, nil, updates, func(ctx context.Context, c *telegram.Client) error {
		scan := func(id int64) error {
			shown := false
			_, err := c.QR().Auth(ctx, loggedIn, func(_ context.Context, token qrlogin.Token) error {
				if shown {
					t.Error("the code was shown twice")
				}
				shown = true
				if life := time.Until(token.Expires()); life <= 0 || life > 30*time.Second {
					t.Errorf("the code lives for %s", life)
				}
				if err := srv.AcceptQR(id, token.URL()); err != nil {
					return err
				}
				wantError(t, "a second scan", srv.AcceptQR(id, token.URL()), "AUTH_TOKEN_ALREADY_ACCEPTED")
				return nil
			})
			return err
		}
		wantError(t, "a token that nobody has made", srv.AcceptQR(ann.ID, "tg://login?token=AAAA"), "AUTH_TOKEN_INVALID")
		if err := srv.AcceptQR(ann.ID, "https://example.com"); err == nil {
			t.Error("a QR code of something else was accepted")
		}
		wantError(t, "a user with a password", scan(ann.ID), "SESSION_PASSWORD_NEEDED")
		if _, err := c.Auth().Password(ctx, "horse"); err != nil {
			return err
		}
		if self, err := c.Self(ctx); err != nil || self.ID != ann.ID {
			t.Errorf("logged in as %v, %v", self, err)
		}
		if _, err := c.API().AuthLogOut(ctx); err != nil {
			return err
		}
		if err := scan(bob.ID); err != nil {
			return err
		}
		if self, err := c.Self(ctx); err != nil || self.ID != bob.ID {
			t.Errorf("logged in as %v, %v", self, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
