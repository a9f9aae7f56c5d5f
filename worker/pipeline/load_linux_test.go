package pipeline

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/platform/ai"
	"belfry/platform/article"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker/posts"
	"belfry/worker/search"
)

// What 6,000 messages of 20 channels take to pass all stages, and how late 100 posts reach their network that fall due
// meanwhile. It prints figures and judges none: the machine may be busy.
func TestThousandsOfMessagesPassWhilePostsFallDue(t *testing.T) {
	if !*long {
		t.Skip("takes a minute; run with -long")
	}
	const channels, messages, bots, due, apart = 20, 6000, 5, 100, 60 * time.Millisecond
	db, err := store.Open(filepath.Join(t.TempDir(), "belfry.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	w, err := New(db, Config{
		Vision: true, Links: true, Most: 1_000_000,
		Ask: func(context.Context, []ai.Message) (string, error) {
			return "На картинке подснежник у ручья", nil
		},
		Read: func(context.Context, string) (article.Article, error) {
			return article.Article{Title: "Ледоход", Text: strings.Repeat("Река вскрылась раньше обычного срока. ", 40)}, nil
		},
		Index: search.New(db, nil, nil, search.Config{}).Add,
	})
	if err != nil {
		t.Fatal(err)
	}
	module := w.Module()
	telegram := &network{}
	publishing := posts.New(db, map[string]posts.Network{"telegram": telegram}, posts.Config{})
	module.Kinds[posts.Kind] = publishing.Module().Kinds[posts.Kind]
	if err := module.Start(); err != nil {
		t.Fatal(err)
	}
	if err := db.Update(func(tx *store.Tx) error {
		for i := range channels {
			if err := tx.Channels.Put(&store.Channel{PeerID: int64(i + 1), Username: fmt.Sprint("channel", i), Interval: time.Hour}); err != nil {
				return err
			}
		}
		for i := range bots {
			if err := tx.Identities.Put(&store.Identity{Platform: "telegram", Name: fmt.Sprint("bot", i), Kind: store.IdentityBot, Target: "@channel", State: store.IdentityReady}); err != nil {
				return err
			}
		}
		return tx.TagRules.Put(&store.TagRule{Name: "весна", Keywords: []string{"весна"}})
	}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := scheduler.New(db, scheduler.Config{Kinds: module.Kinds, LaneLimit: func(string) int { return 1 }, Log: zerolog.Nop()})
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	<-s.Begun()
	began := time.Now()
	for i := range due {
		at := began.Add(time.Duration(i+10) * apart)
		draft, err := publishing.Prepare(ctx, posts.Request{Text: at.Format(time.RFC3339Nano), Platform: "telegram", IdentityID: uint64(i%bots + 1), ScheduledTime: at.Format(time.RFC3339Nano)})
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Update(func(tx *store.Tx) error { _, err := publishing.Schedule(tx, draft); return err }); err != nil {
			t.Fatal(err)
		}
	}
	for page := range messages / 100 { // as reading writes them
		if err := db.Update(func(tx *store.Tx) error {
			var ids []uint64
			for i := range 100 {
				number := page/channels*100 + i + 1
				m := withLink(fmt.Sprintf("Новость %d: в городе весна, реки вышли из берегов, и жителям советуют не подходить к воде", number), "https://example.com/ice")
				m.ChannelID, m.MessageID, m.Date, m.ReadAt = uint64(page%channels+1), number, tx.Now(), tx.Now()
				if i%10 == 0 {
					m.Media = &store.MessageMedia{Kind: "photo"}
				}
				if err := tx.Messages.Put(&m); err != nil {
					return err
				}
				if i%10 == 0 {
					if err := tx.Photos.Add(&store.Photo{MessageID: m.ID, Type: "image/jpeg", Data: make([]byte, 30_000)}); err != nil {
						return err
					}
				}
				ids = append(ids, m.ID)
			}
			return tx.Streams.Append(store.TopicParsed, store.EventNew, ids...)
		}); err != nil {
			t.Fatal(err)
		}
	}
	indexed := waitIndexed(t, db, w, messages+messages/10, began)
	<-time.After(time.Until(began.Add((due + 10) * apart).Add(time.Second)))
	cancel()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	slices.Sort(telegram.late)
	if len(telegram.late) != due {
		t.Fatalf("%d of %d posts were published", len(telegram.late), due)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, peak, _ := strings.Cut(string(status), "VmHWM:")
	peak, _, _ = strings.Cut(peak, "\n")
	t.Logf("%d messages of %d channels passed all stages in %s, %.0f a second; %d posts, due in the first %s, reached their network %s late in the middle, %s at most; peak memory %s",
		messages, channels, indexed.Round(time.Millisecond), messages/indexed.Seconds(), due, (due+10)*apart,
		telegram.late[due/2].Round(100*time.Microsecond), telegram.late[due-1].Round(100*time.Microsecond), strings.TrimSpace(peak))
}

// waitIndexed returns how long it took until so many events were indexed and nothing is left to do but albums.
func waitIndexed(t *testing.T, db *store.DB, w *Worker, events uint64, began time.Time) time.Duration {
	changed, cancel := db.Watch("stream_groups")
	defer cancel()
	for {
		done := false
		if err := db.View(func(tx *store.Tx) error {
			for _, s := range w.Statuses(tx) {
				if s.Stage == "index" {
					done = s.Done+s.Skipped >= events
				}
				if s.Parked+uint64(max(s.Lost(), 0)) > 0 {
					t.Fatalf("%s: parked %d, lost %d", s.Stage, s.Parked, s.Lost())
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if done {
			return time.Since(began)
		}
		select {
		case <-changed:
		case <-time.After(5 * time.Minute):
			t.Fatal("nothing happens any more")
		}
	}
}

// network notes how late posts reach it, whose texts are their times.
type network struct {
	mu   sync.Mutex
	late []time.Duration
}

func (*network) Check(platform.Post) (platform.Measure, error) { return platform.Measure{}, nil }

func (*network) Styled(_ platform.Format, text string) (platform.Styled, error) {
	return platform.Styled{Text: text}, nil
}

func (*network) Reach(context.Context, uint64, string) error { return nil }

func (n *network) Publisher(uint64) platform.Publisher { return n }

func (n *network) Publish(_ context.Context, p platform.Post) (platform.Receipt, error) {
	now := time.Now()
	at, err := time.Parse(time.RFC3339Nano, p.Text)
	if err != nil {
		return platform.Receipt{}, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.late = append(n.late, now.Sub(at))
	return platform.Receipt{MessageIDs: []int64{int64(len(n.late))}}, nil
}
