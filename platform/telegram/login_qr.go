package telegram

import (
	"context"
	"time"

	"github.com/gotd/td/telegram/auth/qrlogin"
	"github.com/gotd/td/tg"

	"belfry/platform"
)

// tokenMargin is how long a QR code must still be good for to be shown again.
const tokenMargin = 2 * time.Second

// ShowQR begins a login with a QR code or goes on with it. What it ended with is told once, then
// another one begins.
func (n *Network) ShowQR(ctx context.Context, identityID uint64) (platform.LoginStep, error) {
	if l := n.login(identityID); l != nil && l.qr && l.over() {
		if err := l.failure(); err != nil {
			n.forgetDone(identityID)
			return platform.LoginStep{}, err
		}
		return l.at(), nil
	}
	l, err := n.beginLogin(ctx, identityID, true)
	if err != nil {
		return platform.LoginStep{}, err
	}
	return l.take(ctx, l.showToken)
}

// forgetDone forgets how an identity's last login ended: it was told, or is not so any more.
func (n *Network) forgetDone(identityID uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if l := n.logins[identityID]; l != nil && l.over() {
		delete(n.logins, identityID)
	}
}

// showToken sees to it that there is a code that can be scanned, unless the login is past that.
func (l *login) showToken(ctx context.Context) error {
	step := l.at()
	switch {
	case step.State == platform.LoginPassword:
		return nil
	case step.State == platform.LoginQR && step.Expires.Sub(l.network.cfg.Now()) > tokenMargin:
		return nil
	}
	return l.exportToken(ctx)
}

// update hears of an accepted code. It must not make a call: gotd reads no answers meanwhile.
func (l *login) update(_ context.Context, u tg.UpdatesClass) error {
	updates, _, _ := updatesIn(u)
	for _, update := range updates {
		if _, ok := update.(*tg.UpdateLoginToken); ok {
			wake(l.scanned)
		}
	}
	return nil
}

// redeem goes on with a code that was accepted. If that fails, the next ShowQR tries it again.
func (l *login) redeem(ctx context.Context) {
	l.mu.Lock()
	waits := l.step.State == platform.LoginQR
	l.step.Expires = time.Time{}
	l.mu.Unlock()
	if !waits {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, loginCall)
	defer cancel()
	if err := l.exportToken(ctx); err != nil {
		e := platform.AsError(err)
		l.network.cfg.Log.Info().Str("platform", Platform).Uint64("identity", l.identity).
			Str("code", e.Code).Str("error", plainly(e.Err)).Msg("the scanned code did not log in")
	}
}

// exportToken asks for a code. If the last one has been accepted, Telegram answers with the
// account instead.
func (l *login) exportToken(ctx context.Context) error {
	api := l.client.API()
	appID, appHash := l.network.cfg.Application()
	answer, err := api.AuthExportLoginToken(ctx, &tg.AuthExportLoginTokenRequest{APIID: appID, APIHash: appHash})
	if moved, ok := answer.(*tg.AuthLoginTokenMigrateTo); err == nil && ok {
		if err := l.client.MigrateTo(ctx, moved.DCID); err != nil {
			return loginError(err)
		}
		answer, err = api.AuthImportLoginToken(ctx, moved.Token)
	}
	if needsPassword(err) {
		return l.askPassword(ctx)
	}
	if err != nil {
		return loginError(err)
	}
	switch answer := answer.(type) {
	case *tg.AuthLoginToken:
		token := qrlogin.NewToken(answer.Token, answer.Expires)
		l.mu.Lock()
		l.step = platform.LoginStep{State: platform.LoginQR, URL: token.URL(), Expires: token.Expires().UTC()}
		l.mu.Unlock()
		return nil
	case *tg.AuthLoginTokenSuccess:
		return l.win(ctx, answer.Authorization)
	}
	return notConnected("Telegram moved the login twice")
}
