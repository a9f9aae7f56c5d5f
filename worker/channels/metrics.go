package channels

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"belfry/store"
	"belfry/worker"
)

// metrics are about all channels together: none has a label for each.
func (w *Worker) metrics() []prometheus.Collector {
	return []prometheus.Collector{
		worker.Gauge(w.db, "belfry_channels", "Channels by the state of their reading.", []string{"state"}, w.countChannels),
		worker.Gauge(w.db, "belfry_channel_oldest_read_timestamp_seconds", "When the channel was read whose last read is the longest ago, of those that are not paused.", nil, oldestRead),
	}
}

func (w *Worker) countChannels(tx *store.Tx, set func(float64, ...string)) error {
	counts := map[string]int{}
	for c := range tx.Channels.All() {
		if c.Removed {
			continue
		}
		s, err := w.StatusOf(tx, c)
		if err != nil {
			return err
		}
		counts[s.Freshness]++
	}
	for _, state := range []string{Fresh, Late, Failing, Never, Paused} {
		set(float64(counts[state]), state)
	}
	return nil
}

func oldestRead(tx *store.Tx, set func(float64, ...string)) error {
	var oldest time.Time
	for c := range tx.Channels.All() {
		if c.Active && !c.Removed && !c.LastParsedAt.IsZero() && (oldest.IsZero() || c.LastParsedAt.Before(oldest)) {
			oldest = c.LastParsedAt
		}
	}
	if !oldest.IsZero() {
		set(float64(oldest.UnixNano()) / 1e9)
	}
	return nil
}
