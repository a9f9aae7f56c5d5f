package web

import "belfry/store"

// accountsWords are those of the pages about watched accounts.
type accountsWords struct {
	Title, Lead, Add, Check, Checking, Next, Due, None, Last, CheckNow, CheckPaused, ToJob          string
	Every, Minutes, Save, Quiet, Found, NotFound, Errors, Changed, Alone, NotNumber, NotNumberCure  string
	GivenUp, Chart, NoChart                                                                         string
	Account, State, Checked, FoundAt, Note, Tag, Site, Name, AllSites, Show, Never, Clear           string
	Empty, NoMatch, More, First                                                                     string
	Tabs, EmptyOf                                                                                   map[store.AccountState]string
	Names, NamesHint, File, FileHint, SiteHint, NoteHint, TagHint, OwnerChat, OwnerChatHint         string
	Keep, AddButton, Again, Report, Line, Problem, Duplicate, Both, BothCure, SomeAdded             string
	Profile, FoundFirst, ChangedAt, Failures, Since, Told, Watching, History, NoHistory, LastAnswer string
	Watched, NotWatched, Change, ChangeTitle, Remove, RemoveAsk, RemoveMeans                        string
	ChartLabel                                                                                      func(checks, found, notFound, errors int) string
	Bar                                                                                             func(when string, found, notFound, errors int) string
	Added, Known, Nonsense, MoreLines, MoreSites, Times, InRow                                      func(n int) string
}

func englishAccounts() accountsWords {
	return accountsWords{
		Title: "Watched accounts", Lead: "Belfry checks whether these profiles exist and notifies you when one appears or vanishes.", Add: "Add accounts",
		Check: "The check", Checking: "checking", Next: "Next check", Due: "now", None: "No check is planned.", Last: "Last check", CheckNow: "Check now",
		CheckPaused: "The check is paused.", ToJob: "To the job",
		Every: "Every", Minutes: "minutes", Save: "Save", Quiet: "Notify only about changes", Found: "found", NotFound: "not found", Errors: "no answer", Changed: "changed", GivenUp: "Sites that did not answer",
		Alone: "Paused for a while", NotNumber: "is not a number of minutes", NotNumberCure: "write it as 5",
		Chart: "The last checks", NoChart: "A chart appears here after the first check.",
		Account: "Account", State: "State", Checked: "Checked", FoundAt: "Found", Note: "Note", Tag: "Tag", Site: "Site", Name: "Name", AllSites: "All sites", Show: "Show",
		Never: "not yet", Clear: "Show all",
		Empty: "No account is watched yet.", NoMatch: "No matches.", More: "More accounts", First: "To the first",
		Tabs: map[store.AccountState]string{store.AccountPending: "Looked for", store.AccountFound: "Found", store.AccountNotFound: "Vanished"},
		EmptyOf: map[store.AccountState]string{
			store.AccountPending: "No account is being looked for.", store.AccountFound: "No account has been found yet.",
			store.AccountNotFound: "No account has vanished.",
		},
		Names: "Names", NamesHint: "One per line, with or without @, or the profile's address. A note and a tag may follow, separated by commas; put a one-word note in quotes. Several on one line: each with @.",
		File: "Or a file", FileHint: "CSV or text. If its first line names the columns, they are username, site, note, tag, owner_chat and keep_watching.",
		SiteHint: "Used when a line names no site.", NoteHint: "Used when a line has no note.", TagHint: "For filtering.", OwnerChat: "Also notify", OwnerChatHint: "@name or the id of a chat, in addition to the admins.",
		Keep: "Keep watching after it is found, to notice if it vanishes", AddButton: "Add", Again: "Rejected lines remain below.",
		Report: "Import result", Line: "Line", Problem: "What is wrong", Duplicate: "already watched",
		Both: "is filled in, and a file is chosen too", BothCure: "add one after the other", SomeAdded: "To the accounts",
		Profile: "Profile", FoundFirst: "First found", ChangedAt: "Last change", Failures: "Without an answer", Since: "Watched since", Told: "Also notified", Watching: "Watching", History: "What the checks found",
		NoHistory: "It has not been checked yet.", LastAnswer: "Last answer",
		Watched: "checked each time", NotWatched: "found; no longer checked", Change: "Change", ChangeTitle: "Change account", Remove: "Remove",
		RemoveAsk: "Remove this account?", RemoveMeans: "Belfry deletes it and its history and stops checking it.",
		ChartLabel: func(checks, found, notFound, errors int) string {
			return counted(checks, "check", "checks") + "; the last: found " + group(found, ",") + ", not found " + group(notFound, ",") + ", no answer " + group(errors, ",")
		},
		Bar: func(when string, found, notFound, errors int) string {
			return when + ": found " + group(found, ",") + ", not found " + group(notFound, ",") + ", no answer " + group(errors, ",")
		},
		Added:     func(n int) string { return "Added: " + group(n, ",") + "." },
		Known:     func(n int) string { return "Already watched: " + group(n, ",") + "." },
		Nonsense:  func(n int) string { return "Rejected: " + group(n, ",") + "." },
		MoreLines: func(n int) string { return "and " + counted(n, "further line", "further lines") },
		MoreSites: func(n int) string { return "and " + counted(n, "further site", "further sites") },
		Times:     func(n int) string { return counted(n, "check", "checks") },
		InRow:     func(n int) string { return counted(n, "check", "checks") + " in a row" },
	}
}

func russianAccounts() accountsWords {
	return accountsWords{
		Title: "Наблюдаемые аккаунты", Lead: "Belfry проверяет, существуют ли эти профили, и сообщает, когда профиль появился или пропал.", Add: "Добавить аккаунты",
		Check: "Проверка", Checking: "идёт", Next: "Следующая проверка", Due: "сейчас", None: "Проверка не запланирована.", Last: "Последняя проверка", CheckNow: "Проверить сейчас",
		CheckPaused: "Проверка на паузе.", ToJob: "К задаче",
		Every: "Каждые", Minutes: "мин.", Save: "Сохранить", Quiet: "Сообщать только об изменениях", Found: "найдено", NotFound: "не найдено", Errors: "нет ответа", Changed: "изменилось", GivenUp: "Сайты, на которых она прервана",
		Alone: "Пока не спрашиваем", NotNumber: "это не число минут", NotNumberCure: "напишите, например, 5",
		Chart: "Последние проверки", NoChart: "График появится после первой проверки.",
		Account: "Аккаунт", State: "Состояние", Checked: "Проверен", FoundAt: "Найден", Note: "Заметка", Tag: "Метка", Site: "Сайт", Name: "Имя", AllSites: "Все сайты", Show: "Показать",
		Never: "ещё нет", Clear: "Показать все",
		Empty: "Пока не отслеживается ни один аккаунт.", NoMatch: "Ничего не найдено.", More: "Ещё аккаунты", First: "К началу",
		Tabs: map[store.AccountState]string{store.AccountPending: "Ищем", store.AccountFound: "Найдены", store.AccountNotFound: "Пропали"},
		EmptyOf: map[store.AccountState]string{
			store.AccountPending: "Искать сейчас некого.", store.AccountFound: "Пока никто не найден.",
			store.AccountNotFound: "Никто не пропал.",
		},
		Names: "Имена", NamesHint: "По одному в строке, с @ или без, или адрес профиля. После имени через запятую можно указать заметку и метку; заметку из одного слова — в кавычках. Несколько в одной строке — каждое с @.",
		File: "Или файл", FileHint: "CSV или текст. Если первая строка называет столбцы, это username, site, note, tag, owner_chat и keep_watching.",
		SiteHint: "Если в строке не указан сайт.", NoteHint: "Если в строке нет заметки.", TagHint: "Для фильтра.", OwnerChat: "Уведомлять также", OwnerChatHint: "@имя или id чата; админы узнают и так.",
		Keep: "Следить и после того, как найден, чтобы заметить, если пропадёт", AddButton: "Добавить", Again: "Отклонённые строки остались ниже.",
		Report: "Результат импорта", Line: "Строка", Problem: "Что не так", Duplicate: "уже отслеживается",
		Both: "указан вместе с файлом", BothCure: "добавьте сначала одно, потом другое", SomeAdded: "К аккаунтам",
		Profile: "Профиль", FoundFirst: "Впервые найден", ChangedAt: "Последнее изменение", Failures: "Без ответа", Since: "Отслеживается с", Told: "Уведомлять также", Watching: "Наблюдение", History: "Что показали проверки",
		NoHistory: "Проверок ещё не было.", LastAnswer: "Последний ответ",
		Watched: "проверяется каждый раз", NotWatched: "найден и больше не проверяется", Change: "Изменить", ChangeTitle: "Изменить аккаунт", Remove: "Удалить",
		RemoveAsk: "Удалить этот аккаунт?", RemoveMeans: "Belfry забудет его и его историю и больше не будет его проверять.",
		ChartLabel: func(checks, found, notFound, errors int) string {
			return countedRU(checks, "проверка", "проверки", "проверок") + "; последняя: найдено " + group(found, "\u00a0") + ", не найдено " + group(notFound, "\u00a0") + ", нет ответа " + group(errors, "\u00a0")
		},
		Bar: func(when string, found, notFound, errors int) string {
			return when + ": найдено " + group(found, "\u00a0") + ", не найдено " + group(notFound, "\u00a0") + ", нет ответа " + group(errors, "\u00a0")
		},
		Added:     func(n int) string { return "Добавлено: " + group(n, "\u00a0") + "." },
		Known:     func(n int) string { return "Уже отслеживаются: " + group(n, "\u00a0") + "." },
		Nonsense:  func(n int) string { return "Отклонено: " + group(n, "\u00a0") + "." },
		MoreLines: func(n int) string { return "и ещё " + countedRU(n, "строка", "строки", "строк") },
		MoreSites: func(n int) string { return "и ещё " + countedRU(n, "сайт", "сайта", "сайтов") },
		Times:     func(n int) string { return countedRU(n, "проверка", "проверки", "проверок") },
		InRow: func(n int) string {
			return countedRU(n, "проверка", "проверки", "проверок") + " подряд"
		},
	}
}

// sitesWords are those of the page about sites.
type sitesWords struct {
	Title, Lead, Own, Add, Rules, RulesHint, Fix, Link string
}

func englishSites() sitesWords {
	return sitesWords{
		Title: "Sites", Lead: "Where accounts can be watched. How each site is asked is a rule, and you can add others.", Own: "yours", Add: "Add sites",
		Rules: "Rules", RulesHint: `JSON, as in Sherlock's data.json: {"forum": {"url": "https://forum.example/u/{}", "errorType": "status_code", "username_claimed": "admin"}}. A name that is there already is replaced.`,
		Fix: "The rules were not saved:", Link: "Sites",
	}
}

func russianSites() sitesWords {
	return sitesWords{
		Title: "Сайты", Lead: "Где можно отслеживать аккаунты. Как спрашивать сайт, говорит правило; можно добавить свои.", Own: "ваш", Add: "Добавить сайты",
		Rules: "Правила", RulesHint: `JSON, как data.json у Sherlock: {"forum": {"url": "https://forum.example/u/{}", "errorType": "status_code", "username_claimed": "admin"}}. Правило с тем же именем заменяется.`,
		Fix: "Правила не приняты:", Link: "Сайты",
	}
}

func englishAccountStates() map[store.AccountState]statusWords {
	return map[store.AccountState]statusWords{
		store.AccountPending:  {"not found yet", "Not found so far; checked each time."},
		store.AccountFound:    {"found", "It exists."},
		store.AccountNotFound: {"vanished", "It existed and is no longer found."},
	}
}

func russianAccountStates() map[store.AccountState]statusWords {
	return map[store.AccountState]statusWords{
		store.AccountPending:  {"ещё не найден", "Его ни разу не удалось найти; ищем при каждой проверке."},
		store.AccountFound:    {"найден", "Он существует."},
		store.AccountNotFound: {"пропал", "Он был, а теперь не находится."},
	}
}
