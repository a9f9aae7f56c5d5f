package pipeline

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"belfry/scheduler/schedulertest"
	"belfry/store"
	"belfry/worker/search"
)

// What was made of a message is damaged when that is edited: other messages are found all the same, and old ones deleted.
func TestADamagedRowKeepsNoOtherMessageWaiting(t *testing.T) {
	for table, stage := range map[string]string{"documents": "index", "vectors": "embed"} {
		t.Run(table, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "belfry.db")
				b := &bench{Bench: &schedulertest.Bench{T: t, Stop: func() {}}}
				open := func() Config {
					db, err := store.Open(path, store.Options{})
					if err != nil {
						t.Fatal(err)
					}
					b.DB = db
					return Config{Keep: 24 * time.Hour, Vectors: search.New(db, nil, nil, search.Config{Model: "small", Embed: embed}).Vectors}
				}
				end := func() {
					b.Stop()
					if err := b.DB.Close(); err != nil {
						t.Fatal(err)
					}
				}
				cfg := open()
				b.Update(func(tx *store.Tx) error {
					b.channel = store.Channel{PeerID: 1, Username: "news", Interval: time.Minute}
					return tx.Channels.Put(&b.channel)
				})
				b.make(cfg)
				edited := b.arrive(store.Message{Text: "Пришла весна"})
				b.Pass(time.Minute)
				end()
				schedulertest.Damage(t, path, table, 1)
				cfg = open()
				b.Update(func(tx *store.Tx) error {
					m, err := tx.Messages.Get(edited[0])
					m.Text = "Пришла осень"
					return errors.Join(err, tx.Messages.Put(&m), tx.Streams.Append(store.TopicParsed, store.EventEdited, m.ID))
				})
				other := b.arrive(store.Message{Text: "Река вскрылась"}) // they are in one batch
				b.make(cfg)
				b.Pass(2 * time.Hour)
				b.View(func(tx *store.Tx) error {
					d, err := tx.Documents.OfMessage(other[0])
					_, missing := tx.Vectors.Of(d.ID)
					if err = errors.Join(err, missing); err != nil {
						t.Errorf("the other message: %v", err)
					}
					return nil
				})
				if s := b.status(stage); s.Parked != 1 || s.Lag != 0 {
					t.Errorf("%d parked, %d wait", s.Parked, s.Lag)
				}
				b.Pass(48 * time.Hour)
				b.View(func(tx *store.Tx) error {
					if n := tx.Messages.Count(); n != 0 {
						t.Errorf("%d messages are kept for ever", n)
					}
					return nil
				})
				end()
			})
		})
	}
}

func embed(_ context.Context, texts []string) ([][]float32, error) {
	values := make([][]float32, len(texts))
	for i := range values {
		values[i] = []float32{1, float32(len(texts[i]))}
	}
	return values, nil
}
