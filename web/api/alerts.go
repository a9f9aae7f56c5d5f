package api

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"belfry/store"
	"belfry/web/session"
	"belfry/worker/alerts"
)

// Alert is an alert as the API shows it.
type Alert struct {
	ID             uint64    `json:"id"`
	Kind           string    `json:"kind" doc:"job_failing, post_failed, post_unknown, task_failed, rule_paused, booking, watch, overdue, login, token, unreached, disk, queue, damage, copy, channel, reading, stage_lag, stage_parked or stage_lost" enum:"job_failing,post_failed,post_unknown,task_failed,rule_paused,booking,watch,overdue,login,token,unreached,disk,queue,damage,copy,channel,reading,stage_lag,stage_parked,stage_lost"`
	About          string    `json:"about" doc:"What is wrong with what; as long as it is, no other alert has the same kind and the same about" example:"post_17"`
	Subject        uint64    `json:"subject,omitempty" doc:"The id of the record that it is about"`
	Name           string    `json:"name,omitempty" doc:"What people know that by: a login's name, a job's, where a post goes"`
	State          string    `json:"state" doc:"open, acknowledged or resolved" enum:"open,acknowledged,resolved"`
	What           string    `json:"what" doc:"What is wrong, in plain words"`
	Why            string    `json:"why,omitempty" doc:"Why, as far as is known"`
	Cure           string    `json:"cure,omitempty" doc:"What to do about it; missing once it is resolved"`
	Reason         *Reason   `json:"reason,omitempty" doc:"The same as why, for programs"`
	Count          int64     `json:"count,omitempty" doc:"The number that the kind has: failures in a row, minutes, chats that have it, jobs that wait, or free bytes"`
	Limit          int64     `json:"limit,omitempty" doc:"What the number is measured by: all chats, or the bytes that ought to be free"`
	RaisedAt       time.Time `json:"raised_at"`
	GoneAt         time.Time `json:"gone_at,omitzero" doc:"Since when it seems resolved; it is resolved when that lasts"`
	AcknowledgedAt time.Time `json:"acknowledged_at,omitzero"`
	AcknowledgedBy string    `json:"acknowledged_by,omitempty" doc:"Who acknowledged it" example:"the command line"`
	ResolvedAt     time.Time `json:"resolved_at,omitzero"`
}

// resolved is what the API calls [store.AlertOver].
const resolved = "resolved"

func alertState(state store.AlertState) string {
	if state == store.AlertOver {
		return resolved
	}
	return string(state)
}

func (s alertDoor) shownAlert(a store.Alert) Alert {
	words := alerts.Text(inEnglish(), a)
	return Alert{
		ID: a.ID, Kind: string(a.Kind), About: a.About, Subject: a.Subject, Name: a.Name, State: alertState(a.State()),
		What: words.What, Why: words.Why, Cure: words.Cure, Reason: s.reasonOf(a.Reason), Count: a.Count, Limit: a.Limit,
		RaisedAt: a.RaisedAt, GoneAt: a.GoneAt, AcknowledgedAt: a.AcknowledgedAt, AcknowledgedBy: a.AcknowledgedBy, ResolvedAt: a.OverAt,
	}
}

// Alerts is the door to alerts.
func Alerts(w *alerts.Worker) Door {
	return func(server *Server, a *api) {
		s := alertDoor{server, w}
		operation(a, http.MethodGet, "/alerts", "List what is wrong, or was, the latest first", s.listAlerts)
		operation(a, http.MethodGet, "/alerts/{id}", "Read an alert: what is wrong, why, and what to do", s.readAlert)
		operation(a, http.MethodPost, "/alerts/{id}/acknowledge", "Acknowledge an alert; again changes nothing", s.acknowledgeAlert)
		operation(a, http.MethodPost, "/alerts/acknowledge", "Acknowledge all alerts", s.acknowledgeAlerts)
	}
}

type alertDoor struct {
	*Server
	alerts *alerts.Worker
}

type alertFilter struct {
	Paged
	State string `query:"state" enum:"open,acknowledged,resolved" doc:"Only alerts in this state"`
}

func (s alertDoor) listAlerts(_ context.Context, in *alertFilter) (*reply[List[Alert]], error) {
	return listed(s.Server, func(tx *store.Tx) (store.Page[store.Alert], error) {
		switch in.State {
		case "":
			return latestAlerts(tx, in.query())
		case resolved:
			return tx.Alerts.ByState(store.AlertOver, in.query())
		}
		return tx.Alerts.ByState(store.AlertState(in.State), in.query())
	}, plain(s.shownAlert))
}

// latestAlerts lists the alerts of all states. Their ids are in the order in which they were raised,
// so an id is the cursor.
func latestAlerts(tx *store.Tx, q store.Query) (page store.Page[store.Alert], err error) {
	var below uint64
	if q.Cursor != "" {
		if below, err = strconv.ParseUint(q.Cursor, 10, 64); err != nil || below == 0 {
			return page, store.Invalid("cursor", "invalid.cursor")
		}
	}
	for a := range tx.Alerts.Newest(below) {
		if len(page.Items) == q.Limit {
			page.Next = strconv.FormatUint(page.Items[q.Limit-1].ID, 10)
			break
		}
		page.Items = append(page.Items, a)
	}
	return page, nil
}

func (s alertDoor) readAlert(_ context.Context, in *one) (*reply[Alert], error) {
	return record(s.db.View, func(tx *store.Tx) (store.Alert, error) { return tx.Alerts.Get(in.ID) }, plain(s.shownAlert))
}

func (s alertDoor) acknowledgeAlert(ctx context.Context, in *one) (*reply[Alert], error) {
	return record(s.db.Update, func(tx *store.Tx) (a store.Alert, err error) {
		by, err := session.NameOf(tx, session.CallerOf(ctx))
		if err != nil {
			return a, err
		}
		return s.alerts.Acknowledge(tx, in.ID, by)
	}, plain(s.shownAlert))
}

// Acknowledged says how many alerts were acknowledged.
type Acknowledged struct {
	Acknowledged int `json:"acknowledged" doc:"How many alerts were acknowledged just now"`
}

func (s alertDoor) acknowledgeAlerts(ctx context.Context, _ *struct{}) (*reply[Acknowledged], error) {
	return within(s.db.Update, func(tx *store.Tx) (out Acknowledged, err error) {
		by, err := session.NameOf(tx, session.CallerOf(ctx))
		if err != nil {
			return out, err
		}
		out.Acknowledged, err = s.alerts.AcknowledgeAll(tx, by, time.Time{})
		return out, err
	})
}
