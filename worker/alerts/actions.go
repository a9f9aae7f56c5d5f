package alerts

import (
	"time"

	"belfry/store"
)

// Acknowledge writes that somebody has seen an alert: it is not shown as one to look at any more. One
// about something that has happened is over with it. Once is enough; again changes nothing.
func (w *Worker) Acknowledge(tx *store.Tx, id uint64, by string) (store.Alert, error) {
	a, err := tx.Alerts.Get(id)
	if err != nil || a.State() != store.AlertOpen {
		return a, err
	}
	err = acknowledge(tx, &a, by)
	return a, err
}

// AcknowledgeAll is Acknowledge for all open alerts, or those that were raised until a time, and returns how many
// there were.
func (w *Worker) AcknowledgeAll(tx *store.Tx, by string, until time.Time) (n int, err error) {
	for a := range tx.Alerts.AllStanding() {
		if a.State() != store.AlertOpen || !until.IsZero() && a.RaisedAt.After(until) {
			continue
		}
		if err := acknowledge(tx, &a, by); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func acknowledge(tx *store.Tx, a *store.Alert, by string) error {
	a.AcknowledgedAt, a.AcknowledgedBy = tx.Now(), by
	if !lasts(a.Kind) {
		a.OverAt = tx.Now()
	}
	return tx.Alerts.Put(a)
}
