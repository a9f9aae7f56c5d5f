package web

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/identities"
	"belfry/worker/posts"
)

// confirmPage asks before something that cannot be taken back.
type confirmPage struct {
	frame
	Question, Consequence, Wrong string
	Message                      *message
	Seen                         string // names what is shown of a post
	Action, Button, Class, Back  string
}

// postStep is an action on a post as the page offers it.
type postStep struct {
	name string
	done string // the code of the sentence that is shown afterwards
	act  func(*posts.Worker, *store.Tx, uint64) (store.Post, error)
}

func postSteps() []postStep {
	return []postStep{
		{"approve", "approved", (*posts.Worker).Approve},
		{"cancel", "cancelled", (*posts.Worker).Cancel},
		{"retry", "retried", (*posts.Worker).Retry},
		{"publish-now", "published", (*posts.Worker).PublishNow},
	}
}

// ask shows the question before an action on a post.
func (s *Server) ask(step postStep) echo.HandlerFunc {
	return func(c echo.Context) error { return s.askAbout(c, step, http.StatusOK, "") }
}

func (s *Server) askAbout(c echo.Context, step postStep, status int, wrong string) error {
	r := s.readerOf(c)
	post, err := s.postOf(c)
	if err != nil {
		return err
	}
	if step.name == "approve" && wrong == "" && !post.AwaitsApproval() { // somebody else was quicker
		return c.Redirect(http.StatusSeeOther, postPath(post.ID))
	}
	p := &confirmPage{Wrong: wrong, Action: postPath(post.ID) + "/" + step.name, Back: postPath(post.ID)}
	switch w := r.words.Post; step.name {
	case "approve":
		p.Question, p.Consequence, p.Button = r.words.Approval.Ask, r.approvalMeans(post), r.words.Approval.Approve
	case "cancel":
		p.Question, p.Consequence, p.Button, p.Class = w.CancelAsk, w.CancelMeans, w.Cancel, "danger"
	case "retry":
		p.Question, p.Consequence, p.Button = w.RetryAsk, w.RetryMeans, w.Retry
		switch post.Status {
		case store.PostUnknown:
			p.Consequence = w.RetryUnknown
		case store.PostSkipped, store.PostCancelled:
			p.Question, p.Button = w.PublishAsk, w.PublishNow
		}
	case "publish-now":
		p.Question, p.Consequence, p.Button = w.PublishAsk, w.PublishMeans, w.PublishNow
		if post.AwaitsApproval() {
			p.Consequence = r.words.Approval.AlsoByNow
		}
	}
	p.frame = s.frame(r, "posts", p.Question)
	m := r.message(post)
	p.Message, p.Seen = &m, posts.Seen(post)
	return s.render(c, status, "confirm", p)
}

// take carries out an action on a post.
func (s *Server) take(step postStep) echo.HandlerFunc {
	return func(c echo.Context) error {
		post, err := s.postOf(c)
		if err != nil {
			return err
		}
		seen := c.FormValue("seen")
		err = s.db.Update(func(tx *store.Tx) error {
			if seen != "" && step.name != "cancel" {
				if err := posts.Unchanged(tx, post.ID, seen); err != nil {
					return err
				}
			}
			_, err := step.act(s.posts, tx, post.ID)
			return err
		})
		if err == nil {
			return c.Redirect(http.StatusSeeOther, postPath(post.ID)+"?done="+step.done)
		}
		r, f := s.readerOf(c), newForm(nil)
		if !f.refuse(r, err) {
			return err
		}
		return s.askAbout(c, step, http.StatusConflict, f.wrong[""])
	}
}

// postOf returns the post that the path names.
func (s *Server) postOf(c echo.Context) (post store.Post, err error) {
	number, err := strconv.ParseUint(c.Param("id"), 10, 64)
	if err != nil {
		return post, echo.ErrNotFound
	}
	err = s.db.View(func(tx *store.Tx) (err error) {
		post, err = tx.Posts.Get(number)
		return err
	})
	return post, err
}

// askRemoval shows the question before a login is removed.
func (s *Server) askRemoval(c echo.Context) error { return s.askAboutLogin(c, http.StatusOK, "") }

func (s *Server) askAboutLogin(c echo.Context, status int, wrong string) error {
	r := s.readerOf(c)
	login, err := s.loginOf(c)
	if err != nil {
		return err
	}
	return s.render(c, status, "confirm", &confirmPage{
		frame: s.frame(r, "logins", r.words.Logins.RemoveAsk), Question: r.words.Logins.RemoveAsk + " " + r.loginName(login),
		Consequence: r.words.Logins.RemoveMeans, Wrong: wrong, Action: loginPath(login.ID) + "/remove",
		Button: r.words.Logins.Remove, Class: "danger", Back: "/logins",
	})
}

// resumeLogin lets a login act again that the network had restricted.
func (s *Server) resumeLogin(c echo.Context) error {
	login, err := s.loginOf(c)
	if err != nil {
		return err
	}
	err = s.db.Update(func(tx *store.Tx) error {
		_, err := identities.Resume(tx, login.ID)
		return err
	})
	// One that is not restricted any more may act anyway.
	if _, free := errors.AsType[*store.ConflictError](err); err != nil && !free {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/logins?done=login-resumed")
}

// removeLogin carries it out.
func (s *Server) removeLogin(c echo.Context) error {
	login, err := s.loginOf(c)
	if err != nil {
		return err
	}
	err = s.db.Update(func(tx *store.Tx) error { return identities.Remove(tx, login.ID) })
	if err == nil {
		return c.Redirect(http.StatusSeeOther, "/logins?done=login-removed")
	}
	r, f := s.readerOf(c), newForm(nil)
	if !f.refuse(r, err) {
		return err
	}
	return s.askAboutLogin(c, http.StatusConflict, f.wrong[""])
}
