package platform

import (
	"context"
	"time"
)

// LoginState says what a login needs next.
type LoginState string

// The states of a login.
const (
	LoginNone     LoginState = ""         // nobody is logging in
	LoginCode     LoginState = "code"     // the network has sent a code
	LoginPassword LoginState = "password" // the account has a two-step password
	LoginQR       LoginState = "qr"       // a code waits to be scanned with a device that is logged in
	LoginLink     LoginState = "link"     // the owner lets Belfry in at an address of the network
	LoginDone     LoginState = "done"     // logged in
)

// LoginStep is where a login stands.
type LoginStep struct {
	State   LoginState
	Phone   string    // that the code was sent for
	Via     string    // where the code was sent: app, sms, call, flash_call, missed_call, email, fragment
	Hint    string    // the account's hint for its password
	URL     string    // what the QR code says, such as tg://login?token=…; with link the address
	Expires time.Time // when the QR code is replaced by another one
	Title   string    // with done: the account's name
}

// Logins logs user accounts in and out. Its errors are of type [*Error]; one with a Field says
// that the phone, the code or the password is wrong, and the login goes on where it was.
type Logins interface {
	// SendCode begins a login, in the place of one that is under way.
	SendCode(ctx context.Context, identityID uint64, phone string) (LoginStep, error)
	EnterCode(ctx context.Context, identityID uint64, code string) (LoginStep, error)
	EnterPassword(ctx context.Context, identityID uint64, password string) (LoginStep, error)
	// ShowQR begins a login with a QR code, or goes on with the one that is under way: it returns
	// the code that is good now, or what came of it.
	ShowQR(ctx context.Context, identityID uint64) (LoginStep, error)
	// Login returns where a login stands.
	Login(identityID uint64) LoginStep
	// AbandonLogin ends a login that is under way.
	AbandonLogin(identityID uint64)
	// LogOut ends the identity's session at the network and here.
	LogOut(ctx context.Context, identityID uint64) error
	// ParseSession reads a session that another program has written, the text of one or the content
	// of a file, and returns it as this adapter stores sessions.
	ParseSession(data []byte) ([]byte, error)
}
