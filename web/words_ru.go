package web

import (
	"fmt"
	"time"

	"belfry/store"
)

func russianWords() *words {
	return &words{
		Nav: navWords{
			Skip: "К содержанию", Label: "Страницы", Next: "Далее", Posts: "Посты", Compose: "Новый пост", Jobs: "Задачи",
			Logins: "Входы", SignOut: "Выйти", OtherLanguage: "English", TimesIn: "Часовой пояс:", Password: "Пароль",
		},
		Next: nextWords{
			Title: "Что будет дальше", NextPost: "Следующий пост", Coming: "Впереди", Happened: "Только что",
			Attention: "Требует внимания", NothingTitle: "Ничего не ожидается",
			Nothing: "Ни один пост не запланирован.", NothingLink: "Написать пост",
			NothingLogin: "Belfry пока не от чьего имени публиковать.", NothingLoginLink: "Добавить бота Telegram",
			NoRuns: "Ничего не запланировано.", AllJobs: "Все задачи", NothingHappened: "Здесь появится то, что опубликует Belfry.",
			Open: "Открыть", NewTab: "(в новой вкладке)",
			FailedPost: "Пост не опубликован", FailedCure: "Посмотрите причину, измените пост и попробуйте снова.",
			UnknownPost: "Неизвестно, вышел ли пост", UnknownCure: "Сначала посмотрите в канале, потом решайте.", Look: "Посмотреть",
			LoginOut: "Вход не действует", LoginOutCure: "Его посты ждут.", LoginsLink: "К входам",
			NotConnected: "Нет связи", NotConnectedCure: "Belfry пробует снова; если это надолго, проверьте сеть сервера.",
			SetAside: "Задача отложена", SetAsideCure: "В таком виде она не запустится.", SetAsideLink: "Посмотреть задачу",
			Overdue: "Задача опаздывает и не запущена", OverdueCure: "Посмотрите журнал Belfry: journalctl -u belfry",
			Stopped: "Ничего не выполняется", StoppedCure: "Планировщик не запущен. Посмотрите журнал Belfry: journalctl -u belfry",
			Paused: "Всё на паузе", PausedCure: "Пока пауза не снята, ничего не выходит. Если файл восстановлен из копии, сначала убедитесь, что старая система выключена: одним входом не должны пользоваться двое.",
			Idle: "Belfry велено ничего не выполнять", IdleCure: "Задано DISABLE_WORKERS: пока оно есть, ничего не выходит.",
			StoreTrouble: "База данных недоступна", StoreCure: "Проверьте, что диск не заполнен и доступен для записи. Belfry продолжит сам.",
			Clock: "Часы сервера, похоже, неверны", ClockCure: "Проверьте дату и время. Пока они неправдоподобны, ничего не запускается.",
			NoPassword: "У страницы ещё нет пароля", NoPasswordCure: "Без него для каждого входа нужна новая ссылка.", NoPasswordLink: "Выбрать пароль",
			MoreFailed: func(n int) string {
				return "и ещё " + countedRU(n, "пост", "поста", "постов") + " за неделю"
			},
		},
		Posts: postsWords{
			Title: "Посты", Filter: "Статус", All: "Все", When: "Когда", What: "Пост", Where: "Куда", Status: "Статус",
			Pages: "Дальше по списку", Newest: "К последним", Older: "Более ранние", Soonest: "К ближайшим", Later: "Более поздние", Empty: "Постов пока нет.",
			EmptyOf: map[store.PostStatus]string{
				store.PostScheduled: "Ни один пост не запланирован.", store.PostPublishing: "Сейчас ничего не публикуется.",
				store.PostPublished: "Ещё ничего не опубликовано.", store.PostFailed: "Неудач нет. Хорошо.",
				store.PostUnknown: "Нет постов, о которых неизвестно, вышли ли они.", store.PostCancelled: "Ни один пост не отменён.",
				store.PostSkipped: "Ни один пост не пропущен.",
			},
			Album:  func(n int) string { return countedRU(n, "файл", "файла", "файлов") },
			NoText: "(без текста)",
		},
		Post: postWords{
			Title: "Пост", Preview: "Как увидят читатели", State: "Состояние", History: "Что происходило", When: "Запланирован на",
			NextTry: "Следующая попытка", Published: "Опубликован", Where: "Куда", Login: "Вход", Lateness: "Если поздно", Options: "Параметры", Link: "Ссылка",
			LateSend: "Выйдет всё равно", LateSkip: "Будет пропущен, если опоздает больше чем на",
			Silent: "без звука", NoPreview: "без предпросмотра ссылок", Removed: "удалённый вход",
			Cancel: "Отменить пост", Change: "Изменить", PublishNow: "Опубликовать сейчас", Retry: "Попробовать снова", Again: "Сделать новый пост из этого",
			Attempt:   func(n string) string { return "попытка " + n },
			NextRun:   func(when string) string { return "следующая попытка " + when },
			CancelAsk: "Отменить этот пост?", CancelMeans: "Он не выйдет. Он останется в списке, и его можно будет использовать снова.",
			RetryAsk: "Попробовать снова?", RetryMeans: "Пост выйдет сейчас, как есть.",
			RetryUnknown: "Сначала посмотрите в канале. Если пост там, ничего не делайте. Если нет, попробуйте снова: пост, который уже принят, Telegram узнает.",
			PublishAsk:   "Опубликовать этот пост сейчас?", PublishMeans: "Он выйдет сразу, а не в назначенное время.",
		},
		Confirm: confirmWords{Back: "Назад"},
		Compose: composeWords{
			New: "Новый пост", Change: "Изменить пост", Login: "От имени", Target: "Канал или чат",
			Text: "Текст", Format: "Разметка", FormatHint: "HTML: <b>, <i>, <u>, <s>, <a href>, <code>, <pre>, <blockquote>, <tg-spoiler>. Markdown: **жирный**, *курсив*, ~~зачёркнутый~~, ||спойлер||, `код`, [ссылка](https://…).",
			Media: "Картинки и файлы", AddMedia: "Добавить картинку или файл", MediaKind: "Показать как", MediaSource: "Адрес или файл",
			MediaHint: "https://… или путь в папке медиа Belfry", When: "Когда", At: "В назначенное время", Now: "Как можно скорее", Time: "Дата и время",
			TimeHint: "Часовой пояс:", Lateness: "Если в это время Belfry не работает", LateSend: "Опубликовать, как только заработает",
			LateSkip: func(d time.Duration) string {
				return "Пропустить, если опоздание больше " + lengthGenitiveRU(d)
			},
			Options: "Параметры", Silent: "Доставить без звука", NoLinkPreview: "Не показывать предпросмотр ссылок",
			Schedule: "Запланировать пост", Save: "Сохранить изменения", Preview: "Предпросмотр", PreviewEmpty: "Здесь появится то, что вы пишете, — так, как увидят читатели.",
			NoLogin: "Belfry не от чьего имени публиковать.", Fix: "Пост не сохранён. Что изменить, написано ниже.",
			BadTime: "не указано полностью", BadTimeCure: "выберите день и время", GapTime: "не существует: часы его перескакивают",
			GapCure: "выберите на час позже",
			Count: func(n, limit int) string {
				return fmt.Sprintf("%s из %s", countedRU(n, "символ", "символа", "символов"), group(limit, "\u00a0"))
			},
			Over: func(n int) string {
				return "лишних " + countedRU(n, "символ", "символа", "символов")
			},
			SignedOut: "Вы вышли. Войдите в другой вкладке; написанное останется здесь.",
		},
		Jobs: jobsWords{
			Title: "Задачи", Lead: "Всё, что ждёт своего времени, по порядку.", Kind: "Вид", AllKinds: "Все виды", Show: "Показать",
			Next: "Следующий запуск", What: "Задача", Last: "Последний запуск", Actions: "Действия", Never: "ещё не было", Resume: "Продолжить", Pause: "Пауза", RunNow: "Запустить сейчас",
			Earliest: "К ближайшим", Later: "Более поздние", Empty: "Ничего не ждёт запуска. Задачу создаст запланированный пост.",
			Runs: "Последние запуски", NoRuns: "Запусков ещё не было.", Name: "Имя", Lane: "Очередь", About: "О чём",
			PauseAll: "Всё на паузу", ResumeAll: "Снять паузу со всего",
			Gone: "Задача выполнена, и в расписании её больше нет.",
		},
		Logins: loginsWords{
			Title: "Входы", Lead: "От чьего имени публикует Belfry.", AddBot: "Добавить бота Telegram",
			AddHow: "Создайте бота у @BotFather, добавьте его в канал администратором с правом публиковать и вставьте сюда его токен.",
			Name:   "Имя", NameHint: "Как вы его называете: строчные латинские буквы и цифры. Пусто — main.", Token: "Токен",
			TokenHint: "Например 123456789:AAE… Больше он показан не будет.", Target: "Куда публиковать", TargetHint: "@канал или числовой id, если в посте не указано другое.",
			NewTokenHint: "Оставьте пустым, чтобы сохранить прежний.", Add: "Добавить бота", Save: "Сохранить", Change: "Изменить", Remove: "Удалить",
			PostsTo: "Публикует в", NoTarget: "не задано: каждый пост указывает сам", Empty: "Входов пока нет. Добавьте ниже бота Telegram.",
			ChangeTitle: "Изменить вход", RemoveAsk: "Удалить этот вход?", RemoveMeans: "Belfry забудет его и его сессию. Посты, которые его ждут, сначала нужно отменить или изменить.",
			LoginCure:   "Получите новый токен у @BotFather и введите его через «Изменить».",
			StoppedCure: "Подождите и посмотрите, что об этом говорит Telegram; потом войдите снова.",
			NewCure:     "Belfry выполняет вход.", Connected: "на связи", NotConnected: "нет связи",
		},
		SignIn: signInWords{
			Title: "Вход", Password: "Пароль", Button: "Войти",
			Forgot:     "Забыли? Одноразовую ссылку Belfry даёт тому, кому на сервере доступен его сокет; как — сказано в README.",
			NoPassword: "Пароль ещё не выбран. Откройте одноразовую ссылку, которую Belfry записал в журнал при запуске: journalctl -u belfry",
			Wrong:      "Это не тот пароль.", LinkReady: "Эта ссылка один раз впускает вас в этом браузере.",
			LinkOver: "Ссылка уже использована или устарела.", LinkAgain: "Перезапустите Belfry, и в журнале появится новая.",
			WithPassword: "Войти с паролем", Choose: "Сохранить пароль", ChooseTitle: "Выберите пароль", ChangeTitle: "Сменить пароль",
			ChooseHow: "Не меньше 8 символов; несколько слов легко запомнить. Во всех других браузерах вход завершится.",
			Old:       "Нынешний пароль", New: "Новый пароль", Later: "Позже",
			Wait: func(d time.Duration) string {
				return "Слишком много неверных паролей. Попробуйте через " + lengthRU(d) + "."
			},
		},
		Errors: errorWords{
			Title: "Не получилось", NotFound: "Здесь ничего нет", NotFoundHow: "Возможно, это удалено или адрес неполон.",
			Own: "В Belfry что-то пошло не так. Подробности в журнале: journalctl -u belfry", Unavailable: "База данных сейчас недоступна. Проверьте, сохранилось ли изменение, и попробуйте через несколько секунд.",
			Forbidden: "Страница устарела. Откройте её снова и повторите.", Back: "На первую страницу",
		},
		Time: timeWords{
			Today: "сегодня", Tomorrow: "завтра", Yesterday: "вчера", Moment: "сейчас", JustNow: "только что", Now: "сейчас",
			In:     func(d time.Duration) string { return "через " + lengthRU(d) },
			Ago:    func(d time.Duration) string { return lengthRU(d) + " назад" },
			Length: lengthRU,
			Day: func(t time.Time) string {
				return fmt.Sprintf("%s, %d %s", weekdaysRU()[t.Weekday()], t.Day(), monthsRU()[t.Month()-1])
			},
			ShortDay: func(t time.Time) string {
				return fmt.Sprintf("%s %d %s", shortWeekdaysRU()[t.Weekday()], t.Day(), monthsRU()[t.Month()-1])
			},
		},
		Status: map[store.PostStatus]statusWords{
			store.PostScheduled:  {"запланирован", "Выйдет в своё время."},
			store.PostPublishing: {"публикуется", "Отправляется, или будет новая попытка."},
			store.PostPublished:  {"опубликован", "Вышел."},
			store.PostFailed:     {"не удался", "Не вышел, и сам больше не отправляется."},
			store.PostUnknown:    {"неизвестно", "Telegram не ответил: мог выйти, а мог и нет."},
			store.PostCancelled:  {"отменён", "Его отменили; он не выйдет."},
			store.PostSkipped:    {"пропущен", "Время прошло, а отправлять с опозданием было нельзя."},
		},
		JobStates: map[store.JobState]string{
			store.JobWaiting: "ждёт", store.JobRunning: "выполняется", store.JobPaused: "на паузе", store.JobSetAside: "отложена",
		},
		Results: map[store.Result]string{
			store.ResultDone: "выполнено", store.ResultAgain: "повтор", store.ResultFailed: "не удалось", store.ResultSkipped: "пропущено",
			store.ResultInterrupted: "прервано",
		},
		IdentityStates: map[store.IdentityState]string{
			store.IdentityNew: "новый", store.IdentityReady: "готов", store.IdentityLogin: "нужно войти", store.IdentityStopped: "ограничен",
		},
		Platforms:     map[string]string{"telegram": "Telegram", "instagram": "Instagram", "twitter": "X"},
		IdentityKinds: map[store.IdentityKind]string{store.IdentityBot: "бот", store.IdentityUser: "аккаунт"},
		JobKinds:      map[string]string{"post": "Пост", "rule": "Правило", "task": "Рассылка", "reminder": "Напоминание", "feedback": "Отзыв", "channel": "Канал", "autocheck": "Проверка аккаунтов"},
		MediaKinds:    map[string]string{"photo": "Фото", "video": "Видео", "document": "Файл"},
		Formats:       map[string]string{"plain": "Нет: текст как есть", "html": "HTML", "markdown": "Markdown"},
		Done: map[string]string{
			"scheduled": "Пост запланирован.", "changed": "Пост изменён.", "cancelled": "Пост отменён.",
			"retried": "Пост сейчас выйдет.", "published": "Пост сейчас выйдет.", "paused": "Задача на паузе.",
			"resumed": "Задача снова в расписании.", "run": "Задача сейчас запустится.", "all-paused": "Всё на паузе.", "all-resumed": "Пауза снята.", "login-added": "Бот добавлен; Belfry выполняет вход.",
			"login-changed": "Вход изменён.", "login-removed": "Вход удалён.", "password": "Пароль сохранён.",
		},
		Fields: map[string]string{
			"text": "Текст", "target": "Канал или чат", "scheduled_time": "Время", "format": "Разметка",
			"identity_id": "Вход", "platform": "Сеть", "lateness": "Поведение при опоздании", "name": "Имя", "token": "Токен",
			"password": "Пароль", "media": "Картинка или файл", "id": "Задача",
		},
	}
}

func weekdaysRU() [7]string {
	return [7]string{"воскресенье", "понедельник", "вторник", "среда", "четверг", "пятница", "суббота"}
}

func shortWeekdaysRU() [7]string {
	return [7]string{"вс", "пн", "вт", "ср", "чт", "пт", "сб"}
}

func monthsRU() [12]string {
	return [12]string{"января", "февраля", "марта", "апреля", "мая", "июня", "июля", "августа", "сентября", "октября", "ноября", "декабря"}
}

// countedRU is a number with its noun in the form that Russian asks for: 1 пост, 2 поста, 5 постов.
func countedRU(n int, one, few, many string) string {
	return group(n, "\u00a0") + " " + formRU(n, one, few, many)
}

func formRU(n int, one, few, many string) string {
	switch {
	case n%10 == 1 && n%100 != 11:
		return one
	case n%10 >= 2 && n%10 <= 4 && (n%100 < 12 || n%100 > 14):
		return few
	}
	return many
}

// lengthRU says a length of time in its largest unit, as in «через минуту».
func lengthRU(d time.Duration) string {
	n, unit := largest(d)
	names := [...][3]string{{"секунду", "секунды", "секунд"}, {"минуту", "минуты", "минут"}, {"час", "часа", "часов"},
		{"день", "дня", "дней"}, {"месяц", "месяца", "месяцев"}, {"год", "года", "лет"}}
	return countedRU(n, names[unit][0], names[unit][1], names[unit][2])
}

// lengthGenitiveRU is the same as in «больше минуты».
func lengthGenitiveRU(d time.Duration) string {
	n, unit := largest(d)
	names := [...][2]string{{"секунды", "секунд"}, {"минуты", "минут"}, {"часа", "часов"}, {"дня", "дней"}, {"месяца", "месяцев"}, {"года", "лет"}}
	return countedRU(n, names[unit][0], names[unit][1], names[unit][1])
}
