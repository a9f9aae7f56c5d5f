package web

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"

	"github.com/labstack/echo/v4"

	"belfry/store"
	"belfry/worker/identities"
)

// The ways to log a user account in.
const (
	wayPhone   = "phone"
	wayQR      = "qr"
	waySession = "session"
)

// maxSession is the largest .session file that is read, in bytes.
const maxSession = 1 << 20

// logInPage logs a user account in, step by step.
type logInPage struct {
	frame
	ID, Heading, Action, Wrong string
	Way                        string
	Ways                       []tab // empty while a login is under way
	Lead                       string
	Do, Button                 string // what the form does
	Fields                     []input
	Files                      bool
	Under                      bool // a login is under way and can be given up
	QR                         *qrPart
}

// qrPart is the QR code as the page shows it and asks for it again.
type qrPart struct {
	W       *words
	Picture template.HTML // empty if there is none yet
	Have    string        // a mark of the picture
	Trouble string
}

// addAccount makes a user account that is to be logged in.
func (s *Server) addAccount(c echo.Context) error {
	r := s.readerOf(c)
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	typed := newForm(values)
	var made store.Identity
	err = s.db.Update(func(tx *store.Tx) (err error) {
		made, err = identities.Add(tx, identities.Request{Platform: "telegram", Kind: string(store.IdentityUser), Name: typed.get("account_name")})
		return err
	})
	if err == nil {
		return c.Redirect(http.StatusSeeOther, loginPath(made.ID)+"/login")
	}
	if !typed.refuse(r, err, "name") {
		return err
	}
	f := newForm(nil)
	f.values.Set("account_name", typed.get("account_name"))
	f.wrong["account_name"], f.wrong["account"] = typed.wrong["name"], typed.wrong[""]
	r.path = "/logins"
	p, err := s.loginsPage(r, f)
	if err != nil {
		return err
	}
	return s.refusedLive(c, "logins", r, p)
}

// showLogIn shows where a login stands, or how it can begin.
func (s *Server) showLogIn(c echo.Context) error {
	login, err := s.loginOf(c)
	if err != nil {
		return err
	}
	if s.logins.At(login.ID).State == identities.StepDone && login.State != store.IdentityLogin {
		return c.Redirect(http.StatusSeeOther, "/logins?done=logged-in")
	}
	return s.showStep(c, http.StatusOK, login, c.QueryParam("way"), newForm(nil))
}

// showStep shows the step that a login waits for. Nothing secret that was typed before is in it.
func (s *Server) showStep(c echo.Context, status int, login store.Identity, way string, f form) error {
	r, step := s.readerOf(c), s.logins.At(login.ID)
	r.path = loginPath(login.ID) + "/login"
	w := r.words.LogIn
	p := &logInPage{
		frame: s.frame(r, "logins", w.Title), ID: id(login.ID), Heading: w.Title + ": " + login.Name, Action: r.path, Wrong: f.wrong[""],
		Way: way, Under: step.State == identities.StepCode || step.State == identities.StepPassword,
	}
	switch {
	case step.State == identities.StepCode:
		p.Lead, p.Do, p.Button = w.CodeSent+" "+r.via(step), "code", w.EnterCode
		p.Fields = []input{f.secret("code", w.Code, "", "one-time-code")}
	case step.State == identities.StepPassword:
		p.Lead, p.Do, p.Button = w.PasswordHow, "password", w.EnterPassword
		hint := ""
		if step.Hint != "" {
			hint = w.Hint + " " + step.Hint
		}
		p.Fields = []input{f.password("password", w.Password, hint, "off")}
	case way == wayQR:
		p.Lead, p.QR = w.QRHow, &qrPart{W: r.words}
	case way == waySession:
		p.Lead, p.Do, p.Button, p.Files = w.SessionHow, waySession, w.UseSession, true
		file := f.secret("session_file", w.File, w.FileHint, "off")
		file.Type = "file"
		p.Fields = []input{f.password("session", w.Session, w.SessionHint, "off"), file}
	default:
		p.Way, p.Do, p.Button = wayPhone, wayPhone, w.SendCode
		phone := f.text("phone", w.Phone, w.PhoneHint)
		phone.Type, phone.Autocomplete = "tel", "tel"
		p.Fields = []input{phone}
	}
	if !p.Under {
		for _, each := range []struct{ way, name string }{{wayPhone, w.ByPhone}, {wayQR, w.ByQR}, {waySession, w.BySession}} {
			p.Ways = append(p.Ways, tab{Key: each.way, Name: each.name, Link: withQuery(p.Action, "way", each.way), Current: each.way == p.Way})
		}
	}
	return s.render(c, status, "log_in", p)
}

// via says where a code was sent.
func (r reader) via(step identities.Step) string {
	where := r.words.Vias[step.Via]
	if where == "" {
		where = step.Via
	}
	if step.Phone == "" {
		return where + "."
	}
	return fmt.Sprintf("%s (%s).", where, step.Phone)
}

// takeStep takes a login one step further.
func (s *Server) takeStep(c echo.Context) error {
	login, err := s.loginOf(c)
	if err != nil {
		return err
	}
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	f, ctx := newForm(values), c.Request().Context()
	var step identities.Step
	allowTime(c)
	switch f.get("do") {
	case wayPhone:
		step, err = s.logins.SendCode(ctx, login.ID, f.get("phone"))
	case "code":
		step, err = s.logins.EnterCode(ctx, login.ID, f.get("code"))
	case "password":
		step, err = s.logins.EnterPassword(ctx, login.ID, f.values.Get("password"))
	case waySession:
		if err = s.takeSession(c, login.ID, f); err == nil {
			return c.Redirect(http.StatusSeeOther, "/logins?done=session-used")
		}
	case "over":
		s.logins.Abandon(login.ID)
	default:
		return echo.ErrBadRequest
	}
	switch {
	case err == nil && step.State == identities.StepDone:
		return c.Redirect(http.StatusSeeOther, "/logins?done=logged-in")
	case err == nil:
		return c.Redirect(http.StatusSeeOther, loginPath(login.ID)+"/login")
	case !f.refuse(s.readerOf(c), err, "phone", "code", "password", "session"):
		return err
	}
	way := wayPhone
	if f.get("do") == waySession {
		way = waySession
	}
	return s.showStep(c, http.StatusUnprocessableEntity, login, way, f)
}

// takeSession reads the session that was pasted, or the file.
func (s *Server) takeSession(c echo.Context, account uint64, f form) error {
	if text := f.get("session"); text != "" {
		return s.logins.TakeOver(account, []byte(text))
	}
	head, err := c.FormFile("session_file")
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) || (err == nil && head.Size == 0) {
		return s.logins.TakeOver(account, nil)
	}
	if err != nil {
		return err
	}
	if head.Size > maxSession {
		return store.Invalid("session", "invalid.session_large")
	}
	file, err := head.Open()
	if err != nil {
		return fmt.Errorf("read the session file: %w", err)
	}
	data, err := io.ReadAll(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("read the session file: %w", err)
	}
	return s.logins.TakeOver(account, data)
}

// showQR answers with the QR code that is good now, with nothing if the page has it already, or
// leads on if somebody has scanned it.
func (s *Server) showQR(c echo.Context) error {
	login, err := s.loginOf(c)
	if err != nil {
		return err
	}
	allowTime(c)
	r, part := s.readerOf(c), qrPart{}
	part.W = r.words
	step, err := s.logins.ShowQR(c.Request().Context(), login.ID)
	f := newForm(nil)
	switch {
	case err != nil && !f.refuse(r, err):
		return err
	case err != nil:
		part.Trouble, part.Have = f.wrong[""], "trouble"
	case step.State == identities.StepDone:
		c.Response().Header().Set("HX-Redirect", "/logins?done=logged-in")
		return c.NoContent(http.StatusOK)
	case step.State != identities.StepQR:
		c.Response().Header().Set("HX-Redirect", loginPath(login.ID)+"/login")
		return c.NoContent(http.StatusOK)
	default:
		if part.Picture, err = qrPicture(step.URL, r.words.LogIn.QRAlt); err != nil {
			return err
		}
		part.Have = fmt.Sprintf("%x", digest([]byte(step.URL))[:8])
	}
	if c.FormValue("have") == part.Have && part.Trouble == "" {
		return c.NoContent(http.StatusNoContent)
	}
	return s.answerPart(c, "log_in", "qr", part)
}

// askLogOut asks before a user account is logged out.
func (s *Server) askLogOut(c echo.Context) error { return s.askAboutLogOut(c, http.StatusOK, "") }

func (s *Server) askAboutLogOut(c echo.Context, status int, wrong string) error {
	login, err := s.loginOf(c)
	if err != nil {
		return err
	}
	r := s.readerOf(c)
	w := r.words.LogIn
	return s.render(c, status, "confirm", &confirmPage{
		frame: s.frame(r, "logins", w.LogOutAsk), Question: w.LogOutAsk + " " + r.loginName(login), Consequence: w.LogOutMeans,
		Wrong: wrong, Action: loginPath(login.ID) + "/log-out", Button: w.LogOut, Class: "danger", Back: "/logins",
	})
}

// leaveLogin logs a user account out.
func (s *Server) leaveLogin(c echo.Context) error {
	login, err := s.loginOf(c)
	if err != nil {
		return err
	}
	allowTime(c)
	if err = s.logins.LogOut(c.Request().Context(), login.ID); err == nil {
		return c.Redirect(http.StatusSeeOther, "/logins?done=logged-out")
	}
	f := newForm(nil)
	if !f.refuse(s.readerOf(c), err) {
		return err
	}
	return s.askAboutLogOut(c, http.StatusConflict, f.wrong[""])
}
