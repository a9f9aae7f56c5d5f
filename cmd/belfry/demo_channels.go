package main

import (
	"context"
	"time"

	"belfry/platform/telegram/telegramtest"
	"belfry/store"
	"belfry/worker/channels"
	"belfry/worker/search"
)

// demoNews are channels of the demo's Telegram with what they have written in the last days, one text for some hours.
var demoNews = []struct {
	name, title string
	texts       []string
}{
	{"demo_city_news", "City news", []string{
		"The bridge at the old mill is closed until Sunday: use the ferry.",
		"Market day moves to Thursday this week. More: https://belfry.example/market",
		"New timetable for trams 3 and 7 from Monday on.",
		"The library is open at night again. Bring a card and a thermos.",
		"Storm warning for the evening: keep windows shut, and dogs inside. In Russian: @demo_gorod",
		"The tower clock is repaired. It had been four minutes slow since March.",
		"Tickets for the summer concerts are on sale from noon.",
	}},
	{"demo_gorod", "Город сегодня", []string{
		"Мост у старой мельницы закрыт до воскресенья, ходит паром.",
		"Ярмарка на этой неделе в четверг. Подробности: https://belfry.example/market",
		"С понедельника новое расписание трамваев 3 и 7.",
		"Библиотека снова открыта по ночам. Возьмите читательский билет.",
		"Вечером штормовое предупреждение: закройте окна. По-английски: @demo_city_news",
		"Часы на башне починили: с марта они отставали на четыре минуты.",
		"Билеты на летние концерты в продаже с полудня.",
	}},
}

// demoTags are the demo's tags.
var demoTags = []store.TagRule{
	{Name: "transport", Keywords: []string{"bridge", "ferry", "tram", "мост", "паром", "трамвай"}},
	{Name: "culture", Keywords: []string{"library", "concert", "market", "библиотека", "концерт", "ярмарка"}},
}

// demoFerry is what the demo's watch looks for, and demoFerryPost what is written while the demo runs.
const (
	demoFerry     = "ferry"
	demoFerryPost = "The ferries run every ten minutes from today on."
)

// demoChannels adds channels with posts of some days to the demo's Telegram.
func demoChannels(tg *telegramtest.Server) (first int64) {
	for i, c := range demoNews {
		made := tg.AddChannel(telegramtest.Channel{Title: c.title, Username: c.name, Members: []string{demoUser}})
		if i == 0 {
			first = made.ID
		}
		ids := make([]int, 0, len(c.texts))
		for n, text := range c.texts {
			at := time.Now().Add(-time.Duration(len(c.texts)-n) * 9 * time.Hour).Add(time.Duration(i) * time.Hour)
			ids = append(ids, tg.Post(made.ID, telegramtest.Post{Text: text, Views: 120 + 37*n, At: at}))
		}
		tg.React(made.ID, ids[3], 412, "👍", 12)
	}
	return first
}

// demoReading adds tags, and a watch.
func demoReading(svc *service) error {
	return svc.db.Update(func(tx *store.Tx) error {
		for _, rule := range demoTags {
			if _, err := search.AddTag(tx, rule); err != nil {
				return err
			}
		}
		_, err := svc.workers.search.AddWatch(tx, search.WatchRequest{Name: "Ferries", Query: demoFerry, Action: store.WatchNotify})
		return err
	})
}

// readDemoChannels has the demo's account read them, as soon as it is connected. A while later the first one has a new
// post, which the watch finds.
func readDemoChannels(ctx context.Context, svc *service, account uint64, post func()) {
	for i := 0; i < len(demoNews); {
		d, err := svc.workers.channels.Prepare(ctx, channels.Request{Channel: "@" + demoNews[i].name, IdentityID: account, Interval: "15s"})
		if err == nil {
			err = svc.db.Update(func(tx *store.Tx) error {
				_, err := svc.workers.channels.Create(tx, d)
				return err
			})
		}
		if err == nil {
			i++
			continue
		}
		if !wait(ctx, time.Second) {
			return
		}
	}
	if wait(ctx, 20*time.Second) {
		post()
	}
}
