package web

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

const (
	// signInAge is how long a browser stays signed in.
	signInAge = 30 * 24 * time.Hour
	// trimSignIns is how many expired sign-ins are forgotten with each new one.
	trimSignIns = 16
	// signInContext is where a request's sign-in is kept in its echo context.
	signInContext = "sign-in"
	// csrfField is the form field that carries the sign-in's token.
	csrfField = "csrf"
)

// cookieName differs by port, so that two programs on one machine, whose cookies a browser does not
// keep apart, do not sign each other out.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "belfry-" + port
	}
	return "belfry"
}

// signIn makes a new sign-in for the browser. It never takes over a cookie that the browser
// already has, which somebody else may have put there.
func (s *Server) signIn(c echo.Context) (store.SignIn, error) {
	secret := newSecret()
	row := store.SignIn{Hash: digest([]byte(secret)), CSRF: newSecret()}
	err := s.db.Update(func(tx *store.Tx) error {
		row.CreatedAt, row.ExpiresAt = tx.Now(), tx.Now().Add(signInAge)
		if err := tx.SignIns.Trim(trimSignIns); err != nil {
			return err
		}
		if old, err := s.readCookie(tx, c); err == nil {
			if err := tx.SignIns.Delete(old.ID); err != nil {
				return err
			}
		}
		return tx.SignIns.Put(&row)
	})
	if err != nil {
		return row, fmt.Errorf("sign in: %w", err)
	}
	c.SetCookie(s.cookie(c, secret, int(signInAge/time.Second)))
	s.cfg.Log.Info().Str("address", c.RealIP()).Msg("signed in to the page")
	return row, nil
}

func (s *Server) cookie(c echo.Context, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: cookieName(c.Request()), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.Scheme() == "https",
	}
}

// readCookie returns the sign-in of the request's cookie. The error wraps [store.ErrNotFound] if
// there is none that is good.
func (s *Server) readCookie(tx *store.Tx, c echo.Context) (store.SignIn, error) {
	cookie, err := c.Cookie(cookieName(c.Request()))
	if err != nil || cookie.Value == "" {
		return store.SignIn{}, store.ErrNotFound
	}
	found, err := tx.SignIns.ByHash(digest([]byte(cookie.Value)))
	if err != nil {
		return found, err
	}
	if !found.ExpiresAt.After(tx.Now()) {
		return found, store.ErrNotFound
	}
	return found, nil
}

// signedIn lets requests of signed-in browsers pass. Others are sent to the sign-in page and come
// back; a request that is not for a page is refused. Forms must carry the sign-in's token.
func (s *Server) signedIn(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		var found store.SignIn
		err := s.db.View(func(tx *store.Tx) (err error) {
			found, err = s.readCookie(tx, c)
			return err
		})
		if errors.Is(err, store.ErrNotFound) {
			return s.toSignIn(c)
		}
		if err != nil {
			return err
		}
		if c.Request().Method == http.MethodPost {
			given := c.FormValue(csrfField)
			for name, values := range c.Request().PostForm {
				if text := strings.Join(values, ""); !utf8.ValidString(text) || strings.Contains(text, "\x00") {
					return store.Invalid(strings.ToValidUTF8(name, "?"), "invalid.not_text")
				}
			}
			if subtle.ConstantTimeCompare([]byte(given), []byte(found.CSRF)) != 1 {
				return fieldProblem(http.StatusForbidden, FieldProblem{csrfField, "does not belong to this sign-in",
					"open the page again and repeat what you did"})
			}
		}
		c.Set(signInContext, found)
		return next(c)
	}
}

func signInOf(c echo.Context) (store.SignIn, bool) {
	found, ok := c.Get(signInContext).(store.SignIn)
	return found, ok
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

// signOut ends the request's sign-in.
func (s *Server) signOut(c echo.Context) error {
	err := s.db.Update(func(tx *store.Tx) error {
		found, err := s.readCookie(tx, c)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		return tx.SignIns.Delete(found.ID)
	})
	if err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	c.SetCookie(s.cookie(c, "", -1))
	return c.Redirect(http.StatusSeeOther, "/sign-in")
}

// setPassword sets the page's password, ends all sign-ins but one, and returns what is kept of it.
func (s *Server) setPassword(password string, keep uint64) (hash string, err error) {
	hash = s.doorkeeper.hash(password)
	err = s.db.Update(func(tx *store.Tx) error {
		for other, err := range tx.SignIns.All() {
			if err != nil {
				return err
			}
			if other.ID != keep {
				if err := tx.SignIns.Delete(other.ID); err != nil {
					return err
				}
			}
		}
		return tx.Settings.Set(passwordSetting, hash)
	})
	if err != nil {
		return "", fmt.Errorf("set the page's password: %w", err)
	}
	return hash, nil
}
