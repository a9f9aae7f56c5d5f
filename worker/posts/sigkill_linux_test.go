package posts

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/platform/instagram"
	"belfry/platform/instagram/instagramtest"
	"belfry/platform/x"
	"belfry/platform/x/xtest"
	"belfry/scheduler"
	"belfry/store"
)

var long = flag.Bool("long", false, "run the long forms of the tests")

// victim is what a process that is to be killed is told.
type victim struct {
	file, x, instagram string
	account            int64         // on Instagram
	now                time.Time     // when it begins
	stage              store.Stage   // it kills itself there, in the commit with this number; 0: it does not
	commit             int           //
	after              time.Duration // 0 or when it is killed from outside
}

func (v victim) environment() []string {
	return append(os.Environ(), "VICTIM_FILE="+v.file, "VICTIM_X="+v.x, "VICTIM_INSTAGRAM="+v.instagram, fmt.Sprint("VICTIM_ACCOUNT=", v.account),
		fmt.Sprint("VICTIM_NOW=", v.now.UnixNano()), "VICTIM_STAGE="+string(v.stage), fmt.Sprint("VICTIM_COMMIT=", v.commit))
}

// TestVictim publishes the posts of a file in the time of a bubble, as a process of its own. It ends when all have ended.
func TestVictim(t *testing.T) {
	file := os.Getenv("VICTIM_FILE")
	if file == "" {
		return // another test begins it
	}
	number := func(name string) int64 {
		n, err := strconv.ParseInt(os.Getenv(name), 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	begin, stage, last := time.Unix(0, number("VICTIM_NOW")), store.Stage(os.Getenv("VICTIM_STAGE")), number("VICTIM_COMMIT")
	synctest.Test(t, func(t *testing.T) {
		ahead := time.Until(begin)
		now := func() time.Time { return time.Now().Add(ahead) }
		var commits int64
		db, err := store.Open(file, store.Options{Now: now, Commit: func(s store.Stage) error {
			if s == store.BeforeCommit {
				commits++
			}
			if s == stage && commits == last {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {}
			}
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		open := func(id uint64) (platform.MediaFile, error) {
			r, err := db.OpenMedia(id)
			return platform.MediaFile{ReadCloser: r, Name: r.File().Name, Type: r.File().Type, Size: r.File().Size}, err
		}
		onX, err1 := x.New(x.Config{URL: os.Getenv("VICTIM_X"), Now: now, Media: open,
			Keys: keysOf(t, x.Login{ConsumerKey: "ck", ConsumerSecret: "cs", AccessToken: "at", AccessSecret: "as", UserID: 1000})})
		gram, err2 := instagram.New(instagram.Config{URL: os.Getenv("VICTIM_INSTAGRAM"), Now: now,
			Keys: keysOf(t, instagram.Login{Token: "IGAA", UserID: os.Getenv("VICTIM_ACCOUNT")})})
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		w := New(db, map[string]Network{x.Platform: onX, instagram.Platform: gram}, Config{Attempts: 10})
		s := scheduler.New(db, scheduler.Config{Kinds: w.Module().Kinds, Now: now, Drain: time.Millisecond, Log: zerolog.Nop()})
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		limit := now().Add(50 * time.Minute)
		for waiting := true; waiting; {
			if time.Sleep(time.Second); now().After(limit) {
				t.Fatal("the posts do not end")
			}
			waiting = false
			err := db.View(func(tx *store.Tx) error {
				for p := range tx.Posts.All() {
					waiting = waiting || !p.Status.Final()
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if err := errors.Join(<-ended, db.Close()); err != nil {
			t.Error(err)
		}
		fmt.Println("commits:", commits)
	})
}

// run runs a process until it ends or is killed, and returns how many commits it has made if it ended by itself.
func (v victim) run(t *testing.T) (commits int, done bool) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestVictim$", "-test.timeout=2m")
	cmd.Env = v.environment()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if v.after > 0 {
		timer := time.AfterFunc(v.after, func() { _ = cmd.Process.Kill() })
		defer timer.Stop()
	}
	err = cmd.Wait()
	if e, ok := errors.AsType[*exec.ExitError](err); ok && e.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return 0, false
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	_, rest, _ := strings.Cut(out.String(), "commits: ")
	if _, err := fmt.Sscan(rest, &commits); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return commits, true
}

// killed has a film published on X and an album on Instagram by processes that are killed, one after the other, and
// judges what has come of it. It returns how many commits the last process has made.
func killed(t *testing.T, silent bool, kills ...victim) int {
	t.Helper()
	var clock atomic.Int64
	now := func() time.Time { return time.Unix(0, clock.Load()) }
	clock.Store(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC).UnixNano())
	onX, gram := xtest.NewServer(xtest.Options{Processing: 1, Now: now}), instagramtest.NewServer(instagramtest.Options{Now: now})
	defer onX.Close()
	defer gram.Close()
	onX.AddUser(xtest.User{Username: "me", ConsumerKey: "ck", ConsumerSecret: "cs", AccessToken: "at", AccessSecret: "as"})
	account := gram.AddAccount(instagramtest.Account{Username: "me", Token: "IGAA"})
	if silent {
		for range 100 { // what is out cannot be looked for
			onX.Fail(xtest.Fault{Call: xtest.Timeline, Status: 403, Body: `{"title":"Forbidden"}`})
		}
	}
	file := filepath.Join(t.TempDir(), "belfry.db")
	filled(t, file, now)
	commits := 0
	for i, v := range append(kills, victim{}) {
		v.file, v.x, v.instagram, v.account = file, onX.URL, gram.URL, account.ID
		v.now = now().Add(time.Hour)
		clock.Store(v.now.UnixNano())
		n, done := v.run(t)
		if i == len(kills) && !done {
			t.Fatal("the last process was killed, too")
		}
		commits = n
	}
	db, err := store.Open(file, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if problems, err := db.Verify(); err != nil || len(problems) > 0 {
		t.Errorf("verify: %v, %v", problems, err)
	}
	outX, outGram := len(onX.Posts()), len(gram.Posts())
	err = db.View(func(tx *store.Tx) error {
		one, err1 := tx.Posts.Get(1)
		two, err2 := tx.Posts.Get(2)
		// A creation that was begun and is not in the timeline is unknown.
		unknown := one.Status == store.PostUnknown && (silent || outX == 0)
		if outX > 1 || !unknown && (one.Status != store.PostPublished || outX != 1) {
			t.Errorf("after %+v: X has %d posts, and the post is %s: %+v", kills, outX, one.Status, one.Reason)
		}
		if unknown {
			t.Logf("nobody can say after %+v: X has %d posts", kills[0], outX)
		}
		if outGram != 1 || two.Status != store.PostPublished {
			t.Errorf("after %+v: Instagram has %d posts, and the post is %s: %+v", kills, outGram, two.Status, two.Reason)
		}
		return errors.Join(err1, err2)
	})
	if err != nil {
		t.Error(err)
	}
	return commits
}

// filled makes a file with a film for X and an album for Instagram, both due.
func filled(t *testing.T, file string, now func() time.Time) {
	t.Helper()
	db, err := store.Open(file, store.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	film := append([]byte("\x00\x00\x00\x18ftypmp42\x00\x00\x00\x00mp42isom"), make([]byte, 2<<20)...)
	to, err := db.WriteMedia()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := to.Write(film); err != nil {
		t.Fatal(err)
	}
	err = errors.Join(to.Flush(), db.Update(func(tx *store.Tx) error {
		_, err := tx.Media.Finish(store.MediaFile{ID: to.ID(), Name: "film.mp4", Kind: "video", Type: "video/mp4", SHA256: to.Sum()}, nil)
		for i, p := range []store.Post{
			{Platform: x.Platform, Text: "once", Media: []store.Media{{Kind: "video", ID: to.ID()}}},
			{Platform: instagram.Platform, Text: "once", Media: []store.Media{{Kind: "photo", URL: "https://media.example/1.jpg"}, {Kind: "photo", URL: "https://media.example/2.jpg"}}},
		} {
			identity := store.Identity{Platform: p.Platform, Name: "main", Kind: store.IdentityProfile, Target: "@me", State: store.IdentityReady, NetworkID: int64(1000 + i)}
			if err == nil {
				err = tx.Identities.Put(&identity)
			}
			p.IdentityID, p.Target, p.Format, p.ScheduledTime = identity.ID, "@me", "plain", now()
			if err == nil {
				_, err = new(Worker).Schedule(tx, Draft{post: p, identity: identity})
			}
		}
		return err
	}), db.Close())
	if err != nil {
		t.Fatal(err)
	}
}

// Whenever the process is killed, each post is out once; one of which nobody can say is marked, and not sent again.
func TestKilledInAnyCommitEachPostIsOutOnce(t *testing.T) {
	for _, silent := range []bool{false, true} {
		t.Run(fmt.Sprint("silent=", silent), func(t *testing.T) {
			commits := killed(t, silent)
			if commits < 10 {
				t.Fatalf("only %d commits", commits)
			}
			step := 1
			if !*long {
				step = commits / 3
			}
			for n := 1 + rand.IntN(step); n <= commits; n += step {
				killed(t, silent, victim{stage: store.BeforeCommit, commit: n})
				killed(t, silent, victim{stage: store.AfterCommit, commit: n})
			}
		})
	}
}

func TestKilledAtAnyMomentAndAgainEachPostIsOutOnce(t *testing.T) {
	runs := 2
	if *long {
		runs = 100
	}
	for range runs {
		var kills []victim
		for range 3 {
			kills = append(kills, victim{after: time.Duration(rand.IntN(400)) * time.Millisecond})
		}
		killed(t, rand.IntN(2) == 0, kills...)
	}
}
