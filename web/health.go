package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/i18n"
	"belfry/scheduler"
	"belfry/store"
	"belfry/web/api"
	"belfry/worker/alerts"
)

// health is the answer of /health.
type health struct {
	Status  string       `json:"status" doc:"ok or failing"`
	Reasons []api.Reason `json:"reasons,omitempty" doc:"Why it is failing"`
	Version string       `json:"version,omitempty"`
}

// ailments are the reasons why Belfry does not do what it is there for; none if it does.
func (s *Server) ailments() []api.Reason {
	var found []api.Reason
	add := func(code, text string) { found = append(found, api.Reason{Code: code, Text: text}) }

	status := s.scheduler.Status()
	switch {
	case s.cfg.Idle:
	case status.Started.IsZero():
		add("scheduler_stopped", "Nothing is run: the scheduler has not started. See the log.")
	case status.Problem != "":
		add("store", "The schedule cannot be read or written: "+status.Problem)
	case status.Paused != "":
		add("paused", "Everything is paused: "+status.Paused+". Let it go on with `belfry jobs resume --all` or on the page.")
	case status.Settling > 0:
		add("clock", "The clock of this machine was set, or shows a time that cannot be; nothing is started for "+
			status.Settling.Round(time.Second).String()+". Check the clock.")
	}
	if err := s.db.Failing(); err != nil && status.Problem == "" {
		add("store", "Nothing can be written to the database: "+err.Error())
	}
	wrong, err := s.wrong()
	if err != nil {
		add("store", "The database cannot be read: "+err.Error())
	}
	for _, a := range wrong {
		if !alerts.Hinders(a.Kind) || !a.GoneAt.IsZero() || s.cfg.Idle && a.Kind != store.AlertDamage {
			continue
		}
		said, code := alerts.Text(i18n.For("en", time.UTC), a), string(a.Kind)
		if a.Kind == store.AlertLogin {
			code = string(a.Reason.Code)
		}
		add(code, strings.TrimSuffix(said.What+". "+said.Why, ". "))
	}
	return found
}

// wrong is what is wrong.
func (s *Server) wrong() ([]store.Alert, error) {
	if s.doors.Wrong == nil {
		return nil, nil
	}
	return s.doors.Wrong()
}

// showHealth answers 200 or 503. Details are for this machine, and for holders of a token.
func (s *Server) showHealth(c echo.Context) error {
	out, status := health{Status: "ok"}, http.StatusOK
	found := s.ailments()
	if len(found) > 0 {
		out.Status, status = "failing", http.StatusServiceUnavailable
	}
	if s.sessions.MayKnow(c) {
		out.Reasons, out.Version = found, s.cfg.Version
	}
	return c.JSON(status, out)
}

// workersHealth keeps the names of the system that Belfry replaced, beside its own.
type workersHealth struct {
	ScheduledPosts bool                `json:"scheduled_posts_worker"`
	AutoPosting    bool                `json:"auto_posting_worker"`
	Since          time.Time           `json:"since,omitzero"`
	Running        []scheduler.Running `json:"running,omitempty"`
}

func (s *Server) showWorkers(c echo.Context) error {
	status := s.scheduler.Status()
	alive := !status.Started.IsZero() && status.Problem == "" && !s.cfg.Idle
	out := workersHealth{
		ScheduledPosts: alive && s.scheduler.Knows("post"),
		AutoPosting:    alive && s.scheduler.Knows("rule"),
	}
	if s.sessions.MayKnow(c) {
		out.Since, out.Running = status.Started.UTC(), status.Running
	}
	return c.JSON(http.StatusOK, out)
}
