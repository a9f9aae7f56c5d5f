package page

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"
	"rsc.io/qr"

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

func (s *Server) mountIdentities(own *echo.Group) {
	s.entry(system, "logins", "/logins")
	s.live(own, "/logins", func(v view) (screen, error) { return s.logins(v, newForm(nil)) })
	own.POST("/logins", s.addBot)
	own.GET("/logins/:id/change", func(c echo.Context) error {
		v := s.view(c)
		login, err := s.login(v)
		if err != nil {
			return err
		}
		f := newForm(nil)
		f.values.Set("target", login.Target)
		return s.show(c, http.StatusOK, v, screen{nav: "/logins", title: v.T("logins.change_title"), body: v.loginChange(login, f)})
	})
	own.POST("/logins/:id/change", s.changeLogin)
	own.POST("/logins/:id/resume", s.resumeLogin)
	s.step(own, step{
		path: "/logins/:id/remove", done: "login-removed",
		ask: func(v view, _ uint64) (question, error) {
			login, err := s.login(v)
			return question{nav: "/logins", ask: "logins.remove_ask", about: v.loginName(login), means: v.T("logins.remove_means"),
				button: "logins.remove", danger: true, back: "/logins"}, err
		},
		act: func(tx *store.Tx, id uint64, _ string) error { return identities.Remove(tx, id) },
	})
	if s.Logins == nil {
		return
	}
	own.POST("/logins/account", s.addUser)
	own.GET("/logins/:id/login", s.showLogIn)
	own.POST("/logins/:id/login", s.takeStep)
	own.POST("/logins/:id/qr", s.showQR)
	s.step(own, step{
		path: "/logins/:id/log-out", done: "logged-out",
		ask: func(v view, _ uint64) (question, error) {
			login, err := s.login(v)
			return question{nav: "/logins", ask: "log_in.log_out_ask", about: v.loginName(login), means: v.T("log_in.log_out_means"),
				button: "log_in.log_out", danger: true, back: "/logins"}, err
		},
		outside: func(c echo.Context, id uint64) error {
			allowTime(c)
			return s.Logins.LogOut(c.Request().Context(), id)
		},
	})
}

func loginPath(n uint64) string { return fmt.Sprintf("/logins/%d", n) }

// login returns the login that the path names.
func (s *Server) login(v view) (login store.Identity, err error) {
	number, err := v.number()
	if err != nil {
		return login, err
	}
	err = s.DB.View(func(tx *store.Tx) (err error) {
		login, err = tx.Identities.Get(number)
		return err
	})
	return login, err
}

// identities returns the logins in the order in which they were added.
func (s *Server) identities() (all []store.Identity, err error) {
	err = s.DB.View(func(tx *store.Tx) error {
		all = slices.Collect(tx.Identities.All())
		return nil
	})
	return all, err
}

// logins lists what Belfry posts as, and has the forms that add to it.
func (s *Server) logins(v view, f form) (screen, error) {
	all, err := s.identities()
	return screen{nav: "/logins", title: v.T("logins.title"), body: v.loginsBody(f), parts: []part{{"logins", v.loginList(all)}}}, err
}

// loginState is how a login stands, for people.
type loginState struct{ class, name, reason, cure string }

func (v view) loginState(i store.Identity) loginState {
	st := loginState{"id-" + string(i.State), v.T("identity.state." + string(i.State)), v.why(i.Reason), ""}
	connected, problem, known := v.server.Connection(i)
	off := func() loginState {
		return loginState{"id-off", v.T("logins.not_connected"), v.why(store.Reason{Code: store.ReasonNotConnected, Detail: problem}), ""}
	}
	switch i.State {
	case store.IdentityNew:
		if problem != "" {
			return off()
		}
		st.cure = v.T("logins.new_cure")
	case store.IdentityLogin:
		st.cure = v.T("logins.login_cure")
		if i.Kind == store.IdentityUser {
			st.cure = v.T("log_in.user_cure")
		}
	case store.IdentityStopped:
		st.cure = v.T("logins.stopped_cure")
	case store.IdentityReady:
		switch {
		case known && connected:
			st.name = v.T("logins.connected")
		case known:
			return off()
		}
	}
	return st
}

// loginFacts is what a login is, in a line.
func (v view) loginFacts(i store.Identity) string {
	facts := []string{v.T("platform." + i.Platform), v.T("identity.kind." + string(i.Kind))}
	if i.Username != "" {
		facts = append(facts, "@"+i.Username)
	}
	return strings.Join(facts, " · ")
}

// addBot adds a bot.
func (s *Server) addBot(c echo.Context) error {
	return s.add(c, func(tx *store.Tx, f form) (store.Identity, error) {
		return identities.Add(tx, identities.Request{Platform: "telegram", Name: f.get("name"), Token: f.get("token"), Target: f.get("target")})
	}, func(store.Identity) string { return withQuery("/logins", "done", "login-added") }, "name", "token", "target")
}

// addUser adds a user account that is to be logged in.
func (s *Server) addUser(c echo.Context) error {
	return s.add(c, func(tx *store.Tx, f form) (store.Identity, error) {
		return identities.Add(tx, identities.Request{Platform: "telegram", Kind: string(store.IdentityUser), Name: f.get("account_name")})
	}, func(i store.Identity) string { return loginPath(i.ID) + "/login" }, "name:account_name")
}

func (s *Server) add(c echo.Context, make func(*store.Tx, form) (store.Identity, error), then func(store.Identity) string, fields ...string) error {
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	f := newForm(values)
	var made store.Identity
	err = s.DB.Update(func(tx *store.Tx) (err error) {
		made, err = make(tx, f)
		return err
	})
	if err == nil {
		return c.Redirect(http.StatusSeeOther, then(made))
	}
	v := s.view(c)
	if !f.refuse(v, err, fields...) {
		return err
	}
	v.path = "/logins"
	p, err := s.logins(v, f)
	if err != nil {
		return err
	}
	return s.showLive(c, http.StatusUnprocessableEntity, v, p, liveBase+v.path)
}

// changeLogin saves a login's new target and, if one was given, its new token.
func (s *Server) changeLogin(c echo.Context) error {
	v := s.view(c)
	login, err := s.login(v)
	if err != nil {
		return err
	}
	values, err := c.FormParams()
	if err != nil {
		return err
	}
	f := newForm(values)
	target, token := f.get("target"), f.get("token")
	patch := identities.Patch{Target: &target}
	if token != "" {
		patch.Token = &token
	}
	err = s.DB.Update(func(tx *store.Tx) error {
		_, err := identities.Change(tx, login.ID, patch)
		return err
	})
	if err == nil {
		return did(c, "/logins", "login-changed")
	}
	if !f.refuse(v, err, "token", "target") {
		return err
	}
	return s.show(c, http.StatusUnprocessableEntity, v, screen{nav: "/logins", title: v.T("logins.change_title"), body: v.loginChange(login, f)})
}

// resumeLogin lets a login act again that the network had restricted.
func (s *Server) resumeLogin(c echo.Context) error {
	login, err := s.login(s.view(c))
	if err != nil {
		return err
	}
	err = s.DB.Update(func(tx *store.Tx) error {
		_, err := identities.Resume(tx, login.ID)
		return err
	})
	// One that is not restricted any more may act anyway.
	if _, free := errors.AsType[*store.ConflictError](err); err != nil && !free {
		return err
	}
	return did(c, "/logins", "login-resumed")
}

// showLogIn shows where a login stands, or how it can begin.
func (s *Server) showLogIn(c echo.Context) error {
	login, err := s.login(s.view(c))
	if err != nil {
		return err
	}
	if s.Logins.At(login.ID).State == identities.StepDone && login.State != store.IdentityLogin {
		return did(c, "/logins", "logged-in")
	}
	return s.showStep(c, http.StatusOK, login, c.QueryParam("way"), newForm(nil))
}

// logInStep is the step that a login waits for, as a form. Nothing secret that was typed before is in it.
type logInStep struct {
	way, lead  string
	do, button string // what the form does
	fields     []input
	underWay   bool // a login is under way and can be given up
}

func (v view) logInStep(step identities.Step, way string, f form) logInStep {
	st := logInStep{way: way, underWay: step.State == identities.StepCode || step.State == identities.StepPassword}
	switch {
	case step.State == identities.StepCode:
		st.lead, st.do, st.button = v.T("log_in.code_sent")+" "+v.via(step), "code", v.T("log_in.enter_code")
		st.fields = []input{f.secret("code", v.T("log_in.code"), "", "one-time-code")}
	case step.State == identities.StepPassword:
		st.lead, st.do, st.button = v.T("log_in.password_how"), "password", v.T("log_in.enter_password")
		hint := ""
		if step.Hint != "" {
			hint = v.T("log_in.hint") + " " + step.Hint
		}
		st.fields = []input{f.password("password", v.T("log_in.password"), hint, "off")}
	case way == wayQR:
		st.lead = v.T("log_in.qr_how")
	case way == waySession:
		st.lead, st.do, st.button = v.T("log_in.session_how"), waySession, v.T("log_in.use_session")
		file := f.secret("session_file", v.T("log_in.file"), v.T("log_in.file_hint"), "off")
		file.Type = "file"
		st.fields = []input{f.password("session", v.T("log_in.session"), v.T("log_in.session_hint"), "off"), file}
	default:
		st.way, st.do, st.button = wayPhone, wayPhone, v.T("log_in.send_code")
		phone := f.text("phone", v.T("log_in.phone"), v.T("log_in.phone_hint"))
		phone.Type, phone.Autocomplete = "tel", "tel"
		st.fields = []input{phone}
	}
	return st
}

// showStep shows the step that a login waits for.
func (s *Server) showStep(c echo.Context, status int, login store.Identity, way string, f form) error {
	v := s.view(c)
	v.path = loginPath(login.ID) + "/login"
	return s.show(c, status, v, screen{
		nav: "/logins", title: v.T("log_in.title"), body: v.logIn(login, v.logInStep(s.Logins.At(login.ID), way, f), f),
	})
}

// logInWays are the ways to log in, to choose from.
func (v view) logInWays(current string) (tabs []tab) {
	add := func(way, name string) {
		tabs = append(tabs, tab{key: way, name: name, link: withQuery(v.path, "way", way), current: way == current})
	}
	add(wayPhone, v.T("log_in.by_phone"))
	add(wayQR, v.T("log_in.by_qr"))
	add(waySession, v.T("log_in.by_session"))
	return tabs
}

// via says where a code was sent.
func (v view) via(step identities.Step) string {
	where := step.Via
	if key := "log_in.via." + step.Via; v.Has(key) {
		where = v.T("log_in.via." + step.Via)
	}
	if step.Phone == "" {
		return where + "."
	}
	return fmt.Sprintf("%s (%s).", where, step.Phone)
}

// takeStep takes a login one step further.
func (s *Server) takeStep(c echo.Context) error {
	login, err := s.login(s.view(c))
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
		step, err = s.Logins.SendCode(ctx, login.ID, f.get("phone"))
	case "code":
		step, err = s.Logins.EnterCode(ctx, login.ID, f.get("code"))
	case "password":
		step, err = s.Logins.EnterPassword(ctx, login.ID, f.values.Get("password"))
	case waySession:
		if err = s.takeSession(c, login.ID, f); err == nil {
			return did(c, "/logins", "session-used")
		}
	case "over":
		s.Logins.Abandon(login.ID)
	default:
		return echo.ErrBadRequest
	}
	switch {
	case err == nil && step.State == identities.StepDone:
		return did(c, "/logins", "logged-in")
	case err == nil:
		return c.Redirect(http.StatusSeeOther, loginPath(login.ID)+"/login")
	case !f.refuse(s.view(c), err, "phone", "code", "password", "session"):
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
		return s.Logins.TakeOver(account, []byte(text))
	}
	head, err := c.FormFile("session_file")
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) || (err == nil && head.Size == 0) {
		return s.Logins.TakeOver(account, nil)
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
	return s.Logins.TakeOver(account, data)
}

// showQR answers with the QR code that is good now, with nothing if the page has it already, or
// leads on if somebody has scanned it.
func (s *Server) showQR(c echo.Context) error {
	v := s.view(c)
	login, err := s.login(v)
	if err != nil {
		return err
	}
	allowTime(c)
	step, err := s.Logins.ShowQR(c.Request().Context(), login.ID)
	switch said := v.refusal(err); {
	case said != "":
		return s.render(c, http.StatusOK, v.qr("", "trouble", said))
	case err != nil:
		return err
	case step.State == identities.StepDone:
		c.Response().Header().Set("HX-Redirect", "/logins?done=logged-in")
		return c.NoContent(http.StatusOK)
	case step.State != identities.StepQR:
		c.Response().Header().Set("HX-Redirect", loginPath(login.ID)+"/login")
		return c.NoContent(http.StatusOK)
	}
	sum := sha256.Sum256([]byte(step.URL))
	have := fmt.Sprintf("%x", sum[:8])
	if c.FormValue("have") == have {
		return c.NoContent(http.StatusNoContent)
	}
	return s.render(c, http.StatusOK, v.qr(step.URL, have, ""))
}

// qrMargin is the width of the empty frame that a QR code needs around it, in modules.
const qrMargin = 4

// qrPath draws a text as a QR code: a path of squares, and the width of the whole in modules.
func qrPath(text string) (path string, side int) {
	code, err := qr.Encode(text, qr.M)
	if err != nil { // the text is too long, which no link of a login is
		return "", 0
	}
	var out strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			from := x
			for code.Black(x, y) {
				x++
			}
			if x > from {
				fmt.Fprintf(&out, "M%d %dh%dv1h-%dz", from+qrMargin, y+qrMargin, x-from, x-from)
			}
		}
	}
	return out.String(), code.Size + 2*qrMargin
}
