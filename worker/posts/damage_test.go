package posts

import (
	"path/filepath"
	"testing"
	"time"

	"belfry/scheduler/schedulertest"
	"belfry/store"
)

// What is damaged stops the post that it belongs to at most, and neither the others nor the start.
func TestOneDamagedRowStopsNoOtherPost(t *testing.T) {
	for _, test := range []struct{ table, window string }{{"paces", "30/1h"}, {"jobs", "30/1h"}, {"jobs", "1/1h"}} {
		t.Run(test.table+" "+test.window, func(t *testing.T) {
			inBubble(t, func(b *bench) {
				path, was := filepath.Join(t.TempDir(), "own.db"), b.DB
				open := func() {
					db, err := store.Open(path, store.Options{Key: make([]byte, store.KeySize)})
					if err != nil {
						t.Fatal(err)
					}
					var cfg Config
					if err := cfg.TelegramWindow.UnmarshalText([]byte(test.window)); err != nil {
						t.Fatal(err)
					}
					b.DB, b.worker = db, New(db, map[string]Network{"telegram": b.net}, cfg)
				}
				shut := func() {
					b.Stop()
					if err := b.DB.Close(); err != nil {
						t.Fatal(err)
					}
				}
				b.Stop()
				open()
				b.Update(func(tx *store.Tx) error {
					i := store.Identity{Platform: "telegram", Name: "main", Kind: store.IdentityBot, Target: "@channel", State: store.IdentityReady}
					defer func() { b.firstID = i.ID }()
					return tx.Identities.Put(&i)
				})
				b.start()
				b.schedule(0, Request{Text: "before"})
				b.Pass(time.Minute)
				b.schedule(0, Request{Text: "perhaps it waits for the window"})
				b.schedule(time.Minute, Request{Text: "the damaged one"})
				b.Pass(time.Second)
				id := uint64(1)
				if test.table == "jobs" {
					b.View(func(tx *store.Tx) error {
						job, err := tx.Jobs.ByName("post_3")
						id = job.ID
						return err
					})
				}
				shut()
				schedulertest.Damage(t, path, test.table, id)
				open()
				b.start()
				last := b.schedule(2*time.Minute, Request{Text: "another"}).ID
				b.Pass(5 * time.Hour)
				if p := b.post(last); p.Status != store.PostPublished {
					t.Errorf("post %d: %s, %+v", last, p.Status, p.Reason)
				}
				shut()
				b.DB = was
			})
		})
	}
}
