package store

import (
	"encoding/base64"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
)

// MaxTries is how many attempts a delivery remembers: the first, and the last ones.
const MaxTries = 20

// Delivery is one chat of a task.
type Delivery struct {
	ID     uint64 `json:"id"`
	TaskID uint64 `json:"task_id"`
	Target string `json:"target"`            // as it was asked for
	ChatID uint64 `json:"chat_id,omitempty"` // the chat that it turned out to be; 0: not known yet
	Title  string `json:"title,omitempty"`

	Status DeliveryStatus `json:"status"`
	Reason Reason         `json:"reason,omitzero"` // why it has that status, or why it waits
	After  time.Time      `json:"after,omitzero"`  // it waits at least until then
	// Key makes the call to the network repeatable. It is fixed before the first attempt.
	Key   int64 `json:"key,omitempty"`
	Tries []Try `json:"tries,omitempty"`
	Tried int   `json:"tried,omitempty"` // attempts in all
	// Failures are the attempts that count against the limit.
	Failures int `json:"failures,omitempty"`
	// Reach is what the dry run found: empty, "yes" or "no", then with Reason in Unreachable.
	Reach       string    `json:"reach,omitempty"`
	Unreachable Reason    `json:"unreachable,omitzero"`
	MessageIDs  []int64   `json:"message_ids,omitempty"`
	Link        string    `json:"link,omitempty"`
	SentAt      time.Time `json:"sent_at,omitzero"`
	// Following are the targets of the deliveries that come after this one and are not written yet, fewer
	// than [MaxFollowing], with spaces between them.
	Following string `json:"following,omitempty"`
}

// MaxFollowing is how many deliveries one row stands for at most while a task is prepared.
const MaxFollowing = 250

// expanded yields a delivery and those that it stands for.
func (d Delivery) expanded(yield func(Delivery) bool) {
	following := strings.Fields(d.Following)
	d.Following = ""
	if !yield(d) {
		return
	}
	for i, target := range following {
		if !yield(Delivery{ID: d.ID + 1 + uint64(i), TaskID: d.TaskID, Target: target, Status: DeliveryPending}) {
			return
		}
	}
}

// AtEnd is the After of a delivery that waits for nothing, and comes after all others of its task.
func AtEnd() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }

// Try is one attempt to send.
type Try struct {
	At      time.Time  `json:"at"`
	Ended   time.Time  `json:"ended,omitzero"` // zero: nobody knows how it ended
	Outcome TryOutcome `json:"outcome"`
	Reason  Reason     `json:"reason,omitzero"`
	Wait    int        `json:"wait,omitempty"` // seconds that the network asked to wait
}

// Unanswered reports whether the message may be out although no answer said so.
func (t Try) Unanswered() bool { return t.Outcome == TryUnknown || t.Outcome == TryBegun }

// TryOutcome says how an attempt ended.
type TryOutcome string

// The outcomes of an attempt.
const (
	TryBegun   TryOutcome = "begun" // under way, or nobody knows: it is made again with the same key
	TrySent    TryOutcome = "sent"
	TryWaits   TryOutcome = "waits"   // the network asked to wait
	TryFailed  TryOutcome = "failed"  // something that may pass
	TryRefused TryOutcome = "refused" // by the chat
	TryUnknown TryOutcome = "unknown" // no answer came
)

// DeliveryStatus says how far a delivery has come.
type DeliveryStatus string

// The statuses of a delivery.
const (
	DeliveryPending DeliveryStatus = "pending"
	DeliverySent    DeliveryStatus = "sent"
	DeliveryFailed  DeliveryStatus = "failed"  // attempts were used up
	DeliverySkipped DeliveryStatus = "skipped" // the chat refuses, or it was not to be sent
)

// DeliveryStatuses are all statuses.
func DeliveryStatuses() []DeliveryStatus {
	return []DeliveryStatus{DeliveryPending, DeliverySent, DeliveryFailed, DeliverySkipped}
}

// Add notes an attempt, forgetting those in the middle if there are too many.
func (d *Delivery) Add(t Try) {
	d.Tried++
	if len(d.Tries) >= MaxTries {
		d.Tries = slices.Delete(d.Tries, 1, 2+len(d.Tries)-MaxTries)
	}
	d.Tries = append(d.Tries, t)
}

// Deliveries is the table of deliveries.
type Deliveries struct{ Table[Delivery] }

func deliveryTable() def[Delivery] {
	return def[Delivery]{
		name:  "deliveries",
		id:    func(d *Delivery) *uint64 { return &d.ID },
		valid: (*Delivery).validate,
		indexes: []Index[Delivery]{
			{Name: "status", Key: func(d *Delivery, k key) key {
				return k.uint(d.TaskID).str(string(d.Status)).time(d.After)
			}},
			{Name: "chat", Key: func(d *Delivery, k key) key {
				if d.ChatID == 0 {
					return nil
				}
				return k.uint(d.TaskID).uint(d.ChatID)
			}},
		},
	}
}

func (d *Delivery) validate() error {
	if slices.Contains(DeliveryStatuses(), d.Status) {
		return nil
	}
	return fmt.Errorf("delivery %d: no status is called %q", d.ID, d.Status)
}

// Reserve returns the first of n ids in a row that are given to no other delivery. Rows are written under
// them with [Deliveries.PutAt].
func (t Deliveries) Reserve(n int) (uint64, error) {
	t.wrote()
	rows := t.bucket()
	first := rows.Sequence() + 1
	return first, rows.SetSequence(rows.Sequence() + uint64(n))
}

// Next returns the pending delivery of a task that comes next, or [ErrNotFound]: one that has waited
// and need not any longer; else the first that was not tried; else the one whose wait ends first.
// Damaged ones are passed over.
func (t Deliveries) Next(taskID uint64) (Delivery, error) {
	prefix := key(nil).uint(taskID).str(string(DeliveryPending))
	waits := slices.Clip(prefix).uint(1)
	first := func(from, to key) (Delivery, error) {
		for d := range t.scan("status", from, to) {
			return d, nil
		}
		return Delivery{}, fmt.Errorf("pending delivery of task %d: %w", taskID, ErrNotFound)
	}
	waiting, err := first(waits, prefix.next())
	if err == nil && !waiting.After.After(t.in().Now()) {
		return waiting, nil
	}
	if untried, err := first(prefix, waits); err == nil {
		return untried, nil
	}
	return waiting, err
}

// To returns the deliveries of a task that go to a chat. Its error is a [*CorruptError] if one of them is
// damaged: that one may have been made, and nothing is sent twice.
func (t Deliveries) To(taskID, chatID uint64) (all []Delivery, err error) {
	prefix := key(nil).uint(taskID).uint(chatID)
	for entry := range t.entries("chat", prefix, prefix.next()) {
		d, err := t.named("chat", entry)
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return all, nil
}

// Of returns deliveries of a task; with a status, those that have it, and else all, in the order in
// which they were named.
func (t Deliveries) Of(task Task, status DeliveryStatus, q Query) (Page[Delivery], error) {
	if status != "" {
		return t.page("status", key(nil).uint(task.ID).str(string(status)), q, false)
	}
	return t.rows(task, q)
}

// Each yields all deliveries, also those that others stand for.
func (t Deliveries) Each() iter.Seq[Delivery] {
	return func(yield func(Delivery) bool) {
		for row := range t.All() {
			for d := range row.expanded {
				if !yield(d) {
					return
				}
			}
		}
	}
}

// rows returns the deliveries of a task, also those that are not written yet.
func (t Deliveries) rows(task Task, q Query) (Page[Delivery], error) {
	var page Page[Delivery]
	from, to := task.First, task.First+uint64(task.Total)
	if q.Cursor != "" {
		after, err := base64.RawURLEncoding.DecodeString(q.Cursor)
		if err != nil || len(after) != idSize || entryID(after) < from || entryID(after) >= to {
			return page, errCursor()
		}
		from = entryID(after) + 1
	}
	first := from
	if task.Prepared > 0 { // a row before it may stand for it
		first = max(task.First, from-min(from, MaxFollowing))
	}
	for row := range t.From(first) {
		if row.ID >= to {
			break
		}
		for d := range row.expanded {
			if d.ID < from {
				continue
			}
			if len(page.Items) == q.limit() {
				page.Next = base64.RawURLEncoding.EncodeToString(rowKey(page.Items[len(page.Items)-1].ID))
				return page, nil
			}
			page.Items = append(page.Items, d)
		}
	}
	return page, nil
}
