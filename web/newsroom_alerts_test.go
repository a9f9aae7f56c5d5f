package web

import (
	"time"

	"belfry/store"
)

// wrong adds what has gone wrong in the newsroom, and what has come right again.
func (h *harness) wrong() {
	refused := store.Reason{Code: store.ReasonRefused, Detail: "CHAT_WRITE_FORBIDDEN: this login may not post in the chat: make it an administrator that may post messages"}
	h.update(func(tx *store.Tx) error {
		now := tx.Now()
		ago := func(d time.Duration) time.Time { return now.Add(-d) }
		for _, a := range []store.Alert{
			{Kind: store.AlertDisk, About: "disk", Count: 700 << 20, Limit: 1 << 30, RaisedAt: ago(60 * time.Hour), OverAt: ago(56 * time.Hour), AcknowledgedAt: ago(58 * time.Hour), AcknowledgedBy: "@anna_editor"},
			{Kind: store.AlertOverdue, About: "schedule", Name: "post_77", Count: 9, RaisedAt: ago(30 * time.Hour), OverAt: ago(1730 * time.Minute)},
			{Kind: store.AlertTaskFailed, About: "task_3", Subject: 3, Count: 20, Limit: 24, Reason: refused, RaisedAt: ago(25 * time.Hour), AcknowledgedAt: ago(24 * time.Hour), OverAt: ago(24 * time.Hour), AcknowledgedBy: "the command line"},
			{Kind: store.AlertDisk, About: "disk", Count: 412 << 20, Limit: 1 << 30, RaisedAt: ago(9 * time.Hour), AcknowledgedAt: ago(8 * time.Hour), AcknowledgedBy: "the page"},
			{Kind: store.AlertPostFailed, About: "post_10", Subject: 10, Name: "@night_buses", Reason: refused, RaisedAt: ago(7 * time.Hour)},
			{Kind: store.AlertJobFailing, About: "autocheck", Name: "autocheck", Count: 4, Reason: store.Reason{Code: store.ReasonTimeout}, RaisedAt: ago(40 * time.Minute), GoneAt: ago(time.Minute)},
			{Kind: store.AlertLogin, About: "login_2", Subject: 2, Name: "weather", RaisedAt: ago(12 * time.Minute),
				Reason: store.Reason{Code: store.ReasonLogin, Detail: "ACCESS_TOKEN_EXPIRED: the bot token is not valid: get the present one from @BotFather"}},
		} {
			if raised, err := tx.Alerts.Standing(a.Kind, a.About); err == nil { // with the post, the broadcast or the login
				a.ID = raised.ID
			}
			if err := tx.Alerts.Add(&a); err != nil {
				return err
			}
		}
		return nil
	})
}
