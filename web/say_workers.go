package web

import "slices"

// translations are the sentences of the workers that people meet on the page, the more particular
// before the more general.
func translations() []translation {
	return slices.Concat(accountTranslations(), taskTranslations(), postTranslations())
}

// postTranslations are the sentences about posts, jobs and logins.
func postTranslations() []translation {
	return []translation{
		// Of who has done something.
		{seenOnPage, "", "страница"},
		{"the command line", "", "командная строка"},
		{"the token %s", "", "токен %s"},

		// Of any field.
		{"is missing", "", "не указано"},
		{"is empty", "", "пусто"},
		{"%s is not available in this version", "", "%s в этой версии нет"},
		{"is none of the known values", "", "такого значения нет"},

		{"is not valid UTF-8, or has a NUL character", "", "не текст в UTF-8"},
		{"send text in UTF-8", "", "отправьте текст в UTF-8"},

		// Of a post.
		{"is missing, or not more than 0", "", "не указано или не больше 0"},
		{"say how late is still in time, such as 15m", "", "укажите, какое опоздание ещё допустимо, например 15m"},
		{"send content_id, or text, or media", "write something, or add a picture or file", "напишите что-нибудь или добавьте картинку или файл"},
		{"is missing, and the login has no chat that it posts to by itself", "is missing, and the login has no channel of its own", "не указано, а у входа своего канала нет"},
		{"name a chat such as @channel", "", "укажите, например, @канал"},
		{"is missing, and there is no login for %s", "", "не указан, и для %s нет ни одного"},
		{"add one: set TELEGRAM_BOT_TOKEN, or use the page's Connected accounts", "add one under Connected accounts", "добавьте его на странице «Подключённые аккаунты»"},
		{"is missing, and there are %s logins for %s", "", "не указан, а для %[2]s их несколько"},
		{"say which one posts", "", "выберите, от чьего имени публиковать"},
		{"%s is no login for %s", "no longer exists", "такого входа больше нет"},
		{"use the id of one that identities lists", "choose another one", "выберите другой"},
		{"is in the past: it is %s now", "is in the past", "уже прошло"},
		{"choose a later time, or send allow_past to publish at once", "choose a later one, or “As soon as possible”", "выберите более позднее или «Как можно скорее»"},
		{"is more than ten years away", "", "больше чем через десять лет"},
		{"check the year", "", "проверьте год"},

		// Of its text.
		{"the text is empty: write something or add media", "", "текст пуст: напишите что-нибудь или добавьте картинку или файл"},
		{"the text is %s characters long and under media %s are allowed: shorten it, or post it without the media", "", "в тексте %s символов, а под картинкой или файлом можно %s: сократите его или опубликуйте без них"},
		{"the text is %s characters long and %s are allowed: shorten it or split it into several posts", "", "в тексте %s символов, а можно %s: сократите его или разбейте на несколько постов"},
		{"the text has %s pieces of formatting and %s are allowed: use less", "", "в тексте %s фрагментов разметки, а можно %s: используйте меньше"},
		{"%s (at character %s)", "", "%s (символ %s)"},
		{"%s at character %s closes nothing", "", "%s (символ %s) ничего не закрывает"},
		{"the tag %s is not finished: write &lt; for a plain <", "", "тег %s не закончен: вместо простого < пишите &lt;"},
		{"<%s> is not closed: add </%s>", "", "<%s> не закрыт: добавьте </%s>"},
		{"</%s> closes nothing", "", "</%s> ничего не закрывает"},
		{"</%s> closes <%s>: close what was opened last first", "", "</%s> закрывает <%s>: сначала закрывайте открытое последним"},
		{"<%s> is not known to Telegram: use b, i, u, s, a, code, pre, blockquote and tg-spoiler, and &lt; for a plain <", "", "Telegram не знает <%s>: есть b, i, u, s, a, code, pre, blockquote и tg-spoiler, а вместо простого < пишите &lt;"},
		{`<span> is only known as <span class="tg-spoiler">`, "", `<span> бывает только как <span class="tg-spoiler">`},
		{"<tg-emoji> needs the number of an emoji as emoji-id, not %s", "", "<tg-emoji> нужен номер эмодзи в emoji-id, а не %s"},

		// Of its chat.
		{"no chat is named: %s", "", "чат не указан: напишите @имя, ссылку https://t.me/имя или числовой id"},
		{"an invitation is not an address for a bot: add the bot to the chat and give the chat's id, such as -1001234567890", "", "приглашение — не адрес для бота: добавьте бота в чат и укажите id чата, например -1001234567890"},
		{"%s is not a chat: %s", "", "%s — не чат: напишите @имя, ссылку https://t.me/имя или числовой id"},
		{"this login may not post in the chat: make it an administrator that may post messages", "", "этому входу нельзя публиковать в чате: сделайте его администратором с правом публиковать"},
		{"this login may not post in %s: make it an administrator that may post messages", "", "этому входу нельзя публиковать в %s: сделайте его администратором с правом публиковать"},
		{"this login does not know the chat: join it or add the login to it; a user has to write to a bot first", "", "этот вход не знает такого чата: вступите в него или добавьте вход туда; боту человек сначала должен написать сам"},

		// Of what Telegram answered.
		{"Telegram asks this login to wait %s s", "", "Telegram просит этот вход подождать %s с"},
		{"the chat is in slow mode: the next message may be sent in %s s", "", "в чате медленный режим: следующее сообщение можно через %s с"},
		{"the chat does not exist or this login is not in it: check the address and join or add it", "", "такого чата нет или этого входа в нём нет: проверьте адрес и вступите в чат или добавьте вход туда"},
		{"there is no chat with this name: check its spelling", "", "чата с таким именем нет: проверьте написание"},
		{"the invitation link has expired", "", "ссылка-приглашение больше не действует"},
		{"the user has blocked this login", "", "человек заблокировал этот вход"},
		{"the text is longer than %s characters: shorten it", "", "текст длиннее %s символов: сократите его"},
		{"the text under media is longer than %s characters: shorten it", "", "текст под картинкой или файлом длиннее %s символов: сократите его"},
		{"the text is empty", "", "текст пуст"},
		{"Telegram cannot read the photo: use JPEG or PNG up to 10 MB, or send it as a document", "", "Telegram не может прочитать фото: нужен JPEG или PNG до 10 МБ, или отправьте его файлом"},
		{"Telegram has restricted this login: ask @SpamBot, and send nothing until it is lifted", "", "Telegram ограничил этот аккаунт: спросите @SpamBot и ничего не отправляйте, пока ограничение не снято"},
		{"the bot token is not valid: get the present one from @BotFather", "", "токен бота не действует: возьмите нынешний у @BotFather"},
		{"TELEGRAM_API_ID and TELEGRAM_API_HASH are not accepted: take both from my.telegram.org", "", "TELEGRAM_API_ID и TELEGRAM_API_HASH не приняты: возьмите оба на my.telegram.org"},
		{"the Telegram API ID is not configured: set TELEGRAM_API_ID and TELEGRAM_API_HASH, from my.telegram.org", "", "Telegram API ID не задан: задайте TELEGRAM_API_ID и TELEGRAM_API_HASH, они есть на my.telegram.org"},
		{"the login is sealed with another key: put the key file of the system that the database is from in the place of this one's, or log it in again", "", "вход зашифрован другим ключом: поставьте на место ключа этой системы файл ключа той, откуда база, или войдите заново"},
		{"Telegram does not answer %s", "", "Telegram не отвечает на %s"},
		{"Telegram has ended the session: log in again", "", "Telegram завершил сессию: войдите снова"},
		{"Telegram has deactivated the account", "", "Telegram отключил аккаунт"},
		{"Telegram has frozen the account", "", "Telegram заморозил аккаунт"},
		{"Telegram has an internal error", "", "внутренняя ошибка Telegram"},
		{"this login is banned in the chat, or Telegram has restricted it: ask @SpamBot", "", "этот вход заблокирован в чате, или Telegram его ограничил: спросите @SpamBot"},
		{"fetch: %s", "", "файл не скачан: %s"},
		{"Telegram refuses it", "", "Telegram не принимает"},
		{"Telegram did not answer: the connection broke or the time was up", "", "Telegram не ответил: связь прервалась или вышло время"},
		{"an earlier attempt is still running", "", "предыдущая попытка ещё идёт"},

		// Of its pictures and files.
		{"an album has up to %s items, not %s", "", "в альбоме не больше %s файлов, а здесь %s"},
		{"photos and videos go together, documents only with documents: make two posts", "", "фото и видео можно вместе, файлы — только с файлами: сделайте два поста"},
		{"%s is not an http or https address", "", "%s — не адрес http или https"},
		{"the photo has %s × %s pixels: width and height together may be %s, and one at most %s times the other; send it as a document", "", "в фото %s × %s точек: ширина и высота вместе — не больше %s, и одна не больше другой чем в %s раз; отправьте его файлом"},
		{"this is no photo but %s: use JPEG or PNG", "", "это не фото, а %s: нужен JPEG или PNG"},
		{"this is no video but %s: use MP4", "", "это не видео, а %s: нужен MP4"},
		{"the file is empty", "", "файл пуст"},
		{"no media folder is set up on this server: give a URL", "", "на сервере нет папки медиа: укажите адрес https://"},
		{"the media folder has no file %s: put it there, or give a URL", "", "в папке медиа нет файла %s: положите его туда или укажите URL"},
		{"%s in the media folder cannot be used: %s", "", "%s в папке медиа не подходит: %s"},
		{"%s is not a file", "", "%s — не файл"},
		{"the server of %s answers %s", "", "сервер %s отвечает: %s"},
		{"the address leads to %s, which is not public: use a public address, or allow this one with BELFRY_ALLOW_PRIVATE=%s", "", "адрес ведёт на %s — это не публичный адрес: укажите публичный или разрешите этот: BELFRY_ALLOW_PRIVATE=%s"},
		{"Telegram accepts no more of the file", "", "Telegram не принимает остаток файла"},
		{"%s of %s MB are there", "", "передано %s из %s МБ"},
		{"the %s has %s MB and %s are allowed", "", "размер %[2]s МБ, а можно %[3]s"},
		{"the file has more than the %s MB that are allowed", "", "файл больше разрешённых %s МБ"},

		// Of what can be done with a post.
		{"post %s is published already", "", "пост %s уже опубликован"},
		{"make a new post", "", "сделайте новый пост"},
		{"post %s is being published", "", "пост %s как раз публикуется"},
		{"post %s was changed meanwhile", "", "пост %s тем временем изменили"},
		{"look at it again", "", "посмотрите на него ещё раз"},
		{"wait, or cancel it first", "", "подождите или сначала отмените его"},
		{"nobody knows whether post %s is out", "", "неизвестно, вышел ли пост %s"},
		{"look in the chat, then retry it as it is or make a new post", "", "посмотрите в чате, потом попробуйте снова или сделайте новый пост"},
		{"post %s needs approval", "", "пост %s ждёт одобрения"},
		{"approve it", "", "сначала одобрите его"},
		{"post %s is on its way right now", "", "пост %s как раз отправляется"},
		{"look again in a moment", "", "посмотрите чуть позже"},
		{"post %s has not ended yet: it is %s", "", "с постом %s ещё не закончено"},
		{"publish it now instead", "", "опубликуйте его сейчас"},
		{"post %s is %s", "", "с постом %s уже закончено"},
		{"delete the message in the chat", "", "удалите сообщение в чате"},
		{"retry it if it has not gone out", "", "попробуйте снова, если он не вышел"},

		// Of a job.
		{"%s is set aside and does not run anyway", "", "задача %s отложена и всё равно не запускается"},
		{"see its reason", "", "посмотрите причину"},
		{"%s is running already", "", "задача %s уже выполняется"},
		{"wait until it has ended", "", "подождите, пока она закончится"},
		{"is not one that a list has given out", "", "такой страницы списка нет"},
		{"leave it out to begin at the start", "", "начните с начала"},

		// Of a login.
		{"%s cannot be used", "", "%s не подходит"},
		{"use up to 32 small letters, digits, - and _, beginning with a letter or digit", "", "до 32 строчных латинских букв, цифр, - и _; первой — буква или цифра"},
		{"%s is taken", "", "%s уже занято"},
		{"choose another name", "", "выберите другое"},
		{"paste the one that @BotFather gave", "", "вставьте тот, что дал @BotFather"},
		{"does not look like a bot's", "", "не похоже на токен бота"},
		{"paste the whole of what @BotFather gave, such as 123456789:AAE…", "", "вставьте целиком то, что дал @BotFather, например 123456789:AAE…"},
		{"post %s waits for the login %s", "", "входа %[2]s ждёт пост %[1]s"},
		{"cancel or change the posts that it is to send first", "", "сначала отмените или измените посты, которые он должен отправить"},

		// Of a password.
		{"is shorter than %s characters", "", "короче %s символов"},
		{"choose a longer one; several words are easy to remember", "", "выберите длиннее; несколько слов легко запомнить"},
		{"is longer than %s bytes", "", "длиннее %s байт"},
		{"choose a shorter one", "", "выберите короче"},
	}
}
