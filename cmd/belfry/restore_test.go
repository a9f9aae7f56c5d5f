package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"belfry/store"
)

// The system that a backup was made of may still run, and Telegram ends a session that two use.
func TestARestoredCopyConnectsNothingUntilItIsResumed(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	token, _ := m.bot("waiting_bot", "waiting")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "TELEGRAM_CHAT=@waiting")
	p, url := m.start()
	m.waitForLogin(url)
	backup := filepath.Join(m.dir, "copy")
	if _, err := m.output("backup", backup); err != nil {
		t.Fatal(err)
	}
	if _, err := m.output("restore", backup); exitCode(err) != exitFailed || !strings.Contains(err.Error(), "stop the service first") {
		t.Errorf("while the service runs: %v", err)
	}
	p.stop()
	if err := os.Remove(m.file()); err != nil {
		t.Fatal(err)
	}
	if _, err := m.output("restore", backup); err != nil {
		t.Fatal(err)
	}
	connects := m.tg.Calls("help.getConfig")
	p, _ = m.start()
	if _, err := m.output("jobs", "pause", "--all"); err != nil { // by hand, which does not make it another one
		t.Fatal(err)
	}
	p.stop()
	if !strings.Contains(p.log.String(), "nothing connects") {
		t.Errorf("the log does not say that nothing connects:\n%s", p.log)
	}
	if now := m.tg.Calls("help.getConfig"); now != connects {
		t.Error("a restored copy connected before it was resumed")
	}
	p, _ = m.start()
	if _, err := m.output("jobs", "resume", "--all"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := m.tg.AwaitCalls(ctx, "help.getConfig", connects+1); err != nil {
		t.Errorf("it does not connect after it was resumed: %v", err)
	}
	p.stop()
}

// A server is lost, and another one is made of a plain copy of its file, taken while it ran.
func TestACopyOfTheFileIsTheSystem(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	token, channels := m.bot("moving_bot", "moving")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "TELEGRAM_CHAT=@moving")
	p, url := m.start()
	m.waitForLogin(url)
	ctx := context.Background()
	err := callAPI(ctx, "POST", url+"/api/v1/scheduled-posts", map[string]any{
		"text": "moved", "platform": "telegram", "scheduled_time": time.Now().Add(2 * time.Second).UTC().Format(time.RFC3339),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(m.file())
	if err != nil {
		t.Fatal(err)
	}
	p.kill()
	copied := filepath.Join(m.dir, "copy")
	if err := os.WriteFile(copied, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := m.output("restore", copied); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "exists") {
		t.Errorf("restore over a file: %v", err)
	}
	if err := os.Rename(m.file(), m.file()+".lost"); err != nil {
		t.Fatal(err)
	}
	if out, err := m.output("restore", copied); err != nil || !strings.Contains(out, "resume --all") {
		t.Fatalf("restore: %v\n%s", err, out)
	}

	logins := m.tg.Calls("auth.importBotAuthorization")
	p, url = m.start()
	m.waitForLogin(url)
	<-time.NewTimer(3 * time.Second).C // the post is due by now
	if sent := m.tg.Messages(channels[0].ID); len(sent) != 0 {
		t.Errorf("a restored system did not start paused: %v", sent)
	}
	if out, err := m.output("doctor"); exitCode(err) != exitFailed || !strings.Contains(out, "paused") {
		t.Errorf("doctor: %v\n%s", err, out)
	}
	if _, err := m.output("jobs", "resume", "--all"); err != nil {
		t.Fatal(err)
	}
	waitForEnd(t, url, time.Now().Add(time.Minute))
	if sent := m.tg.Messages(channels[0].ID); len(sent) != 1 || sent[0].Text != "moved" {
		t.Errorf("the channel has %v", sent)
	}
	if now := m.tg.Calls("auth.importBotAuthorization"); now != logins {
		t.Error("it logged in again, although the file has the session")
	}
	p.stop()
	m.mustCheck()
}

func TestJobsAreListedPausedAndRunFromTheCommandLine(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	token, channels := m.bot("jobs_bot", "jobs")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "TELEGRAM_CHAT=@jobs")
	p, url := m.start()
	err := callAPI(context.Background(), "POST", url+"/api/v1/scheduled-posts", map[string]any{
		"text": "tomorrow", "platform": "telegram", "scheduled_time": time.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339),
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct{ command, state string }{{"pause", "paused"}, {"resume", "waiting"}} {
		if _, err := m.output("jobs", step.command, "post_1"); err != nil {
			t.Error(err)
		}
		if out, err := m.output("jobs"); err != nil || !strings.Contains(out, "post_1") || !strings.Contains(out, step.state) {
			t.Errorf("after %s: %v\n%s", step.command, err, out)
		}
	}
	if _, err := m.output("jobs", "pause"); exitCode(err) != exitUsage {
		t.Errorf("pause of nothing: %v", err)
	}
	if _, err := m.output("jobs", "show", "job_9"); exitCode(err) != exitFailed || !strings.Contains(err.Error(), "job job_9: not found") {
		t.Errorf("a job that is not there: %v", err)
	}
	if _, err := m.output("jobs", "create", "--backup", "--autocheck", "--every", "1h"); exitCode(err) != exitUsage || !strings.Contains(err.Error(), "--autocheck and --backup are both given") {
		t.Errorf("two actions: %v", err)
	}
	if _, err := m.output("jobs", "run", "post_1"); err != nil {
		t.Error(err)
	}
	waitForEnd(t, url, time.Now().Add(time.Minute))
	if sent := m.tg.Messages(channels[0].ID); len(sent) != 1 {
		t.Errorf("the channel has %v", sent)
	}
	p.stop()
}

func TestCompactGivesSpaceBack(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	db, err := store.Open(m.file(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		err := db.Update(func(tx *store.Tx) error {
			return tx.Settings.Set("big", strings.Repeat("x", (1-i)*(40<<20)))
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	before, _ := os.Stat(m.file())
	if out, err := m.output("compact"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if after, _ := os.Stat(m.file()); after.Size() > before.Size()/4 {
		t.Errorf("%d bytes, before %d", after.Size(), before.Size())
	}
	m.mustCheck()
}

func TestDoctorWarnsOfAnOverlay(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for _, dir := range []string{"lower", "upper", "work", "merged"} {
		if err := os.Mkdir(filepath.Join(m.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	merged := filepath.Join(m.dir, "merged")
	err := unix.Mount("overlay", merged, "overlay", 0, fmt.Sprintf("lowerdir=%[1]s/lower,upperdir=%[1]s/upper,workdir=%[1]s/work", m.dir))
	if err != nil {
		if os.Getenv("BELFRY_NO_SKIP") != "" {
			t.Fatal(err)
		}
		t.Skip("an overlay cannot be mounted here: ", err)
	}
	defer func() {
		if err := unix.Unmount(merged, 0); err != nil {
			t.Error(err)
		}
	}()
	file := filepath.Join(merged, "belfry.db")
	db, err := store.Open(file, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	m.env = append(m.env, "BELFRY_DB="+file)
	if out, err := m.output("doctor"); exitCode(err) != exitFailed || !strings.Contains(out, "overlay") {
		t.Errorf("doctor: %v\n%s", err, out)
	}
}
