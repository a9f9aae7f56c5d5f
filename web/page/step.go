package page

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"belfry/store"
)

// question is asked before an action. Its texts are keys.
type question struct {
	nav, ask string
	about    string // what the question names, such as a login; may be empty
	means    string // a sentence of what follows
	button   string
	danger   bool
	subject  templ.Component // what it is about; may be nil
	seen     string          // names what is shown of the subject
	back     string          // where the reader comes from
	then     string          // where the reader goes when it is done; back if empty
	needless bool            // there is nothing to ask any more
}

// step is an action that is asked about before it is taken.
type step struct {
	path string // such as /posts/:id/cancel
	done string // the code of the sentence that is shown afterwards
	ask  func(v view) (question, error)
	act  func(tx *store.Tx, id uint64) error
	// unchanged refuses the action if what the question has shown is not so any more; nil: it does not matter.
	unchanged func(tx *store.Tx, id uint64, seen string) error
	// outside takes the place of act where the action is no transaction.
	outside func(ctx context.Context, id uint64) error
}

// step mounts an action: the question, and what carries it out.
func (s *Server) step(g *echo.Group, st step) {
	show := func(c echo.Context, status int, v view, q question, wrong string) error {
		return s.show(c, status, v, screen{nav: q.nav, title: v.T(q.ask), body: v.confirm(q, c.Request().URL.Path, wrong)})
	}
	g.GET(st.path, func(c echo.Context) error {
		v := s.view(c)
		q, err := st.ask(v)
		if err != nil {
			return err
		}
		if q.needless {
			return c.Redirect(http.StatusSeeOther, q.back)
		}
		return show(c, http.StatusOK, v, q, "")
	})
	g.POST(st.path, func(c echo.Context) error {
		v := s.view(c)
		q, err := st.ask(v)
		if err != nil {
			return err
		}
		number := v.number()
		if st.outside != nil {
			allowTime(c)
			err = st.outside(c.Request().Context(), number)
		} else {
			err = s.DB.Update(func(tx *store.Tx) error {
				if seen := c.FormValue("seen"); seen != "" && st.unchanged != nil {
					if err := st.unchanged(tx, number, seen); err != nil {
						return err
					}
				}
				return st.act(tx, number)
			})
		}
		if wrong := v.refusal(err); wrong != "" {
			return show(c, http.StatusConflict, v, q, wrong)
		} else if err != nil {
			return err
		}
		return did(c, cmp.Or(q.then, q.back), st.done)
	})
}

// button is an action that is taken at once.
type button struct {
	done string // the code of the sentence that is shown afterwards
	act  func(ctx context.Context, id uint64) error
}

// buttons mounts the actions of a page's forms, by the values of their buttons. They lead to where the form
// says, or to the page at path; one that is refused shows the page with the refusal.
func (s *Server) buttons(g *echo.Group, path string, load func(view) (screen, error), all map[string]button) {
	g.POST(path, func(c echo.Context) error {
		v := s.view(c)
		b, known := all[c.FormValue("do")]
		if !known {
			return echo.ErrBadRequest
		}
		allowTime(c)
		v.path = c.Request().URL.Path
		err := b.act(c.Request().Context(), v.number())
		if err == nil {
			return did(c, cmp.Or(c.FormValue("back"), v.path), b.done)
		}
		if v.wrong = v.refusal(err); v.wrong == "" {
			return err
		}
		return s.showPage(c, http.StatusUnprocessableEntity, v, load)
	})
}

// longAnswer is how long an answer may take that waits for the network.
const longAnswer = 6 * time.Minute

// allowTime moves the end of an answer's time away.
func allowTime(c echo.Context) {
	// Where the connection knows no deadline there is none that would have to be moved.
	_ = http.NewResponseController(c.Response()).SetWriteDeadline(time.Now().Add(longAnswer))
}

// did goes to a page, which says what was just done.
func did(c echo.Context, to, done string) error {
	return c.Redirect(http.StatusSeeOther, withQuery(LocalPath(to), "done", done))
}
