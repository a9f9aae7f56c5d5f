package store

import (
	"errors"
	"fmt"
	"iter"
	"time"
)

// Watch is a search that new messages are compared with.
type Watch struct {
	ID       uint64   `json:"id"`
	Name     string   `json:"name"`
	Query    string   `json:"query"`
	Channels []uint64 `json:"channels,omitempty"` // of the [Channel]; none: all
	Action   string   `json:"action"`             // notify, draft or webhook
	URL      string   `json:"url,omitempty"`      // of a webhook
	Secret   string   `json:"secret,omitempty"`   // with which calls are signed; shown once, and sealed in the file
	Sealed   string   `json:"sealed,omitempty"`   // not empty: the secret, sealed with another key
	Active   bool     `json:"active"`

	Hits      int       `json:"hits,omitempty"`
	LastHitAt time.Time `json:"last_hit_at,omitzero"`
	CreatedAt time.Time `json:"created_at"`
}

// What a watch does with a message.
const (
	WatchNotify  = "notify"
	WatchDraft   = "draft"
	WatchWebhook = "webhook"
)

// Watches is the table of watches.
type Watches struct{ Table[Watch] }

func watchTable() def[Watch] {
	return def[Watch]{
		name: "watches",
		id:   func(w *Watch) *uint64 { return &w.ID },
		secret: func(w *Watch) secret {
			return secret{[]byte(w.Secret), func(plain []byte) { w.Secret = string(plain) }, &w.Sealed}
		},
		indexes: []Index[Watch]{
			{Name: "created", Key: func(w *Watch, k key) key { return k.time(w.CreatedAt) }},
			{Name: "active", Key: func(w *Watch, k key) key {
				if !w.Active {
					return nil
				}
				return k.time(w.CreatedAt)
			}},
		},
	}
}

// ByTime returns the watches, the latest first.
func (t Watches) ByTime(q Query) (Page[Watch], error) { return t.page("created", nil, q, true) }

// Active yields the watches that are not paused.
func (t Watches) Active() iter.Seq[Watch] { return t.scan("active", nil, nil) }

// WatchHit is a message that a watch has found. There is one for each message and watch, and so one effect.
type WatchHit struct {
	ID        uint64    `json:"id"`
	WatchID   uint64    `json:"watch_id"`
	MessageID uint64    `json:"message_id"` // of the [Message]
	State     string    `json:"state"`      // waiting, done or failed
	Key       int64     `json:"key"`        // makes the call of a webhook repeatable
	PostID    uint64    `json:"post_id,omitempty"`
	Reason    Reason    `json:"reason,omitzero"` // why it failed
	At        time.Time `json:"at"`
}

// The states of a hit.
const (
	HitWaiting = "waiting"
	HitDone    = "done"
	HitFailed  = "failed"
)

// WatchKind is the kind of the jobs that carry out what watches do.
const WatchKind = "watch"

// Job is the job that carries out what the watch does. Its lane is the watch's: one that waits keeps no other waiting.
func (h WatchHit) Job() Job {
	return Job{
		Name: fmt.Sprintf("watch_%d", h.ID), Kind: WatchKind, Subject: h.ID, Lane: fmt.Sprintf("watch_%d", h.WatchID), Trigger: Trigger{At: h.At},
	}
}

// WatchHits is the table of hits.
type WatchHits struct{ Table[WatchHit] }

const (
	maxHits   = 50_000
	maxHitAge = 180 * 24 * time.Hour
)

func watchHitTable() def[WatchHit] {
	return def[WatchHit]{
		name: "watch_hits",
		id:   func(h *WatchHit) *uint64 { return &h.ID },
		job: func(_ *Tx, h *WatchHit) Job {
			if h.State != HitWaiting {
				return Job{}
			}
			job := h.Job()
			job.State, job.Occurrence, job.Due = JobWaiting, h.At, h.At
			return job
		},
		indexes: []Index[WatchHit]{
			{Name: "message", Unique: true, Key: func(h *WatchHit, k key) key { return k.uint(h.WatchID).uint(h.MessageID) }},
			{Name: "watch", Key: func(h *WatchHit, k key) key { return k.uint(h.WatchID).time(h.At) }},
		},
	}
}

// Of returns the hits of a watch, the latest first.
func (t WatchHits) Of(watchID uint64, q Query) (Page[WatchHit], error) {
	return t.page("watch", key(nil).uint(watchID), q, true)
}

// Add writes a new hit, and forgets some that have ended and are too old or too many. The error wraps [ErrExists] if
// the watch has found the message before.
func (t WatchHits) Add(h *WatchHit) error {
	h.State, h.At = HitWaiting, t.in().Now()
	if err := t.Put(h); err != nil {
		return err
	}
	return trim(t.Table, h.ID, maxHits, func(h *WatchHit) bool {
		return h.State != HitWaiting && h.At.Before(t.in().Now().Add(-maxHitAge))
	})
}

// DropOf deletes the hits of a watch and returns the jobs that they had.
func (t WatchHits) DropOf(watchID uint64) (jobs []string, err error) {
	from := key(nil).uint(watchID)
	for h := range t.scan("message", from, from.next()) {
		if h.State == HitWaiting {
			jobs = append(jobs, h.Job().Name)
		}
		err = errors.Join(err, t.Delete(h.ID))
	}
	return jobs, err
}
