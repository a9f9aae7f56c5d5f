package media

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"belfry/store"
)

// uploadKilled uploads a film and a photo with a thumbnail, removes the film, and is killed in the commit with a number,
// before or after it.
func uploadKilled(path, stage, number string) error {
	last, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	commits := 0
	db, err := store.Open(path, store.Options{Commit: func(s store.Stage) error {
		if s == store.BeforeCommit {
			commits++
		}
		if string(s) == stage && commits == last {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
		return nil
	}})
	if err != nil {
		return err
	}
	w := New(db, Config{})
	if err := w.Module().Start(); err != nil {
		return err
	}
	film, err := w.Add(context.Background(), "film.mp4", "", bytes.NewReader(append([]byte("\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp41"), make([]byte, 2<<20)...)))
	if err == nil {
		_, err = w.Add(context.Background(), "photo.png", "", bytes.NewReader(asPNG(quarters(600, 400))))
	}
	if err == nil {
		err = w.Delete(film.ID)
	}
	fmt.Println("commits:", commits)
	return errors.Join(err, db.Close())
}

// Wherever an upload or a removal is killed, the file is sound at once, and after the next start there are whole files
// alone.
func TestAKilledUploadLeavesNoChunkWithoutItsRecord(t *testing.T) {
	killed := func(stage store.Stage, commit int, after time.Duration) int {
		t.Helper()
		path := t.TempDir() + "/belfry.db"
		cmd := exec.Command(os.Args[0], "killed", path, string(stage), fmt.Sprint(commit))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if after > 0 {
			timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
			defer timer.Stop()
		}
		err := cmd.Wait()
		if e, is := errors.AsType[*exec.ExitError](err); is && e.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
			t.Fatalf("%v\n%s", err, out.String())
		}
		db, err := store.Open(path, store.Options{})
		if err != nil {
			t.Fatal(err)
		}
		verify := func(when string) {
			if problems, err := db.Verify(); err != nil || len(problems) > 0 {
				t.Errorf("killed %s commit %d, %s: %v, %v", stage, commit, when, problems, err)
			}
		}
		verify("at once")
		err = New(db, Config{}).Module().Start()
		verify("after the next start")
		err = errors.Join(err, db.View(func(tx *store.Tx) error {
			for f := range tx.Media.All() {
				if !f.Ready {
					t.Errorf("killed %s commit %d: a part of a file is left: %+v", stage, commit, f)
				}
			}
			return nil
		}), db.Close())
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(out.String(), "commits: ")
		commits, _ := strconv.Atoi(strings.TrimSpace(rest))
		return commits
	}
	commits := killed("", 0, 0)
	if commits < 10 {
		t.Fatalf("only %d commits", commits)
	}
	step, moments := max(1, commits/4), 3
	if *long {
		step, moments = 1, 200
	}
	for n := 1 + rand.IntN(step); n <= commits; n += step {
		killed(store.BeforeCommit, n, 0)
		killed(store.AfterCommit, n, 0)
	}
	for range moments {
		killed("", 0, time.Duration(1+rand.IntN(150))*time.Millisecond)
	}
	t.Logf("%d commits", commits)
}
