package adminbot

import "belfry/store"

// words are what the bot says in one language.
type words struct {
	commands map[string]string // by page
	titles   map[string]string // by page
	kinds    map[string]string // of jobs

	greeting, notUnderstood, gone string
	menu, refresh, back, more, no string
	statusAt, nothingRuns, next   string
	nothingNext, allWell          string
	strangers                     string // how many, when the last, and who

	every, checking, checkPaused, nextCheck, noAccounts, counts, lastCheck, isQuiet string
	checkBegins, checkNow, interval, list, add, quietOn, quietOff                   string
	minutes, chooseInterval, noNumber, intervalSet                                  string
	sendNames, added, line, marks                                                   string
	stateMarks                                                                      map[store.AccountState]string

	noPosts, postsToday, postsHeld, morePosts, postTitle, postHead, isHeld, media string
	approve, approveAsk, approved, now, nowAsk, goesOut                           string
	retry, retryAsk, cancel, cancelAsk, cancelled                                 string
	lateAsk, tooLateAsk, tooLate, postChanged, maybeOut                           string
	postMarks, postStates                                                         map[store.PostStatus]string

	noTasks, tasksBelow, taskTitle, taskHead, taskCounts, taskPaused, taskNext, taskEnds, taskChanged string
	lastError, pause, resume                                                                          string
	taskMarks, taskStates                                                                             map[store.TaskStatus]string

	seen, seeAll, allSeen, seenBy, overSince, moreAlerts, stillSo, alertsChanged string

	noPassphrase, backupMeans, sendBackup, backupRuns, backupBegins string
	backup, backupTooLarge, backupFailed                            string
}

func wordsIn(lang string) words {
	if lang == "ru" {
		return russian()
	}
	return english()
}

// Marks are the same in both languages.

func stateMarks() map[store.AccountState]string {
	return map[store.AccountState]string{store.AccountPending: "⏳", store.AccountFound: "✅", store.AccountNotFound: "❌"}
}

func postMarks() map[store.PostStatus]string {
	return map[store.PostStatus]string{
		store.PostScheduled: "🕒", store.PostPublishing: "⏳", store.PostPublished: "✅", store.PostFailed: "❌",
		store.PostUnknown: "❓", store.PostCancelled: "🚫", store.PostSkipped: "⏭",
	}
}

func taskMarks() map[store.TaskStatus]string {
	return map[store.TaskStatus]string{
		store.TaskPreparing: "🕒", store.TaskPending: "🕒", store.TaskProcessing: "⏳", store.TaskDone: "✅", store.TaskFailed: "❌", store.TaskCancelled: "🚫",
	}
}

func english() words {
	return words{
		commands: map[string]string{
			pageMenu: "All that I can do", pageStatus: "What runs, what is next, what failed", pageCheck: "The account check",
			pagePosts: "Today's posts", pageTasks: "Broadcasts", pageAlerts: "Open alerts", pageBackup: "An encrypted copy of the file",
		},
		titles: map[string]string{
			pageStatus: "Status", pageCheck: "Account check", pagePosts: "Posts", pageTasks: "Broadcasts", pageAlerts: "Alerts", pageBackup: "Backup",
		},
		kinds: map[string]string{
			"autocheck": "Account check", "task_check": "Check of a broadcast", "chat_list": "List of chats",
		},
		greeting:      "What would you like to see?",
		notUnderstood: "I did not understand that. Press a button, or send /menu.",
		gone:          "It no longer exists.",
		menu:          "☰ Menu", refresh: "↻ Refresh", back: "‹ Back", more: "More ›", no: "No",
		statusAt: "📋 Belfry, %s", nothingRuns: "Nothing runs just now", next: "Next:", nothingNext: "nothing",
		allWell: "No open alerts", strangers: "🚷 Strangers have tried to talk to me: %d, the last at %s (id %d)",

		every: "Every %s", checking: "A check is under way: %d of %d", checkPaused: "⏸ Paused", nextCheck: "Next check: %s",
		noAccounts: "No accounts are watched yet: press Add.", counts: "Looked for: %d, found: %d, vanished: %d",
		lastCheck: "Last check %s: checked %d, found %d, not found %d, errors %d", isQuiet: "🔕 Quiet: I tell only what has changed",
		checkBegins: "✅ A check begins.", checkNow: "▶️ Check now", interval: "⏱ Interval", list: "📃 List", add: "➕ Add",
		quietOn: "🔕 Quiet mode", quietOff: "🔔 Tell everything",
		minutes: "%d min", chooseInterval: "How many minutes between two checks? Press a button, or write a number.",
		noNumber: "⚠️ Not a number of minutes, such as 15.", intervalSet: "From now on every %s.",
		sendNames: "Send me names, one in each line: with or without @, or the address of the profile.",
		added:     "➕ Added: %d, known: %d, invalid: %d", line: "⚠️ Invalid: %s",
		marks: "⏳ looked for, ✅ found, ❌ vanished", stateMarks: stateMarks(),

		noPosts: "No posts today.", postsToday: "Today: %s", postsHeld: "✋ Waiting for approval: %s", morePosts: "And %d more: see the page.",
		postTitle: "Post %d to %s: %s", postHead: "Post %d to %s", isHeld: "needs approval", media: "📎 %d",
		approve: "✅ Approve", approveAsk: "Approve this post?", approved: "Will be published at its time.",
		now: "🚀 Publish now", nowAsk: "Publish this post now?", goesOut: "It is being published.",
		retry: "🔁 Publish again", retryAsk: "Publish this post again? If it was published after all, it does not appear twice.",
		cancel: "🚫 Cancel the post", cancelAsk: "Cancel this post?", cancelled: "The post is cancelled.",
		lateAsk:    "Its time has passed. Approve it and publish it now?",
		tooLateAsk: "Its time passed too long ago: if approved now, it is skipped. Publish it now, or change its time on the page.",
		tooLate:    "It is approved, and skipped: its time passed too long ago.", postChanged: "The post was changed meanwhile. This is how it is now.",
		maybeOut:  "It is not sent again. It may have been published: check the chat.",
		postMarks: postMarks(), postStates: map[store.PostStatus]string{
			store.PostScheduled: "scheduled", store.PostPublishing: "being published", store.PostPublished: "published", store.PostFailed: "failed",
			store.PostUnknown: "unknown, may be published", store.PostCancelled: "cancelled", store.PostSkipped: "skipped",
		},

		noTasks: "No broadcasts.", tasksBelow: "Press one to see how far it is.", taskTitle: "Broadcast %d (%d/%d): %s", taskHead: "Broadcast %d",
		taskCounts: "Sent %d, failed %d, skipped %d", taskPaused: "Paused", taskNext: "Next: %s %s", taskEnds: "Done at about %s",
		lastError: "Last error:", pause: "⏸ Pause", resume: "▶️ Resume",
		taskChanged: "Nothing was done: that button was made for another broadcast. This is the broadcast that has its number now.",
		taskMarks:   taskMarks(), taskStates: map[store.TaskStatus]string{
			store.TaskDone: "Done", store.TaskFailed: "Failed", store.TaskCancelled: "Cancelled",
		},

		seen: "👁 %d. Acknowledge", seeAll: "👁 Acknowledge all", allSeen: "Acknowledged: %d", seenBy: "Acknowledged by %s, %s", overSince: "Resolved since %s",
		moreAlerts: "… and more: these come first.", stillSo: "Acknowledged, still active:",
		alertsChanged: "Nothing was done: that button was made for another alert. These are the open ones.",

		noPassphrase: "I send the file only encrypted, and there is no passphrase: set BELFRY_BACKUP_PASSPHRASE and start Belfry again. " +
			"Keep it elsewhere, too: without it nobody can open a backup.",
		backupMeans: "The file has %.1f MiB. I send a copy, verified and encrypted with the passphrase of BELFRY_BACKUP_PASSPHRASE. " +
			"belfry restore opens it, and so does age.",
		sendBackup: "💾 Send it", backupRuns: "A backup is on its way already.", backupBegins: "✅ I make the copy and send it here.",
		backup:         "💾 Backup of %s. Open it with: belfry restore FILE, with BELFRY_BACKUP_PASSPHRASE set.",
		backupTooLarge: "⚠️ The backup is larger than the 2000 MiB that Telegram takes: make one with belfry backup.",
		backupFailed:   "The backup could not be made or sent.",
	}
}

func russian() words {
	return words{
		commands: map[string]string{
			pageMenu: "Всё, что я умею", pageStatus: "Что идёт, что дальше, что не удалось", pageCheck: "Автопроверка аккаунтов",
			pagePosts: "Посты на сегодня", pageTasks: "Рассылки", pageAlerts: "Открытые оповещения", pageBackup: "Зашифрованная копия файла",
		},
		titles: map[string]string{
			pageStatus: "Состояние", pageCheck: "Автопроверка", pagePosts: "Посты", pageTasks: "Рассылки", pageAlerts: "Оповещения", pageBackup: "Копия",
		},
		kinds: map[string]string{
			"autocheck": "Автопроверка", "task_check": "Проверка рассылки", "chat_list": "Список чатов",
		},
		greeting:      "Что показать?",
		notUnderstood: "Не понял. Нажмите кнопку или отправьте /menu.",
		gone:          "Этого больше нет.",
		menu:          "☰ Меню", refresh: "↻ Обновить", back: "‹ Назад", more: "Дальше ›", no: "Нет",
		statusAt: "📋 Belfry, %s", nothingRuns: "Сейчас ничего не выполняется", next: "Дальше:", nothingNext: "ничего",
		allWell: "Открытых оповещений нет", strangers: "🚷 Чужие пытались со мной говорить: %d, последний в %s (id %d)",

		every: "Каждые %s", checking: "Идёт проверка: %d из %d", checkPaused: "⏸ На паузе", nextCheck: "Следующая проверка: %s",
		noAccounts: "Аккаунтов пока нет: нажмите «Добавить».", counts: "Ищем: %d, найдено: %d, пропало: %d",
		lastCheck: "Прошлая проверка %s: проверено %d, найдено %d, не найдено %d, ошибок %d", isQuiet: "🔕 Тихий режим: сообщаю только об изменениях",
		checkBegins: "✅ Проверка начинается.", checkNow: "▶️ Проверить", interval: "⏱ Интервал", list: "📃 Список", add: "➕ Добавить",
		quietOn: "🔕 Тихий режим", quietOff: "🔔 Сообщать всё",
		minutes: "%d мин", chooseInterval: "Сколько минут между проверками? Нажмите кнопку или напишите число.",
		noNumber: "⚠️ Это не число минут, например 15.", intervalSet: "Теперь каждые %s.",
		sendNames: "Пришлите имена, по одному в строке: с @ или без, или адрес профиля.",
		added:     "➕ Добавлено: %d, уже были: %d, неверных: %d", line: "⚠️ Неверно: %s",
		marks: "⏳ ищем, ✅ найден, ❌ пропал", stateMarks: stateMarks(),

		noPosts: "Сегодня постов нет.", postsToday: "Сегодня: %s", postsHeld: "✋ Ждут одобрения: %s", morePosts: "И ещё %d: смотрите страницу.",
		postTitle: "Пост %d в %s: %s", postHead: "Пост %d в %s", isHeld: "ждёт одобрения", media: "📎 %d",
		approve: "✅ Одобрить", approveAsk: "Одобрить этот пост?", approved: "Пост выйдет в своё время.",
		now: "🚀 Опубликовать сейчас", nowAsk: "Опубликовать этот пост сейчас?", goesOut: "Пост выходит.",
		retry: "🔁 Опубликовать снова", retryAsk: "Опубликовать этот пост снова? Если он всё-таки вышел, дважды не появится.",
		cancel: "🚫 Отменить пост", cancelAsk: "Отменить этот пост?", cancelled: "Пост отменён.",
		lateAsk:    "Его время прошло. Выпустить этот пост сразу?",
		tooLateAsk: "Его время прошло слишком давно: если одобрить его сейчас, он будет пропущен. Опубликуйте его сейчас или измените время на странице.",
		tooLate:    "Пост одобрен и пропущен: его время прошло слишком давно.", postChanged: "Пост тем временем изменили. Вот каков он теперь.",
		maybeOut:  "Отправляться он больше не будет. Вышел ли он, неизвестно: посмотрите в чате.",
		postMarks: postMarks(), postStates: map[store.PostStatus]string{
			store.PostScheduled: "запланирован", store.PostPublishing: "публикуется", store.PostPublished: "опубликован", store.PostFailed: "не удалось",
			store.PostUnknown: "неизвестно, вышел ли", store.PostCancelled: "отменён", store.PostSkipped: "пропущен",
		},

		noTasks: "Рассылок нет.", tasksBelow: "Нажмите, чтобы увидеть, как она идёт.", taskTitle: "Рассылка %d (%d/%d): %s", taskHead: "Рассылка %d",
		taskCounts: "Отправлено %d, ошибок %d, пропущено %d", taskPaused: "На паузе", taskNext: "Дальше: %s %s", taskEnds: "Закончится около %s",
		lastError: "Последняя ошибка:", pause: "⏸ Пауза", resume: "▶️ Продолжить",
		taskChanged: "Ничего не сделано: кнопка относилась к другой рассылке. Вот рассылка, у которой теперь этот номер.",
		taskMarks:   taskMarks(), taskStates: map[store.TaskStatus]string{
			store.TaskDone: "Завершена", store.TaskFailed: "Не удалась", store.TaskCancelled: "Отменена",
		},

		seen: "👁 %d. Принять", seeAll: "👁 Принять все", allSeen: "Принято: %d", seenBy: "Принял(а) %s, %s", overSince: "Решено: %s",
		moreAlerts: "… и ещё: сначала эти.", stillSo: "Принято, ещё действует:",
		alertsChanged: "Ничего не сделано: кнопка относилась к другому оповещению. Вот новые.",

		noPassphrase: "Файл я отправляю только зашифрованным, а пароля нет: задайте BELFRY_BACKUP_PASSPHRASE и перезапустите Belfry. " +
			"Сохраните его и в другом месте: без него копию никто не откроет.",
		backupMeans: "В файле %.1f МиБ. Отправлю копию, проверенную и зашифрованную паролем из BELFRY_BACKUP_PASSPHRASE. " +
			"Её откроет belfry restore или age.",
		sendBackup: "💾 Отправить", backupRuns: "Копия уже готовится.", backupBegins: "✅ Делаю копию и отправлю её сюда.",
		backup:         "💾 Копия от %s. Открыть: belfry restore ФАЙЛ, с заданным BELFRY_BACKUP_PASSPHRASE.",
		backupTooLarge: "⚠️ Копия больше 2000 МиБ, которые принимает Telegram: сделайте её командой belfry backup.",
		backupFailed:   "Копию не удалось сделать или отправить.",
	}
}
