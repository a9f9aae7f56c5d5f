package web

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"
)

// signInPage asks for the password.
type signInPage struct {
	frame
	Wrong, Back string
	NoPassword  bool
	Password    input
}

func (s *Server) showSignIn(c echo.Context) error {
	return s.askPassword(c, http.StatusOK, c.QueryParam("back"), "")
}

func (s *Server) askPassword(c echo.Context, status int, back, wrong string) error {
	r := s.readerOf(c)
	r.path = "/sign-in"
	chosen, err := s.sessions.HasPassword()
	if err != nil {
		return err
	}
	w := r.words.SignIn
	return s.render(c, status, "signin", &signInPage{
		frame: s.frame(r, "sign-in", w.Title), Wrong: wrong, Back: localPath(back), NoPassword: !chosen,
		Password: newForm(nil).password("password", w.Password, "", "current-password"),
	})
}

// checkSignIn signs a browser in that sends the right password.
func (s *Server) checkSignIn(c echo.Context) error {
	words, back := s.readerOf(c).words.SignIn, c.FormValue("back")
	right, wait, err := s.sessions.CheckPassword(c, c.FormValue("password"))
	switch {
	case err != nil:
		return err
	case wait > 0:
		return s.askPassword(c, http.StatusTooManyRequests, back, words.Wait(wait))
	case !right:
		s.cfg.Log.Warn().Str("address", c.RealIP()).Msg("wrong password on the page")
		return s.askPassword(c, http.StatusUnauthorized, back, words.Wrong)
	}
	if _, err := s.sessions.SignIn(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, localPath(back))
}

// linkPage lets the reader of a one-time link use it. Opening the link alone does not: programs
// that look at links before people do would use it up.
type linkPage struct {
	frame
	Key string
}

func (s *Server) showLink(c echo.Context) error {
	key := c.QueryParam("key")
	if !s.sessions.LinkWorks(key) {
		return s.linkOver(c)
	}
	return s.renderLink(c, http.StatusOK, key)
}

func (s *Server) linkOver(c echo.Context) error { return s.renderLink(c, http.StatusGone, "") }

func (s *Server) renderLink(c echo.Context, status int, key string) error {
	r := s.readerOf(c)
	r.path = "/sign-in"
	return s.render(c, status, "link", &linkPage{frame: s.frame(r, "sign-in", r.words.SignIn.Title), Key: key})
}

// useLink signs the browser in and, where there is no password yet, goes on to choosing one.
func (s *Server) useLink(c echo.Context) error {
	works, err := s.sessions.UseLink(c, c.FormValue("key"))
	if err != nil {
		return err
	}
	if !works {
		return s.linkOver(c)
	}
	chosen, err := s.sessions.HasPassword()
	if err != nil {
		return err
	}
	if !chosen {
		return c.Redirect(http.StatusSeeOther, "/password")
	}
	return c.Redirect(http.StatusSeeOther, "/")
}

// passwordPage chooses the page's password.
type passwordPage struct {
	frame
	Heading  string
	AskOld   bool
	Old, New input
}

func (s *Server) showPassword(c echo.Context) error {
	return s.choosePassword(c, http.StatusOK, newForm(nil))
}

func (s *Server) choosePassword(c echo.Context, status int, f form) error {
	r := s.readerOf(c)
	r.path = "/password"
	askOld, err := s.sessions.MustKnowPassword(r.signIn)
	if err != nil {
		return err
	}
	w := r.words.SignIn
	p := &passwordPage{
		frame: s.frame(r, "", w.ChangeTitle), Heading: w.ChangeTitle, AskOld: askOld,
		Old: f.password("old", w.Old, "", "current-password"), New: f.password("password", w.New, "", "new-password"),
	}
	if chosen, err := s.sessions.HasPassword(); err != nil {
		return err
	} else if !chosen {
		p.Heading = w.ChooseTitle
	}
	return s.render(c, status, "password", p)
}

func (s *Server) savePassword(c echo.Context) error {
	r, f := s.readerOf(c), newForm(nil)
	password := c.FormValue("password")
	askOld, err := s.sessions.MustKnowPassword(r.signIn)
	if err != nil {
		return err
	}
	if askOld {
		right, wait, err := s.sessions.CheckPassword(c, c.FormValue("old"))
		switch {
		case err != nil:
			return err
		case wait > 0:
			f.wrong["old"] = r.words.SignIn.Wait(wait)
			return s.choosePassword(c, http.StatusTooManyRequests, f)
		case !right:
			f.wrong["old"] = r.words.SignIn.Wrong
			return s.choosePassword(c, http.StatusUnprocessableEntity, f)
		}
	}
	if err := s.sessions.SetPassword(c, password); err != nil {
		if !f.refuse(r, err, "password") {
			return err
		}
		return s.choosePassword(c, http.StatusUnprocessableEntity, f)
	}
	return c.Redirect(http.StatusSeeOther, "/?done=password")
}

// toSignIn sends a browser to the sign-in page, and back to where it wanted to go.
func (s *Server) toSignIn(c echo.Context) error {
	r := c.Request()
	switch {
	case r.Header.Get("HX-Request") != "":
		return c.HTML(http.StatusOK, signedOutNotice(s.readerOf(c)))
	case strings.HasPrefix(r.URL.Path, "/live/"):
		return c.NoContent(http.StatusNoContent) // tells the browser not to ask again
	}
	to := "/sign-in"
	if r.Method == http.MethodGet && r.URL.Path != "/" {
		to += "?back=" + url.QueryEscape(r.URL.RequestURI())
	}
	return c.Redirect(http.StatusSeeOther, to)
}

func (s *Server) signOut(c echo.Context) error {
	if err := s.sessions.SignOut(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/sign-in")
}
