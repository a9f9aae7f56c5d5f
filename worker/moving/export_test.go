package moving

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
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
		return errors.Join(err1, err2, err3, err4, err5, tx.Posts.Put(&post), tx.Jobs.Put(&job),
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
	for _, secret := range []string{"1:token", "hash"} {
		if strings.Contains(exported, `"`+secret) {
			t.Errorf("%s is exported", secret)
		}
	}
	n := strings.Count(exported, "\n")
	to.want(to.give("", []byte(exported), false), fmt.Sprintf("%d made, 0 changed, 0 same", n))
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
	to.read("userbot_tasks.csv", false) // its rows are known there, too
	to.update(func(tx *store.Tx) error {
		draft, err := to.Tasks.Prepare(tasks.Request{Text: "another", Targets: []string{"@somebody"}, IdentityID: 2})
		if err == nil {
			_, err = to.Tasks.Create(tx, draft)
		}
		return err
	})
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
