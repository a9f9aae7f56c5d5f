package pipeline

import (
	"github.com/prometheus/client_golang/prometheus"

	"belfry/store"
	"belfry/worker"
)

// metrics say how the streams and their groups stand: the stages, and the relay with one group for each topic.
func (w *Worker) metrics() []prometheus.Collector {
	flows := func(name, help string, labels []string, read func(tx *store.Tx, f store.Flow, set func(float64, ...string))) prometheus.Collector {
		return worker.Gauge(w.db, name, help, labels, func(tx *store.Tx, set func(float64, ...string)) error {
			for f := range tx.Streams.Flows() {
				read(tx, f, set)
			}
			return nil
		})
	}
	return []prometheus.Collector{
		worker.Gauge(w.db, "belfry_stream_events", "Events that each stream has had.", []string{"topic"}, func(tx *store.Tx, set func(float64, ...string)) error {
			for _, topic := range store.Topics {
				set(float64(tx.Streams.Head(topic)), string(topic))
			}
			return nil
		}),
		flows("belfry_stage_events", "Events that each stage has had, by their state.", []string{"stage", "state"}, func(_ *store.Tx, f store.Flow, set func(float64, ...string)) {
			set(float64(f.Done), f.Name, store.StageDone)
			set(float64(f.Skipped), f.Name, store.StageSkipped)
			set(float64(f.Waiting), f.Name, store.StageWaiting)
			set(float64(f.Retrying), f.Name, store.StageRetrying)
			set(float64(f.Parked), f.Name, store.StageParked)
		}),
		flows("belfry_stage_lost_events", "Events of each stage that are neither handled nor kept.", []string{"stage"}, func(_ *store.Tx, f store.Flow, set func(float64, ...string)) {
			set(float64(f.Lost()), f.Name)
		}),
		flows("belfry_stage_oldest_seconds", "Since when the oldest event of each stage waits; 0 if none does.", []string{"stage"}, func(tx *store.Tx, f store.Flow, set func(float64, ...string)) {
			age := 0.0
			if !f.Oldest.IsZero() {
				age = max(0, tx.Now().Sub(f.Oldest).Seconds())
			}
			set(age, f.Name)
		}),
	}
}
