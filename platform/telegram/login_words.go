package telegram

import (
	"errors"
	"time"

	"github.com/gotd/td/tg"
	"github.com/gotd/td/tgerr"

	"belfry/platform"
)

// guessPause is how long to wait after too many wrong passwords; Telegram does not say.
const guessPause = time.Hour

var errNoAccount error = worded{words: "Telegram has no account with this number: sign up with a Telegram app first"}

func refusedLogin(code, field string, err error) *platform.Error {
	return &platform.Error{Kind: platform.Refused, Scope: platform.ScopeIdentity, Code: code, Field: field, Err: err}
}

// loginError sorts the error of a login's step. Its Field says what has to be entered again.
func loginError(err error) *platform.Error {
	if e, ok := errors.AsType[*platform.Error](err); ok {
		return e
	}
	if errors.Is(err, errTooLong) || errors.Is(err, errAbandoned) {
		return refusedLogin("", "", err)
	}
	rpc, ok := tgerr.As(err)
	if !ok {
		return notConnected("Telegram does not answer")
	}
	e := *sortError(err, false)
	say := func(kind platform.Kind, field, words string) {
		e.Kind, e.Scope, e.Field, e.Err = kind, platform.ScopeIdentity, field, worded{words, err}
	}
	switch rpc.Type {
	case "PHONE_CODE_INVALID", "PHONE_CODE_EMPTY", "CODE_INVALID":
		say(platform.Refused, "code", "this is not the code that Telegram sent")
	case "PHONE_CODE_EXPIRED", "PHONE_CODE_HASH_EMPTY", "PHONE_HASH_EXPIRED", "EMAIL_VERIFY_EXPIRED":
		say(platform.Refused, "code", "the code is no longer good: ask for a new code")
	case "PHONE_NUMBER_INVALID":
		say(platform.Refused, "phone", "this is not a phone number: write it with the country's code")
	case "PHONE_NUMBER_BANNED":
		say(platform.Refused, "phone", "Telegram has banned this number")
	case "PHONE_NUMBER_UNOCCUPIED":
		say(platform.Refused, "phone", errNoAccount.Error())
	case "PHONE_NUMBER_FLOOD":
		say(platform.Refused, "phone", "too many codes were asked for with this number: try again tomorrow")
	case "PASSWORD_HASH_INVALID":
		say(platform.Refused, "password", "this is not the account's two-step password")
	case "PHONE_PASSWORD_FLOOD":
		say(platform.Wait, "", "too many attempts to log in: Telegram wants some hours to pass")
		e.Wait = guessPause
	case "AUTH_TOKEN_EXPIRED", "AUTH_TOKEN_INVALID", "AUTH_TOKEN_ALREADY_ACCEPTED", "AUTH_RESTART",
		"SRP_ID_INVALID", "SRP_PASSWORD_CHANGED":
		say(platform.Transient, "", "Telegram asks to do this step again")
	default:
		e.Scope, e.Field = platform.ScopeIdentity, ""
	}
	return &e
}

func needsPassword(err error) bool { return tgerr.Is(err, "SESSION_PASSWORD_NEEDED") }

// sentVia says where a code was sent; empty if it was sent nowhere.
func sentVia(t tg.AuthSentCodeTypeClass) string {
	switch t.(type) {
	case *tg.AuthSentCodeTypeApp:
		return "app"
	case *tg.AuthSentCodeTypeCall:
		return "call"
	case *tg.AuthSentCodeTypeFlashCall:
		return "flash_call"
	case *tg.AuthSentCodeTypeMissedCall:
		return "missed_call"
	case *tg.AuthSentCodeTypeEmailCode:
		return "email"
	case *tg.AuthSentCodeTypeFragmentSMS:
		return "fragment"
	case *tg.AuthSentCodeTypeSetUpEmailRequired:
		return ""
	}
	return "sms"
}
