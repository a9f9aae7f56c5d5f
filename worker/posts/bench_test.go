package posts

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
)

// instant answers at once.
type instant struct{ *network }

func (n instant) Publisher(uint64) platform.Publisher { return n }

func (n instant) Publish(context.Context, platform.Post) (platform.Receipt, error) {
	return platform.Receipt{MessageIDs: []int64{1}, Link: "https://t.me/c/1"}, nil
}

// 1,000 posts are due at once, of one identity or of twenty: what a post costs beside its network.
func BenchmarkBurst(b *testing.B) {
	for _, identities := range []int{1, 20} {
		b.Run(fmt.Sprint("identities=", identities), func(b *testing.B) {
			var took time.Duration
			var commits uint64
			for b.Loop() {
				d, n := burst(b, 1000, identities)
				took, commits = took+d, commits+n
			}
			b.ReportMetric(float64(commits)/float64(1000*b.N), "commits/post")
			b.ReportMetric(float64(1000*b.N)/took.Seconds(), "posts/s")
		})
	}
}

// burst publishes n posts that are due, and returns how long that took in how many commits.
func burst(b *testing.B, n, identities int) (took time.Duration, commits uint64) {
	db, err := store.Open(filepath.Join(b.TempDir(), "belfry.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	w := New(db, map[string]Network{"telegram": instant{}}, Config{})
	err = db.Update(func(tx *store.Tx) error {
		for i := range identities {
			id := store.Identity{Platform: "telegram", Name: fmt.Sprint("bot", i), Kind: store.IdentityBot, Target: "@channel", State: store.IdentityReady}
			if err := tx.Identities.Put(&id); err != nil {
				return err
			}
		}
		for i := range n {
			identity := store.Identity{ID: uint64(i%identities + 1)}
			post := store.Post{Platform: "telegram", IdentityID: identity.ID, Text: "hello", Target: "@channel", ScheduledTime: tx.Now()}
			if _, err := w.Schedule(tx, Draft{post: post, identity: identity}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	s := scheduler.New(db, scheduler.Config{Kinds: w.Module().Kinds, Log: zerolog.Nop()})
	ctx, cancel := context.WithCancel(b.Context())
	done := make(chan error, 1)
	changed, unwatch := db.Watch("posts")
	defer unwatch()
	begin, before := time.Now(), db.Commits()
	go func() { done <- s.Run(ctx) }()
	for published := 0; published < n; {
		select {
		case <-changed:
		case <-time.After(10 * time.Second):
			b.Fatalf("%d of %d are published", published, n)
		}
		err := db.View(func(tx *store.Tx) error {
			published = tx.Posts.Count(store.PostPublished, n)
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	took, commits = time.Since(begin), db.Commits()-before
	cancel()
	if err := <-done; err != nil {
		b.Error(err)
	}
	if err := db.Close(); err != nil {
		b.Error(err)
	}
	return took, commits
}
