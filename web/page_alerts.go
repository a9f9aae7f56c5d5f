package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/alerts"
)

const (
	// shownAlerts is how many alerts are shown that stand; those that are over come in pages.
	shownAlerts   = 50
	alertsPerPage = 25
	// seenOnPage is who has seen an alert, if it was somebody on the page.
	seenOnPage = "the page"
)

// alertsPage is what is wrong, and what was.
type alertsPage struct {
	frame
	Open, Seen, Past []alertRow
	MoreOpen         bool
	First, Older     string // of those that are over
}

// alertRow is one alert.
type alertRow struct {
	ID, What, Why, Cure string
	Link, LinkText      string // to what it is about
	Settling            string // it seems to be over
	Raised, OverAt      *moment
	Seen                *seenBy // nil if nobody has
	End                 chip
}

// seenBy says when somebody has seen an alert, and who.
type seenBy struct {
	Label, By string
	When      *moment
}

// told is an alert with what it is about, as far as that is still there.
type told struct {
	alert store.Alert
	about planned
}

// tellOf reads what an alert is about.
func tellOf(tx *store.Tx, a store.Alert) (t told, err error) {
	t.alert = a
	switch a.Kind {
	case store.AlertPostFailed, store.AlertPostUnknown:
		t.about.post, err = subject(tx.Posts.Table, a.Subject)
	case store.AlertTaskFailed:
		t.about.task, err = subject(tx.Tasks.Table, a.Subject)
	case store.AlertJobFailing, store.AlertOverdue:
		job, missing := tx.Jobs.ByName(a.Name)
		if store.IsCorrupt(missing) || errors.Is(missing, store.ErrNotFound) {
			return t, nil
		}
		if missing != nil {
			return t, missing
		}
		t.about, err = plan(tx, job)
	}
	return t, err
}

// tellAll reads what alerts are about.
func tellAll(tx *store.Tx, found []store.Alert) (all []told, err error) {
	for _, a := range found {
		t, err := tellOf(tx, a)
		if err != nil {
			return nil, err
		}
		all = append(all, t)
	}
	return all, nil
}

func (s *Server) loadAlerts(r reader) (page, error) {
	states := []store.AlertState{store.AlertOpen, store.AlertAcknowledged, store.AlertOver}
	queries := []store.Query{{Limit: shownAlerts}, {Limit: shownAlerts}, {Limit: alertsPerPage, Cursor: r.query.Get("cursor")}}
	var lists [3][]told
	var next [3]string
	err := s.db.View(func(tx *store.Tx) error {
		for i, state := range states {
			found, err := tx.Alerts.ByState(state, queries[i])
			if err != nil {
				return err
			}
			if lists[i], err = tellAll(tx, found.Items); err != nil {
				return err
			}
			next[i] = found.Next
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	p := &alertsPage{frame: s.frame(r, "alerts", r.words.Alerts.Title), MoreOpen: next[0] != ""}
	for i, rows := range []*[]alertRow{&p.Open, &p.Seen, &p.Past} {
		for _, t := range lists[i] {
			*rows = append(*rows, r.alertRow(t))
		}
	}
	if r.query.Get("cursor") != "" {
		p.First = "/alerts"
	}
	if next[2] != "" {
		p.Older = withQuery("/alerts", "cursor", next[2])
	}
	return p, nil
}

// alertRow says an alert. Jobs are called what they are called elsewhere on the page.
func (r reader) alertRow(t told) alertRow {
	a := t.alert
	if a.Kind == store.AlertJobFailing || a.Kind == store.AlertOverdue {
		a.Name = r.jobName(a.Name, t.about)
	}
	words, w := alerts.Text(a, r.lang, r.zone), r.words.Alerts
	row := alertRow{
		ID: id(a.ID), What: words.What, Why: r.Say(a.Reason), Cure: words.Cure, Raised: r.moment(a.RaisedAt),
		OverAt: r.momentIf(a.OverAt), End: chip{"is-alert-over", w.WasOver},
	}
	if !a.GoneAt.IsZero() {
		row.Settling = w.Settling
	}
	if !a.AcknowledgedAt.IsZero() {
		row.Seen = &seenBy{w.WasSeen, r.Heard(a.AcknowledgedBy), r.moment(a.AcknowledgedAt)}
	}
	if row.Seen != nil && a.OverAt.Equal(a.AcknowledgedAt) { // it has ended by being seen
		row.End, row.OverAt, row.Seen.Label = chip{"is-alert-seen", w.WasSeen}, nil, ""
	}
	row.Link, row.LinkText = r.alertLink(t)
	return row
}

// jobName is what a job is called, also if it is gone.
func (r reader) jobName(name string, about planned) string {
	if about.job.ID == 0 {
		about.job.Name, about.job.Kind = name, strings.TrimRight(name, "_0123456789")
		if r.words.JobKinds[about.job.Kind] == "" {
			return name
		}
	}
	title, _, _ := r.jobTitle(about)
	return title
}

// alertLink leads to what an alert is about; to nowhere if that is gone.
func (r reader) alertLink(t told) (link, text string) {
	w, a := r.words.Next, t.alert
	switch {
	case t.about.job.ID != 0:
		return "/jobs/" + t.about.job.Name, w.SetAsideLink
	case t.about.post != nil, t.about.task != nil:
		title, _, link := r.jobTitle(t.about)
		return link, title
	}
	switch a.Kind {
	case store.AlertPostFailed: // many
		if a.Subject == 0 {
			return withQuery("/posts", "status", string(store.PostFailed)), r.words.Alerts.FailedPosts
		}
	case store.AlertLogin:
		return "/logins", w.LoginsLink
	case store.AlertQueue:
		return "/jobs", w.AllJobs
	}
	return "", ""
}

// seeAlert notes that the owner has seen an alert.
func (s *Server) seeAlert(c echo.Context) error {
	number, err := strconv.ParseUint(c.Param("id"), 10, 64)
	if err != nil {
		return echo.ErrNotFound
	}
	err = s.db.Update(func(tx *store.Tx) error {
		_, err := s.alerts.Acknowledge(tx, number, seenOnPage)
		return err
	})
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/alerts?done=alert-seen")
}

// seeAllAlerts notes that the owner has seen all alerts.
func (s *Server) seeAllAlerts(c echo.Context) error {
	err := s.db.Update(func(tx *store.Tx) error {
		_, err := s.alerts.AcknowledgeAll(tx, seenOnPage, time.Time{})
		return err
	})
	if err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/alerts?done=alerts-seen")
}
