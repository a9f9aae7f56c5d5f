package web

import (
	"testing"
	"time"

	"belfry/store"
)

func TestWhatWorkersSayIsSaidInTheLanguageOfTheOwner(t *testing.T) {
	refused := &store.ConflictError{Problem: "a check is under way: 3 of 40 accounts are done", Cure: "wait until it has ended"}
	why := store.Reason{Code: store.ReasonRefused, Detail: "CHAT_WRITE_FORBIDDEN: this login may not post in the chat: make it an administrator that may post messages"}
	for lang, want := range map[string][2]string{
		"en": {"A check is under way: 3 of 40 accounts are done: wait until it has ended.",
			"Refused: this login may not post in the chat: make it an administrator that may post messages (CHAT_WRITE_FORBIDDEN)"},
		"ru": {"Проверка уже идёт: готово 3 из 40. Подождите, пока она закончится.",
			"Отказано: этому входу нельзя публиковать в чате: сделайте его администратором с правом публиковать (CHAT_WRITE_FORBIDDEN)"},
	} {
		s := NewSpeech(lang, time.UTC)
		if got := s.Refusal(refused); got != want[0] {
			t.Errorf("%s: %q, want %q", lang, got, want[0])
		}
		if got := s.Reason(why); got != want[1] {
			t.Errorf("%s: %q, want %q", lang, got, want[1])
		}
		if got := s.Refusal(&store.FieldError{Field: "interval", Problem: "is not between a minute and a week", Cure: "5m is usual"}); got == "" {
			t.Errorf("%s: says nothing of a field", lang)
		}
	}
}
