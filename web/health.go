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
	Workers        []workerHealth      `json:"workers,omitempty"`
	Since          time.Time           `json:"since,omitzero"`
	Running        []scheduler.Running `json:"running,omitempty"`
}

// workerHealth is how the jobs of one kind do. Its times are those that the history still has.
type workerHealth struct {
	Kind        string     `json:"kind"`
	Running     bool       `json:"running"` // its jobs are started
	UnderWay    int        `json:"under_way"`
	LastSuccess time.Time  `json:"last_success,omitzero"`
	LastError   *lastError `json:"last_error,omitempty"`
	Lag         float64    `json:"lag_seconds"` // for how long the first of its jobs has waited although it could run
}

// lastError is how the last run failed that did. It may be followed by a success.
type lastError struct {
	At time.Time `json:"at"`
	api.Reason
}

// workers are the kinds of job, in the order of their names.
func (s *Server) workers(status scheduler.Status, alive bool) (all []workerHealth) {
	var lags map[string]time.Duration
	// That the file cannot be read is what /health tells; the rest is known without it.
	_ = s.db.View(func(tx *store.Tx) (err error) {
		lags, err = scheduler.Lags(tx)
		return err
	})
	for _, kind := range s.scheduler.Kinds().Names() {
		ends := status.Ends[kind]
		w := workerHealth{Kind: kind, Running: alive, LastSuccess: ends.Success, Lag: lags[kind].Seconds()}
		if !ends.Failure.IsZero() {
			w.LastError = &lastError{ends.Failure, api.Reason{Code: string(ends.Reason.Code), Text: i18n.For("en", time.UTC).Say(ends.Reason), Detail: ends.Reason.Detail}}
		}
		for _, r := range status.Running {
			if r.Kind == kind {
				w.UnderWay++
			}
		}
		all = append(all, w)
	}
	return all
}

func (s *Server) showWorkers(c echo.Context) error {
	status := s.scheduler.Status()
	alive := !status.Started.IsZero() && status.Problem == "" && status.Paused == "" && !s.cfg.Idle
	out := workersHealth{
		ScheduledPosts: alive && s.scheduler.Knows("post"),
		AutoPosting:    alive && s.scheduler.Knows("rule"),
	}
	if s.sessions.MayKnow(c) {
		out.Since, out.Running, out.Workers = status.Started.UTC(), status.Running, s.workers(status, alive)
	}
	return c.JSON(http.StatusOK, out)
}
