package telegram

import (
	"context"
	"errors"
	"fmt"

	"github.com/gotd/td/telegram/auth"
	"github.com/gotd/td/tg"

	"belfry/platform"
)

func (l *login) sendCode(ctx context.Context, phone string) error {
	sent, err := l.client.Auth().SendCode(ctx, phone, auth.SendCodeOptions{})
	if err != nil {
		return loginError(err)
	}
	switch sent := sent.(type) {
	case *tg.AuthSentCode:
		via := sentVia(sent.Type)
		if via == "" {
			return refusedLogin("", "phone", worded{words: "Telegram wants to know more about this account first: log in once with a Telegram app"})
		}
		l.mu.Lock()
		l.step = platform.LoginStep{State: platform.LoginCode, Phone: phone, Via: via}
		l.hash = sent.PhoneCodeHash
		l.mu.Unlock()
		return nil
	case *tg.AuthSentCodeSuccess:
		return l.win(ctx, sent.Authorization)
	}
	return refusedLogin("", "phone", worded{words: "Telegram sends codes to this number only for money: scan a QR code instead"})
}

func (l *login) enterCode(ctx context.Context, code string) error {
	l.mu.Lock()
	request := &tg.AuthSignInRequest{PhoneNumber: l.step.Phone, PhoneCodeHash: l.hash}
	if l.step.Via == "email" { // as a phone's it would be wrong
		request.EmailVerification = &tg.EmailVerificationCode{Code: code}
	} else {
		request.PhoneCode = code
	}
	l.mu.Unlock()
	authorization, err := l.client.API().AuthSignIn(ctx, request)
	if needsPassword(err) {
		return l.askPassword(ctx)
	}
	if err != nil {
		return loginError(err)
	}
	return l.win(ctx, authorization)
}

// askPassword moves on to the two-step password.
func (l *login) askPassword(ctx context.Context) error {
	password, err := l.client.API().AccountGetPassword(ctx)
	if err != nil {
		return loginError(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.step = platform.LoginStep{State: platform.LoginPassword, Phone: l.step.Phone, Hint: password.Hint}
	return nil
}

func (l *login) enterPassword(ctx context.Context, password string) error {
	authorization, err := l.client.Auth().Password(ctx, password)
	if errors.Is(err, auth.ErrPasswordInvalid) {
		return refusedLogin("PASSWORD_HASH_INVALID", "password", errors.New("this is not the account's two-step password"))
	}
	if err != nil {
		return loginError(err)
	}
	return l.win(ctx, authorization)
}

// win ends the login with the account that it was for. Another account than the identity's is
// logged out again.
func (l *login) win(ctx context.Context, authorization tg.AuthAuthorizationClass) error {
	a, ok := authorization.(*tg.AuthAuthorization)
	if !ok {
		return refusedLogin("PHONE_NUMBER_UNOCCUPIED", "phone", errNoAccount)
	}
	account, ok := a.User.(*tg.User)
	if !ok {
		return loginError(fmt.Errorf("log in: Telegram answered with %T", a.User))
	}
	if l.self != 0 && l.self != account.ID {
		_, _ = l.client.API().AuthLogOut(ctx) // if it fails, the key is forgotten all the same
		e := refusedLogin("", "phone", errors.New("this is another Telegram account than the one that this login has been: log that one in, or add a new login"))
		l.mu.Lock()
		l.failed = e
		l.mu.Unlock()
		l.end(e)
		return e
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.account == nil {
		l.account = account
		close(l.won)
	}
	return nil
}
