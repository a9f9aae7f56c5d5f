package web

import (
	"testing"
	"time"

	"belfry/store"
)

// A network's own name for an error stands at either end of what it says, and the words are said all
// the same.
func TestWhatANetworkSaysIsSaidInRussian(t *testing.T) {
	s := NewSpeech("ru", time.UTC)
	for detail, want := range map[string]string{
		"Telegram has ended the session: log in again (SESSION_REVOKED)":   "Вход больше не действует; войдите снова: Telegram завершил сессию: войдите снова (SESSION_REVOKED)",
		"SESSION_REVOKED: Telegram has ended the session: log in again":    "Вход больше не действует; войдите снова: Telegram завершил сессию: войдите снова (SESSION_REVOKED)",
		"Telegram has ended the session: log in again":                     "Вход больше не действует; войдите снова: Telegram завершил сессию: войдите снова",
		"something that nobody has said in Russian (and no code) (at all)": "Вход больше не действует; войдите снова: something that nobody has said in Russian (and no code) (at all)",
	} {
		if got := s.Reason(store.Reason{Code: store.ReasonLogin, Detail: detail}); got != want {
			t.Errorf("%q\n is %q\nwant %q", detail, got, want)
		}
	}
}
