package pipeline

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"belfry/scheduler"
	"belfry/store"
)

// RelayKind is the kind and the name of the job that hands the streams to Redis.
const RelayKind = "relay"

const (
	relayBatch = 200
	relayTime  = time.Minute
	// relayPause is the pause after Redis did not take the events; it does not grow, and what waits is told as lag.
	relayPause = 15 * time.Second
)

// relayGroup is the name of the group that hands on a topic.
func relayGroup(topic store.Topic) string { return "relay:" + string(topic) }

// streamKey is a topic's stream in Redis, as the replaced system called it.
func streamKey(topic store.Topic) string {
	return "stream:" + strings.ReplaceAll(string(topic), ".", ":")
}

// relay hands the streams to Redis Streams: each event at least once, those of a topic in their order. The id of an event
// is the same for every repetition.
type relay struct {
	client *redis.Client
	length int64
}

// newRelay returns the relay that the settings name, or nil.
func newRelay(cfg Config) (*relay, error) {
	if cfg.Relay == "" {
		return nil, nil
	}
	options, err := redis.ParseURL(cfg.Relay)
	if err != nil { // which may repeat the password
		return nil, store.Invalid("BELFRY_RELAY_REDIS", "invalid.redis")
	}
	options.MaxRetries, options.PoolSize = -1, 1 // the schedule repeats
	return &relay{redis.NewClient(options), cfg.Length}, nil
}

// relayRunner carries out the relay's job.
type relayRunner struct {
	*relay
	db *store.DB
}

func (r *relay) runner(db *store.DB) scheduler.Worker { return relayRunner{r, db} }

// Run hands on the next events of each topic, and records in the transaction that ends the run how far it came.
func (r relayRunner) Run(ctx context.Context, _ store.Job) (scheduler.Outcome, error) {
	if r.relay == nil {
		return scheduler.Outcome{}, nil
	}
	var batches []store.Batch
	next := r.db.Now().Add(idle)
	messages := map[uint64]store.Message{}
	err := r.db.View(func(tx *store.Tx) error {
		for _, topic := range store.Topics {
			batch, err := tx.Streams.Fetch(relayGroup(topic), relayBatch)
			if err != nil {
				return err
			}
			next = earliest(batch.Next, next)
			if !batch.Empty() {
				batches = append(batches, batch)
			}
			for _, item := range batch.Items {
				if m, err := tx.Messages.Get(item.Event.Message); err == nil {
					messages[m.ID] = m
				}
			}
		}
		return nil
	})
	if err != nil {
		return scheduler.Outcome{}, err
	}
	if len(batches) == 0 {
		return scheduler.Outcome{Again: next, Step: true}, nil
	}
	if err := r.send(ctx, batches, messages); err != nil {
		why, again := store.Reason{Code: store.ReasonError, Detail: err.Error()}, r.db.Now().Add(relayPause)
		return scheduler.Outcome{Again: again, Reason: why, Step: true, Write: func(tx *store.Tx) error {
			for _, batch := range batches {
				if err := tx.Streams.Hold(batch.Group.Name, again, why); err != nil {
					return err
				}
			}
			return nil
		}}, nil
	}
	return scheduler.Outcome{Again: next, Step: true, Write: func(tx *store.Tx) error {
		for _, batch := range batches {
			done := make([]store.Handled, len(batch.Items))
			for i := range done {
				done[i].State = store.StageDone
			}
			if err := tx.Streams.Commit(batch, done); err != nil {
				return err
			}
		}
		return nil
	}}, nil
}

// send adds events to their streams, in one transaction of Redis: all of them, or none.
func (r *relay) send(ctx context.Context, batches []store.Batch, messages map[uint64]store.Message) error {
	ctx, cancel := context.WithTimeout(ctx, relayTime)
	defer cancel()
	_, err := r.client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
		for _, batch := range batches {
			for _, item := range batch.Items {
				m := messages[item.Event.Message] // without a message: it was trimmed, and the event is all there is
				data, err := json.Marshal(map[string]any{"why": item.Event.Why, "at": item.Event.At, "message": m})
				if err != nil {
					return fmt.Errorf("encode message %d: %w", m.ID, err)
				}
				pipe.XAdd(ctx, &redis.XAddArgs{
					Stream: streamKey(batch.Group.Topic), MaxLen: r.length, Approx: r.length > 0,
					Values: []any{"id", eventID(batch.Group.Topic, item), "channel_id", m.ChannelID, "message_id", m.MessageID, "data", data},
				})
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("hand events to Redis: %w", err)
	}
	return nil
}

// eventID names an event for the other side, which drops repetitions by it. The time tells it from one with the same
// number in a file that was restored.
func eventID(topic store.Topic, item store.StreamItem) string {
	return fmt.Sprintf("%s:%d:%d", topic, item.Seq, item.Event.At.UnixNano())
}
