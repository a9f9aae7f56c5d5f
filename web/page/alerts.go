package page

import (
	"slices"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/alerts"
)

const (
	// shownAlerts is how many alerts are shown that stand; those that are over come in pages.
	shownAlerts = 50
	// byPage is who has acknowledged an alert, if it was a person on the page.
	byPage = "the page"
)

// Alerts is the door to alerts.
func Alerts(w *alerts.Worker) Door {
	return func(server *Server, own *echo.Group) {
		s := alertPages{server, w}
		server.wrong = w.Wrong
		s.entry(system, "alerts", "/alerts")
		s.live(own, "/alerts", s.alerts)
		own.POST("/alerts/seen", func(c echo.Context) error {
			until, _ := time.Parse(time.RFC3339Nano, c.FormValue("until")) // zero, where there is none, is all
			return s.do(c, "/alerts", "alerts-seen", func(tx *store.Tx) error { return failure(w.AcknowledgeAll(tx, byPage, until)) })
		})
		own.POST("/alerts/:id/seen", func(c echo.Context) error {
			number := s.view(c).number()
			return s.do(c, "/alerts", "alert-seen", func(tx *store.Tx) error { return failure(w.Acknowledge(tx, number, byPage)) })
		})
	}
}

type alertPages struct {
	*Server
	worker *alerts.Worker
}

// aboutAlert is an alert with what it is about, as far as that is still there.
type aboutAlert struct {
	store.Alert
	about planned
}

// aboutOf reads what an alert is about.
func (s *Server) aboutOf(tx *store.Tx, a store.Alert) (found aboutAlert, err error) {
	found.Alert = a
	switch a.Kind {
	case store.AlertPostFailed, store.AlertPostUnknown:
		found.about.post, err = subject(tx.Posts.Table, a.Subject)
	case store.AlertTaskFailed:
		found.about.task, err = subject(tx.Tasks.Table, a.Subject)
	case store.AlertRulePaused:
		var rule *store.Rule
		if rule, err = subject(tx.Rules.Table, a.Subject); rule != nil {
			found.about.about = rule.Name
		}
	case store.AlertJobFailing, store.AlertOverdue:
		if job, err := tx.Jobs.ByName(a.Name); err == nil {
			found.about, err = s.plan(tx, job)
			return found, err
		}
	}
	return found, err
}

// alerts shows what is wrong, and what was.
func (s alertPages) alerts(v view) (screen, error) {
	queries := map[store.AlertState]store.Query{
		store.AlertOpen: {Limit: shownAlerts}, store.AlertAcknowledged: {Limit: shownAlerts},
		store.AlertOver: {Limit: perPage, Cursor: v.query.Get("cursor")},
	}
	lists, next := make(map[store.AlertState][]aboutAlert), make(map[store.AlertState]string)
	err := s.DB.View(func(tx *store.Tx) error {
		for state, query := range queries {
			found, err := tx.Alerts.ByState(state, query)
			if err != nil {
				return err
			}
			next[state] = found.Next
			if lists[state], err = each(tx, found.Items, s.aboutOf); err != nil {
				return err
			}
		}
		return nil
	})
	return screen{nav: "/alerts", title: v.T("alerts.title"), body: v.alertsBody(), parts: []part{
		{"open", v.openAlerts(lists[store.AlertOpen], next[store.AlertOpen] != "")},
		{"seen", v.seenAlerts(lists[store.AlertAcknowledged])},
		{"past", v.pastAlerts(lists[store.AlertOver], next[store.AlertOver])},
	}}, err
}

// alert says an alert. Jobs are called what they are called elsewhere on the page.
func (v view) alert(a aboutAlert) alerts.Words {
	if a.Kind == store.AlertJobFailing || a.Kind == store.AlertOverdue {
		a.Name = v.jobName(a.Name, a.about)
	}
	return alerts.Text(v.Printer, a.Alert)
}

// jobName is what a job is called, also if it is gone.
func (v view) jobName(name string, about planned) string {
	if about.ID == 0 {
		about.Name, about.Kind = name, strings.TrimRight(name, "_0123456789")
		if !v.Has("job.kind." + about.Kind) {
			return name
		}
	}
	title, _, _ := v.jobTitle(about)
	if about.post == nil && about.task == nil && about.about != "" {
		return v.kindName(about.Kind) + ": " + title
	}
	return title
}

// newest is when the last of some alerts was raised: those that are raised later are not shown with them.
func newest(all []aboutAlert) string {
	last := slices.MaxFunc(all, func(a, b aboutAlert) int { return a.RaisedAt.Compare(b.RaisedAt) })
	return last.RaisedAt.UTC().Format(time.RFC3339Nano)
}

// alertLink leads to what an alert is about; to nowhere if that is gone.
func (v view) alertLink(a aboutAlert) (link, text string) {
	switch {
	case a.about.ID != 0:
		return jobPath(a.about.Name), v.T("next.set_aside_link")
	case a.about.post != nil, a.about.task != nil:
		title, _, link := v.jobTitle(a.about)
		return link, title
	case a.Kind == store.AlertPostFailed && a.Subject == 0: // many
		return withQuery("/posts", "status", string(store.PostFailed)), v.T("alerts.failed_posts")
	case a.Kind == store.AlertPostUnknown && a.Subject == 0:
		return withQuery("/posts", "status", string(store.PostUnknown)), v.T("alerts.unknown_posts")
	case a.Kind == store.AlertBooking:
		return bookingPath(a.Subject), a.Name
	case a.Kind == store.AlertWatch:
		return "/watches", v.T("nav.watches")
	case a.Kind == store.AlertRulePaused && a.about.about != "":
		return rulePath(a.Subject), a.Name
	case a.Kind == store.AlertLogin, a.Kind == store.AlertToken:
		return "/logins", v.T("next.logins_link")
	case a.Kind == store.AlertChannel:
		return channelPath(a.Subject), a.Name
	case a.Kind == store.AlertReading:
		return "/channels", v.T("nav.channels")
	case a.Kind == store.AlertQueue:
		return "/jobs", v.T("next.all_jobs")
	}
	return "", ""
}

// endedBySeeing reports whether an alert has ended by being acknowledged.
func (a aboutAlert) endedBySeeing() bool {
	return !a.AcknowledgedAt.IsZero() && a.OverAt.Equal(a.AcknowledgedAt)
}
