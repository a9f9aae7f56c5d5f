package web

import (
	"fmt"
	"time"

	"belfry/store"
)

func russianWords() *words {
	return &words{
		Nav: navWords{
			Skip: "К содержанию", Label: "Страницы", Next: "Далее", Posts: "Посты", Compose: "Новый пост", Tasks: "Рассылки", Accounts: "Аккаунты", Alerts: "Оповещения", Jobs: "Задачи",
			Logins: "Входы", SignOut: "Выйти", OtherLanguage: "English", TimesIn: "Часовой пояс:", Password: "Пароль",
		},
		Next: nextWords{
			Title: "Что будет дальше", NextPost: "Следующий пост", NextChat: "Следующий чат рассылки", Coming: "Впереди", Happened: "Только что",
			Attention: "Требует внимания", NothingTitle: "Ничего не ожидается",
			Nothing: "Ни один пост не запланирован.", NothingLink: "Написать пост",
			NothingLogin: "Аккаунт ещё не подключён.", NothingLoginLink: "Добавить бота Telegram",
			NoRuns: "Ничего не запланировано.", AllJobs: "Все задачи", NothingHappened: "Здесь появится то, что опубликует Belfry.",
			Open: "Открыть", NewTab: "(в новой вкладке)",
			LoginsLink: "Подключённые аккаунты", SetAsideLink: "Посмотреть задачу",
			NotConnected: "Нет связи", NotConnectedCure: "Belfry пробует снова; если это надолго, проверьте сеть сервера.",
			SiteAlone: "Сайт не отвечает на проверку аккаунтов", SiteAloneCure: "Belfry спросит его снова сам; пока ничему не верим.", AccountsLink: "К аккаунтам",
			Stopped: "Ничего не выполняется", StoppedCure: "Планировщик не запущен. Посмотрите журнал Belfry: journalctl -u belfry",
			Paused: "Всё на паузе", PausedCure: "Пока пауза не снята, ничего не выходит. Если файл восстановлен из копии, сначала убедитесь, что старая система выключена: одним входом не должны пользоваться двое.",
			Idle: "Выполнение заданий отключено", IdleCure: "Задано DISABLE_WORKERS: пока вы его не уберёте, ничего не отправляется.",
			StoreTrouble: "База данных недоступна", StoreCure: "Проверьте, что диск не заполнен и доступен для записи. Belfry продолжит сам.",
			Clock: "Часы сервера, похоже, неверны", ClockCure: "Проверьте дату и время. Пока они неправдоподобны, ничего не запускается.",
			NoPassword: "У страницы ещё нет пароля", NoPasswordCure: "Без него для каждого входа нужна новая ссылка.", NoPasswordLink: "Выбрать пароль",
			Unseen: func(n int, more bool) string {
				if more {
					return fmt.Sprintf("Новых оповещений: больше %d", n)
				}
				return countedRU(n, "новое оповещение", "новых оповещения", "новых оповещений")
			},
		},
		Posts: postsWords{
			Title: "Посты", Filter: "Статус", All: "Все", When: "Когда", What: "Пост", Where: "Куда", Status: "Статус",
			Pages: "Дальше по списку", Newest: "К последним", Older: "Более ранние", Soonest: "К ближайшим", Later: "Более поздние", Empty: "Постов пока нет.",
			EmptyOf: map[store.PostStatus]string{
				store.PostScheduled: "Ни один пост не запланирован.", store.PostPublishing: "Сейчас ничего не публикуется.",
				store.PostPublished: "Ещё ничего не опубликовано.", store.PostFailed: "Неудачных нет.",
				store.PostUnknown: "Нет постов, о которых неизвестно, вышли ли они.", store.PostCancelled: "Ни один пост не отменён.",
				store.PostSkipped: "Ни один пост не пропущен.", heldPosts: "Ни один пост не ждёт одобрения.",
			},
			Album:  func(n int) string { return countedRU(n, "файл", "файла", "файлов") },
			NoText: "(без текста)",
		},
		Post: postWords{
			Title: "Пост", Preview: "Как увидят читатели", State: "Состояние", History: "Что происходило", When: "Запланирован на",
			NextTry: "Следующая попытка", Published: "Опубликован", Where: "Куда", Login: "Аккаунт", Lateness: "Если поздно", Options: "Параметры", Link: "Ссылка",
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
			TimeHint: "Часовой пояс:", Lateness: "Если вовремя выйти не получилось", LateSend: "Опубликовать, как только получится",
			LateSkip: func(d time.Duration) string {
				return "Пропустить, если опоздание больше " + lengthGenitiveRU(d)
			},
			Options: "Параметры", Silent: "Доставить без звука", NoLinkPreview: "Не показывать предпросмотр ссылок",
			Schedule: "Запланировать пост", Save: "Сохранить изменения", Preview: "Предпросмотр", PreviewEmpty: "Здесь появится то, что вы пишете, — так, как увидят читатели.",
			NoLogin: "Подключите аккаунт, от имени которого публиковать.", Fix: "Пост не сохранён. Что изменить, написано ниже.",
			Changed: "Пост не сохранён: после открытия этой формы его изменили. Здесь то, что написали вы. Сохраните, чтобы заменить другое изменение, или вернитесь и посмотрите пост.",
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
		Tasks: tasksWords{
			Title: "Рассылки", Lead: "Один пост во много чатов от имени аккаунта, чат за чатом.", New: "Новая рассылка", Chats: "Чаты",
			What: "Рассылка", Progress: "Ход", Next: "Следующий чат", Status: "Статус", Account: "Аккаунт", Older: "Более ранние", Newest: "К последним",
			Empty: "Рассылок пока нет.", NoAccount: "Рассылки идут от имени аккаунта, а ни один не подключён.", NoAccountLink: "Войти в аккаунт",
			EmptyOf: map[store.TaskStatus]string{
				store.TaskPreparing: "Сейчас ни одна рассылка не готовится.",
				store.TaskPending:   "Ни одна рассылка не ждёт начала.", store.TaskProcessing: "Сейчас ничего не рассылается.", store.TaskDone: "Ещё ни одна рассылка не закончена.",
				store.TaskFailed: "Неудачных нет.", store.TaskCancelled: "Ни одна рассылка не отменена.",
			},
			Of: func(done, total int) string { return group(done, "\u00a0") + " из " + group(total, "\u00a0") },
		},
		Task: taskWords{
			Title: "Рассылка", Progress: "Ход", Chats: "Чаты", NextChat: "Следующий чат", Now: "сейчас", Ends: "Закончится около", Started: "Начата", Ended: "Закончена",
			Created: "Создана", StartAt: "Начнётся", Account: "Аккаунт", Pauses: "Пауза между чатами", Quiet: "Тихие часы", Cap: "Не больше", TakenUp: "Попыток", Options: "Параметры",
			Sent: "отправлено", Failed: "не удалось", Skipped: "пропущено", Left: "осталось", NotSent: "не отправлено",
			Pause: "Пауза", Resume: "Продолжить", Begin: "Начать", Cancel: "Отменить рассылку", Retry: "Повторить неотправленные", Preview: "Отправить себе", DryRun: "Пробный прогон: кто доступен",
			Again: "Сделать новую рассылку из этой", Paused: "на паузе", PausedMeans: "Пока не продолжить, ничего не отправляется.", LastError: "Последняя ошибка",
			CancelAsk: "Отменить эту рассылку?", CancelMeans: "Больше её никто не получит. Отправленное останется и здесь, и в чатах.",
			RetryAsk: "Отправить снова тем, кто не получил?", RetryMeans: "Чаты, где не удалось, где отказано и до которых не дошла очередь, получат её сейчас, один за другим. Дважды не получит никто.",
			Check: "Кто доступен", CheckRunning: "Belfry проверяет чаты по одному; ничего не отправляется.", CheckDone: "Проверены все чаты.",
			Reachable: "доступны", Unreachable: "недоступны", Unseen: "ещё не проверены", CannotReach: "недоступен",
			Deliveries: "Чаты", Filter: "Показать", All: "все", CSV: "Скачать CSV", Target: "Чат", Attempts: "Что происходило",
			NoRows: "Чатов в этом состоянии нет.", NoUnreachable: "Среди этих чатов доступны все, какие проверены.", More: "Ещё чаты", First: "К началу",
			Seconds: "с", NoAttempt: "попыток ещё не было",
			Looked: func(n, total int) string {
				return "проверено " + group(n, "\u00a0") + " из " + group(total, "\u00a0")
			},
			OfFirst: func(n int) string { return "среди первых " + group(n, "\u00a0") },
			Earlier: func(n int) string {
				return "до этого " + countedRU(n, "попытка", "попытки", "попыток")
			},
			Waited: func(n int) string { return fmt.Sprintf("Telegram просит подождать %d с", n) },
			Range:  func(from, to string) string { return "с " + from + " до " + to },
			PerDay: func(n int) string {
				return countedRU(n, "сообщение", "сообщения", "сообщений") + " в день от этого аккаунта"
			},
		},
		Send: sendWords{
			New: "Новая рассылка", Account: "От имени", Targets: "В эти чаты", TargetsHint: "По одному в строке или через запятую: -1001234567890, @имя или https://t.me/имя. Отправляется в этом порядке.",
			Choose: "Выбрать из чатов аккаунта", NoChats: "Список чатов этого аккаунта ещё не прочитан.", NoChatsLink: "Прочитать", MoreChats: "Это первые 500; остальные впишите в поле выше.",
			Off: "выключен", ReadOnly: "писать туда нельзя",
			Pace: "Темп", Min: "Пауза не меньше, секунд", Max: "Пауза не больше, секунд", PauseHint: "Пусто — как в настройках: обычно от 20 до 40.",
			QuietFrom: "Тихо с", QuietTo: "Тихо до", QuietHint: "В эти часы ничего не отправляется.", Cap: "Дневной лимит", CapHint: "Сообщений в день от этого аккаунта по всем рассылкам. Пусто — без ограничения.",
			Attempts: "Попытки", AttemptsHint: "Повторы после ошибки. Пусто — как в настройках, обычно 3.",
			Start: "Начало", At: "В назначенное время", Now: "Как можно скорее", Time: "Дата и время", Preview: "Сначала отправить себе", Check: "Пробный прогон: кто доступен", Send: "Начать",
			ButtonsHint: "«Сначала отправить себе» кладёт пост в избранное аккаунта. «Пробный прогон» создаёт рассылку, но ничего не отправляет, пока вы её не начнёте.",
			Previewed:   "Пост лежит в избранном аккаунта.", NotNumber: "не число", NotNumberCure: "напишите, например, 20",
			Fix:  "Рассылка не создана. Что изменить, написано ниже.",
			Sure: "Начать рассылку",
			Ask: func(chats int, ends, in string) string {
				return "Отправить в " + countedRU(chats, "чат", "чата", "чатов") + "? Последний получит примерно: " + ends + " (" + in + ")."
			},
			Chosen: func(n int) string {
				return "отмечено: " + countedRU(n, "чат", "чата", "чатов")
			},
		},
		Chats: chatsWords{
			Title: "Чаты", Lead: "Куда может писать этот аккаунт и как это удавалось.", Account: "Аккаунт", Chat: "Чат", Last: "Последняя удача", Seen: "Сообщений с тех пор", Slow: "Медленный режим",
			Error: "Последняя ошибка", State: "Рассылки", SwitchOff: "Выключить", SwitchOn: "Включить", IsOff: "выключены", IsOn: "включены", ReadOnly: "писать туда нельзя",
			Refresh: "Обновить", Reading: "Belfry читает список.", Never: "ещё ничего не отправлено", Empty: "Список чатов этого аккаунта ещё не прочитан.",
			More: "Ещё чаты", First: "К началу",
			Types:     map[store.PeerType]string{store.PeerUser: "человек", store.PeerChat: "группа", store.PeerChannel: "канал или группа"},
			SeenSince: func(n int) string { return group(n, "\u00a0") },
			SlowMode:  func(d time.Duration) string { return "одно сообщение в " + lengthRU(d) },
		},
		Accounts: russianAccounts(),
		Sites:    russianSites(),
		Alerts:   russianAlerts(),
		Approval: russianApproval(),
		Jobs: jobsWords{
			Title: "Задачи", Lead: "Всё, что ждёт своего времени, по порядку.", Kind: "Вид", AllKinds: "Все виды", Show: "Показать",
			Next: "Следующий запуск", What: "Задача", Last: "Последний запуск", Actions: "Действия", Never: "ещё не было", Resume: "Продолжить", Pause: "Пауза", RunNow: "Запустить сейчас",
			Earliest: "К ближайшим", Later: "Более поздние", Empty: "Ничего не ждёт запуска. Задачу создаст запланированный пост.",
			Runs: "Последние запуски", NoRuns: "Запусков ещё не было.", Name: "Имя", Lane: "Очередь", About: "О чём",
			PauseAll: "Приостановить всё", ResumeAll: "Возобновить всё",
			Gone:    "Задача выполнена, и в расписании её больше нет.",
			Webhook: "Вызов вашего вебхука",
		},
		Logins: loginsWords{
			Title: "Подключённые аккаунты", Lead: "Аккаунты, от имени которых публикует Belfry.", AddBot: "Добавить бота Telegram",
			AddHow: "Создайте бота у @BotFather, добавьте его в канал администратором с правом публиковать и вставьте сюда его токен.",
			Name:   "Имя", NameHint: "Как вы его называете: строчные латинские буквы и цифры. Пусто — main.", Token: "Токен",
			TokenHint: "Например 123456789:AAE… Больше он показан не будет.", Target: "Куда публиковать", TargetHint: "@канал или числовой id, если в посте не указано другое.",
			NewTokenHint: "Оставьте пустым, чтобы сохранить прежний.", Add: "Добавить бота", Save: "Сохранить", Change: "Изменить", Remove: "Удалить",
			PostsTo: "Публикует в", NoTarget: "Канал по умолчанию не задан; выберите его в каждом посте", Empty: "Подключённых аккаунтов пока нет. Добавьте бота Telegram ниже.",
			ChangeTitle: "Изменить подключённый аккаунт", RemoveAsk: "Удалить этот подключённый аккаунт?", RemoveMeans: "Belfry забудет его и его сессию. Посты, которые его ждут, сначала нужно отменить или изменить.",
			LoginCure:   "Получите новый токен у @BotFather и введите его через «Изменить».",
			StoppedCure: "Спросите @SpamBot и подождите; пока вы не скажете, что ограничение снято, ничего не отправляется.",
			NewCure:     "Belfry выполняет вход.", Connected: "на связи", NotConnected: "нет связи",
		},
		LogIn: logInWords{
			Add: "Добавить аккаунт Telegram", AddHow: "От имени аккаунта идут рассылки. Назовите его здесь, а затем войдите: по телефону, по QR-коду или с сессией Telethon.",
			NameHint: "Как вы его называете: строчные латинские буквы и цифры, например anna. Пусто — user.", Begin: "Дальше", Title: "Вход в аккаунт", ByPhone: "По телефону", ByQR: "По QR-коду",
			BySession: "С сессией Telethon", Way: "Как войти",
			Phone: "Номер телефона", PhoneHint: "С кодом страны: +79991234567.", SendCode: "Прислать код",
			Code: "Код", CodeSent: "Telegram отправил код:", EnterCode: "Дальше", Password: "Облачный пароль",
			PasswordHow: "Кроме кода, у этого аккаунта есть свой пароль.", Hint: "Подсказка:", EnterPassword: "Войти",
			QRHow: "В Telegram на телефоне, где вход уже есть: Настройки, Устройства, Подключить устройство. Наведите на этот код; страница продолжит сама.",
			QRAlt: "QR-код для входа в Telegram", QRWait: "Код запрашивается.", QRFailed: "Не удалось получить код:",
			Session: "StringSession", SessionHint: "То, что напечатал StringSession.save(), одной строкой. Больше показано не будет.", File: "Или файл .session", FileHint: "Файл Telethon, до 1 МБ.",
			SessionHow: "Больше никто не должен пользоваться этой сессией: сначала остановите старую программу.", UseSession: "Взять эту сессию",
			Over: "Начать заново", LogIn: "Войти", LogOut: "Выйти", Resume: "Ограничение снято", LogOutAsk: "Выйти из этого аккаунта?",
			LogOutMeans: "Telegram завершит его сессию, а Belfry её забудет. Его рассылки подождут, пока вы не войдёте снова.",
			UserCure:    "Войдите; всё, что его ждёт, продолжится.", NewCure: "Belfry подключает его.",
		},
		SignIn: signInWords{
			Title: "Вход", Password: "Пароль", Button: "Войти",
			Forgot:     "Забыли? Одноразовую ссылку Belfry даёт тому, кому на сервере доступен его сокет; как — сказано в README.",
			NoPassword: "Пароль ещё не выбран. Откройте одноразовую ссылку, которую Belfry записал в журнал при запуске: journalctl -u belfry",
			Wrong:      "Неверный пароль.", LinkReady: "Эта ссылка один раз впускает вас в этом браузере.",
			LinkOver: "Ссылка уже использована или устарела.", LinkAgain: "Перезапустите Belfry, и в журнале появится новая.",
			WithPassword: "Войти с паролем", Choose: "Сохранить пароль", ChooseTitle: "Выберите пароль", ChangeTitle: "Сменить пароль",
			ChooseHow: "Не меньше 8 символов; несколько слов легко запомнить. Во всех других браузерах вход завершится.",
			Old:       "Текущий пароль", New: "Новый пароль", Later: "Позже",
			Wait: func(d time.Duration) string {
				return "Слишком много неверных паролей. Попробуйте через " + lengthRU(d) + "."
			},
		},
		Errors: errorWords{
			Title: "Не получилось", NotFound: "Здесь ничего нет", NotFoundHow: "Возможно, это удалено или адрес неполон.",
			Own: "В Belfry что-то пошло не так. Подробности в журнале: journalctl -u belfry", Unavailable: "База данных сейчас недоступна. Проверьте, сохранилось ли изменение, и попробуйте через несколько секунд.",
			Full:      "Диск с базой данных заполнен, ничего нельзя сохранить. Освободите место на сервере и попробуйте снова.",
			Forbidden: "Страница устарела. Откройте её снова и повторите.", Back: "На главную",
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
			store.PostPublishing: {"публикуется", "Отправляется; при ошибке будет повтор."},
			store.PostPublished:  {"опубликован", "Опубликован."},
			store.PostFailed:     {"не удался", "Не вышел, и сам больше не отправляется."},
			store.PostUnknown:    {"неизвестно", "Telegram не ответил: мог выйти, а мог и нет."},
			store.PostCancelled:  {"отменён", "Его отменили; он не выйдет."},
			store.PostSkipped:    {"пропущен", "Время прошло, а отправлять с опозданием было нельзя."},
			heldPosts:            {"ждёт одобрения", "Выйдет, когда его одобрят, но не раньше своего времени."},
		},
		TaskStatus: map[store.TaskStatus]statusWords{
			store.TaskPreparing:  {"готовится", "Записывается список чатов. Потом рассылка начнётся."},
			store.TaskPending:    {"ждёт", "Ещё не начата или начнётся снова."},
			store.TaskProcessing: {"идёт", "Отправляется чат за чатом."},
			store.TaskDone:       {"закончена", "Все чаты обработаны."},
			store.TaskFailed:     {"не удалась", "Закончена, и сама больше ничего не отправляет."},
			store.TaskCancelled:  {"отменена", "Её отменили; больше её никто не получит."},
		},
		Deliveries: map[store.DeliveryStatus]string{
			store.DeliveryPending: "ждёт", store.DeliverySent: "отправлено", store.DeliveryFailed: "не удалось", store.DeliverySkipped: "пропущено",
		},
		Outcomes: map[store.TryOutcome]string{
			store.TryBegun: "идёт", store.TrySent: "отправлено", store.TryWaits: "надо ждать", store.TryFailed: "не удалось", store.TryRefused: "отказано", store.TryUnknown: "нет ответа",
		},
		AccountStates: russianAccountStates(),
		AccountOutcomes: map[store.AccountOutcome]string{
			store.OutcomeFound: "найден", store.OutcomeNotFound: "не найден", store.OutcomeError: "нет ответа",
		},
		Vias: map[string]string{
			"app": "в приложение Telegram этого аккаунта", "sms": "по SMS", "call": "звонком", "flash_call": "коротким звонком", "missed_call": "пропущенным звонком: код — последние цифры номера",
			"email": "по почте", "fragment": "через fragment.com",
		},
		JobStates: map[store.JobState]string{
			store.JobWaiting: "ждёт", store.JobRunning: "выполняется", store.JobPaused: "на паузе", store.JobSetAside: "отложена",
		},
		Results: map[store.Result]string{
			store.ResultDone: "выполнено", store.ResultAgain: "ОК, будет повтор", store.ResultFailed: "не удалось", store.ResultSkipped: "пропущено",
			store.ResultInterrupted: "прервано",
		},
		IdentityStates: map[store.IdentityState]string{
			store.IdentityNew: "новый", store.IdentityReady: "готов", store.IdentityLogin: "нужно войти", store.IdentityStopped: "ограничен",
		},
		Platforms:     map[string]string{"telegram": "Telegram", "instagram": "Instagram", "twitter": "X"},
		IdentityKinds: map[store.IdentityKind]string{store.IdentityBot: "бот", store.IdentityUser: "аккаунт"},
		JobKinds:      map[string]string{"post": "Пост", "rule": "Правило", "task": "Рассылка", "task_check": "Проверка рассылки", "chat_list": "Список чатов", "reminder": "Напоминание", "feedback": "Отзыв", "channel": "Канал", "autocheck": "Проверка аккаунтов", "notice": "Сообщение админу", "alerts": "Проверка состояния", "heartbeat": "Сигнал работоспособности", "backup": "Резервная копия в Telegram"},
		MediaKinds:    map[string]string{"photo": "Фото", "video": "Видео", "document": "Файл"},
		Formats:       map[string]string{"plain": "Нет: текст как есть", "html": "HTML", "markdown": "Markdown"},
		Done: map[string]string{
			"scheduled": "Пост запланирован.", "changed": "Пост изменён.", "cancelled": "Пост отменён.",
			"held": "Пост сохранён и ждёт одобрения.", "approved": "Пост одобрен.",
			"retried": "Пост сейчас выйдет.", "published": "Пост сейчас выйдет.", "paused": "Задача на паузе.",
			"resumed": "Задача снова в расписании.", "run": "Задача сейчас запустится.", "all-paused": "Всё на паузе.", "all-resumed": "Пауза снята.", "login-added": "Бот добавлен; Belfry выполняет вход.",
			"login-changed": "Подключённый аккаунт изменён.", "login-removed": "Подключённый аккаунт удалён.", "password": "Пароль сохранён.",
			"task-made": "Рассылка создана.", "task-paused": "Рассылка на паузе.", "task-resumed": "Рассылка идёт дальше.", "task-cancelled": "Рассылка отменена.",
			"task-retried": "Тем, кто не получил, отправляется снова.", "task-previewed": "Пост лежит в избранном аккаунта.", "task-checked": "Belfry проверяет, какие чаты доступны.",
			"chat-off": "Чат выключен; рассылки его пропускают.", "chat-on": "Чат включён.", "chats-read": "Belfry читает список чатов.",
			"logged-in": "Вход в аккаунт выполнен.", "logged-out": "Выход из аккаунта выполнен.", "login-resumed": "Подключённый аккаунт снова работает.", "session-used": "Сессия принята; Belfry подключается с ней.",
			"accounts-added": "Аккаунты добавлены; ближайшая проверка их проверит.", "account-changed": "Аккаунт изменён.", "account-removed": "Аккаунт удалён.",
			"check-begun": "Проверка сейчас начнётся.", "check-set": "Настройка сохранена и действует с этого момента.", "sites-added": "Правила приняты.", "site-removed": "Правило удалено.",
			"alert-seen": "Оповещение принято.", "alerts-seen": "Все оповещения приняты.",
		},
		Fields: map[string]string{
			"text": "Текст", "target": "Канал или чат", "scheduled_time": "Время", "format": "Разметка",
			"identity_id": "Аккаунт", "platform": "Сеть", "lateness": "Поведение при опоздании", "name": "Имя", "token": "Токен",
			"password": "Пароль", "media": "Картинка или файл", "id": "Задача",
			"target_chat_ids": "Чаты", "min_seconds_between_chats": "Пауза не меньше", "max_seconds_between_chats": "Пауза не больше", "max_attempts": "Попытки",
			"start_at": "Время", "quiet_from": "Начало тихих часов", "quiet_to": "Конец тихих часов", "daily_cap": "Сообщений в день",
			"content_id": "Контент", "phone": "Номер телефона", "code": "Код", "session": "Сессия",
			"list": "Список", "site": "Сайт", "username": "Имя", "note": "Заметка", "tag": "Метка", "owner_chat": "Чат", "interval": "Время между проверками", "rules": "Правила",
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
