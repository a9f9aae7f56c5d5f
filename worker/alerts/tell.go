package alerts

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"belfry/i18n"
	"belfry/store"
)

// The kinds of notices.
const (
	noticeRaised = "alert_raised"
	noticeOver   = "alert_over"
)

// PressList is what a button tells the bot that has the alerts listed.
const PressList = "alerts"

// PressAcknowledge is what the button of an alert tells the bot.
func PressAcknowledge(a store.Alert) string { return fmt.Sprint("alerts/ack/", a.ID, "/", Mark(a)) }

// PressAcknowledgeAll is what a button tells the bot that was made at a time, and is about all alerts that
// had been raised then.
func PressAcknowledgeAll(made time.Time) string { return fmt.Sprint("alerts/all/", made.UnixNano()) }

// Mark tells an alert from any other, also from one that has its id in a restored file.
func Mark(a store.Alert) string { return strconv.FormatInt(a.RaisedAt.UnixNano(), 36) }

// oneByOne is how many alerts of one look are told in a message each. More are told in one.
const oneByOne = 5

// tell tells the admins and the webhook what a look has found out.
func (w *Worker) tell(tx *store.Tx, n news) error {
	for _, a := range n.raised {
		w.cfg.Log.Warn().Uint64("alert", a.ID).Str("kind", string(a.Kind)).Str("about", a.About).Str("why", i18n.For("en", time.UTC).Say(a.Reason)).Msg("alert")
	}
	for _, a := range n.over {
		w.cfg.Log.Info().Uint64("alert", a.ID).Str("kind", string(a.Kind)).Str("about", a.About).Msg("alert is over")
	}
	if len(n.raised)+len(n.over) == 0 {
		return nil
	}
	if err := w.tellOver(tx, n.over); err != nil {
		return err
	}
	if err := w.tellRaised(tx, n.raised); err != nil {
		return err
	}
	return w.tellHook(tx, n)
}

func (w *Worker) tellRaised(tx *store.Tx, raised []store.Alert) error {
	if len(raised) > oneByOne {
		return w.teller.Tell(tx, store.Notice{Kind: noticeRaised, First: true, Text: w.manyRaised(raised),
			Buttons: [][]store.Button{{{Text: w.Printer().T("alert.show"), Data: PressList}, {Text: w.Printer().T("alerts.see_all"), Data: PressAcknowledgeAll(tx.Now())}}}})
	}
	for _, a := range raised {
		t := Text(w.Printer(), a)
		parts := []string{"⚠️ " + t.What}
		for _, part := range []string{t.Why, t.Cure} {
			if part != "" {
				parts = append(parts, part)
			}
		}
		err := w.teller.Tell(tx, store.Notice{Kind: noticeRaised, First: true, Text: strings.Join(parts, "\n\n"),
			Buttons: [][]store.Button{{{Text: w.Printer().T("alerts.see"), Data: PressAcknowledge(a)}}}})
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *Worker) tellOver(tx *store.Tx, over []store.Alert) error {
	for _, line := range w.overLines(over) {
		if err := w.teller.Tell(tx, store.Notice{Kind: noticeOver, First: true, Text: line}); err != nil {
			return err
		}
	}
	return nil
}

// overLines say what has come right: a line for each alert, or one for many.
func (w *Worker) overLines(over []store.Alert) (lines []string) {
	if len(over) > oneByOne {
		return []string{"✅ " + w.Printer().T("alert.over", len(over))}
	}
	for _, a := range over {
		lines = append(lines, "✅ "+sentence(w.Printer(), a, "over"))
	}
	return lines
}

// manyRaised says many alerts in one message.
func (w *Worker) manyRaised(raised []store.Alert) string {
	return "⚠️ " + w.Printer().T("alert.raised", len(raised)) + "\n\n" + w.list(raised)
}

// list is the first lines of the first alerts.
func (w *Worker) list(all []store.Alert) string {
	var b strings.Builder
	for i, a := range all {
		if i == oneByOne {
			b.WriteString("…")
			break
		}
		b.WriteString("• " + Text(w.Printer(), a).What + "\n")
	}
	return strings.TrimSpace(b.String())
}

// hookAlert is an alert as the webhook is told of it.
type hookAlert struct {
	ID       uint64          `json:"id"`
	Kind     store.AlertKind `json:"kind"`
	About    string          `json:"about"`
	What     string          `json:"what"`
	Why      string          `json:"why,omitempty"`
	RaisedAt time.Time       `json:"raised_at"`
	OverAt   time.Time       `json:"resolved_at,omitzero"`
}

// hookNews is what the webhook is told. Services that show a message find it in text.
type hookNews struct {
	Text   string      `json:"text"`
	Raised []hookAlert `json:"raised"`
	Over   []hookAlert `json:"resolved"`
	More   int         `json:"more,omitempty"` // alerts of both kinds that are not listed
}

// maxHook is how many alerts of each kind the webhook has listed.
const maxHook = 1000

// tellHook tells the webhook what a look has found out, in one call.
func (w *Worker) tellHook(tx *store.Tx, n news) error {
	raised, over := n.raised[:min(len(n.raised), maxHook)], n.over[:min(len(n.over), maxHook)]
	body := hookNews{Raised: w.hookAlerts(raised), Over: w.hookAlerts(over), More: len(n.raised) + len(n.over) - len(raised) - len(over)}
	var lines []string
	if len(n.raised) > oneByOne {
		lines = append(lines, w.manyRaised(n.raised))
	} else {
		for _, a := range body.Raised {
			lines = append(lines, "⚠️ "+a.What)
		}
	}
	lines = append(lines, w.overLines(n.over)...)
	body.Text = strings.Join(lines, "\n")
	data, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("tell the webhook: %w", err)
	}
	return w.teller.TellHook(tx, "alerts", data)
}

func (w *Worker) hookAlerts(all []store.Alert) []hookAlert {
	out := make([]hookAlert, len(all))
	for i, a := range all {
		t := Text(w.Printer(), a)
		out[i] = hookAlert{ID: a.ID, Kind: a.Kind, About: a.About, What: t.What, Why: t.Why, RaisedAt: a.RaisedAt, OverAt: a.OverAt}
	}
	return out
}
