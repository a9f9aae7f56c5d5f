// Package channels reads Telegram channels as user accounts: what is new, edited and deleted, in order, without a gap
// and without a repetition.
//
// Each channel is a job of its own, in the lane of what its account reads, which is not that of what it sends. A run
// makes one read; what it brought, where reading goes on and the events for the pipeline are one commit. So nothing is
// lost or done twice wherever the program ends, and what is wrong with one channel keeps no other waiting.
package channels

import (
	"context"
	"time"

	"belfry/platform"
	"belfry/scheduler"
	"belfry/store"
	"belfry/worker"
	"belfry/worker/send"
)

const (
	// Interval is the time between two reads of a channel unless another is set, and shortest the least that may be.
	Interval = 5 * time.Minute
	shortest = 5 * time.Second
	longest  = 7 * 24 * time.Hour
	// sinceDefault is how far back a channel is read unless it is said.
	sinceDefault = 7 * 24 * time.Hour
	// pageSize is how many messages are asked for at once; Telegram gives no more.
	pageSize = 100
	// followed is how long views and reactions are followed, each few intervals; known is how old messages may be that
	// are asked for again when Telegram does not tell what has happened.
	followed   = 48 * time.Hour
	followEach = 3
	known      = 30 * 24 * time.Hour
	// The pauses after failures begin with the interval and double up to these: a channel that may not be read seldom
	// opens again within minutes.
	longestPause = 15 * time.Minute
	refusedPause = 6 * time.Hour
	// lateAfter is how many intervals, and at least how long, an active channel may go without being read.
	lateAfter = 3
	lateLeast = 10 * time.Minute
)

// Network is what reads channels. Its errors are of type [*platform.Error]; one whose scope is the chat says nothing
// about other channels.
type Network interface {
	FindChannel(ctx context.Context, identityID uint64, name string) (platform.Chat, error)
	Chats(ctx context.Context, identityID uint64) ([]platform.Chat, error)
	HistoryBefore(ctx context.Context, identityID uint64, channel int64, at time.Time) (platform.History, error)
	History(ctx context.Context, identityID uint64, channel int64, after, limit int) (platform.History, error)
	MessagesByID(ctx context.Context, identityID uint64, channel int64, ids []int) (platform.History, error)
	Difference(ctx context.Context, identityID uint64, channel int64, pts int) (platform.Difference, error)
	Photo(ctx context.Context, identityID uint64, channel int64, messageID int, f platform.PhotoFile) ([]byte, error)
}

// Config is the settings of a [Worker].
type Config struct {
	// Photos says that photos are fetched, for a stage that looks at them.
	Photos bool
}

// Worker reads channels.
type Worker struct {
	db      *store.DB
	network Network
	cfg     Config
	began   time.Time // before that nothing could be read
}

// New returns a worker for the channels in db.
func New(db *store.DB, network Network, cfg Config) *Worker {
	return &Worker{db: db, network: network, cfg: cfg, began: db.Now()}
}

// Module is what the worker brings to the program.
func (w *Worker) Module() worker.Module {
	return worker.Module{
		Kinds: scheduler.Kinds{store.ChannelKind: {
			Worker: w, Timeout: 3 * time.Minute, Retry: scheduler.Retry{Backoff: time.Minute, Jitter: 0.2}, Routine: true,
			About: worker.About(func(tx *store.Tx) store.Table[store.Channel] { return tx.Channels.Table }, store.Channel.Name),
		}},
		Start: func() error { w.began = w.db.Now(); return nil },
		Wrong: w.wrong, Metrics: w.metrics(),
	}
}

// maxWrong is how many channels are named that cannot be read; the others are counted.
const maxWrong = 50

// wrong returns an alert for each channel that cannot be read, and one for those that wait too long for another reason.
func (w *Worker) wrong(tx *store.Tx) (all []store.Alert) {
	for c := range tx.Channels.Failing() {
		if len(all) == maxWrong {
			break
		}
		all = append(all, store.Alert{Kind: store.AlertChannel, About: c.JobName(), Subject: c.ID, Name: c.Name(), Reason: c.LastError, Count: int64(c.Failures)})
	}
	late := store.Alert{Kind: store.AlertReading, About: "channels"}
	for c := range tx.Channels.All() {
		if why, is := w.late(tx, c); is {
			if late.Count++; late.Count == 1 {
				late.Subject, late.Name, late.Reason = c.ID, c.Name(), why
			}
		}
	}
	if late.Count > 0 {
		all = append(all, late)
	}
	return all
}

// late reports whether a channel was not read in time although nothing is wrong with it, and why.
func (w *Worker) late(tx *store.Tx, c store.Channel) (why store.Reason, is bool) {
	since := worker.Later(c.LastParsedAt, worker.Later(c.UpdatedAt, w.began))
	if !c.Active || c.Removed || c.Failures > 0 || tx.Now().Sub(since) < max(lateAfter*c.Interval, lateLeast) {
		return why, false
	}
	identity, err := tx.Identities.Get(c.IdentityID)
	if err != nil {
		return store.Reason{Code: store.ReasonIdentityGone}, true
	}
	if _, may := send.MayAct(identity); !may { // that is an alert by itself
		return why, false
	}
	job, err := tx.Jobs.ByName(c.JobName())
	if err != nil {
		return why, false
	}
	if why, err = scheduler.Why(tx, job); err != nil || why.Code == store.ReasonPaused {
		return why, false
	}
	return why, true
}

// The freshness of a channel.
const (
	Fresh   = "fresh"
	Late    = "late"    // it was not read in time
	Failing = "failing" // the last read failed
	Never   = "never"   // it was never read
	Paused  = "paused"
)

// Status is a channel with the state of its job.
type Status struct {
	store.Channel
	Freshness string
	Next      time.Time    // the next read; zero if there is none
	Why       store.Reason // it waits for
}

// StatusOf reads the state of a channel.
func (w *Worker) StatusOf(tx *store.Tx, c store.Channel) (Status, error) {
	s := Status{Channel: c, Freshness: Fresh}
	job, err := tx.Jobs.ByName(c.JobName())
	if err == nil && c.Active {
		if s.Why, err = scheduler.Why(tx, job); err != nil {
			return s, err
		}
		s.Next = worker.Later(job.Due, s.Why.Until)
	}
	_, late := w.late(tx, c)
	switch {
	case !c.Active || job.Paused || job.State == store.JobPaused:
		s.Freshness, s.Next = Paused, time.Time{}
	case c.Failures > 0:
		s.Freshness = Failing
	case late:
		s.Freshness = Late
	case c.LastParsedAt.IsZero():
		s.Freshness = Never
	}
	return s, nil
}
