package web

// accountTranslations are the sentences about watched accounts, their check, and what sites answer.
func accountTranslations() []translation {
	return []translation{
		// Of a line in a list: the field, what is wrong, and what to do.
		{"username %s is not a user name of %s: write the name, with or without @, or the address of the profile", "%s is not a name on %s: write the name, with or without @, or the address of the profile", "%s — не имя на %s: напишите имя, с @ или без, или адрес профиля"},
		{"site %s is not known: use one of %s, or import a rule", "the site %s is not known: use one of %s", "сайт %s неизвестен: есть %s"},
		{"note is longer than 500 characters: make it shorter", "the note is longer than 500 characters: make it shorter", "заметка длиннее 500 символов: сократите её"},
		{"tag is longer than 50 characters: use a word", "the tag is longer than 50 characters: use a word", "метка длиннее 50 символов: достаточно слова"},
		{"owner_chat %s is not a chat: write @name or the chat's id", "%s is not a chat: write @name or the chat's id", "%s — не чат: напишите @имя или id чата"},
		{"the quotes do not match: close each, and double those inside", "", "кавычки не парные: закройте каждую, а внутренние удвойте"},
		{"there are more than %s columns: quote a text that contains the separator", "", "столбцов больше %s: возьмите в кавычки текст, в котором есть разделитель"},
		{"keep_watching %s is not yes or no: write yes or no", "", "keep_watching %s — не да и не нет: напишите yes или no"},

		// Of an account and of a list.
		{"%s is not a user name of %s", "", "%s — не имя на %s"},
		{"write the name, with or without @, or the address of the profile", "", "напишите имя, с @ или без, или адрес профиля"},
		{"%s is not known", "", "%s: такого нет"},
		{"use one of %s, or import a rule", "use one of %s", "есть %s"},
		{"is longer than 500 characters", "", "длиннее 500 символов"},
		{"is longer than 50 characters", "", "длиннее 50 символов"},
		{"make it shorter", "", "сократите"},
		{"use a word", "", "достаточно слова"},
		{"write @name or the chat's id", "", "напишите @имя или id чата"},
		{"@%s of %s is watched already, as account %s", "@%s of %s is watched already", "@%s на %s уже отслеживается"},
		{"is larger than 8 MB", "", "больше 8 МБ"},
		{"has more than 100000 lines", "has more than 100,000 lines", "длиннее 100 000 строк"},
		{"divide it", "", "разделите на части"},
		{"names nobody", "", "в нём нет ни одного имени"},
		{"write one name in each line", "", "напишите по одному имени в строке"},

		// Of the check.
		{"is not between a minute and a week", "", "не от минуты до недели"},
		{"5m is usual", "5 minutes are usual", "обычно 5 минут"},
		{"a check is under way: %s of %s accounts are done", "", "проверка уже идёт: готово %s из %s"},
		{"wait until it has ended", "", "подождите, пока она закончится"},
		{"no login asks this site", "", "этот сайт спрашивают через вход, а подходящего нет"},
		{"no login is connected to Telegram", "", "ни один вход сейчас не на связи с Telegram"},
		{"the chat is no admin's any more: ADMIN_ID does not name it", "", "это больше не чат админа: в ADMIN_ID его нет"},
		{"there is no webhook: set BELFRY_ALERT_WEBHOOK", "", "вебхука нет: задайте BELFRY_ALERT_WEBHOOK"},
		{"there is no bot that tells the admins: set ADMIN_NOTIFY_BOT_TOKEN and ADMIN_ID", "", "нет бота, который сообщает админам: задайте ADMIN_NOTIFY_BOT_TOKEN и ADMIN_ID"},
		{"the site said first that it exists, and then that it does not", "", "сайт сначала сказал, что он есть, а потом — что его нет"},

		// Of a file of rules. The fields' names are the file's own.
		{"the file is not a JSON object of sites: %s", "", "это не объект JSON с сайтами: %s"},
		{"the file is larger than 2 MB: import the sites that you need", "", "файл больше 2 МБ: возьмите только нужные сайты"},
		{"the file describes %s sites: describe at least one, and at most 2000", "", "в файле сайтов: %s, а нужно от одного до 2000"},
		{"%s: is described twice: upper and lower case are the same name", "", "%s: описан дважды; большие и малые буквы не различаются"},
		{"%s: username_claimed is missing: name a profile that surely exists: without one, nobody can tell an absent profile from a site that refuses", "", "%s: нет username_claimed; назовите профиль, который точно существует: без него отсутствие не отличить от отказа"},
		{"%s: url has no {}: write {} where the user name belongs, as in https://site.example/{}", "", "%s: в url нет {}; поставьте {} на место имени, как в https://site.example/{}"},
		{"%s: url is not an http or https address: write it as https://site.example/{}", "", "%s: url — не адрес http или https; напишите как https://site.example/{}"},
		{"%s: %s is not known: correct its name, or leave it out", "", "%s: поля %s нет; исправьте имя или уберите его"},
		{"%s: %s is missing: %s", "", "%s: нет %s"},
		{"%s: cannot be read: %s", "", "%s: не читается (%s)"},

		// Of what a site answered.
		{"the site leads away from the profile", "", "сайт уводит со страницы профиля"},
		{"the site says that there is no such profile", "", "сайт говорит, что такого профиля нет"},
		{"the site wants to be shown that a person asks: %s", "", "сайт хочет убедиться, что спрашивает человек: %s"},
		{"no answer within %s", "", "нет ответа за %s"},
		{"no answer: %s", "", "нет ответа: %s"},
		{"too many requests (status 429): %s", "", "слишком много запросов (код 429): %s"},
		{"too many requests (status 429)", "", "слишком много запросов (код 429)"},
		{"the site leads to its page for logging in (status %s): %s", "", "сайт ведёт на страницу входа (код %s): %s"},
		{"the site leads to its page for logging in (status %s)", "", "сайт ведёт на страницу входа (код %s)"},
		{"the site leads elsewhere (status %s to %s)", "", "сайт ведёт в другое место (код %s, %s)"},
		{"the site refuses to answer (status %s): %s", "", "сайт отказывается отвечать (код %s): %s"},
		{"the site refuses to answer (status %s)", "", "сайт отказывается отвечать (код %s)"},
		{"the site has a fault (status %s): %s", "", "на сайте неполадки (код %s): %s"},
		{"the site has a fault (status %s)", "", "на сайте неполадки (код %s)"},
		{"status %s, and more than 1 MB of it", "", "код %s, и больше 1 МБ"},
		{"status %s with a page that is not the profile's, perhaps that for logging in", "", "код %s, и не страница профиля: возможно, страница входа"},
		{"status %s with nothing in it", "", "код %s, и пусто"},
		{"status %s with data that cannot be read", "", "код %s, и данные не читаются"},
		{"status %s with data that do not say whether there is such a profile", "", "код %s, и из данных не ясно, есть ли такой профиль"},
		{"status %s: %s", "", "код %s: %s"},
		{"status %s", "", "код %s"},
		{"no user has this name", "", "такого имени ни у кого нет"},
	}
}
