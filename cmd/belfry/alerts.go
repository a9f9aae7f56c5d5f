package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/spf13/cobra"

	"belfry/store"
)

// newAlerts returns the commands for alerts.
func newAlerts() *cobra.Command {
	return newGroup("alerts", "Alerts: list and acknowledge them.", newAlertsList, newAlertsAck())
}

// newAlertsList returns the command that lists the alerts.
func newAlertsList() *cobra.Command {
	type alert struct {
		ID               uint64
		State, What, Why string
		RaisedAt         time.Time `json:"raised_at"`
	}
	return newList("list", "List what is or was wrong, the latest first.", "/alerts", [][2]string{{"state", "Only open, acknowledged or resolved."}},
		"ID|STATE|SINCE (UTC)|WHAT|WHY", func(a alert) []any { return []any{a.ID, a.State, moment(a.RaisedAt), a.What, a.Why} })
}

// newAlertsAck returns the command that acknowledges alerts.
func newAlertsAck() *cobra.Command {
	var all bool
	c := newAPICommand("ack [ID...]", "Acknowledge alerts, by the ids in the list, or all.", func(ctx context.Context, l *local, args []string) error {
		if all != (len(args) == 0) {
			return store.Invalid("ID", "invalid.alerts_or_all")
		}
		if all {
			var done struct{ Acknowledged int }
			if err := l.call(ctx, http.MethodPost, "/alerts/acknowledge", nil, &done); err != nil {
				return err
			}
			_, err := fmt.Fprintf(l.out, "%d acknowledged\n", done.Acknowledged)
			return err
		}
		for _, id := range args { // an unknown id does not undo those before it
			if err := l.call(ctx, http.MethodPost, "/alerts/"+id+"/acknowledge", nil, nil); err != nil {
				return err
			}
		}
		return nil
	})
	c.Flags().BoolVar(&all, "all", false, "All open alerts.")
	return c
}
