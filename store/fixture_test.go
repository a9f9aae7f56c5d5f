package store

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"
)

// unpack writes a file of testdata to a new directory and returns its path.
func unpack(t *testing.T, name string) string {
	t.Helper()
	packed, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	in, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "belfry.db")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

// The file was written by the first schema, with a few rows in every table, and is never changed.
func TestAFileOfTheFirstSchemaOpensForEver(t *testing.T) {
	path := unpack(t, "schema1.db.gz")
	db, err := Open(path, Options{Verifier: verifier(), Key: testKey(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mustVerify(t, db)
	at := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	err = db.View(func(tx *Tx) error {
		identity, err1 := tx.Identities.ByName("telegram", "second")
		session, err2 := tx.Sessions.Of(1)
		content, err3 := tx.Contents.Get(3)
		post, err4 := tx.Posts.Get(1)
		job, err5 := tx.Jobs.ByName("autocheck")
		hold, err6 := tx.Holds.ByLane("telegram:main")
		token, err7 := tx.Tokens.ByHash([]byte("hash of a token"))
		answer, err8 := tx.Idempotency.ByKey([]byte("key"))
		signIn, err9 := tx.SignIns.ByHash([]byte("hash of a cookie"))
		password, err10 := tx.Settings.Value("password")
		runs, err11 := tx.Runs.Of("autocheck", Query{})
		peers := collect(tx.Peers.Of(1), 10)
		if err := errors.Join(err1, err2, err3, err4, err5, err6, err7, err8, err9, err10, err11); err != nil {
			return err
		}
		for what, ok := range map[string]bool{
			"identity": identity.ID == 2 && identity.Secret == "1:second" && identity.State == IdentityReady,
			"session":  string(session.Data) == "\x01\x02\x03",
			"content":  content.Title == "third" && content.Media[0].URL == "https://example.org/a.jpg",
			"post":     post.Key == 99 && post.ScheduledTime.Equal(at.Add(time.Hour)) && post.Status == PostScheduled,
			"job":      job.State == JobPaused && job.Trigger.Zone == "Europe/Berlin" && job.Failures == 2,
			"hold":     hold.Until.Equal(at.Add(time.Minute)) && hold.Reason.Code == ReasonFlood,
			"token":    token.Name == "script",
			"answer":   string(answer.Body) == `{"id":1}`,
			"sign-in":  signIn.CSRF == "csrf",
			"setting":  password == "hash of a password",
			"run":      len(runs.Items) == 1 && runs.Items[0].Reason.Detail == "no answer",
			"peer":     len(peers) == 1 && peers[0].AccessHash == -77 && peers[0].Title == "Канал",
		} {
			if !ok {
				t.Errorf("the %s is not what was written", what)
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	next := Content{Text: "new", Format: "plain"}
	mustUpdate(t, db, func(tx *Tx) error { return tx.Contents.Put(&next) })
	if next.ID != 4 {
		t.Errorf("the next content has id %d", next.ID)
	}
}

// The file was written by the sixth schema, the last one whose jobs and runs are JSON, and is never changed.
func TestAFileWithoutPackedRowsOpensForEver(t *testing.T) {
	db, err := Open(unpack(t, "schema6.db.gz"), Options{Verifier: verifier(), Key: testKey(1)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	mustVerify(t, db)
	at := time.Date(2026, 11, 20, 8, 30, 0, 0, time.UTC)
	want := []Job{
		{ID: 1, Name: "post_1", Kind: "post", Subject: 1, Lane: "telegram:main", Trigger: Trigger{At: at.Add(time.Hour)},
			Lateness: Lateness{Policy: LateSkip, Grace: time.Hour}, State: JobWaiting, Due: at.Add(time.Hour), Occurrence: at.Add(time.Hour),
			Reason: Reason{Code: ReasonRetry, Detail: "no answer", N: 1, Of: 3}, Attempt: 1},
		{ID: 2, Name: "task_1", Kind: "task", Subject: 1, Lane: "telegram:main", Trigger: Trigger{At: at}, State: JobRunning,
			Started: at, Due: at, Occurrence: at, LeaseEnd: at.Add(time.Minute), Attempt: 1},
		{ID: 3, Name: "autocheck", Kind: "check", Lane: "check",
			Trigger: Trigger{Times: []string{"09:00", "18:30:15"}, Weekdays: []int{1, 5}, Zone: "Europe/Moscow"}, State: JobPaused, Timeout: time.Hour,
			LastRun: at.Add(-time.Hour), LastResult: ResultFailed, LastReason: Reason{Code: ReasonError, Detail: "went wrong"}, Failures: 2},
		{ID: 4, Name: "backup", Kind: "backup", Lane: "backup", Trigger: Trigger{Cron: "0 3 * * *"}, State: JobSetAside,
			Reason: Reason{Code: ReasonUnknownKind, Detail: "backup"}},
	}
	run := Run{ID: 1, Job: "autocheck", Kind: "check", Lane: "check", Occurrence: at.Add(-time.Hour), Started: at.Add(-time.Hour), Ended: at,
		Attempt: 3, Result: ResultFailed, Reason: Reason{Code: ReasonError, Detail: "went wrong"}, Missed: 4, Next: at.Add(time.Hour)}
	same := func(when string) {
		err := db.View(func(tx *Tx) error {
			if jobs := collect(tx.Jobs.All(), 10); !reflect.DeepEqual(jobs, want) {
				t.Errorf("%s: %+v", when, jobs)
			}
			if got, err := tx.Runs.Get(1); err != nil || !reflect.DeepEqual(got, run) {
				t.Errorf("%s: %v, %+v", when, err, got)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	same("as JSON")
	mustUpdate(t, db, func(tx *Tx) error {
		for i := range want {
			if err := tx.Jobs.Put(&want[i]); err != nil {
				return err
			}
		}
		return tx.Runs.Put(&run)
	})
	same("packed")
	mustVerify(t, db)
}

func TestABackupOfAnOlderVersionIsRestored(t *testing.T) {
	to := filepath.Join(t.TempDir(), "belfry.db")
	problems, err := Restore(t.Context(), unpack(t, "schema1.db.gz"), to, Options{Verifier: verifier(), Key: testKey(1)})
	if err != nil || len(problems) > 0 {
		t.Fatal(problems, err)
	}
	if left, _ := filepath.Glob(to + "*"); len(left) != 1 {
		t.Errorf("there are %v", left)
	}
}
