package adminbot

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/scheduler/schedulertest"
	"belfry/store"
	"belfry/worker/alerts"
	"belfry/worker/notices"
	"belfry/worker/posts"
	"belfry/worker/tasks"
)

func (b *bench) file(name string) ([]byte, error) { return os.ReadFile(filepath.Join(b.dir, name)) }

func TestStrangersGetNoAnswerAndAreCounted(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		b.hear(platform.Heard{From: 666, Name: "Eve", Text: "/status"})
		b.hear(platform.Heard{From: 667, Name: "Mallory", QueryID: 5, MessageID: 1, Data: "backup/yes"})
		b.Pass(time.Hour)
		if len(b.net.messages) != 0 || len(b.net.answered) != 0 {
			t.Errorf("strangers were told %+v, %v", b.net.messages, b.net.answered)
		}
		has(t, b.write("/status"), "Strangers wrote to this bot: 2", "id 667")
	})
}

func TestTheStatusSaysWhatJobsAreAboutAndLeavesRoutineOut(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		b.bot.SetKinds(scheduler.Kinds{
			store.ReminderKind: {About: func(*store.Tx, uint64) string { return "Haircut – @nina" }},
			store.ChannelKind:  {Routine: true},
		})
		b.Update(func(tx *store.Tx) error {
			at := store.Trigger{At: tx.Now().Add(time.Hour)}
			return errors.Join(
				scheduler.Put(tx, store.Job{Name: "channel_1", Kind: store.ChannelKind, Lane: "read", Subject: 1, Trigger: at}),
				scheduler.Put(tx, store.Job{Name: "reminder_1", Kind: store.ReminderKind, Lane: "bot", Subject: 1, Trigger: at}),
			)
		})
		m := b.write("/status")
		has(t, m, "Haircut – @nina")
		if routine := b.bot.Printer().T("job.kind." + store.ChannelKind); strings.Contains(m.Text, routine) || strings.Contains(m.Text, "channel_1") {
			t.Errorf("a routine job is listed: %s", m.Text)
		}
	})
}

func TestEveryCommandAndEveryButtonOfTheMenuShowsItsPage(t *testing.T) {
	for _, lang := range []string{"en", "ru"} {
		inBubble(t, lang, func(b *bench) {
			name := regexp.MustCompile(`^[a-z]{1,32}$`)
			for _, c := range b.bot.Commands() {
				if !name.MatchString(c.Name) || c.About == "" {
					t.Errorf("command %+v", c)
				}
				m := b.write("/" + c.Name + "@the_bot now")
				if m.Text == b.bot.Printer().T("bot.not_understood") || m.Text == "" || strings.Contains(m.Text, "%!") {
					t.Errorf("/%s shows %q", c.Name, m.Text)
				}
				b.write("/start")
				if title := "bot.title." + c.Name; b.bot.Printer().Has(title) {
					m = b.press(b.bot.Printer().T(title))
				}
				if strings.Contains(m.Text, "%!") || len(m.Buttons) == 0 {
					t.Errorf("%s shows %+v", c.Name, m)
				}
			}
		})
	}
}

func TestWhatIsNotUnderstoodGetsAHint(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		for _, text := range []string{"hello", "/", "/nonsense", "", "/posts/17", "///", "/🙂"} {
			if m := b.write(text); m.Text != b.bot.Printer().T("bot.not_understood") || len(m.Buttons) == 0 {
				t.Errorf("%q is answered by %q", text, m.Text)
			}
		}
		for _, data := range []string{"", "posts/x", "posts/17/x", "check/x", "tasks/x", "alerts/x", "alerts/ack/x", "check/list/x", "/", "posts/99"} {
			b.hear(platform.Heard{From: admin, MessageID: 1, QueryID: 1, Data: data})
			if m := b.shown()[0]; m.Text == "" || strings.Contains(m.Text, "%!") {
				t.Errorf("%q is answered by %q", data, m.Text)
			}
		}
		if n := len(b.shown()); n != 7 {
			t.Errorf("%d messages: a press changes the message whose button it was", n)
		}
	})
}

func TestADamagedRowOfTheBotMakesItDeafToNobody(t *testing.T) {
	path := filepath.Join(t.TempDir(), "belfry.db")
	open := func() *store.DB {
		db, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open()
	var rows []uint64
	err := db.Update(func(tx *store.Tx) error {
		names := []string{fmt.Sprint("adminbot.asked.", admin), settingStrangers}
		for _, name := range names {
			if err := tx.Settings.Set(name, "{}"); err != nil {
				return err
			}
		}
		for s := range tx.Settings.All() {
			if slices.Contains(names, s.Name) {
				rows = append(rows, s.ID)
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil || len(rows) != 2 {
		t.Fatal(rows, err)
	}
	for _, row := range rows {
		schedulertest.Damage(t, path, "settings", row)
	}
	db = open()
	defer db.Close()
	told := notices.New(db, notices.Config{Admins: []string{fmt.Sprint(admin)}, Log: zerolog.Nop()})
	bot := New(db, Workers{Notices: told}, Config{Lang: "en", Log: zerolog.Nop()})
	for _, h := range []platform.Heard{{From: 666, Text: "hello"}, {From: admin, Text: "hello"}, {From: admin, Text: "/menu"}, {From: admin, QueryID: 1, Data: "menu"}} {
		if err := db.Update(func(tx *store.Tx) error { return bot.Hear(tx, h) }); err != nil {
			t.Errorf("%+v: %v", h, err)
		}
	}
}

func TestAnAlbumGetsOneHint(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		for n := range 2 {
			b.Update(func(tx *store.Tx) error { // they come in one page
				for i := range 10 {
					if err := b.bot.Hear(tx, platform.Heard{From: admin, Name: "Ann", MessageID: int64(i) + 1}); err != nil {
						return err
					}
				}
				return nil
			})
			b.Pass(time.Minute)
			if shown := b.shown(); len(shown) != n+1 {
				t.Errorf("album %d is answered by %d messages in all", n+1, len(shown))
			}
		}
	})
}

func TestTheIntervalIsChangedByButtonsOrInWords(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		b.write("/check")
		b.press("Add")
		has(t, b.write("@alice\nbob\n\nno such name!"), "Added: 2, known: 0, invalid: 1", "Invalid: no such name!")
		has(t, b.write("thanks"), b.bot.Printer().T("bot.not_understood"))
		b.write("/check")
		b.press("Add")
		has(t, b.write(strings.Repeat("carol, dave;Bob\n", 250)), "Added: 2, known: 748, invalid: 0")
		has(t, b.write("erin"), "Added: 1") // a client has sent a long text in parts
		has(t, b.write("thanks"), b.bot.Printer().T("bot.not_understood"))
		b.Pass(2 * time.Minute)
		b.write("/check")
		has(t, b.press("Refresh"), "Every 5 min", "Not found yet: 5", "Last check")
		b.press("Interval")
		has(t, b.press("3 min"), "From now on every 3 min")
		every := func() (d time.Duration) {
			b.View(func(tx *store.Tx) (err error) { d, err = b.workers.Accounts.Interval(tx); return err })
			return d
		}
		checks := func() (n int) {
			b.View(func(tx *store.Tx) error {
				n = len(tx.AccountChecks.Between(time.Time{}, time.Now(), 1000))
				return nil
			})
			return n
		}
		before := checks()
		b.Pass(30 * time.Minute)
		if n := checks() - before; every() != 3*time.Minute || n < 9 || n > 11 {
			t.Errorf("every %v, %d checks in half an hour", every(), n)
		}

		b.write("/check")
		b.press("Interval")
		for _, nonsense := range []string{"soon", "1 hour", "2 часа", "307445736", "-5", "1.5"} {
			has(t, b.write(nonsense), "ot a number of minutes")
		}
		has(t, b.write("0"), "is not between a minute and a week")
		has(t, b.write("999999 min"), "is not between a minute and a week")
		has(t, b.write("7 min."), "From now on every 7 min")
		has(t, b.write("9"), b.bot.Printer().T("bot.not_understood")) // nobody asked
		if every() != 7*time.Minute {
			t.Errorf("every %v", every())
		}
		b.write("/check")
		b.press("Interval")
		b.Pass(time.Hour)
		has(t, b.write("15"), b.bot.Printer().T("bot.not_understood")) // that was long ago
	})
}

func TestTheCheckIsSteered(t *testing.T) {
	inBubble(t, "ru", func(b *bench) {
		has(t, b.write("/check"), "Аккаунтов пока нет")
		b.press("Добавить")
		var names []string
		for i := range 45 {
			names = append(names, fmt.Sprintf("name_%02d", i))
		}
		has(t, b.write(strings.Join(names, "\n")), "Добавлено: 45")
		b.Pass(time.Second)
		has(t, b.press("Обновить"), "Идёт проверка: ")
		has(t, b.press("Проверить"), "Проверка уже идёт")
		b.write("/check")
		has(t, b.press("Список"), "@name_00", "@name_19")
		has(t, b.press("Дальше"), "@name_20", "@name_39")
		m := b.press("Дальше")
		has(t, m, "@name_44")
		if strings.Contains(m.Text, "name_39") {
			t.Errorf("the last page shows %q", m.Text)
		}
		b.write("/check")
		has(t, b.press("Тихий режим"), "сообщаю только об изменениях")
		if m := b.press("Сообщать всё"); strings.Contains(m.Text, "🔕") {
			t.Errorf("not quiet: %q", m.Text)
		}
		// the button of the message about the start
		has(t, b.press("Только изменения (сейчас до 576 в день)"), "сообщаю только об изменениях")
	})
}

func TestPostsAreShownApprovedPublishedAndCancelled(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		has(t, b.write("/posts"), "No posts today")
		held := b.request(48*time.Hour, posts.Request{Text: "<b>A</b> draft", Format: "html", Hold: true})
		now := b.schedule(time.Hour, "Publish me", false)
		gone := b.schedule(2*time.Hour, "Cancel <b>me</b>", false)
		b.schedule(72*time.Hour, "Another day", false)
		m := b.write("/posts")
		has(t, m, "Today: 2", "Needs approval: 1")
		if len(m.Buttons) != 4 {
			t.Errorf("buttons %+v", m.Buttons)
		}
		has(t, b.press("A draft"), "needs approval", "A draft")
		b.press("Approve")
		has(t, b.press("Approve"), "Will be published at its time", "scheduled")
		if p := b.post(held.ID); p.Held || p.Status != store.PostScheduled {
			t.Errorf("approved: %+v", p)
		}
		b.write("/posts")
		b.press("Publish me")
		b.press("Publish now")
		b.press("No")
		if p := b.post(now.ID); p.Status != store.PostScheduled {
			t.Errorf("asked, and not said yes: %+v", p)
		}
		b.press("Publish now")
		b.press("Publish now")
		if p := b.post(now.ID); p.Status != store.PostPublished {
			t.Errorf("published: %+v", p)
		}
		b.write("/posts")
		b.press("Cancel <b>")
		b.press("Cancel")
		b.press("Cancel")
		if p := b.post(gone.ID); p.Status != store.PostCancelled {
			t.Errorf("cancelled: %+v", p)
		}
		// A button that is out of date says so, and does nothing twice.
		b.hear(platform.Heard{From: admin, MessageID: 1, QueryID: 77, Data: fmt.Sprintf("posts/%d/now/yes", now.ID)})
		has(t, b.shown()[0], "published")
		sent := 0
		for _, m := range b.net.messages {
			if m.Target == "@channel" {
				sent++
			}
		}
		if sent != 1 {
			t.Errorf("%d messages are in the channel", sent)
		}
	})
}

func TestPostsThatNeedApprovalAreShownAtOnce(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		tell := func(made ...store.Post) {
			b.Update(func(tx *store.Tx) error { return b.workers.Posts.TellHeld(tx, made...) })
			b.Pass(time.Second)
		}
		tell(b.schedule(time.Hour, "not this", false))
		if n := len(b.shown()); n != 0 {
			t.Errorf("told of %d posts that need nothing", n)
		}
		held := b.schedule(time.Hour, "first draft", true)
		tell(held)
		has(t, b.shown()[0], "needs approval", "first draft")
		b.press("Approve")
		b.press("Approve")
		if p := b.post(held.ID); p.Held {
			t.Errorf("approved: %+v", p)
		}
		tell(b.schedule(time.Hour, "second draft", true), b.schedule(time.Hour, "third draft", true))
		has(t, b.shown()[1], "Needs approval: 2")
		has(t, b.press("third draft"), "needs approval", "third draft")
	})
}

// The bot says what follows, also if the time of a post has passed.
func TestAPostIsApprovedAfterItsTime(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		once := b.request(time.Hour, posts.Request{Text: "anyway", Hold: true})
		skip := b.request(time.Hour, posts.Request{Text: "in time or never", Hold: true, Lateness: store.Lateness{Policy: store.LateSkip, Grace: 4 * time.Hour}})
		b.Pass(3 * time.Hour)
		b.write("/posts")
		b.press("anyway")
		has(t, b.press("Approve"), "Its time has passed. Approve it and publish it now?")
		has(t, b.press("Approve"), "It is being published.")
		b.write("/posts")
		b.press("in time or never")
		has(t, b.press("Approve"), "Its time has passed. Approve it and publish it now?")
		b.Pass(3 * time.Hour)
		has(t, b.press("Approve"), "It is approved, and skipped")
		b.Pass(time.Minute)
		if first, second := b.post(once.ID).Status, b.post(skip.ID).Status; first != store.PostPublished || second != store.PostSkipped {
			t.Errorf("they are %s and %s", first, second)
		}
		late := b.request(time.Hour, posts.Request{Text: "too late", Hold: true, Lateness: store.Lateness{Policy: store.LateSkip, Grace: time.Minute}})
		b.Pass(2 * time.Hour)
		b.write("/posts")
		for _, row := range b.press("too late").Buttons {
			if strings.Contains(row[0].Text, "Approve") {
				t.Errorf("post %d can be approved, and would be skipped", late.ID)
			}
		}
	})
}

// Between question and answer the post is changed.
func TestNobodyApprovesWhatWasNotShown(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		post := b.schedule(time.Hour, "harmless", true)
		b.write("/posts")
		b.press("harmless")
		has(t, b.press("Approve"), "harmless")
		b.Update(func(tx *store.Tx) error {
			changed, err := tx.Posts.Get(post.ID)
			if err != nil {
				return err
			}
			changed.Text = "something else"
			return tx.Posts.Put(&changed)
		})
		has(t, b.press("Approve"), "The post was changed meanwhile.", "something else")
		if !b.post(post.ID).Held {
			t.Error("it is approved")
		}
		has(t, b.press("Approve"), "Will be published at its time.")
		if b.post(post.ID).Held {
			t.Error("it is held")
		}
	})
}

// One admin is asked whether to publish a post again that has failed; another does, and no answer comes. X would
// publish it twice.
func TestNobodySendsAgainWhatMayBeOutWithoutHavingReadThat(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		post := store.Post{Platform: "twitter", IdentityID: b.login, Target: "@owner", Text: "news", Status: store.PostFailed, ScheduledTime: time.Now().Add(time.Minute)}
		put := func() { b.Update(func(tx *store.Tx) error { return tx.Posts.Put(&post) }) }
		put()
		b.write("/posts")
		b.press("news")
		has(t, b.press("Publish again"), "it does not appear twice")
		post.Status = store.PostUnknown
		put()
		has(t, b.press("Publish again"), "The post was changed meanwhile.", "it may appear twice")
		if status := b.post(post.ID).Status; status != store.PostUnknown {
			t.Errorf("it is %s", status)
		}
		b.press("Send again")
		if status := b.post(post.ID).Status; status == store.PostUnknown {
			t.Error("it was not sent again by who has read that")
		}
	})
}

func TestACancelledPostThatMayBeOutIsSaidToBe(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		post := b.schedule(time.Hour, "perhaps", false)
		b.Update(func(tx *store.Tx) error {
			p, err := tx.Posts.Get(post.ID)
			if err != nil {
				return err
			}
			p.Unsettled = true
			return tx.Posts.Put(&p)
		})
		b.write("/posts")
		b.press("perhaps")
		b.press("Cancel")
		has(t, b.press("Cancel"), "It may have been published")
	})
}

func TestManyPostsAreCountedAndTheFirstShown(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		for i := range 40 {
			b.schedule(time.Duration(i+1)*time.Minute, fmt.Sprint("post ", i), false)
		}
		m := b.write("/posts")
		has(t, m, "Today: 40", "And 28 more")
		if len(m.Buttons) != shownPosts+1 {
			t.Errorf("%d rows of buttons", len(m.Buttons))
		}
	})
}

func TestTheCountOfPostsHasAnEnd(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		b.Update(func(tx *store.Tx) error {
			for range 2 * countedPosts {
				if err := tx.Posts.Put(&store.Post{Target: "@channel", Text: "x", Status: store.PostScheduled, ScheduledTime: tx.Now()}); err != nil {
					return err
				}
			}
			return nil
		})
		has(t, b.write("/posts"), "Today: 200+")
	})
}

func TestBroadcastsArePausedAndGoOn(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		draft, err := b.workers.Tasks.Prepare(tasks.Request{IdentityID: b.login, Text: "<b>Open</b> evening", Format: "html", Targets: []string{"@a_chat", "@bb_chat", "@ccc_chat", "@dddd_chat"}})
		if err != nil {
			t.Fatal(err)
		}
		b.Update(func(tx *store.Tx) error { _, err := b.workers.Tasks.Create(tx, draft); return err })
		b.Pass(time.Second)
		b.write("/tasks")
		has(t, b.press("Open evening"), "1/4", "Sent 1, failed 0, skipped 0", "Next: ", "Open evening")
		has(t, b.press("Pause"), "Paused")
		b.Pass(time.Hour)
		has(t, b.press("Refresh"), "1/4", "Paused")
		b.press("Resume")
		b.Pass(5 * time.Minute)
		shown := b.shown()
		has(t, shown[len(shown)-1], "✅ Broadcast 1", "4/4", "Sent 4, failed 0, skipped 0", "All chats processed.", "Open evening")
		has(t, b.press("Refresh"), "4/4", "▓▓▓▓▓▓▓▓▓▓", "All chats processed.")
	})
}

// A button outlives what it was made for where an older file was restored.
func TestAnOldButtonDoesNothingToWhatHasTheNumberNow(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		draft, err := b.workers.Tasks.Prepare(tasks.Request{IdentityID: b.login, Text: "Open evening", Targets: []string{"@a_chat", "@bb_chat"}})
		if err != nil {
			t.Fatal(err)
		}
		b.Update(func(tx *store.Tx) error { _, err := b.workers.Tasks.Create(tx, draft); return err })
		b.Pass(time.Second)
		b.write("/tasks")
		b.press("Open evening")
		b.press("Pause")
		b.Update(func(tx *store.Tx) error {
			task, err := tx.Tasks.Get(1)
			if err != nil {
				return err
			}
			task.Key, task.Text = platform.NewKey(), "Another broadcast"
			return errors.Join(tx.Tasks.Put(&task),
				tx.Alerts.Add(&store.Alert{Kind: store.AlertDisk, About: "disk", RaisedAt: tx.Now()}),
				b.workers.Notices.Tell(tx, store.Notice{Text: "the disk", Buttons: [][]store.Button{{{Text: "I see it", Data: "alerts/ack/1/abc"}}}}),
				b.workers.Notices.Tell(tx, store.Notice{Text: "many", Buttons: [][]store.Button{{{Text: "I see all", Data: alerts.PressAcknowledgeAll(tx.Now().Add(-time.Second))}}}}),
				b.workers.Notices.Tell(tx, store.Notice{Text: "long ago", Buttons: [][]store.Button{{{Text: "Go on", Data: "tasks/1/resume"}}}}))
		})
		b.Pass(time.Second)
		has(t, b.press("Resume"), "Nothing was done", "Another broadcast", "Paused")
		has(t, b.press("Go on"), "Nothing was done", "Paused")
		has(t, b.press("I see all"), "Acknowledged: 0", "1. The disk is nearly full")
		has(t, b.press("I see it"), "Nothing was done", "1. The disk is nearly full")
		b.write("/alerts")
		has(t, b.press("1. Acknowledge"), "No open alerts")
		b.write("/tasks")
		b.press("Another broadcast")
		if m := b.press("Resume"); strings.Contains(m.Text, "Nothing was done") {
			t.Errorf("the new button shows %q", m.Text)
		}
	})
}

func TestAlertsAreSeen(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		b.Pass(time.Minute)
		for range 3 {
			b.Update(func(tx *store.Tx) error {
				return tx.Posts.Put(&store.Post{Platform: "telegram", Target: "@channel", Text: "x", Status: store.PostFailed,
					Reason: store.Reason{Code: store.ReasonRefused, Detail: "no rights"}, UpdatedAt: tx.Now(), ScheduledTime: tx.Now()})
			})
		}
		b.Pass(time.Minute)
		if n := len(b.shown()); n != 3 {
			t.Fatalf("told %d alerts: %+v", n, b.shown())
		}
		has(t, b.press("Acknowledge"), "Post 3 to @channel was not published", "Acknowledged by Ann")
		has(t, b.write("/status"), "⚠️ Post 2 to @channel")
		m := b.write("/alerts")
		has(t, m, "1. Post 2", "2. Post 1", "Refused: no rights")
		has(t, b.press("1. Acknowledge"), "1. Post 1")
		b.Pass(time.Second)
		has(t, b.press("Menu"), "What would you like to see?")
		b.write("/alerts")
		has(t, b.press("1. Acknowledge"), "No open alerts")
		b.Update(func(tx *store.Tx) error {
			return tx.Alerts.Add(&store.Alert{Kind: store.AlertLogin, About: "login_1", Subject: 1, Name: "main", RaisedAt: tx.Now()})
		})
		b.write("/alerts")
		for _, m := range []platform.Post{b.press("1. Acknowledge"), b.write("/status"), b.write("/alerts")} {
			has(t, m, "No open alerts", "Acknowledged, still active:", "• The account main")
		}
	})
}

// A post is tried again, and fails again before the admin says that the first failure was seen.
func TestAFailureThatWasNotToldIsNotAcknowledgedWithTheOneBefore(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		b.Pass(time.Minute)
		post := store.Post{Platform: "telegram", Target: "@channel", Text: "x", ScheduledTime: time.Now()}
		become := func(status store.PostStatus) {
			b.Update(func(tx *store.Tx) error {
				post.Status, post.Reason, post.UpdatedAt = status, store.Reason{Code: store.ReasonRefused, Detail: "no rights"}, tx.Now()
				return tx.Posts.Put(&post)
			})
			b.Pass(time.Second)
		}
		become(store.PostFailed)
		b.Pass(time.Minute)
		become(store.PostPublishing)
		become(store.PostFailed)
		has(t, b.press("Acknowledge"), "Nothing was done", "1. Post 1")
		before := len(b.shown())
		b.Pass(2 * time.Minute)
		if told := len(b.shown()) - before; told != 1 {
			t.Errorf("told %d times of the second failure", told)
		}
		has(t, b.press("Acknowledge"), "Acknowledged by Ann")
	})
}

func TestASiteThatRefusesForADayIsToldAndShown(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		b.write("/check")
		b.press("Add")
		b.write("anna")
		b.net.blocked = true
		b.Pass(24 * time.Hour)
		told := 0
		for _, m := range b.shown() {
			if strings.Contains(m.Text, "autocheck has failed ") && strings.Contains(m.Text, "⚠️") {
				told++
			}
		}
		if told != 1 {
			t.Errorf("the admin was told %d times", told)
		}
		has(t, b.write("/status"), "⚠️ autocheck has failed ")
	})
}

func TestABackupIsSentSealedAndLeavesNothingBehind(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		has(t, b.write("/backup"), "encrypted with the passphrase")
		has(t, b.press("Send it"), "I make the copy")
		b.write("/backup")
		has(t, b.press("Send it"), "on its way already")
		b.start("en") // the program ends and starts in the middle
		b.Pass(5 * time.Minute)
		if len(b.net.files) != 1 {
			t.Fatalf("%d files were sent: %+v", len(b.net.files), b.shown())
		}
		dir := t.TempDir()
		sealed, to := filepath.Join(dir, "sent.age"), filepath.Join(dir, "restored.db")
		if err := os.WriteFile(sealed, b.net.files[0], 0o600); err != nil {
			t.Fatal(err)
		}
		if problems, err := store.Restore(t.Context(), sealed, to, store.Options{Passphrase: "correct horse"}); err != nil || len(problems) > 0 {
			t.Errorf("what was sent cannot be restored: %v, %v", problems, err)
		}
		if bytes.Contains(b.net.files[0], []byte("@channel")) {
			t.Error("the backup can be read")
		}
		b.Pass(time.Hour)
		if left, err := filepath.Glob(filepath.Join(b.dir, "*", "*")); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
		b.write("/backup")
		b.net.refuse = true
		b.press("Send it")
		b.Pass(time.Hour)
		if left, err := filepath.Glob(filepath.Join(b.dir, "*", "*")); err != nil || len(left) > 0 {
			t.Errorf("after a refusal, left are %v, %v", left, err)
		}
		shown := b.shown()
		has(t, shown[len(shown)-1], "The backup could not be made or sent", "no files here")
	})
}

func TestWhoIsNoAdminAnyMoreGetsNoBackup(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		b.write("/backup")
		b.Stop() // with the press heard, and nothing made
		b.Update(func(tx *store.Tx) error {
			return b.bot.Hear(tx, platform.Heard{From: admin, Name: "Ann", QueryID: 1, MessageID: 1, Data: "backup/yes"})
		})
		b.startFor("en", admin+1)
		b.Pass(time.Hour)
		if len(b.net.files) != 0 {
			t.Errorf("%d backups were sent", len(b.net.files))
		}
		b.startFor("en", admin)
		b.write("/backup")
		has(t, b.press("Send it"), "I make the copy")
		b.Pass(5 * time.Minute)
		if len(b.net.files) != 1 {
			t.Errorf("%d backups were sent to the admin", len(b.net.files))
		}
	})
}

// Its last attempt ended with the program, in the middle of the sealing.
func TestABackupThatIsGivenUpLeavesNoOpenCopy(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		b.write("/backup")
		b.press("Send it")
		b.Pass(time.Second)
		dir := filepath.Join(b.dir, backupsFolder, fmt.Sprint("backup_", admin))
		if err := os.WriteFile(filepath.Join(dir, "belfry.db.age.open"), []byte("sessions"), 0o600); err != nil {
			t.Fatal(err)
		}
		b.Update(func(tx *store.Tx) error {
			job, err := tx.Jobs.ByName(fmt.Sprint("backup_", admin))
			if err != nil {
				return err
			}
			return errors.Join(backer{b.bot}.End(tx, job, store.Reason{Code: store.ReasonGaveUp}), tx.Jobs.Delete(job.ID))
		})
		b.start("en")
		if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 0 {
			t.Errorf("left are %v, %v", left, err)
		}
		sent := len(b.net.files)
		b.write("/backup")
		has(t, b.press("Send it"), "I make the copy")
		b.Pass(5 * time.Minute)
		if len(b.net.files) != sent+1 {
			t.Errorf("%d backups were sent, %d before", len(b.net.files), sent)
		}
	})
}

func TestABackupThatCannotBeMadeIsTold(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		if err := os.WriteFile(filepath.Join(b.dir, backupsFolder), []byte("in the way"), 0o600); err != nil {
			t.Fatal(err)
		}
		b.write("/backup")
		b.press("Send it")
		b.Pass(time.Hour)
		shown := b.shown()
		has(t, shown[len(shown)-1], "The backup could not be made")
	})
}

func TestWithoutAPassphraseNoBackupIsSent(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		b.bot.cfg.Passphrase = ""
		has(t, b.write("/backup"), "BELFRY_BACKUP_PASSPHRASE")
		b.hear(platform.Heard{From: admin, MessageID: 1, QueryID: 1, Data: "backup/yes"})
		b.Pass(time.Hour)
		if len(b.net.files) != 0 {
			t.Error("a backup was sent")
		}
	})
}

func TestALongTextFitsIntoAMessage(t *testing.T) {
	inBubble(t, "en", func(b *bench) {
		post := b.schedule(time.Hour, strings.Repeat("🙂", 4000), false)
		b.write("/posts")
		m := b.press("🙂🙂")
		if units := len([]rune(m.Text)); units > 2100 || units < 1500 || post.ID == 0 {
			t.Errorf("%d characters", units)
		}
	})
}
