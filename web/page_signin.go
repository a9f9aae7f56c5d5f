package web

import (
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"belfry/store"
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
	chosen, err := s.hasPassword()
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
	right, wait, err := s.tryPassword(c, c.FormValue("password"))
	switch {
	case err != nil:
		return err
	case wait > 0:
		return s.askPassword(c, http.StatusTooManyRequests, back, words.Wait(wait))
	case !right:
		s.cfg.Log.Warn().Str("address", c.RealIP()).Msg("wrong password on the page")
		return s.askPassword(c, http.StatusUnauthorized, back, words.Wrong)
	}
	if _, err := s.signIn(c); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, localPath(back))
}

// tryPassword reports whether a password is the page's. A wrong one makes the next try wait; while it
// waits, the password is not even looked at.
func (s *Server) tryPassword(c echo.Context, password string) (right bool, wait time.Duration, err error) {
	var hash string
	err = s.db.View(func(tx *store.Tx) (err error) {
		hash, err = tx.Settings.Value(passwordSetting)
		return err
	})
	if err != nil {
		return false, 0, err
	}
	who := guesserOf(c, hash)
	wait, slow := s.guesses.try(who)
	if wait > 0 {
		c.Response().Header().Set("Retry-After", strconv.Itoa(int((wait+time.Second-1)/time.Second)))
		return false, wait, nil
	}
	pause := time.NewTimer(slow)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-c.Request().Context().Done():
		return false, 0, c.Request().Context().Err()
	}
	if !s.doorkeeper.matches(hash, password) {
		return false, 0, nil
	}
	s.guesses.forgive(who)
	s.rememberBrowser(c, hash)
	return true, 0, nil
}

// linkPage lets the reader of a one-time link use it. Opening the link alone does not: programs
// that look at links before people do would use it up.
type linkPage struct {
	frame
	Key string
}

func (s *Server) showLink(c echo.Context) error {
	key := c.QueryParam("key")
	if !s.links.works(key) {
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
	if !s.links.use(c.FormValue("key")) {
		return s.linkOver(c)
	}
	signIn, err := s.signIn(c)
	if err != nil {
		return err
	}
	s.links.trust(signIn.ID)
	chosen, err := s.hasPassword()
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
	askOld, err := s.mustKnowPassword(r.signIn)
	if err != nil {
		return err
	}
	w := r.words.SignIn
	p := &passwordPage{
		frame: s.frame(r, "", w.ChangeTitle), Heading: w.ChangeTitle, AskOld: askOld,
		Old: f.password("old", w.Old, "", "current-password"), New: f.password("password", w.New, "", "new-password"),
	}
	if chosen, err := s.hasPassword(); err != nil {
		return err
	} else if !chosen {
		p.Heading = w.ChooseTitle
	}
	return s.render(c, status, "password", p)
}

// mustKnowPassword reports whether the old password is needed to choose a new one: not for the
// first one, and not for a while after signing in with a link.
func (s *Server) mustKnowPassword(signIn store.SignIn) (bool, error) {
	chosen, err := s.hasPassword()
	return chosen && !s.links.trusts(signIn.ID), err
}

func (s *Server) savePassword(c echo.Context) error {
	r, f := s.readerOf(c), newForm(nil)
	password := c.FormValue("password")
	askOld, err := s.mustKnowPassword(r.signIn)
	if err != nil {
		return err
	}
	if askOld {
		right, wait, err := s.tryPassword(c, c.FormValue("old"))
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
	if err := checkPassword("password", password); err != nil {
		f.refuse(r, err, "password")
		return s.choosePassword(c, http.StatusUnprocessableEntity, f)
	}
	hash, err := s.setPassword(password, r.signIn.ID)
	if err != nil {
		return err
	}
	s.rememberBrowser(c, hash)
	return c.Redirect(http.StatusSeeOther, "/?done=password")
}
