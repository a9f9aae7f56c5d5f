package api

import (
	"context"
	"time"

	"belfry/store"
)

// Delivery is one chat of a broadcast as the API shows it.
type Delivery struct {
	ID          uint64    `json:"id"`
	Target      string    `json:"target" doc:"The chat as it was asked for"`
	Title       string    `json:"title,omitempty" doc:"The chat's name, once it is known"`
	Status      string    `json:"status" doc:"pending, sent, failed or skipped" enum:"pending,sent,failed,skipped"`
	Reason      *Reason   `json:"reason,omitempty" doc:"Why it has that status, or why it waits"`
	Attempts    []Attempt `json:"attempts" doc:"The first and the last ones" nullable:"false"`
	Attempted   int       `json:"attempt_count" doc:"Attempts in all"`
	MessageIDs  []int64   `json:"message_ids" nullable:"false"`
	Link        string    `json:"link,omitempty" doc:"Where a reader finds it"`
	SentAt      time.Time `json:"sent_at,omitzero"`
	After       time.Time `json:"after,omitzero" doc:"It waits at least until then"`
	Reachable   string    `json:"reachable" doc:"What the dry run found: yes, no, or empty" enum:",yes,no"`
	Unreachable *Reason   `json:"unreachable,omitempty" doc:"Why it cannot be reached"`
}

// Attempt is one attempt to send.
type Attempt struct {
	At      time.Time `json:"at"`
	Ended   time.Time `json:"ended,omitzero" doc:"Missing if nobody knows how it ended"`
	Outcome string    `json:"outcome" doc:"sent, waits, failed, refused, unknown, or begun: under way" enum:"sent,waits,failed,refused,unknown,begun"`
	Reason  *Reason   `json:"reason,omitempty"`
	Wait    int       `json:"wait_seconds,omitempty" doc:"How long the network asked to wait"`
}

func (s *Server) shownDelivery(d store.Delivery) Delivery {
	if d.After.Equal(store.AtEnd()) { // it waits for no time
		d.After = time.Time{}
	}
	shown := Delivery{
		ID: d.ID, Target: d.Target, Title: d.Title, Status: string(d.Status), Reason: s.reasonOf(d.Reason),
		Attempts: make([]Attempt, 0, len(d.Tries)), Attempted: d.Tried, MessageIDs: append([]int64{}, d.MessageIDs...),
		Link: d.Link, SentAt: d.SentAt, After: d.After, Reachable: d.Reach, Unreachable: s.reasonOf(d.Unreachable),
	}
	for _, t := range d.Tries {
		shown.Attempts = append(shown.Attempts, Attempt{At: t.At, Ended: t.Ended, Outcome: string(t.Outcome), Reason: s.reasonOf(t.Reason), Wait: t.Wait})
	}
	return shown
}

type deliveryFilter struct {
	ID uint64 `path:"id" doc:"The broadcast's id"`
	Paged
	Status string `query:"status" enum:"pending,sent,failed,skipped" doc:"Only chats whose delivery has this status"`
}

func (s *Server) listDeliveries(_ context.Context, in *deliveryFilter) (*reply[List[Delivery]], error) {
	return listed(s, func(tx *store.Tx) (page store.Page[store.Delivery], err error) {
		t, err := tx.Tasks.Get(in.ID)
		if err != nil {
			return page, err
		}
		return tx.Deliveries.Of(t, store.DeliveryStatus(in.Status), in.query())
	}, plain(s.shownDelivery))
}
