package web

import (
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/scheduler"
	"belfry/store"
)

// overdueAfter is how long a job may be due without having been started before something is wrong.
const overdueAfter = 3 * time.Minute

// health is the answer of /health.
type health struct {
	Status  string   `json:"status" doc:"ok or failing"`
	Reasons []reason `json:"reasons,omitempty" doc:"Why it is failing"`
	Version string   `json:"version,omitempty"`
}

// ailments are the reasons why Belfry does not do what it is there for; none if it does.
func (s *Server) ailments() []reason {
	var found []reason
	add := func(code, text string) { found = append(found, reason{Code: code, Text: text}) }

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
	err := s.db.View(func(tx *store.Tx) error {
		job, since, late, err := scheduler.Overdue(tx)
		if err != nil {
			return err
		}
		if age := tx.Now().Sub(since); late && age > overdueAfter && !s.cfg.Idle {
			add("overdue", fmt.Sprintf("%s has been due for %s and was not started. See the log.", job.Name, age.Round(time.Second)))
		}
		for i, err := range tx.Identities.All() {
			if err == nil && (i.State == store.IdentityLogin || i.State == store.IdentityStopped) {
				add(string(i.Reason.Code), fmt.Sprintf("The login %s on %s cannot act: %s", i.Name, i.Platform, i.Reason.Text(english, time.UTC)))
			}
		}
		return nil
	})
	if err != nil {
		add("store", "The database cannot be read: "+err.Error())
	}
	return found
}

// showHealth answers 200 or 503. Details are for this machine, and for holders of a token.
func (s *Server) showHealth(c echo.Context) error {
	out, status := health{Status: "ok"}, http.StatusOK
	found := s.ailments()
	if len(found) > 0 {
		out.Status, status = "failing", http.StatusServiceUnavailable
	}
	if s.mayKnow(c) {
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
	if s.mayKnow(c) {
		out.Since, out.Running = status.Started.UTC(), status.Running
	}
	return c.JSON(http.StatusOK, out)
}

// mayKnow reports whether details of the system's state may be shown to who asks.
func (s *Server) mayKnow(c echo.Context) bool {
	if callerOf(c.Request().Context()) == callerSocket || isLoopback(c) {
		return true
	}
	_, err := s.identify(c.Request())
	return err == nil
}
