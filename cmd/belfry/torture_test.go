package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"belfry/store"
)

// Whenever the program is killed, and whatever the network does with its calls, each post is in
// the channel exactly once and its status says so.
func TestKilledAtAnyMomentEachPostIsOutOnce(t *testing.T) {
	t.Parallel()
	kills, posts := 12, 60
	if *long {
		kills, posts = 100, 200
	}
	const life = 1200 * time.Millisecond // of a process, at most
	window := time.Duration(kills) * life / 2
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))

	m := newMachine(t)
	token, channels := m.bot("torture_bot", "torture")
	m.env = append(m.env, "TELEGRAM_BOT_TOKEN="+token, "TELEGRAM_CHAT=@torture",
		"BELFRY_POST_DEADLINE=3s", "BELFRY_POST_BACKOFF=1s", "BELFRY_POST_ATTEMPTS=8")
	p, url := m.start()
	ctx := context.Background()
	begin := time.Now()
	for i := range posts {
		request := map[string]any{
			"text": fmt.Sprintf("post %d", i), "platform": "telegram",
			"scheduled_time": begin.Add(time.Second + time.Duration(rnd.Int64N(int64(window)))).UTC().Format(time.RFC3339Nano),
			"allow_past":     true,
		}
		if err := callAPI(ctx, "POST", url+"/api/v1/scheduled-posts", request, nil); err != nil {
			t.Fatal(err)
		}
	}
	for range kills {
		switch rnd.IntN(4) { // an answer that is lost now and then
		case 0:
			m.tg.Drop("messages.sendMessage", 1)
		case 1:
			m.tg.Mute("messages.sendMessage", 1)
		}
		<-time.NewTimer(time.Duration(rnd.Int64N(int64(life)))).C
		p.kill()
		p = m.launch()
	}
	t.Logf("%d kills in %v; the last process goes on", kills, time.Since(begin).Round(time.Second))
	select {
	case url = <-p.url:
	case err := <-p.done:
		t.Fatalf("the service ended: %v\n%s", err, p.log)
	}
	waitForEnd(t, url, begin.Add(10*time.Minute))
	t.Logf("all posts have ended after %v", time.Since(begin).Round(time.Second))
	p.stop()
	m.mustCheck()

	times := map[string]int{}
	for _, message := range m.tg.Messages(channels[0].ID) {
		times[message.Text]++
	}
	all := m.allPosts()
	if len(all) != posts {
		t.Errorf("%d posts are in the file, %d were confirmed", len(all), posts)
	}
	repeated := 0
	for _, post := range all {
		if post.Attempts > 1 {
			repeated++
		}
		if times[post.Text] != 1 {
			t.Errorf("%s is in the channel %d times (%s, %d attempts)", post.Text, times[post.Text], post.Status, post.Attempts)
		}
		if post.Status != store.PostPublished || post.Link == "" {
			t.Errorf("%s has the status %s: %+v", post.Text, post.Status, post.Reason)
		}
	}
	t.Logf("%d of %d posts needed more than one attempt; Telegram was called %d times",
		repeated, posts, m.tg.Calls("messages.sendMessage"))
}

// waitForEnd waits until no post waits any more.
func waitForEnd(t *testing.T, url string, limit time.Time) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		left := 0
		for _, status := range []string{"scheduled", "publishing"} {
			var page struct{ Items []struct{ ID uint64 } }
			if err := callAPI(context.Background(), "GET", url+"/api/v1/scheduled-posts?status="+status, nil, &page); err != nil {
				t.Fatal(err)
			}
			left += len(page.Items)
		}
		if left == 0 {
			return
		}
		if time.Now().After(limit) {
			t.Fatalf("%d posts have not ended", left)
		}
		<-tick.C
	}
}
