package main

import (
	"context"
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"belfry/store"
)

// underWay starts a service with a post whose call Telegram has, and does not answer until release
// is called.
func underWay(t *testing.T) (m *machine, p *process, release func()) {
	t.Helper()
	m = newMachine(t)
	token, _ := m.bot("ending_bot", "ending")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "TELEGRAM_CHAT=@ending")
	p, url := m.start()
	release = m.tg.Hold("messages.sendMessage", 1)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	err := errors.Join(
		callAPI(ctx, "POST", url+"/api/v1/scheduled-posts", map[string]any{
			"text": "on its way", "platform": "telegram", "scheduled_time": time.Now().UTC().Format(time.RFC3339),
		}, nil),
		m.tg.AwaitCalls(ctx, "messages.sendMessage", 1))
	if err != nil {
		t.Fatalf("%v\n%s", err, p.log)
	}
	return m, p, release
}

func TestTheEndLetsARunUnderWayEnd(t *testing.T) {
	t.Parallel()
	m, p, release := underWay(t)
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.done:
		t.Fatalf("it did not wait for the run: %v\n%s", err, p.log)
	case <-p.ending: // and only the run keeps it: its end is what is answered next
	}
	release()
	if err := <-p.done; err != nil {
		t.Errorf("it ended with %v\n%s", err, p.log)
	}
	for _, post := range m.allPosts() {
		if post.Status != store.PostPublished {
			t.Errorf("the post is %s: %+v", post.Status, post.Reason)
		}
	}
	m.mustCheck()
}

func TestASecondSignalEndsAtOnceAndLosesNothing(t *testing.T) {
	t.Parallel()
	m, p, release := underWay(t)
	defer release()
	begin := time.Now()
	for range 2 {
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-time.NewTimer(300 * time.Millisecond).C
	}
	err := <-p.done
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGTERM || time.Since(begin) > 5*time.Second {
		t.Errorf("it ended after %v with %v", time.Since(begin), err)
	}
	release()
	p, url := m.start()
	waitForEnd(t, url, time.Now().Add(time.Minute))
	p.stop()
	for _, post := range m.allPosts() {
		if post.Status != store.PostPublished {
			t.Errorf("the post is %s: %+v", post.Status, post.Reason)
		}
	}
	m.mustCheck()
}
