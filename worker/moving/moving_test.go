package moving

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/accounts"
	"belfry/worker/channels"
	"belfry/worker/posts"
	"belfry/worker/rules"
	"belfry/worker/setup"
	"belfry/worker/tasks"
)

// network takes everything but texts of more than 4,096 bytes, and counts how often it is asked about a target.
type network struct{ asked int }

func (*network) Check(p platform.Post) (platform.Measure, error) {
	if len(p.Text) > 4096 {
		return platform.Measure{}, &platform.Error{Kind: platform.Refused, Field: "text", Err: errors.New("it is too long: shorten it")}
	}
	return platform.Measure{Length: len(p.Text), Limit: 4096}, nil
}

func (*network) Styled(_ platform.Format, text string) (platform.Styled, error) {
	return platform.Styled{Text: text}, nil
}

func (n *network) Reach(context.Context, uint64, string) error {
	n.asked++
	return nil
}

func (*network) Publisher(uint64) platform.Publisher                              { return nil }
func (*network) Fetchable(context.Context, platform.Post) error                   { return nil }
func (*network) Chats(context.Context, uint64) (chats []platform.Chat, err error) { return nil, nil }
func (*network) Resolve(context.Context, uint64, string) (c platform.Chat, asked bool, err error) {
	return c, false, nil
}

func (*network) Tell(*store.Tx, store.Notice, ...string) error { return nil }

// now is a time after the test's data were written.
var now = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

type bench struct {
	*testing.T
	db      *store.DB
	network *network
	*Worker
}

func start(t *testing.T) *bench {
	t.Helper()
	key := make([]byte, store.KeySize)
	rand.Read(key)
	db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{Key: key, Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if problems, err := db.Verify(); err != nil || len(problems) > 0 {
			t.Errorf("verify: %v, %v", problems, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	n := &network{}
	w := posts.New(db, map[string]posts.Network{"telegram": n}, posts.Config{})
	return &bench{t, db, n, New(db, Workers{
		Posts: w, Rules: rules.New(db, w, rules.Sources{}, rules.Config{}), Tasks: tasks.New(db, n, tasks.Config{}),
		Accounts: accounts.New(db, nil, n, accounts.Config{}), Channels: channels.New(db, nil, channels.Config{}),
		Setup: setup.New(db, setup.Locale{}),
	})}
}

// identities adds a bot and a user account.
func (b *bench) identities() {
	b.Helper()
	b.update(func(tx *store.Tx) error {
		return errors.Join(
			tx.Identities.Put(&store.Identity{Platform: "telegram", Name: "main", Kind: store.IdentityBot, Target: "@city", State: store.IdentityReady, Secret: "1:token"}),
			tx.Identities.Put(&store.Identity{Platform: "telegram", Name: "anna", Kind: store.IdentityUser, State: store.IdentityReady}))
	})
}

func (b *bench) update(fn func(*store.Tx) error) {
	b.Helper()
	if err := b.db.Update(fn); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) view(fn func(*store.Tx) error) {
	b.Helper()
	if err := b.db.View(fn); err != nil {
		b.Fatal(err)
	}
}

// read imports a file as the command does.
func (b *bench) read(name string, publish bool) Report {
	b.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		b.Fatal(err)
	}
	table, _, _ := strings.Cut(name, ".")
	return b.give(table, data, publish)
}

func (b *bench) give(table string, data []byte, publish bool) (all Report) {
	b.Helper()
	for l := range Lines(bytes.NewReader(data)) {
		if l.Err != nil {
			all.Problems = append(all.Problems, Problem{l.Line, l.Err})
			continue
		}
		if l.Table != "" {
			table = l.Table
		}
		report, err := b.Import(b.Context(), Batch{Table: table, Publish: publish, Rows: []Row{l.Row}})
		if err != nil {
			b.Fatal(err)
		}
		all.Made, all.Changed, all.Same = all.Made+report.Made, all.Changed+report.Changed, all.Same+report.Same
		all.Problems, all.Notes = append(all.Problems, report.Problems...), append(all.Notes, report.Notes...)
	}
	return all
}

func (r Report) String() string {
	text := fmt.Sprintf("%d made, %d changed, %d same", r.Made, r.Changed, r.Same)
	for _, p := range r.Problems {
		text += fmt.Sprintf("\n%d: %v", p.Line, p.Err)
	}
	return text
}

func (b *bench) want(got Report, want string) {
	b.Helper()
	if got.String() != want {
		b.Errorf("got  %s\nwant %s", got, want)
	}
}

// The files were written by PostgreSQL 15 from testdata/make.sql: those of each ending say the same.
func TestWhatPostgreSQLWroteIsImportedOnce(t *testing.T) {
	for _, ending := range []string{".csv", ".jsonl"} {
		t.Run(ending, func(t *testing.T) {
			b := start(t)
			b.identities()
			b.want(b.read("content_pieces"+ending, false), "2 made, 0 changed, 0 same\n"+map[string]string{".csv": "5", ".jsonl": "3"}[ending]+": text: invalid.import_no_text")
			b.want(b.read("scheduled_posts"+ending, false), "5 made, 0 changed, 0 same\n"+
				map[string]string{".csv": "7", ".jsonl": "6"}[ending]+": text: invalid.import_no_content 6f1c2a1e-0d51-4b59-9a55-00000000000f\n"+
				map[string]string{".csv": "8", ".jsonl": "7"}[ending]+": platform: invalid.not_in_version vk telegram")
			b.want(b.read("auto_posting_rules"+ending, false), "2 made, 0 changed, 0 same\n"+
				map[string]string{".csv": "4", ".jsonl": "3"}[ending]+": schedule_type: invalid.not_one_of hourly daily, weekly, interval, cron, custom")
			b.want(b.read("userbot_tasks"+ending, false), "4 made, 0 changed, 0 same")
			b.want(b.read("chats"+ending, false), "3 made, 0 changed, 0 same")
			b.want(b.read("accounts"+ending, false), "2 made, 0 changed, 0 same\n"+
				map[string]string{".csv": "4", ".jsonl": "3"}[ending]+": username: invalid.not_username not a name! instagram")
			b.look()
			again := b.read("scheduled_posts"+ending, false)
			if again.Made+again.Changed != 0 || again.Same != 5 {
				t.Errorf("again: %s", again)
			}
			b.look()
		})
	}
}

// The replaced system writes how many chats have a broadcast only when it ends. One that failed on its way goes back to pending.
func TestABroadcastThatWasToBeTakenUpAgainSendsNothing(t *testing.T) {
	b := start(t)
	b.identities()
	row := `{"id":1,"run_at":"2026-11-23 11:00:00","status":"pending","attempts":1,"last_error":"timeout","target_chat_ids":[-1001,-1002],"sent_count":0,"text":"Hello"}`
	b.want(b.give("userbot_tasks", []byte(row), true), "1 made, 0 changed, 0 same")
	b.view(func(tx *store.Tx) error {
		task, err := tx.Tasks.Get(1)
		if task.Status != store.TaskFailed || task.LastError.Code != store.ReasonUnknown || task.Left() != 0 {
			t.Errorf("%+v", task)
		}
		return err
	})
}

func TestABroadcastThatWasDueBeforeTheImportCanBeRetried(t *testing.T) {
	b := start(t)
	b.identities()
	chats := make([]string, 600) // more than one step prepares
	for i := range chats {
		chats[i] = fmt.Sprint(-1001 - i)
	}
	row := `{"id":1,"run_at":"2026-11-23 11:00:00","status":"pending","attempts":0,"target_chat_ids":[` + strings.Join(chats, ",") + `],"text":"Hello"}`
	b.want(b.give("userbot_tasks", []byte(row), false), "1 made, 0 changed, 0 same")
	b.update(func(tx *store.Tx) error {
		task, err := tx.Tasks.Get(1)
		if err != nil || task.Status != store.TaskCancelled || task.Left() != 600 {
			t.Errorf("%+v, %v", task, err)
		}
		n := 0
		for d := range tx.Deliveries.Each() {
			if n++; d.TaskID != 1 {
				t.Errorf("%+v", d)
			}
		}
		if task, err = b.Tasks.Retry(tx, 1); err != nil || task.Left() != 600 || n != 600 {
			t.Errorf("of %d chats: %+v, %v", n, task, err)
		}
		return nil
	})
}

func TestThatOldMessagesAreDeletedIsSaid(t *testing.T) {
	b := start(t)
	b.identities()
	b.Keep = 365 * 24 * time.Hour
	b.give("channels", []byte(`{"id":"c1","tg_channel_id":1234567890,"username":"news"}`), false)
	row := `{"id":%[1]d,"channel_id":"c1","telegram_message_id":%[1]d,"content":"Hello","posted_at":%[2]q}` + "\n"
	if r := b.give("posts", fmt.Appendf(nil, row, 1, "2026-01-01 10:00:00"), false); r.Made != 1 || len(r.Notes) != 0 {
		t.Errorf("%s, %v", r, r.Notes)
	}
	if r := b.give("posts", fmt.Appendf(nil, row, 2, "2025-01-01 10:00:00"), false); r.Made != 1 || len(r.Notes) != 1 || r.Notes[0].Key != "import.old" {
		t.Errorf("%s, %v", r, r.Notes)
	}
}

func TestThatMarkdownReadsOtherwiseHereIsSaid(t *testing.T) {
	b := start(t)
	b.identities()
	row := `{"id":%[1]q,"platform":"telegram","scheduled_time":"2027-01-01 10:00:00","status":"scheduled","text":"*News*","publish_options":{"parse_mode":%[1]q}}`
	for mode, notes := range map[string]int{"HTML": 0, "Markdown": 1, "MarkdownV2": 1} {
		if r := b.give("scheduled_posts", fmt.Appendf(nil, row, mode), false); r.Made != 1 || len(r.Notes) != notes {
			t.Errorf("%s: %s, %v", mode, r, r.Notes)
		}
	}
}

// SQLAlchemy writes None into a column of JSON as null of JSON, which CSV shows as a word.
func TestALineWhoseListsAreNullOfJSONIsImported(t *testing.T) {
	b := start(t)
	b.want(b.give("content_pieces", []byte("id,text,hashtags,media_urls\n1,Hello,null,null\n"), false), "1 made, 0 changed, 0 same")
	b.view(func(tx *store.Tx) error {
		content, err := tx.Contents.Get(1)
		if content.Text != "Hello" || len(content.Media) != 0 {
			t.Errorf("%+v", content)
		}
		return err
	})
}

// look compares what was made with what testdata/make.sql says.
func (b *bench) look() {
	b.Helper()
	check := func(what string, ok bool, got any) {
		b.Helper()
		if !ok {
			b.Errorf("%s: %+v", what, got)
		}
	}
	at := func(text string) time.Time {
		t, err := time.Parse(time.DateTime, text)
		if err != nil {
			b.Fatal(err)
		}
		return t
	}
	b.view(func(tx *store.Tx) error {
		content, err1 := tx.Contents.Get(1)
		check("content", content.Text == "Доброе утро, \"город\"!\nВторая строка, с запятой\n\nЗаходите на огонёк\n\n#утро #двор_наш", content)
		var all []store.Post
		for p := range tx.Posts.All() {
			all = append(all, p)
		}
		if len(all) != 5 {
			b.Fatalf("%d posts", len(all))
		}
		p := all[0]
		check("scheduled", p.Status == store.PostScheduled && p.ScheduledTime.Equal(at("2027-01-05 09:30:00")) && p.Format == "html" && p.Silent &&
			p.Target == "@city" && p.Text == content.Text && p.ContentID == 1, p)
		job, err2 := tx.Jobs.ByName(p.JobName())
		check("its job", job.Due.Equal(p.ScheduledTime), job)
		p = all[1]
		check("published", p.Status == store.PostPublished && p.PublishedAt.Equal(at("2025-11-14 12:01:04").Add(500*time.Millisecond)) && p.MessageIDs[0] == 4711, p)
		p = all[2]
		check("failed", p.Status == store.PostFailed && strings.HasPrefix(p.Reason.Detail, `Chat not found, "sorry"`), p)
		check("overdue", all[3].Status == store.PostSkipped && all[3].Reason.Code == store.ReasonImportedLate, all[3])
		check("cancelled", all[4].Status == store.PostCancelled, all[4])

		rule, err3 := tx.Rules.Get(1)
		check("rule", rule.Name == "Каждый день" && len(rule.Trigger.Weekdays) == 7 && rule.Trigger.Zone == "UTC" && rule.Executions == 12 &&
			rule.Failed == 2 && rule.LastAt.Equal(at("2026-11-20 12:05:03")), rule)
		paused, err4 := tx.Jobs.ByName("rule_2")
		check("paused rule", paused.State == store.JobPaused && paused.Trigger.Zone == "Europe/Moscow", paused)

		task, err5 := tx.Tasks.Get(1)
		check("task", task.Status == store.TaskPending && task.Total == 2 && task.StartAt.Equal(at("2026-12-01 07:00:00")) && task.Text == "Открытый вечер, в 1 час", task)
		done, err6 := tx.Tasks.Get(2)
		check("done", done.Status == store.TaskDone && done.Sent == 1 && done.Failed == 1 && done.Left() == 0, done)
		begun, err7 := tx.Tasks.Get(3)
		check("begun", begun.Status == store.TaskFailed && begun.Left() == 0, begun)
		late, err8 := tx.Tasks.Get(4)
		check("late", late.Status == store.TaskCancelled && late.LastError.Code == store.ReasonImportedLate, late)

		chat, err9 := tx.Chats.ByPeer(2, store.PeerChannel, 1234567890)
		check("chat", chat.Seen == 4 && !chat.Off && chat.LastSuccess.Equal(at("2026-11-20 09:00:00").Add(500*time.Millisecond)), chat)
		group, err10 := tx.Chats.ByPeer(2, store.PeerChat, 100987)
		check("group", group.Off && group.LastError.Detail == "CHAT_WRITE_FORBIDDEN", group)
		a, err11 := tx.Accounts.ByName("instagram", "anna.writes")
		check("account", a.State == store.AccountFound && a.Tag == "friends" && a.Note == `соседка, "пишет"`, a)
		return errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11)
	})
}

func TestARowThatHasChangedChangesWhatItMade(t *testing.T) {
	b := start(t)
	b.identities()
	row := func(at, status, text string) []byte {
		return fmt.Appendf(nil, `{"id":1,"platform":"telegram","scheduled_time":%q,"status":%q,"text":%q}`, at, status, text)
	}
	post := func() (p store.Post) {
		t.Helper()
		b.view(func(tx *store.Tx) (err error) {
			p, err = tx.Posts.Get(1)
			return err
		})
		return p
	}
	b.want(b.give("scheduled_posts", row("2027-01-01T10:00:00", "scheduled", "one"), false), "1 made, 0 changed, 0 same")
	b.want(b.give("scheduled_posts", row("2027-01-02T10:00:00+03:00", "scheduled", "two"), false), "0 made, 1 changed, 0 same")
	if p := post(); p.Text != "two" || p.ScheduledTime.Hour() != 7 || p.Status != store.PostScheduled {
		t.Errorf("%+v", p)
	}
	b.want(b.give("scheduled_posts", row("2027-01-02T10:00:00+03:00", "published", "two"), false), "0 made, 1 changed, 0 same")
	if p := post(); p.Status != store.PostPublished {
		t.Errorf("%+v", p)
	}
	b.view(func(tx *store.Tx) error {
		if job, err := tx.Jobs.ByName("post_1"); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a post that is out has a job: %+v", job)
		}
		return nil
	})
	t.Run("what is under way here is not changed", func(t *testing.T) {
		b.update(func(tx *store.Tx) error {
			p, err := tx.Posts.Get(1)
			p.Status, p.Attempts = store.PostPublishing, 1
			return errors.Join(err, tx.Posts.Put(&p), scheduler.Put(tx, store.Job{Name: "post_1", Kind: "post", Subject: 1, Lane: "telegram:main", Trigger: store.Trigger{At: now}}))
		})
		report := b.give("scheduled_posts", row("2027-01-02T10:00:00+03:00", "failed", "two"), false)
		if len(report.Problems) != 1 || post().Status != store.PostPublishing {
			t.Errorf("%s: %+v", report, post())
		}
		b.update(func(tx *store.Tx) error {
			p, err := tx.Posts.Get(1)
			p.Status = store.PostFailed
			return errors.Join(err, tx.Posts.Put(&p), scheduler.Delete(tx, "post_1"))
		})
	})
}

func TestWhatIsOverdueGoesOutOnlyIfItsOwnerSaysSo(t *testing.T) {
	b := start(t)
	b.identities()
	row := []byte(`{"id":"a","platform":"telegram","scheduled_time":"2026-11-23 11:59:00","status":"scheduled","text":"late"}`)
	b.want(b.give("scheduled_posts", row, false), "1 made, 0 changed, 0 same")
	b.want(b.give("scheduled_posts", row, true), "0 made, 1 changed, 0 same")
	b.view(func(tx *store.Tx) error {
		p, err := tx.Posts.Get(1)
		if p.Status != store.PostScheduled {
			t.Errorf("%+v", p)
		}
		return err
	})
}

// A row that is refused keeps no other one of its batch out, and its network is asked about a target once.
func TestABatchIsTakenButForWhatIsWrong(t *testing.T) {
	b := start(t)
	b.identities()
	batch := Batch{Table: "scheduled_posts", Zone: time.FixedZone("", 3*60*60)}
	for i := range 100 {
		values := map[string]string{"id": fmt.Sprint(i % 98), "platform": "telegram", "scheduled_time": "2027-01-01 10:00", "text": "text"}
		switch i {
		case 17:
			values["scheduled_time"] = "tomorrow"
		case 31:
			values["text"] = strings.Repeat("long ", 1000)
		}
		batch.Rows = append(batch.Rows, Row{Line: i + 2, Values: values})
	}
	report, err := b.Import(t.Context(), batch)
	if err != nil {
		t.Fatal(err)
	}
	b.want(report, "96 made, 0 changed, 0 same\n19: scheduled_time: invalid.import_time tomorrow\n33: text: invalid.refused it is too long: shorten it\n"+
		"100: conflict.imported_twice 0\n101: conflict.imported_twice 1")
	if b.network.asked != 1 {
		t.Errorf("the network was asked %d times", b.network.asked)
	}
	b.view(func(tx *store.Tx) error {
		p, err := tx.Posts.Get(1)
		if p.ScheduledTime.Hour() != 7 {
			t.Errorf("a time in the zone of the import: %v", p.ScheduledTime)
		}
		return err
	})
}

func TestArraysOfPostgreSQL(t *testing.T) {
	for text, want := range map[string]string{
		`{}`: ``, `{a,b}`: `a|b`, `{"a b","c,d"}`: `a b|c,d`, `{"say \"hi\"","back\\slash"}`: `say "hi"|back\slash`, `{NULL,"NULL",-100}`: `NULL|-100`,
		`["a", 5]`: `a|5`, `[]`: ``, ``: ``,
	} {
		r := &reader{values: map[string]string{"a": text}, report: &Report{}}
		if got := strings.Join(r.list("a"), "|"); got != want || r.err != nil {
			t.Errorf("%s: %s, %v", text, got, r.err)
		}
	}
	for _, text := range []string{`a,b`, `{"a`, `{"a"`, `[{"a":1}]`, `["a"`} {
		r := &reader{values: map[string]string{"a": text}, report: &Report{}}
		if got := r.list("a"); r.err == nil {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// Channels go on where the replaced system was, and have what it has read of them. Rows that cannot be taken say why.
func TestChannelsAndWhatWasReadOfThemAreImported(t *testing.T) {
	b := start(t)
	if r := b.give("channels", []byte("id,tg_channel_id,username\n1,5,news\n"), false); len(r.Problems) != 1 || r.Made != 0 {
		t.Fatalf("without an account: %+v", r)
	}
	b.identities()
	b.update(func(tx *store.Tx) error { return tx.Streams.Join("tag", store.TopicParsed, "stage_tag") })
	rows := "id,tg_channel_id,username,title,is_active,last_parsed_at,created_at\n" +
		"a1,1500000001,prostopropivo,Просто про пиво,t,2025-11-26 20:55:25.123+00,2025-09-01 10:00:00+00\n" +
		"a2,-1001500000002,,\"Закрытый, старый\",f,,2025-09-01 10:00:00+00\n" +
		"a3,beer,beer,Beer,t,,\n"
	if r := b.give("channels", []byte(rows), false); r.Made != 2 || len(r.Problems) != 1 || r.Problems[0].Line != 4 {
		t.Fatalf("%+v", r)
	}
	read := "id,channel_id,telegram_message_id,content,posted_at,created_at\n" +
		"p1,a1,17,\"Первая\nновость \",2025-11-26 20:50:00+00,2025-11-26 20:55:25+00\n" +
		"p2,a1,18,,2025-11-26 20:51:00,2025-11-26 20:55:25\n" +
		"p3,a9,1,Чужая,2025-11-26 20:50:00+00,\n" +
		"p4,a1,0,Ничья,2025-11-26 20:50:00+00,\n" +
		"p5,a1,19,Без времени,,\n"
	for i, made := range []int{2, 0} {
		r := b.give("posts", []byte(read), false)
		if r.Made != made || r.Made+r.Same != 2 || len(r.Problems) != 3 {
			t.Errorf("%d: %+v", i, r)
		}
	}
	b.view(func(tx *store.Tx) error {
		c, err1 := tx.Channels.ByPeer(1500000001)
		m, err2 := tx.Messages.ByMessage(c.ID, 17)
		second, err3 := tx.Channels.ByPeer(1500000002)
		job, err4 := tx.Jobs.ByName(c.JobName())
		if !c.Active || c.Title != "Просто про пиво" || !c.Since.Equal(time.Date(2025, 11, 26, 20, 55, 25, 123e6, time.UTC)) || !c.Place.Unmet || job.Subject != c.ID {
			t.Errorf("%+v, %+v", c, job)
		}
		if second.Active || second.Title != "Закрытый, старый" {
			t.Errorf("%+v", second)
		}
		if m.Text != "Первая\nновость " || !m.Date.Equal(time.Date(2025, 11, 26, 20, 50, 0, 0, time.UTC)) || tx.Streams.Head(store.TopicParsed) != 2 {
			t.Errorf("%+v", m)
		}
		return errors.Join(err1, err2, err3, err4)
	})
}

// A rule that was imported and deleted here is executed there: its row stops no other one.
func TestARowWhoseRuleWasDeletedIsReportedAndKeepsNoOtherOneOut(t *testing.T) {
	b := start(t)
	b.identities()
	rows := func(lastExecution string) []byte {
		text := ""
		for id := range 3 {
			text += fmt.Sprintf(`{"id":%d,"name":"rule %[1]d","schedule_type":"daily","schedule_config":{"times":["12:05"]},"content_config":{"title":"t","description":"d"},"platforms":["telegram"],"last_execution_at":%q}`+"\n", id+1, lastExecution)
		}
		return []byte(text)
	}
	b.want(b.give("auto_posting_rules", rows("2026-11-20 12:05:03"), false), "3 made, 0 changed, 0 same")
	b.update(func(tx *store.Tx) error { return b.Rules.Remove(tx, 1) })
	b.want(b.give("auto_posting_rules", rows("2026-11-21 12:05:03"), false), "0 made, 2 changed, 0 same\n1: conflict.import_deleted")
}

func TestATextThatIsCorrectedThereReachesItsScheduledPost(t *testing.T) {
	b := start(t)
	b.identities()
	post := []byte(`{"id":1,"platform":"telegram","content_id":"c1","scheduled_time":"2027-01-05T09:30:00","status":"scheduled"}`)
	for i, text := range []string{"price 100", "price 200"} {
		b.give("content_pieces", fmt.Appendf(nil, `{"id":"c1","title":"t","text":%q}`, text), false)
		b.want(b.give("scheduled_posts", post, false), fmt.Sprintf("%d made, %d changed, 0 same", 1-i, i))
		b.want(b.give("scheduled_posts", post, false), "0 made, 0 changed, 1 same")
		b.view(func(tx *store.Tx) error {
			p, err := tx.Posts.Get(1)
			if p.Text != text {
				t.Errorf("the content says %q, its post %q", text, p.Text)
			}
			return err
		})
	}
}
