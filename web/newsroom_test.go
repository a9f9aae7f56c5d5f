package web

import (
	"fmt"
	"strings"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/identities"
	"belfry/worker/posts"
	"belfry/worker/tasks"
)

// newsroom fills the store with what a small newsroom has on a busy day.
func (h *harness) newsroom() {
	h.update(func(tx *store.Tx) error {
		main, err := tx.Identities.Get(1)
		if err != nil {
			return err
		}
		main.State, main.Title, main.Username = store.IdentityReady, "Evening News", "evening_news_bot"
		if err := tx.Identities.Put(&main); err != nil {
			return err
		}
		weather := store.Identity{
			Name: "weather", Platform: "telegram", Kind: store.IdentityBot, Target: "@city_weather", State: store.IdentityLogin,
			Title: "City Weather", Username: "city_weather_bot", CreatedAt: tx.Now(), UpdatedAt: tx.Now(),
			Reason: store.Reason{Code: store.ReasonLogin, Detail: "ACCESS_TOKEN_EXPIRED: the bot token is not valid: get the present one from @BotFather"},
		}
		return tx.Identities.Put(&weather)
	})
	since := h.now()
	h.mu.Lock()
	h.connection = platform.Connection{State: platform.Connected, Since: since}
	h.mu.Unlock()

	planned := []struct {
		in     time.Duration
		text   string
		format string
		media  string
	}{
		{12 * time.Minute, "<b>The old bridge opens again on Monday</b>\n\nAfter eleven months of repairs the first tram crosses at six in the morning. What changes for drivers, and where the stops are now.", "html", "https://example.com/bridge.jpg"},
		{95 * time.Minute, "Five short walks for a cold Sunday, none longer than an hour", "plain", ""},
		{3 * time.Hour, "Question of the day: which street should be the next to get trees? Vote until eight.", "plain", ""},
		{5*time.Hour + 20*time.Minute, "City council: the budget in three numbers, and who voted against it", "plain", ""},
		{22 * time.Hour, "Good morning. Seven degrees, wind from the north, rain after four. Take an umbrella.", "plain", ""},
		{27 * time.Hour, "<b>Recipe:</b> pumpkin soup with toasted seeds, for four people and half an hour", "html", ""},
		{50 * time.Hour, "The bookshop on Mill Lane turns forty: a conversation with its owner", "plain", ""},
	}
	for _, p := range planned {
		h.postNow(p.in, p.text, p.format, p.media)
	}
	h.update(func(tx *store.Tx) error {
		held, err := tx.Jobs.ByName("post_2")
		if err != nil {
			return err
		}
		held.Reason = store.Reason{Code: store.ReasonFlood, Until: held.Due}
		if err := tx.Jobs.Put(&held); err != nil {
			return err
		}
		past := []struct {
			ago    time.Duration
			text   string
			status store.PostStatus
			why    store.Reason
		}{
			{26 * time.Hour, "Trams 4 and 9 run every ten minutes again", store.PostPublished, store.Reason{}},
			{9 * time.Hour, "Weekend market: the list of stalls", store.PostCancelled, store.Reason{Code: store.ReasonCancelled}},
			{7 * time.Hour, "Night bus timetable from December on", store.PostFailed, store.Reason{Code: store.ReasonRefused, Detail: "CHAT_WRITE_FORBIDDEN: this login may not post in the chat: make it an administrator that may post messages"}},
			{4 * time.Hour, "What the new library card can do", store.PostPublished, store.Reason{}},
			{70 * time.Minute, "Water is back in the northern districts", store.PostPublished, store.Reason{}},
			{18 * time.Minute, "A power cut in the harbour: crews are on their way", store.PostPublished, store.Reason{}},
		}
		for i, p := range past {
			at := tx.Now().Add(-p.ago)
			post := store.Post{
				Platform: "telegram", IdentityID: 1, Target: "@evening_news", Text: p.text, Format: "plain", ScheduledTime: at, Key: int64(i) + 1,
				Status: p.status, Reason: p.why, CreatedAt: at.Add(-time.Hour), UpdatedAt: at, Attempts: 1,
			}
			if p.status == store.PostPublished {
				post.PublishedAt, post.Link, post.MessageIDs = at, fmt.Sprintf("https://t.me/evening_news/%d", 840+i), []int64{int64(840 + i)}
			}
			if p.status == store.PostFailed {
				post.Target = "@night_buses"
			}
			if err := tx.Posts.Put(&post); err != nil {
				return err
			}
			result := store.ResultDone
			if p.status == store.PostFailed {
				result = store.ResultFailed
			}
			if err := tx.Runs.Add(&store.Run{Job: post.JobName(), Kind: posts.Kind, Lane: "telegram:main", Occurrence: at, Started: at,
				Ended: at.Add(2 * time.Second), Attempt: 1, Result: result, Reason: p.why}); err != nil {
				return err
			}
		}
		return nil
	})
}

// postNow schedules a post through its worker, without the API.
func (h *harness) postNow(in time.Duration, text, format, photo string) store.Post {
	request := posts.Request{Platform: "telegram", IdentityID: 1, Text: text, Format: format, ScheduledTime: h.soon(in)}
	if photo != "" {
		request.Media = []store.Media{{Kind: "photo", URL: photo}}
	}
	draft, err := h.posts.Prepare(h.t.Context(), request)
	if err != nil {
		h.fatal(err)
	}
	var made store.Post
	h.update(func(tx *store.Tx) (err error) {
		made, err = h.posts.Schedule(tx, draft)
		return err
	})
	return made
}

// broadcasts adds what the newsroom's user account sends.
func (h *harness) broadcasts() {
	account := h.account("anna")
	h.update(func(tx *store.Tx) error {
		_, err := identities.Add(tx, identities.Request{Platform: "telegram", Name: "boris", Kind: "user"})
		return err
	})
	broadcast := func(text string, chats int, more func(*tasks.Request)) store.Task {
		r := tasks.Request{Text: text, Format: "html", IdentityID: account.ID, StartAt: h.soon(10 * time.Minute), QuietFrom: "23:00", QuietTo: "08:00"}
		from, to := 20*time.Second, 40*time.Second
		r.MinPause, r.MaxPause, r.DailyCap = &from, &to, 400
		for i := range chats {
			r.Targets = append(r.Targets, fmt.Sprintf("@quarter_%03d", i+1))
		}
		if more != nil {
			more(&r)
		}
		draft, err := h.tasks.Prepare(r)
		if err != nil {
			h.fatal(err)
		}
		var made store.Task
		h.update(func(tx *store.Tx) (err error) {
			made, err = h.tasks.Create(tx, draft)
			return err
		})
		h.prepared(made.ID)
		return made
	}
	names := []string{"Harbour quarter", "Old town neighbours", "Mill Lane and around", "Parents of school 12", "Cyclists of the city", "Station square", "Night shift", "Allotments north", "Market traders", "Garden Street", "Riverside readers"}
	running := broadcast("<b>Tomorrow the water is off from nine to noon</b>\n\nIn the streets between the harbour and the station. Fill a bottle or two today.", 180, nil)
	checked := broadcast("Would you like a monthly letter from the editors?", 60, func(r *tasks.Request) { r.Hold = true })
	ended := broadcast("The weekend market moves to the old tram depot", 24, nil)
	h.update(func(tx *store.Tx) error {
		now := tx.Now()
		for i, t := range []store.Task{running, checked, ended} {
			t, err := tx.Tasks.Get(t.ID)
			if err != nil {
				return err
			}
			t.CreatedAt = now.Add(time.Duration(-3+i) * time.Hour)
			switch i {
			case 0:
				t.Status, t.StartedAt, t.Attempts, t.Sent, t.Skipped, t.Failed = store.TaskProcessing, now.Add(-time.Hour), 1, 64, 2, 1
				t.LastError = store.Reason{Code: store.ReasonRefused, Detail: "CHAT_WRITE_FORBIDDEN: this login may not post in the chat: make it an administrator that may post messages"}
			case 1:
				t.Check, t.Checked = store.CheckRunning, t.First+41
			case 2:
				t.Status, t.StartedAt, t.EndedAt, t.Sent, t.Skipped, t.Failed = store.TaskDone, now.Add(-26*time.Hour), now.Add(-25*time.Hour), 20, 3, 1
				if err := scheduler.Delete(tx, t.JobName()); err != nil {
					return err
				}
			}
			if err := tx.Tasks.Put(&t); err != nil {
				return err
			}
			for n := range t.Total {
				d, err := tx.Deliveries.Get(t.First + uint64(n))
				if err != nil {
					return err
				}
				h.became(&d, i, n, names[n%len(names)], now)
				if err := tx.Deliveries.Put(&d); err != nil {
					return err
				}
			}
		}
		for i, name := range names {
			c := store.Chat{IdentityID: account.ID, Type: store.PeerChannel, PeerID: int64(1_500_000_000 + i), Title: name, CreatedAt: now, UpdatedAt: now, ListedAt: now}
			switch i % 4 {
			case 0:
				c.Username, c.LastSuccess, c.Seen = fmt.Sprintf("quarter_%03d", i+1), now.Add(time.Duration(-50*i-20)*time.Minute), 17*i+3
			case 1:
				c.Slowmode, c.LastSuccess, c.Seen = 3600, now.Add(-20*time.Hour), 1204
			case 2:
				c.Off = i == 2
				c.LastError = store.Reason{Code: store.ReasonRefused, Detail: "CHAT_WRITE_FORBIDDEN: this login may not post in the chat: make it an administrator that may post messages"}
			case 3:
				c.Type, c.ReadOnly = store.PeerChat, i == 3
			}
			if err := tx.Chats.Put(&c); err != nil {
				return err
			}
		}
		job, err := tx.Jobs.ByName(running.JobName())
		if err != nil {
			return err
		}
		job.Due = now.Add(26 * time.Minute)
		job.Reason = store.Reason{Code: store.ReasonPacing, Until: job.Due}
		return tx.Jobs.Put(&job)
	})
}

// became lets a chat of one of the three broadcasts be as far as it is.
func (h *harness) became(d *store.Delivery, task, n int, name string, now time.Time) {
	at := now.Add(time.Duration(n-70) * 30 * time.Second)
	refused := store.Reason{Code: store.ReasonRefused, Detail: "CHANNEL_PRIVATE: the chat does not exist or this login is not in it: check the address and join or add it"}
	sent := func() {
		d.Status, d.Title, d.SentAt, d.MessageIDs, d.Link = store.DeliverySent, name, at, []int64{int64(n + 100)}, fmt.Sprintf("https://t.me/%s/%d", strings.TrimPrefix(d.Target, "@"), n+100)
		if n%7 == 3 {
			d.Add(store.Try{At: at.Add(-40 * time.Second), Ended: at.Add(-39 * time.Second), Outcome: store.TryWaits, Reason: store.Reason{Code: store.ReasonFlood}, Wait: 38})
		}
		d.Add(store.Try{At: at, Ended: at, Outcome: store.TrySent})
	}
	switch {
	case task == 1 && n <= 41:
		d.Title, d.Reach = name, "yes"
		if n%6 == 5 {
			d.Title, d.Reach, d.Unreachable = "", "no", refused
		}
	case task == 1:
	case task == 0 && n > 66:
	case task == 0 && n%30 == 5, task == 2 && n > 20:
		d.Status, d.Reason = store.DeliverySkipped, refused
		d.Add(store.Try{At: at, Ended: at, Outcome: store.TryRefused, Reason: refused})
	case n == 9:
		d.Status, d.Title = store.DeliveryFailed, name
		d.Reason = store.Reason{Code: store.ReasonGaveUp, N: 3, Of: 3, Detail: "Telegram did not answer: the connection broke or the time was up"}
		for try := range 3 {
			d.Add(store.Try{At: at.Add(time.Duration(try) * time.Minute), Ended: at, Outcome: store.TryUnknown, Reason: store.Reason{Code: store.ReasonError, Detail: d.Reason.Detail}})
		}
	default:
		sent()
	}
}
