package moving

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/accounts"
	"belfry/worker/tasks"
)

// fill writes what a file in use has: of every table, and some of it under way.
func (b *bench) fill() {
	b.Helper()
	b.identities()
	b.read("content_pieces.csv", false)
	b.read("scheduled_posts.csv", false)
	b.read("auto_posting_rules.csv", false)
	b.read("userbot_tasks.csv", false)
	b.read("chats.csv", false)
	b.read("accounts.csv", false)
	b.give("channels", []byte("id,tg_channel_id,username\na1,1500000001,city_news\n"), false)
	b.give("posts", []byte("id,channel_id,telegram_message_id,content,posted_at\np1,a1,17,first,2026-11-20 20:50:00+00\n"), false)
	w, err := b.db.WriteMedia()
	if err != nil {
		b.Fatal(err)
	}
	picture := make([]byte, 100_000)
	for i := range picture {
		picture[i] = byte(rand.Uint32())
	}
	if _, err := w.Write(picture); err != nil {
		b.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		b.Fatal(err)
	}
	var targets []string
	for i := range 600 { // more than are written at once
		targets = append(targets, fmt.Sprint(-1000+i))
	}
	draft, err := b.Tasks.Prepare(tasks.Request{Text: "to many", Targets: targets, IdentityID: 2})
	if err != nil {
		b.Fatal(err)
	}
	b.update(func(tx *store.Tx) error {
		_, err1 := tx.Media.Finish(store.MediaFile{ID: w.ID(), Name: "photo.jpg", Kind: "photo", Type: "image/jpeg", SHA256: w.Sum()}, []byte("thumbnail"))
		_, err2 := b.Tasks.Create(tx, draft)
		post, err3 := tx.Posts.Get(1)
		post.Media, post.Status, post.Attempts, post.State = []store.Media{{Kind: "photo", ID: w.ID()}}, store.PostPublishing, 1, []byte(`{"ids":[1]}`)
		job, err4 := tx.Jobs.ByName("post_1")
		job.State, job.Started, job.LeaseEnd = store.JobRunning, now, now.Add(time.Minute)
		_, err5 := b.Accounts.Add(tx, accounts.Request{Username: "natgeo"})
		booking := store.Booking{IdentityID: 1, Client: "@eve", Service: "cut", Start: now.Add(time.Hour), Status: store.BookingBooked, Zone: "UTC", Code: "c"}
		booking.Reminders = []store.BookingReminder{{BookingMessage: store.BookingMessage{At: now.Add(time.Minute), State: store.MessageWaiting}}}
		booking.Feedback.BookingMessage = store.BookingMessage{At: now.Add(2 * time.Hour), State: store.MessageWaiting}
		err6 := tx.Bookings.Put(&booking)
		for _, job := range booking.Jobs() {
			err6 = errors.Join(err6, scheduler.Put(tx, job))
		}
		hook := store.OwnJob{Title: "nightly", Trigger: store.Trigger{Every: time.Hour}, Action: store.Action{Type: store.ActionWebhook, URL: "https://example.org", Secret: "whsec_job"}}
		err7 := tx.OwnJobs.Put(&hook)
		return errors.Join(err1, err2, err3, err4, err5, err6, err7, tx.Posts.Put(&post), tx.Jobs.Put(&job),
			scheduler.Put(tx, store.Job{Name: hook.JobName(), Kind: store.OwnJobKind, Subject: hook.ID, Lane: "hook", Trigger: hook.Trigger}),
			tx.Watches.Put(&store.Watch{Name: "eve", Query: "eve", Action: store.WatchWebhook, URL: "https://example.org", Secret: "whsec_watch", Active: true, CreatedAt: now}),
			tx.TagRules.Put(&store.TagRule{Name: "beer", Keywords: []string{"beer"}, CreatedAt: now}),
			tx.Peers.Put(&store.Peer{IdentityID: 1, Type: store.PeerUser, PeerID: 4001, AccessHash: 7, Username: "eve", Wrote: true, UpdatedAt: now}),
			tx.Peers.Put(&store.Peer{IdentityID: 1, Type: store.PeerUser, PeerID: 4002, AccessHash: 8, UpdatedAt: now}),
			tx.FeedMemories.Put(&store.FeedMemory{RuleID: 1, Marks: []byte("12345678")}),
			tx.Settings.Set("accounts.rules", "{}"), tx.Settings.Set("password", "hash"),
			tx.AccountResults.Put(&store.AccountResult{AccountID: 1, Outcome: store.OutcomeFound, State: store.AccountFound, From: now, To: now, Times: 3}),
			scheduler.Put(tx, store.Job{Name: "media", Kind: "media", Lane: "media", Trigger: store.Trigger{Every: time.Hour}}))
	})
}

func (b *bench) export() string {
	b.Helper()
	var out strings.Builder
	b.view(func(tx *store.Tx) error { return Export(tx, &out) })
	return out.String()
}

func TestAnExportInAnEmptyFileIsExportedTheSame(t *testing.T) {
	from, to := start(t), start(t)
	from.fill()
	exported := from.export()
	for _, table := range tables() {
		if !strings.Contains(exported, `{"table":"`+table.name+`"`) {
			t.Errorf("nothing of %s is exported", table.name)
		}
	}
	for _, secret := range []string{"1:token", "hash", "whsec"} {
		if strings.Contains(exported, `"`+secret) {
			t.Errorf("%s is exported", secret)
		}
	}
	n := strings.Count(exported, "\n")
	imported := to.give("", []byte(exported), false)
	to.want(imported, fmt.Sprintf("%d made, 0 changed, 0 same", n))
	for _, hook := range []string{"nightly", "eve"} {
		if !slices.ContainsFunc(imported.Notes, func(s store.Sentence) bool { return s.Key == "import.secret" && s.Args[0] == hook }) {
			t.Errorf("nothing is said of the secret of %s: %v", hook, imported.Notes)
		}
	}
	to.update(scheduler.ResumeAll)
	if again := to.export(); again != exported {
		t.Errorf("the second export is another one:\n%s", firstDifference(exported, again))
	}
	to.want(to.give("", []byte(exported), false), fmt.Sprintf("0 made, 0 changed, %d same", n))
	file, err := to.db.OpenMedia(1)
	if err != nil {
		t.Fatal(err)
	}
	was, err := from.db.OpenMedia(1)
	if err != nil {
		t.Fatal(err)
	}
	got, err1 := io.ReadAll(file)
	want, err2 := io.ReadAll(was)
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the uploaded file has %d bytes instead of %d: %v", len(got), len(want), err)
	}
	to.view(func(tx *store.Tx) error {
		if p, err := tx.Peers.ByPeer(1, store.PeerUser, 4001); err != nil || !p.Wrote {
			t.Errorf("the bot does not know that its client has written to it: %+v, %v", p, err)
		}
		if _, err := tx.Peers.ByPeer(1, store.PeerUser, 4002); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a peer that the bot finds again was exported: %v", err)
		}
		job, err := tx.OwnJobs.Get(1)
		if job.Sealed == "" {
			t.Error("a webhook that was signed is not signed any more")
		}
		d, err2 := tx.Documents.OfMessage(1)
		if len(d.Terms) == 0 {
			t.Error("a message cannot be found")
		}
		for _, name := range []string{"reminder_1", "feedback_1", "channel_1", "job_1"} {
			_, there := tx.Jobs.ByName(name)
			err = errors.Join(err, there)
		}
		return errors.Join(err, err2)
	})
	to.read("userbot_tasks.csv", false) // its rows are known there, too
	to.update(func(tx *store.Tx) error {
		draft, err := to.Tasks.Prepare(tasks.Request{Text: "another", Targets: []string{"@somebody"}, IdentityID: 2})
		if err == nil {
			_, err = to.Tasks.Create(tx, draft)
		}
		return err
	})
}

// What is imported runs when all of it is there, and the other system is off.
func TestAnImportOfAnExportPausesEverythingWithItsFirstRow(t *testing.T) {
	from, to := start(t), start(t)
	from.identities()
	first, _, _ := strings.Cut(from.export(), "\n")
	paused := func() (n int) {
		to.view(func(tx *store.Tx) error {
			for _, name := range []string{store.Paused, store.Restored} {
				if why, err := tx.Settings.Value(name); err != nil || why != "" {
					n++
				}
			}
			return nil
		})
		return n
	}
	if r := to.give("", []byte(first), false); paused() != 2 || len(r.Notes) != 1 || r.Notes[0].Key != "import.paused" {
		t.Errorf("it is not paused, or that is not said: %v", r.Notes)
	}
	to.update(scheduler.ResumeAll)
	if to.give("", []byte(first), false); paused() != 0 {
		t.Error("what makes nothing pauses everything")
	}
}

// Each table is exported, or is known not to be: secrets, histories, and what is found out again.
func TestEachTableIsExportedOrKnownNotToBe(t *testing.T) {
	not := strings.Fields("sessions tokens sign_ins idempotency runs audit alerts notices holds paces streams account_checks account_sites " +
		"photos documents vectors watch_hits")
	for _, field := range reflect.VisibleFields(reflect.TypeFor[store.Tx]()) {
		if !field.IsExported() {
			continue
		}
		name := strings.ToLower(regexp.MustCompile("([a-z])([A-Z])").ReplaceAllString(field.Name, "${1}_$2"))
		if slices.ContainsFunc(tables(), func(t table) bool { return t.name == name }) == slices.Contains(not, name) {
			t.Errorf("%s must be exported, or be named here", name)
		}
	}
}

// An import that was cut off is given again. What has changed since, its owner has changed.
func TestAnExportNeverReplacesWhatIsThere(t *testing.T) {
	from, to := start(t), start(t)
	from.fill()
	exported := from.export()
	half := exported[:strings.LastIndex(exported[:len(exported)*2/3], "\n")+1]
	to.give("", []byte(half), false)
	to.update(func(tx *store.Tx) error {
		p, err := tx.Posts.Get(5)
		p.Text = "changed here"
		return errors.Join(err, tx.Posts.Put(&p))
	})
	to.want(to.give("", []byte(exported), false), fmt.Sprintf("%d made, 0 changed, %d same", strings.Count(exported, "\n")-strings.Count(half, "\n"), strings.Count(half, "\n")-1)+
		fmt.Sprintf("\n%d: conflict.import_other posts 5", lineOf(exported, `{"table":"posts","row":{"id":5,`)))
}

// A list may be as long as the page takes it.
func TestARuleWithALongListIsExportedAndImported(t *testing.T) {
	from, to := start(t), start(t)
	from.identities()
	from.read("auto_posting_rules.csv", false)
	from.update(func(tx *store.Tx) error {
		r, err := tx.Rules.Get(1)
		r.Content = store.RuleContent{Source: "list", Order: "circle"}
		for i := range 5000 {
			r.Content.Items = append(r.Content.Items, fmt.Sprint(i, " ", strings.Repeat("слово ", 80)))
		}
		return errors.Join(err, tx.Rules.Put(&r))
	})
	exported := from.export()
	to.want(to.give("", []byte(exported), false), fmt.Sprintf("%d made, 0 changed, 0 same", strings.Count(exported, "\n")))
}

// Where it is exported nothing is known of the messages that wait for stages but the messages themselves.
func TestAMessageThatWaitsForStagesPassesThemAfterAnImport(t *testing.T) {
	const done = store.StageDone
	for _, c := range []struct {
		name        string
		index, more string
		events      uint64
	}{
		{"not begun", "", "", 1},
		{"under way", "", done, 1},
		{"tried again", store.StageRetrying, done, 1},
		{"parked", store.StageParked, done, 0},
		{"done", done, done, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			from, to := start(t), start(t)
			from.identities()
			from.give("channels", []byte("id,tg_channel_id,username\na1,1500000001,city_news\n"), false)
			from.give("posts", []byte("id,channel_id,telegram_message_id,content,posted_at\np1,a1,17,first,2026-11-20 20:50:00+00\n"), false)
			from.update(func(tx *store.Tx) error {
				m, err := tx.Messages.Get(1)
				for stage, state := range map[string]string{"vision": c.more, "tag": c.more, "enrich": c.more, "album": c.more, "index": c.index} {
					if state != "" {
						m.Stages[stage] = store.StageState{State: state, At: now}
					}
				}
				return errors.Join(err, tx.Messages.Put(&m))
			})
			exported := from.export()
			for range 2 { // and once only
				to.give("", []byte(exported), false)
				to.view(func(tx *store.Tx) error {
					if n := tx.Streams.Head(store.TopicParsed); n != c.events {
						t.Errorf("%d events instead of %d", n, c.events)
					}
					return nil
				})
			}
		})
	}
}

func lineOf(text, begin string) int {
	return strings.Count(text[:strings.Index(text, begin)], "\n") + 1
}

func firstDifference(a, b string) string {
	one, other := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(one), len(other)) {
		if one[i] != other[i] {
			return one[i] + "\n" + other[i]
		}
	}
	return fmt.Sprintf("%d lines and %d", len(one), len(other))
}

// An account that was connected before the import has listed its chats, in another order.
func TestChatsThatWereOnlyListedGiveWayToThoseOfAnExport(t *testing.T) {
	from, to := start(t), start(t)
	chat := func(peer int64) store.Chat {
		return store.Chat{IdentityID: 2, Type: store.PeerChannel, PeerID: peer, Title: fmt.Sprint(peer), ListedAt: now}
	}
	off, sent := chat(101), chat(102)
	off.Off, sent.LastSuccess = true, now
	for b, chats := range map[*bench][]store.Chat{from: {off, sent, chat(103)}, to: {chat(109), chat(101), chat(102), chat(103)}} {
		b.identities()
		b.update(func(tx *store.Tx) (err error) {
			for _, c := range chats {
				err = errors.Join(err, tx.Chats.Put(&c))
			}
			return err
		})
	}
	exported := from.export()
	if r := to.give("", []byte(exported), false); len(r.Problems) > 0 {
		t.Errorf("rejected: %+v", r.Problems)
	}
	to.view(func(tx *store.Tx) error {
		for i, want := range []store.Chat{off, sent, chat(103)} {
			want.ID = uint64(i + 1)
			if got, err := tx.Chats.Get(want.ID); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%+v, %v instead of %+v", got, err, want)
			}
		}
		_, err := tx.Jobs.ByName("chat_list_2") // has 109 again
		return err
	})
	if r := to.give("", []byte(exported), false); len(r.Problems) > 0 || r.Made > 0 {
		t.Errorf("once more: %+v", r)
	}
}
