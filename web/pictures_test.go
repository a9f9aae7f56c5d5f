package web

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"belfry/store"
	"belfry/worker/posts"
)

// TestPictures takes pictures of all pages with the data of a small newsroom, for people to look at.
func TestPictures(t *testing.T) {
	dir := os.Getenv("BELFRY_PICTURES")
	if dir == "" {
		t.Skip("set BELFRY_PICTURES to a folder to take pictures of the pages")
	}
	zone, err := time.LoadLocation("Europe/Moscow")
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, func(c *Config) { c.Timezone, c.Version = zone, "1.0.0" })
	h.newsroom()
	b := browse(t, chromium(t), h)
	b.viewport(1280, 800, "light")
	b.open("/sign-in")
	b.shoot(filepath.Join(dir, "signin.png"))
	b.signIn()
	pages := map[string]string{
		"next": "/", "posts": "/posts", "failed": "/posts?status=failed", "post": "/posts/1", "published": "/posts/12", "compose": "/posts/new?from=3",
		"change": "/posts/2/change", "cancel": "/posts/1/cancel", "jobs": "/jobs", "job": "/jobs/post_4", "logins": "/logins", "login": "/logins/1/change",
		"password": "/password", "empty": "/posts?status=skipped", "missing": "/posts/999",
	}
	if only := os.Getenv("BELFRY_PICTURES_ONLY"); only != "" {
		for name := range pages {
			if !strings.Contains(" "+only+" ", " "+name+" ") {
				delete(pages, name)
			}
		}
	}
	weather := func(state store.IdentityState) {
		h.update(func(tx *store.Tx) error {
			i, err := tx.Identities.ByName("telegram", "weather")
			if err != nil {
				return err
			}
			i.State = state
			return tx.Identities.Put(&i)
		})
	}
	weather(store.IdentityReady) // one trouble is enough for the pictures of the README
	for name, size := range map[string][2]int64{"page.png": {1280, 800}, "page-phone.png": {390, 844}} {
		b.viewport(size[0], size[1], "light")
		b.open("/")
		b.shootWindow(filepath.Join(dir, name))
	}
	weather(store.IdentityLogin)
	for _, lang := range []string{english, russian} {
		b.do(chromedp.Navigate(h.base + "/password"))
		if eval[string](b, "document.documentElement.lang") != lang {
			b.do(chromedp.Click(chromedp.CSS(`button[name="lang"]`)))
			b.until(fmt.Sprintf("document.documentElement.lang === %q", lang))
		}
		for name, path := range pages {
			for _, width := range []int64{1280, 390} {
				for _, scheme := range []string{"light", "dark"} {
					b.viewport(width, 800, scheme)
					b.open(path)
					b.shoot(filepath.Join(dir, fmt.Sprintf("%s-%s-%d-%s.png", name, lang, width, scheme)))
				}
			}
		}
	}
}

// shoot takes a picture of the whole page.
func (b *browser) shoot(file string) {
	b.t.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(file, picture, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// shootWindow takes a picture of what is in the window.
func (b *browser) shootWindow(file string) {
	b.t.Helper()
	picture, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(file, picture, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

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
	h.connections = []Connection{{Identity: "main", Platform: "telegram", Connected: true, Since: since}}
	h.mu.Unlock()

	planned := []struct {
		in     time.Duration
		text   string
		format string
		media  string
	}{
		{12 * time.Minute, "<b>The old bridge opens again on Monday</b>\n\nAfter eleven months of repairs the first tram crosses at six in the morning. What changes for drivers, and where the stops are now: <a href=\"https://example.com/bridge\">our map</a>.", "html", "https://example.com/bridge.jpg"},
		{95 * time.Minute, "Five short walks for a cold Sunday, none longer than an hour", "plain", ""},
		{3 * time.Hour, "**Question of the day:** which street should be the next to get trees? Vote until eight. ||The winner of last week was Garden Street.||", "markdown", ""},
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
