package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

// 2,000 posts are due at the same second, in 20 channels of 4 bots.
func TestABurstGoesOutWithinItsLanes(t *testing.T) {
	t.Parallel()
	const bots, channelsEach, postsEach = 4, 5, 100
	m := newMachine(t)
	p, url := m.start()
	ctx := context.Background()
	type place struct {
		identity uint64
		channel  telegramtest.Channel
	}
	var places []place
	for b := range bots {
		name := fmt.Sprintf("burst%s_bot", string(rune('a'+b))+fmt.Sprint(b*b*b))
		var names []string
		for c := range channelsEach {
			names = append(names, fmt.Sprintf("burst_%d_%d", b, c))
		}
		token := fmt.Sprintf("20%d:test-token-of-burst-bot-0123456789", b)
		m.tg.AddBot(token, name)
		var identity struct{ ID uint64 }
		err := callAPI(ctx, "POST", url+"/api/v1/identities",
			map[string]any{"platform": "telegram", "name": fmt.Sprint("bot", b), "token": token}, &identity)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			places = append(places, place{identity.ID, m.tg.AddChannel(telegramtest.Channel{Title: n, Username: n}, name)})
		}
	}

	m.waitForLogin(url) // what waits for a connection comes again later, and out of order
	begin := time.Now()
	at := begin.Add(12 * time.Second).Truncate(time.Second)
	var callers sync.WaitGroup
	for i, where := range places {
		callers.Go(func() {
			for n := range postsEach {
				err := callAPI(ctx, "POST", url+"/api/v1/scheduled-posts", map[string]any{
					"text": fmt.Sprintf("post %d of channel %d", n, i), "platform": "telegram", "identity_id": where.identity,
					"target": "@" + where.channel.Username, "scheduled_time": at.UTC().Format(time.RFC3339), "allow_past": true,
				}, nil)
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	callers.Wait()
	total := len(places) * postsEach
	t.Logf("%d posts were made in %v", total, time.Since(begin).Round(time.Millisecond))
	if time.Now().After(at) {
		t.Logf("making them took longer than planned; the burst began meanwhile")
	}
	waitForEnd(t, url, at.Add(5*time.Minute))
	p.stop()
	m.mustCheck()

	var last time.Time
	for i, where := range places {
		messages := m.tg.Messages(where.channel.ID)
		if len(messages) != postsEach {
			t.Errorf("%d messages in channel %d, want %d", len(messages), i, postsEach)
		}
		for n, message := range messages {
			if message.At.Before(at) {
				t.Errorf("%q was early", message.Text)
			}
			if want := fmt.Sprintf("post %d of channel %d", n, i); message.Text != want {
				t.Errorf("message %d is %q, want %q: posts of one time keep their order", n, message.Text, want)
			}
			if message.At.After(last) {
				last = message.At
			}
		}
	}
	t.Logf("%d posts due at the same second in %d channels of %d bots: the last was out %v after it (%.0f posts/s)",
		total, len(places), bots, last.Sub(at).Round(time.Millisecond), float64(total)/last.Sub(at).Seconds())
	checkLanes(t, m, total)
}

// checkLanes proves from the history that each run took place once and no two runs of a lane at once.
func checkLanes(t *testing.T, m *machine, want int) {
	t.Helper()
	lanes := map[string][]store.Run{}
	m.inStore(func(tx *store.Tx) error {
		for run := range tx.Runs.All() {
			if run.Kind == "post" {
				lanes[run.Lane] = append(lanes[run.Lane], run)
			}
		}
		return nil
	})
	runs := 0
	for lane, all := range lanes {
		runs += len(all)
		slices.SortFunc(all, func(a, b store.Run) int {
			return cmp.Or(a.Started.Compare(b.Started), a.Ended.Compare(b.Ended))
		})
		for i := range len(all) - 1 {
			if all[i+1].Started.Before(all[i].Ended) {
				t.Errorf("in lane %s run %d began at %v, run %d ended at %v", lane, all[i+1].ID, all[i+1].Started, all[i].ID, all[i].Ended)
			}
		}
	}
	if runs != want || len(lanes) != 4 {
		t.Errorf("%d runs in %d lanes, want %d in 4", runs, len(lanes), want)
	}
}
