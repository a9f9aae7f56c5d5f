package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"belfry/platform/telegram/telegramtest"
	"belfry/store"
)

// account adds a user account to Telegram and to the file of a service that does not run, logged in.
func (m *machine) account(name, phone string) (user telegramtest.User, id uint64) {
	m.t.Helper()
	user = m.tg.AddUser(telegramtest.User{Phone: phone, Username: name, FirstName: name})
	key, err := fileSetting{DB: m.file(), KeyFile: m.keyFile()}.key(true)
	if err != nil {
		m.t.Fatal(err)
	}
	db, err := store.Open(m.file(), store.Options{Key: key})
	if err != nil {
		m.t.Fatal(err)
	}
	defer db.Close()
	session := m.tg.Session(user.ID)
	err = db.Update(func(tx *store.Tx) error {
		identity := store.Identity{Name: name, Platform: "telegram", Kind: store.IdentityUser, State: store.IdentityNew}
		if err := tx.Identities.Put(&identity); err != nil {
			return err
		}
		id = identity.ID
		return tx.Sessions.Put(&store.Session{IdentityID: identity.ID, Data: session})
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return user, id
}

// place is a chat as a broadcast meets it.
type place struct {
	target string
	id     int64 // at Telegram; 0: there is none
	closed bool  // nothing can be sent there
}

// places makes chats of all sorts in which the account is, or is not.
func (m *machine) places(name string, n int) []place {
	all := make([]place, n)
	for i := range all {
		title := fmt.Sprintf("%s_%d", name, i)
		g := telegramtest.Group{Title: title, Members: []string{name}}
		switch i % 10 {
		case 0: // known by its id alone
			g = m.tg.AddGroup(g)
			all[i] = place{target: fmt.Sprint(-1_000_000_000_000 - g.ID), id: g.ID}
		case 1:
			g.Basic = true
			g = m.tg.AddGroup(g)
			all[i] = place{target: fmt.Sprint(-g.ID), id: g.ID}
		case 2: // two tasks that send there meet its slow mode
			g.Username, g.Slowmode = title, 2*time.Second
			g = m.tg.AddGroup(g)
			all[i] = place{target: "@" + title, id: g.ID}
		case 3:
			ch := m.tg.AddChannel(telegramtest.Channel{Title: title, Username: title}, name)
			all[i] = place{target: "https://t.me/" + title, id: ch.ID}
		case 4:
			g.Username, g.Forbidden = title, true
			g = m.tg.AddGroup(g)
			all[i] = place{target: "@" + title, id: g.ID, closed: true}
		case 5:
			all[i] = place{target: "@" + title, closed: true} // nobody has the name
		default:
			g.Username = title
			g = m.tg.AddGroup(g)
			all[i] = place{target: "@" + title, id: g.ID}
		}
	}
	return all
}

// Whenever the program is killed, and whatever Telegram answers, each chat that can be reached gets
// each post exactly once, each other one has its reason, and no account is faster than it may be.
func TestKilledAtAnyMomentEachChatGetsABroadcastOnce(t *testing.T) {
	t.Parallel()
	kills, chats, least := 8, 20, 100*time.Millisecond
	if *long {
		kills, chats, least = 50, 134, 200*time.Millisecond
	}
	const accounts, tasksEach = 3, 4
	const life = 2500 * time.Millisecond // of a process, at most
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))

	m := newMachine(t)
	m.env = append(m.env, "BELFRY_POST_DEADLINE=3s")
	type sent struct {
		user   telegramtest.User
		id     uint64
		places []place
		tasks  map[uint64][]place
	}
	var senders []*sent
	for i := range accounts {
		s := &sent{tasks: map[uint64][]place{}}
		name := fmt.Sprint("sender", i)
		s.user, s.id = m.account(name, fmt.Sprintf("+7999000000%d", i))
		s.places = m.places(name, chats)
		senders = append(senders, s)
	}
	p, url := m.start()
	ctx, begin := context.Background(), time.Now()
	for n := range tasksEach {
		for _, s := range senders {
			// Each chat is a target of two tasks or so, and each task has its own order.
			var chosen []place
			for i, where := range s.places {
				if i%tasksEach == n || rnd.IntN(4) == 0 {
					chosen = append(chosen, where)
				}
			}
			rnd.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
			var targets []string
			for _, where := range chosen {
				targets = append(targets, where.target)
			}
			var made struct{ ID uint64 }
			err := callAPI(ctx, "POST", url+"/api/v1/tasks", map[string]any{
				"text": fmt.Sprintf("task %d of %s", n, s.user.Username), "identity_id": s.id, "target_chat_ids": targets,
				"min_seconds_between_chats": least.Seconds(), "max_seconds_between_chats": 2 * least.Seconds(),
			}, &made)
			if err != nil {
				t.Fatal(err)
			}
			s.tasks[made.ID] = chosen
		}
	}
	for range kills {
		s := senders[rnd.IntN(accounts)]
		switch rnd.IntN(5) {
		case 0:
			m.tg.Drop("messages.sendMessage", 1)
		case 1:
			m.tg.Mute("messages.sendMessage", 1)
		case 2:
			m.tg.FailFor(s.user.ID, "messages.sendMessage", 1, 420, "FLOOD_WAIT_1")
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
	waitForTasks(t, url, begin.Add(10*time.Minute))
	t.Logf("all tasks have ended after %v", time.Since(begin).Round(time.Second))
	p.stop()
	m.mustCheck()

	deliveries, repeated := 0, 0
	for _, s := range senders {
		times := map[string]int{} // by chat and text
		var at []time.Time
		for _, where := range s.places {
			if where.id == 0 {
				continue
			}
			for _, message := range m.tg.Messages(where.id) {
				times[fmt.Sprint(where.target, message.Text)]++
				at = append(at, message.At)
			}
		}
		slices.SortFunc(at, time.Time.Compare)
		for i := 1; i < len(at); i++ {
			if gap := at[i].Sub(at[i-1]); gap < least {
				t.Errorf("%s sent twice within %v", s.user.Username, gap)
			}
		}
		m.inStore(func(tx *store.Tx) error {
			for id, places := range s.tasks {
				task, err := tx.Tasks.Get(id)
				if err != nil {
					return err
				}
				closed := 0
				for i, where := range places {
					d, err := tx.Deliveries.Get(task.First + uint64(i))
					if err != nil {
						return err
					}
					deliveries++
					if d.Tried > 1 {
						repeated++
					}
					n := times[fmt.Sprint(where.target, task.Text)]
					if where.closed {
						closed++
						if n != 0 || d.Status != store.DeliverySkipped || d.Reason.Zero() {
							t.Errorf("task %d to %s, which is closed: %d messages, %s: %+v", id, where.target, n, d.Status, d.Reason)
						}
					} else if n != 1 || d.Status != store.DeliverySent {
						t.Errorf("task %d to %s: %d messages, %s: %+v, tries %+v", id, where.target, n, d.Status, d.Reason, d.Tries)
					}
				}
				if task.Status != store.TaskDone || task.Sent != len(places)-closed || task.Skipped != closed || task.Failed != 0 {
					t.Errorf("task %d is %s: %d sent, %d skipped, %d failed of %d, of which %d are closed", id, task.Status,
						task.Sent, task.Skipped, task.Failed, len(places), closed)
				}
			}
			return nil
		})
	}
	t.Logf("%d deliveries to %d chats; %d needed more than one attempt; Telegram was called %d times", deliveries,
		accounts*chats, repeated, m.tg.Calls("messages.sendMessage"))
}

// waitForTasks waits until no task waits any more.
func waitForTasks(t *testing.T, url string, limit time.Time) {
	t.Helper()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		var left []taskShown
		for _, status := range []string{"pending", "processing"} {
			var page struct{ Items []taskShown }
			if err := callAPI(context.Background(), "GET", url+"/api/v1/tasks?status="+status, nil, &page); err != nil {
				t.Fatal(err)
			}
			left = append(left, page.Items...)
		}
		if len(left) == 0 {
			return
		}
		if time.Now().After(limit) {
			slices.SortFunc(left, func(a, b taskShown) int { return cmp.Compare(a.ID, b.ID) })
			t.Fatalf("%d tasks have not ended: %+v", len(left), left)
		}
		<-tick.C
	}
}
