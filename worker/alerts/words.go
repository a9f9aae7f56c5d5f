package alerts

import (
	"fmt"
	"time"

	"belfry/i18n"
	"belfry/store"
)

// Words say an alert to an owner.
type Words struct {
	What string // is wrong, or was
	Why  string // as far as is known
	Cure string // what to do about it; empty if it is over
}

// Text says an alert in lang, "en" or "ru", with times in zone.
func Text(a store.Alert, lang string, zone *time.Location) Words {
	say := wordsIn(lang)
	k, known := say.kinds[a.Kind]
	if !known {
		return Words{What: a.About, Why: i18n.For(lang, zone).Say(a.Reason)}
	}
	t := Words{What: k.what(a), Cure: k.cure}
	if !a.Reason.Zero() {
		t.Why = i18n.For(lang, zone).Say(a.Reason)
	}
	if a.Flaps {
		t.Cure += " " + say.flaps
	}
	if a.State() == store.AlertOver {
		t.Cure = ""
	}
	return t
}

// overText says that what an alert was about has come right.
func overText(a store.Alert, lang string) string {
	k, known := wordsIn(lang).kinds[a.Kind]
	if !known {
		return a.About
	}
	return k.over(a)
}

// sentences say alerts of one kind.
type sentences struct {
	what, over func(store.Alert) string
	cure       string
}

type language struct {
	many, manyOver                       string
	acknowledge, acknowledgeAll, showAll string
	flaps                                string
	kinds                                map[store.AlertKind]sentences
}

func wordsIn(lang string) language {
	if lang == "ru" {
		return russian()
	}
	return english()
}

func name(format string) func(store.Alert) string {
	return func(a store.Alert) string { return fmt.Sprintf(format, a.Name) }
}

func always(text string) func(store.Alert) string { return func(store.Alert) string { return text } }

// post says a sentence about a post, or another one about many.
func post(one, many string) func(store.Alert) string {
	return func(a store.Alert) string {
		if a.Subject == 0 {
			return fmt.Sprintf(many, a.Count)
		}
		return fmt.Sprintf(one, a.Subject, a.Name)
	}
}

func mebibytes(bytes int64) int64 { return bytes >> 20 }

func english() language {
	return language{
		many: "%d new alerts", manyOver: "%d alerts resolved",
		acknowledge: "Acknowledge", acknowledgeAll: "Acknowledge all", showAll: "Show",
		flaps: "It comes and goes: this is the third time in an hour. More changes are not reported; it is resolved after an hour without it.",
		kinds: map[store.AlertKind]sentences{
			store.AlertPostFailed: {
				what: post("Post %d to %s was not published", "%d more posts or broadcasts have failed"),
				over: post("Post %d to %s is published after all", "%d"),
				cure: "Publish it again or cancel it, on its page or with /posts in Telegram.",
			},
			store.AlertPostUnknown: {
				what: post("It is unknown whether post %d to %s was published", "%d"),
				over: post("Post %d to %s is published after all", "%d"),
				cure: "Check the chat. If the post is not there, publish it again: it cannot appear twice.",
			},
			store.AlertTaskFailed: {
				what: func(a store.Alert) string {
					return fmt.Sprintf("Broadcast %d has failed: %d of %d chats received it", a.Subject, a.Count, a.Limit)
				},
				over: func(a store.Alert) string { return fmt.Sprintf("Broadcast %d is done after all", a.Subject) },
				cure: "Try it again on its page: chats that have it do not get it twice.",
			},
			store.AlertJobFailing: {
				what: func(a store.Alert) string {
					if a.Count == 0 {
						return a.Name + " was set aside and does not run"
					}
					return fmt.Sprintf("%s has failed %d times in a row", a.Name, a.Count)
				},
				over: name("%s works again"), cure: "Its page says what happened at each time.",
			},
			store.AlertOverdue: {
				what: func(a store.Alert) string {
					return fmt.Sprintf("%s is overdue by %d minutes", a.Name, a.Count)
				},
				over: always("Nothing is overdue any more"), cure: "Look at the page and the log; starting Belfry again loses nothing.",
			},
			store.AlertLogin: {
				what: name("The account %s cannot post"), over: name("The account %s works again"),
				cure: "Its page says what to do. Its posts wait.",
			},
			store.AlertDisk: {
				what: func(a store.Alert) string {
					return fmt.Sprintf("The disk is nearly full: %d MiB are free, and %d are needed", mebibytes(a.Count), mebibytes(a.Limit))
				},
				over: always("There is room on the disk again"), cure: "Make room before it is full: then nothing is sent.",
			},
			store.AlertQueue: {
				what: func(a store.Alert) string {
					return fmt.Sprintf("Jobs pile up: %d are waiting", a.Count)
				},
				over: always("The queue is short again"), cure: "The page says why each of them waits.",
			},
			store.AlertDamage: {
				what: func(a store.Alert) string { return fmt.Sprintf("The database file is damaged: %d problems", a.Count) },
				over: always("The file is in order again"), cure: "Stop Belfry, make a copy of the file, and run belfry check --repair.",
			},
			store.AlertCopy: {
				what: always("A copy of the file is bad: it took too long and was given up"), over: always("A copy of the file is good"),
				cure: "Delete that copy, and make another one with belfry backup.",
			},
			store.AlertUnreached: {
				what: name("Messages to %s are not delivered"), over: name("Messages to %s are delivered again"),
				cure: "A person has to write to the bot first, and must not block it; in a channel it has to be allowed to post. Or correct ADMIN_ID, the chat of the account, or BELFRY_ALERT_WEBHOOK.",
			},
		},
	}
}

func russian() language {
	return language{
		many: "Новых оповещений: %d", manyOver: "Решено: %d",
		acknowledge: "Принять", acknowledgeAll: "Принять все", showAll: "Показать",
		flaps: "Сбой то появляется, то проходит: третий раз за час. О новых изменениях не сообщаем; он решён, если его не было час.",
		kinds: map[store.AlertKind]sentences{
			store.AlertPostFailed: {
				what: post("Пост %d в %s не опубликован", "Не удалось ещё постов и рассылок: %d"),
				over: post("Пост %d в %s всё-таки опубликован", "%d"),
				cure: "Опубликуйте его снова или отмените: на его странице или через /posts в Telegram.",
			},
			store.AlertPostUnknown: {
				what: post("Неизвестно, вышел ли пост %d в %s", "%d"),
				over: post("Пост %d в %s всё-таки опубликован", "%d"),
				cure: "Загляните в чат. Если поста нет, опубликуйте снова: дважды он не выйдет.",
			},
			store.AlertTaskFailed: {
				what: func(a store.Alert) string {
					return fmt.Sprintf("Рассылка %d не удалась: отправлено в %d из %d чатов", a.Subject, a.Count, a.Limit)
				},
				over: func(a store.Alert) string {
					return fmt.Sprintf("Рассылка %d всё-таки завершена", a.Subject)
				},
				cure: "Повторите её на странице: кто уже получил, второй раз не получит.",
			},
			store.AlertJobFailing: {
				what: func(a store.Alert) string {
					if a.Count == 0 {
						return a.Name + ": отложено и не запускается"
					}
					return fmt.Sprintf("%s: ошибок подряд: %d", a.Name, a.Count)
				},
				over: name("%s снова работает"), cure: "На странице задачи видно, что было при каждом запуске.",
			},
			store.AlertOverdue: {
				what: func(a store.Alert) string {
					return fmt.Sprintf("%s опаздывает на %d мин", a.Name, a.Count)
				},
				over: always("Больше ничего не опаздывает"), cure: "Посмотрите страницу и журнал; при перезапуске Belfry ничего не теряется.",
			},
			store.AlertLogin: {
				what: name("Вход %s не действует"), over: name("Вход %s снова действует"),
				cure: "Что делать, сказано на его странице. Всё, что он должен отправить, ждёт.",
			},
			store.AlertDisk: {
				what: func(a store.Alert) string {
					return fmt.Sprintf("Диск почти заполнен: свободно %d МиБ, нужно %d", mebibytes(a.Count), mebibytes(a.Limit))
				},
				over: always("На диске снова есть место"), cure: "Освободите место: на полном диске ничего не отправляется.",
			},
			store.AlertQueue: {
				what: func(a store.Alert) string {
					return fmt.Sprintf("Задачи копятся быстрее, чем выполняются: ждут %d", a.Count)
				},
				over: always("Очередь снова короткая"), cure: "На странице видно, почему каждая ждёт.",
			},
			store.AlertDamage: {
				what: func(a store.Alert) string {
					return fmt.Sprintf("Файл базы повреждён, ошибок: %d", a.Count)
				},
				over: always("Файл снова в порядке"), cure: "Остановите Belfry, скопируйте файл и выполните belfry check --repair.",
			},
			store.AlertCopy: {
				what: always("Копия файла негодная: копирование длилось слишком долго и было прервано"), over: always("Копия файла годная"),
				cure: "Удалите эту копию и сделайте новую командой belfry backup.",
			},
			store.AlertUnreached: {
				what: name("Сообщения в %s не доходят"), over: name("Сообщения в %s снова доходят"),
				cure: "Человек должен сначала написать боту и не блокировать его; в канале боту нужно право писать. Или исправьте ADMIN_ID, чат аккаунта или BELFRY_ALERT_WEBHOOK.",
			},
		},
	}
}
