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
		Title: "Alerts", Lead: "Problems, and what to do about them.", Open: "New alerts",
		Empty: "No open alerts.", EmptyHow: "Belfry checks once a minute. Problems stay here until you acknowledge them.",
		MoreOpen: "There are more; acknowledge these to see them.",
		See:      "Acknowledge", SeeAll: "Acknowledge all", Settling: "It seems resolved. If that lasts, this alert closes by itself.",
		Seen: "Acknowledged, still active", SeenMeans: "These close by themselves when they are resolved.",
		Past: "Earlier alerts", When: "When", What: "What was wrong", End: "How it ended", WasSeen: "acknowledged", WasOver: "resolved",
		Older: "Older alerts", Newest: "To the latest", FailedPosts: "To the failed posts",
	}
}

func russianAlerts() alertsWords {
	return alertsWords{
		Title: "Оповещения", Lead: "Что пошло не так и что с этим можно сделать.", Open: "Новые оповещения",
		Empty: "Открытых оповещений нет.", EmptyHow: "Belfry ищет неполадки раз в минуту. Неполадки остаются здесь, пока вы их не примете.",
		MoreOpen: "Есть и другие; они появятся здесь, когда вы отметите эти.",
		See:      "Принять", SeeAll: "Принять все", Settling: "Похоже, всё наладилось. Если так и останется, оповещение уйдёт само.",
		Seen: "Принято, ещё действует", SeenMeans: "Когда всё наладится, они уйдут сами.",
		Past: "Прежние оповещения", When: "Когда", What: "Что было не так", End: "Чем кончилось", WasSeen: "принято", WasOver: "решено",
		Older: "Более ранние", Newest: "К последним", FailedPosts: "К неудавшимся постам",
	}
}
