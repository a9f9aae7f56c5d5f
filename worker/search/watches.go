package search

import (
	"errors"
	"slices"
	"strings"
	"time"

	"belfry/platform"
	"belfry/platform/webhook"
	"belfry/scheduler"
	"belfry/store"
)

// maxName bounds the name of a watch or a tag, in bytes.
const maxName = 100

// WatchRequest is a watch as its owner asks for it.
type WatchRequest struct {
	Name, Query string
	Channels    []uint64
	Action      string // notify, draft or webhook
	URL         string
}

// AddWatch writes a watch. One that calls a webhook gets a secret, with which its calls are signed. The errors are of type
// [*store.FieldError].
func (w *Worker) AddWatch(tx *store.Tx, r WatchRequest) (store.Watch, error) {
	watch := store.Watch{Active: true, CreatedAt: tx.Now()}
	if err := r.fill(tx, &watch); err != nil {
		return watch, err
	}
	return watch, tx.Watches.Put(&watch)
}

// ChangeWatch changes a watch to what change makes of the request that it was made with.
func (w *Worker) ChangeWatch(tx *store.Tx, id uint64, change func(*WatchRequest)) (store.Watch, error) {
	watch, err := tx.Watches.Get(id)
	if err != nil {
		return watch, err
	}
	r := WatchRequest{watch.Name, watch.Query, watch.Channels, watch.Action, watch.URL}
	change(&r)
	if err := r.fill(tx, &watch); err != nil {
		return watch, err
	}
	return watch, tx.Watches.Put(&watch)
}

// fill checks a request and writes it into a watch.
func (r WatchRequest) fill(tx *store.Tx, watch *store.Watch) error {
	r.Name, r.Query, r.URL = strings.TrimSpace(r.Name), strings.TrimSpace(r.Query), strings.TrimSpace(r.URL)
	if r.Name == "" || len(r.Name) > maxName {
		return store.Invalid("name", "invalid.search_name", maxName)
	}
	q, err := Parse(r.Query)
	if refused, ok := errors.AsType[*store.FieldError](err); ok {
		return store.Invalid("query", refused.Key, refused.Args...)
	}
	if q.Empty() {
		return store.Invalid("query", "invalid.search_empty")
	}
	for _, id := range r.Channels {
		if _, err := tx.Channels.Get(id); err != nil {
			return store.Invalid("channels", "invalid.search_channel", id)
		}
	}
	switch r.Action {
	case store.WatchNotify, store.WatchDraft:
		r.URL = ""
	case store.WatchWebhook:
		if _, err := webhook.New(r.URL, webhook.With{}); err != nil {
			return store.Invalid("url", "invalid.web_address", r.URL)
		}
		if watch.Secret == "" && watch.Sealed == "" {
			watch.Secret = webhook.NewSecret()
		}
	default:
		return store.Invalid("action", "invalid.not_one_of", r.Action, "notify, draft, webhook")
	}
	watch.Name, watch.Query, watch.Channels, watch.Action, watch.URL = r.Name, r.Query, r.Channels, r.Action, r.URL
	return nil
}

// PauseWatch keeps a watch from finding messages, and ResumeWatch lets it: those that are new from then on.
func (w *Worker) PauseWatch(tx *store.Tx, id uint64) (store.Watch, error) {
	return setActive(tx, id, false)
}

// ResumeWatch is the opposite of [Worker.PauseWatch].
func (w *Worker) ResumeWatch(tx *store.Tx, id uint64) (store.Watch, error) {
	return setActive(tx, id, true)
}

func setActive(tx *store.Tx, id uint64, active bool) (store.Watch, error) {
	watch, err := tx.Watches.Get(id)
	if err != nil || watch.Active == active {
		return watch, err
	}
	watch.Active = active
	return watch, tx.Watches.Put(&watch)
}

// RemoveWatch deletes a watch, and what it has not done yet.
func (w *Worker) RemoveWatch(tx *store.Tx, id uint64) error {
	if err := tx.Watches.Delete(id); err != nil {
		return err
	}
	jobs, err := tx.WatchHits.DropOf(id)
	for _, name := range jobs {
		err = errors.Join(err, scheduler.Delete(tx, name))
	}
	return err
}

// match puts into the schedule what watches do with a document. What was written before a watch was made may be read, or
// edited, after that, and is not for it.
func (w *Worker) match(tx *store.Tx, d *store.Document) error {
	for watch := range tx.Watches.Active() {
		if len(watch.Channels) > 0 && !slices.Contains(watch.Channels, d.ChannelID) ||
			d.Date.Before(watch.CreatedAt.Truncate(time.Second)) || !w.query(watch.Query).Matches(d) {
			continue
		}
		hit := store.WatchHit{WatchID: watch.ID, MessageID: d.MessageID, Key: platform.NewKey()}
		err := tx.WatchHits.Add(&hit)
		if errors.Is(err, store.ErrExists) { // it has found the message before
			continue
		}
		watch.Hits++
		watch.LastHitAt = tx.Now()
		if err := errors.Join(err, tx.Watches.Put(&watch), scheduler.Put(tx, hit.Job())); err != nil {
			return err
		}
	}
	return nil
}

// maxParsed bounds the queries that are kept as they were read.
const maxParsed = 1000

// query returns the query of a watch, which was accepted when that was made.
func (w *Worker) query(text string) Query {
	w.mu.Lock()
	defer w.mu.Unlock()
	q, known := w.parsed[text]
	if !known {
		if len(w.parsed) >= maxParsed {
			clear(w.parsed)
		}
		q, _ = Parse(text) // one that only another version accepts is empty, and matches nothing
		w.parsed[text] = q
	}
	return q
}
