package adminbot

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"belfry/store"
	"belfry/worker/alerts"
)

// shownAlerts is how many alerts a page has.
const shownAlerts = 8

// alerts is the page of the alerts that nobody has seen, and what its buttons do, and those under the
// messages about alerts.
func (r request) alerts(path []string) (screen, error) {
	switch {
	case len(path) == 0:
		return r.alertsPage("")
	case path[0] == "all":
		return r.acknowledgeAll(path[1:])
	case path[0] != "ack":
		return r.hint(r.T("bot.not_understood")), nil
	case len(path) < 3: // a button of an earlier version
		return r.alertsPage(r.T("bot.alerts_changed"))
	}
	id, err := strconv.ParseUint(path[1], 10, 64)
	if err != nil {
		return r.hint(r.T("bot.not_understood")), nil
	}
	a, err := r.tx.Alerts.Get(id)
	if err == nil && alerts.Mark(a) != path[2] {
		return r.alertsPage(r.T("bot.alerts_changed"))
	}
	if err == nil {
		r.does("alerts.acknowledge", fmt.Sprint("alert_", id))
		a, err = r.bot.workers.Alerts.Acknowledge(r.tx, id, r.who())
	}
	if err != nil {
		return screen{}, err
	}
	if len(path) > 3 { // on the page
		return r.alertsPage("")
	}
	// It takes the place of the message that told about it.
	t := alerts.Text(r.Printer, a)
	if a.AcknowledgedAt.IsZero() { // it was over before
		return screen{text: t.What + "\n\n" + r.T("bot.over_since", a.OverAt)}, nil
	}
	return screen{text: t.What + "\n\n" + r.T("bot.seen_by", a.AcknowledgedBy, a.AcknowledgedAt)}, nil
}

// acknowledgeAll acknowledges the alerts that there were when the button was made.
func (r request) acknowledgeAll(path []string) (screen, error) {
	made, err := strconv.ParseInt(strings.Join(path, ""), 10, 64)
	if err != nil {
		return r.hint(r.T("bot.not_understood")), nil
	}
	r.does("alerts.acknowledge", "")
	n, err := r.bot.workers.Alerts.AcknowledgeAll(r.tx, r.who(), time.Unix(0, made))
	if err != nil {
		return screen{}, err
	}
	return r.alertsPage(r.T("bot.all_seen", n))
}

// who is the admin, as the alert remembers who has seen it.
func (r request) who() string {
	return cmp.Or(r.by, strconv.FormatInt(r.chat, 10))
}

// stillSo are the alerts that somebody has seen and that are not over.
func (r request) stillSo(limit int) (lines []string, err error) {
	seen, err := r.tx.Alerts.ByState(store.AlertAcknowledged, store.Query{Limit: limit})
	for _, a := range seen.Items {
		lines = append(lines, "• "+alerts.Text(r.Printer, a).What)
	}
	if seen.Next != "" {
		lines = append(lines, "…")
	}
	return lines, err
}

func (r request) alertsPage(first string) (screen, error) {
	open, err := r.tx.Alerts.ByState(store.AlertOpen, store.Query{Limit: shownAlerts})
	if err != nil {
		return screen{}, err
	}
	lines := []string{"🔔 " + r.T("bot.title.alerts"), ""}
	if first != "" {
		lines = append(lines, first, "")
	}
	var rows [][]store.Button
	for i, a := range open.Items {
		t := alerts.Text(r.Printer, a)
		lines = append(lines, fmt.Sprintf("%d. %s (%s)", i+1, t.What, r.Exact(a.RaisedAt)))
		if !a.Reason.Zero() {
			lines = append(lines, r.Say(a.Reason))
		}
		lines = append(lines, t.Cure, "")
		rows = append(rows, []store.Button{{Text: r.T("bot.seen", i+1), Data: alerts.PressAcknowledge(a) + "/page"}})
	}
	if open.Next != "" {
		lines = append(lines, r.T("bot.more_alerts"))
	}
	if len(open.Items) > 1 {
		rows = append(rows, []store.Button{{Text: r.T("bot.see_all"), Data: alerts.PressAcknowledgeAll(r.tx.Now())}})
	}
	if len(open.Items) == 0 {
		lines = append(lines, r.T("bot.all_well"), "")
	}
	still, err := r.stillSo(shownAlerts)
	if err != nil {
		return screen{}, err
	}
	if len(still) > 0 {
		lines = append(lines, r.T("bot.still_so"))
		lines = append(lines, still...)
	}
	return r.page(strings.Join(lines, "\n"), rows, button(r.T("bot.refresh"), pageAlerts)), nil
}
