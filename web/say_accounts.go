package web

import "slices"

// accountTranslations are the sentences about watched accounts, their check, and what sites answer.
func accountTranslations() []translation {
	return slices.Concat(ruleTranslations(), []translation{
		// Of a line in a list: the field, what is wrong, and what to do.
		{"username %s is not a user name of %s: write the name, with or without @, or the address of the profile", "%s is not a name on %s: write the name, with or without @, or the address of the profile", "%s — не имя на %s: напишите имя, с @ или без, или адрес профиля"},
		{"site %s is not known: use one of %s, or import a rule", "the site %s is not known: use one of %s", "сайт %s неизвестен: есть %s"},
		{"note is not UTF-8: write it as UTF-8", "the note is not UTF-8: write it as UTF-8", "заметка не в UTF-8: запишите её в UTF-8"},
		{"tag is not UTF-8: write it as UTF-8", "the tag is not UTF-8: write it as UTF-8", "метка не в UTF-8: запишите её в UTF-8"},
		{"note is longer than 500 characters: make it shorter", "the note is longer than 500 characters: make it shorter", "заметка длиннее 500 символов: сократите её"},
		{"tag is longer than 50 characters: use a word", "the tag is longer than 50 characters: use a word", "метка длиннее 50 символов: достаточно слова"},
		{"owner_chat %s is not a chat: write @name or the chat's id", "%s is not a chat: write @name or the chat's id", "%s — не чат: напишите @имя или id чата"},
		{"the quotes do not match: close each, and double those inside", "", "кавычки не парные: закройте каждую, а внутренние удвойте"},
		{"nobody can tell names from a name with its note: write one name in each line, or a note in quotes, or a first line that names the columns: username,note,tag", "", "не понять, имена это или имя с заметкой: напишите по одному имени в строке, или заметку в кавычках, или первую строку с названиями столбцов: username,note,tag"},
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
		{"@%s of %s is already watched, as account %s", "@%s of %s is already watched", "@%s на %s уже отслеживается"},
		{"is larger than 8 MB", "", "больше 8 МБ"},
		{"has more than 100000 lines", "has more than 100,000 lines", "длиннее 100 000 строк"},
		{"divide it", "", "разделите на части"},
		{"is not UTF-8", "", "не в UTF-8"},
		{"save it as UTF-8; in Excel: CSV UTF-8", "", "сохраните в UTF-8; в Excel это «CSV UTF-8»"},
		{"write it as UTF-8", "", "запишите в UTF-8"},
		{"names nobody", "", "в нём нет ни одного имени"},
		{"write one name in each line", "", "напишите по одному имени в строке"},

		// Of the check.
		{"is not between a minute and a week", "", "не от минуты до недели"},
		{"5m is usual", "5 minutes are usual", "обычно 5 минут"},
		{"a check is under way: %s of %s accounts are done", "", "проверка уже идёт: готово %s из %s"},
		{"a check is beginning", "", "проверка как раз начинается"},
		{"wait a moment", "", "подождите немного"},
		{"no account is watched", "", "не отслеживается ни один аккаунт"},
		{"add one", "", "добавьте хотя бы один"},
		{"every account has been found, and none is watched any further", "", "все аккаунты найдены, и ни за одним больше не следят"},
		{"add another one, or have one watched after it is found", "", "добавьте ещё или включите у одного наблюдение и после того, как он найден"},
		{"wait until it has ended", "", "подождите, пока она закончится"},
		{"no login asks this site", "", "этот сайт спрашивают через вход, а подходящего нет"},
		{"no login is connected to Telegram", "", "ни один вход сейчас не на связи с Telegram"},
		{"the chat is no admin's any more: ADMIN_ID does not name it", "", "это больше не чат админа: в ADMIN_ID его нет"},
		{"there is no webhook: set BELFRY_ALERT_WEBHOOK", "", "вебхука нет: задайте BELFRY_ALERT_WEBHOOK"},
		{"there is no bot that tells the admins: set ADMIN_NOTIFY_BOT_TOKEN and ADMIN_ID", "", "нет бота, который сообщает админам: задайте ADMIN_NOTIFY_BOT_TOKEN и ADMIN_ID"},
		{"the site said first that it exists, and then that it does not", "", "сайт сначала сказал, что он есть, а потом — что его нет"},

		// Of what a site answered.
		{"%s: the address leads to %s, which is not public: use a public address, or allow this one with BELFRY_ALLOW_PRIVATE=%s", "", "%s: адрес ведёт на %s — это не публичный адрес: укажите публичный или разрешите этот: BELFRY_ALLOW_PRIVATE=%s"},
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
	})
}

// ruleTranslations are the sentences about a file of rules, each as a whole: whose rule it is, the field, what
// is wrong, and what to do. The fields' names are the file's own.
func ruleTranslations() []translation {
	return []translation{
		{"the file is larger than 2 MB: import the sites that you need", "", "файл больше 2 МБ: возьмите только нужные сайты"},
		{"the file is empty: write %s", "", "файл пуст; напишите %s"},
		{"the file is not JSON: something is missing at its end: close each quote and bracket", "", "это не JSON: в конце чего-то не хватает; закройте каждую кавычку и скобку"},
		{"the file is not JSON from line %s on: look for a comma, a quote or a bracket there", "", "это не JSON начиная со строки %s; проверьте там запятые, кавычки и скобки"},
		{"the file is not a JSON object of sites: write %s", "", "это не объект JSON с сайтами; напишите %s"},
		{"the file describes %s sites: describe at least one, and at most 2000", "", "в файле сайтов: %s, а нужно от одного до 2000"},

		{"%s: is described twice: upper and lower case are the same name", "", "%s: описан дважды; большие и малые буквы не различаются"},
		{"%s: is not a name for a site: use a word", "", "%s: так сайт назвать нельзя; возьмите слово"},
		{"%s: is not a rule: write it as %s", "", "%s: это не правило; напишите как %s"},
		{"%s: %s is not known: correct its name, or leave it out", "", "%s: поля %s нет; исправьте имя или уберите его"},
		{"%s: %s is not a text: write it in quotes", "", "%s: %s — не текст; возьмите в кавычки"},
		{"%s: %s is not a whole number: write it as 404", "", "%s: %s — не целое число; напишите, например, 404"},
		{"%s: %s is not yes or no: write true or false", "", "%s: %s — не да и не нет; напишите true или false"},
		{"%s: %s is not a list: write it in [ ]", "", "%s: %s — не список; возьмите в [ ]"},
		{"%s: %s is not an object: write it in { }", "", "%s: %s — не объект; возьмите в { }"},

		{"%s: rest %s is not a time up to a day: write it as 15m", "", "%s: rest %s — не время до суток; напишите, например, 15m"},
		{"%s: regexCheck is longer than 500 characters: make it shorter", "", "%s: regexCheck длиннее 500 символов; сократите"},
		{"%s: regexCheck is not a regular expression at %s: write it in the syntax of RE2", "", "%s: regexCheck — не регулярное выражение в месте %s; запишите по правилам RE2"},
		{"%s: regexCheck is not a regular expression at %s: look-ahead and look-behind are not known here; leave them out", "", "%s: regexCheck — не регулярное выражение в месте %s; проверок вперёд и назад здесь нет, обойдитесь без них"},
		{"%s: username_claimed is missing: name a profile that surely exists: without one, nobody can tell an absent profile from a site that refuses", "", "%s: нет username_claimed; назовите профиль, который точно существует: без него отсутствие не отличить от отказа"},
		{"%s: username_claimed %s is not a user name of the site: correct it, or regexCheck", "", "%s: username_claimed %s — не имя на этом сайте; исправьте его или regexCheck"},
		{"%s: via says that the site is asked through a login, and other fields say how it is asked over HTTP: leave one of them out", "", "%s: по via сайт спрашивают через вход, а по другим полям — по HTTP; оставьте что-нибудь одно"},
		{"%s: via %s is not known: leave it out, or say identity", "", "%s: via %s — такого нет; уберите его или напишите identity"},

		{"%s: %s has no {}: write {} where the user name belongs, as in https://site.example/{}", "", "%s: в %s нет {}; поставьте {} на место имени, как в https://site.example/{}"},
		{"%s: %s is not an http or https address: write it as %s", "", "%s: %s — не адрес http или https; напишите как %s"},
		{"%s: request_method is not GET: sites that must be asked in another way cannot be described", "", "%s: request_method — не GET; сайты, которые надо спрашивать иначе, описать нельзя"},
		{"%s: headers %s is not a header: write a name and a value of one line", "", "%s: headers %s — не заголовок; напишите имя и значение в одну строку"},
		{"%s: headers %s is not sent: leave it out", "", "%s: headers %s не отправляется; уберите его"},
		{"%s: found is missing: say with found or errorType how a profile shows that exists", "", "%s: нет found; укажите в found или errorType, по чему видно профиль, который есть"},
		{"%s: absent is missing: say with absent or errorType how a profile shows that does not exist", "", "%s: нет absent; укажите в absent или errorType, по чему видно, что профиля нет"},

		{"%s: errorCode %s is what a site answers that refuses: name the status for a profile that does not exist, such as 404", "", "%s: errorCode %s — это ответ сайта, который отказывается отвечать; назовите код для профиля, которого нет, например 404"},
		{"%s: errorMsg is missing: give the text that shows that a profile does not exist", "", "%s: нет errorMsg; укажите текст, по которому видно, что профиля нет"},
		{"%s: errorUrl is missing: give the address to which the site leads from a profile that does not exist", "", "%s: нет errorUrl; укажите адрес, на который сайт ведёт с профиля, которого нет"},
		{"%s: errorType %s is not known: use status_code, message or response_url, or found and absent", "", "%s: errorType %s — такого нет; есть status_code, message и response_url, а также found и absent"},

		{"%s: %s holds for any answer: give a status, a json_equals, a json_null, a text or a redirect", "", "%s: %s подходит к любому ответу; укажите status, json_equals, json_null, text или redirect"},
		{"%s: %s %s is not a status: use one such as 200 or 404", "", "%s: %s %s — не код ответа; есть, например, 200 и 404"},
		{"%s: %s %s is what a site answers that refuses: it says nothing about a profile; leave it out", "", "%s: %s %s — это ответ сайта, который отказывается отвечать: о профиле он не говорит; уберите его"},
		{"%s: %s is empty: write the text, or leave the field out", "", "%s: %s — пусто; напишите текст или уберите поле"},
	}
}
