package web

// alertsWords are those of the page about alerts.
type alertsWords struct {
	Title, Lead, Open, Empty, EmptyHow, MoreOpen string
	See, SeeAll, Settling                        string
	Seen, SeenMeans                              string
	Past, When, What, End, WasSeen, WasOver      string
	Older, Newest, FailedPosts                   string
}

func englishAlerts() alertsWords {
	return alertsWords{
		Title: "Alerts", Lead: "What has gone wrong, and what you can do about it.", Open: "Nobody has looked at these yet",
		Empty: "Nothing needs looking at.", EmptyHow: "Belfry looks once a minute. What it finds is listed here until you have seen it.",
		MoreOpen: "There are more; they appear here when these were seen.",
		See:      "Seen", SeeAll: "All seen", Settling: "It looks right again. If that lasts, this is over by itself.",
		Seen: "Seen, and still so", SeenMeans: "These are over by themselves when they have come right.",
		Past: "Earlier alerts", When: "When", What: "What was wrong", End: "How it ended", WasSeen: "seen", WasOver: "over",
		Older: "Older alerts", Newest: "To the latest", FailedPosts: "To the failed posts",
	}
}

func russianAlerts() alertsWords {
	return alertsWords{
		Title: "Оповещения", Lead: "Что пошло не так и что с этим можно сделать.", Open: "Этого ещё никто не видел",
		Empty: "Смотреть не на что.", EmptyHow: "Belfry ищет неполадки раз в минуту. Найденное остаётся здесь, пока вы его не увидите.",
		MoreOpen: "Есть и другие; они появятся здесь, когда вы отметите эти.",
		See:      "Вижу", SeeAll: "Вижу все", Settling: "Похоже, всё наладилось. Если так и останется, оповещение уйдёт само.",
		Seen: "Замечено, но ещё длится", SeenMeans: "Когда всё наладится, они уйдут сами.",
		Past: "Прежние оповещения", When: "Когда", What: "Что было не так", End: "Чем кончилось", WasSeen: "замечено", WasOver: "прошло",
		Older: "Более ранние", Newest: "К последним", FailedPosts: "К неудавшимся постам",
	}
}
