package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/web/api"
)

// taskOf returns the broadcast that the path names.
func (s *Server) taskOf(c echo.Context) (store.Task, error) {
	number, err := strconv.ParseUint(c.Param("id"), 10, 64)
	if err != nil {
		return store.Task{}, echo.ErrNotFound
	}
	return s.task(number)
}

func (s *Server) task(id uint64) (t store.Task, err error) {
	err = s.db.View(func(tx *store.Tx) (err error) {
		t, err = tx.Tasks.Get(id)
		return err
	})
	return t, err
}

// saveDeliveries is the page's link to the file.
func (s *Server) saveDeliveries(c echo.Context) error {
	t, err := s.taskOf(c)
	if err != nil {
		return err
	}
	const byteOrderMark = "\ufeff" // without it spreadsheets take the text for another encoding
	s.api.SendDeliveries(c, t, byteOrderMark, s.readerOf(c).why)
	return nil
}

// actOnTask carries out what needs no question first.
func (s *Server) actOnTask(c echo.Context) error {
	t, err := s.taskOf(c)
	if err != nil {
		return err
	}
	var done string
	act := func(do func(*store.Tx, uint64) (store.Task, error)) error {
		return s.db.Update(func(tx *store.Tx) error {
			_, err := do(tx, t.ID)
			return err
		})
	}
	switch c.FormValue("do") {
	case "pause":
		done, err = "task-paused", act(s.tasks.Pause)
	case "resume":
		done, err = "task-resumed", act(s.tasks.Resume)
	case "dry-run":
		done, err = "task-checked", act(s.tasks.DryRun)
	case "preview":
		api.AllowTime(c)
		done = "task-previewed"
		_, err = s.tasks.Preview(c.Request().Context(), t.ID)
	default:
		return echo.ErrBadRequest
	}
	back := localPath(c.FormValue("back"))
	if back == "/" {
		back = taskPath(t.ID)
	}
	if err == nil {
		return c.Redirect(http.StatusSeeOther, withQuery(back, "done", done))
	}
	r, f := s.readerOf(c), newForm(nil)
	if !f.refuse(r, err) {
		return err
	}
	r.id, r.path = id(t.ID), taskPath(t.ID)
	data, err := s.loadTask(r)
	if err != nil {
		return err
	}
	data.(*taskPage).Wrong = f.wrong[""]
	return s.refusedLive(c, "task", r, data)
}

// askTask asks before a broadcast is cancelled or tried again.
func (s *Server) askTask(name string) echo.HandlerFunc {
	return func(c echo.Context) error { return s.askAboutTask(c, name, http.StatusOK, "") }
}

func (s *Server) askAboutTask(c echo.Context, name string, status int, wrong string) error {
	r := s.readerOf(c)
	t, err := s.taskOf(c)
	if err != nil {
		return err
	}
	w := r.words.Task
	p := &confirmPage{Question: w.CancelAsk, Consequence: w.CancelMeans, Button: w.Cancel, Class: "danger"}
	if name == "retry" {
		p = &confirmPage{Question: w.RetryAsk, Consequence: w.RetryMeans, Button: w.Retry}
	}
	p.Wrong, p.Action, p.Back = wrong, taskPath(t.ID)+"/"+name, taskPath(t.ID)
	p.frame = s.frame(r, "tasks", p.Question)
	m := r.message(store.Post{Text: t.Text, Format: t.Format, Media: t.Media})
	p.Message = &m
	return s.render(c, status, "confirm", p)
}

// takeTask carries it out.
func (s *Server) takeTask(name string) echo.HandlerFunc {
	return func(c echo.Context) error {
		t, err := s.taskOf(c)
		if err != nil {
			return err
		}
		act, done := s.tasks.Cancel, "task-cancelled"
		if name == "retry" {
			act, done = s.tasks.Retry, "task-retried"
		}
		err = s.db.Update(func(tx *store.Tx) error {
			_, err := act(tx, t.ID)
			return err
		})
		if err == nil {
			return c.Redirect(http.StatusSeeOther, taskPath(t.ID)+"?done="+done)
		}
		r, f := s.readerOf(c), newForm(nil)
		if !f.refuse(r, err) {
			return err
		}
		return s.askAboutTask(c, name, http.StatusConflict, f.wrong[""])
	}
}
