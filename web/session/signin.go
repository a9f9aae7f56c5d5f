package session

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"belfry/store"
)

const (
	// signInAge is how long a browser stays signed in after it was used last.
	signInAge = 30 * 24 * time.Hour
	// renewAfter is how long nothing is written about a sign-in that is used.
	renewAfter = 24 * time.Hour
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

// SignIn makes a new sign-in for the browser. It never takes over a cookie that the browser
// already has, which somebody else may have put there.
func (s *Sessions) SignIn(c echo.Context) (store.SignIn, error) {
	secret := NewSecret()
	row := store.SignIn{Hash: Digest([]byte(secret)), CSRF: formToken(c)}
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

// renew moves the end of a sign-in that is used. Where nothing can be written, the sign-in ends when it would have.
func (s *Sessions) renew(c echo.Context, found store.SignIn) {
	if found.ExpiresAt.Sub(s.db.Now()) > signInAge-renewAfter {
		return
	}
	err := s.db.Update(func(tx *store.Tx) error {
		row, err := s.readCookie(tx, c)
		if err != nil {
			return err
		}
		row.ExpiresAt = tx.Now().Add(signInAge)
		return tx.SignIns.Put(&row)
	})
	if err != nil {
		s.cfg.Log.Warn().Err(err).Msg("a sign-in could not be renewed")
		return
	}
	if cookie, err := c.Cookie(cookieName(c.Request())); err == nil {
		c.SetCookie(s.cookie(c, cookie.Value, int(signInAge/time.Second)))
	}
}

func (s *Sessions) cookie(c echo.Context, value string, maxAge int) *http.Cookie {
	return &http.Cookie{
		Name: cookieName(c.Request()), Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: c.Scheme() == "https",
	}
}

// readCookie returns the sign-in of the request's cookie. The error wraps [store.ErrNotFound] if
// there is none that is good.
func (s *Sessions) readCookie(tx *store.Tx, c echo.Context) (store.SignIn, error) {
	cookie, err := c.Cookie(cookieName(c.Request()))
	if err != nil || cookie.Value == "" {
		return store.SignIn{}, store.ErrNotFound
	}
	found, err := tx.SignIns.ByHash(Digest([]byte(cookie.Value)))
	if err != nil {
		return found, err
	}
	if !found.ExpiresAt.After(tx.Now()) {
		return found, store.ErrNotFound
	}
	return found, nil
}

// Required returns what lets requests of signed-in browsers pass; others are answered by strangers. Forms
// must carry the sign-in's token.
func (s *Sessions) Required(strangers echo.HandlerFunc) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error { return s.require(c, next, strangers) }
	}
}

func (s *Sessions) require(c echo.Context, next, strangers echo.HandlerFunc) error {
	var found store.SignIn
	err := s.db.View(func(tx *store.Tx) (err error) {
		found, err = s.readCookie(tx, c)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return strangers(c)
	}
	if err != nil {
		return err
	}
	if c.Request().Method == http.MethodPost {
		given := c.Request().Header.Get(csrfHeader)
		if given == "" && isStreamed(c) {
			if given, err = readToken(c); err != nil {
				return echo.ErrBadRequest
			}
		} else if given == "" {
			given = c.FormValue(csrfField)
		}
		for name, values := range c.Request().PostForm {
			if text := strings.Join(values, ""); !utf8.ValidString(text) || strings.Contains(text, "\x00") {
				return store.Invalid(strings.ToValidUTF8(name, "?"), "invalid.not_text")
			}
		}
		if subtle.ConstantTimeCompare([]byte(given), []byte(found.CSRF)) != 1 {
			return refusal(http.StatusForbidden, csrfField, "does not belong to this sign-in",
				"open the page again and repeat what you did")
		}
	}
	s.renew(c, found)
	With(c, found)
	return next(c)
}

// With notes whose sign-in a request has, for [Of].
func With(c echo.Context, signIn store.SignIn) { c.Set(signInContext, signIn) }

// Of returns the request's sign-in, and false if it passed no [Sessions.Required].
func Of(c echo.Context) (store.SignIn, bool) {
	found, ok := c.Get(signInContext).(store.SignIn)
	return found, ok
}

// SignOut ends the request's sign-in.
func (s *Sessions) SignOut(c echo.Context) error {
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
	return nil
}
