package page

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"
)

func (s *Server) mountSignIn(public, own *echo.Group) {
	public.POST("/language", s.chooseLanguage)
	public.GET("/sign-in", func(c echo.Context) error {
		return s.askPassword(c, http.StatusOK, c.QueryParam("back"), "")
	})
	public.POST("/sign-in", s.signIn)
	public.GET("/sign-in/link", func(c echo.Context) error {
		key := c.QueryParam("key")
		if !s.Sessions.LinkWorks(key) {
			return s.showLink(c, http.StatusGone, "")
		}
		return s.showLink(c, http.StatusOK, key)
	})
	public.POST("/sign-in/link", s.useLink)
	own.POST("/sign-out", func(c echo.Context) error {
		if err := s.Sessions.SignOut(c); err != nil {
			return err
		}
		return c.Redirect(http.StatusSeeOther, "/sign-in")
	})
	own.GET("/password", func(c echo.Context) error { return s.choosePassword(c, http.StatusOK, newForm(nil)) })
	own.POST("/password", s.savePassword)
}

// SignInFirst sends a browser to the sign-in page, and back to where it wanted to go.
func (s *Server) SignInFirst(c echo.Context) error {
	r := c.Request()
	switch {
	case r.Header.Get("HX-Request") != "": // it takes the place of a preview, so that what was typed stays
		return s.render(c, http.StatusOK, wrong(s.view(c).T("compose.signed_out")))
	case r.URL.Path == "/media/file": // the script of a form shows it beside the file
		return c.String(http.StatusUnauthorized, s.view(c).T("compose.signed_out"))
	case r.Method == http.MethodGet && r.URL.Path == XCallback && c.QueryParam("again") == "":
		// A browser that X sends here leaves the cookie of the sign-in out. It has it with what our own page asks for.
		again := html.EscapeString(withQuery(r.URL.RequestURI(), "again", "1"))
		return c.HTML(http.StatusOK, `<!DOCTYPE html><title>Belfry</title><meta http-equiv="refresh" content="0;url=`+again+`">`)
	case strings.HasPrefix(r.URL.Path, liveBase+"/"):
		return c.NoContent(http.StatusNoContent) // tells the browser not to ask again
	}
	to := "/sign-in"
	if r.Method == http.MethodGet && r.URL.Path != "/" {
		to += "?back=" + url.QueryEscape(r.URL.RequestURI())
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// outside shows a page to a browser that is not signed in.
func (s *Server) outside(c echo.Context, status int, v view, body templ.Component) error {
	v.path = "/sign-in"
	return s.show(c, status, v, screen{title: v.T("sign_in.title"), body: body})
}

// askPassword asks for the password.
func (s *Server) askPassword(c echo.Context, status int, back, wrong string) error {
	chosen, err := s.Sessions.HasPassword()
	if err != nil {
		return err
	}
	v := s.view(c)
	return s.outside(c, status, v, v.signInForm(chosen, LocalPath(back), wrong))
}

// signIn signs a browser in that sends the right password.
func (s *Server) signIn(c echo.Context) error {
	back := c.FormValue("back")
	right, wait, err := s.Sessions.CheckPassword(c, c.FormValue("password"))
	switch {
	case err != nil:
		return err
	case wait > 0:
		return s.askPassword(c, http.StatusTooManyRequests, back, s.view(c).T("sign_in.wait", wait))
	case !right:
		s.Log.Warn().Str("address", c.RealIP()).Msg("wrong password on the page")
		return s.askPassword(c, http.StatusUnauthorized, back, s.view(c).T("sign_in.wrong"))
	}
	if _, err := s.Sessions.SignIn(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, LocalPath(back))
}

// showLink lets the reader of a one-time link use it; one without a key is over. Opening the link alone does
// not use it: programs that look at links before people do would use it up.
func (s *Server) showLink(c echo.Context, status int, key string) error {
	v := s.view(c)
	return s.outside(c, status, v, v.link(key))
}

// useLink signs the browser in and, where there is no password yet, goes on to choosing one.
func (s *Server) useLink(c echo.Context) error {
	works, err := s.Sessions.UseLink(c, c.FormValue("key"))
	if err != nil {
		return err
	}
	if !works {
		return s.showLink(c, http.StatusGone, "")
	}
	chosen, err := s.Sessions.HasPassword()
	if err != nil {
		return err
	}
	if !chosen {
		return c.Redirect(http.StatusSeeOther, "/password")
	}
	return c.Redirect(http.StatusSeeOther, "/")
}

func (s *Server) choosePassword(c echo.Context, status int, f form) error {
	v := s.view(c)
	v.path = "/password"
	askOld, err := s.Sessions.MustKnowPassword(v.signIn)
	if err != nil {
		return err
	}
	chosen, err := s.Sessions.HasPassword()
	if err != nil {
		return err
	}
	return s.show(c, status, v, screen{title: v.T("sign_in.change_title"), body: v.password(f, chosen, askOld)})
}

func (s *Server) savePassword(c echo.Context) error {
	v, f := s.view(c), newForm(nil)
	askOld, err := s.Sessions.MustKnowPassword(v.signIn)
	if err != nil {
		return err
	}
	if askOld {
		var right bool
		var wait time.Duration
		right, wait, err = s.Sessions.CheckPassword(c, c.FormValue("old"))
		switch {
		case err != nil:
			return err
		case wait > 0:
			f.wrong["old"] = v.T("sign_in.wait", wait)
			return s.choosePassword(c, http.StatusTooManyRequests, f)
		case !right:
			f.wrong["old"] = v.T("sign_in.wrong")
			return s.choosePassword(c, http.StatusUnprocessableEntity, f)
		}
	}
	err = s.Sessions.SetPassword(c, c.FormValue("password"))
	if err == nil {
		return did(c, "/", "password")
	}
	if !f.refuse(v, err, "password") {
		return err
	}
	return s.choosePassword(c, http.StatusUnprocessableEntity, f)
}
