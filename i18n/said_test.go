package i18n_test

import (
	"testing"
	"time"

	"belfry/i18n"
	"belfry/store"
)

func TestReasonsAreSaidWithWhatIsKnown(t *testing.T) {
	until := time.Date(2026, 11, 22, 1, 2, 3, 0, time.UTC)
	for _, each := range []struct {
		why    store.Reason
		en, ru string
	}{
		{store.Reason{}, "", ""},
		{store.Reason{Code: store.ReasonRetry}, "Trying again", "Новая попытка"},
		{store.Reason{Code: store.ReasonRetry, N: 2, Of: 3}, "Trying again (attempt 2 of 3 failed)", "Новая попытка (не удалась 2 из 3)"},
		{store.Reason{Code: store.ReasonNoAnswers, N: 5}, "The site does not answer the check (5 refusals in a row); it is paused", "Сайт не отвечает на проверку (отказов подряд: 5); пауза"},
		{store.Reason{Code: store.ReasonSiteWait, About: "x", Until: until, Detail: "too many requests"},
			"x: The site asked to wait until 2026-11-22 01:02:03: too many requests", "x: Сайт просит подождать до 22.11.2026 01:02:03: too many requests"},
		{store.Reason{Code: "of_a_later_version", Detail: "told"}, "reason.of_a_later_version: told", "reason.of_a_later_version: told"},
	} {
		for lang, want := range map[string]string{"en": each.en, "ru": each.ru} {
			if said := i18n.For(lang, time.UTC).Say(each.why); said != want {
				t.Errorf("%s: %+v is %q, want %q", lang, each.why, said, want)
			}
		}
	}
}

// A network's own name for an error stands at either end of what it says, and the words are said all the same.
func TestWhatANetworkSaysIsSaidInRussian(t *testing.T) {
	for words, want := range map[string]string{
		"Telegram has ended the session: log in again (SESSION_REVOKED)":                                                                 "Telegram завершил сессию: войдите снова (SESSION_REVOKED)",
		"SESSION_REVOKED: Telegram has ended the session: log in again":                                                                  "Telegram завершил сессию: войдите снова (SESSION_REVOKED)",
		"Telegram has ended the session: log in again":                                                                                   "Telegram завершил сессию: войдите снова",
		"not connected to Telegram: FLOOD_WAIT: Telegram asks this login to wait 30 s":                                                   "нет связи с Telegram: Telegram просит этот аккаунт подождать 30 с (FLOOD_WAIT)",
		"urlProbe: the address leads to ::1, which is not public: use a public address, or allow this one with BELFRY_ALLOW_PRIVATE=::1": "urlProbe: адрес ведёт на ::1 — это не публичный адрес: укажите публичный или разрешите этот: BELFRY_ALLOW_PRIVATE=::1",
		"the feed answered 404: check its address":                                                                                       "лента ответила кодом 404: проверьте её адрес",
		"the AI answered 401: Incorrect API key (check OPENAI_API_KEY)":                                                                  "ИИ ответил кодом 401: Incorrect API key (проверьте OPENAI_API_KEY)",
		"the answer was 301, which leads elsewhere: set the address that it leads to":                                                    "ответ: 301, он ведёт на другой адрес: укажите тот адрес",
		"robots.txt: the site answered 503":                                                                                              "robots.txt: сайт ответил кодом 503",
		"status 404, and more than 1 MB of it":                                                                                           "код 404, и больше 1 МБ",
		"1.5 of 3.0 MB are there":                                                                                                        "передано 1.5 из 3.0 МБ",
		"something that is not in the catalogue (and no code) (at all)":                                                                  "something that is not in the catalogue (and no code) (at all)",
	} {
		if said := i18n.For("ru", time.UTC).Heard(words); said != want {
			t.Errorf("%q\n is %q\nwant %q", words, said, want)
		}
	}
}

func TestErrorsAreSaidToPeople(t *testing.T) {
	refused := store.Invalid("text", "invalid.refused", store.Detail("MESSAGE_EMPTY: the text is empty"))
	running := store.Conflict("conflict.check_running", 3, 40)
	for _, each := range []struct {
		err    error
		en, ru string
	}{
		{refused, "The text is not accepted: the text is empty (MESSAGE_EMPTY).", "Текст: текст пуст (MESSAGE_EMPTY)."},
		{running, "A check is under way: 3 of 40 accounts are done: wait until it has ended.", "Проверка уже идёт: готово 3 из 40. Подождите, пока она закончится."},
		{store.Conflict("conflict.needs_approval", uint64(3)), "Post 3 needs approval: approve it.", "Пост 3 ждёт одобрения. Сначала одобрите его."},
	} {
		for lang, want := range map[string]string{"en": each.en, "ru": each.ru} {
			if said := i18n.For(lang, time.UTC).Error(each.err); said != want {
				t.Errorf("%s: %v is %q, want %q", lang, each.err, said, want)
			}
		}
	}
}
